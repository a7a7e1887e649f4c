"""Pairs: how runs are matched, and what the answers about them come to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import pytest

from evaluation.judging import run_about
from persimchat.evaluation.pair_results import Counts, agreement, pairs_result, read_labels
from persimchat.evaluation.pairs import JudgedPairs, PairAnswer, matched
from persimchat.evaluation.transcripts import Conversation, read_conversation

Scores = Sequence[tuple[float, float] | str]


def group(out: Path, name: str, topics: Sequence[str], text: str = "I like tea.") -> list[Conversation]:
    return [read_conversation(run_about(out, topic, f"{name}-{topic}", text=text)) for topic in topics]


@pytest.fixture
def judged(tmp_path: Path) -> Callable[..., JudgedPairs]:
    """Pairs on these topics: `judged("x", "y")`."""

    def make(*topics: str, k: int = 3, swap: bool = True) -> JudgedPairs:
        pairs = matched(group(tmp_path, "a", topics), group(tmp_path, "b", topics))
        return JudgedPairs(tmp_path, pairs, k, swap)

    return make


def rows(judged: JudgedPairs, *planned: tuple[Scores, Scores]) -> dict[tuple[str | int, ...], PairAnswer]:
    """Answers as planned: for each pair, those with A first and those with B first; a text is a reason."""
    found = {}
    for pair, orders in zip(judged.pairs, planned, strict=True):
        for unit in judged.units_of(pair):
            said = orders[unit.order - 1][unit.repeat - 1]
            scores = {"missing": said} if isinstance(said, str) else {"score_a": said[0], "score_b": said[1]}
            told = {"a": pair.a.run, "b": pair.b.run, "order": unit.order, "repeat": unit.repeat}
            row = PairAnswer.model_validate({**told, **scores, "judge": "m", "request": unit.asked.request})
            found[row.key] = row
    return found


def test_the_example_of_the_method(judged: Callable[..., JudgedPairs]) -> None:
    part = judged("x")
    result = pairs_result(part, "m", rows(part, ([(8, 6), (7, 7), (9, 6)], [(7, 8), (7, 7), (8, 7)])))
    (only,) = result.pairs
    assert (only.verdict.outcome, result.counts) == ("win", Counts(1, 0, 0))
    assert (only.verdict.score_a, only.verdict.score_b) == (Fraction(46, 6), Fraction(41, 6))
    assert only.verdict.bpde == pytest.approx(1.0114, abs=5e-5)
    assert only.verdict.position == Fraction(5, 6)
    assert (only.verdict.conflict, result.alone) == (True, (Counts(1, 0, 0), Counts(0, 1, 0)))


def test_a_judge_that_favours_the_first_place(judged: Callable[..., JudgedPairs]) -> None:
    part = judged("u", "v", "x", "y", "z", "w")
    result = pairs_result(part, "m", rows(part, *[([(8, 6)] * 3, [(6, 8)] * 3)] * 6))
    assert result.counts == Counts(0, 6, 0)
    assert (result.conflicts.value, result.position.value, result.test.p) == (1, 2, 1)
    assert (result.position.low, result.position.high) == (2, 2)
    assert result.position_test.p == pytest.approx(2 / 2**6)
    assert result.alone == (Counts(6, 0, 0), Counts(0, 0, 6))


def test_without_the_second_order_the_first_decides(judged: Callable[..., JudgedPairs]) -> None:
    part = judged("x", "y", k=1, swap=False)
    assert len(part.units) == 2
    result = pairs_result(part, "m", rows(part, ([(8, 6)], []), ([(5, 6)], [])))
    assert (result.counts, result.position.value, result.conflicts.value) == (Counts(1, 0, 1), None, None)


def test_a_pair_without_answers_in_one_order_has_no_verdict(judged: Callable[..., JudgedPairs]) -> None:
    part = judged("x", "y", "z")
    lost: Scores = ["unparseable", "refused", "unparseable"]
    good: Scores = [(8, 6), (8, 6), "unparseable"]
    result = pairs_result(part, "m", rows(part, (good, lost), (good, good), (lost, lost)))
    assert result.counts == Counts(1, 0, 0)
    assert result.missing == {"one order only": 1, "no answer": 1}
    assert result.answers_missing == {"unparseable": 2 * 3 + 3, "refused": 3}
    assert result.rate.n == 1


def test_runs_are_matched_by_task(tmp_path: Path, refused: Callable[..., str]) -> None:
    a, b = group(tmp_path, "a", ("x", "y", "z")), group(tmp_path, "b", ("z", "x", "y"))
    assert [(pair.a.run, pair.b.run) for pair in matched(a, b)] == [("a-x", "b-x"), ("a-y", "b-y"), ("a-z", "b-z")]
    refused(lambda: matched(a, b[:1]), "--a", "a-x, a-y", "--b")
    refused(lambda: matched(a[:1], b), "--b", "b-z", "b-y")
    refused(lambda: matched([*a, *group(tmp_path, "again", ("x",))], b), "a-x and again-x", "same topic")
    refused(lambda: matched(a, a), "both sides")


def test_labels_of_people(
    judged: Callable[..., JudgedPairs], write: Callable[..., Path], refused: Callable[..., str]
) -> None:
    part = judged("x", "y", "z", k=1)
    win, loss = ([(8, 6)], [(8, 6)]), ([(5, 6)], [(5, 6)])
    result = pairs_result(part, "m", rows(part, win, loss, loss))
    labels = read_labels(write("ok.csv", "pair,verdict\na-x,Win\na-y,loss\na-z,win\n"), part.pairs)
    kappa = agreement(result, labels)
    assert (kappa.observed, kappa.n) == (pytest.approx(2 / 3), 3)
    for text, *words in (
        ("pair,verdict\na-x,better\n", "line 2", "'better'", "win, tie or loss"),
        ("pair,verdict\na-x,win\na-q,win\n", "line 3", "'a-q'"),
        ("pair,verdict\na-x,win\na-x,loss\n", "line 3", "two verdicts"),
        ("run,verdict\na-x,win\n", "line 1", "pair and verdict"),
    ):
        refused(lambda text=text: read_labels(write("bad.csv", text), part.pairs), *words)
    refused(lambda: read_labels(Path("nowhere.csv"), part.pairs), "nowhere.csv")


def test_the_beginning_of_conversations(tmp_path: Path) -> None:
    (one,) = group(tmp_path, "a", ("x",))
    assert len(one.first(2).lines) == 2
    assert one.first(None) is one
    assert one.first(2).task == one.task
