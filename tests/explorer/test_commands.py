"""The commands: a report that needs no server, a server that ends, clear words where something is missing."""

from __future__ import annotations

import builtins
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from http.client import HTTPConnection
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from coembed.cli import main
from coembed.explorer.single_page import write_report
from coembed.fitted import save
from coembed.network import demo_network, write

from .browser import Visitor, near, need_browser


@pytest.fixture(scope="session")
def model(trained, tmp_path_factory):
    return save(trained, tmp_path_factory.mktemp("explored") / "model")


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in words])
    return int(end.value.code or 0)


def started(*words: object) -> tuple[subprocess.Popen, str]:
    """A command in a process of its own, and the address that it tells."""
    command = [sys.executable, "-c", "from coembed.cli import main; main()", *map(str, words)]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "300"}
    )
    for line in process.stderr:
        found = re.search(r"http://\S+", line)
        if found:
            return process, found[0]
    raise AssertionError("it told no address")


def ask(address: str, token: str = "") -> bytes:
    for _ in range(300):
        try:
            return urlopen(Request(address, headers={"Authorization": f"Bearer {token}"})).read()
        except HTTPError as error:
            if error.code != 503:  # still starting
                raise
            time.sleep(0.1)
        except OSError:
            time.sleep(0.1)
    raise AssertionError("nobody answers")


def median_seconds(address: str) -> float:
    """Of small answers over one connection: it would be 0.04 if they waited for their receipt."""
    connection = HTTPConnection(address.split("/")[2])
    took = []
    for _ in range(25):
        start = time.perf_counter()
        connection.request("GET", "/api/health")
        connection.getresponse().read()
        took.append(time.perf_counter() - start)
    connection.close()
    return sorted(took)[len(took) // 2]


def test_a_served_model_answers_until_it_is_interrupted(model):
    process, address = started("serve", model, "--port", 0, "--method", "pca")
    try:
        socket.create_connection(address.split("/")[2].split(":")).close()  # once told it is listened to
        assert b'"status":"ok"' in ask(f"{address}api/health")
        assert b"<title>coembed" in ask(address)
        assert median_seconds(address) < 0.03
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(10) in (0, 130)
        process.stderr.close()


def test_a_host_that_others_reach_makes_up_a_token(model):
    process, address = started(
        "explore", model, "--host", "0.0.0.0", "--port", 0, "--no-browser", "--method", "pca"
    )
    try:
        home, token = address.split("#token=")
        assert not home.startswith(("http://127.", "http://0.")) or not leads_out()
        with pytest.raises(HTTPError, match="401"):
            ask(f"{home}api/health")
        assert b'"status":"ok"' in ask(f"{home}api/health", token)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(10)
        process.stderr.close()


def leads_out() -> bool:
    """Whether this machine has an address by which others could reach it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return False
        return True


def test_workers_share_the_port_the_counts_and_a_reload(model, tmp_path):
    log = tmp_path / "access.jsonl"
    words = ("--workers", 2, "--allow-changes", "--token", "t", "--access-log", log)
    process, address = started("serve", model, "--port", 0, "--method", "pca", *words)
    base = address.partition("#")[0]
    try:
        asked = 0
        while len({line["pid"] for line in lines_of(log) if line["status"] == 200}) < 2:
            ask(f"{base}api/v1/health", "t")
            asked += 1
            assert asked < 500, "one worker does everything"
        told = ask(f"{base}metrics", "t").decode()
        counted = re.search(
            r'coembed_requests_total\{path="/api/v1/health",status="2xx"\} (\d+)',
            told,
        )
        assert int(counted[1]) == asked
        reload = Request(f"{base}api/v1/reload", method="POST", headers={"Authorization": "Bearer t"})
        assert urlopen(reload).status == 202
        again = set()
        for _ in range(600):
            told = json.loads(ask(f"{base}ready"))
            assert told["status"] == "ready"  # while it loads the old one answers
            if told["loads"] == 2:
                again.add(lines_of(log)[-1]["pid"])
            if len(again) == 2:
                break
            time.sleep(0.05)
        assert len(again) == 2
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        process.stderr.close()


def lines_of(log) -> list[dict]:
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def test_told_to_hang_up_it_loads_the_model_again(model):
    process, address = started("serve", model, "--port", 0, "--method", "pca", "--allow-changes")
    base, token = address.split("#token=")
    try:
        assert json.loads(ask(f"{base}ready"))["loads"] == 1
        with pytest.raises(HTTPError, match="401"):  # changes are never without a token
            ask(f"{base}api/v1/health")
        process.send_signal(signal.SIGHUP)
        for _ in range(300):
            if json.loads(ask(f"{base}ready"))["loads"] == 2:
                break
            time.sleep(0.05)
        else:
            pytest.fail("it was not loaded again")
        assert ask(f"{base}api/v1/health", token)
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(10) in (0, 130)
        process.stderr.close()


def test_a_port_that_is_taken_is_told(model, capfd):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert run("serve", model, "--port", taken.getsockname()[1], "--method", "pca") == 2
    assert "choose another --port" in capfd.readouterr().err


@pytest.fixture
def no_framework(monkeypatch):
    """As if the extra `explore` were not installed."""
    for name in [each for each in sys.modules if each.startswith("coembed.explorer")]:
        monkeypatch.delitem(sys.modules, name)
    real = builtins.__import__

    def fail(name, *rest, **named):
        if name.split(".")[0] in ("fastapi", "starlette", "uvicorn"):
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", fail)


def test_without_the_extra_the_remedy_is_told(model, capfd, no_framework):
    assert run("explore", model) == 2
    assert "install coembed[explore]" in capfd.readouterr().err


def test_a_report_needs_no_web_framework(model, tmp_path, no_framework):
    assert run("report", model, "-o", tmp_path / "report.html", "--cards", 1, "--method", "pca") == 0


def test_a_report_is_written_whole_or_not_at_all(model, tmp_path, capfd):
    target = tmp_path / "report.html"
    assert run("report", model, "-o", target, "--cards", 3, "--method", "pca") == 0
    text = target.read_text(encoding="utf-8")
    assert "http://" not in re.sub(
        r"http://www\.w3\.org/\S+", "", text.split("</head>")[0].split("importmap")[0]
    )
    assert run("report", model, "-o", tmp_path / "report.pdf") == 2
    assert "must end in .html" in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == [target]


def test_the_truth_of_another_network_is_refused(model, tmp_path, trained, capfd):
    write(trained.network, tmp_path / "same.npz")
    assert run("report", model, "-o", tmp_path / "r.html", "--truth", tmp_path / "same.npz") == 2
    assert "knows no label that the model" in capfd.readouterr().err
    write(demo_network(), tmp_path / "whole.npz")
    target = tmp_path / "judged.html"
    words = (
        "report",
        model,
        "-o",
        target,
        "--truth",
        tmp_path / "whole.npz",
        "--cards",
        1,
        "--method",
        "pca",
    )
    assert run(*words) == 0


def test_a_report_works_without_any_server(explorer, tmp_path):
    path = need_browser()
    from playwright.sync_api import sync_playwright

    target = write_report(explorer, tmp_path / "report.html", most_cards=40)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--enable-unsafe-swiftshader"]
        )
        visitor = Visitor(browser, target.as_uri())
        page = visitor.go()
        assert near(visitor.pixels(), "#CC79A7") > 50
        page.locator("#search-input").fill("atlntic")
        page.wait_for_selector(".found li[aria-selected=true]")
        page.locator("#search-input").fill("river")
        page.wait_for_selector('.found li:has-text("river")')
        page.keyboard.press("Enter")
        page.wait_for_selector("article.card .match")
        page.get_by_role("tab", name="Quality").click()
        page.wait_for_selector(".confusion td.diagonal")
        visitor.go("#node=nobody")
        page.wait_for_selector(".failure")
        assert visitor.problems == []
        strange = [url for url in visitor.asked if not url.startswith((target.as_uri(), "data:", "blob:"))]
        assert strange == []
        browser.close()


def test_a_server_multiplies_matrices_on_one_thread():
    from threadpoolctl import threadpool_info, threadpool_limits

    from coembed.explorer.server import one_thread_each

    def threads():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    with threadpool_limits(2, "blas"):
        before = threads()
        with one_thread_each():
            assert threads() == {1}
        assert threads() == before


def test_a_token_may_come_from_a_file(model, tmp_path):
    """Not from the command line, which others who use the machine can see."""
    (tmp_path / "token").write_text("from a file\nnot this\n")
    process, address = started(
        "serve", model, "--port", "0", "--method", "pca", "--token-file", tmp_path / "token"
    )
    try:
        base = address.partition("#")[0]
        with pytest.raises(HTTPError, match="401"):
            ask(f"{base}api/v1/model", "wrong")
        assert ask(f"{base}api/v1/model", "from a file")
    finally:
        process.terminate()
        process.communicate()


@pytest.mark.parametrize("content", [None, "", "\n"])
def test_a_token_file_without_a_token_is_refused(model, tmp_path, content, capfd):
    if content is not None:
        (tmp_path / "token").write_text(content)
    assert run("serve", model, "--port", "0", "--token-file", tmp_path / "token") == 2
    assert run("serve", model, "--token", "x", "--token-file", tmp_path / "token") == 2
    assert "not both" in capfd.readouterr().err
