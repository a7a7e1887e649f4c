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
from persimchat.app.web.insights.charts import line, radar_series, verdict_series
from persimchat.app.web.insights.figures import (
    MOST_POINTS,
    Numbers,
    emotions_now,
    emotions_over_time,
    latest,
    levels_of,
    thinned,
    verdict_marks,
)
from persimchat.app.web.looks import chart_name
from persimchat.app.web.shared.budgets import budgets
from persimchat.app.web.words import LANGUAGES, catalogue
from persimchat.runs.events import Analysed, Judged, Totals
from persimchat.runs.folder.past import UNKNOWN
from persimchat.runs.folder.reading import read_run
from persimchat.runs.reports.summary import summarise
from persimchat.state.emotion import EMOTIONS

NAMES = st.sampled_from(["Eva", "Bo", "Li", ":x"])
LEVELS = st.dictionaries(st.integers(0, 40), st.dictionaries(NAMES, st.integers(0, 10)), max_size=30)
MINDS = st.dictionaries(
    st.integers(0, 20),
    st.dictionaries(NAMES, st.fixed_dictionaries(dict.fromkeys(EMOTIONS, st.integers(0, 10)))),
    max_size=12,
)
TURNS = st.integers(-1, 45)


@given(st.lists(st.tuples(st.integers(0, 5000), st.floats(0, 10)), max_size=1200, unique_by=lambda point: point[0]))
def test_thinning_keeps_order_range_and_mean(points: list[tuple[int, float]]):
    points = sorted(points)
    drawn = thinned(points)
    assert len(drawn) <= MOST_POINTS
    assert [x for x, _ in drawn] == sorted(x for x, _ in drawn)
    if len(points) <= MOST_POINTS:
        assert drawn == [[x, round(y, 2)] for x, y in points]
    else:
        assert min(y for _, y in points) - 0.01 <= min(y for _, y in drawn)
        assert max(y for _, y in points) + 0.01 >= max(y for _, y in drawn)


@given(LEVELS, TURNS)
def test_levels_hold_nothing_of_later_turns(levels: dict[int, dict[str, int]], turn: int):
    for name in ("Eva", ":x"):
        points = levels_of(levels, name, turn)
        assert points == sorted((at, found[name]) for at, found in levels.items() if name in found and at <= turn)
        now = latest(levels, ["Eva", ":x"], turn)
        assert (name in now) == bool(points)
        if points:
            assert now[name] == points[-1][1]


@given(MINDS, st.integers(-1, 22))
def test_emotions_are_summed_over_those_who_are_known(minds: dict[int, dict[str, dict[str, int]]], turn: int):
    names = ["Eva", "Bo"]
    course = emotions_over_time(minds, names, turn)
    assert list(course) == list(EMOTIONS)
    for emotion, points in course.items():
        for at, value in points:
            assert at <= turn
            assert value == sum(minds[at][name][emotion] for name in names if name in minds[at])
    now = emotions_now(minds, names, turn)
    for name in names:
        known = [at for at in minds if at <= turn and name in minds[at]]
        assert now.get(name) == ([minds[max(known)][name][emotion] for emotion in EMOTIONS] if known else None)


def judged(turn: int, consensus: bool, overruled: bool) -> Judged:
    why = "nobody agreed" if overruled and not consensus else ""
    about = {"reasoning": "", "answer": "", "positions": [], "progress": "circling"}
    return Judged(turn=turn, consensus=consensus, overruled=why, **about)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=450), st.integers(0, 500))
def test_of_many_verdicts_the_consensus_stays(given_verdicts: list[tuple[bool, bool]], turn: int):
    verdicts = [judged(at, consensus, overruled) for at, (consensus, overruled) in enumerate(given_verdicts, start=1)]
    marks = verdict_marks(verdicts, turn)
    assert len(marks) <= MOST_POINTS
    assert all(at <= turn for at, _ in marks)
    if sum(one.turn <= turn for one in verdicts) <= MOST_POINTS:
        assert [at for at, _ in marks] == [one.turn for one in verdicts if one.turn <= turn]


@given(st.text(max_size=80))
def test_names_in_charts_are_neither_script_nor_markup(name: str):
    shown = chart_name(name)
    assert shown
    assert not shown.startswith(":")
    assert not set(shown) & set("{|}\n\r\u202e")
    assert len(shown) <= 26


def keys(value: object) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(key for item in value.values() for key in keys(item))]
    return [key for item in value for key in keys(item)] if isinstance(value, list) else []


@given(st.text(max_size=20))
def test_names_are_never_keys_of_charts(name: str):
    options = [line(name, "#fff", [(1, 2.0)]), *radar_series({name: [0] * 6}, {name: "#fff"})]
    options += verdict_series([(1, "consensus")], {"consensus": name})
    assert [key for key in keys(options) if key.startswith(":")] == []
    assert set(keys(options)) <= {
        *("name", "type", "showSymbol", "symbolSize", "lineStyle", "itemStyle", "width", "color", "data", "symbol"),
        *("value", "areaStyle", "opacity", "dimensions", "encode", "x", "y", "tooltip"),
    }


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
