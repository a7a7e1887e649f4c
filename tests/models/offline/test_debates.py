"""Openness to consensus, and whole debates: they follow bounded confidence."""

from __future__ import annotations

import json
from typing import Any

import pytest

from persimchat.models.offline import OfflineChatModel
from persimchat.models.offline.answer_form import AnswerForm
from persimchat.models.offline.grammar import filled
from persimchat.models.offline.lexicon import deck, lines, read
from persimchat.models.offline.openness import Heading, openness_to
from persimchat.models.offline.opinion import Stance, Temper, kept
from persimchat.models.offline.positions import nearest, position_in
from persimchat.models.offline.topics import analyse
from persimchat.prompts import blocks as b
from persimchat.prompts import render
from persimchat.state.emotion import EMOTIONS
from persimchat.state.memory import new_memory
from persimchat.state.persona import Persona

QUESTION = "Which city should host the fair?"
CITIES = ("Brno", "Lviv", "Porto")
CHOICE = {"format": "choice", "choices": list(CITIES)}
FREE = {"format": "free", "choices": []}
FORMS = {
    "free": (AnswerForm(), "Should we build a playground or a car park?"),
    "choice": (AnswerForm("choice", CITIES), QUESTION),
    "yesno": (AnswerForm("yesno"), "Should schools ban phones?"),
    "number": (AnswerForm("number"), "How many piano tuners are there in Chicago?"),
}


def held(mine: int, opinion: float, bound: float = 0.4, *, adversarial: bool = False) -> Stance:
    return Stance(opinion, mine, mine, None, Temper(bound, 0.25, adversarial))


def test_openness_follows_the_confidence_bound():
    same = openness_to(Heading(1, 3, 3), held(1, 0.5), 3)
    near = openness_to(Heading(1, 3, 3), held(0, 0.3), 3)
    nearish = openness_to(Heading(1, 3, 3), held(0, 0.15), 3)
    far = openness_to(Heading(2, 3, 3), held(0, 0.1), 3)
    assert same >= 8 > 7 >= near > nearish >= 4 > 3 >= far


def test_the_more_hold_it_the_more_open():
    assert openness_to(Heading(1, 3, 3), held(0, 0.3), 3) > openness_to(Heading(1, 1, 3), held(0, 0.3), 3)


def test_adversaries_are_never_open():
    for opinion, position in ((0.5, 1), (0.1, 0)):
        for group in (None, Heading(1, 3, 3)):
            assert openness_to(group, held(position, opinion, 0.0, adversarial=True), 3) == 0


def test_what_was_said_is_held_and_the_opinion_stays_as_near_as_it_was():
    assert nearest(kept(0.9, 0, 3), 3) == 0
    assert kept(0.9, 0, 3) == pytest.approx(1 / 3, abs=1e-5)
    assert kept(0.2, 0, 3) == 0.2


EVA = Persona(name="Eva Malá", description="A nurse.", characteristics={"age": "40"})
CALM = dict.fromkeys(EMOTIONS, 0)


def openness_of(said: dict[str, str], **state: Any) -> int:
    goals, seed = state.get("goals", []), state.get("seed", 0)
    mind: Any = {"name": EVA.name, "emotion": CALM | state.get("emotion", {}), "goals": goals, "plan": None}
    situation: Any = {
        "topic": QUESTION,
        "turn": 9,
        "max_messages": 60,
        "present": [EVA.name, *said],
        "rules": [],
        "relationships": [],
        "debate": CHOICE,
        "closing": False,
    }
    memories = [
        new_memory(EVA.name, i, "perception", f"{who} spoke for {what}, on the fair.", [what], 4, [0] * 6)
        for i, (who, what) in enumerate(said.items(), 3)
    ]
    prompt = render(
        "openness",
        basic_information=b.basic_information(EVA.model_copy(update={"description": state.get("who", "A nurse.")})),
        needs_and_emotions=b.needs_and_emotions(mind),
        relationships=b.Block("relationships", ()),
        memories=b.memories(memories),
        short_term_memory=b.short_term_memory(None),
        goals=b.goals(mind),
        plan=b.plan(mind),
        scene=b.scene(situation, EVA.name),
        progress=b.progress(situation, spoken=1),
        heard=b.Block("heard", ()),
    )
    return int(json.loads(OfflineChatModel(seed=seed).invoke(prompt).content)["openness"])


def test_a_group_that_holds_the_same_finds_one_open_and_a_far_one_does_not():
    # Her description says where she starts, so that the seeds differ in chance alone.
    mean = {
        city: sum(
            openness_of(dict.fromkeys(("Bob", "Cleo"), city), who="She swears by Brno.", seed=s) for s in range(8)
        )
        for city in CITIES
    }
    assert mean["Brno"] >= 8 * 8
    assert mean["Brno"] > mean["Lviv"] > mean["Porto"]
    assert mean["Porto"] <= 3 * 8


def test_an_adversary_is_at_nought_even_among_those_who_agree():
    for city in CITIES:
        assert openness_of({"Bob": city, "Cleo": city}, goals=["Never agree with anybody"]) == 0


def test_anger_closes():
    glad, cross = ({"emotion": {e: 8}} for e in ("happiness", "anger"))
    said = {"Bob": "Lviv", "Cleo": "Lviv"}
    assert sum(openness_of(said, seed=s, **glad) for s in range(8)) > sum(
        openness_of(said, seed=s, **cross) for s in range(8)
    )


def debate(
    talk: Any, people: list[Persona], form: str, seed: int, limit: int = 40, **more: Any
) -> tuple[Any, list[int]]:
    answer, question = FORMS[form]
    conversation = talk(
        people,
        question,
        limit=limit,
        seed=seed,
        plans=True,
        debate={"format": answer.kind, "choices": list(answer.choices)},
        **more,
    )
    conversation.run()
    topic = analyse(question, answer)
    last = {u["speaker"]: i for u in conversation.utterances if (i := position_in(u["text"], topic)) is not None}
    return conversation, list(last.values())


def people(*lean: str, traits: tuple[str, ...] = ("curious",), goals: tuple[str, ...] = ()) -> list[Persona]:
    names = ["Ann Miller", "Bob Novak", "Cleo Reyes"]
    return [
        Persona(
            name=name,
            description=f"A person who swears by {city}.",
            characteristics={"age": "40"},
            traits=list(traits),
            social_goals=list(goals),
        )
        for name, city in zip(names, lean, strict=False)
    ]


@pytest.mark.proof
def test_near_positions_converge(talk: Any):
    agreed = 0
    for seed in range(6):
        _, held = debate(talk, people("Brno", "Lviv", "Lviv", traits=("open-minded",)), "choice", seed)
        agreed += len(set(held)) == 1
    assert agreed >= 5


@pytest.mark.proof
@pytest.mark.parametrize(
    ("traits", "goals"), [(("stubborn",), ()), (("open-minded",), ("Never agree with the others",))]
)
def test_far_ones_do_not_where_nobody_listens_or_gives_way(talk: Any, traits: tuple[str, ...], goals: tuple[str, ...]):
    for seed in range(4):
        group = people("Brno", "Porto", traits=traits, goals=goals)
        _, held = debate(talk, group, "choice", seed)
        assert set(held) == {0, 2}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.proof
def test_people_say_where_they_stand_and_that_they_were_moved(talk: Any, shipped: list[Persona], form: str):
    answer, question = FORMS[form]
    topic = analyse(question, answer)
    stated = changes = silent = total = 0
    for seed in range(4):
        conversation, _ = debate(talk, shipped[seed : seed + 4], form, seed, limit=24)
        last: dict[str, int] = {}
        for u in conversation.utterances:
            index = position_in(u["text"], topic)
            total += 1
            if index is None:
                continue
            stated += 1
            if last.setdefault(u["speaker"], index) != index:
                changes += 1
                silent += not _tells_a_change(u["text"], topic.positions[index])
            last[u["speaker"]] = index
    assert stated / total >= 0.55
    assert silent <= max(1, changes // 3)


def _tells_a_change(text: str, mine: str) -> bool:
    """Whether an utterance has one of the phrases for coming round."""
    kinds = [deck("debate", k) for k in ("concede", "moved")] + [
        deck("debate", "child", k) for k in ("concede", "moved")
    ]
    kinds.append(tuple(p for q in read("debate")["questions"] for p in lines(q["same"])))
    pieces = [
        part
        for phrases in kinds
        for p in phrases
        for part in filled(p.removeprefix("c|").removeprefix("f|"), {"mine": mine, "name": "|"}).split("|")
        if len(part.split()) > 2
    ]
    return any(part.strip(" .,;:!") in text for part in pieces)
