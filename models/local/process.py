"""llama.cpp's server for one file, as a process of its own; run as a script, it imports nothing of PerSimChat.

It reads one line of JSON, what to serve, from its standard input, and writes one line of JSON, the address or what
went wrong, to its standard output. It ends when its standard input is closed, which happens also where whoever
started it was killed. What llama.cpp prints goes to standard error.
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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for whoever started this
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    asked = json.loads(sys.stdin.readline())
    _die_with_parent(signal.SIGKILL if os.name == "posix" else 0)
    try:
        server = _served(asked)
    except Exception as error:  # noqa: BLE001 - told to whoever asked, whatever it is
        _tell(answers, {"error": str(error) or type(error).__name__})
        return
    _die_with_parent(0)
    if not asked["keep_log"]:
        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - its number is what counts
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
    _tell(answers, {"address": server.listening_address})
    while sys.stdin.buffer.read(4096):
        pass
    os._exit(0)  # nothing of a server has to be put away, and its own way out waits for requests


def _served(asked: dict[str, Any]) -> Any:
    """The server, once the model is loaded. Python stands still until then: llama.cpp does not let go of its lock."""
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
    # Its threads wait for each other at every step: where one shares its core with another program, two read and write
    # ten times slower than one. A core is left for the rest of the machine.
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads = max(1, (os.cpu_count() or 2) - 1)
    params.cache_prompt = True
    # A slot is asked again where its prompt began alike for more than the rules that all prompts begin with: with
    # llama.cpp's own tenth one person's prompt would push another's out while slots are free.
    params.slot_prompt_similarity = 0.25
    params.cache_ram_mib = asked["cache_mib"]
    params.sleep_idle_seconds = asked["sleep_s"]
    params.ui = False
    params.endpoint_slots = False
    params.offline = True
    return xllamacpp.Server(params)


def _die_with_parent(number: int) -> None:
    """Have Linux send a signal when the parent's thread ends; 0 takes that back.

    While a model loads nothing here can notice that standard input was closed. The thread that started this waits
    for the answer, so it does not end before.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, number, 0, 0, 0)


def _tell(answers: Any, what: dict[str, str]) -> None:
    answers.write(json.dumps(what) + "\n")
    answers.close()


if __name__ == "__main__":
    main()
