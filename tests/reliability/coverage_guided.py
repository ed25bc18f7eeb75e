"""Changed files that reach new lines are kept and changed further.

``python coverage_guided.py mat/net.mat -runs=9999``: a file of the corpus, then options of libFuzzer.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["coembed"]):
    import fuzzing

    from coembed.errors import InputError


def main(file: str, options: list[str]) -> None:
    reader = file.partition("/")[0]
    place = Path(tempfile.mkdtemp(prefix="guided-", dir=fuzzing.SCRATCH))
    shutil.copytree(fuzzing.CORPUS / reader, place / "copy")
    target = place / "copy" / file.partition("/")[2]
    seeds = place / "seeds"
    seeds.mkdir()
    shutil.copy(target, seeds)
    read = fuzzing.READ.get(reader, fuzzing.read_network)

    def try_bytes(octets: bytes) -> None:
        target.write_bytes(octets)
        try:
            read(place / "copy")
        except InputError:
            return

    most = f"-max_len={4 * target.stat().st_size}"
    prefix = f"-artifact_prefix={tempfile.gettempdir()}/"
    atheris.Setup([sys.argv[0], *options, "-rss_limit_mb=4000", most, prefix, str(seeds)], try_bytes)
    atheris.Fuzz()  # ends the process


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
