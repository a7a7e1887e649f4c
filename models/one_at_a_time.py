"""A model in this process that must not be asked twice at the same time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any


class OneAtATime:
    """A llama.cpp client behind a lock.

    llama.cpp has one state for one conversation and no guard of its own. A request that ran out of time goes on in
    its thread after nobody waits for it any more; without the lock the next one would enter the same state.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._lock = threading.Lock()

    def create_chat_completion(self, **options: Any) -> Any:
        """The client's method of this name: a completion, or an iterator of pieces with `stream=True`."""
        if options.get("stream"):
            return self._pieces(options)
        with self._lock:
            return self._client.create_chat_completion(**options)

    def _pieces(self, options: dict[str, Any]) -> Iterator[Any]:
        with self._lock:
            yield from self._client.create_chat_completion(**options)
