"""What the page shows while no world is open: which worlds there are, and the command that opens one."""

from __future__ import annotations

import asyncio
import shlex
from dataclasses import dataclass
from pathlib import Path

from nicegui import ui

from persimchat.app.web.experiments.command import command
from persimchat.app.web.frame import Frame, disclaimer
from persimchat.app.web.widgets import card
from persimchat.app.web.words import t
from persimchat.runs.companion.served import served_at
from persimchat.runs.companion.worldfile import is_world
from persimchat.runs.folder.lock import is_held
from persimchat.state.folders import WORLDS
from persimchat.state.plain_text import one_line

_NEW = "persimchat companion serve PLACE.yaml --world worlds/NAME"


@dataclass(frozen=True)
class Found:
    """A world on disk.

    Attributes:
        folder: the world's.
        held: whether another process has it open.
        address: where that process serves it; empty if it does not.
    """

    folder: Path
    held: bool = False
    address: str = ""


def worlds_in(folder: Path) -> list[Found]:
    """The worlds in a folder by name; none if there is no folder. Blocks."""
    try:
        places = sorted(path for path in folder.iterdir() if is_world(path))
    except OSError:
        return []
    return [Found(path, True, served_at(path)) if is_held(path) else Found(path) for path in places]


async def closed_page() -> None:
    """Draw the page."""
    worlds = await asyncio.to_thread(worlds_in, WORLDS)
    Frame(t("common.companion"))
    ui.query(".nicegui-content").classes("p-0")
    with ui.column().classes("w-full max-w-[760px] mx-auto p-4 gap-4"):
        ui.label(t("common.companion")).classes("text-2xl font-bold").props("role=heading aria-level=1")
        with ui.column().classes("w-full gap-1"):
            ui.label(t("companion.closed")).classes("text-lg font-semibold").props("role=heading aria-level=2")
            ui.label(t("companion.closed_why")).classes("muted")
        with card(t("companion.worlds")) as box:
            box.classes("px-4")
            if worlds:
                ui.label(t("companion.open_one")).classes("text-sm")
            else:
                ui.label(t("companion.no_worlds", folder=f"{WORLDS}/")).classes("text-sm muted")
            for one in worlds:
                if one.held:
                    ui.label(one_line(one.folder.name)).classes("font-semibold words")
                    served = t("companion.held_at", address=one.address) if one.address else t("companion.held")
                    ui.label(served).classes("text-sm muted words")
                else:
                    command(shlex.join(["persimchat", "serve", "--world", str(one.folder)]))
        with card(t("companion.new_world")) as box:
            box.classes("px-4")
            command(_NEW)
        disclaimer()
