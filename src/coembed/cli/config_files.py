"""How to train, in a file: a preset, a task, and settings that differ from theirs."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from coembed.errors import InputError, no_such
from coembed.files import replacing_file, written
from coembed.settings import Settings, preset_settings
from coembed.untrusted import reading

KEYS = ("preset", "task", "settings")


class Config(NamedTuple):
    """What a file says; what it leaves out is None, or as the preset has it."""

    preset: str | None = None
    task: str | None = None
    settings: dict[str, Any] = {}  # noqa: RUF012


def read_config(path: Path) -> Config:
    """Read a TOML file of ``preset``, ``task`` and ``[settings]``."""
    with reading(path, "a whole TOML file", "put it right there"):
        record = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    for key in record:
        if key not in KEYS:
            raise InputError(f"{path}: {no_such('key', key, KEYS)}")
    settings = record.get("settings", {})
    if not isinstance(settings, dict) or not all(isinstance(record.get(key, ""), str) for key in KEYS[:2]):
        raise InputError(f"{path}: preset and task are texts, and settings a table [settings]")
    return Config(record.get("preset"), record.get("task"), settings)


def write_config(path: Path, preset: str, task: str, settings: Settings) -> None:
    """Write what :func:`read_config` reads: the settings that are not the preset's own."""
    usual = preset_settings(preset, task).as_dict()  # type: ignore[arg-type]
    changed = {name: value for name, value in settings.as_dict().items() if value != usual[name]}
    lines = [f'preset = "{preset}"', f'task = "{task}"', "", "[settings]"]
    lines += [f"{name} = {_toml(value)}" for name, value in changed.items()]
    with written(path), replacing_file(path) as part:
        part.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, (int, float)) else f'"{value}"'
