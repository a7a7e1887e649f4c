"""Addresses of what belongs to a run."""

from __future__ import annotations

from urllib.parse import quote, urlencode


def page_of(run: str, turn: int | None = None, *, play: bool = False) -> str:
    """A run's page.

    Args:
        run: its id.
        turn: the turn that it shows; None for the newest.
        play: whether its replay begins at once.
    """
    query = ({} if turn is None else {"turn": turn}) | ({"play": 1} if play else {})
    return f"/run/{quote(run, safe='')}" + (f"?{urlencode(query)}" if query else "")


def comparison_of(a: str, b: str = "") -> str:
    """The page of two runs side by side; with one of them, the other is to be chosen there."""
    return "/compare?" + urlencode({"a": a} | ({"b": b} if b else {}))


def like(run: str) -> str:
    """The page of a new conversation that is set up as a run was."""
    return "/?" + urlencode({"like": run})


def export_of(run: str, form: str) -> str:
    """A run's tables as a download."""
    return f"/api/runs/{quote(run, safe='')}/export?{urlencode({'format': form})}"


def report_of(run: str) -> str:
    """A run's report."""
    return f"/api/runs/{quote(run, safe='')}/report"
