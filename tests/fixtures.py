"""What fixtures that many tests share are, for the types of their arguments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from loopback.server import LoopbackServer

Refused = Callable[..., str]
"""Call something that must raise InputError: `refused(call, *words)`."""
Write = Callable[..., Path]
"""Write a file: `write(name, text)`."""
Serve = Callable[..., LoopbackServer]
"""Start a server that stops with the test: `serve(answer, **options)`."""
Run = Callable[..., Any]
"""Run the command of tests/app: `command(*arguments)`."""
