"""The figures of a run: summary, stances, focus groups, pruning."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fixtures import Refused
from hypothesis import given
from hypothesis import strategies as st
from run_files import logged
from run_folders import (
    PEOPLE,
    mind,
    put,
    recalled,
    rewrite,
    score,
    utterance,
    verdict,
    write_debate,
    write_run,
    write_steered,
    write_story,
)

from persimchat.reports.stances import Position, Stances, ledger, stances_of
from persimchat.reports.summary import (
    Summary,
    count_words,
    course,
    highest_coherence,
    mean,
    slope,
    speech,
    summarise,
)
from persimchat.runs.events import Analysed, Uttered
from persimchat.runs.folder.reading import read_run

# A run in numbers: the arithmetic, and what stands in the summary


EVA, BO, LEI = PEOPLE


VALUES = st.lists(st.floats(-1000, 1000), min_size=2, max_size=40)


@given(VALUES)
def test_the_slope_is_that_of_least_squares(values: list[float]) -> None:
    assert slope(values) == pytest.approx(np.polyfit(range(len(values)), values, 1)[0], abs=1e-6, rel=1e-6)


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
        response_time_s=st.just(0.0) | st.floats(0, 100),
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


def summed(folder: Path) -> Summary:
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
    summary = summed(write_run(tmp_path, said, minds, scores=scores))
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
    assert summed(write_run(tmp_path, run="a")).most_active == list(PEOPLE)
    assert summed(write_run(tmp_path, [], [], run="b")).most_active == []


def test_whoever_spoke_is_counted_also_who_is_not_listed(tmp_path: Path) -> None:
    summary = summed(write_run(tmp_path, [utterance(1, "Judge"), utterance(2, "Judge")], []))
    assert [agent.name for agent in summary.agents] == [*PEOPLE, "Judge"]
    assert summary.participants == list(PEOPLE)
    assert summary.most_active == ["Judge"]


def test_a_debate(tmp_path: Path) -> None:
    summary = summed(write_debate(tmp_path, 12))
    assert (summary.mode, summary.stop_reason, summary.stop_source) == ("debate", "consensus", "judge")
    assert summary.conclusion is not None
    assert summary.conclusion.consensus
    assert summary.verdicts[-1].model_dump() == {
        "turn": 12, "consensus": True, "progress": summary.verdicts[-1].progress, "answer": "Tea at four",
        "agree": 3, "participants": 3, "overruled": "",
    }  # fmt: skip
    assert summary.verdicts[-3].overruled


def test_verdicts_count_those_who_agree(tmp_path: Path) -> None:
    (found,) = summed(write_run(tmp_path, verdicts=[verdict(3)])).verdicts
    assert (found.agree, found.participants) == (1, 3)


def test_usage_is_that_of_run_json(tmp_path: Path) -> None:
    summary = summed(write_run(tmp_path))
    assert summary.usage is not None
    assert summary.usage.cost_usd == 0.0125
    assert list(summary.usage_by_module) == ["natural_language"]
    assert list(summary.usage_by_agent) == [EVA]


def test_usage_has_participants_in_their_order_then_those_who_look_on(tmp_path: Path) -> None:
    totals = {"calls": 1, "input_tokens": 2, "output_tokens": 3, "estimated": False, "cost_usd": 0.0}
    recorded = {"total": totals, "by_module": {}, "by_agent": dict.fromkeys(("Analysis", BO, "judge", EVA), totals)}
    summary = summed(write_run(tmp_path, usage=recorded))
    assert list(summary.usage_by_agent) == [EVA, BO, "Analysis", "judge"]


def test_settings_that_are_not_known_here_do_no_harm(tmp_path: Path) -> None:
    assert summed(write_run(tmp_path, settings={"mode": "opera", "future": [1]})).mode == "opera"


def test_settings_of_the_wrong_kind_are_refused(tmp_path: Path, refused: Refused) -> None:
    folder = write_run(tmp_path, settings={"mode": 5})
    refused(lambda: summed(folder), "run.sqlite", "settings.mode")


def test_the_summary_is_plain_json(tmp_path: Path) -> None:
    summary = summed(write_debate(tmp_path, 8))
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
    put(folder, "intervention", ({"turn": 1, **deed} for deed in deeds))
    assert summed(folder).interventions == {"say": 1, "words": 1, "hand": 1, "hand_lowered": 1}


# The ledger of positions: who moved, when, and after whom


A, B, C = "Ada", "Bo", "Cleo"


NAMES = (A, B, C)


DEBATE = {"mode": "debate", "answer_format": "yesno", "max_messages": 9, "model": "offline"}


def held(turn: int, stances: dict[str, str | None]) -> dict[str, Any]:
    """A verdict that gives these answers."""
    positions = [
        {"agent": name, "position": "So.", "agrees": False} | ({"answer": answer} if answer else {})
        for name, answer in stances.items()
    ]
    return verdict(turn, positions=positions)


def debate(
    out: Path,
    said: Sequence[dict[str, Any]],
    verdicts: Iterable[dict[str, Any]] = (),
    minds: Iterable[dict[str, Any]] = (),
    names: Sequence[str] = NAMES,
    **settings: Any,
) -> Path:
    """The folder of a debate."""
    scenario = {"topic": "Close the centre?", "participants": [{"name": n, "description": "x"} for n in names]}
    settings = {**DEBATE, **settings}
    return write_run(out, said, minds, verdicts=verdicts, scenario=scenario, settings=settings, turn=len(said))


def e21(out: Path, minds: Iterable[dict[str, Any]] = (), *, yes: str = "yes", no: str = "no") -> Path:
    """Speakers by turn 1A 2B 3C 4A 5B 6A 7C; A always says yes, B from 5 on, C from 7 on."""
    said = [utterance(turn, speaker) for turn, speaker in enumerate((A, B, C, A, B, A, C), start=1)]
    verdicts = [held(t, {A: yes, B: yes if t >= 5 else no, C: yes if t >= 7 else no}) for t in range(3, 8)]
    return debate(out, said, verdicts, minds)


def of_source(folder: Path, source: str = "verdicts") -> list[Position]:
    return ledger(read_run(folder, whole=True), [source])


def moves(rows: Iterable[Position]) -> dict[str, Position]:
    """The moves, by who moved."""
    return {row.agent: row for row in rows if row.moved}


def credits(rows: Iterable[Position]) -> dict[str, float]:
    (found,) = stances_of(rows)
    return {holder.agent: holder.credit for holder in found.holders}


def test_each_is_credited_with_whom_others_moved_after(tmp_path: Path) -> None:
    rows = of_source(e21(tmp_path))
    moved = moves(rows)
    assert [(row.agent, row.turn) for row in rows] == list(zip((A, B, C, A, B, A, C), range(1, 8), strict=True))
    assert (moved[B].turn, moved[B].before, moved[B].stance) == (5, "no", "yes")
    assert (moved[B].candidates, moved[B].credit) == ((4,), {A: 1})
    assert moved[C].candidates == (4, 5, 6)
    assert moved[C].credit == pytest.approx({A: 2 / 3, B: 1 / 3})
    assert credits(rows) == pytest.approx({A: 5 / 3, B: 1 / 3, C: 0})
    assert (moved[B].toward_majority, moved[C].toward_majority) == (None, True)


def test_the_numbers_of_a_run(tmp_path: Path) -> None:
    minds = [mind(turn, name, openness=turn) for turn in range(8) for name in NAMES]
    (found,) = stances_of(of_source(e21(tmp_path, minds)))
    by_name = {holder.agent: holder for holder in found.holders}
    assert (by_name[B].first, by_name[B].last, by_name[B].moves, by_name[B].toward_majority) == ("no", "yes", 1, 0)
    assert (by_name[C].openness_moving, by_name[C].openness_else) == (6, 2)
    assert (by_name[A].openness_moving, by_name[A].openness_else) == (None, (0 + 3 + 5) / 3)
    assert (found.moves, found.toward_majority, found.kept, found.held, found.uncredited) == (2, 1, 1, 3, 0)
    assert found.values() == pytest.approx(
        {"moves": 2, "moves_to_majority": 0.5, "moves_uncredited": 0, "kept": 1 / 3, "stances_at_end": 1}
    )


def test_what_was_recalled_stands_beside_the_candidates(tmp_path: Path) -> None:
    def memory(turn: int, kind: str = "perception") -> dict[str, Any]:
        return {**recalled("It was said", f"m{turn}{kind}"), "turn": turn, "kind": kind}

    minds = [mind(6, C, recalled=[memory(2), memory(4), memory(5, "reflection"), memory(6)]), mind(5, C)]
    moved = moves(of_source(e21(tmp_path, minds)))
    assert (moved[C].recalled, moved[C].credit[B]) == ((4, 6), pytest.approx(1 / 3))
    assert moved[B].recalled is None  # no mind of Bo's is recorded
    short = ledger(read_run(next(tmp_path.iterdir())), ["verdicts"])
    assert moves(short)[C].recalled is None


def test_unclear_stances_are_passed_over_and_nobody_may_be_credited(tmp_path: Path) -> None:
    said = [utterance(turn, speaker) for turn, speaker in enumerate((A, B, C, B, A, B), start=1)]
    stances = {1: "yes", 2: "no", 3: None, 4: None, 5: "yes", 6: "other"}
    latest: dict[str, str | None] = {}
    verdicts = []
    for one in said:
        latest[one["speaker"]] = stances[one["turn"]]
        verdicts.append(held(one["turn"], {name: latest.get(name) for name in NAMES}))
    rows = of_source(debate(tmp_path, said, verdicts, answer_format="choice", choices=["yes", "no", "other"]))
    (found,) = stances_of(rows)
    assert [(r.turn, r.stance, r.before, r.moved) for r in rows if r.agent == B] == [
        (2, "no", None, None), (4, None, None, None), (6, "other", "no", True),
    ]  # fmt: skip
    assert (found.uncredited, moves(rows)[B].credit, found.held) == (1, {}, 2)
    assert {holder.agent: holder.unclear for holder in found.holders} == {A: 0, B: 1, C: 1}


def test_only_what_was_heard_is_a_candidate(tmp_path: Path) -> None:
    said = [utterance(1, A), utterance(2, B), utterance(3, A), utterance(4, A, heard_by=[C]), utterance(5, B)]
    verdicts = [held(t, {A: "yes", B: "yes" if t == 5 else "no"}) for t in range(1, 6)]
    folder = debate(tmp_path, said, verdicts)
    assert moves(of_source(folder))[B].candidates == (3,)
    put(folder, "silenced", [{"turn": 3, "agent": B, "step": "hear", "why": "the server"}])
    assert moves(of_source(folder))[B].candidates == ()


def test_an_utterance_without_a_verdict_takes_the_next_before_the_next_word(tmp_path: Path) -> None:
    said = [utterance(turn, speaker) for turn, speaker in enumerate((A, B, A, B, A), start=1)]
    rows = of_source(debate(tmp_path, said, [held(4, {A: "yes", B: "no"})]))
    assert [(row.agent, row.turn, row.stance) for row in rows] == [(A, 3, "yes"), (B, 4, "no")]


@pytest.mark.parametrize(
    ("method", "names", "candidates"),
    [
        ("mad", NAMES, {C: (1, 2)}),
        ("reconcile", NAMES, {C: (1, 2)}),
        # Two sides, Ada and Cleo against Bo: Cleo has answered before Bo, and hears only the other side.
        ("mad_judge", NAMES, {C: ()}),
    ],
)
def test_answers_of_a_round_are_heard_when_it_is_over(
    tmp_path: Path, method: str, names: tuple[str, ...], candidates: dict[str, tuple[int, ...]]
) -> None:
    order = (A, C, B) if method == "mad_judge" else names
    answers = {A: ("yes", "yes"), B: ("yes", "no") if method == "mad_judge" else ("yes", "yes"), C: ("no", "yes")}
    if method == "mad_judge":
        answers[B] = ("no", "yes")
    said = [
        utterance(3 * number + place, name, answer=answers[name][number])
        for number in (0, 1)
        for place, name in enumerate(order, start=1)
    ]
    moved = moves(of_source(debate(tmp_path, said, names=names, baseline=method), "answers"))
    assert {name: row.candidates for name, row in moved.items() if name in candidates} == candidates
    if method == "mad_judge":  # Bo answers after Ada and Cleo, whose answers of this round Bo has heard
        assert moved[B].candidates == (4, 5)


def test_polls_are_one_ledger_each(tmp_path: Path) -> None:
    folder = e21(tmp_path)

    words = {"cars": "Close the centre to cars?", "tea": "Tea?"}

    def row(poll: str, turn: int, agent: str, answer: str | None, repeat: int = 1, **more: Any) -> dict[str, Any]:
        asked = {"judge": "offline", "request": "r", "question": {"ask": words[poll], "named": poll}}
        return {"poll": poll, "turn": turn, "agent": agent, "answer": answer, "repeat": repeat, **asked, **more}

    cars = [row("cars", 0, B, "no"), row("cars", 7, B, "yes"), row("cars", 0, A, "yes"), row("cars", 7, A, "yes")]
    thrice = [row("tea", 3, C, answer, n) for n, answer in enumerate(("no", "yes", "yes"), start=1)]
    tie = [row("tea", 7, C, answer, n) for n, answer in enumerate(("no", "yes", None), start=1)]
    stale = row("cars", 0, B, "yes", request="another prompt")
    put(folder, "poll_answer", [stale, *cars, *thrice, *tie])
    rows = of_source(folder, "polls")
    assert {row.poll for row in rows} == {"cars", "tea"}
    where = [one.where for one in stances_of(rows, read_run(folder).polls)]
    assert where == ["the poll “Close the centre to cars?”", "the poll “Tea?”"]  # never an id
    moved = moves(rows)
    assert (moved[B].turn, moved[B].poll, moved[B].candidates, moved[B].credit) == (7, "cars", (1, 4, 6), {A: 1})
    assert moved[B].toward_majority is True
    assert [(row.turn, row.stance) for row in rows if row.poll == "tea"] == [(3, "yes"), (7, None)]


def test_a_run_without_answers_in_its_verdicts_has_no_rows(tmp_path: Path) -> None:
    said = [utterance(turn, name) for turn, name in enumerate(NAMES, start=1)]
    folder = debate(tmp_path, said, [held(3, dict.fromkeys(NAMES))])
    assert ledger(read_run(folder)) == []
    assert logged(folder, "verdict")[0]["positions"][0].keys() == {"agent", "position", "agrees"}


def test_free_answers_that_differ_in_signs_only_are_one_stance(tmp_path: Path) -> None:
    said = [utterance(turn, A, answer=text) for turn, text in ((1, "Tea, at four."), (2, "tea at four"), (3, "Coffee"))]
    folder = debate(tmp_path, said, names=(A,), baseline="mad", answer_format="free")
    rows = of_source(folder, "answers")
    assert [(row.stance, row.moved) for row in rows] == [
        ("Tea, at four.", None), ("Tea, at four.", False), ("Coffee", True),
    ]  # fmt: skip


def test_no_rows_are_no_stances() -> None:
    assert stances_of([]) == []
    assert Stances("verdicts", "", (), 0).values()["kept"] is None


def test_support_in_a_story_is_a_position_seen_at_each_update_and_on_the_open_ballot(tmp_path: Path) -> None:
    folder = write_story(tmp_path)
    ada, bo, cy = "Ada Lind", "Bo Vik", "Cy Dahl"
    rows = of_source(folder, "supports")
    assert [(row.agent, row.turn, row.stance) for row in rows] == [
        *((ada, 0, ada), (bo, 0, bo), (cy, 0, "nobody")),
        *((ada, 5, ada), (bo, 5, bo), (cy, 5, bo)),
        *((ada, 8, ada), (bo, 8, bo)),
    ]
    (row,) = [row for row in rows if row.moved]
    assert (row.agent, row.before, row.candidates, row.credit) == (cy, "nobody", (1, 4), {bo: 1.0})
    assert ledger(read_run(folder, whole=True)) == rows
    (found,) = stances_of(rows)
    assert (found.where, found.moves, found.values()["stances_at_end"]) == ("supports", 1, 2.0)


def test_words_that_a_character_did_not_hear_have_no_part_in_its_move(tmp_path: Path) -> None:
    folder = write_story(tmp_path)
    rewrite(
        folder,
        "utterance",
        lambda one: {**one, "heard_by": ["Ada Lind"]} if one.get("heard_by") == ["Cy Dahl"] else one,
    )
    (row,) = [row for row in of_source(folder, "supports") if row.moved]
    assert row.candidates == (4,)


def test_a_ballot_on_outcomes_is_no_support(tmp_path: Path) -> None:
    folder = write_story(tmp_path)
    rewrite(folder, "happening", lambda one: {**one, "choice": "guilty"} if one.get("choice") == "Ada Lind" else one)
    assert [row.agent for row in of_source(folder, "supports") if row.turn == 8] == ["Bo Vik"]


# The result of a focus group by arithmetic: sections, voices, shared words; the page to print
