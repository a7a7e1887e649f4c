"""llama.cpp's server for one file, as a separate process; a script that imports nothing of PerSimChat.

It reads one line of JSON from its standard input, with the file and the options. It writes one line of JSON to its
standard output, with the address or the error. It ends when its standard input is closed, also because its parent was
killed. llama.cpp's output goes to standard error.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from typing import Any

_DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of Linux."""


def main() -> None:
    """Serve until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for the parent process
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    asked = json.loads(sys.stdin.readline())
    _die_with_parent(signal.SIGKILL if os.name == "posix" else 0)
    try:
        server = _served(asked)
    except Exception as error:  # noqa: BLE001 - every error is reported to the parent process
        _tell(answers, {"error": str(error) or type(error).__name__})
        return
    _die_with_parent(0)
    if not asked["keep_log"]:
        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - only its file descriptor is needed
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
    _tell(answers, {"address": server.listening_address})
    while sys.stdin.buffer.read(4096):
        pass
    os._exit(0)  # nothing needs cleaning up, and the server's own shutdown would wait for requests


def _served(asked: dict[str, Any]) -> Any:
    """The server after loading the model. Python is blocked until then, because llama.cpp holds its global lock."""
    import xllamacpp  # type: ignore[import-untyped]

    params = xllamacpp.CommonParams()
    params.model.path = asked["file"]
    params.hostnames = ["127.0.0.1"]
    params.port = asked["port"]
    params.api_keys = [asked["key"]]
    params.n_ctx = asked["context"]
    params.n_parallel = asked["slots"]
    params.kv_unified = True
    params.n_predict = asked["answer"]
    # llama.cpp's threads wait for each other at every step: if one shares its core with another program, two threads
    # are ten times slower than one. So one core is left for other programs.
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads = max(1, (os.cpu_count() or 2) - 1)
    params.cache_prompt = True
    # A slot is used again only if more of its prompt is equal than the rules with which all prompts begin. With
    # llama.cpp's default of a tenth, one agent's prompt would push out another's while other slots are free.
    params.slot_prompt_similarity = 0.25
    params.cache_ram_mib = asked["cache_mib"]
    params.sleep_idle_seconds = asked["sleep_s"]
    params.ui = False
    params.endpoint_slots = False
    params.offline = True
    return xllamacpp.Server(params)


def _die_with_parent(number: int) -> None:
    """Let Linux send a signal when the parent's thread ends; 0 cancels that.

    While a model loads, this process cannot notice that its standard input was closed. The thread that started the
    process waits for the answer, so it does not end earlier.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, number, 0, 0, 0)


def _tell(answers: Any, what: dict[str, str]) -> None:
    answers.write(json.dumps(what) + "\n")
    answers.close()


if __name__ == "__main__":
    main()
