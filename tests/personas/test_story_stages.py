"""Stages of groups that split and come together: what a file may say, and what is refused, with field and remedy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from persimchat.personas.scenario import load_scenario
from persimchat.state.scenario import Scenario

HEAD = """topic: Who leads?
participants:
  - {name: Ann Lind, description: Somebody.}
  - {name: Bo Vik, description: Somebody.}
  - {name: Cy Dahl, description: Somebody.}
  - {name: Dee Ek, description: Somebody.}
story:
  stages:
"""
PLENARY = "    - {kind: plenary, utterances: 1}\n"
ROOMS = "    - {kind: rooms, utterances: 2, split: %s}\n"


def loaded(write: Callable[..., Path], stages: str) -> Scenario:
    return load_scenario(write("story.yaml", f"{HEAD}{stages}"))


def test_a_story_of_stages_alone_has_minds_that_hear(write: Callable[..., Path]) -> None:
    scenario = loaded(write, PLENARY + ROOMS % "{groups: [[ann, Dee], [Cy Dahl, bo]]}")
    assert scenario.settings == {"mode": "story", "cognition": "full"}
    assert scenario.story is not None
    split = scenario.story.stages[1].split
    assert split is not None
    assert split.groups == [["Ann Lind", "Dee Ek"], ["Cy Dahl", "Bo Vik"]]
    written = scenario.story.model_dump(by_alias=True)
    assert written["stages"][0] == {"kind": "plenary", "utterances": 1}
    assert written["stages"][1].keys() == {"kind", "utterances", "split"}
    assert type(scenario.story).model_validate(written) == scenario.story


def test_stages_of_today_are_written_as_they_were(write: Callable[..., Path]) -> None:
    scenario = loaded(write, "    - {kind: group, exchanges: 2}\n")
    assert scenario.story is not None
    assert scenario.story.stages[0].model_dump() == {"kind": "group", "exchanges": 2, "partners": "anyone"}


BAD = {
    "private": ("    - {kind: private}\n", "story.characters", "no character is a main one"),
    "no utterances": ("    - {kind: plenary}\n", "stages[0]", "has no utterances"),
    "exchanges": ("    - {kind: plenary, utterances: 2, exchanges: 2}\n", "stages[0]", "Leave exchanges out"),
    "utterances of a group": ("    - {kind: group, utterances: 2}\n", "stages[0]", "Leave utterances out"),
    "too many utterances": ("    - {kind: plenary, utterances: 1001}\n", "stages[0].utterances", "from 1 to 1000"),
    "split of a plenary": ("    - {kind: plenary, utterances: 2, split: {size: 2}}\n", "stages[0]", "go with rooms"),
    "no split": ("    - {kind: rooms, utterances: 2}\n", "stages[0]", "has no split"),
    "an empty split": (ROOMS % "{}", "stages[0].split", "either by size or into groups"),
    "both": (ROOMS % "{size: 2, groups: [[Ann, Bo], [Cy, Dee]]}", "stages[0].split", "either by size or into groups"),
    "alone": (ROOMS % "{size: 1}", "stages[0].split.size", "from 2 to 50"),
    "one room": (ROOMS % "{size: 3}", "stages[0].split.size", "are one room"),
    "unknown name": (ROOMS % "{groups: [[Ann, Bo], [Cy, Zoe]]}", "stages[0].split.groups", "no participant 'Zoe'"),
    "somebody twice": (ROOMS % "{groups: [[Ann, Bo], [Cy, Dee, Ann]]}", "stages[0].split.groups", "in a room twice"),
    "somebody left out": (ROOMS % "{groups: [[Ann, Bo], [Cy]]}", "stages[0].split.groups", "fewer than two"),
    "nowhere": (ROOMS % "{groups: [[Ann, Bo, Cy]]}", "stages[0].split.groups", "Dee Ek is in no room"),
    "by camp": (ROOMS % "{camp: true}", "stages[0].split", "camp"),
    "groups of text": (ROOMS % "{groups: Ann}", "stages[0].split.groups", "list"),
    "a report to nobody": (
        "    - {kind: rooms, utterances: 2, split: {size: 2}, report: true}\n",
        "stages[0].report",
        "no plenary follows",
    ),
    "a report too many": (
        "    - {kind: rooms, utterances: 2, split: {size: 2}, report: true}\n" + PLENARY,
        "stages[0].report",
        "2 rooms report",
    ),
    "a vote": (PLENARY + "  settlement: {voters: all}\n", "story.characters", "votes need some"),
    "strategists": (PLENARY + "settings: {listeners: 2}\n", "settings", "Leave listeners out"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_with_a_stage_is_named(
    case: str, write: Callable[..., Path], refused: Callable[..., str]
) -> None:
    stages, *words = BAD[case]
    refused(lambda: loaded(write, stages), "story.yaml", *words)
