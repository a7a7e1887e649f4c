"""Claims: what a report may say. Nothing else decides whether something is higher, more than chance, or holds.

A difference is claimed if its test is at most 0.05 after Holm's correction over all that the file tests, and its
interval, where it has one, lies on the same side. A distance is claimed if samples of the same sizes from one
population are rarely as far apart. How often nothing is called something, and how often intervals cover, is counted in
`tests/evaluation/statistics/test_claims.py`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .distributions import Answered, flip_excess, flip_rate, units_of
from .effects import Effect, rank_biserial
from .intervals import NUMBER, Estimate, Kind, Numbers, mean_over_tasks
from .significance import LEVEL, Significance, holm, wilcoxon

DRAWS: Final = 9_999
"""How many samples a floor draws."""
_AT_ONCE: Final = 2_000_000
"""Numbers that are drawn together, which keeps the memory small."""
_ALIKE: Final = 1e-9
"""Distances that differ by less are equal: an equal one is hidden."""


def side(found: Estimate, p: float | None, nothing: float = 0.0) -> int:
    """What may be said of a value: 1, it is above `nothing`; −1, below; 0, neither could be shown.

    Args:
        found: with its interval.
        p: two-sided, adjusted for all that was tested beside it.
        nothing: the value where nothing differs.
    """
    if found.value is None or p is None or p > LEVEL or found.value == nothing:
        return 0
    way = 1 if found.value > nothing else -1
    end = found.low if way > 0 else found.high
    return way if end is None or (end - nothing) * way > 0 else 0


WORDS: Final[Mapping[int, str]] = {1: "higher", -1: "lower", 0: ""}


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A difference, and whether it may be called one.

    Attributes:
        difference: the mean over units, with its interval.
        test: of the differences against 0.
        effect: the rank-biserial correlation, −1 to 1; None where there is no difference at all.
        p_holm: the test's p, adjusted for all that the file tests.
    """

    difference: Estimate
    test: Significance
    effect: float | None = None
    p_holm: float | None = None

    @property
    def side(self) -> int:
        """1: higher; −1: lower; 0: neither could be shown."""
        return side(self.difference, self.p_holm)

    @property
    def shown(self) -> str:
        """higher, lower; empty where neither could be shown."""
        return WORDS[self.side]


def paired(differences: Sequence[float | None], kind: Kind = NUMBER) -> Claim:
    """Two things compared on the same units: mean, interval, effect, and Wilcoxon's test.

    Args:
        differences: one a unit; None where a value is missing.
        kind: what values the measure can have that is compared.
    """
    found = mean_over_tasks(differences, kind.of_differences)
    return Claim(difference=found, test=wilcoxon(differences), effect=rank_biserial(differences).value)


def family(*groups: Sequence[Any]) -> list[list[Any]]:
    """The same, with every p adjusted for all of them: one family by Holm.

    Args:
        groups: things with a `test` and a `p_holm`.
    """
    adjusted = iter(holm([one.test.p for group in groups for one in group]))
    return [[replace(one, p_holm=next(adjusted)) for one in group] for group in groups]


def related(effects: Mapping[str, Effect]) -> dict[str, Effect]:
    """Those relations that may be called one, with every p adjusted for all of them."""
    adjusted = holm([one.p for one in effects.values()])
    return {name: effects[name] for name, p in zip(effects, adjusted, strict=True) if p is not None and p <= LEVEL}


# Distances of two samples, against those of samples from one population


@dataclass(frozen=True, kw_only=True)
class Floor:
    """What samples of the same sizes are apart if they come from one population.

    Attributes:
        mean: of the distances.
        p: the share of samples that are at least as far apart as what was found; it counts itself, so it is never 0.
        n: simulated answers that are independent: a run counts as one.
        people: people who were asked; None where their shares are taken as fixed.
        draws: how many samples were drawn.
        seed: of the draws.
        p_holm: p, adjusted for all that was tested beside it.
    """

    mean: float
    p: float
    n: int
    people: int | None
    draws: int
    seed: int
    p_holm: float | None = None

    @property
    def test(self) -> Floor:
        """Itself, as `family` wants it."""
        return self

    @property
    def adjusted(self) -> float:
        """p, adjusted where something was tested beside it."""
        return self.p if self.p_holm is None else self.p_holm

    @property
    def hides(self) -> bool:
        """Whether what was found cannot be told from chance."""
        return self.adjusted > LEVEL


Statistic = Callable[[Numbers, Numbers], Numbers]
"""Of simulated and people's shares, one pair a row: a number a row, the greater the further apart."""


def floors(
    statistics: Sequence[Statistic],
    simulated: Sequence[float],
    human: Sequence[float],
    *,
    n: int,
    people: int | None,
    seed: int = 0,
    draws: int = DRAWS,
) -> list[Floor]:
    """The floor of each distance: a permutation test where people's number is known, else samples of their shares.

    All answers together are divided anew into two samples of the same sizes. Both sides are samples, and both vary.
    Source: Fisher 1935; `numpy.random.Generator.multivariate_hypergeometric`.

    Args:
        statistics: the distances.
        simulated: shares of simulated answers; they sum to 1.
        human: of people.
        n: simulated answers that are independent, 1 or more.
        people: how many people were asked; None: their shares are taken as fixed.
        seed: of the draws.
        draws: how many samples.
    """
    ours, theirs = np.asarray(simulated, dtype=float), np.asarray(human, dtype=float)
    found = [float(one(ours[None], theirs[None])[0]) for one in statistics]
    chance, sums, as_far = np.random.default_rng(seed), np.zeros(len(found)), np.zeros(len(found))
    step = max(1, _AT_ONCE // len(ours))
    for start in range(0, draws, step):
        first, second = _samples(chance, ours, theirs, n, people, min(step, draws - start))
        for place, one in enumerate(statistics):
            values = one(first, second)
            sums[place] += values.sum()
            as_far[place] += np.count_nonzero(values >= found[place] * (1 - _ALIKE))
    return [
        Floor(mean=float(total / draws), p=float((times + 1) / (draws + 1)), n=n, people=people, draws=draws, seed=seed)
        for total, times in zip(sums, as_far, strict=True)
    ]


def _samples(
    chance: np.random.Generator, ours: Numbers, theirs: Numbers, n: int, people: int | None, draws: int
) -> tuple[Numbers, Numbers]:
    """Shares of two samples of one population, one a row."""
    if people is None:
        return chance.multinomial(n, theirs / theirs.sum(), size=draws) / n, np.broadcast_to(theirs, (draws, len(ours)))
    mine, of_people = _counts(ours, n), _counts(theirs, people)
    together = mine + of_people
    if together.sum() >= 10**9:  # more than numpy divides without putting back, which is then the same
        both = together / together.sum()
        return chance.multinomial(n, both, size=draws) / n, chance.multinomial(people, both, size=draws) / people
    first = chance.multivariate_hypergeometric(together, n, size=draws, method="marginals")
    return first / n, (together - first) / people


def _counts(shares: Numbers, n: int) -> npt.NDArray[np.int64]:
    """Whole numbers that sum to n, as near to the shares as they can be."""
    exact = shares / shares.sum() * n
    whole: npt.NDArray[np.int64] = np.floor(exact + _ALIKE).astype(np.int64)
    whole[np.argsort(whole - exact, kind="stable")[: n - int(whole.sum())]] += 1
    return whole


# Answers that an axis changes, against those that seeds change


def beyond_seeds(
    conversations: Sequence[Answered], axis: str, *, floor: str = "seed", seed: int = 0, draws: int = DRAWS
) -> Significance:
    """Whether an axis changes answers oftener than seeds do: a permutation test, one-sided.

    If the axis does not matter, its levels may be exchanged among the conversations that are equal in all else, the
    seed included. That leaves the axis's own flips as they are, and changes those of the seeds: the axis matters where
    seeds change the answer less than they do after nearly all exchanges. Blocks that lack a level stay as they are.

    Args:
        conversations: with levels of both axes and of `task`.
        axis: which one is examined.
        floor: the axis that stands for chance.
        seed: of the exchanges.
        draws: how many.
    """
    told: dict[str, Any] = {"test": "permutation", "n": len(conversations)}
    excess = flip_excess(conversations, axis, floor=floor).excess.value
    if excess is None:
        return Significance(statistic=None, p=None, method="none", note="nothing to compare", **told)
    chance, found, drawn = np.random.default_rng(seed), 0.0, np.zeros(draws)
    for group in units_of(conversations, "task"):
        pairs = flip_rate(group, floor).pairs
        if pairs and flip_rate(group, axis).pairs:
            for answers in _strata(group, axis, floor):
                found += float(_flips(answers[None])[0]) / pairs
                exchanged = np.repeat(answers[None], draws, axis=0)
                whole = (answers >= 0).all(axis=1)
                exchanged[:, whole] = chance.permuted(exchanged[:, whole], axis=2)
                drawn += _flips(exchanged) / pairs
    p = (1 + np.count_nonzero(drawn <= found + _ALIKE)) / (draws + 1)
    return Significance(statistic=excess, p=float(p), method=f"{draws:,} random exchanges, seed {seed}", **told)


def _strata(group: Sequence[Answered], axis: str, floor: str) -> list[Numbers]:
    """The answers of conversations equal in all but both axes: seed × level, as numbers, −1 where there is none."""
    seeds, levels = ({one.levels[name]: 0 for one in group} for name in (floor, axis))
    rows, columns = ({label: place for place, label in enumerate(names)} for names in (seeds, levels))
    codes = {answer: code for code, answer in enumerate(dict.fromkeys(one.answer for one in group))}
    found: dict[Hashable, Numbers] = defaultdict(lambda: np.full((len(rows), len(columns)), -1))
    for one in group:
        rest = frozenset(item for item in one.levels.items() if item[0] not in (axis, floor))
        found[rest][rows[one.levels[floor]], columns[one.levels[axis]]] = codes[one.answer]
    return list(found.values())


def _flips(answers: Numbers) -> Numbers:
    """How many pairs of seeds answer differently at the same level, one number a table."""
    there = (answers >= 0).sum(axis=1)
    pairs = (there * (there - 1) // 2).sum(axis=1)
    for code in range(int(answers.max()) + 1):
        alike = (answers == code).sum(axis=1)
        pairs = pairs - (alike * (alike - 1) // 2).sum(axis=1)
    found: Numbers = pairs.astype(float)
    return found
