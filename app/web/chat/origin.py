"""Where a conversation comes from: the run of which it is a branch."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from nicegui import ui

from persimchat.app.web.context import Viewing
from persimchat.app.web.shared.navigation import comparison_of, page_of
from persimchat.app.web.words import t
from persimchat.runs.events import Uttered
from persimchat.runs.folder.manifest import Branch
from persimchat.runs.folder.reading import read_manifest
from persimchat.state.errors import PerSimChatError


@dataclass(frozen=True)
class Origin:
    """What run.json says beside the conversation.

    Attributes:
        branch: the run of which it is a branch; None if it is none.
        there: whether that run can still be opened.
    """

    branch: Branch | None = None
    there: bool = False

    @classmethod
    async def of(cls, viewing: Viewing) -> Origin:
        """Read it; a folder that is gone or damaged says nothing, as other parts of the page report that."""
        runs = viewing.web.runs
        try:
            manifest = await asyncio.to_thread(read_manifest, runs.folder(viewing.run))
        except PerSimChatError:
            return cls()
        there = False
        if manifest.branch is not None:
            try:
                runs.folder(manifest.branch.of)
                there = True
            except PerSimChatError:
                there = False  # it was deleted, or belongs to another folder
        return cls(manifest.branch, there)

    def over(self, said: Uttered) -> None:
        """Draw the line where a branch begins, over its first utterance."""
        if self.branch is not None and said.turn == self.branch.turn + 1:
            with ui.row().classes("w-full items-center gap-3 no-wrap parts").props("role=separator"):
                again = self.branch.why == "regenerate"
                ui.label(t("chat.said_again" if again else "chat.own_way")).classes("text-xs muted break-words")

    @property
    def begins(self) -> set[int]:
        """The numbers of the utterances over which the branch's line stands."""
        return set() if self.branch is None else {self.branch.turn + 1}


class OriginBar:
    """The bar over a branch: what it is, with the way to the run it comes from and to both side by side.

    Args:
        viewing: the run.
    """

    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        self._row = ui.row().classes("w-full items-center gap-3 no-wrap px-4 py-2 origin-bar").mark("origin")
        self._row.set_visibility(False)

    def show(self, origin: Origin) -> None:
        """Show where the run comes from; nothing for a run that is no branch."""
        branch = origin.branch
        if branch is None:
            return
        self._row.set_visibility(True)
        again = branch.why == "regenerate"
        with self._row:
            ui.icon("replay" if again else "call_split", size="18px").classes("muted").props("aria-hidden=true")
            said = t("chat.origin_again", n=branch.turn + 1) if again else t("chat.origin_branch", n=branch.turn)
            ui.label(said).classes("text-sm min-w-0 break-words grow")
            with ui.row().classes("items-center gap-x-3 gap-y-0 shrink-0 max-w-[40%] justify-end"):
                if not origin.there:
                    ui.label(t("chat.origin_gone")).classes("text-sm muted")
                    return
                ui.link(t("chat.origin_open"), page_of(branch.of, branch.turn)).classes("text-sm")
                ui.link(t("chat.origin_compare"), comparison_of(branch.of, self._viewing.run)).classes("text-sm")
