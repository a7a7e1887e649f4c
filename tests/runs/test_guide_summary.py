"""The result of a focus group by arithmetic: sections, voices, shared words; the page to print."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from group_runs import GUIDE, MODERATOR, write_group
from page_parts import Page
from run_folders import HOSTILE, PEOPLE, utterance, write_run

from persimchat.runs.folder.reading import read_run
from persimchat.runs.reports.export_rows import rows_of
from persimchat.runs.reports.guide import positions, sections
from persimchat.runs.reports.guide_page import summary_page, write_summary
from persimchat.runs.reports.guide_summary import summary_of
from persimchat.runs.reports.report import report_html
from persimchat.state.errors import InputError

Refused = Callable[..., str]


def test_a_conversation_falls_into_the_questions_of_its_guide(tmp_path: Path) -> None:
    parts = sections(read_run(write_group(tmp_path)))
    assert [(part.number, part.turns) for part in parts] == [(0, [1, 1]), (1, [2, 4]), (2, [5, 8])]
    voices = {voice.name: (voice.utterances, voice.words) for voice in parts[2].voices}
    assert voices == {PEOPLE[0]: (1, 10), PEOPLE[1]: (2, 12), PEOPLE[2]: (0, 0)}
    assert parts[2].silent == [PEOPLE[2]]


def test_shared_words_are_those_of_two_and_not_of_the_question(tmp_path: Path) -> None:
    first, second = sections(read_run(write_group(tmp_path)))[1:]
    assert [theme.name for theme in first.shared_words()] == ["drill"]
    assert [theme.name for theme in second.shared_words()] == ["deposit", "strangers"]
    quotes = second.shared_words()[0].quotes
    assert [(quote.turn, quote.speaker) for quote in quotes] == [(6, PEOPLE[1]), (7, PEOPLE[0])]
    assert quotes[0].words == "The deposit."


def test_whispers_are_nobodys_answer(tmp_path: Path) -> None:
    folder = write_group(tmp_path)
    with (folder / "transcript.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(utterance(9, PEOPLE[2], "Deposit!", heard_by=[PEOPLE[0]])) + "\n")
    assert sections(read_run(folder))[-1].silent == [PEOPLE[2]]


def test_a_question_that_only_one_heard_is_no_section(tmp_path: Path) -> None:
    folder = write_group(tmp_path)
    with (folder / "transcript.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(utterance(9, MODERATOR, "And now?", heard_by=[PEOPLE[0]], question=3)) + "\n")
    record = read_run(folder)
    assert [part.number for part in sections(record)] == [0, 1, 2]
    assert {table for table, _ in rows_of(record)} >= {"questions"}


def test_people_answered_while_they_took_part(tmp_path: Path) -> None:
    folder = write_group(tmp_path, people=[PEOPLE[0]])
    asked = {"turn": 0, "do": "answer", "what": "position", "agent": PEOPLE[0], "poll": "likely", "when": "before"}
    damaged = [{**asked, "poll": ["likely"]}, {**asked, "position": None}, {"turn": 0, "do": "answer"}]
    lines = [{**asked, "position": "4"}, {**asked, "turn": 8, "when": "after", "position": "1"}, *damaged]
    (folder / "control.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (one,) = positions(read_run(folder))
    assert [(stand.before, stand.after) for stand in one.stands] == [("4", "1"), (None, None), (None, None)]


def test_a_run_without_a_guide_has_no_summary(tmp_path: Path, refused: Refused) -> None:
    record = read_run(write_run(tmp_path, [utterance(1, PEOPLE[0])]))
    assert (sections(record), positions(record)) == ([], [])
    refused(lambda: summary_of(record), "guide")


def test_a_damaged_guide_is_named(tmp_path: Path) -> None:
    folder = write_group(tmp_path, {**GUIDE, "questions": "none"})
    with pytest.raises(InputError) as told:
        summary_of(read_run(folder))
    assert "scenario.guide" in str(told.value)


def test_the_page_prints_alone_and_escapes_everything(tmp_path: Path, refused: Refused) -> None:
    guide = {
        **GUIDE,
        "stimulus": {"title": HOSTILE, "text": HOSTILE, "image": HOSTILE},
        "questions": [{"ask": HOSTILE}, {"ask": HOSTILE}, {"ask": HOSTILE}],
        "positions": [{"ask": HOSTILE}],
    }
    folder = write_group(tmp_path / "runs", guide)
    text = summary_page(summary_of(read_run(folder)))
    page = Page(text)
    tags = {tag for tag, _ in page.elements}
    assert tags & {"script", "iframe", "object", "img", "form", "link rel=stylesheet"} == set()
    assert [name for _, attributes in page.elements for name in attributes if name.startswith("on")] == []
    assert "15129" not in text  # nothing of it is a template
    written = tmp_path / "summary.html"
    write_summary(summary_of(read_run(folder)), written)
    refused(lambda: write_summary(summary_of(read_run(folder)), written), str(written), "--force")


def test_the_page_says_what_it_shows(tmp_path: Path) -> None:
    page = summary_page(summary_of(read_run(write_group(tmp_path))))
    for words in ("no evidence of what real people would say", "What would keep you from the app?", "“The deposit.”"):
        assert words in page
    assert "No model was asked for themes" in page
    assert f"Said nothing: {PEOPLE[2]}" in page
    assert MODERATOR in page


def test_the_report_has_it_too_and_others_have_not(tmp_path: Path) -> None:
    report = report_html(read_run(write_group(tmp_path / "group")))
    assert "What would keep you from the app?" in report
    assert 'href="#group"' in report
    assert 'href="#group"' not in report_html(read_run(write_run(tmp_path / "other")))
