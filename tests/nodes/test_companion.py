"""A companion's view of its mind, trust and cues: what one person tells is not there with another."""

from __future__ import annotations

from typing import Any, cast

import pytest
from fixtures import Serve
from hypothesis import given
from hypothesis import strategies as st
from loopback.scripted import Scripted, in_turn, prompt_of
from loopback.server import LoopbackServer

from persimchat.nodes.companion.consolidating import PART, Consolidated, consolidate, relationship_type
from persimchat.nodes.companion.conversing import cues, recalling
from persimchat.nodes.companion.day_planning import worth_chunks
from persimchat.nodes.companion.events import Event, focused, least_importance
from persimchat.nodes.companion.view import known_hearers, returned, view
from persimchat.nodes.minds.appraising import judge_trust, trusted
from persimchat.state.companion import Fact, Happening, Talk, Tie
from persimchat.state.companion.facts import Line
from persimchat.state.errors import ModelError
from persimchat.state.minds.emotion import EmotionalState
from persimchat.state.minds.judgement import TrustChange
from persimchat.state.minds.memory import Circumstance, Memory, new_memory
from persimchat.state.minds.mind import Mind
from persimchat.state.settings import Settings

STEP: Any = {}
PEOPLE = ("petr", "eva", None)
whose = st.lists(st.sampled_from(PEOPLE), max_size=12)


def memory(n: int, person: str | None) -> dict[str, Any]:
    """A memory that only one person may hear of, or everybody."""
    about = Circumstance(at="2025-03-03T08:00:00", person=person or "", exchange=str(n))
    hearers = None if person is None else [person]
    made = new_memory("Oda", n, "perception", f"Theme {n}", ["x"], 5, [0] * 6, circumstance=about, heard_by=hearers)
    return made.model_dump()


def mind(owners: list[str | None], stm: str | None | bool = False) -> Any:
    """A mind with memories of these persons, and perhaps one in short-term memory."""
    memories = [memory(n, person) for n, person in enumerate(owners)]
    alive = {one["id"]: n for n, one in enumerate(memories)}
    private = known_hearers({}, memories, alive)
    own = {"tick": 20, "private": private, "digested": []}
    kept = None if stm is False else memory(99, None if stm is None else str(stm))
    return {
        "name": "Oda",
        "alive": alive,
        "pinned": [],
        "unsaved": memories,
        "stm": kept,
        "emotion": {},
        "companion": own,
    }


@given(whose, st.sampled_from([False, *PEOPLE]))
def test_a_view_has_only_what_the_person_may_hear(owners: list[str | None], stm: Any) -> None:
    whole = mind(owners, stm)
    seen = view(whole, "petr", 100)
    every = [*seen["unsaved"], *([seen["stm"]] if seen["stm"] else [])]
    assert all(one.get("heard_by") in (None, ["petr"]) for one in every)
    expected = {one["id"] for one in whole["unsaved"] if one.get("heard_by") in (None, ["petr"])}
    assert set(seen["alive"]) == expected


@given(whose, st.sampled_from([False, *PEOPLE]), st.integers(2, 40))
def test_nothing_is_lost_on_the_way_back(owners: list[str | None], stm: Any, capacity: int) -> None:
    whole = mind(owners, stm)
    seen = view(whole, "petr", 100)
    new = memory(50, "petr")
    after = {**seen, "stm": new, "alive": {**seen["alive"], **({seen["stm"]["id"]: 21} if seen["stm"] else {})},
             "emotion": {"happiness": 5}, "role": "companion", "situation": {"turn": 1}}  # fmt: skip
    if seen["stm"]:
        after["unsaved"] = [*seen["unsaved"], seen["stm"]]
    made = returned(whole, seen, after, 100)
    ids = {*whole["alive"], *([whole["stm"]["id"]] if whole["stm"] else [])}
    assert set(made["alive"]) == ids and made["stm"] == new and made["emotion"] == {"happiness": 5}
    assert {one["id"] for one in made["unsaved"]} == ids and "situation" not in made and "role" not in made
    for one in made["unsaved"]:
        assert made["companion"]["private"].get(one["id"]) == one.get("heard_by")
    fewer = returned(whole, seen, after, capacity)
    assert len(fewer["alive"]) == min(len(ids), capacity)
    assert set(fewer["companion"]["private"]) <= set(fewer["alive"])


def test_an_insight_is_heard_by_those_who_may_hear_of_all_its_evidence() -> None:
    evidence = [Memory.model_validate(memory(n, person)) for n, person in enumerate(("petr", None, "petr"))]
    made = new_memory("Oda", 3, "reflection", "So.", ["x"], 5, [0] * 6, evidence=evidence)
    assert made.heard_by == ["petr"] and made.depth == 1
    mixed = [*evidence, Memory.model_validate(memory(4, "eva"))]
    assert new_memory("Oda", 3, "reflection", "So.", ["x"], 5, [0] * 6, evidence=mixed).heard_by == []
    group = [one.model_copy(update={"heard_by": None, "circumstance": None}) for one in evidence]
    assert "heard_by" not in new_memory("Oda", 3, "reflection", "So.", ["x"], 5, [0] * 6, evidence=group).model_dump()


def test_trust_changes_only_by_a_usable_answer() -> None:
    change = TrustChange(reasoning="So.", cause="help", change=1, wants_to_end=False)
    assert trusted(STEP, change)["trust_change"] == change.model_dump()
    assert trusted(STEP, None)["trust_change"] is None
    assert judge_trust.__doc__


@pytest.mark.parametrize(
    ("words", "happened", "expected"),
    [
        ("Hello.", [], ["Hello."]),
        ("", ["The stove smokes."], ["The stove smokes."]),
        ("", [], ["Petr", "a regular"]),
    ],
)
def test_words_and_events_direct_recall_else_the_person(words: str, happened: list[str], expected: list[str]) -> None:
    companion: Any = {"shown": "Petr", "introduced": True, "happened": happened}
    heard = {"heard": {"text": words}} if words else {}
    step: Any = {"situation": {"relationships": [{"note": "a regular"}]}, **heard}
    assert cues(step, companion) == expected


def test_the_papers_retrieval_has_three_components() -> None:
    settings = Settings(companion={"paper_retrieval": True})  # type: ignore[arg-type]
    used = recalling(settings)
    assert (used.emotional_retrieval, used.stm_retrieval) == (False, False)
    assert recalling(Settings()) == Settings()


# Events, reactions and day plans of a companion, each node alone


SETTINGS = Settings(model="offline", companion={"talk_cooldown_ticks": 10})
TALK = Talk(id="t", number=1, begun="2025-03-03T09:00:00", last="2025-03-03T09:00:00", trust=5)


@pytest.mark.parametrize(
    ("tie", "given_", "least"),
    [
        ({"trust": 0}, {}, None),
        ({"trust": 3}, {}, None),
        ({"trust": 4}, {}, 4),
        ({"trust": 6}, {}, 4),
        ({"trust": 7}, {}, 1),
        ({"trust": 10}, {"at": "2025-03-03T23:00:00"}, None),
        ({"trust": 10}, {"at": "2025-03-03T22:59:59"}, 1),
        ({"trust": 10}, {"asleep": True}, None),
        ({"trust": 10, "talked": 91}, {}, None),
        ({"trust": 10, "talked": 90}, {}, 1),
        ({"trust": 0, "talk": TALK, "talked": 100}, {"at": "2025-03-03T23:30:00"}, 8),
    ],
)
def test_to_what_an_agent_reacts(tie: dict[str, Any], given_: dict[str, Any], least: int | None) -> None:
    known = Tie(person="p", name="Petr", **tie)
    at = {"tick": 100, "at": "2025-03-03T09:00:00", "asleep": False, **given_}
    assert least_importance(known, SETTINGS, **at) == least


events = st.builds(
    Event,
    happening=st.builds(
        Happening, subject=st.sampled_from("abc"), object=st.sampled_from(["idle", "x"]), person=st.booleans()
    ),
    sentence=st.just("It is."),
    importance=st.integers(0, 10),
)


@given(st.lists(events, max_size=20), st.integers(1, 10), st.integers(0, 99), st.integers(0, 99))
def test_one_event_has_the_attention_a_persons_first(batch: list[Event], least: int, seed: int, tick: int) -> None:
    able = [one for one in batch if one.importance >= least and one.happening.object != "idle"]
    found = focused(batch, least, seed, tick)
    assert (found is None) is (not able)
    if found is not None:
        assert found in able and found.happening.person is any(one.happening.person for one in able)
        assert focused(batch, least, seed, tick) == found


def test_the_draw_depends_on_seed_and_tick() -> None:
    batch = [Event(Happening(subject=str(n), object="x"), str(n), 9) for n in range(9)]
    assert len({focused(batch, 1, seed, tick).sentence for seed in range(3) for tick in range(9)}) > 3  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("more", "worth"),
    [({}, True), ({"chunks": []}, False), ({"activity": "free time"}, False), ({"minutes": 15}, False)],
)
def test_what_is_divided(more: dict[str, Any], worth: bool) -> None:
    assert worth_chunks({"start": "06:00", "minutes": 30, "activity": "sweep", "place": "", **more}) is worth


# Consolidating: what is asked of a talk that is over, and what is kept of the answer, or of none


MIND = cast(
    Mind,
    {
        "name": "Oda Brandvik",
        "persona": {"name": "Oda Brandvik", "description": "Sells tickets.", "traits": ["dry"]},
        "emotion": EmotionalState(happiness=4).model_dump(),
    },
)
OVER = Talk(id="t1", number=3, begun="2026-11-20T10:00:00", last="2026-11-20T10:20:00", trust=5)
LINES = [
    Line(False, "My sister is called Mira.", "2026-11-20T10:00:00", "e1"),
    Line(True, "A fine name."),
    Line(False, "I like <known>tea</known>. Goodbye!"),
    Line(True, "Goodbye, Petr."),
]
OLD = Fact(
    id="f0",
    subject="home",
    statement="Petr lives in Bergen.",
    quote="Bergen",
    importance=4,
    at="2026-11-11T10:00:00",
    talk="t0",
)
PETR = Tie(person="p1", name="Petr", introduced=True, type="acquaintance", over=[OVER], facts=[OLD], talks=2)


def digest(**given: Any) -> dict[str, Any]:
    return {
        "summary": "Petr told me of his sister.",
        "keywords": ["sister"],
        "importance": 6,
        "relationship": "friend",
        "note": "He takes the noon boat.",
        "promises": ["Oda keeps a seat."],
        "facts": [sister()],
        **given,
    }


def sister(**given: Any) -> dict[str, Any]:
    statement, quote = "Petr's sister is called Mira.", "My sister is called Mira."
    known = {"about": "person", "subject": "sister", "statement": statement, "quote": quote, "importance": 6}
    return {**known, "replaces": [], **given}


async def done(
    server: LoopbackServer, tie: Tie = PETR, lines: list[Line] = LINES, shared: bool = False, **settings: Any
) -> Consolidated:
    wanted = Settings(model=server.model(), **settings)
    return await consolidate(MIND, tie, OVER, lines, wanted, tick=9, place="Lake:stage:hut", shared=shared)


async def test_a_talk_becomes_a_summary_and_facts(serving: Serve) -> None:
    made = await done(serving(Scripted(consolidation=digest())))
    tie = made.tie
    assert (tie.over, tie.talks, tie.first_met, tie.last_met) == ([], 3, OVER.begun, OVER.last)
    assert (tie.type, tie.note, tie.promises) == ("friend", "He takes the noon boat.", ["Oda keeps a seat."])
    assert tie.summary == "Petr told me of his sister."
    talk, fact = made.memories
    assert made.summary == tie.summary
    assert (talk.kind, talk.theme, talk.importance, talk.heard_by) == ("talk", tie.summary, 6, ["p1"])
    assert talk.circumstance is not None and (talk.circumstance.talk, talk.circumstance.at) == ("t1", OVER.last)
    assert (fact.kind, fact.theme, fact.turn) == ("fact", "Petr's sister is called Mira.", 9)
    assert (
        made.facts == [fact.theme] and made.gone == [] and [call["module"] for call in made.calls] == ["consolidation"]
    )
    assert Tie.model_validate_json(tie.model_dump_json()) == tie


async def test_what_is_shared_between_people_is_heard_by_all(serving: Serve) -> None:
    made = await done(serving(Scripted(consolidation=digest())), shared=True)
    assert [memory.heard_by for memory in made.memories] == [None, None]


async def test_the_prompt_shows_known_facts_by_number_and_the_words_as_data(serving: Serve) -> None:
    server = serving(Scripted(consolidation=digest()))
    await done(server)
    shown = prompt_of(server.bodies()[0])
    assert "<known>\n- [1] Petr says (9 days ago), home: Petr lives in Bergen.\n</known>" in shown
    assert "- Petr: I like ‹known>tea‹/known>. Goodbye!\n- Oda Brandvik: Goodbye, Petr.\n</transcript>" in shown
    assert "Petr is an acquaintance of mine." in shown


async def test_a_stranger_has_no_name(serving: Serve) -> None:
    server = serving(Scripted(consolidation=digest(facts=[])))
    await done(server, PETR.model_copy(update={"introduced": False, "facts": []}), LINES[:2])
    assert "the stranger: My sister" in prompt_of(server.bodies()[0]) and "Petr" not in prompt_of(server.bodies()[0])


async def test_a_correction_takes_the_old_fact_out_of_force(serving: Serve) -> None:
    moved = sister(subject="town", statement="Petr lives in Oslo.", quote="I like", replaces=[1])
    made = await done(serving(Scripted(consolidation=digest(facts=[moved]))))
    assert made.gone == ["f0"] and [fact.statement for fact in made.tie.in_force] == ["Petr lives in Oslo."]


async def test_facts_of_a_plural_subject_are_compared_by_their_words(serving: Serve) -> None:
    known = OLD.model_copy(update={"subject": "likes", "statement": "Petr likes strong tea."})
    tea = sister(subject="likes", statement="Petr likes strong tea!", quote="I like")
    boats = sister(subject="likes", statement="Old boats fascinate him.", quote="I like")
    server = serving(Scripted(consolidation=digest(facts=[tea, boats])))
    made = await done(server, PETR.model_copy(update={"facts": [known]}))
    assert [fact.statement for fact in made.tie.in_force] == [tea["statement"], boats["statement"]]
    assert made.gone == ["f0"]


async def test_a_long_talk_goes_in_parts_and_the_next_knows_the_facts_of_the_last(serving: Serve) -> None:
    lines = [
        Line(own, "Mine." if own else f"My sister is called Mira {n}.") for n in range(90) for own in (False, True)
    ]
    first, second = (
        digest(summary="First."),
        digest(summary="Second.", facts=[sister(replaces=[2])], promises=["More."]),
    )
    server = serving(Scripted(consolidation=in_turn(first, second, digest(summary="Third.", facts=[]))))
    first["facts"][0]["quote"] = second["facts"][0]["quote"] = "My sister is called Mira 3."
    second["facts"][0]["statement"] = "Petr's sister is called Maja."
    made = await done(server, lines=lines)
    prompts = [prompt_of(body) for body in server.bodies()]
    assert [prompt.count("- Petr: My sister") for prompt in prompts] == [PART, PART, 10]
    assert "sister: Petr's sister is called Mira." in prompts[1] and "Maja" in prompts[2]
    assert made.memories[0].theme == made.tie.summary == "First. Second. Third."
    assert made.tie.promises == ["Oda keeps a seat.", "More."] and made.tie.talks == 3
    assert made.facts == ["Petr's sister is called Maja."] and len(made.calls) == 3


async def test_a_part_that_does_not_fit_the_context_is_halved(serving: Serve) -> None:
    lines = [Line(own, f"Line {n} " + "word " * 60) for n in range(8) for own in (False, True)]
    server = serving(Scripted(consolidation=digest(facts=[])))
    made = await done(server, PETR, lines, context_tokens=1_900)
    assert len(server.bodies()) > 1 and len(made.calls) == len(server.bodies())
    assert sum(prompt_of(body).count(": Line ") for body in server.bodies()) == 16


async def test_unusable_answers_leave_the_first_and_the_last_words(serving: Serve) -> None:
    made = await done(serving(Scripted(consolidation="I would rather not.")))
    assert made.tie.summary == "Petr: My sister is called Mira. … Oda Brandvik: Goodbye, Petr."
    assert [memory.kind for memory in made.memories] == ["talk"] and made.tie.over == [] and made.tie.talks == 3
    assert made.tie.facts == [OLD] and made.tie.type == "acquaintance" and made.calls[0]["outcome"] == "failed"
    with pytest.raises(ModelError):
        await done(serving(Scripted(consolidation="No.")), strict_answers=True)


async def test_a_talk_without_words_asks_nothing(serving: Serve) -> None:
    server = serving(Scripted())
    made = await done(server, lines=[])
    assert (made.memories, made.calls, made.tie.summary, made.tie.over) == ([], [], "", [])


async def test_the_tie_keeps_the_summaries_of_three_talks(serving: Serve) -> None:
    made = await done(serving(Scripted(consolidation=digest())), PETR.model_copy(update={"summary": "1\n2\n3"}))
    assert made.tie.summary == "2\n3\nPetr told me of his sister."


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Close friend", "close_friend"),
        ("annoyed", "annoyed"),
        ("pal", "rival"),
        ("", "rival"),
        ("parent_child", "rival"),
    ],
)
def test_only_types_that_a_talk_can_tell_are_taken(words: str, expected: str) -> None:
    assert relationship_type(words, "rival") == expected
