"""A process that forks a child for every task, so that what is imported once serves many runs that are killed."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any


def answer_tasks(work: Callable[[Any, int], None]) -> None:
    """Fork a child for every task on standard input; answer with its status and what it says.

    Args:
        work: what the child does, given the task and the end of a pipe to which it writes JSON.
    """
    for line in sys.stdin:
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            try:
                work(json.loads(line), writing)
                os._exit(0)
            finally:  # whatever happens, a child never goes on with the driver's loop
                traceback.print_exc()
                os._exit(1)
        os.close(writing)
        with os.fdopen(reading) as file:
            said = file.read()
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(json.dumps({"status": status, **(json.loads(said) if said else {})}), flush=True)
