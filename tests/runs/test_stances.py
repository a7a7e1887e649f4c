"""The ledger of positions: who moved, when, and after whom."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from run_folders import lines, mind, recalled, utterance, verdict, write_run, write_story

from persimchat.runs.folder.reading import read_run
from persimchat.runs.reports.stance_summary import Stances, stances_of
from persimchat.runs.reports.stances import Position, ledger

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


def rows_of(folder: Path, source: str = "verdicts") -> list[Position]:
    return ledger(read_run(folder, whole=True), [source])


def moves(rows: Iterable[Position]) -> dict[str, Position]:
    """The moves, by who moved."""
    return {row.agent: row for row in rows if row.moved}


def credits(rows: Iterable[Position]) -> dict[str, float]:
    (found,) = stances_of(rows)
    return {holder.agent: holder.credit for holder in found.holders}


def test_each_is_credited_with_whom_others_moved_after(tmp_path: Path) -> None:
    rows = rows_of(e21(tmp_path))
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
    (found,) = stances_of(rows_of(e21(tmp_path, minds)))
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
    moved = moves(rows_of(e21(tmp_path, minds)))
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
    rows = rows_of(debate(tmp_path, said, verdicts, answer_format="choice", choices=["yes", "no", "other"]))
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
    assert moves(rows_of(folder))[B].candidates == (3,)
    (folder / "silences.jsonl").write_text(lines([{"turn": 3, "agent": B, "step": "hear", "why": "the server"}]))
    assert moves(rows_of(folder))[B].candidates == ()


def test_an_utterance_without_a_verdict_takes_the_next_before_the_next_word(tmp_path: Path) -> None:
    said = [utterance(turn, speaker) for turn, speaker in enumerate((A, B, A, B, A), start=1)]
    rows = rows_of(debate(tmp_path, said, [held(4, {A: "yes", B: "no"})]))
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
    moved = moves(rows_of(debate(tmp_path, said, names=names, baseline=method), "answers"))
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
    (folder / "polls.jsonl").write_text(lines([stale, *cars, *thrice, *tie]))
    rows = rows_of(folder, "polls")
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
    assert json.loads((folder / "verdicts.jsonl").read_text())["positions"][0].keys() == {"agent", "position", "agrees"}


def test_free_answers_that_differ_in_signs_only_are_one_stance(tmp_path: Path) -> None:
    said = [utterance(turn, A, answer=text) for turn, text in ((1, "Tea, at four."), (2, "tea at four"), (3, "Coffee"))]
    folder = debate(tmp_path, said, names=(A,), baseline="mad", answer_format="free")
    rows = rows_of(folder, "answers")
    assert [(row.stance, row.moved) for row in rows] == [
        ("Tea, at four.", None), ("Tea, at four.", False), ("Coffee", True),
    ]  # fmt: skip


def test_no_rows_are_no_stances() -> None:
    assert stances_of([]) == []
    assert Stances("verdicts", "", (), 0).values()["kept"] is None


def test_support_in_a_story_is_a_position_seen_at_each_update_and_on_the_open_ballot(tmp_path: Path) -> None:
    folder = write_story(tmp_path)
    ada, bo, cy = "Ada Lind", "Bo Vik", "Cy Dahl"
    rows = rows_of(folder, "supports")
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
    text = (folder / "transcript.jsonl").read_text(encoding="utf-8")
    (folder / "transcript.jsonl").write_text(text.replace('"heard_by": ["Cy Dahl"]', '"heard_by": ["Ada Lind"]'))
    (row,) = [row for row in rows_of(folder, "supports") if row.moved]
    assert row.candidates == (4,)


def test_a_ballot_on_outcomes_is_no_support(tmp_path: Path) -> None:
    folder = write_story(tmp_path)
    text = (folder / "story.jsonl").read_text(encoding="utf-8")
    (folder / "story.jsonl").write_text(text.replace('"choice": "Ada Lind"', '"choice": "guilty"'))
    assert [row.agent for row in rows_of(folder, "supports") if row.turn == 8] == ["Bo Vik"]
