"""A companion's prompts hold nothing that this person may not hear, that no longer holds, or that is not known yet."""

from __future__ import annotations

from typing import Any

import pytest
from companion_talks import FERRY, Scripted, Talking

from persimchat.state.place import Place

SECRET = "zyxwq"


def digest(*facts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"summary": "We talked.", "keywords": ["talk"], "importance": 5, "relationship": "friend", "note": "",
            "promises": [], "facts": [*facts], **more}  # fmt: skip


def fact(quote: str, subject: str, *replaces: int) -> dict[str, Any]:
    return {"about": "person", "subject": subject, "statement": f"Petr says that {quote}", "quote": quote,
            "importance": 8, "replaces": [*replaces]}  # fmt: skip


async def test_an_insight_from_a_talk_is_heard_by_this_person_alone_whatever_it_rests_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def insights(values: Any) -> Any:
        (public,) = [item["number"] for item in values["memories"].items if item["kind"] == "event"]
        one = {"theme": f"They hide {SECRET}.", "keywords": [SECRET], "evidence": [public], "importance": 9}
        return {"insights": [{**one, "theme": f"They hide {SECRET}, {n}."} for n in range(5)]}

    def percept(values: Any) -> Any:
        return {"theme": "The boat sank in May, they said.", "keywords": ["boat"], "importance": 5}

    model, world = (
        Scripted(reflection=insights, perception=percept).install(monkeypatch),
        Talking(companion={"reflection_trigger": 1}),
    )
    await world.come("events", events=[{"subject": "boat", "predicate": "is", "object": "sinking", "importance": 9}])
    await world.say("The boat sank in May.")
    await world.come("end")
    mind = await world.mind()
    assert model.prompts("reflection")
    await world.say("What about the boat that sank in May? What do they hide?", "Eva")
    assert SECRET not in model.prompts("companion")[-1]
    assert not [one for one in mind["unsaved"] if SECRET in str(one) and one["heard_by"] is None]
    await world.say("What do they hide?")
    assert SECRET in model.prompts("companion")[-1]


async def test_note_promises_and_insights_with_what_was_so_once_go_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def insights(_: Any) -> Any:
        one = {"keywords": ["sister"], "evidence": [1], "importance": 9}
        name = "Mira" if digests else "nobody"
        return {"insights": [{**one, "theme": f"Family counts for the brother of {name}, {n}."} for n in range(5)]}

    first = digest(fact("My sister is called Mira", "sister"), note="Brother of Mira.", promises=["I greet Mira."])
    then = digest(fact("Her name is Mara", "sister", 1))
    digests = [first, then]
    model = Scripted(consolidation=lambda _: digests.pop(0), reflection=insights).install(monkeypatch)
    world = Talking(companion={"reflection_trigger": 1})
    for words in ("My sister is called Mira", "Her name is Mara"):
        await world.say(words)
        await world.come("end")
    tie = await world.tie()
    assert [one.statement for one in tie.in_force] == ["Petr says that Her name is Mara"]
    model.asked.clear()
    await world.say("What counts for my family, and what is my sister called?", at="2025-03-04T12:00:00")
    told = model.prompts("companion")[-1]
    for block in ("relationships", "facts", "memories"):
        assert "Mira" not in told.partition(f"<{block}>")[2].partition(f"</{block}>")[0], block


@pytest.mark.parametrize(
    ("name", "words", "introduced"),
    [
        ("李雷", "你好，我是李雷。", True),
        ("李雷", "你好。", False),
        ("The Boss", "Where does the boat go?", False),
        ("The Boss", "They call me the boss.", True),
        ("Ana O'Hara", "I'm Ana.", True),
        ("Ana O'Hara", "An anaconda!", False),
    ],
)
async def test_a_stranger_is_introduced_by_their_name(
    monkeypatch: pytest.MonkeyPatch, name: str, words: str, introduced: bool
) -> None:
    Scripted().install(monkeypatch)
    world = Talking()
    await world.say(words, name, introduced=False)
    assert (await world.tie(name)).introduced is introduced


async def test_what_a_place_tells_of_a_stranger_does_not_name_them(monkeypatch: pytest.MonkeyPatch) -> None:
    note = {"type": "acquaintance", "note": "Petr Novak takes the noon boat; petr is late."}
    known = {"name": "Petr Novak", "introduced": False, "relationship": note}
    place = Place.model_validate({**FERRY.model_dump(mode="json"), "people": [known]})
    model, world = Scripted().install(monkeypatch), Talking(place)
    await world.say("Good morning.", "Petr Novak", introduced=False)
    await world.come("events", "Petr Novak", events=[{"subject": "Petr Novak", "predicate": "is", "object": "wet"}])
    assert not [task for task, text in model.asked if "petr" in text.casefold()]
    await world.come("end", "Petr Novak")
    assert model.prompts("consolidation") and "Petr" not in model.prompts("consolidation")[0]
    await world.say("I am Petr.", "Petr Novak", introduced=False)
    assert "Petr Novak" in model.prompts("companion")[-1]
