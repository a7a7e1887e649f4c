"""The report of an experiment in a frame without scripts, and its tables as downloads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from nicegui import ui

from persimchat.app.web.experiments.command import command, command_of
from persimchat.app.web.shared.navigation import experiment_report_of, experiment_table_of
from persimchat.app.web.watching import Watched
from persimchat.app.web.widgets import card, named
from persimchat.app.web.words import t

_SANDBOX: Final = "allow-downloads allow-same-origin"
"""No script runs in the frame, so its origin is harmless; without it, links in the report would lose the token."""


def heading(text: str) -> None:
    """The heading of a section of the page."""
    ui.label(text).classes("text-base font-semibold").props("role=heading aria-level=2")


class Results:
    """The section, kept up to date.

    Args:
        watched: the experiment.
        folder: of results.
    """

    def __init__(self, watched: Watched, folder: Path) -> None:
        self._tables: Sequence[str] | None = None
        self._report: float | None = None
        self._frame: ui.element | None = None
        self._address = experiment_report_of(watched.name)
        with card() as box:
            box.classes("px-4")
            heading(t("experiments.results"))
            with ui.column().classes("w-full gap-1") as self._none:
                ui.label(t("experiments.no_report")).classes("text-sm muted")
                command(command_of("report", watched.place.path, folder))
            with ui.column().classes("w-full gap-2") as self._there:
                with ui.row().classes("w-full items-center gap-2"):
                    self._toggle = ui.button(icon="summarize", on_click=self._open).props("unelevated no-caps")
                    self._toggle.set_text(t("experiments.show_report"))
                    self._toggle.props["aria-expanded"] = "false"
                    opens = ui.button(t("experiments.report_new"), icon="open_in_new").props("flat no-caps")
                    opens.props["href"], opens.props["target"] = self._address, "_blank"
                self._box = ui.element("div").classes("w-full")
            self._downloads = ui.row().classes("w-full items-center gap-x-4 gap-y-1")
        self._name = watched.name
        self.show(watched)

    def show(self, watched: Watched) -> None:
        """Show what there is."""
        if watched.report != self._report:
            self._report = watched.report
            self._none.set_visibility(not watched.report)
            self._there.set_visibility(bool(watched.report))
            if self._frame is not None:
                self._frame.props["src"] = self._source()
                self._frame.update()
        if watched.tables != self._tables:
            self._tables = watched.tables
            self._downloads.clear()
            self._downloads.set_visibility(bool(watched.tables))
            with self._downloads:
                ui.label(t("experiments.tables")).classes("text-sm muted")
                for table in watched.tables:
                    link = ui.link(table, experiment_table_of(self._name, table)).classes("text-sm text-primary")
                    link.props["download"] = f"{self._name}-{table}"

    def _source(self) -> str:
        return f"{self._address}?written={self._report}"  # another address for another report

    def _open(self) -> None:
        """Show the report below, or put it away."""
        opened = self._frame is None
        self._toggle.set_text(t("experiments.hide_report" if opened else "experiments.show_report"))
        self._toggle.props["aria-expanded"] = "true" if opened else "false"
        self._box.clear()
        self._frame = None
        if opened:
            with self._box:
                self._frame = ui.element("iframe").classes("report-frame w-full")
            self._frame.props["src"] = self._source()
            self._frame.props["sandbox"] = _SANDBOX
            named(self._frame, t("experiments.report_of", name=self._name))
