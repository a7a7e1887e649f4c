"""Downloads of model files. They belong to the server, not to a tab: they go on while no page shows them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Literal

from persimchat.models.local import getting
from persimchat.models.local.files import Stored
from persimchat.state.errors import InputError, PerSimChatError

State = Literal["loading", "done", "failed"]


@dataclass
class Download:
    """One download.

    Attributes:
        name: the model's name.
        done: bytes so far.
        total: bytes in all; None if not known.
        state: "loading", "done" or "failed".
        error: why it failed.
    """

    name: str
    done: int = 0
    total: int | None = None
    state: State = "loading"
    error: str = ""

    def progress(self, done: int, total: int | None) -> None:
        """Take over how far it is; called from the thread that downloads."""
        self.done, self.total = done, total


class Downloads:
    """All downloads of the server since its start, one for each name."""

    def __init__(self) -> None:
        self._all: dict[str, Download] = {}
        self._tasks: set[asyncio.Task[Stored | None]] = set()

    @property
    def all(self) -> list[Download]:
        """The latest download of each name, the oldest first."""
        return list(self._all.values())

    def start(self, name: str) -> Download:
        """Begin a download, for which somebody has given consent.

        Raises:
            InputError: one of this name is under way.
        """
        under_way = self._all.get(name)
        if under_way is not None and under_way.state == "loading":
            raise InputError(f"the model {name} is being downloaded", remedy="Wait until it is done.")
        self._all.pop(name, None)
        download = self._all[name] = Download(name)
        task = asyncio.get_running_loop().create_task(self._get(download))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return download

    def forget(self, name: str) -> None:
        """Forget a download that is over."""
        download = self._all.get(name)
        if download is not None and download.state != "loading":
            del self._all[name]

    async def _get(self, download: Download) -> Stored | None:
        try:
            entry, _ = await asyncio.to_thread(getting.get, download.name, progress=download.progress)
        except PerSimChatError as error:
            download.state, download.error = "failed", f"{error.what}. {error.remedy}".strip()
            return None
        except Exception:
            download.state, download.error = "failed", "PerSimChat failed; the terminal shows more."
            raise
        download.state = "done"
        return entry
