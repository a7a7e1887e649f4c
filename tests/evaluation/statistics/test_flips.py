"""Flip rates: known values, their edges, and what holds for all answers."""

from __future__ import annotations

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from persimchat.evaluation.statistics.flips import Answered, flip_excess, flip_rate


def answers(task: str, **by_wording: str) -> list[Answered]:
    """`answers("t", a="yyyn", b="ynnn")`: two wordings, four seeds; a dot is no answer."""
    return [
        Answered({"task": task, "wording": wording, "seed": seed}, None if answer == "." else answer)
        for wording, given in by_wording.items()
        for seed, answer in enumerate(given)
    ]


EXAMPLE = answers("town", a="yyyn", b="ynnn")


def test_flip_rates():
    wording, seed = flip_rate(EXAMPLE, "wording"), flip_rate(EXAMPLE, "seed")
    assert (wording.value, wording.flipped, wording.pairs) == (0.5, 2, 4)
    assert (seed.value, seed.flipped, seed.pairs) == (0.5, 6, 12)
    found = flip_excess(EXAMPLE, "wording")
    assert found.excess.value == pytest.approx(0)
    assert (found.excess.n, found.excess.method) == (4, "t over seeds")
    assert (found.rate, found.floor) == (wording, seed)


def test_one_task_is_resampled_over_its_seeds():
    """By hand: on the axis the four seeds flip 0, 1, 1, 0; of the pairs of each seed, 1/3, 1/3, 1/3 and 1 flip in a,
    and 1, 1/3, 1/3, 1/3 in b."""
    found = flip_excess(EXAMPLE, "wording").excess
    differences = [0 - 4 / 6, 1 - 2 / 6, 1 - 2 / 6, 0 - 4 / 6]
    spread = scipy.stats.tstd(differences) / 2 * scipy.stats.t.ppf(0.975, 3)
    assert (found.low, found.high) == (pytest.approx(-spread), pytest.approx(spread))


def test_no_answer_is_an_answer():
    assert flip_rate(answers("t", a="y.", b=".."), "wording").value == 0.5


def test_one_level_has_no_rate():
    found = flip_rate(answers("t", a="yyn"), "wording")
    assert (found.value, found.pairs) == (None, 0)
    assert flip_excess(answers("t", a="yyn"), "wording").excess.value is None
    with pytest.raises(ValueError, match="no level of 'order'"):
        flip_rate(EXAMPLE, "order")


def test_tasks_are_never_compared_with_each_other():
    both = [*answers("one", a="yy", b="yy"), *answers("two", a="nn", b="nn")]
    assert flip_rate(both, "wording").value == flip_rate(both, "seed").value == 0


def test_the_excess_is_a_mean_over_tasks():
    three = [*answers("one", a="yy", b="nn"), *answers("two", a="yy", b="yy"), *answers("none", a="y")]
    found = flip_excess(three, "wording").excess
    assert (found.value, found.n, found.dropped) == (0.5, 2, 1)
    assert found.low is not None and found.high is not None


@given(st.text("yn.", min_size=2, max_size=5), st.data())
@hypothesis_settings(max_examples=50)
def test_rates_do_not_care_for_names(first: str, data: st.DataObject):
    second = data.draw(st.text("yn.", min_size=len(first), max_size=len(first)))
    given_, swapped = answers("t", a=first, b=second), answers("t", a=second, b=first)
    renamed = [Answered(one.levels, {"y": "ja", "n": "nein"}.get(one.answer or "")) for one in reversed(given_)]
    for axis in ("wording", "seed"):
        rate = flip_rate(given_, axis)
        assert rate.value is not None and 0 <= rate.value <= 1
        assert flip_rate(swapped, axis) == rate == flip_rate(renamed, axis)
    excess = flip_excess(given_, "wording").excess.value
    assert excess is not None and -1 <= excess <= 1
