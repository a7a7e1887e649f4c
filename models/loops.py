"""Values that belong to one event loop.

Asynchronous HTTP clients and semaphores must not cross event loops: a connection pool used from a second
`asyncio.run` fails in ways that look like network failures. `PerLoop` keeps such objects by running loop.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class PerLoop(Generic[V]):
    """A cache by key and running event loop, safe between threads.

    Loops are held weakly. Because a cached client may itself hold its loop, the entries of closed loops are dropped
    whenever a new value is made.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._values: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Hashable, V]]
        self._values = weakref.WeakKeyDictionary()

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """The running loop's value for `key`, made on first use; outside a running loop it is made and not kept."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return make()
        with self._lock:
            values = self._values.get(loop)
            if values is not None and key in values:
                return values[key]
            for other in [known for known in self._values if known.is_closed()]:
                del self._values[other]
            return self._values.setdefault(loop, {}).setdefault(key, make())

    def __contains__(self, key: Hashable) -> bool:
        """Whether the running loop has a value for `key`."""
        with self._lock:
            return key in self._values.get(asyncio.get_running_loop(), {})

    def take(self) -> list[V]:
        """Remove and return everything kept for the running loop."""
        with self._lock:
            return list(self._values.pop(asyncio.get_running_loop(), {}).values())
