"""The arithmetic of the insights: pure functions, against the summary of a run and against plain counting."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_files import read_records
from run_folders import PEOPLE, lines, score, utterance, write_debate, write_run
from run_folders import given as given_words

from persimchat.app.web.board import board_of
from persimchat.app.web.insights.figures import Numbers, latest
from persimchat.app.web.insights.talk import talk
from persimchat.app.web.shared.budgets import budgets
from persimchat.app.web.words import LANGUAGES, catalogue
from persimchat.runs.events import Analysed, Totals
from persimchat.runs.folder.past import UNKNOWN
from persimchat.runs.folder.reading import read_run
from persimchat.runs.reports.report_insights import talk_of
from persimchat.runs.reports.report_people import people
from persimchat.runs.reports.stances import ledger
from persimchat.runs.reports.summary import names_of, summarise

NAMES = st.sampled_from(["Eva", "Bo", "Li", ":x"])
LEVELS = st.dictionaries(st.integers(0, 40), st.dictionaries(NAMES, st.integers(0, 10)), max_size=30)
TURNS = st.integers(-1, 45)


@given(LEVELS, TURNS)
def test_the_latest_levels_hold_nothing_of_later_turns(levels: dict[int, dict[str, int]], turn: int):
    for name in ("Eva", ":x"):
        known = sorted((at, found[name]) for at, found in levels.items() if name in found and at <= turn)
        assert latest(levels, ["Eva", ":x"], turn).get(name) == (known[-1][1] if known else None)


@pytest.mark.parametrize("turns", [1, 9])
def test_a_page_draws_from_the_same_data_as_the_report(tmp_path: Path, turns: int):
    folder = write_debate(tmp_path, turns)
    record = read_run(folder)
    shown = talk(board_of(folder), record.manifest)
    reported = talk_of(record, people(names_of(record)), ledger(record))
    assert shown.people == reported.people
    assert (shown.last, shown.speakers, shown.verdicts) == (reported.last, reported.speakers, reported.verdicts)
    for levels in ("needs", "openness", "felt"):
        assert {name: [*own] for name, own in getattr(shown, levels).items()} == getattr(reported, levels)
    assert shown.response_times == reported.response_times
    assert [row.stance for row in shown.positions] == [row.stance for row in reported.positions]


@pytest.mark.parametrize("turns", [0, 1, 9])
def test_figures_are_those_of_the_summary(tmp_path: Path, turns: int):
    folder = write_debate(tmp_path, max(turns, 1))
    if not turns:
        for name in ("transcript.jsonl", "analysis.jsonl", "verdicts.jsonl"):
            (folder / name).write_text("", encoding="utf-8")
    found, summary = Numbers().at(board_of(folder), 100), summarise(read_run(folder))
    assert found.total == summary.total
    assert [agent.speech for agent in found.agents] == [agent.speech for agent in summary.agents]
    assert found.most_active == summary.most_active
    assert found.highest_coherence == summary.highest_coherence


@pytest.mark.parametrize("turn", [0, 1, 4, 9])
def test_figures_at_a_turn_are_those_of_a_run_that_ended_there(tmp_path: Path, turn: int):
    whole = write_debate(tmp_path / "whole", 9)
    cut = write_debate(tmp_path / "cut", 9)
    for name in ("transcript.jsonl", "analysis.jsonl"):
        rows = read_records(cut / name)
        (cut / name).write_text(lines(row for row in rows if row["turn"] <= turn), encoding="utf-8")
    (cut / "verdicts.jsonl").unlink()
    summary, found = summarise(read_run(cut)), Numbers().at(board_of(whole), turn)
    assert found.total == summary.total
    assert found.highest_coherence == summary.highest_coherence
    assert [agent.speech for agent in found.agents] == [agent.speech for agent in summary.agents]


def test_words_of_people_have_no_response_time(tmp_path: Path):
    eva, bo, li = PEOPLE
    said = [utterance(1, eva, response_time_s=2.0), given_words(2, "Moderator", "Go on."), given_words(3, li, "Water.")]
    found = Numbers().at(board_of(write_run(tmp_path, said, scores=[score(1, eva)])), 3)
    assert found.total.utterances == 3
    assert found.total.response_time_s.mean == 2.0
    assert found.most_active == [eva, li]
    assert found.last is not None
    assert (found.last_speaker, found.last.length.last_words, found.last.length.last_tokens) == (li, 1, None)


def test_figures_grow_with_the_board(tmp_path: Path):
    board = board_of(write_debate(tmp_path, 9))
    late = [*board.utterances]
    board.utterances[:] = late[:3]
    numbers = Numbers()
    assert numbers.at(board, 9).total.utterances == 3
    board.utterances[:] = late
    assert numbers.at(board, 9) == Numbers().at(board, 9)


def test_a_message_that_could_not_be_scored_has_no_score():
    failed = Analysed(
        turn=1, speaker="Eva", reasoning=None, coherence=None, sentiment=None, engagement=None, failed="x"
    )
    assert not failed.is_scored


@given(st.integers(1, 1000), st.integers(0, 2000))
def test_what_is_left_of_a_budget(limit: int, used: int):
    totals = Totals(calls=used, input_tokens=used, output_tokens=0, cost_usd=None)
    calls, tokens, usd = budgets({"budget_calls": limit, "budget_tokens": limit, "budget_usd": 1.0}, totals)
    assert calls.left == tokens.left == max(0, limit - used)
    assert usd.left is None


def test_what_is_left_is_not_known_of_a_run_without_calls():
    (calls,) = budgets({"budget_calls": 5}, UNKNOWN)
    assert calls.left is None


@pytest.mark.parametrize("area", ["insights", "minds"])
def test_every_text_is_there_in_every_language_with_the_same_values(area: str):
    entries = {key: entry for key, entry in catalogue().items() if key.startswith(f"{area}.")}
    assert len(entries) > 40
    for key, entry in entries.items():
        assert set(entry) == set(LANGUAGES), key
        forms = [text if isinstance(text, str) else text["other"] for text in entry.values()]
        assert len({frozenset(re.findall(r"{(\w+)}", text)) for text in forms}) == 1, key
