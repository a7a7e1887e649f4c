"""A run in words: what it is called, when it began, how it ended, and what a branch changed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from persimchat.app.web.words import catalogue, t
from persimchat.runs.folder.listing import ListedRun
from persimchat.runs.reports.words import compact, spaced
from persimchat.state.plain_text import one_line, shortened

_MOST_WORDS: Final = 140
"""Characters of words that a branch put in."""


def address_of(listed: ListedRun) -> str:
    """The run's id on this server: the name of its folder, even if the folder was renamed or copied."""
    return Path(listed.folder).name


def title_of(listed: ListedRun) -> str:
    """The name that its user gave a run; its topic if there is none."""
    return one_line(listed.name or listed.topic)


def moment(started: str) -> str:
    """When a run began, in the server's time zone; text that is not a time stays as it is."""
    try:
        return t("past.moment", d=datetime.fromisoformat(started).astimezone())
    except (ValueError, OverflowError):
        return started or t("past.unknown")


def ending(reason: str) -> str:
    """The ending of a run, or that it has none (`runs.listing.UNFINISHED`)."""
    key = f"past.ended_{reason}"
    return t(key) if key in catalogue() else spaced(reason)


def branched(listed: ListedRun) -> str:
    """Where a branch leaves its origin, and what it changes there, in a line."""
    turn = listed.branch_turn or 0
    changed = dict(listed.branch_changed)
    said, chosen = changed.pop("say", None), changed.pop("choose", None)
    if listed.branch_why == "regenerate":
        what = t("past.branch_again", turn=turn + 1)
    elif isinstance(said, Mapping):
        words = shortened(one_line(str(said.get("text", ""))), _MOST_WORDS)
        what = t("past.branch_says", turn=turn + 1, who=one_line(str(said.get("speaker", ""))), text=words)
    elif isinstance(chosen, Mapping):
        host, partner = (one_line(str(chosen.get(key, ""))) for key in ("host", "partner"))
        what = t("past.branch_chooses", turn=turn, host=host, partner=partner)
    else:
        what = t("past.branch_at", turn=turn)
    return " · ".join([what, *(_set(name, value) for name, value in changed.items())])


def _set(name: str, value: Any) -> str:
    return f"{spaced(name)}: {one_line(compact(value))}"
