"""A run in numbers: the arithmetic, and what stands in the summary."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_folders import PEOPLE, lines, mind, score, utterance, verdict, write_debate, write_run, write_steered

from persimchat.runs.events import Analysed, Uttered
from persimchat.runs.folder.reading import read_run
from persimchat.runs.reports.summary import (
    Summary,
    count_words,
    course,
    highest_coherence,
    mean,
    slope,
    speech,
    summarise,
)

EVA, BO, LEI = PEOPLE
VALUES = st.lists(st.floats(-1000, 1000), min_size=2, max_size=40)


@given(VALUES)
def test_the_slope_is_that_of_least_squares(values: list[float]) -> None:
    assert slope(values) == pytest.approx(np.polyfit(range(len(values)), values, 1)[0], abs=1e-6, rel=1e-6)


@given(VALUES, st.floats(-100, 100))
def test_a_constant_changes_no_trend(values: list[float], added: float) -> None:
    assert slope([value + added for value in values]) == pytest.approx(slope(values), abs=1e-6)


@given(VALUES)
def test_backwards_the_trend_is_the_opposite(values: list[float]) -> None:
    there, back = slope(values), slope(values[::-1])
    assert there is not None and back is not None
    assert there == pytest.approx(-back, abs=1e-6)


@given(st.floats(-50, 50), st.floats(-50, 50), st.integers(2, 60))
def test_a_straight_line_has_its_own_slope(start: float, step: float, number: int) -> None:
    assert slope([start + step * n for n in range(number)]) == pytest.approx(step, abs=1e-6)


def test_of_too_little_nothing_is_known() -> None:
    assert slope([]) is slope([4.0]) is mean([]) is None
    assert course([]).mean is None
    assert course([4.0]).model_dump() == {"last": 4.0, "mean": 4.0, "trend": None}


@given(st.lists(st.floats(0, 10), min_size=1))
def test_a_mean_lies_between_the_extremes(values: list[float]) -> None:
    found = mean(values)
    assert found is not None
    assert min(values) - 1e-9 <= found <= max(values) + 1e-9


@given(st.lists(st.text("abcč李", min_size=1, max_size=5), max_size=20), st.sampled_from([" ", "\n", "\t ", "\u00a0"]))
def test_words_are_what_stands_between_white_space(words: list[str], space: str) -> None:
    assert count_words(space.join(words)) == len(words)


UTTERANCES = st.lists(
    st.builds(
        Uttered,
        turn=st.integers(1, 99),
        speaker=st.just("A"),
        text=st.text("ab ", max_size=30),
        response_time_s=st.none() | st.floats(0, 100),
        corrections=st.lists(st.sampled_from(["repetition", "name"]), max_size=2),
    ),
    max_size=12,
)


@given(UTTERANCES)
def test_figures_of_any_utterances(said: list[Uttered]) -> None:
    figures = speech(said, [])
    assert figures.utterances == len(said)
    assert sum(figures.corrections.values()) == sum(len(u.corrections) for u in said)
    assert figures.length.last_words == (count_words(said[-1].text) if said else None)
    times = [u.took_s for u in said if u.took_s is not None]
    assert figures.response_time_s.last == (times[-1] if times else None)
    assert figures.coherence.mean is None


def test_the_first_of_the_most_coherent() -> None:
    scores = [Analysed(**score(turn, "A", value)) for turn, value in ((1, 4.0), (2, 8.5), (3, 8.5))]
    best = highest_coherence(scores)
    assert best is not None
    assert (best.turn, best.value) == (2, 8.5)
    assert highest_coherence([]) is None


def summary_of(folder: Path) -> Summary:
    return summarise(read_run(folder))


def test_the_figures_of_each_agent(tmp_path: Path) -> None:
    said = [
        utterance(1, EVA, "One two three.", response_time_s=1.0),
        utterance(2, BO, "Yes.", response_time_s=9.0),
        utterance(3, EVA, "Four five", response_time_s=2.0, tokens={"input": 1, "output": 4}),
        utterance(4, EVA, "Six", response_time_s=6.0, tokens={"input": 1, "output": 2}, corrections=["repetition"]),
    ]
    minds = [
        mind(turn, name, need_to_talk=need, openness=openness)
        for turn, name, need, openness in ((0, EVA, 4, 2), (0, BO, 9, 5), (1, EVA, 0, 1), (1, BO, 9, 5), (2, EVA, 8, 7))
    ]
    scores = [score(1, EVA, 4.0), score(2, BO, 9.0), score(3, EVA, 6.0)]
    summary = summary_of(write_run(tmp_path, said, minds, scores=scores))
    eva, bo, lei = summary.agents
    assert [agent.name for agent in summary.agents] == list(PEOPLE)
    assert eva.speech.utterances == 3
    assert eva.speech.response_time_s.model_dump() == {"last": 6.0, "mean": 3.0, "trend": pytest.approx(2.5)}
    assert eva.speech.length.model_dump() == {"last_words": 1, "last_tokens": 2, "mean_words": 2.0}
    assert eva.speech.corrections == {"repetition": 1}
    assert eva.mean_need_to_talk == 4.0
    assert (eva.first_openness, eva.last_openness) == (2, 7)
    assert eva.speech.coherence.model_dump() == {"last": 6.0, "mean": 5.0, "trend": pytest.approx(2.0)}
    assert bo.speech.response_time_s.trend is None
    assert (lei.speech.utterances, lei.mean_need_to_talk, lei.speech.response_time_s.mean) == (0, None, None)
    assert summary.most_active == [EVA]
    assert summary.highest_coherence is not None
    assert (summary.highest_coherence.speaker, summary.highest_coherence.value) == (BO, 9.0)
    assert summary.total.coherence.mean == pytest.approx(19 / 3)
    assert summary.total.scored == 3
    assert summary.total.response_time_s.mean == pytest.approx(4.5)
    assert summary.total.length.last_words == 1


def test_several_may_be_most_active_and_nobody_where_nothing_was_said(tmp_path: Path) -> None:
    assert summary_of(write_run(tmp_path, run="a")).most_active == list(PEOPLE)
    assert summary_of(write_run(tmp_path, [], [], run="b")).most_active == []


def test_whoever_spoke_is_counted_also_who_is_not_listed(tmp_path: Path) -> None:
    summary = summary_of(write_run(tmp_path, [utterance(1, "Judge"), utterance(2, "Judge")], []))
    assert [agent.name for agent in summary.agents] == [*PEOPLE, "Judge"]
    assert summary.participants == list(PEOPLE)
    assert summary.most_active == ["Judge"]


def test_a_debate(tmp_path: Path) -> None:
    summary = summary_of(write_debate(tmp_path, 12))
    assert (summary.mode, summary.stop_reason, summary.stop_source) == ("debate", "consensus", "judge")
    assert summary.conclusion is not None
    assert summary.conclusion.consensus
    assert summary.verdicts[-1].model_dump() == {
        "turn": 12, "consensus": True, "progress": summary.verdicts[-1].progress, "answer": "Tea at four",
        "agree": 3, "participants": 3, "overruled": "",
    }  # fmt: skip
    assert summary.verdicts[-3].overruled


def test_verdicts_count_those_who_agree(tmp_path: Path) -> None:
    (found,) = summary_of(write_run(tmp_path, verdicts=[verdict(3)])).verdicts
    assert (found.agree, found.participants) == (1, 3)


def test_usage_is_that_of_run_json(tmp_path: Path) -> None:
    summary = summary_of(write_run(tmp_path))
    assert summary.usage is not None
    assert summary.usage.cost_usd == 0.0125
    assert list(summary.usage_by_module) == ["natural_language"]
    assert list(summary.usage_by_agent) == [EVA]


def test_usage_has_participants_in_their_order_then_those_who_look_on(tmp_path: Path) -> None:
    totals = {"calls": 1, "input_tokens": 2, "output_tokens": 3, "estimated": False, "cost_usd": 0.0}
    recorded = {"total": totals, "by_module": {}, "by_agent": dict.fromkeys(("Analysis", BO, "judge", EVA), totals)}
    summary = summary_of(write_run(tmp_path, usage=recorded))
    assert list(summary.usage_by_agent) == [EVA, BO, "Analysis", "judge"]


def test_settings_that_are_not_known_here_do_no_harm(tmp_path: Path) -> None:
    assert summary_of(write_run(tmp_path, settings={"mode": "opera", "future": [1]})).mode == "opera"


def test_settings_of_the_wrong_kind_are_refused(tmp_path: Path, refused: Callable[..., str]) -> None:
    folder = write_run(tmp_path, settings={"mode": 5})
    refused(lambda: summary_of(folder), "run.json", "settings.mode")


def test_the_summary_is_plain_json(tmp_path: Path) -> None:
    summary = summary_of(write_debate(tmp_path, 8))
    assert Summary.model_validate(json.loads(summary.model_dump_json())) == summary


def test_the_moderator_and_people_are_told_apart_from_agents(tmp_path: Path) -> None:
    summary = summarise(read_run(write_steered(tmp_path)))
    by_name = {agent.name: agent for agent in summary.agents}
    assert list(by_name) == [EVA, BO, LEI, "Moderator"]
    assert summary.most_active == [EVA]
    assert (by_name["Moderator"].speech.utterances, by_name["Moderator"].mean_need_to_talk) == (2, None)
    assert (by_name[LEI].emotion, by_name[LEI].mean_need_to_talk) == ({}, None)
    assert by_name[LEI].speech.response_time_s.mean is None
    assert summary.total.response_time_s.mean == 1.0
    assert (summary.people, summary.whispers, summary.silences) == ([LEI], 2, {EVA: 1, LEI: 1})
    assert summary.interventions["topic"] == 1
    assert [(again.turn, list(again.changed)) for again in summary.resumed] == [(3, ["note"])]


def test_what_people_did_is_counted_by_kind(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    deeds = [
        {"do": "say", "text": "Order!", "speaker": ""},
        {"do": "say", "text": "No.", "speaker": EVA},
        {"do": "hand", "agent": BO, "raised": True},
        {"do": "hand", "agent": BO, "raised": False},
    ]
    (folder / "control.jsonl").write_text(lines({"turn": 1, **deed} for deed in deeds), encoding="utf-8")
    assert summary_of(folder).interventions == {"say": 1, "words": 1, "hand": 1, "hand_lowered": 1}
