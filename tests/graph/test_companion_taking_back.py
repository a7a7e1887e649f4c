"""Taking the last exchange of a companion back: nothing else goes with it, and nothing of it stays."""

from __future__ import annotations

from typing import Any

import pytest
from companion_talks import Scripted, Talking

from persimchat.memory.recollection import memories_of
from persimchat.state.mind import Mind


def listening(**replaced: Any) -> Scripted:
    """Percepts are the words heard; every talk brings one fact, the person's first words."""

    def percept(values: Any) -> Any:
        (heard,) = values["heard"].items
        return {"theme": f"They said: {heard['text']}", "keywords": ["words"], "importance": 4}

    def kept(values: Any) -> Any:
        quote = next(item["text"] for item in values["transcript"].items if item["speaker"] == values["person"])
        fact = {"about": "person", "subject": quote.split()[0], "statement": f"It is so: {quote}", "quote": quote,
                "importance": 5, "replaces": []}  # fmt: skip
        return {"summary": f"Of {quote}", "keywords": ["talk"], "importance": 5, "relationship": "friend",
                "note": "", "promises": [], "facts": [fact]}  # fmt: skip

    return Scripted(**{"perception": percept, "consolidation": kept, **replaced})


async def themes(world: Talking, mind: Mind) -> list[str]:
    """The themes of what was said, as the mind remembers it, in order of arrival."""
    stm = mind.get("stm")
    carried = [*mind["unsaved"], *([stm] if stm else [])]
    ids = [*mind["alive"], *([stm["id"]] if stm else [])]
    found = await memories_of(world.settings, "lake", mind["name"], ids, carried)
    return [memory.theme.removeprefix("They said: ") for memory in found if memory.kind == "perception"]


async def test_others_have_talked_in_the_meantime(monkeypatch: pytest.MonkeyPatch) -> None:
    listening().install(monkeypatch)
    world = Talking()
    for words, person in (("P1.", "Petr"), ("P2.", "Petr"), ("E1.", "Eva")):
        await world.say(words, person)
    await world.come("retract")
    assert await themes(world, await world.mind()) == ["P1.", "E1."]


async def test_what_another_has_said_before_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    listening().install(monkeypatch)
    world = Talking()
    for words, person in (("P1.", "Petr"), ("E1.", "Eva"), ("A1.", "Ana")):
        await world.say(words, person)
    await world.come("retract", "Eva")
    assert await themes(world, await world.mind()) == ["P1.", "A1."]
    await world.come("retract", "Ana")
    assert await themes(world, await world.mind()) == ["P1."]


async def test_a_talk_that_was_consolidated_behind_the_answer_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    model = listening().install(monkeypatch)
    world = Talking()
    await world.say("Fish is what I like.")
    await world.say("Rain is what I hear.", at="2025-03-03T12:00:00")  # after a long silence: another talk
    before = await world.tie()
    assert (before.talks, len(before.facts), before.trust) == (1, 1, 7)
    await world.come("retract", at="2025-03-03T12:01:00")
    tie = await world.tie()
    assert (tie.talks, len(tie.facts), tie.trust, tie.over) == (1, 1, 6, [])
    await world.say("Rain is what I hear.", at="2025-03-03T12:02:00")
    await world.come("end", at="2025-03-03T12:03:00")
    tie = await world.tie()
    assert (tie.talks, [fact.quote for fact in tie.facts]) == (2, ["Fish is what I like.", "Rain is what I hear."])
    assert len(model.prompts("consolidation")) == 2


async def test_an_exchange_digested_by_a_stopped_run_is_not_another(monkeypatch: pytest.MonkeyPatch) -> None:
    listening().install(monkeypatch)
    world = Talking()
    await world.say("One.")
    from persimchat.graph.companion.records import Records

    keep = Records.keep

    async def stopped(self: Records, *given: Any, **kept: Any) -> None:
        await keep(self, *given, **kept)
        if kept.get("mind") is not None:
            raise RuntimeError("stopped behind the write")

    monkeypatch.setattr(Records, "keep", stopped)
    with pytest.raises(RuntimeError):
        await world.say("Two.")
    monkeypatch.setattr(Records, "keep", keep)
    found = await world.come("time")
    assert [one["said"] for one in found["digested"]] == ["Two."]
    await world.come("retract")
    state = await world.come("time")
    assert [str(message.text) for message in state["messages"] if message.type == "human"] == ["One.", "Two."]
    assert await themes(world, await world.mind()) == ["One.", "Two."]
