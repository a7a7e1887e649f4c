"""Two who look the same do not take part together, and a name finds its owner however it is encoded."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from persimchat.nodes.judge import judge_name
from persimchat.nodes.saying import moderator_name
from persimchat.personas.people import with_people
from persimchat.personas.scenario import load_scenario, make_scenario
from persimchat.state.errors import InputError
from persimchat.state.intervention import intervention
from persimchat.state.person_answer import person_answer
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

Refused = Callable[..., str]
INES, BO = "Inés Nová", "Bo Říha"
NFD = unicodedata.normalize("NFD", INES)
TWINS = [(INES, NFD), ("Anna", "An\u200bna"), ("Anna", "\u200fAnna"), ("Anna", "Ａｎｎａ"), ("Anna", "ANNA\u00ad")]


def of(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "description": "Somebody."} for name in names]


@pytest.mark.parametrize(("one", "other"), TWINS)
def test_two_that_look_the_same_are_refused(one: str, other: str, refused: Refused, tmp_path: Path) -> None:
    refused(lambda: make_scenario("Tea?", of(one, BO, other)), "two participants", "participants[2]")
    refused(lambda: with_people(make_scenario("Tea?", of(one, BO)), [other, other]), "named twice")
    with pytest.raises(ValueError, match="two participants are called"):
        Scenario.model_validate({"topic": "Tea?", "participants": of(one, BO, other)})
    written = json.dumps({"topic": "Tea?", "participants": of(one, BO, other)}, indent=1)
    (tmp_path / "s.json").write_text(written, encoding="utf-8")
    refused(lambda: load_scenario(tmp_path / "s.json"), "two participants", "s.json:12")


def test_accents_tell_people_apart() -> None:
    """Ines and Inés are two; each is found by the full name as it is written."""
    scenario = make_scenario("Tea?", of("Ines", "Inés"), social_goals={"Ine\u0301s": ["To win."]})
    assert scenario.social_goals == {"Inés": ["To win."]}


def test_a_name_finds_its_owner_however_it_is_encoded() -> None:
    scenario = make_scenario(
        "Tea?",
        of(INES, BO),
        relationships=[{"from": NFD, "to": "Bo\u200b Říha", "type": "friend"}],
        social_goals={NFD: ["To win."]},
        settings={"agent_models": {NFD: "offline"}},
    )
    assert [(tie.from_, tie.to) for tie in scenario.relationships] == [(INES, BO)]
    assert list(scenario.social_goals) == list(scenario.settings["agent_models"]) == [INES]
    assert [p.human for p in with_people(scenario, [NFD]).participants] == [True, False]
    whisper: Any = intervention({"do": "say", "text": "Psst.", "speaker": BO, "heard_by": [NFD, INES]}, [INES, BO])
    assert whisper.heard_by == [INES]
    floor: Any = intervention({"do": "floor", "agent": NFD}, [INES, BO])
    assert floor.agent == INES
    assert person_answer({"text": "Psst.", "heard_by": [NFD]}, "utterance", [INES, BO]).get("heard_by") == [INES]


@pytest.mark.parametrize("name", ["Judge", "Ｊudge", "Jud\u200bge"])
def test_the_judge_has_a_name_of_its_own(name: str) -> None:
    assert judge_name([name, BO]) == "Judge of the debate"


@pytest.mark.parametrize("name", ["moderator", "Mo\u00adderator"])
def test_so_has_the_moderator(name: str) -> None:
    assert moderator_name([name, BO]) == "Moderator of the conversation"


def test_two_choices_that_look_the_same_are_refused() -> None:
    for choices in (["Tea", "T\u200bea"], ["Café", "Cafe\u0301"], ["Tea", "\u200b"]):
        with pytest.raises(ValueError, match=r"two or more different choices|no visible character"):
            Settings(mode="debate", answer_format="choice", choices=choices)


UNSEEN = "\u200b\u3164\u2800"


@pytest.mark.parametrize(
    ("more", "where"),
    [
        ({"topic": UNSEEN}, "topic"),
        ({"rules": [UNSEEN]}, "rules[0]"),
        ({"social_goals": {"Bo": [UNSEEN]}}, f"social_goals.{BO}[0]"),
        ({"participants": [{"name": INES, "description": UNSEEN}, *of(BO)]}, "participants[0].description"),
        ({"participants": [{"name": UNSEEN, "description": "a"}, *of(BO)]}, "participants[0].name"),
        ({"participants": [{"name": "An\x00na", "description": "a"}, *of(BO)]}, "U+0000"),
        ({"participants": [{"name": "An\u202ena", "description": "a"}, *of(BO)]}, "participants[0].name"),
    ],
)
def test_what_nobody_sees_is_empty(more: dict[str, Any], where: str) -> None:
    with pytest.raises(InputError) as caught:
        make_scenario(**{"topic": "Tea?", "participants": of(INES, BO), **more})
    assert where in str(caught.value)


@pytest.mark.parametrize("words", [UNSEEN, "\ufe0f", "\u115f"])
def test_so_are_a_persons_words(words: str) -> None:
    with pytest.raises(InputError, match="no words"):
        intervention({"do": "say", "text": words}, [INES, BO])
