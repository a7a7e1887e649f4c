"""The addresses of a run's pages, and resuming a run from any page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from nicegui import ui

from ..context import WebContext
from ..widgets import errors_shown, with_waits
from ..words import language


def page_of(run: str, turn: int | None = None, *, play: bool = False) -> str:
    """A run's page.

    Args:
        run: its id.
        turn: the turn that it shows; None for the newest.
        play: whether its replay begins at once.
    """
    query = ({} if turn is None else {"turn": turn}) | ({"play": 1} if play else {})
    return f"/run/{quote(run, safe='')}" + (f"?{urlencode(query)}" if query else "")


def interview_of(run: str, agent: str, turn: int | None = None, *, number: int | None = None) -> str:
    """The page of an interview with an agent of a run.

    Args:
        run: its id.
        agent: the agent's name.
        turn: utterances so far; None for the end.
        number: the interview that goes on; None for a new one.
    """
    given = {name: value for name, value in (("turn", turn), ("number", number)) if value is not None}
    return f"/run/{quote(run, safe='')}/interview/{quote(agent, safe='')}" + (f"?{urlencode(given)}" if given else "")


def comparison_of(a: str, b: str = "") -> str:
    """The page of two runs side by side; with one run, the page offers to choose the other."""
    return "/compare?" + urlencode({"a": a} | ({"b": b} if b else {}))


def like(run: str) -> str:
    """The page of a new conversation with the set-up of a run."""
    return "/?" + urlencode({"like": run})


def export_of(run: str, form: str) -> str:
    """A run's tables as a download."""
    return f"/api/runs/{quote(run, safe='')}/export?{urlencode({'format': form})}"


def report_of(run: str) -> str:
    """A run's report, in the language of the page."""
    return f"/api/runs/{quote(run, safe='')}/report?{urlencode({'language': language()})}"


def printed_summary_of(run: str) -> str:
    """The summary of a focus group to print, in the language of the page."""
    return f"/api/runs/{quote(run, safe='')}/summary.html?{urlencode({'language': language()})}"


def experiment_page_of(name: str) -> str:
    """An experiment's page."""
    return f"/experiments/{quote(name, safe='')}"


def experiment_report_of(name: str) -> str:
    """An experiment's report."""
    return f"/api/experiments/{quote(name, safe='')}/report"


def experiment_table_of(name: str, table: str) -> str:
    """A table of an experiment, by its file name."""
    return f"/api/experiments/{quote(name, safe='')}/tables/{quote(table, safe='')}"


async def resume_and_show(web: WebContext, run: str, changes: Mapping[str, Any] | None = None) -> bool:
    """Resume a run and show it; an error is shown. Returns whether it was resumed."""
    with errors_shown():
        if await with_waits(web.runs.resume(run, changes)) is not None:
            ui.navigate.to(page_of(run))
            return True
    return False
