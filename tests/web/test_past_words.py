"""The texts of the pages of past runs: every one that is asked for is there, in every language alike."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

import persimchat.app.web.past as past
from persimchat.app.web.past.actions import FORMATS
from persimchat.app.web.past.wording import ending, moment
from persimchat.app.web.words import LANGUAGES, catalogue
from persimchat.runs.events import StopReason
from persimchat.runs.folder.listing import UNFINISHED
from persimchat.runs.reports.diff_parting import Why

MADE = {
    *(f"past.why_{why}" for why in get_args(Why)),
    *(f"past.ended_{reason}" for reason in (*get_args(StopReason), UNFINISHED)),
    *(f"past.export_{form}" for form in FORMATS),
    *(f"past.mode_{mode}" for mode in ("discussion", "debate", "story")),
    *(f"past.live_{status}" for status in ("running", "paused", "asked")),
    *(f"past.{action}" for action in ("answer", "watch", "replay")),
}
"""Keys that are put together."""


def places(text: str) -> set[str]:
    """The values that a text has places for."""
    return {name.split(".")[0] for _, name, _, _ in Formatter().parse(text) if name}


def test_every_text_is_there_and_used():
    code = "".join(path.read_text(encoding="utf-8") for path in Path(past.__path__[0]).glob("*.py"))
    asked = set(re.findall(r'"(past\.\w+)"', code)) | MADE
    assert asked == {key for key in catalogue() if key.startswith("past.")}


def test_languages_say_the_same():
    for key, entry in catalogue().items():
        if key.startswith("past."):
            assert set(entry) == set(LANGUAGES), key
            found = {frozenset().union(*map(places, text.values() if isinstance(text, dict) else [text]))
                     for text in entry.values()}  # fmt: skip
            assert len(found) == 1, key


@given(st.text())
def test_whatever_stands_in_a_folder_is_worded(text: str):
    assert moment(text)
    assert isinstance(ending(text), str)


def test_a_moment_is_of_the_servers_clock():
    assert moment("2026-11-21T12:07:00+00:00").endswith(":07")
    assert moment("yesterday") == "yesterday"
    assert moment("") == "–"
