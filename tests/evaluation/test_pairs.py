"""Pairs: how runs are matched, and what the answers about them come to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from evaluation.judging import run_about
from fixtures import Refused, Write

from persimchat.evaluation.asking import Questions
from persimchat.evaluation.pairs import (
    Counts,
    Pair,
    PairAnswer,
    PairsResult,
    agreement,
    matched,
    pairs_result,
    questions_on,
    read_labels,
    results_of,
)
from persimchat.evaluation.transcripts import Conversation, read_conversation

Scores = Sequence[tuple[float, float] | str]


def group(out: Path, name: str, topics: Sequence[str], text: str = "I like tea.") -> list[Conversation]:
    return [read_conversation(run_about(out, topic, f"{name}-{topic}", text=text)) for topic in topics]


Make = Callable[..., tuple[list[Pair], Questions[PairAnswer]]]


@pytest.fixture
def judged(tmp_path: Path) -> Make:
    """Pairs on these topics, and the questions about them: `judged("x", "y")`."""

    def make(*topics: str, k: int = 3, swap: bool = True) -> tuple[list[Pair], Questions[PairAnswer]]:
        pairs = matched(group(tmp_path, "a", topics), group(tmp_path, "b", topics, "I like jam."))
        return pairs, questions_on(pairs, tmp_path, k, swap=swap)

    return make


def result_of(judged: tuple[list[Pair], Questions[PairAnswer]], *planned: tuple[Scores, Scores]) -> PairsResult:
    """What planned answers come to: for each pair, those with A first and those with B first; a text is a reason."""
    pairs, part = judged
    orders_of = {pair.a.run: orders for pair, orders in zip(pairs, planned, strict=True)}
    found = {}
    for unit in part.units:
        said = orders_of[unit.fields["a"]][unit.fields["order"] - 1][unit.repeat - 1]
        scores = {"missing": said} if isinstance(said, str) else {"score_a": said[0], "score_b": said[1]}
        told = {**unit.fields, **scores, "repeat": unit.repeat, "judge": "m", "request": unit.asked.request}
        row = PairAnswer.model_validate(told)
        found[row.key] = row
    return pairs_result(results_of(pairs, part, "m", found))


def test_the_example_of_the_method(judged: Make) -> None:
    result = result_of(judged("x"), ([(8, 6), (7, 7), (9, 6)], [(7, 8), (7, 7), (8, 7)]))
    (only,) = result.pairs
    assert (only.verdict.outcome, result.counts) == ("win", Counts(1, 0, 0))
    assert (only.verdict.score_a, only.verdict.score_b) == (Fraction(46, 6), Fraction(41, 6))
    assert only.verdict.bpde == pytest.approx(1.0114, abs=5e-5)
    assert only.verdict.position == Fraction(5, 6)
    assert (only.verdict.conflict, result.alone) == (True, (Counts(1, 0, 0), Counts(0, 1, 0)))


def test_a_judge_that_favours_the_first_place(judged: Make) -> None:
    result = result_of(judged("u", "v", "x", "y", "z", "w"), *[([(8, 6)] * 3, [(6, 8)] * 3)] * 6)
    assert result.counts == Counts(0, 6, 0)
    assert (result.conflicts.value, result.position.value, result.test.p) == (1, 2, 1)
    assert (result.position.low, result.position.note) == (None, "nothing varies, so there is no interval")
    assert result.position_test.p == pytest.approx(2 / 2**6)
    assert result.p_holm == [1, pytest.approx(2 * 2 / 2**6)], "two tests are adjusted for each other"
    assert result.alone == (Counts(6, 0, 0), Counts(0, 0, 6))


def test_without_the_second_order_the_first_decides(judged: Make) -> None:
    pairs, part = judged("x", "y", k=1, swap=False)
    assert len(part.units) == 2
    result = result_of((pairs, part), ([(8, 6)], []), ([(5, 6)], []))
    assert (result.counts, result.position.value, result.conflicts.value) == (Counts(1, 0, 1), None, None)


def test_a_pair_without_answers_in_one_order_has_no_verdict(judged: Make) -> None:
    lost: Scores = ["unparseable", "refused", "unparseable"]
    good: Scores = [(8, 6), (8, 6), "unparseable"]
    result = result_of(judged("x", "y", "z"), (good, lost), (good, good), (lost, lost))
    assert result.counts == Counts(1, 0, 0)
    assert result.missing == {"one order only": 1, "no answer": 1}
    assert result.answers_missing == {"unparseable": 2 * 3 + 3, "refused": 3}
    assert result.rate.n == 1


def test_equal_conversations_are_a_tie_that_nobody_is_asked_for(tmp_path: Path) -> None:
    pairs = matched(
        group(tmp_path, "a", ("x", "y")), group(tmp_path, "b", ("x",)) + group(tmp_path, "b", ("y",), "No.")
    )
    part = questions_on(pairs, tmp_path, 1)
    assert {unit.fields["a"] for unit in part.units} == {"a-y"}
    assert len(questions_on(pairs, tmp_path, 1, expected=True).units) == 4
    same, other = results_of(pairs, part, "m", {})
    assert (same.verdict.outcome, same.verdict.n, same.missing) == ("tie", 0, {})
    assert other.verdict.outcome is None
    result = pairs_result([same, other])
    assert (result.counts, result.missing, result.answers_missing) == (
        Counts(0, 1, 0),
        {"no answer": 1},
        {"not asked": 2},
    )


def test_runs_are_matched_by_task(tmp_path: Path, refused: Refused) -> None:
    a, b = group(tmp_path, "a", ("x", "y", "z")), group(tmp_path, "b", ("z", "x", "y"))
    assert [(pair.a.run, pair.b.run) for pair in matched(a, b)] == [("a-x", "b-x"), ("a-y", "b-y"), ("a-z", "b-z")]
    refused(lambda: matched(a, b[:1]), "--a", "a-x, a-y", "--b")
    refused(lambda: matched(a[:1], b), "--b", "b-z", "b-y")
    refused(lambda: matched([*a, *group(tmp_path, "again", ("x",))], b), "a-x and again-x", "same topic")
    refused(lambda: matched(a, a), "both sides")


def test_labels_of_people(judged: Make, write: Write, refused: Refused) -> None:
    pairs, part = judged("x", "y", "z", k=1)
    win, loss = ([(8, 6)], [(8, 6)]), ([(5, 6)], [(5, 6)])
    result = result_of((pairs, part), win, loss, loss)
    labels = read_labels(write("ok.csv", "pair,verdict\na-x,Win\na-y,loss\na-z,win\n"), pairs)
    kappa = agreement(result, labels)
    assert (kappa.observed, kappa.n) == (pytest.approx(2 / 3), 3)
    for text, *words in (
        ("pair,verdict\na-x,better\n", "line 2", "'better'", "win, tie or loss"),
        ("pair,verdict\na-x,win\na-q,win\n", "line 3", "'a-q'"),
        ("pair,verdict\na-x,win\na-x,loss\n", "line 3", "two verdicts"),
        ("run,verdict\na-x,win\n", "line 1", "pair and verdict"),
    ):
        refused(lambda text=text: read_labels(write("bad.csv", text), pairs), *words)
    refused(lambda: read_labels(Path("nowhere.csv"), pairs), "nowhere.csv")


def test_the_beginning_of_conversations(tmp_path: Path) -> None:
    (one,) = group(tmp_path, "a", ("x",))
    assert len(one.first(2).lines) == 2
    assert one.first(None) is one
    assert one.first(2).task == one.task
