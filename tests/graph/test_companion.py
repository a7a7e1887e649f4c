"""A companion's graph: one talk, several persons, leave-taking, taking back, failing models."""

from __future__ import annotations

from typing import Any

import pytest
from companion_talks import Scripted, Talking
from langchain_core.messages import HumanMessage

from persimchat.state.errors import InputError, ModelError


@pytest.mark.parametrize(("cognition", "calls"), [("lean", 2), ("compact", 3), ("full", 4)])
async def test_an_exchange_costs_one_request_for_the_words_and_one_two_or_three_beside(
    monkeypatch: pytest.MonkeyPatch, cognition: str, calls: int
) -> None:
    model, world = Scripted().install(monkeypatch), Talking(cognition=cognition)
    answer = await world.say("My sister is called Mira.")
    assert len(model.asked) == calls
    assert answer["utterance"] == "Well, that is number 1."
    assert (answer["emotion"], answer["trust"], answer["end"], answer["appraised"]) == ("happy", 6, False, True)
    mind = await world.mind()
    assert mind["companion"]["digested"] == [answer["id"]]
    assert mind["stm"] is not None and mind["stm"]["circumstance"]["quote"] == "My sister is called Mira."


async def test_trust_rises_by_three_in_a_talk_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    Scripted().install(monkeypatch)
    world = Talking()
    trust = [(await world.say(f"Words number {n}."))["trust"] for n in range(5)]
    assert trust == [6, 7, 8, 8, 8]


async def test_a_goodbye_ends_the_talk_and_what_was_said_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    fact = {"about": "person", "subject": "sister", "statement": "Petr's sister is called Mira.",
            "quote": "My sister is called Mira", "importance": 7, "replaces": []}  # fmt: skip

    def kept(values: Any) -> Any:
        return {"summary": "Petr told of Mira.", "keywords": ["Mira"], "importance": 5, "relationship": "friend",
                "note": "", "promises": [], "facts": [fact]}  # fmt: skip

    model, world = Scripted(consolidation=kept).install(monkeypatch), Talking()
    await world.say("My sister is called Mira.")
    answer = await world.say("Goodbye!")
    assert answer["end"]
    tie = await world.tie()
    assert (tie.talk, tie.over, tie.talks, tie.type) == (None, [], 1, "friend")
    assert [known.statement for known in tie.in_force] == ["Petr's sister is called Mira."]
    await world.say("Hello again.")
    words = model.prompts("companion")[-1]
    assert "Petr says" in words and "Petr's sister is called Mira." in words and "Petr told of Mira." in words
    assert (await world.tie()).talk is not None


async def test_what_one_tells_is_in_no_prompt_with_another(monkeypatch: pytest.MonkeyPatch) -> None:
    def percept(values: Any) -> Any:
        return {"theme": "A secret about zyxwq.", "keywords": ["zyxwq"], "importance": 9}

    model, world = Scripted(perception=percept).install(monkeypatch), Talking(cognition="full")
    await world.say("The secret word is zyxwq.", "Petr")
    await world.say("Goodbye!", "Petr")
    before = len(model.asked)
    for words in ("Hello.", "What is the secret word?", "Goodbye!"):
        model.replaced["perception"] = lambda _: {"theme": "They greeted.", "keywords": ["hello"], "importance": 2}
        await world.say(words, "Eva")
    assert not [text for _, text in model.asked[before:] if "zyxwq" in text or "Petr" in text]
    await world.say("What was the word?", "Petr")
    assert "zyxwq" in model.prompts("companion")[-1]


async def test_a_place_may_share_what_people_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    def percept(values: Any) -> Any:
        return {"theme": "The word is zyxwq.", "keywords": ["zyxwq"], "importance": 9}

    shared = Talking().place.model_copy(update={"share_between_people": True})
    model, world = Scripted(perception=percept).install(monkeypatch), Talking(shared)
    await world.say("The word is zyxwq.", "Petr")
    await world.say("Something else.", "Petr")
    await world.say("What is the word?", "Eva")
    assert "zyxwq" in model.prompts("companion")[-1]


async def test_a_stranger_has_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    model, world = Scripted().install(monkeypatch), Talking()
    await world.say("Good morning.", introduced=False)
    assert "Petr" not in model.prompts("companion")[0] and "the stranger" in model.prompts("companion")[0]
    await world.say("I am Petr, by the way.", introduced=False)
    assert "Petr" in model.prompts("companion")[1] and "never met" not in model.prompts("companion")[1]


async def test_withheld_facts_are_in_no_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    model, world = Scripted().install(monkeypatch), Talking()
    for n in range(4):
        await world.say(f"Words number {n}.")
    seen = ["applied for a job" in text for text in model.prompts("companion")]
    assert seen == [False, False, True, True]  # trust before: 5, 6, 7, 8


async def test_the_last_exchange_can_be_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    Scripted().install(monkeypatch)
    world = Talking()
    await world.say("First.")
    tie, mind = await world.tie(), await world.mind()
    await world.say("Second.")
    state = await world.come("retract")
    assert [str(message.text) for message in state["messages"]] == ["First.", "Well, that is number 1."]
    after = await world.mind()
    assert (await world.tie()).trust == tie.trust
    assert (after["emotion"], after["stm"]) == (mind["emotion"], mind["stm"])
    assert after["alive"].keys() == mind["alive"].keys()
    await world.come("retract")  # only the last one: nothing more happens
    assert len((await world.come("time"))["messages"]) == 2


async def test_the_same_exchange_is_answered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model, world = Scripted().install(monkeypatch), Talking()
    await world.say("Hello.", id="x1")
    await world.come("message", text="Hello.", id="x1")
    assert len(model.prompts("companion")) == 1


async def test_words_without_an_answer_stand_in_the_next_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: Any) -> Any:
        raise ModelError("broken", model="offline")

    model, world = Scripted(companion=fails).install(monkeypatch), Talking()
    with pytest.raises(ModelError):
        await world.say("Is anybody there?")
    model.replaced.clear()
    answer = await world.say("Hello?")
    assert "Is anybody there?" in model.prompts("companion")[-1] and answer["appraised"]


async def test_a_failed_appraisal_changes_nothing_and_is_tried_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: Any) -> Any:
        raise ModelError("broken", model="offline")

    model, world = Scripted(perception=fails).install(monkeypatch), Talking()
    first = await world.say("Hello.")
    assert (first["trust"], first["appraised"], first["tried"]) == (5, False, 1)
    found = await world.come("time")
    assert (found["digested"][0]["tried"], found["digested"][0]["appraised"]) == (2, False)
    model.replaced.clear()
    assert (await world.say("Again."))["trust"] == 6


async def test_bad_input_is_refused_and_nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    model, world = Scripted().install(monkeypatch), Talking()
    for bad in ({"text": "  \x07 "}, {"text": "x" * 8001}, {"text": "Hello.", "at": "yesterday"}):
        with pytest.raises(InputError):
            await world.come("message", **bad)
    with pytest.raises(InputError):
        await world.say("Hello.", "<>")
    assert not model.asked
    await world.say("Hello.")
    assert len((await world.come("time"))["messages"]) == 2


async def test_a_plain_human_message_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    Scripted().install(monkeypatch)
    world = Talking()
    thread = {"configurable": {"thread_id": "t"}}
    for number in (1, 2):
        found = await world.graph.ainvoke(
            {"messages": [HumanMessage("Hello.")]}, thread, context=world.settings, durability="sync"
        )
        assert [message.type for message in found["messages"]] == ["human", "ai"] * number
    assert found["answer"]["appraised"]


async def test_a_hostile_person_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    def hostile(_: Any) -> Any:
        return {"reasoning": "So.", "cause": "insult", "change": -3, "wants_to_end": False}

    Scripted(trust=hostile).install(monkeypatch)
    world = Talking()
    said = [await world.say("You fool!") for _ in range(3)]
    assert [(one["trust"], one["end"]) for one in said] == [(2, False), (0, False), (0, True)]


async def test_a_long_silence_ends_a_talk(monkeypatch: pytest.MonkeyPatch) -> None:
    Scripted().install(monkeypatch)
    world = Talking()
    await world.say("Hello.")
    await world.say("Hello.", at="2025-03-03T12:00:00")
    tie = await world.tie()
    assert tie.talks == 1 and tie.talk is not None and tie.talk.number == 2


async def test_half_the_window_goes_at_once_so_that_prompts_begin_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    model, world = Scripted().install(monkeypatch), Talking(companion={"window": 8})
    for n in range(12):
        await world.say(f"Words number {n}.")
    begins = [text[: text.index("<now>")] for text in model.prompts("companion")]
    firsts = [text.split("<last_utterances>\n- ")[1].splitlines()[0] for text in begins]
    assert len(set(firsts)) == 5 and firsts[:4] == [firsts[0]] * 4


async def test_an_answer_that_is_asked_for_again_begins_no_second_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing_at_first(_: Any) -> Any:
        return "" if len(model.prompts("companion")) == 1 else "Well."

    model = Scripted(companion=nothing_at_first).install(monkeypatch)
    answer = await Talking().say("Hello.")
    assert (answer["utterance"], answer["appraised"]) == ("Well.", True)
    assert [task for task, _ in model.asked].count("reaction") == 1
