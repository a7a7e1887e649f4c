"""The section story of a scenario: what is read, and what is refused with file, line, field and remedy."""

from __future__ import annotations

import pytest
from fixtures import Refused, Write

from persimchat.personas.scenario import load_scenario, make_scenario
from persimchat.state.errors import InputError
from persimchat.state.scenario import Scenario

HEAD = """topic: Who leads?
participants:
  - {name: Ann Lind, description: Somebody.}
  - {name: Bo Vik, description: Somebody.}
  - {name: Cy Dahl, description: Somebody.}
story:
  characters:
    Ann: {main: true, beliefs: [{text: I lead., score: 60, for: Ann}, {text: Bo leads., score: 10, for: Bo}]}
    Bo: {main: true, beliefs: [{text: I lead., score: 60, for: bo vik}]}
"""


def loaded(write: Write, text: str) -> Scenario:
    return load_scenario(write("story.yaml", text))


def test_first_names_become_full_names_and_the_unnamed_take_part(write: Write) -> None:
    story = loaded(
        write,
        HEAD
        + """    Cy: {closeness: {ann: 40}, supports: Ann}
  resources: [{name: Mill, owner: cy, influence: 3}]
  settlement: {voters: [Bo, Cy], decider: Ann}
""",
    ).story
    assert story is not None
    assert list(story.characters) == ["Ann Lind", "Bo Vik", "Cy Dahl"]
    assert [b.favours for b in story.characters["Ann Lind"].beliefs] == ["Ann Lind", "Bo Vik"]
    assert story.characters["Cy Dahl"].closeness == {"Ann Lind": 40}
    assert story.characters["Cy Dahl"].supports == "Ann Lind"
    assert story.resources[0].owner == "Cy Dahl"
    assert story.voters == ["Ann Lind", "Bo Vik", "Cy Dahl"], "the decider votes, too"
    assert story.mains == story.candidates == ["Ann Lind", "Bo Vik"]


def test_left_out_a_story_has_three_stages_of_three_exchanges_and_no_vote(write: Write) -> None:
    scenario = loaded(write, HEAD)
    assert scenario.story is not None
    assert [(s.kind, s.exchanges) for s in scenario.story.stages] == [
        ("private", 3), ("confidential", 3), ("group", 3)]  # fmt: skip
    assert scenario.story.settlement is None
    assert scenario.settings == {"mode": "story"}


def test_a_belief_may_be_for_nobody_and_a_story_is_written_as_it_was_read(write: Write) -> None:
    scenario = loaded(write, HEAD.replace("for: Bo}", "for: Nobody}"))
    assert scenario.story is not None
    assert [b.favours for b in scenario.story.characters["Ann Lind"].beliefs] == ["Ann Lind", None]
    kept = scenario.model_dump(mode="json", by_alias=True)
    assert Scenario.model_validate(kept) == scenario


def test_a_scenario_without_a_story_does_not_mention_one() -> None:
    made = make_scenario("Tea?", [{"name": "Ann", "description": "A."}, {"name": "Bo", "description": "B."}])
    assert "story" not in made.model_dump(by_alias=True)
    assert "story" not in made.model_dump(mode="json")


BAD = {
    "unknown character": ("Bo: {main", "Boo: {main", ":9", "there is no participant 'Boo'", "'Bo Vik'"),
    "unknown favourite": ("for: Bo}", "for: Boris}", "beliefs[1].for", "no participant 'Boris'", "Bo Vik"),
    "for left out": (", for: Bo}", "}", "beliefs[1]", "missing"),
    "score above": ("score: 10", "score: 101", "score", "100"),
    "score no integer": ("score: 10", "score: 1.5", "score", "integer"),
    "short form": ("[{text: I lead., score: 60, for: bo vik}]", "{I lead.: 60}", "beliefs", "text"),
    "equal beliefs": ("text: Bo leads.", "text: i  LEAD.", "beliefs[1]", "same belief twice"),
    "unknown field": ("main: true, b", "mian: true, b", "mian", "'main'"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_in_a_character_is_named(case: str, write: Write, refused: Refused) -> None:
    old, new, *words = BAD[case]
    text = HEAD.replace(old, new, 1) if case != "unknown field" else HEAD.replace("Ann: {main", "Ann: {mian", 1)
    assert text != HEAD
    refused(lambda: loaded(write, text), "story.yaml:", *words)


MORE = {
    "two resources": ("  resources: [{name: Mill, owner: Ann}, {name: mill}]", "resources[1]", "two resources"),
    "unknown owner": ("  resources: [{name: Mill, owner: Dee}]", "resources[0].owner", "no participant 'Dee'"),
    "influence": ("  resources: [{name: Mill, owner: Ann, influence: -1}]", "influence", "from 0 to 1000000"),
    "unknown decider": ("  settlement: {decider: Dee}", "settlement.decider", "no participant 'Dee'"),
    "unknown voter": ("  settlement: {voters: [Ann, Dee]}", "voters[1]", "no participant 'Dee'"),
    "a voter twice": ("  settlement: {voters: [Ann, Bo, Ann Lind]}", "voters[2]", "listed twice"),
    "one outcome": ("  settlement: {candidates: [yes]}", "settlement.candidates", "one candidate"),
    "decider an outcome": (
        "  settlement: {candidates: [Ann Lind, nobody at all], decider: Ann}",
        "settlement.candidates",
        "among the outcomes",
    ),  # fmt: skip
    "no stages": ("  stages: []", "stages", "no stages"),
    "unknown kind": (
        "  stages: [{kind: secret}]",
        "stages[0].kind",
        "'private', 'confidential', 'group', 'plenary' or 'rooms'",
    ),
    "exchanges": ("  stages: [{kind: group, exchanges: 0}]", "stages[0].exchanges", "from 1 to 20"),
    "limit": ("  limits: {change: 0}", "limits.change", "from 1 to 100"),
    "unknown ablation": (
        "  ablation: [memory, planing]",
        "story.ablation[1]",
        "'planning', 'thinking', 'reflection' or 'memory'",
    ),
    "ablation twice": ("  ablation: [memory, planning, memory]", "story.ablation[2]", "memory is listed twice"),
    "ablation no list": ("  ablation: memory", "story.ablation", "valid list"),
    "unknown section": ("  stage: []", "story.stage", "'stages'"),
    "nobody to choose": (
        "  stages: [{kind: private, partners: others}]\n    Cy: x",
        "story.yaml",
    ),  # fmt: skip
    "listeners of minds that hear": ("settings: {cognition: full, listeners: 1}", "settings", "Leave listeners out"),
    "debate": ("settings: {mode: debate}", "settings.mode", "held as one"),
    "pattern": ("settings: {pattern: round_robin}", "settings", "does not go with a story"),
    "baseline": ("settings: {baseline: group_chat}", "settings", "does not go with a story"),
    "limit of messages": ("settings: {max_messages: 20}", "settings", "max_messages"),
}


@pytest.mark.parametrize("case", MORE)
def test_what_is_wrong_beside_the_characters_is_named(case: str, write: Write, refused: Refused) -> None:
    added, *words = MORE[case]
    refused(lambda: loaded(write, f"{HEAD}{added}\n"), "story.yaml", *words)


def test_no_main_character_a_sole_candidate_and_nobody_to_choose_are_refused(write: Write, refused: Refused) -> None:
    refused(lambda: loaded(write, HEAD.replace("main: true, ", "")), "field story.characters", "no character is a main")
    alone = HEAD.replace("Bo: {main: true, ", "Bo: {")
    refused(lambda: loaded(write, f"{alone}  settlement: {{}}\n"), "one candidate")
    shut = HEAD + "    Cy: {approachable: false}\n  stages: [{kind: private, partners: others}]\n"
    refused(lambda: loaded(write, shut), "field story.stages[0]", "Ann Lind can choose nobody")


def test_a_person_takes_a_part_but_not_all_parts(write: Write, refused: Refused) -> None:
    text = HEAD.replace("{name: Cy Dahl, description: Somebody.}", "{name: Cy Dahl, human: true}")
    assert [one.name for one in loaded(write, text).participants if one.human] == ["Cy Dahl"]
    everybody = HEAD.replace("description: Somebody.", "human: true")
    refused(lambda: loaded(write, everybody), "all participants are people", "at least one")


@pytest.mark.parametrize("section", ["story: [a]\n", "story:\n"], ids=["a list", "nothing"])
def test_a_section_that_is_no_mapping_is_refused_by_line(section: str, write: Write) -> None:
    with pytest.raises(InputError, match=r"not a mapping .*story\.yaml:6"):
        loaded(write, HEAD.split("story:")[0] + section)


STAGES_HEAD = """topic: Who leads?
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


def with_stages(write: Write, stages: str) -> Scenario:
    return load_scenario(write("story.yaml", f"{STAGES_HEAD}{stages}"))


def test_a_story_of_stages_alone_has_minds_that_hear(write: Write) -> None:
    scenario = with_stages(write, PLENARY + ROOMS % "{groups: [[ann, Dee], [Cy Dahl, bo]]}")
    assert scenario.settings == {"mode": "story", "cognition": "full"}
    assert scenario.story is not None
    split = scenario.story.stages[1].split
    assert split is not None
    assert split.groups == [["Ann Lind", "Dee Ek"], ["Cy Dahl", "Bo Vik"]]
    written = scenario.story.model_dump(by_alias=True)
    assert written["stages"][0] == {"kind": "plenary", "utterances": 1}
    assert written["stages"][1].keys() == {"kind", "utterances", "split"}
    assert type(scenario.story).model_validate(written) == scenario.story


def test_stages_of_today_are_written_as_they_were(write: Write) -> None:
    scenario = with_stages(write, "    - {kind: group, exchanges: 2}\n")
    assert scenario.story is not None
    assert scenario.story.stages[0].model_dump() == {"kind": "group", "exchanges": 2, "partners": "anyone"}


BAD_STAGES = {
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


@pytest.mark.parametrize("case", BAD_STAGES)
def test_what_is_wrong_with_a_stage_is_named(case: str, write: Write, refused: Refused) -> None:
    stages, *words = BAD_STAGES[case]
    refused(lambda: with_stages(write, stages), "story.yaml", *words)
