"""The table of an experiment's conversations; on a phone, one box a conversation."""

from __future__ import annotations

from typing import Final

from nicegui import ui

from persimchat.app.web.experiments.standing import COLOURS, status_in_words
from persimchat.app.web.shared.formats import whole
from persimchat.app.web.shared.navigation import page_of
from persimchat.app.web.watching import STATUSES, Watched, WatchedCell
from persimchat.app.web.widgets import FIELD, named
from persimchat.app.web.words import t
from persimchat.experiments.axes import Label
from persimchat.state.plain_text import one_line

PAGE: Final = 40
"""How many rows are drawn at a time."""


def shown(label: Label) -> str:
    """The label of a level as text."""
    return t("experiments.none") if label is None else one_line(str(label))


def matching(one: WatchedCell, text: str, status: str) -> bool:
    """Whether a cell is one of those that are looked for.

    Args:
        one: the cell.
        text: words, each of which stands in its id, task, topic, levels or reason of failure.
        status: how far it is; empty for any.
    """
    if status and one.status != status:
        return False
    cell = one.cell
    within = " ".join(
        [cell.id, cell.task, cell.category, cell.topic, one.why, *map(str, cell.axes.values())]
    ).casefold()
    return all(word in within for word in text.casefold().split())


class CellsTable:
    """The table with its search.

    Args:
        watched: the experiment.
    """

    def __init__(self, watched: Watched) -> None:
        self.watched = watched
        self.shown = PAGE
        self.found: list[str] = []
        self.rows: dict[str, _Row] = {}
        with ui.row().classes("w-full gap-2 items-center"):
            self.text = ui.input(t("experiments.search"), on_change=self.search)
            self.text.props(f"{FIELD} clearable debounce=250 type=search").classes("grow basis-[220px]")
            every = {"": t("experiments.status_all")} | {status: status_in_words(status) for status in STATUSES}
            self.status = ui.select(every, label=t("experiments.status"), value="", on_change=self.search)
            self.status.props(FIELD).classes("grow sm:grow-0 basis-[170px]")
        self.count = ui.label().classes("text-xs muted").props("role=status")
        self.box = ui.element("div").classes("w-full overflow-x-auto cells-box").props("tabindex=0 role=region")
        named(self.box, t("experiments.conversations"))
        self.more = ui.button(on_click=self.show_more).props("outline no-caps").classes("self-center")
        self.draw()

    def search(self) -> None:
        """The search has changed."""
        self.shown = PAGE
        self.draw()

    def show_more(self) -> None:
        """Draw further rows."""
        self.shown += PAGE
        self.draw()

    def refresh(self) -> None:
        """Show what has changed in the rows that are drawn."""
        if self.found != self._matching():
            self.draw()
            return
        for id_, row in self.rows.items():
            row.show(self.watched.cells[id_])

    def draw(self) -> None:
        """Draw the rows."""
        self.found = self._matching()
        total, drawn = len(self.watched.cells), self.found[: self.shown]
        some = len(self.found) < total
        self.count.set_text(t("experiments.found", n=len(self.found), of=total) if some else "")
        self.count.set_visibility(some)
        self.box.clear()
        axes = [*self.watched.axes]
        tasks = any(one.cell.task for one in self.watched.cells.values())
        with self.box, ui.element("table").classes("facts cells w-full text-sm").props("role=table"):
            with ui.element("thead").props("role=rowgroup"), ui.element("tr").props("role=row"):
                for heading, kind in (
                    (t("experiments.cell"), ""),
                    *((one_line(axis), "") for axis in axes),
                    *([(t("experiments.task"), "")] if tasks else []),
                    (t("experiments.status"), "cells-state"),
                    (t("experiments.utterances"), "cells-number"),
                    (t("experiments.used"), "cells-number"),
                ):
                    with ui.element("th").classes(kind).props("scope=col role=columnheader"):
                        ui.label(heading)
            with ui.element("tbody").props("role=rowgroup"):
                self.rows = {id_: _Row(self.watched.cells[id_], tasks=tasks) for id_ in drawn}
        left = len(self.found) - len(drawn)
        self.more.set_text(t("experiments.more", n=min(PAGE, left)))
        self.more.set_visibility(left > 0)

    def _matching(self) -> list[str]:
        text, status = self.text.value or "", self.status.value or ""
        return [id_ for id_, one in self.watched.cells.items() if matching(one, text, status)]


class _Row:
    def __init__(self, one: WatchedCell, *, tasks: bool) -> None:
        self._shown: WatchedCell | None = None
        with ui.element("tr").props("role=row"):
            with ui.element("th").props("scope=row role=rowheader"):
                self._link = ui.link(one.cell.id, page_of(f"x:{one.cell.id}")).classes("font-mono text-primary")
                self._id = ui.label(one.cell.id).classes("font-mono muted")
            for axis, label in one.cell.axes.items():
                with _cell(one_line(axis)):
                    ui.label(shown(label))
            if tasks:
                with _cell(t("experiments.task")):
                    ui.label(one_line(one.cell.task))
            with _cell(t("experiments.status")), ui.column().classes("gap-1 items-start"):
                self._status = ui.label().classes("tint text-xs whitespace-nowrap")
                self._why = ui.label().classes("text-xs muted [overflow-wrap:anywhere]")
            with _cell(t("experiments.utterances")):
                self._utterances = ui.label().classes("tabular-nums")
            with _cell(t("experiments.used")):
                self._used = ui.label().classes("tabular-nums")
        self.show(one)

    def show(self, one: WatchedCell) -> None:
        """Show how far it is."""
        if one is self._shown:
            return
        self._shown = one
        self._link.set_visibility(bool(one.run))
        self._id.set_visibility(not one.run)
        if one.run:
            self._link.props["href"] = page_of(one.run)
            self._link.update()
        self._status.set_text(status_in_words(one.status))
        self._status.style(f"--c:{COLOURS[one.status]}")
        self._status.classes(**{"add" if one.status == "running" else "remove": "live-chip"})
        self._why.set_text(one_line(one.why))
        self._why.set_visibility(bool(one.why))
        self._utterances.set_text(whole(one.utterances))
        self._used.set_text(whole(one.spent.calls if one.spent is not None else None))


def _cell(heading: str) -> ui.element:
    """A cell of the table; on a phone its heading stands before it."""
    cell = ui.element("td").props("role=cell")
    cell.props["data-label"] = heading
    return cell
