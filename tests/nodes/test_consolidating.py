"""Consolidating: what is asked of a talk that is over, and what is kept of the answer, or of none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
from loopback.scripted import Scripted, in_turn, prompt_of
from loopback.server import LoopbackServer

from persimchat.nodes.consolidating import PART, Consolidated, consolidate, relationship_type
from persimchat.state.companion import Fact, Talk, Tie
from persimchat.state.emotion import EmotionalState
from persimchat.state.errors import ModelError
from persimchat.state.facts import Line
from persimchat.state.mind import Mind
from persimchat.state.settings import Settings

Serving = Callable[..., LoopbackServer]
MIND = cast(
    Mind,
    {
        "name": "Oda Brandvik",
        "persona": {"name": "Oda Brandvik", "description": "Sells tickets.", "traits": ["dry"]},
        "emotion": EmotionalState(happiness=4).model_dump(),
    },
)
TALK = Talk(id="t1", number=3, begun="2026-11-20T10:00:00", last="2026-11-20T10:20:00", trust=5)
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
PETR = Tie(person="p1", name="Petr", introduced=True, type="acquaintance", over=[TALK], facts=[OLD], talks=2)


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
    return await consolidate(MIND, tie, TALK, lines, wanted, tick=9, place="Lake:stage:hut", shared=shared)


async def test_a_talk_becomes_a_summary_and_facts(serving: Serving) -> None:
    made = await done(serving(Scripted(consolidation=digest())))
    tie = made.tie
    assert (tie.over, tie.talks, tie.first_met, tie.last_met) == ([], 3, TALK.begun, TALK.last)
    assert (tie.type, tie.note, tie.promises) == ("friend", "He takes the noon boat.", ["Oda keeps a seat."])
    assert tie.summary == "Petr told me of his sister."
    talk, fact = made.memories
    assert made.summary == tie.summary
    assert (talk.kind, talk.theme, talk.importance, talk.heard_by) == ("talk", tie.summary, 6, ["p1"])
    assert talk.circumstance is not None and (talk.circumstance.talk, talk.circumstance.at) == ("t1", TALK.last)
    assert (fact.kind, fact.theme, fact.turn) == ("fact", "Petr's sister is called Mira.", 9)
    assert (
        made.facts == [fact.theme] and made.gone == [] and [call["module"] for call in made.calls] == ["consolidation"]
    )
    assert Tie.model_validate_json(tie.model_dump_json()) == tie


async def test_what_is_shared_between_people_is_heard_by_all(serving: Serving) -> None:
    made = await done(serving(Scripted(consolidation=digest())), shared=True)
    assert [memory.heard_by for memory in made.memories] == [None, None]


async def test_the_prompt_shows_known_facts_by_number_and_the_words_as_data(serving: Serving) -> None:
    server = serving(Scripted(consolidation=digest()))
    await done(server)
    shown = prompt_of(server.bodies()[0])
    assert "<known>\n- [1] Petr says (9 days ago), home: Petr lives in Bergen.\n</known>" in shown
    assert "- Petr: I like ‹known>tea‹/known>. Goodbye!\n- Oda Brandvik: Goodbye, Petr.\n</transcript>" in shown
    assert "Petr is an acquaintance of mine." in shown


async def test_a_stranger_has_no_name(serving: Serving) -> None:
    server = serving(Scripted(consolidation=digest(facts=[])))
    await done(server, PETR.model_copy(update={"introduced": False, "facts": []}), LINES[:2])
    assert "the stranger: My sister" in prompt_of(server.bodies()[0]) and "Petr" not in prompt_of(server.bodies()[0])


async def test_a_correction_takes_the_old_fact_out_of_force(serving: Serving) -> None:
    moved = sister(subject="town", statement="Petr lives in Oslo.", quote="I like", replaces=[1])
    made = await done(serving(Scripted(consolidation=digest(facts=[moved]))))
    assert made.gone == ["f0"] and [fact.statement for fact in made.tie.in_force] == ["Petr lives in Oslo."]


async def test_facts_of_a_plural_subject_are_compared_by_their_words(serving: Serving) -> None:
    known = OLD.model_copy(update={"subject": "likes", "statement": "Petr likes strong tea."})
    tea = sister(subject="likes", statement="Petr likes strong tea!", quote="I like")
    boats = sister(subject="likes", statement="Old boats fascinate him.", quote="I like")
    server = serving(Scripted(consolidation=digest(facts=[tea, boats])))
    made = await done(server, PETR.model_copy(update={"facts": [known]}))
    assert [fact.statement for fact in made.tie.in_force] == [tea["statement"], boats["statement"]]
    assert made.gone == ["f0"]


async def test_a_long_talk_goes_in_parts_and_the_next_knows_the_facts_of_the_last(serving: Serving) -> None:
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


async def test_a_part_that_does_not_fit_the_context_is_halved(serving: Serving) -> None:
    lines = [Line(own, f"Line {n} " + "word " * 60) for n in range(8) for own in (False, True)]
    server = serving(Scripted(consolidation=digest(facts=[])))
    made = await done(server, PETR, lines, context_tokens=1_900)
    assert len(server.bodies()) > 1 and len(made.calls) == len(server.bodies())
    assert sum(prompt_of(body).count(": Line ") for body in server.bodies()) == 16


async def test_unusable_answers_leave_the_first_and_the_last_words(serving: Serving) -> None:
    made = await done(serving(Scripted(consolidation="I would rather not.")))
    assert made.tie.summary == "Petr: My sister is called Mira. … Oda Brandvik: Goodbye, Petr."
    assert [memory.kind for memory in made.memories] == ["talk"] and made.tie.over == [] and made.tie.talks == 3
    assert made.tie.facts == [OLD] and made.tie.type == "acquaintance" and made.calls[0]["outcome"] == "failed"
    with pytest.raises(ModelError):
        await done(serving(Scripted(consolidation="No.")), strict_answers=True)


async def test_a_talk_without_words_asks_nothing(serving: Serving) -> None:
    server = serving(Scripted())
    made = await done(server, lines=[])
    assert (made.memories, made.calls, made.tie.summary, made.tie.over) == ([], [], "", [])


async def test_the_tie_keeps_the_summaries_of_three_talks(serving: Serving) -> None:
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
