"""Writes the hashes of all files of every pinned package into requirements.txt, after a version was changed.

    python benchmarks/pin.py requirements.txt

It asks whatever index pip is set up with. torch is in a file of its own, without hashes: which build of it
fits is for the machine to say.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from pip._internal.commands import create_command
from pip._internal.index.collector import _get_index_content, parse_links
from pip._internal.models.link import Link

# CPython 3.11 and newer, any Python, or the source
FITS = re.compile(r"(-cp31[1-9]-|-abi3-|-cp3\d+-abi3|-py3-|-py2\.py3-|-py\d\.py3-|\.tar\.gz$|-none-any)")
PINNED = re.compile(r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;\\]+)(?P<marker>\s*;[^\\]*)?")


def main(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    session, places = _index()
    written = []
    for line in lines:
        found = PINNED.match(line)
        if line.lstrip().startswith("--hash"):
            continue
        if found is None:
            written.append(line)
            continue
        hashes = sorted(set(_hashes(session, places, found["name"], found["version"])))
        if not hashes:
            raise SystemExit(f"the index has no files of {found[0]}")
        head = f"{found['name']}=={found['version']}{(found['marker'] or '').rstrip()}"
        written.append(" \\\n    ".join([head, *(f"--hash=sha256:{each}" for each in hashes)]))
    path.write_text("\n".join(written) + "\n", encoding="utf-8")


def _index():  # type: ignore[no-untyped-def]
    command = create_command("download")
    options, _ = command.parse_args([])
    session = command._build_session(options)
    finder = command._build_package_finder(options, session)
    return session, finder._link_collector.search_scope


def _hashes(session, places, name: str, version: str) -> Iterator[str]:  # type: ignore[no-untyped-def]
    files = re.compile(rf"{re.sub('[-_.]+', '[-_.]+', name)}-{re.escape(version)}(-|\.tar\.gz$)", re.I)
    for address in places.get_index_urls_locations(name):
        page = _get_index_content(Link(address), session=session)
        for link in parse_links(page) if page is not None else ():
            if files.match(link.filename) and FITS.search(link.filename) and link.hash_name == "sha256":
                yield link.hash


if __name__ == "__main__":
    main(Path(sys.argv[1]))
