"""Released stories of AgentGroupChat as scenario files: made-up folders, and the real ones where they are at hand."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from fixtures import Refused

from persimchat.personas.scenario import load_scenario
from persimchat.personas.story_conversion import convert_story

PEOPLE: dict[str, dict[str, Any]] = {
    "C0000": {
        "name": "Ann Lind", "main_character": "True", "objective": "Keep the mill of C0000.",
        "scratch": "I am Ann, and C0001 is my son.", "background": "Miller.", "engine": "human",
        "belief": {"Sell the mill": 60, "Let C0001 have it": 10, "Let C0001 or C0002 have it": 5},
        "relation": {"C0001": 30},
    },
    "C0001": {
        "name": "Bo Vik", "main_character": "True", "scratch": "I am Bo.", "support_character": "C0002",
        "belief": {"Have it myself": 60, "Grow rich": 20},
    },
    "C0002": {"name": "Cy Dahl", "main_character": "False", "scratch": "I know C0009.", "support_character": "C0000"},
}  # fmt: skip
RULES = "Win the mill.\n1. Roles:\na. Be kind to C0000.\n2. Game Process: rounds\n a. talk\n3. Game Goals: Win."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inner = tmp_path / "mill" / "initial_version"
    for kind in ("characters", "resources"):
        (inner / kind).mkdir(parents=True)
    for identity, person in PEOPLE.items():
        (inner / "characters" / f"{identity}.json").write_text(json.dumps({"id_name": identity, **person}))
    mill = {"name": "Mill", "id_number": "R0000", "owner": "C0000", "influence": "30", "topic": "flour[TOPIC_SEP]R0000"}
    (inner / "resources" / "R0000.json").write_text(json.dumps(mill))
    (tmp_path / "mill" / "mill_rule_setting.txt").write_text(RULES)
    return tmp_path / "mill"


def read(text: str, tmp_path: Path) -> Any:
    path = tmp_path / "made.yaml"
    path.write_text(text)
    return load_scenario(path)


def test_a_folder_becomes_a_scenario_with_names_for_ids(folder: Path, tmp_path: Path) -> None:
    made = convert_story(folder)
    scenario = read(made.text, tmp_path)
    story = scenario.story
    assert [p.name for p in scenario.participants] == ["Ann Lind", "Bo Vik", "Cy Dahl"]
    assert scenario.topic == "Win the mill."
    assert scenario.rules == ["Be kind to Ann Lind.", "Game Goals: Win."]
    assert scenario.social_goals == {"Ann Lind": ["Keep the mill of Ann Lind."]}
    assert story.mains == ["Ann Lind", "Bo Vik"]
    assert story.characters["Ann Lind"].closeness == {"Bo Vik": 30}
    assert story.characters["Cy Dahl"].supports == "Ann Lind"
    assert (story.resources[0].owner, story.resources[0].influence) == ("Ann Lind", 30)
    assert story.resources[0].topics == ["flour", "Mill"]
    assert (story.settlement.voters, story.first_impressions) == ("all", False)
    told = " ".join(made.told)
    for words in ("C0009", "played by a person", "--decider 'Ann Lind'", "inferred", "no other main character"):
        assert words in told


def test_whom_beliefs_favour_is_inferred(folder: Path, tmp_path: Path) -> None:
    def favoured(decider: str | None) -> list[list[str | None]]:
        story = read(convert_story(folder, decider=decider).text, tmp_path).story
        return [[belief.favours for belief in one.beliefs] for one in story.characters.values()]

    assert favoured(None) == [["Ann Lind", "Bo Vik", None], ["Bo Vik", None], []]
    assert favoured("Ann") == [[None, "Bo Vik", None], ["Bo Vik", None], []], "who decides wants to keep it"


BAD = {
    "no name": ({"name": None}, "C0000.json", "field name", "missing"),
    "a belief that is no number": ({"belief": {"Sell": "much"}}, "C0000.json", "belief", "whole number"),
    "closeness to nobody": ({"relation": {"C0007": 3}}, "C0000.json", "relation", "no character has the id C0007"),
    "support for nobody": ({"support_character": "C0007"}, "support_character", "C0007"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_named_by_file_and_field(case: str, folder: Path, refused: Refused) -> None:
    changed, *words = BAD[case]
    path = folder / "initial_version" / "characters" / "C0000.json"
    path.write_text(json.dumps({"id_name": "C0000", **PEOPLE["C0000"], **changed}))
    refused(lambda: convert_story(folder), *words)


def test_broken_files_unknown_owners_and_missing_folders_are_named(folder: Path, refused: Refused) -> None:
    resource = folder / "initial_version" / "resources" / "R0000.json"
    kept = resource.read_text()
    resource.write_text(kept.replace("C0000", "C0008"))
    refused(lambda: convert_story(folder), "R0000.json", "owner", "C0008")
    resource.write_text("{")
    refused(lambda: convert_story(folder), "R0000.json", "not JSON")
    resource.write_text(kept)
    refused(lambda: convert_story(folder, decider="Dee"), "--decider", "no character 'Dee'")
    refused(lambda: convert_story(folder / "nowhere"), "no released story")


@pytest.mark.parametrize(("name", "mains", "others"), [("succession", 5, 4), ("philosopher", 6, 0), ("famous", 5, 0)])
def test_the_released_stories_become_scenarios(
    name: str, mains: int, others: int, shared: Path, tmp_path: Path
) -> None:
    folder = shared / "data" / "stories" / name
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    made = convert_story(folder)
    story = read(made.text, tmp_path).story
    assert (len(story.mains), len(story.characters) - len(story.mains)) == (mains, others)
    assert not re.search(r"\b[CR]\d{4}\b", made.text)
    assert all(b.favours for main in story.mains for b in story.characters[main].beliefs)
