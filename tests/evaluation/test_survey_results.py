"""What ratings come to: known values, the rater as the unit, and the figures that were published beside it."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import scipy.stats  # noqa: F401  loaded here, so that no test pays for it
from evaluation.surveys import SYSTEMS, answers_of, key_of
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from persimchat.evaluation.survey.reading import Answers, Comment
from persimchat.evaluation.survey.results import SurveyResult, survey_result
from persimchat.evaluation.survey.tables import CODEBOOK, MODELS, rows_of, write_tables

KRIPPENDORFF = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)
"""Four raters and twelve items, as four topics of three systems have them; a point stands for no rating."""
FRIEDMAN = {"R1": (8, 6, 5), "R2": (7, 5, 6), "R3": (9, 7, 6)}


def of(answers: Answers, **about: int) -> SurveyResult:
    return survey_result(key_of(**about), answers, resamples=99)


def krippendorff() -> Answers:
    items = [item.item for item in key_of().items]
    rows = {f"R{n}": row.split() for n, row in enumerate(KRIPPENDORFF, start=1)}
    return answers_of(
        {rater: {item: int(v) for item, v in zip(items, row, strict=True) if v != "."} for rater, row in rows.items()}
    )


def one_topic(ratings: dict[str, tuple[int | None, ...]]) -> Answers:
    return answers_of(
        {rater: {f"t1s{n}": v for n, v in enumerate(row) if v is not None} for rater, row in ratings.items()}
    )


def test_a_known_alpha():
    found = of(krippendorff())
    assert found.ordinal.value == pytest.approx(0.8154, abs=5e-5)
    assert found.interval.value == pytest.approx(0.8491, abs=5e-5)
    assert (found.ordinal.units, found.ordinal.dropped, found.ordinal.ratings) == (11, 1, 40)
    around = found.ordinal.interval
    assert around is not None and around.low is not None and around.high is not None
    assert around.low < 0.8154 < around.high
    assert any("7 of 48 ratings are missing" in note for note in found.notes)


def test_friedman_and_pairs_by_hand():
    found = of(one_topic(FRIEDMAN), topics=1)
    assert (found.ranking.statistic, found.ranking.p, found.ranking.kendall_w) == pytest.approx(
        (4.6667, 0.0970, 0.7778), abs=5e-5
    )
    assert [(pair.a, pair.b) for pair in found.pairs] == [SYSTEMS[:2], (SYSTEMS[0], SYSTEMS[2]), SYSTEMS[1:]]
    first = found.pairs[0].raters
    assert (first.a, first.b, first.difference.value) == pytest.approx((8, 6, 2))
    assert (first.difference.low, first.difference.high) == (2, 2)
    assert (first.effect, first.test.p, first.p_holm) == (1, 0.25, 0.75)
    mean = found.systems[0].mean
    assert (mean.value, mean.n) == (8, 3)
    assert (mean.low, mean.high) == pytest.approx((5.516, 10.484), abs=5e-4)
    assert (found.systems[0].spread.low, found.systems[0].spread.median, found.systems[0].spread.high) == (7.5, 8, 8.5)
    assert [one.words for one in found.systems] == [20, 22, 24]


def test_the_rater_is_the_unit():
    """Four topics by the same rater are one observation; only what the thesis did counts them as four."""
    ratings = {
        rater: {f"t{topic}s{n}": value for topic in range(1, 5) for n, value in enumerate(row)}
        for rater, row in FRIEDMAN.items()
    }
    found = of(answers_of(ratings))
    assert found.ranking.statistic == pytest.approx(4.6667, abs=5e-5)
    pair = found.pairs[0]
    assert (pair.raters.difference.n, pair.as_published.difference.n) == (3, 12)
    assert pair.raters.difference.value == pair.as_published.difference.value == 2
    assert pair.raters.test.p == 0.25
    assert pair.as_published.test.p is not None and pair.as_published.test.p < 0.01
    assert pair.as_published.p_holm is None


def test_a_rater_who_lacks_a_system_is_left_out_and_counted():
    found = of(one_topic({**FRIEDMAN, "R4": (3, 4, None)}), topics=1)
    assert (found.ranking.n, found.ranking.dropped) == (3, 1)
    assert [(pair.raters.difference.n, pair.raters.difference.dropped) for pair in found.pairs] == [
        (4, 0), (3, 1), (3, 1),
    ]  # fmt: skip
    assert [one.mean.n for one in found.systems] == [4, 4, 3]
    none = of(one_topic({"R1": (3, None, None), "R2": (4, None, None)}), topics=1)
    assert none.systems[2].mean.value is None
    assert none.pairs[0].raters.difference.value is None


def test_what_was_published_stands_beside():
    found = of(krippendorff())
    assert [one.published_words for one in found.systems] == [42, 47, 25]
    assert [pair.published_p for pair in found.pairs] == [0.54, None, None]
    other = survey_result(key_of(systems=("Base", "MF")), answers_of({"R1": {"t1s0": 1, "t1s1": 2}}), resamples=9)
    assert [one.published_words for one in other.systems] == [None, None]
    assert [pair.published_p for pair in other.pairs] == [None]


def test_the_tables(tmp_path: Path):
    hostile = Comment("R1", "t1s0", "=HYPERLINK(x)")
    found = of(replace(krippendorff(), comments=[hostile, Comment("R2", "improve", "Less\nof it")]))
    paths = write_tables(found, tmp_path / "out")
    assert [path.name for path in paths] == [*(f"{name}.csv" for name in MODELS), CODEBOOK]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {path.name for path in paths}
    read = {}
    for name in MODELS:
        with (tmp_path / "out" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            read[name] = list(csv.DictReader(file))
    assert {name: len(rows) for name, rows in read.items()} == {
        "ratings": 41, "summary": 3, "comparisons": 6, "agreement": 3, "comments": 2,
    }  # fmt: skip
    assert [row["comment"] for row in read["comments"]] == ["'=HYPERLINK(x)", "Less\nof it"]
    assert [row["system"] for row in read["comments"]] == ["need_to_talk", ""]
    assert (read["ratings"][0]["system"], read["ratings"][0]["run"]) == ("need_to_talk", "run-1-0")
    assert [row["published"] for row in read["agreement"]] == ["0.3674", "0.3674", ""]
    codebook = (tmp_path / "out" / CODEBOOK).read_text(encoding="utf-8")
    for name, rows in read.items():
        part = codebook[codebook.index(f"## {name}\n") :]
        assert [column for column in rows[0] if f"| `{column}` |" not in part] == []


def test_tables_that_cannot_be_written(tmp_path: Path, refused: Callable[..., str]):
    (tmp_path / "file").write_text("", encoding="utf-8")
    refused(lambda: write_tables(of(krippendorff()), tmp_path / "file"), "cannot be written", "--out")


RATINGS = st.lists(st.tuples(*[st.none() | st.integers(1, 10)] * 6), min_size=1, max_size=6).filter(
    lambda rows: any(value is not None for row in rows for value in row)
)


@given(RATINGS, st.randoms(use_true_random=False))
@hypothesis_settings(max_examples=25)
def test_the_order_of_the_file_does_not_matter(rows: list[tuple[int | None, ...]], chance: Random):
    """Nor do the names of raters; and every figure keeps to its range."""
    items = [item.item for item in key_of(topics=2).items]
    given = [(f"R{n}", item, v) for n, row in enumerate(rows) for item, v in zip(items, row, strict=True) if v]

    def found(rows: list[tuple[str, str, int]]) -> SurveyResult:
        ratings: dict[str, dict[str, int]] = {}
        for rater, item, value in rows:
            ratings.setdefault(rater, {})[item] = value
        return survey_result(key_of(topics=2), answers_of(ratings), resamples=9)

    one = found(given)
    other = found([(rater[::-1], item, value) for rater, item, value in chance.sample(given, len(given))])
    for name in ("summary", "comparisons"):
        for row, again in zip(rows_of(one)[name], rows_of(other)[name], strict=True):
            for value, same in zip(row.model_dump().values(), again.model_dump().values(), strict=True):
                assert value == (pytest.approx(same) if isinstance(same, float) else same)
    for pair in one.pairs:
        for compared in (pair.raters, pair.as_published):
            assert compared.test.p is None or 0 <= compared.test.p <= 1
            assert compared.effect is None or -1 <= compared.effect <= 1
            if compared.difference.value is not None:
                assert -9 <= compared.difference.value <= 9
    for alpha in (one.ordinal, one.interval):
        assert alpha.value is None or alpha.value <= 1 + 1e-12
