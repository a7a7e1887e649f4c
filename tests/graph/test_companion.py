"""The graph of a companion: talks, threads, what is counted, and the last exchange taken back."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
from companion_talks import FERRY, Scripted, Talking
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from persimchat.graph.companion.calls import calls
from persimchat.graph.companion.companion import companion_graph
from persimchat.graph.companion.records import Records
from persimchat.memory.recollection import let_go, memories_of
from persimchat.models.offline import OfflineChatModel
from persimchat.state.errors import InputError, ModelError
from persimchat.state.minds.mind import Mind
from persimchat.state.settings import Settings


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


@pytest.mark.proof
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


@pytest.mark.proof
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


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the offline model is asked, by task."""
    found: Counter[str] = Counter()
    own = OfflineChatModel.answer

    def counted(self: OfflineChatModel, messages: list[Any]) -> str:
        source = next(m.source for m in messages if getattr(m, "source", None) is not None)
        found[source.values["module_name"] if source.template == "parts" else source.template] += 1
        return own(self, messages)

    monkeypatch.setattr(OfflineChatModel, "answer", counted)
    return found


@pytest.mark.proof
@pytest.mark.parametrize("cognition", ["full", "compact", "lean"])
async def test_talks_cost_what_is_foreseen(asked: Counter[str], cognition: str) -> None:
    world, settings = Talking(cognition=cognition), Settings(cognition=cognition)
    await world.say("My sister is called Mira.")
    assert asked == calls(settings, exchanges=1)
    await world.say("Goodbye!")
    assert asked == calls(settings, exchanges=2, ended=[2])
    for n in range(5):
        await world.say(f"I have {n + 2} dogs.")
    await world.come("end")
    await world.say("Hello.")
    for n in range(5):
        await world.say(f"I have {n + 2} cats.")
    await world.say("Goodbye!")
    assert asked == calls(settings, exchanges=14, ended=[2, 5, 7])


async def test_events_and_a_day_cost_what_is_foreseen(asked: Counter[str]) -> None:
    agent = FERRY.agents[0].model_copy(update={"lifestyle": "Up at 5, to bed at 22."})
    place = FERRY.model_copy(update={"agents": [agent]})
    world, settings = Talking(place), Settings(cognition="lean")
    stove = {"subject": "Lake:Stage:hut:stove", "object": "on fire"}
    found = await world.come("events", events=[stove])
    speaks = int(found["acted"] is not None)
    assert asked == calls(settings, batches=1, reactions=1, unasked=speaks)
    await world.come("events", events=[stove])
    assert asked == calls(settings, batches=1, reactions=1, unasked=speaks), "it is not new"
    asked.clear()
    await world.come("time")
    assert asked == calls(settings, days=1, entries=1)


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


class Served:
    """The graph as LangGraph's server runs it: a thread and a human message, nothing else."""

    def __init__(self, **settings: Any) -> None:
        self.store = InMemoryStore()
        self.graph = companion_graph(InMemorySaver(), self.store)
        self.settings = Settings(**{"model": "offline", "cognition": "lean", "ltm_capacity": 2000, **settings})

    async def say(self, text: str, thread: str = "a", **message: Any) -> Any:
        return await self.graph.ainvoke(
            {"messages": [HumanMessage(text, **message)]},
            {"configurable": {"thread_id": thread}},
            context=self.settings,
        )

    async def tie(self) -> Any:
        records = Records("companion", self.store)
        place = await records.place()
        assert place is not None
        return (await records.ties(place.agents[0].name))[0]


async def test_the_first_shipped_persona_talks_with_a_guest() -> None:
    served = Served()
    found = await served.say("Good morning!")
    assert found["answer"]["utterance"] == found["messages"][-1].text
    tie = await served.tie()
    assert (tie.name, tie.talk.exchanges) == ("guest", 1)


async def test_a_talk_goes_on_in_another_thread_after_a_goodbye() -> None:
    served = Served()
    await served.say("My sister is called Mira.", "a")
    await served.say("Goodbye!", "a")
    found = await served.say("What is my sister called?", "b")
    assert "Mira" in found["messages"][-1].text and len(found["messages"]) == 2


async def test_words_of_a_thread_without_a_goodbye_are_kept_by_its_next_run() -> None:
    served = Served()
    await served.say("My sister is called Mira.", "a")
    await served.say("Hello.", "b")
    tie = await served.tie()
    assert [talk.exchanges for talk in tie.over] == [1] and tie.talk is not None
    await served.say("Goodbye!", "b")
    tie = await served.tie()
    assert (len(tie.over), tie.talks, tie.in_force) == (1, 1, [])
    await served.say("Hello again.", "a")
    tie = await served.tie()
    assert (tie.over, tie.talks) == ([], 2)
    assert [fact.statement for fact in tie.in_force] == ["Guest's sister is called Mira."]


async def test_a_message_that_comes_twice_is_answered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model, served = Scripted().install(monkeypatch), Served()
    first = await served.say("Hello.", id="m1")
    again = await served.say("Hello.", id="m1")
    assert [message.id for message in again["messages"]] == [message.id for message in first["messages"]]
    assert len(model.prompts("companion")) == 1
    more = await served.say("And now?", id="m2")
    assert len(more["messages"]) == 4


async def test_exchanges_without_a_thread_of_their_own_are_digested_each(monkeypatch: pytest.MonkeyPatch) -> None:
    model, served = Scripted().install(monkeypatch), Served()
    graph = companion_graph(store=served.store)
    for words in ("Hello.", "And now?"):
        await graph.ainvoke({"messages": [HumanMessage(words, id=words)]}, context=served.settings)
    assert len(model.prompts("reaction")) == 2


async def test_an_ephemeral_memory_store_may_be_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    model, served = Scripted().install(monkeypatch), Served()
    await served.say("My sister is called Mira.")
    await served.say("She is a captain.")
    await asyncio.to_thread(let_go, "ephemeral", "companion")
    await served.say("What is my sister called?")
    assert "They told something." in model.prompts("companion")[-1]


async def test_settings_of_conversations_are_refused() -> None:
    with pytest.raises(InputError, match="cognition does not go with a companion"):
        await Served(cognition="fixed").say("Hello.")
