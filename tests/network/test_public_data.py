"""Public data: fetched from a server that breaks off, checked and kept; clear words where there is no net."""

from __future__ import annotations

import hashlib
import io
import threading
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from coembed.cli import main
from coembed.errors import InputError
from coembed.network import demo_network, read, write
from coembed.network import download as downloading
from coembed.network.download import download
from coembed.network.public_data import CATALOGUE, PublicData, cache_folder, get_data
from coembed.network.splits import fingerprint

CONTENT = bytes(range(256)) * 2000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server(ThreadingHTTPServer):
    """Sends `content`; each answer ends after the number of bytes that is next in `breaks`, if any is."""

    def __init__(self, content: bytes = CONTENT, ranges: bool = True) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.content, self.ranges = content, ranges
        self.breaks: list[int] = []
        self.asked: list[str | None] = []

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/some.zip"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server, asked = self.server, self.headers.get("Range")
        server.asked.append(asked)
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and server.ranges else 0
        if start >= len(server.content):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(server.content) - start))
        self.end_headers()
        sent = server.content[start:]
        self.wfile.write(sent[: server.breaks.pop(0)] if server.breaks else sent)

    def log_message(self, *_):
        pass


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(downloading, "PAUSE", 0.0)


def test_what_breaks_off_goes_on_where_it_was(tmp_path):
    with Server() as server:
        server.breaks = [100_000, 50_000]
        told = []
        download(server.url, SHA256, tmp_path / "file", lambda done, of: told.append((done, of)))
        assert (tmp_path / "file").read_bytes() == CONTENT
        assert server.asked == [None, "bytes=100000-", "bytes=150000-"]
        assert told[-1] == (len(CONTENT), len(CONTENT))
        download(server.url, SHA256, tmp_path / "file")
        assert len(server.asked) == 3  # it was there
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_later_call_goes_on_too_and_a_server_without_ranges_sends_all_again(tmp_path):
    with Server() as server:
        server.breaks = [1000, 1000, 1000]
        with pytest.raises(InputError, match=r"3,000 bytes are kept.*--from"):
            download(server.url, SHA256, tmp_path / "file")
        assert not (tmp_path / "file").exists()
        download(server.url, SHA256, tmp_path / "file")
        assert server.asked[-1] == "bytes=3000-"
    (tmp_path / "plain.part").write_bytes(b"old")
    with Server(ranges=False) as server:
        assert download(server.url, SHA256, tmp_path / "plain").read_bytes() == CONTENT


def test_another_file_is_not_kept(tmp_path):
    with Server(CONTENT[:-1] + b"x") as server, pytest.raises(InputError, match="SHA-256 differs"):
        download(server.url, SHA256, tmp_path / "file")
    assert not list(tmp_path.iterdir())
    (tmp_path / "file.part").write_bytes(CONTENT)  # all of it came, but was not yet put in place
    with Server() as server:
        assert download(server.url, SHA256, tmp_path / "file").read_bytes() == CONTENT


def test_offline_is_said_with_a_way_out(tmp_path):
    with Server() as server:
        closed = server.url
    with pytest.raises(InputError, match=r"127.0.0.1 cannot be reached .*name its folder with --from"):
        download(closed, SHA256, tmp_path / "file")


@pytest.fixture
def entry(tmp_path, monkeypatch):
    """The demo network as an archive that is in the catalogue, and the archive itself."""
    network = demo_network()
    folder = tmp_path / "files"
    write(network, folder / "thing.npz")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(folder / "thing.npz", "pack/data/thing.npz")
        archive.writestr("pack/other.txt", "not asked for")
    (folder / "some.zip").write_bytes(packed.getvalue())
    made = PublicData(
        "thing",
        "a thing",
        "CC0",
        "somebody has it",
        url="http://127.0.0.1:9/some.zip",
        sha256=hashlib.sha256(packed.getvalue()).hexdigest(),
        member="pack/data/",
        begin="thing.",
        fingerprint=fingerprint(read(folder / "thing.npz")),
    )
    monkeypatch.setitem(CATALOGUE, "thing", made)
    return made, folder, packed.getvalue()


def test_a_network_is_fetched_once_checked_and_kept(entry, tmp_path, monkeypatch):
    made, _, packed = entry
    with Server(packed) as server:
        monkeypatch.setitem(CATALOGUE, "thing", replace(made, url=server.url))
        path = get_data("thing", tmp_path / "cache")
        assert fingerprint(read(path)) == made.fingerprint
        assert get_data("thing", tmp_path / "cache") == path
        assert len(server.asked) == 1


@pytest.mark.parametrize("given", ["files", "files/some.zip", "files/thing.npz"])
def test_files_that_are_here_are_taken_as_archive_or_as_they_are(entry, tmp_path, given):
    path = get_data("thing", tmp_path / "cache", tmp_path / given)
    assert fingerprint(read(path)) == entry[0].fingerprint


def test_files_of_something_else_are_refused_and_nothing_is_kept(entry, tmp_path, monkeypatch):
    made, folder, _ = entry
    monkeypatch.setitem(CATALOGUE, "thing", replace(made, fingerprint="another"))
    with pytest.raises(InputError, match="this is not thing as it was checked"):
        get_data("thing", tmp_path / "cache", folder)
    monkeypatch.setitem(CATALOGUE, "thing", replace(made, sha256="0"))
    with pytest.raises(InputError, match="SHA-256 differs"):
        get_data("thing", tmp_path / "cache", folder)
    monkeypatch.setitem(CATALOGUE, "thing", replace(made, url="", files={"thing.npz": "0"}))
    with pytest.raises(InputError, match=r"thing.npz is not the file.*--from"):
        get_data("thing", tmp_path / "cache", folder)
    with pytest.raises(InputError, match="cannot be fetched by this program: somebody has it"):
        get_data("thing", tmp_path / "cache")
    monkeypatch.setitem(CATALOGUE, "thing", made)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no files thing"):
        get_data("thing", tmp_path / "cache", tmp_path / "empty")
    assert not list((tmp_path / "cache").glob("*.npz"))


def test_the_command_lists_and_gets(entry, tmp_path, capfd, monkeypatch):
    monkeypatch.setenv("COEMBED_CACHE", str(tmp_path / "cache"))
    assert cache_folder() == tmp_path / "cache"
    for words, code in (
        (["data", "list"], 0),
        (["data", "get", "thing", "--from", str(tmp_path / "files"), "-q"], 0),
        (["data", "get", "thong"], 2),
        (["data", "get"], 2),
    ):
        with pytest.raises(SystemExit) as end:
            main(words)
        assert (end.value.code or 0) == code
        printed = capfd.readouterr()
        if words[1] == "list":
            assert all(name in printed.out for name in CATALOGUE)
        elif not code:
            assert printed.out.strip() == str(tmp_path / "cache" / "thing.npz")
    assert "list" in printed.err


@pytest.mark.slow
def test_what_the_catalogue_says_of_the_networks_at_hand_is_true(real_data, tmp_path):
    for name in ("pubmed", "blogcatalog", "flickr", "cora"):
        assert fingerprint(read(real_data / f"{name}.npz")) == CATALOGUE[name].fingerprint
    for name, folder in (("cora", "scan-format"), ("blogcatalog", "."), ("flickr", ".")):
        assert read(get_data(name, tmp_path, real_data / folder)).n_nodes > 2000
