"""The same figures as SciPy and statsmodels, on hard cases: one table of what we compute and who computes it, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
import scipy.spatial.distance
import scipy.stats
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_of_statsmodels
from statsmodels.stats.descriptivestats import sign_test as sign_test_of_statsmodels
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

from persimchat.evaluation.statistics.distributions import jensen_shannon, total_variation, wasserstein
from persimchat.evaluation.statistics.effects import cliffs_delta, cohen, rank_biserial, spearman
from persimchat.evaluation.statistics.intervals import (
    Estimate,
    mean_over_tasks,
    proportion,
    quartiles,
    unpaired_difference,
)
from persimchat.evaluation.statistics.significance import (
    friedman,
    holm,
    mann_whitney,
    mcnemar,
    sign_test,
    wilcoxon,
)

ALIKE: Final = 1e-9
"""Figures that differ by less, of 1, are the same."""
SPREAD: Final = [0.3, -1.2, 4.5, 2.25, 0.75, 3.5, -0.1, 1.6]
OTHER: Final = [1.1, 2.7, -0.4, 0.2, 5.5]
GREAT: Final = [1e9 + each for each in SPREAD]
RATED: Final = [[3, 1, 2], [2, 1, 3], [3, 2, 1], [3, 1, 2], [1, 2, 3], [3, 2, 1]]
TIED: Final = [[1, 1, 2], [2, 3, 3], [1, 2, 2], [3, 3, 4], [2, 2, 2]]
CLASSES: Final = ("aabbccabca", "abbbccaaca")
P: Final = [0.01, 0.04, 0.03, 0.2, 0.01, 0.9]
SHARES: Final = ((0.1, 0.2, 0.4, 0.3), (0.0, 0.5, 0.25, 0.25))


def ends(found: Estimate) -> tuple[Any, Any]:
    return found.low, found.high


def kappa() -> Any:
    one, two = (["abc".index(each) for each in side] for side in CLASSES)
    table = np.zeros((3, 3))
    np.add.at(table, (one, two), 1)
    return cohens_kappa(table).kappa


def exact_wilcoxon(values: list[float]) -> Any:
    return scipy.stats.wilcoxon(values, method="exact").pvalue


SAME: Final[dict[str, tuple[Callable[[], Any], Callable[[], Any]]]] = {
    **{
        f"a share, {k} of {n}": (
            lambda k=k, n=n: ends(proportion(k, n)),
            lambda k=k, n=n: proportion_confint(k, n, method="beta"),
        )
        for k, n in [(0, 1), (1, 1), (1, 2), (0, 30), (25, 30), (30, 30), (7, 20), (999, 1000)]
    },
    "a mean": (
        lambda: ends(mean_over_tasks(SPREAD)),
        lambda: DescrStatsW(SPREAD).tconfint_mean(),
    ),
    "a mean of two": (
        lambda: ends(mean_over_tasks(SPREAD[:2])),
        lambda: DescrStatsW(SPREAD[:2]).tconfint_mean(),
    ),
    "a mean of great numbers": (
        lambda: ends(mean_over_tasks(GREAT)),
        lambda: DescrStatsW(GREAT).tconfint_mean(),
    ),
    "groups without common tasks": (
        lambda: ends(unpaired_difference(SPREAD, OTHER)),
        lambda: CompareMeans(DescrStatsW(SPREAD), DescrStatsW(OTHER)).tconfint_diff(usevar="unequal"),
    ),
    "quartiles": (
        lambda: [getattr(quartiles(SPREAD), name) for name in ("low", "median", "high")],
        lambda: np.percentile(SPREAD, [25, 50, 75]),
    ),
    **{
        f"wins {won}, losses {lost}": (
            lambda won=won, lost=lost: sign_test(won, lost, ties=4).p,
            lambda won=won, lost=lost: sign_test_of_statsmodels([1] * won + [-1] * lost + [0] * 4)[1],
        )
        for won, lost in [(1, 0), (6, 0), (17, 16), (14, 18), (100, 60)]
    },
    **{
        f"only one right, {a} and {b}": (
            lambda a=a, b=b: mcnemar(a, b).p,
            lambda a=a, b=b: mcnemar_of_statsmodels([[5, a], [b, 5]], exact=True).pvalue,
        )
        for a, b in [(8, 2), (0, 1), (30, 12)]
    },
    "signed ranks": (lambda: wilcoxon(SPREAD).p, lambda: exact_wilcoxon(SPREAD)),
    "signed ranks of fifty": (
        lambda: wilcoxon([n - 20.3 for n in range(50)]).p,
        lambda: exact_wilcoxon([n - 20.3 for n in range(50)]),
    ),
    "ranks of two groups": (
        lambda: mann_whitney(SPREAD, OTHER).p,
        lambda: scipy.stats.mannwhitneyu(SPREAD, OTHER, method="exact").pvalue,
    ),
    "several systems": (
        lambda: (friedman(RATED).statistic, friedman(RATED).p),
        lambda: tuple(scipy.stats.friedmanchisquare(*zip(*RATED, strict=True))),
    ),
    "several systems with ties": (
        lambda: (friedman(TIED).statistic, friedman(TIED).p),
        lambda: tuple(scipy.stats.friedmanchisquare(*zip(*TIED, strict=True))),
    ),
    "many p": (lambda: holm(P), lambda: multipletests(P, method="holm")[1]),
    "classes of two raters": (lambda: cohen(*map(list, CLASSES)).value, kappa),
    "rank correlation": (
        lambda: spearman(SPREAD[:5], OTHER).value,
        lambda: scipy.stats.spearmanr(SPREAD[:5], OTHER).statistic,
    ),
    "rank correlation with ties": (
        lambda: spearman([1, 2, 2, 3, 3, 3], [2, 1, 3, 3, 4, 4]).value,
        lambda: scipy.stats.spearmanr([1, 2, 2, 3, 3, 3], [2, 1, 3, 3, 4, 4]).statistic,
    ),
    "Cliff's δ": (
        lambda: cliffs_delta(SPREAD, OTHER).value,
        lambda: 2 * scipy.stats.mannwhitneyu(SPREAD, OTHER).statistic / len(SPREAD) / len(OTHER) - 1,
    ),
    "rank-biserial r": (
        lambda: rank_biserial(SPREAD).value,
        lambda: 1 - 4 * scipy.stats.wilcoxon(SPREAD).statistic / (len(SPREAD) * (len(SPREAD) + 1)),
    ),
    "Jensen–Shannon": (
        lambda: jensen_shannon(*SHARES),
        lambda: scipy.spatial.distance.jensenshannon(*SHARES, base=2),
    ),
    "total variation": (
        lambda: total_variation(*SHARES),
        lambda: scipy.spatial.distance.cityblock(*SHARES) / 2,
    ),
    "Wasserstein": (
        lambda: wasserstein(*SHARES, places=[0, 1, 10, 11]),
        lambda: scipy.stats.wasserstein_distance([0, 1, 10, 11], [0, 1, 10, 11], *SHARES),
    ),
}


@pytest.mark.parametrize("what", SAME)
def test_the_same_as_others(what: str) -> None:
    ours, theirs = (np.array(each(), dtype=float) for each in SAME[what])
    assert ours == pytest.approx(theirs, rel=ALIKE, abs=ALIKE)
