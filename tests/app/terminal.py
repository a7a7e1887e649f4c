"""A command in a pseudo-terminal that a test types into."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from typing import Final

_PATIENCE_S: Final = 60.0
_CODES: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\r")


class Terminal:
    """Runs the command in a terminal; `until` reads what it shows, `keys` types."""

    def __init__(self, *arguments: str, env: dict[str, str], columns: int = 90) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self._child = subprocess.Popen(
            [sys.executable, "-m", "persimchat", *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            # Nobody here answers where the cursor is.
            env={**env, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"},
            start_new_session=True,
        )
        os.close(slave)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._new = ""
        self.all = ""

    def until(self, *wanted: str) -> str:
        """Read until these were shown one after the other since the last call; returns all text up to there."""
        patience = time.monotonic() + _PATIENCE_S
        for words in wanted:
            while (place := (text := _CODES.sub("", self._new)).find(words)) < 0:
                if not self._read() or time.monotonic() > patience:
                    raise AssertionError(f"{words!r} was never shown; this was:\n{text}")
            self._new = text[place + len(words) :]
        return _CODES.sub("", self.all)

    def keys(self, text: str) -> None:
        """Type."""
        given = text.encode()
        while given:  # a terminal takes only so much at once, and shows what it is given
            readable, writable, _ = select.select([self._master], [self._master], [], _PATIENCE_S)
            assert readable or writable, "the terminal takes no more"
            if readable:
                self._read()
            if writable:
                given = given[os.write(self._master, given[:512]) :]

    def interrupt(self) -> None:
        """Send the signal of Ctrl-C."""
        self._child.send_signal(signal.SIGINT)

    def end(self) -> tuple[int, str]:
        """Read to the end; the exit code, and all text that was shown."""
        while self._read():
            pass
        return self._child.wait(timeout=_PATIENCE_S), _CODES.sub("", self.all)

    def close(self) -> None:
        """End the command, if it has not ended."""
        self._child.kill()
        self._child.wait()
        os.close(self._master)

    def _read(self) -> bool:
        readable, _, _ = select.select([self._master], [], [], _PATIENCE_S)
        if not readable:
            return False
        try:
            piece = self._decoder.decode(os.read(self._master, 65_536))
        except OSError:  # the other side is closed
            return False
        self._new += piece
        self.all += piece
        return bool(piece)
