"""A run killed with SIGKILL wherever that hurts, resumed, and equal to the byte to the run that nobody interrupted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from killing import KINDS, RUN, UTTERANCES, Driver
from run_files import logged, read_whole, run_json

pytestmark = pytest.mark.proof

UNTOUCHED = ("disclaimer", "started", "ended", "turn", "stop_reason", "stop_source", "detail", "conclusion", "silences")
"""What is known about a run that is as if nothing had happened, but for the times."""


class Undisturbed(NamedTuple):
    """A run that nobody interrupted."""

    whole: tuple[list[tuple[str, str]], bytes]
    manifest: dict[str, Any]
    seen: dict[str, Any]
    sites: dict[str, int]


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    """The process that forks runs."""
    with Driver() as driver:
        yield driver


@pytest.fixture(scope="module")
def undisturbed(driver: Driver, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Undisturbed]:
    """How a kind of conversation goes without a kill, and how often it comes by every site."""

    @cache
    def held(kind: str) -> Undisturbed:
        out = tmp_path_factory.mktemp(kind)
        run = driver.child("run", out, kind)
        assert run["status"] == 0
        assert len(run["said"]) == UTTERANCES[kind]
        return Undisturbed(read_whole(out / RUN), manifest_of(out), run, run["sites"])

    return held


def manifest_of(out: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = run_json(out / RUN)
    return {name: manifest[name] for name in UNTOUCHED if name not in ("started", "ended")}


def check_equal(out: Path, seen: dict[str, Any], expected: Undisturbed) -> None:
    assert read_whole(out / RUN) == expected.whole
    assert manifest_of(out) == expected.manifest
    assert not seen["next"]
    for name, value in expected.seen["state"].items():
        assert seen["state"][name] == value, name
    assert seen["state"].keys() == expected.seen["state"].keys()
    for agent, memories in expected.seen["memories"].items():
        ids = [row[0] for row in seen["memories"][agent]]
        assert len(set(ids)) == len(ids)
        assert seen["memories"][agent] == memories, agent
        assert set(seen["alive"][agent]) <= {*ids, *seen["unsaved"][agent]}
    assert seen["memories"].keys() == expected.seen["memories"].keys()
    assert logged(out / RUN, "asked_model")
    assert [path.name for path in (out / RUN).iterdir() if path.name.endswith(".partial")] == []


SOONER, MIDDLE, LATER = 0.15, 0.5, 0.85

POINTS = [
    ("debate", "judge:before", SOONER),
    ("debate", "judge:after", MIDDLE),
    ("debate", "judge:after", LATER),
    ("debate", "stream:before", MIDDLE),
    ("debate", "stream:after", LATER),
    ("debate", "aput:before", SOONER),
    ("debate", "aput:after", MIDDLE),
    ("debate", "aput_writes:before", SOONER),
    ("debate", "aput_writes:after", LATER),
    ("debate", "transaction:before", MIDDLE),
    ("debate", "_write:torn", MIDDLE),
    ("debate", "_write:torn", LATER),
    ("debate", "_write:before", LATER),
    ("debate", "save:before", MIDDLE),
    ("debate", "upsert:before", LATER),
    ("debate", "append:before", LATER),
    ("debate", "end:before", 1.0),
    ("debate", "aput:after", 1.0),
    ("discussion", "begin:after", 1.0),
    ("discussion", "aput:before", 0.0),
    ("discussion", "aput:after", 0.0),
    ("discussion", "judge:before", LATER),
    ("discussion", "stream:after", MIDDLE),
    ("discussion", "aput_writes:before", MIDDLE),
    ("discussion", "aput:before", 1.0),
    ("discussion", "transaction:before", LATER),
    ("discussion", "collection:after", MIDDLE),
    ("discussion", "upsert:after", MIDDLE),
    ("discussion", "save:after", LATER),
    ("discussion", "log.append:before", MIDDLE),
    ("discussion", "_write:torn", SOONER),
    ("discussion", "_write:after", MIDDLE),
    ("discussion", "append:after", MIDDLE),
    ("discussion", "log.append:after", LATER),
    ("discussion", "projection:after", SOONER),
    ("discussion", "_write:torn", 1.0),
    ("discussion", "log.append:before", 1.0),
    ("listeners", "aput_writes:after", MIDDLE),
    ("listeners", "aput:after", MIDDLE),
    ("listeners", "upsert:before", LATER),
    ("listeners", "_write:torn", LATER),
    ("revised", "revision:before", SOONER),
    ("revised", "revision:after", MIDDLE),
    ("revised", "revision:before", LATER),
    ("revised", "pruning:after", MIDDLE),
    ("revised", "stream:after", LATER),
    ("fixed", "stream:after", SOONER),
    ("fixed", "judge:before", LATER),
    ("fixed", "aput:after", MIDDLE),
    ("fixed", "_write:torn", MIDDLE),
    ("fixed", "upsert:before", 1.0),
    ("story", "judge:after", SOONER),
    ("story", "stream:before", SOONER),
    ("story", "stream:after", MIDDLE),
    ("story", "stream:before", LATER),
    ("story", "judge:after", LATER),
    ("story", "judge:before", 1.0),
    ("story", "aput:after", MIDDLE),
    ("story", "aput_writes:before", LATER),
    ("story", "_write:torn", MIDDLE),
    ("story", "_write:torn", LATER),
    ("story", "upsert:before", LATER),
    ("story", "end:before", 1.0),
    ("played", "asked", 0.0),
    ("played", "asked", SOONER),
    ("played", "asked", MIDDLE),
    ("played", "asked", LATER),
    ("played", "asked", 1.0),
    ("played", "answered", MIDDLE),
    ("played", "answered", LATER),
    ("played", "aput_writes:after", LATER),
    ("played", "_write:torn", MIDDLE),
]
"""Kind of conversation, site, and how far the run is when it comes by there."""

RESUMES = [
    ("debate", "repaired:before", 1),
    ("debate", "take_back:after", 1),
    ("debate", "whole:torn", 1),
    ("debate", "repaired:after", 1),
    ("debate", "fsync:after", 1),
    ("discussion", "resume:before", 1),
    ("discussion", "resume:after", 1),
    ("discussion", "reopened:after", 1),
    ("discussion", "aput:before", 1),
    ("discussion", "save:before", 1),
]
"""The same for a resume; here the number of the time."""


def number(sites: dict[str, int], site: str, far: float) -> int:
    """Of all the times that a run comes by a site, the one that is so far on."""
    return 1 + round(far * (sites[site] - 1))


@pytest.mark.proof(cases=12)
@pytest.mark.parametrize(("kind", "site", "far"), POINTS)
def test_killed_and_resumed(
    driver: Driver, undisturbed: Callable[[str], Undisturbed], tmp_path: Path, kind: str, site: str, far: float
) -> None:
    expected = undisturbed(kind)
    point = (site, number(expected.sites, site, far))
    assert driver.child("run", tmp_path, kind, point=point)["status"] == -9
    resumed = driver.child("resume", tmp_path, kind)
    assert (resumed["status"], resumed["error"]) == (0, "")
    assert resumed["said"] == list(range(1, UTTERANCES[kind] + 1))
    check_equal(tmp_path, resumed, expected)


ACTS: dict[str, tuple[str, int, int, dict[str, int]]] = {
    "a host takes stock": ("stocktaking:before", 1, 0, {"met": 0}),
    "a host has chosen": ("choice:after", 1, 0, {"met": 0}),
    "a private room, before its first words": ("natural_language:before", 1, 0, {"met": 1}),
    "a private room, between its words": ("natural_language:before", 2, 1, {"met": 1, "summary": 0}),
    "a private room, as both sum up": ("summary:after", 1, 2, {"met": 1, "summary": 0}),
    "a later private room": ("natural_language:before", 6, 5, {"met": 3, "summary": 4}),
    "a confidential meeting": ("natural_language:before", 10, 9, {"met": 5, "summary": 8}),
    "a chat round, before any words": ("natural_language:before", 13, 12, {"met": 6, "summary": 12}),
    "a chat round, between its words": ("natural_language:after", 14, 12, {"met": 6, "review": 4}),
    "a chat round, after its last words": ("natural_language:after", 16, 12, {"met": 6, "review": 4}),
    "a first impression": ("review:after", 2, 0, {"review": 0}),
    "a review": ("review:before", 6, 16, {"review": 4}),
    "a review, after the last answer": ("review:after", 8, 16, {"review": 4, "standing": 4}),
    "between guesses": ("ballot:after", 2, 16, {"guess": 0, "standing": 8}),
    "the last speeches": ("natural_language:after", 18, 16, {"guess": 3, "ballot": 0}),
    "between ballots": ("ballot:after", 6, 20, {"guess": 3, "ballot": 0, "closed_ballot": 0}),
    "after the last ballot": ("ballot:after", 9, 20, {"ballot": 0, "outcome": 0}),
}
"""Where in a story: site and number of the time, utterances made by then, and how often something has happened."""


@pytest.mark.proof(cases=2)
@pytest.mark.parametrize("where", ACTS)
def test_a_story_killed_in_an_act_ends_with_the_same_bytes(
    driver: Driver, undisturbed: Callable[[str], Undisturbed], tmp_path: Path, where: str
) -> None:
    site, time, utterances, happened = ACTS[where]
    assert driver.child("run", tmp_path, "story", point=(site, time))["status"] == -9
    assert len(logged(tmp_path / RUN, "utterance")) == utterances
    kinds = [one["do"] for one in logged(tmp_path / RUN, "happening")]
    assert {do: kinds.count(do) for do in happened} == happened
    resumed = driver.child("resume", tmp_path, "story")
    assert (resumed["status"], resumed["error"]) == (0, "")
    assert resumed["said"] == list(range(1, UTTERANCES["story"] + 1))
    check_equal(tmp_path, resumed, undisturbed("story"))


@pytest.mark.proof(cases=2)
@pytest.mark.parametrize(("kind", "site", "time"), RESUMES)
def test_killed_while_resuming(
    driver: Driver, undisturbed: Callable[[str], Undisturbed], tmp_path: Path, kind: str, site: str, time: int
) -> None:
    expected = undisturbed(kind)
    torn = number(expected.sites, "_write:torn", MIDDLE)
    assert driver.child("run", tmp_path, kind, point=("_write:torn", torn))["status"] == -9
    assert driver.child("resume", tmp_path, kind, point=(site, time))["status"] == -9
    resumed = driver.child("resume", tmp_path, kind)
    assert (resumed["status"], resumed["error"]) == (0, "")
    check_equal(tmp_path, resumed, expected)


@pytest.mark.proof(cases=1)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "fixed"])
def test_killed_again_and_again(
    driver: Driver, undisturbed: Callable[[str], Undisturbed], tmp_path: Path, kind: str
) -> None:
    """A run that never gets farther than some forty requests at a time comes to its end all the same."""
    point = ("judge:before", 15 if kind in ("listeners", "story", "played") else 40)  # there are fewer requests
    assert driver.child("run", tmp_path, kind, point=point)["status"] == -9
    kills = 1
    while (resumed := driver.child("resume", tmp_path, kind, point=point))["status"] == -9:
        kills += 1
        assert kills < 12
    assert (resumed["status"], resumed["error"]) == (0, "")
    assert kills >= (2 if kind in ("pruned", "revised", "story", "played") else 3)
    check_equal(tmp_path, resumed, undisturbed(kind))


def test_killed_before_anything_was_written(driver: Driver, tmp_path: Path) -> None:
    assert driver.child("run", tmp_path, "discussion", point=("begin:before", 1))["status"] == -9
    resumed = driver.child("resume", tmp_path, "discussion")
    assert resumed["status"] == 0
    assert "before it had begun" in resumed["error"]
