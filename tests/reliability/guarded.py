"""A child process that tries what may crash, hang or take all memory, and says how it ended.

Cases are strings; a function of a module beside this one is called with each. What ends the child is the
outcome of that case, and the next one has a new child.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import select
import subprocess
import sys
import warnings
from contextlib import suppress
from pathlib import Path

HERE = Path(__file__).resolve().parent
MEMORY = 6 << 30
"""Of addresses, which are several times what is used; a file that asks for terabytes is beyond it."""
SECONDS = 30.0
"""Of its processor, that a child may take for a case; of a clock on the wall several times as long."""
PATIENCE = 20
LONGEST_MESSAGE = 700


class Guarded:
    """Runs `module.function(case)` in a child; use it in a ``with`` block."""

    def __init__(self, task: str, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self.task, self.seconds, self.memory = task, seconds, memory
        self.child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Guarded:
        return self

    def __exit__(self, *_: object) -> None:
        if self.child is not None and self.child.stdin is not None:
            # it ends by itself, so that what watches it (coverage) can write down what it saw
            self.child.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self.child.wait(self.seconds)
        self._end()

    def __call__(self, case: str) -> str:
        """``read: ...``, ``refused: ...`` for an InputError, else what went wrong."""
        if self.child is None or self.child.poll() is not None:
            self.child = self._start()
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self.child.stdin.write(json.dumps(case).encode() + b"\n")
        self.child.stdin.flush()
        begun = _processor_seconds(self.child.pid)
        for _ in range(PATIENCE):  # a busy machine is no reason
            ready, _, _ = select.select([self.child.stdout], [], [], self.seconds)
            if ready or _processor_seconds(self.child.pid) - begun > 0.9 * self.seconds:
                break
        if not ready:
            self._end()
            return f"hung for {self.seconds:g} seconds"
        line = self.child.stdout.readline()
        if not line:
            code = self.child.wait()
            self.child = None
            return f"died of signal {-code}" if code < 0 else f"ended with code {code}"
        return str(json.loads(line))

    def _start(self) -> subprocess.Popen[bytes]:
        program = f"import guarded; guarded.serve({self.task!r}, {self.memory})"
        path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
        return subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        )

    def _end(self) -> None:
        if self.child is not None:
            self.child.kill()
            self.child.wait()
            self.child = None


def _processor_seconds(pid: int) -> float:
    """What a child has taken of the processor so far; nothing where nobody tells."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


def serve(task: str, memory: int) -> None:
    """The child: a case a line from standard input, its outcome to standard output."""
    module, _, function = task.rpartition(".")
    run = getattr(importlib.import_module(module), function)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is not an answer
    for line in sys.stdin:
        answers.write(json.dumps(outcome(run, json.loads(line))) + "\n")
        answers.flush()


def outcome(run: object, case: str) -> str:
    from coembed.errors import InputError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            said = f"read: {run(case)}"  # type: ignore[operator]
    except InputError as error:
        message = str(error)
        bad = "\n" in message or len(message) > LONGEST_MESSAGE
        said = f"refused badly: {message!r}" if bad else f"refused: {message}"
    except BaseException as error:
        said = f"raised {type(error).__name__}: {str(error)[:300]}"
    return said.encode("utf-8", "backslashreplace").decode()[:2000]


def misbehave(how: str) -> str:
    """What the guard is for; for its own test."""
    import ctypes

    from coembed.errors import InputError

    if how == "die":
        ctypes.string_at(0)
    if how == "hang":
        while True:
            pass
    if how == "raise":
        raise KeyError("x")
    if how == "fill":
        bytes(1 << 40)
    if how == "refuse":
        raise InputError("no,\nnever")
    return "\n"
