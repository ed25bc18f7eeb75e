"""Which code made a number."""

from __future__ import annotations

import platform
import subprocess
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

from coembed.version import __version__


@cache
def made_on() -> str:
    """Processor, system, and the libraries that do the arithmetic.

    Examples
    --------
    >>> "torch" in made_on()
    True
    """
    libraries = ", ".join(f"{name} {version(name)}" for name in ("torch", "numpy", "scipy", "scikit-learn"))
    return f"{_processor()}, {platform.system()}, Python {platform.python_version()}, {libraries}"


def _processor() -> str:
    """Its name, where the system tells it (Linux)."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


@cache
def code_version() -> str:
    """The version of the package; of a checkout also the commit, and whether its code has been changed."""
    here = Path(__file__).resolve().parents[1]
    try:
        _git(
            here, "ls-files", "--error-unmatch", "version.py"
        )  # fails in an environment inside another project
        commit = _git(here, "rev-parse", "--short=10", "HEAD")
        changed = "+changed" if _git(here, "status", "--porcelain", "--untracked-files=no", "--", ".") else ""
    except (OSError, subprocess.SubprocessError):
        return __version__
    return f"{__version__} {commit}{changed}"


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, timeout=10, check=True)
    return done.stdout.strip()
