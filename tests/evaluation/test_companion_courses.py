"""Courses of trust and recall: the arithmetic of the checks, and the offline model's goals over several seeds."""

from __future__ import annotations

from pathlib import Path

import pytest
from companion_talks import FERRY

from persimchat.evaluation.companion.measuring import measured
from persimchat.evaluation.companion.recall import measure_recall
from persimchat.evaluation.companion.rows import Row, summed_up
from persimchat.evaluation.companion.trust_courses import EXCHANGES, TEMPERS, Course, Temper, hold, lines_of, rows_of
from persimchat.runs.companion.worldfile import companion_settings
from persimchat.state.settings import Settings


def offline(seed: int = 0) -> Settings:
    return companion_settings(FERRY, environment={}, model="offline", seed=seed)


def course(temper: Temper, trust: tuple[int, ...], **more: object) -> dict[str, float | None]:
    given = {"ends": 0, "labels": ("neutral",) * len(trust), "second": None, **more}
    rows = rows_of("r", Course(temper, trust, **given))  # type: ignore[arg-type]
    return {row.measure: row.value for row in rows if row.measure != "trust"}


@pytest.mark.parametrize(
    ("temper", "trust", "more", "fits"),
    [
        ("friendly", (5, 6, 6, 7), {"second": 7}, True),
        ("friendly", (5, 6, 5, 7), {"second": 7}, False),
        ("friendly", (5, 5, 5), {"second": 7}, False),
        ("friendly", (5, 6), {"second": 6}, False),
        ("friendly", (4, 6), {"second": 8}, False),
        ("friendly", (), {}, False),
        ("hostile", (4, 3, 2, 2, 1, 1, 0), {"ends": 7}, True),
        ("hostile", (4, 3, 3, 3, 3, 3, 2), {"ends": 7}, False),
        ("hostile", (3, 1, 0), {"ends": 9}, False),
        ("hostile", (3, 1, 0), {"ends": 0}, False),
        ("apologising", (5, 5, 5, 3, 4, 4), {}, True),
        ("apologising", (5, 5, 5, 4, 4, 4), {}, False),
        ("apologising", (5, 5, 5, 3, 3, 3), {}, False),
        ("apologising", (5, 5, 5, 3, 4, 5), {}, False),
        ("apologising", (5, 5, 5, 3), {}, False),
        ("neutral", (5, 4, 6), {}, True),
        ("neutral", (5, 3), {}, False),
        ("neutral", (5, 7), {}, False),
    ],
)
def test_whether_a_course_is_as_it_should_be(
    temper: Temper, trust: tuple[int, ...], more: dict[str, object], fits: bool
) -> None:
    assert course(temper, trust, **more)["course_as_expected"] == float(fits)


def test_ends_and_emotions_count_where_they_say_something() -> None:
    assert course("neutral", (5,), ends=1)["false_end"] == 1 and course("friendly", (6,))["false_end"] == 0
    assert course("hostile", (3, 2), labels=("angry", "happy"), ends=2)["emotion_fits"] == 0.5
    assert "false_end" not in course("hostile", (3,)) and "emotion_fits" not in course("neutral", (5,))


def test_every_scripted_person_has_as_many_lines() -> None:
    assert {len(lines_of(temper)) for temper in TEMPERS} == {EXCHANGES}


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(5))
async def test_offline_trust_takes_its_courses(tmp_path: Path, seed: int) -> None:
    for temper in TEMPERS:
        found = await hold(tmp_path / temper, FERRY, offline(seed), temper)
        values = {row.measure: row.value for row in rows_of("r", found) if row.measure != "trust"}
        assert values["course_as_expected"] == 1, found
        assert not values.get("false_end"), found
        assert (values.get("emotion_fits", 1) or 0) > 0.5, found


def reaches_the_goals(rows: list[Row]) -> None:
    least = {"recall@10": 0.9, "right": 0.9, "abstains": 0.95}
    none = ("leaks", "contradicts", "stale_in_prompt", "knows_a_stranger")
    values = {name: summed_up(rows, name).value for name in (*least, *none)}
    assert all((values[name] or 0) >= goal for name, goal in least.items()), values
    assert not any(values[name] for name in none), values


@pytest.mark.proof
@pytest.mark.parametrize("talks", [1, 2])
async def test_offline_recall_of_few_talks(tmp_path: Path, talks: int) -> None:
    rows = await measured(
        "recall", "w", talks, 0, folder=tmp_path, place=FERRY, settings=offline(), baselines=talks == 1
    )
    reaches_the_goals(rows)
    assert summed_up(rows, "accepted_at_first").value == 1
    assert talks != 1 or summed_up(rows, "right_with_history").value == 1


@pytest.mark.proof
async def test_offline_recall_of_five_talks_over_three_seeds(tmp_path: Path) -> None:
    rows: list[Row] = []
    for seed in range(3):
        rows += await measure_recall(tmp_path / str(seed), FERRY, offline(seed), 5, seed)
    reaches_the_goals(rows)
