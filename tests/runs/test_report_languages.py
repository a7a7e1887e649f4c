"""Report, summary and transcript in the languages of the catalogue: whole, and no English left in them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fixtures import Refused
from group_runs import write_group
from page_languages import OTHERS, english_left
from run_folders import write_debate, write_steered, write_story

from persimchat.reports.guide import summary_of
from persimchat.reports.report import report_html, summary_page
from persimchat.runs.events import Stopped
from persimchat.runs.folder.lines import Transcript, head
from persimchat.runs.folder.reading import read_run
from persimchat.state.wording import catalogue, in_language, language, localised, t

WRITERS: dict[str, Callable[..., Path]] = {
    "debate": lambda out, **about: write_debate(out, 9, **about),
    "story": write_story,
    "focus group": write_group,
    "steered": write_steered,
}


def pages(folder: Path, tag: str | None = None) -> list[str]:
    record = read_run(folder)
    made = [report_html(record, tag)]
    return made if record.guide is None else [*made, summary_page(record, summary_of(record), tag)]


@pytest.mark.parametrize("tag", OTHERS)
@pytest.mark.parametrize("kind", WRITERS)
def test_no_english_is_left_in_it(kind: str, tag: str, tmp_path: Path) -> None:
    folder = WRITERS[kind](tmp_path)
    for before, after in zip(pages(folder, "en"), pages(folder, tag), strict=True):
        assert english_left(before, after, tag) == set()


@pytest.mark.parametrize(("tag", "heads"), [("cs", "cs"), ("de-AT", "de"), ("ja", "en"), ("en", "en")])
def test_it_has_the_language_of_its_run(tag: str, heads: str, tmp_path: Path) -> None:
    for page in pages(write_group(tmp_path, settings={"language": tag})):
        assert f'<html lang="{heads}">' in page
        assert str(catalogue()["transcript.disclaimer"][heads]) in page


def test_another_language_is_refused(tmp_path: Path, refused: Refused) -> None:
    folder = write_debate(tmp_path, 2)
    refused(lambda: report_html(read_run(folder), "fr"), "no reports in 'fr'", "en, cs, de")


@pytest.mark.parametrize("tag", OTHERS)
def test_numbers_are_those_of_the_language(tag: str, tmp_path: Path) -> None:
    page = pages(write_debate(tmp_path, 9), tag)[0]
    seconds = re.findall(r"\d+[.,]\d+ s\b", page)
    assert seconds and all("," in one for one in seconds)
    assert localised("1,234.5", tag) == {"cs": "1\u00a0234,5", "de": "1.234,5"}[tag]


def test_the_transcript_ends_in_its_language() -> None:
    told: Any = {"reason": "message_limit", "source": "message_limit", "detail": "The limit of 8 messages was reached."}
    stopped = Stopped.model_construct(**told, conclusion=None, outcome=None)
    ended = {tag: Transcript(tag).end(stopped) for tag in ("en", "en-GB", "cs", "de", "ja")}
    assert ended["en"] == ended["en-GB"] == ended["ja"] == "*The limit of 8 messages was reached.*\n"
    assert (ended["cs"], ended["de"]) == ("*Byl dosažen limit replik.*\n", "*Die Nachrichtengrenze ist erreicht.*\n")
    with in_language("cs"):
        assert "Toto je simulace" in head("Čaj?", ["Eva"])
    assert "This is a simulation" in head("Tea?", ["Eva"])


def test_a_language_holds_within_its_context() -> None:
    assert language() == "en"
    with in_language("de"):
        with in_language("xx"):
            assert (language(), t("report.agents")) == ("en", "Agents")
        assert t("report.agents") == "Agenten"
    assert language() == "en"
