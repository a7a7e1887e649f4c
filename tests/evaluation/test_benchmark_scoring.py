"""Answers scored: right, wrong, unparseable, refused, failed; methods compared on the items that both answered."""

from __future__ import annotations

import pytest
import scipy.stats  # noqa: F401  loaded here, so that no test pays for it

from persimchat.evaluation.benchmarks.formats import Item
from persimchat.evaluation.benchmarks.scoring import Scored, State, results, state_of
from persimchat.models.asking import uselessness

SUM = Item("gsm8k-1", "How many?", "number", (), "18", "gsm8k")


def scored(method: str, states: str, *, round: int = 1, consensus: str = "") -> list[Scored]:
    """Answers of a method: r right, w wrong, u unparseable, x refused, f failed; + and - for consensus."""
    words: dict[str, State] = {"r": "right", "w": "wrong", "u": "unparseable", "x": "refused", "f": "failed"}
    return [
        Scored(
            round,
            Item(f"gsm8k-{n}", "How many?", "number", (), "18", "gsm8k"),
            method,
            state=words[state],
            consensus=consensus[n] == "+" if consensus else None,
            calls=2,
            cost_usd=0.01,
        )
        for n, state in enumerate(states)
    ]


@pytest.mark.parametrize(
    ("answer", "state"),
    [("18.0", "right"), ("$18", "right"), ("19", "wrong"), ("17 or 18", "unparseable"), ("36/2", "unparseable")],
)
def test_an_answer_and_its_reference(answer: str, state: State) -> None:
    assert state_of(answer, SUM) == state


def test_accuracy_counts_what_is_not_right_and_leaves_failures_out() -> None:
    (one,) = results(scored("cot", "rrrwuxff"), ["cot"], "cot")
    assert (one.states["failed"], one.accuracy.n, one.accuracy.value) == (2, 6, 0.5)
    assert (one.calls, one.calls_a_right) == (16, pytest.approx(16 / 3))
    assert one.usd_a_right == pytest.approx(0.08 / 3)
    assert one.against is None and one.consensus is None and one.sd is None


def test_rounds_and_consensus() -> None:
    answers = scored("mad", "rrww", consensus="++--") + scored("mad", "rrrr", round=2, consensus="+++-")
    (one,) = results(answers, ["mad"], "mad")
    assert (one.rounds, one.mean, one.sd) == ([0.5, 1.0], 0.75, pytest.approx(0.35355, abs=1e-5))
    assert one.consensus is not None and one.consensus.value == 5 / 8
    assert ((one.agreed.right, one.agreed.n), (one.not_agreed.right, one.not_agreed.n)) == ((5, 5), (1, 3))


def test_methods_compared() -> None:
    """Eight items that only one got right and two that only the other did, of thirty (design, E4)."""
    first, second = scored("mad", "r" * 8 + "w" * 2 + "r" * 20), scored("cot", "w" * 8 + "r" * 2 + "r" * 20)
    mad, cot = results([*first, *second], ["mad", "cot"], "cot")
    assert cot.against is None and mad.against is not None
    assert (mad.against.only_first, mad.against.only_second, mad.against.left_out) == (8, 2, 0)
    assert mad.against.test.p == pytest.approx(0.109375)
    assert mad.against.difference.value == pytest.approx(0.2)
    assert (mad.against.difference.low, mad.against.difference.high) == pytest.approx((-0.0057, 0.4057), abs=5e-5)


def test_a_failure_takes_its_item_out_of_both_sides() -> None:
    mad, _ = results([*scored("mad", "fwr"), *scored("cot", "rrf")], ["mad", "cot"], "cot")
    assert mad.against is not None
    assert (mad.against.left_out, mad.against.difference.n, mad.against.only_second) == (2, 1, 1)


def test_holm_adjusts_over_all_methods_compared() -> None:
    answers = scored("cot", "r" * 10) + scored("mad", "w" * 10) + scored("reconcile", "w" * 8 + "rr")
    _, mad, reconcile = results(answers, ["cot", "mad", "reconcile"], "cot")
    assert mad.against is not None and reconcile.against is not None
    assert mad.against.p_holm == pytest.approx(2 * 2 / 2**10)
    assert reconcile.against.p_holm == pytest.approx(2 / 2**8)


@pytest.mark.parametrize(
    ("detail", "state"),
    [
        ("wrong answer twice: answer: '7 or 8' is not one number (model m, agent A)", "unparseable"),
        ("wrong answer twice: the model refused to answer: no (model m)", "refused"),
        ("wrong answer twice: the answer was stopped by the server's content filter (model m)", "refused"),
        ("the server's content filter stopped it: no (model m)", "refused"),
        ("cannot reach the server", None),
        ("", None),
    ],
)
def test_words_of_an_error(detail: str, state: State | None) -> None:
    assert uselessness(detail) == state
