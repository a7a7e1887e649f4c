"""Ways to run the command: in this process, as a process of its own, in a terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from loopback.scripted import Scripted
from loopback.server import LoopbackServer

from persimchat.app.cli import main

Run = Callable[..., "Done"]

LINES = (
    "I have said before that the square was built for carts.",
    "Why should anybody pay for it twice?",
    "Let us ask the people who live there.",
)


@dataclass(frozen=True)
class Done:
    """A command that is over."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """What it said with --json."""
        assert self.code == 0, self.err
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The one line that says what was wrong."""
        assert self.err.count("\n") == 1, self.err
        assert self.err.startswith("persimchat: error: ")
        assert "Traceback" not in self.err
        return self.err.strip()


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs land in a folder of the test's own; no key and no colour setting comes from outside."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "OPENAI_API_KEY", "PERSIMCHAT_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command in this process."""

    def run(*arguments: str) -> Done:
        capsys.readouterr()
        code = main(arguments)
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    return run


def environment(**more: str) -> dict[str, str]:
    """The environment of a process of its own."""
    return {**os.environ, "PYTHONIOENCODING": "utf-8", **more}


def default_interrupt() -> None:
    """Undo that a shell without job control, or nohup, makes its processes deaf to signals."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture
def process() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start the command as a process of its own, which ends with the test."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str, env: Mapping[str, str] | None = None, **options: Any) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, "-m", "persimchat", *arguments],
            env=environment(**(env or {})),
            text=True,
            encoding="utf-8",
            preexec_fn=default_interrupt,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
        )
        started.append(child)
        return child

    yield start
    for child in started:
        child.kill()
        child.communicate()


@pytest.fixture
def finished(process: Callable[..., subprocess.Popen[str]]) -> Run:
    """Run the command as a process of its own, to its end."""

    def run(*arguments: str, **options: Any) -> Done:
        child = process(*arguments, **options)
        out, err = child.communicate(timeout=120)
        return Done(child.returncode, out or "", err or "")

    return run


@pytest.fixture
def terminal() -> Callable[..., tuple[int, str]]:
    """Run the command in a terminal: its exit code, and all that it sent there, escape codes included."""

    def run(*arguments: str, columns: int = 80, rows: int = 24, **more: str) -> tuple[int, str]:
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        child = subprocess.Popen(
            [sys.executable, "-m", "persimchat", *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment(**{"TERM": "xterm-256color", **more}),
            start_new_session=True,
        )
        os.close(slave)
        pieces: list[bytes] = []
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:  # the terminal's other side is closed
                break
            if not piece:
                break
            pieces.append(piece)
        os.close(master)
        return child.wait(timeout=60), b"".join(pieces).decode(errors="replace")

    return run


@pytest.fixture
def serve(serving: Callable[..., LoopbackServer]) -> Callable[..., LoopbackServer]:
    """Start servers that answer every task; utterances are `LINES` in turn."""

    def start(answer: Any = None, **options: Any) -> LoopbackServer:
        turns = iter(LINES * 1000)
        return serving(answer or Scripted(utterance=lambda _: next(turns)), **options)

    return start


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where the command keeps its runs unless told otherwise."""
    return tmp_path / "conversations"


@pytest.fixture
def plain() -> Callable[[str], str]:
    """What a terminal's codes leave of a text."""
    return lambda text: re.sub(r"\x1b\[[0-?]*[ -/]*[@-~]", "", text).replace("\r", "")


@pytest.fixture
def only_run() -> Callable[[Path], Path]:
    """The folder of the one run that is kept somewhere."""

    def found(out: Path) -> Path:
        (run,) = out.iterdir()
        return run

    return found
