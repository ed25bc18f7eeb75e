"""Fetching a file: it goes on where it was broken off, and is kept only if its checksum is right."""

from __future__ import annotations

import hashlib
import time
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from coembed.errors import InputError
from coembed.files import make_folder, put_in_place
from coembed.progress import CountProgress

TRIES, PAUSE, SILENCE = 3, 0.5, 30.0
"""How often it is tried, the pause between, and after how many silent seconds a connection is given up."""
_PIECE = 1 << 16


def download(url: str, sha256: str, target: Path, progress: CountProgress | None = None) -> Path:
    """Fetch a file to `target`; what an earlier call had got of it is not fetched again."""
    if target.exists() and digest(target) == sha256:
        return target
    make_folder(target.parent)
    part = target.with_name(f"{target.name}.part")
    for attempt in range(TRIES):
        try:
            _fetch(url, part, progress)
            break
        except HTTPError as error:
            raise InputError(f"{url} answers {error.code} ({error.reason}); fetch it by hand") from None
        except (URLError, OSError, HTTPException) as error:
            if attempt == TRIES - 1:
                host, got = urlsplit(url).hostname, part.stat().st_size if part.exists() else 0
                reason = getattr(error, "reason", error)
                raise InputError(
                    f"{host} cannot be reached ({reason}); {got:,} bytes are kept: try again "
                    f"when online, or fetch {url} elsewhere and name its folder with --from"
                ) from None
            time.sleep(PAUSE)
    if digest(part) != sha256:
        part.unlink()
        raise InputError(f"{url} is not the file that was checked (SHA-256 differs); nothing of it is kept")
    put_in_place(part, target)
    return target


def _fetch(url: str, part: Path, progress: CountProgress | None) -> None:
    had = part.stat().st_size if part.exists() else 0
    request = Request(url, headers={"Range": f"bytes={had}-"} if had else {})
    try:
        answer = urlopen(request, timeout=SILENCE)
    except HTTPError as error:
        if error.code == 416 and had:  # there is nothing behind what is here: all of it was
            return
        raise
    with answer:
        if had and answer.status != 206:  # one that knows no ranges sends all of it
            had = 0
        left = answer.headers.get("Content-Length")
        whole = had + int(left) if left else 0
        with part.open("ab" if had else "wb") as file:
            while piece := answer.read(_PIECE):
                file.write(piece)
                had += len(piece)
                if progress is not None:
                    progress(had, max(whole, had))
    if had < whole:
        raise OSError(f"the connection broke off after {had:,} of {whole:,} bytes")


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
