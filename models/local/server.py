"""llama.cpp's server for a model file: starts it at the first request, shares it, and stops it.

There is one server per process and file. It runs separately, so that a crash of llama.cpp does not end PerSimChat.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, Final

from pydantic import SecretStr

from ...state.errors import InputError, MissingExtraError, ModelError
from ...state.settings import Settings
from ..limits import Room
from ..naming import ModelName, shown
from ..redaction import short
from .files import model_file
from .gguf import Header, read_header

LOG_VARIABLE: Final = "PERSIMCHAT_LOCAL_LOG"
"""Environment variable that names a log file for llama.cpp; without it, the log is deleted."""

SEE_LOG: Final = f"Set {LOG_VARIABLE}=FILE to see what llama.cpp says."

_SCRIPT: Final = Path(__file__).with_name("process.py")
_MOST_SLOTS: Final = 4
_ANSWER: Final = 1024
"""The most tokens of an answer if the request sets no limit."""
_CACHE_MIB: Final = 1024
"""Memory for earlier prompts, besides those in the slots."""
_SLEEP_S: Final = 1800
"""A model without requests for so long frees its memory, and is loaded again at the next request."""
_LOAD_S: Final = 60.0
_LOAD_BYTES_A_S: Final = 20e6
"""The speed of a slow disk. A start is given up after `_LOAD_S` plus the time to read the file at this speed."""
_EXIT_S: Final = 0.5
"""The longest wait for the end of a process that has ended its connections."""
_END_S: Final = 3.0
_REASON: Final = re.compile(r"error loading model: (.+)|(GGML_ASSERT.+)|(.*couldn't bind.*)")


@dataclass
class LocalServer:
    """llama.cpp's server for one file and length of context.

    Attributes:
        file: the model.
        context: the most tokens of context for all its slots together.
        shared: the tokens that the slots share; 0 before the start.
        address: its address, with /v1; empty while it is not running.
        key: the key that every request needs; only this process and the server know it.
    """

    file: Path
    context: int
    shared: int = 0
    address: str = ""
    key: SecretStr = field(default_factory=lambda: SecretStr(secrets.token_hex(24)))
    _process: subprocess.Popen[bytes] | None = None
    _starting: threading.Lock = field(default_factory=threading.Lock)

    @property
    def running(self) -> bool:
        """Whether it accepts requests."""
        return bool(self.address) and self._process is not None and self._process.poll() is None

    @property
    def ended(self) -> str:
        """How it ended by itself, in words; empty if it runs or was never started."""
        code = self._process.poll() if self._process is not None else None
        if code is None:
            return ""
        return f"llama.cpp's server has ended (signal {-code})" if code < 0 else "llama.cpp's server has ended"

    def await_end(self, seconds: float) -> None:
        """Wait until the server's process has ended, for so many seconds at most."""
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)

    def start(self, settings: Settings) -> None:
        """Start the server if it does not run; other threads that call this meanwhile wait for the same start.

        Args:
            settings: `local_slots`, `max_concurrency` and `concurrent` give the number of slots.

        Raises:
            InputError: llama.cpp cannot load the file, or there is not enough memory.
            ModelError: the server ended, or was not ready in time.
        """
        with self._starting:
            if self.running:
                return
            header = read_header(self.file)
            self.shared = context_of(header, self.context)
            refuse_too_large(self.file, header, self.shared)
            asked = {
                "file": str(self.file),
                "key": self.key.get_secret_value(),
                "port": 0,
                "context": self.shared,
                "slots": slots(settings),
                "answer": _ANSWER,
                "cache_mib": _CACHE_MIB,
                "sleep_s": _SLEEP_S,
                "keep_log": bool(os.environ.get(LOG_VARIABLE)),
            }
            with _log() as log:
                self._begin(asked, log)

    def stop(self) -> None:
        """Stop the server, even while it starts; its requests fail."""
        process = self._process
        if process is None or process.poll() is not None:
            return
        with suppress(OSError):
            process.stdin.close()  # type: ignore[union-attr]
        try:
            process.wait(_END_S if self.address else 0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _begin(self, asked: dict[str, Any], log: IO[bytes]) -> None:
        self.address = ""
        at = log.seek(0, os.SEEK_END)
        process = self._process = subprocess.Popen(
            [sys.executable, "-P", str(_SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        limit_s = _LOAD_S + self.file.stat().st_size / _LOAD_BYTES_A_S
        too_late = threading.Event()
        late = threading.Timer(limit_s, _give_up, (process, too_late))
        late.daemon = True
        late.start()
        try:
            with suppress(OSError):
                process.stdin.write(json.dumps(asked).encode() + b"\n")
                process.stdin.flush()
            line = process.stdout.readline()
        finally:
            late.cancel()
            process.stdout.close()
        told = json.loads(line) if line else {}
        if "address" in told:
            self.address = f"{told['address'].rstrip('/')}/v1"
            return
        self.stop()
        log.seek(at)
        reason = _reason(log.read().decode(errors="replace"))
        if too_late.is_set():
            raise self._error(f"the model was not loaded within {limit_s:.0f} seconds", "Use a smaller one.")
        if not told and not reason:
            raise self._error(self.ended or "llama.cpp's server did not start", SEE_LOG)
        raise InputError(
            f"the model file {shown(str(self.file))} cannot be loaded: {short(reason or told['error'])}",
            remedy="Check that it is a complete .gguf file for llama.cpp, or get it again.",
        )

    def _error(self, what: str, remedy: str) -> ModelError:
        return ModelError(what, model=str(self.file), remedy=remedy)


def _give_up(process: subprocess.Popen[bytes], too_late: threading.Event) -> None:
    too_late.set()
    process.kill()


_servers: Final[dict[tuple[Path, int], LocalServer]] = {}
_by_name: Final[dict[tuple[str, int], LocalServer]] = {}
_lock: Final = threading.Lock()


def context_of(header: Header, most: int) -> int:
    """The tokens of context for a model file: `most`, or the smaller number with which it was trained."""
    return min(most, header.context or most)


def room(name: ModelName, settings: Settings, taken: int | None) -> Room | None:
    """A request's share of the context that the slots of a model's server share; None if the server was not started.

    llama.cpp lets each slot use the whole context; when it is full, all running requests fail.

    Args:
        name: the model.
        settings: those with which its server was started.
        taken: tokens of prompt and answer; None for a request that must run alone.
    """
    server = _by_name.get((name.written, settings.local_context))
    if server is None or not server.shared:
        return None
    return Room((server.file, server.context), server.shared, server.shared if taken is None else taken)


def slots(settings: Settings) -> int:
    """The number of requests that a model on this machine answers at the same time; further ones wait."""
    at_once = settings.max_concurrency if settings.concurrent else 1
    return settings.local_slots or min(_MOST_SLOTS, at_once)


async def started(name: ModelName, settings: Settings) -> ModelName:
    """Start the server of a local model, and return the name with its address; any other name is returned unchanged.

    Raises:
        InputError: the file is missing, llama.cpp cannot load it, or there is not enough memory.
        ModelError: the server ended while it started, or was not ready in time.
    """
    if name.provider != "llamacpp":
        return name
    server = _by_name.get((name.written, settings.local_context))
    if server is None or not server.running:
        server = await asyncio.to_thread(_named, name, settings)
        try:
            await asyncio.to_thread(server.start, settings)
        except asyncio.CancelledError:
            server.stop()  # the caller no longer waits for the model
            raise
    return replace(name, base_url=server.address)


def key_of(name: ModelName, settings: Settings) -> SecretStr:
    """The key of the server that was started for a name."""
    return _by_name[name.written, settings.local_context].key


def how_ended(name: ModelName, settings: Settings, *, hung_up: bool = False) -> str:
    """How the server that was started for a name ended by itself, in words; empty if it did not.

    Args:
        name: the model.
        settings: those with which its server was started.
        hung_up: whether it has just ended a connection. The connections of a process that is killed end a moment before
            the process does; then this waits for it, half a second at most.
    """
    server = _by_name.get((name.written, settings.local_context))
    if server is None:
        return ""
    if hung_up:
        server.await_end(_EXIT_S)
    return server.ended


def _named(name: ModelName, settings: Settings) -> LocalServer:
    file = model_file(name)
    if find_spec("xllamacpp") is None:
        raise MissingExtraError(f"the model {shown(name.written)}", "local")
    # Two names of one file share one server.
    key = (file.resolve(), settings.local_context)
    with _lock:
        server = _servers.setdefault(key, LocalServer(*key))
        _by_name[name.written, settings.local_context] = server
    return server


def stop_all() -> None:
    """Stop every server of this process."""
    with _lock:
        running = list(_servers.values())
        _servers.clear()
        _by_name.clear()
    for server in running:
        server.stop()


def refuse_too_large(file: Path, header: Header, context: int) -> None:
    """Refuse a context that needs more memory than is free.

    Raises:
        InputError: the free memory is too small.
    """
    import psutil  # type: ignore[import-untyped]

    needed, free = header.kv_bytes * context, psutil.virtual_memory().available
    if needed > free:
        raise InputError(
            f"a context of {context:,} tokens of {shown(file.name)} takes {needed / 1e9:.1f} GB of memory, "
            f"and {free / 1e9:.1f} GB are free",
            remedy=f"Lower local_context, for example to {max(512, int(free * 0.8) // header.kv_bytes // 512 * 512)}.",
        )


def _log() -> IO[bytes]:
    """The log file of llama.cpp: the file that the variable names, else a temporary one."""
    named = os.environ.get(LOG_VARIABLE)
    if not named:
        return tempfile.TemporaryFile()
    try:
        return Path(named).expanduser().open("a+b")
    except OSError as error:
        raise InputError(
            f"{LOG_VARIABLE} names a file that cannot be written: {error.strerror}", remedy="Name another one."
        ) from error


def _reason(log: str) -> str:
    """Why llama.cpp could not start, in its own words."""
    found = _REASON.search(log)
    return next((group.strip() for group in found.groups() if group), "") if found else ""


def _forget() -> None:
    """Forget the servers in a forked process: they belong to the process that started them."""
    _servers.clear()
    _by_name.clear()


atexit.register(stop_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
