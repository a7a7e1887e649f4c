"""Where nothing differs, hardly anything is claimed; where an interval is printed, it covers. Counted, for every kind.

The sample here is small; `make long` takes the sizes that docs/evaluation.md reports. Seeds are fixed. A count of false
alarms may pass 5 % by three standard errors of the count, which is what chance alone brings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from persimchat.evaluation.benchmarks.formats import Item
from persimchat.evaluation.benchmarks.scoring import Scored, results
from persimchat.evaluation.people import People, corrected, likeness
from persimchat.evaluation.statistics.claims import beyond_seeds, family, paired, related, side
from persimchat.evaluation.statistics.distributions import Answered
from persimchat.evaluation.statistics.effects import krippendorff, spearman
from persimchat.evaluation.statistics.intervals import COUNT, NUMBER, SHARE, UNIT, Kind, mean_over_tasks, win_rate
from persimchat.evaluation.statistics.significance import sign_test
from persimchat.runs.folder.answers import PollAnswer
from persimchat.state.poll import Poll

Draw = Callable[[np.random.Generator, int], Sequence[float]]
SIZES = [*range(1, 21), 50]
SOME = [1, 2, 3, 5, 6, 12, 20, 50]
KINDS: dict[str, tuple[Draw, Kind, float]] = {
    "binary 50:50": (lambda chance, n: list(1.0 * (chance.random(n) < 0.5)), SHARE, 0.5),
    "binary 90:10": (lambda chance, n: list(1.0 * (chance.random(n) < 0.9)), SHARE, 0.9),
    "three options": (lambda chance, n: list(chance.integers(0, 3, n) / 1.0), Kind(low=0, high=2), 1.0),
    "scale": (lambda chance, n: list(chance.choice(5, n, p=[0.1, 0.2, 0.4, 0.2, 0.1]) + 1.0), Kind(low=1, high=5), 3.0),
    "count": (lambda chance, n: list(chance.poisson(5, n) / 1.0), COUNT, 5.0),
    "continuous": (lambda chance, n: list(chance.normal(0, 1, n)), NUMBER, 0.0),
    "between 0 and 1": (lambda chance, n: list(chance.beta(8, 2, n)), UNIT, 0.8),
    "constant": (lambda chance, n: [0.275] * n, UNIT, 0.275),
}


def at_most(share: float, of: int) -> float:
    return share + 3 * math.sqrt(share * (1 - share) / of)


def at_least(share: float, of: int) -> float:
    return share - 3 * math.sqrt(share * (1 - share) / of)


def check(alarms: int, of: int, what: str) -> None:
    print(f"{what}: {alarms / of:.3f} false alarms of {of}")
    assert alarms / of <= at_most(0.05, of), what


def differences_of(name: str, n: int, times: int) -> None:
    """Two things from one population, compared on n tasks: the comparison, and the mean's and difference's interval."""
    chance, (draw, kind, truth) = np.random.default_rng(n), KINDS[name]
    alarms = printed = covered = apart = held = 0
    for _ in range(times):
        first, second = draw(chance, n), draw(chance, n)
        (one,) = family([paired([a - b for a, b in zip(first, second, strict=True)], kind)])[0]
        alarms += one.side != 0
        mean = mean_over_tasks(first, kind)
        assert mean.low is None or kind.low is None or mean.low >= kind.low
        if mean.low is not None and mean.high is not None:
            printed, covered = printed + 1, covered + (mean.low - 1e-9 <= truth <= mean.high + 1e-9)
        if one.difference.low is not None and one.difference.high is not None:
            apart, held = apart + 1, held + (one.difference.low <= 1e-9 and one.difference.high >= -1e-9)
    check(alarms, times, f"comparison, {name}, n {n}")
    for of, hits, what in ((printed, covered, "mean"), (apart, held, "difference")):
        if of >= 50:
            print(f"{what}, {name}, n {n}: {hits / of:.3f} covered of {of}")
            assert hits / of >= at_least(0.93, of), (what, name, n)


def people_of(shares: Sequence[float], n: int, people: int, times: int, form: str = "yesno") -> None:
    """Simulated answers and people's from one population: any distance called more than chance is a false alarm."""
    poll = Poll(ask="?", answer=form, named="q", options=("a", "b", "c") if form == "choice" else ())
    options = poll.possible
    chance, alarms = np.random.default_rng(100 * n + people), 0
    for number in range(times):
        ours, theirs = chance.choice(options, n, p=shares), chance.multinomial(people, shares)
        human = People(poll, "", {o: int(c) / people for o, c in zip(options, theirs, strict=True)}, people)
        rows = [[PollAnswer.model_construct(answer=str(answer), missing="", repeat=1)] for answer in ours]
        (found,) = corrected([likeness(human, rows, seed=number, draws=999)])
        floored = [one for one in (*found.apart, found.variances) if one is not None]
        alarms += any(not one.hidden for one in floored)
    check(alarms, times, f"people, {form} {shares}, {n} of {people}")


def flips_of(n: int, times: int) -> None:
    """Answers by lot for two wordings and n seeds."""
    chance, alarms = np.random.default_rng(n), 0
    for number in range(times):
        rows = [
            Answered({"task": "t", "wording": wording, "seed": seed}, str(chance.integers(0, 2)))
            for wording in "ab" for seed in range(n)
        ]  # fmt: skip
        alarms += (beyond_seeds(rows, "wording", seed=number, draws=499).p or 1) <= 0.05
    check(alarms, times, f"flips, {n} seeds")


def contests_of(n: int, times: int) -> None:
    """Wins, ties and losses by lot: who is ahead, and the interval of the win rate."""
    chance, alarms, covered = np.random.default_rng(n), 0, 0
    for _ in range(times):
        wins, ties, losses = (int(one) for one in chance.multinomial(n, [0.4, 0.2, 0.4]))
        rate = win_rate(wins, ties, losses)
        assert rate.low is not None and rate.high is not None
        alarms += side(rate, sign_test(wins, losses, ties).p, 0.5) != 0
        covered += rate.low <= 0.5 <= rate.high
    check(alarms, times, f"pairs, {n} tasks")
    assert covered / times >= at_least(0.93, times)


def benchmarks_of(n: int, times: int) -> None:
    """Three methods that are equally good on n items."""
    chance, alarms = np.random.default_rng(n), 0
    items = [Item(id=str(i), question="?", form="yesno", choices=(), answer="yes", format="x") for i in range(n)]
    for _ in range(times):
        scored = [
            Scored(1, item, method, state="right" if chance.random() < 0.7 else "wrong")
            for item in items for method in ("x", "y", "z")
        ]  # fmt: skip
        found = [one.against for one in results(scored, ["x", "y", "z"], "x") if one.against is not None]
        alarms += any(one.side for one in found)
    check(alarms, times, f"benchmark, {n} items")


def lengths_of(n: int, times: int) -> None:
    """Scores that have nothing to do with the length of utterances, on five dimensions."""
    chance = np.random.default_rng(n)
    found = (
        {str(i): spearman(list(chance.normal(0, 1, n)), list(chance.normal(0, 1, n))) for i in range(5)}
        for _ in range(times)
    )
    check(sum(bool(related(one)) for one in found), times, f"length, {n} conversations")


def alpha_of(n: int, times: int) -> None:
    """Three raters by lot on a scale of five: α is 0."""
    chance, printed, covered = np.random.default_rng(n), 0, 0
    for _ in range(times):
        around = krippendorff([[int(one) for one in chance.integers(1, 6, 3)] for _ in range(n)], "interval").interval
        if around.low is not None and around.high is not None:
            printed, covered = printed + 1, covered + (around.low <= 0 <= around.high)
    assert n < 20 or printed == times
    print(f"alpha, n {n}: {covered} of {printed}")
    assert not printed or covered / printed >= at_least(0.93, printed)


def files_of(measures: int, n: int, times: int) -> None:
    """Files of pure lots: many measures, each of its kind, compared on n tasks; a file with any finding is an alarm."""
    chance, alarms, kinds = np.random.default_rng(n), 0, list(KINDS.values())
    for _ in range(times):
        every = []
        for number in range(measures):
            draw, kind, _ = kinds[number % len(kinds)]
            every.append(paired([a - b for a, b in zip(draw(chance, n), draw(chance, n), strict=True)], kind))
        alarms += any(one.side for one in family(every)[0])
    check(alarms, times, f"file of {measures} measures, {n} tasks")


@pytest.mark.parametrize("name", KINDS)
def test_differences(name: str) -> None:
    for n in (1, 2, 6, 12):
        differences_of(name, n, 60)


@pytest.mark.proof
def test_all_other_kinds_of_claims() -> None:
    for n in (1, 3, 12):
        people_of((0.5, 0.5), n, 10, 80)
        contests_of(n, 100)
    people_of((0.2, 0.3, 0.5), 12, 20, 60, "choice")
    people_of((0.1, 0.2, 0.4, 0.2, 0.1), 12, 20, 60, "scale:1-5")
    flips_of(6, 60)
    benchmarks_of(12, 60)
    lengths_of(6, 40)
    alpha_of(20, 60)
    files_of(21, 12, 60)


MANY = 2_000


@pytest.mark.long
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", KINDS)
def test_all_differences(name: str, n: int) -> None:
    differences_of(name, n, MANY)


@pytest.mark.long
@pytest.mark.parametrize("people", [10, 20, 50, 200])
@pytest.mark.parametrize("n", SOME)
def test_all_people(n: int, people: int) -> None:
    people_of((0.5, 0.5), n, people, MANY)
    people_of((0.9, 0.1), n, people, MANY)
    people_of((0.2, 0.3, 0.5), n, people, MANY, "choice")
    people_of((0.1, 0.2, 0.4, 0.2, 0.1), n, people, MANY, "scale:1-5")


@pytest.mark.long
@pytest.mark.parametrize("n", SIZES)
def test_all_contests_flips_benchmarks_lengths_and_alphas(n: int) -> None:
    contests_of(n, MANY)
    benchmarks_of(n, MANY)
    lengths_of(n, MANY if n <= 20 else 200)
    alpha_of(n, MANY if n <= 20 else 500)
    if n <= 20:
        flips_of(n, MANY)


@pytest.mark.long
@pytest.mark.parametrize("n", [5, 6, 12, 20])
def test_files_of_lots(n: int) -> None:
    files_of(21, n, 200)
    files_of(21, n, MANY)


def test_clusters_count_as_one_answer() -> None:
    """Runs in which all say the same: ten runs of ten are ten answers, not a hundred."""
    poll, chance, alarms = Poll(ask="?", named="q"), np.random.default_rng(1), 0
    for number in range(60):
        runs = [str(chance.choice(["yes", "no"])) for _ in range(10)]
        yes = int(chance.binomial(50, 0.5))
        rows = [[PollAnswer.model_construct(answer=one, missing="", repeat=1)] * 10 for one in runs]
        human = People(poll, "", {"yes": yes / 50, "no": 1 - yes / 50}, 50)
        alarms += any(not one.hidden for one in corrected([likeness(human, rows, seed=number, draws=499)])[0].apart)
    check(alarms, 60, "people, runs that say the same")


def test_what_differs_is_found() -> None:
    """The rule is no silence: a clear difference is claimed, also where every difference is equal."""
    (one,) = family([paired([0.3, 0.2, 0.25, 0.4, 0.35, 0.3, 0.28, 0.31], UNIT)])[0]
    assert (one.shown, one.side) == ("higher", 1)
    (equal,) = family([paired([0.275] * 8, UNIT)])[0]
    assert (equal.shown, equal.difference.low) == ("higher", None)
    (two,) = family([paired([0.275] * 2, UNIT)])[0]
    assert (two.shown, two.difference.low, two.test.p) == ("", None, 0.5)
    (five,) = family([paired([-0.3, -0.25, -0.4, -0.35, -0.28], UNIT)])[0]
    assert (five.shown, five.test.p) == ("", 0.0625)  # its interval leaves 0 out; its test does not hold
    rows = [Answered({"task": "t", "wording": w, "seed": s}, w) for w in "ab" for s in range(8)]
    assert (beyond_seeds(rows, "wording").p or 1) < 0.02
