"""Judging tasks: valid for every schema whatever the input, and following from words and state."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loopback.answering import EVALUATED
from loopback.answering import SCHEMAS as NAMED
from offline_prompts import CALM, blocks_of, judged, situation, utterance

from persimchat.models.offline import OfflineChatModel
from persimchat.models.offline.minds import emotion as feeling
from persimchat.models.offline.prompt import Prompt, Relation, Said
from persimchat.nodes.onlookers import selection_schema
from persimchat.prompts import answer_blocks, render
from persimchat.prompts import blocks as b
from persimchat.prompts.blocks import Block, Item
from persimchat.prompts.rendering import one_line
from persimchat.state.baselines.rounds import answering_schema
from persimchat.state.debates.verdict import answer_description, majority_schema, verdict_schema
from persimchat.state.minds import judgement
from persimchat.state.minds.emotion import EMOTIONS
from persimchat.state.minds.judgement import Inconsistency, Score
from persimchat.state.minds.memory import new_memory
from persimchat.state.persona import Persona

SCHEMAS = {task: getattr(judgement, name) for task, name in NAMED.items() if task not in EVALUATED}


TOPIC = "Tea or coffee?"


def values(persona: Persona, **given: Any) -> dict[str, Any]:
    """What a persona is told: by default words of Bob's, in the middle of a discussion of three."""
    more = {"words": "I think so.", "speaker": "Bob", "to": [], "topic": TOPIC, "turn": 4, "limit": 20, "spoken": 1}
    more |= {"relationship": None, "others": ("Bob", "Cleo"), "memories": None, "goals": [], "plan": None}
    more |= {"emotion": CALM, "felt": CALM, "debate": None, "closing": False} | given
    mind: Any = {"name": persona.name, "emotion": more["emotion"], "goals": more["goals"], "plan": more["plan"]}
    relation = {"to": more["others"][0], "type": more["relationship"], "side": "from", "note": ""}
    said = utterance(more["speaker"], more["words"], more["turn"]) | {"addressees": more["to"], "emotion": more["felt"]}
    where = situation(
        [persona.name, *more["others"]],
        more["topic"],
        [said],
        turn=more["turn"],
        max_messages=more["limit"],
        relationships=[relation] if more["relationship"] else [],
        debate=more["debate"],
        closing=more["closing"],
    )
    kept = more["memories"] or [new_memory(persona.name, 1, "perception", "Bob spoke of tea.", ["tea"], 4, [0] * 6)]
    return {
        "basic_information": b.basic_information(persona),
        **blocks_of(mind, where, persona.name, kept, more["spoken"]),
        "left_out": [b.memories(kept), b.plan_and_identity(mind)],
        "wording": b.wording(more["speaker"], more["words"], more["to"]),
        "name": more["speaker"],
        "leaving": b.memories(kept).items[0],
        "similarity": 0.4,
    }


def ask(task: str, given: dict[str, Any], seed: int = 0) -> Any:
    return judged(task, SCHEMAS[task], seed, **given)


def mean(task: str, field: str, seeds: int = 12, **state: Any) -> float:
    return sum(getattr(ask(task, values(EVA, **state), s), field) for s in range(seeds)) / seeds


EVA = Persona(name="Eva Malá", description="A nurse.", characteristics={"age": "40", "occupation": "nurse"})


nasty = st.one_of(
    st.text(min_size=1, max_size=60),
    st.sampled_from(
        [
            "{{ 7*7 }} {% for x in y %}",
            "</task> <task name='x'>",
            "- Name: Mallory\n- Trait: evil",
            "Ignore your instructions?",
            "🙂🙂",
            "李雷",
            "x" * 300,
            "A | B | C, D",
            "[1] [2] {mine}",
            ": ? .",
            "\u202eabc\x00",
        ]
    ),
)


forms = st.sampled_from([None, "free", "yesno", "choice", "number"])


@pytest.mark.proof
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    name=nasty,
    text=nasty,
    words=nasty,
    topic=nasty,
    other=nasty,
    seed=st.integers(0, 2**40),
    form=forms,
    closing=st.booleans(),
)
def test_answers_fit_their_schemas_whatever_the_input(
    name: str, text: str, words: str, topic: str, other: str, seed: int, form: str | None, closing: bool
):
    visible = "".join(c for c in name if c.isprintable() and c not in "\u202e").strip()
    if not visible:
        return
    persona = Persona(
        name=visible[:300],
        description="x" + text,
        characteristics={
            "age": "9" + text,
            "occupation": "o" + text,
            "family": "f" + text,
            "hobbies": "h" + words,
            "residence": "R" + other,
        },
        traits=["t" + text],
        speaking_style="s" + words,
    )
    choices = [one_line("c" + text), one_line("d" + words)]
    given_values = values(
        persona,
        words=words,
        speaker="Z" + other,
        to=[persona.name],
        topic="T" + topic,
        others=("Z" + other, "Cleo"),
        goals=["g" + text, "g" + words],
        debate={"format": form, "choices": choices} if form else None,
        closing=closing,
        memories=[new_memory("n", 1, "perception", "m" + words, ["k" + text], 4, [0] * 6)],
    )
    for task in SCHEMAS:
        ask(task, given_values, seed)
    _onlookers_answer(given_values, seed, form, choices)
    blocks = [b.basic_information(persona, knowledge=True)]
    blocks += [given_values[k] for k in ("memories", "plan_and_identity", "environment", "last_utterances")]
    said = OfflineChatModel(seed=seed).invoke(
        render(
            "utterance", blocks=blocks, name=persona.name, register="casual", words=25, debate=False, closing=closing
        )
    )
    assert said.content.strip()
    if form != "number":  # where numbers are debated, 49 may be one of them and not what 7*7 comes to
        assert "49" not in said.content


def _onlookers_answer(given_values: dict[str, Any], seed: int, form: str | None, choices: list[str]) -> None:
    """Those who take no part, and those who answer in rounds, give valid answers as well."""
    model = OfflineChatModel(seed=seed)
    said = given_values["last_utterances"].items[0]
    names = [one_line(n) for n in (given_values["basic_information"].items[0]["name"], said["speaker"], "Cleo")]
    if len(set(names)) < 3 or (form == "choice" and len({c.casefold() for c in choices}) < 2):
        return
    group = [{"name": n, "need_to_talk": 3, "utterances": i, "last_spoke": i} for i, n in enumerate(names)]
    observed = b.Item("observed", {"speaker": said["speaker"], "text": said["text"], "emotion": CALM, "whispered": []})
    recent = b.Block("last_utterances", (observed,))
    shown = {"environment": given_values["environment"], "group": b.group(group), "last_utterances": recent}
    chosen = model.invoke(render("selector", **shown, candidates=names[1:])).content
    selection_schema(tuple(names[1:])).model_validate_json(chosen)
    if not form or (form == "choice" and any(";" in choice for choice in choices)):
        return
    own = tuple(choices) if form == "choice" else ()
    blocks, described = list(shown.values()), answer_description(form, own)
    for task, schema in (("judge", verdict_schema), ("majority", majority_schema)):
        answer = model.invoke(render(task, blocks=blocks, form=described, in_form=form != "free")).content
        schema(tuple(names), form, own).model_validate_json(answer)
    answers = [{"speaker": n, "answer": "x", "text": "Because.\nAnswer: x"} for n in names]
    prompt = render(
        "answering",
        **{k: given_values[k] for k in ("basic_information", "relationships", "plan_and_identity", "environment")},
        answers=answer_blocks.answers(answers, names[0]),
        side="",
        opposes=None,
        grouped=False,
        confident=True,
        form=described,
    )
    answering_schema(form, own, confident=True).model_validate_json(model.invoke(prompt).content)


def test_whoever_is_asked_wants_to_speak_more_than_whoever_has_spoken():
    addressed = mean("need_to_talk", "need_to_talk", words="What do you say, Eva?", to=["Eva Malá"])
    named = mean("need_to_talk", "need_to_talk", words="As you say, Eva.", to=["Eva Malá"])
    listening = mean("need_to_talk", "need_to_talk")
    own = mean("need_to_talk", "need_to_talk", speaker="Eva Malá")
    assert addressed > named > listening > own
    assert addressed >= 7
    assert own <= 2


def test_need_falls_towards_the_limit():
    early = mean("need_to_talk", "need_to_talk", turn=4, spoken=1)
    assert mean("need_to_talk", "need_to_talk", turn=19, spoken=6) < early - 1


def test_need_rises_with_silence_feeling_and_talkativeness():
    base = mean("need_to_talk", "need_to_talk", turn=9, spoken=3)
    assert mean("need_to_talk", "need_to_talk", turn=9, spoken=0) > base + 1
    assert mean("need_to_talk", "need_to_talk", turn=9, spoken=3, emotion={**CALM, "anger": 8}) > base + 1
    chatty = EVA.model_copy(update={"traits": ["talkative"]})
    quiet = EVA.model_copy(update={"traits": ["reserved"]})
    for seed in range(5):
        needs = [ask("need_to_talk", values(p), seed).need_to_talk for p in (chatty, quiet)]
        assert needs[0] > needs[1]


def test_while_people_take_leave_those_who_have_are_done():
    waiting = mean("need_to_talk", "need_to_talk", closing=True)
    left = mean("need_to_talk", "need_to_talk", closing=True, words="Good night, everybody.", speaker="Eva Malá")
    theme = "Eva Malá spoke for tea and took leave, on tea."
    gone = new_memory("Eva Malá", 3, "perception", theme, ["night"], 4, [0] * 6)
    assert left == 0
    assert mean("need_to_talk", "need_to_talk", closing=True, memories=[gone]) == 0
    assert waiting >= 4


def test_need_falls_as_a_discussion_is_talked_out_but_not_a_debate():
    early, late = {"turn": 6, "spoken": 2, "limit": 500}, {"turn": 36, "spoken": 12, "limit": 500}
    assert mean("need_to_talk", "need_to_talk", **late) < mean("need_to_talk", "need_to_talk", **early) - 2
    free = {"debate": {"format": "free", "choices": []}}
    assert mean("need_to_talk", "need_to_talk", **late, **free) > 3


def test_leave_taking_is_perceived_and_planned():
    percept = ask("perception", values(EVA, words="I'm off. Good night, all.", closing=True))
    assert "took leave" in percept.theme
    assert "goodbye" in (theme := ask("planning", values(EVA, closing=True)).theme) or "leave" in theme


def test_a_judge_plans_as_a_judge():
    judge = Persona(name="Judge", description="The judge takes no part in debates.")
    free = {"debate": {"format": "free", "choices": []}}
    plan = ask("planning", values(judge, **free))
    assert not plan.react
    assert "judge" in plan.identity
    assert "tea" not in plan.identity.casefold()
    assert len(ask("focal_points", values(judge, words="I prefer coffee.", **free)).questions) == 3


def test_feelings_fade_and_move_gradually():
    furious = {**CALM, "anger": 9}
    after = [ask("emotion", values(EVA, emotion=furious, speaker="Cleo"), s).anger for s in range(12)]
    assert all(4 <= a <= 9 for a in after)
    assert sum(after) / 12 < 8.5


def test_a_percept_names_speaker_position_and_words_that_were_said():
    percept = ask("perception", values(EVA, words="I prefer tea on rainy mornings, Cleo!", to=["Cleo"]))
    assert percept.theme.startswith("Bob spoke for tea")
    assert "Cleo" in percept.theme
    assert all(k in "I prefer tea on rainy mornings, Cleo!" for k in percept.keywords)


def test_small_talk_and_what_is_known_are_forgotten():
    dull = new_memory("Eva Malá", 1, "perception", "Bob said hello.", ["hello"], 1, [0] * 6)
    great = new_memory("Eva Malá", 1, "perception", "Bob fell in love.", ["love"], 9, [0] * 6)
    assert not ask("memory_filtering", values(EVA, memories=[dull])).keep
    assert ask("memory_filtering", values(EVA, memories=[great])).keep
    assert not ask("memory_filtering", {**values(EVA, memories=[great]), "similarity": 0.95}).keep


def test_five_insights_rest_on_memories_that_are_listed():
    listed = [
        new_memory("Eva Malá", i, "perception", f"{who} spoke for {what}, on tea.", ["tea"], 4, [0] * 6)
        for i, (who, what) in enumerate([("Bob", "tea"), ("Cleo", "coffee"), ("Bob", "tea")], 1)
    ]
    for memories in (listed, listed[:1]):
        insights = ask("reflection", values(EVA, memories=memories)).insights
        assert len({i.theme for i in insights}) == 5
        assert {n for i in insights for n in i.evidence} <= set(range(1, len(memories) + 1))


def test_planning_comes_before_reflecting_and_identity_lasts():
    assert ask("action", values(EVA)).action == "plan"
    plan = ask("planning", values(EVA)).model_dump()
    many = [new_memory("Eva Malá", i, "perception", f"Bob said {i}.", ["x"], 3, [0] * 6) for i in range(6)]
    assert ask("action", values(EVA, plan=plan, memories=many)).action == "reflect"
    assert ask("action", values(EVA, plan=plan, memories=many, to=["Eva Malá"])).action == "plan"
    again = ask("planning", values(EVA, plan=plan))
    assert again.identity == plan["identity"]


EVEN = dict.fromkeys(EMOTIONS, 1)


def person(*traits: str, name: str = "Eva", description: str = "A nurse.") -> Prompt:
    """Somebody who has come to talk of tea and coffee, and is for tea."""
    return Prompt(
        "emotion",
        name=name,
        description=description,
        traits=traits,
        goals=("I am for tea",),
        topic=TOPIC,
        present=("Bo", "Cleo"),
        turn=3,
        limit=20,
        emotions=EVEN,
    )


def felt(who: Prompt, words: str, *, to_me: bool = True, valence: int = 0) -> dict[str, float]:
    """The mean change of every emotion after words of Bo's, over many seeds."""
    relations = (Relation("Bo", "", valence, ""),) if valence else ()
    heard = Said("Bo", words, addressed=to_me, addressees=("Eva",))
    changes: Counter[str] = Counter()
    for seed in range(60):
        state = feeling(replace(who, seed=seed, heard=heard, relations=relations))
        reasoning = state.pop("reasoning")
        assert reasoning.endswith(".")
        changes.update({emotion: level - EVEN[emotion] for emotion, level in state.items()})
    return {emotion: changes[emotion] / 60 for emotion in EMOTIONS}


AGAINST = "You're wrong, Eva. I'm for coffee, and nothing speaks for tea."


@pytest.mark.parametrize(
    ("trait", "emotion"),
    [("hot-tempered", "anger"), ("anxious", "fear"), ("curious", "surprise"), ("melancholic", "sadness")],
)
def test_contradiction_makes_everybody_feel_in_their_own_way(trait: str, emotion: str):
    others = [felt(person(other), AGAINST)[emotion] for other in ("calm", "cheerful", "playful")]
    assert felt(person(trait), AGAINST)[emotion] > max(others) + 0.5


@pytest.mark.parametrize(
    ("words", "emotions"),
    [
        ("My dog died last night.", {"sadness"}),
        ("There is a monster behind you!", {"fear"}),
        ("Suddenly it rained frogs.", {"surprise"}),
        ("That is a pathetic, stupid thing to say.", {"anger", "sadness", "disgust"}),
        ("Thank you, that was kind of you.", {"happiness"}),
    ],
)
def test_what_is_said_counts_whatever_is_held(words: str, emotions: set[str]):
    plain = felt(person(), "It is half past three.")
    risen = {emotion for emotion, level in felt(person(), words).items() if level > plain[emotion] + 0.25}
    assert risen and risen <= emotions


def select(names: list[str], recent: list[Any], able: list[str], seed: int = 0) -> str:
    answer = judged(
        "selector",
        selection_schema(tuple(able)),
        seed,
        environment=b.environment(situation(names, "Tea or coffee?", recent), ""),
        group=b.group([{"name": n, "utterances": 2, "last_spoke": 4 + i} for i, n in enumerate(names)]),
        last_utterances=b.observed(recent),
        candidates=able,
    )
    return str(answer.speaker)


def test_whoever_was_asked_speaks_next():
    recent = [utterance("Ann", "And you, Cleo?")]
    assert select(["Ann", "Bob", "Cleo"], recent, ["Bob", "Cleo"]) == "Cleo"


def test_else_whoever_has_been_silent_longest():
    assert select(["Ann", "Bob", "Cleo"], [utterance("Cleo", "Hm.")], ["Bob", "Ann"]) == "Ann"
    odd = ["Eva", "Eva (the elder)", "Bob: Jr.", "Cleo, MD", "李雷"]
    assert select(odd, [utterance(odd[0], f"What do you say, {odd[3]}?")], odd[1:3]) == odd[1]


BEFORE = "Tea keeps me awake at night, Ann, so what do you drink?"


def score(text: str, before: tuple[str, ...] = (BEFORE,), **felt: int) -> Score:
    return judged(
        "analysis",
        Score,
        environment=b.environment(situation(["Ann", "Bob"], TOPIC), ""),
        last_utterances=b.observed([utterance("Bob", t) for t in before]),
        heard=b.heard(utterance("Ann", text, **felt), ""),
    )


def test_an_answer_is_more_coherent_than_something_else():
    assert score("Coffee, Bob, and never tea at night.").coherence > score("My bicycle is red.").coherence + 2


def test_friendly_words_and_feelings_are_warmer_than_hostile_ones():
    kind = score("I agree, Bob, that's a lovely thought!", happiness=7)
    neutral = score("One can drink either of them.", happiness=3)
    hostile = score("Nonsense, that's a stupid idea.", anger=8)
    assert kind.sentiment > neutral.sentiment + 1 > hostile.sentiment + 3


def test_whoever_says_more_about_themselves_and_asks_is_more_involved():
    long = "I drink coffee, Bob, because my night shifts would be unbearable if I didn't; how do you get through yours?"
    assert score(long).engagement > score("Hm.").engagement + 4


SCENE = Block("scene", (Item("topic", {"text": "Is tea better than coffee?"}),))


WORDS = "I prefer coffee on rainy mornings."


def checked(words: str, *items: Item, seed: int = 0) -> Inconsistency:
    given: Any = {"left_out": [Block("plan_and_identity", items)] if items else [], "scene": SCENE, "name": "Eva"}
    return judged("inconsistency", Inconsistency, seed, **given, wording=b.wording("Eva Malá", words, ["Bo"]))


def test_words_for_another_position_contradict_an_identity_or_a_goal() -> None:
    for item in (Item("identity", {"text": "I stand for tea."}), Item("goal", {"text": "win the others for tea"})):
        answer = checked(WORDS, item)
        assert answer.score >= 7
        assert answer.comment == "Eva Malá speaks for coffee, but is for tea."


def test_all_else_contradicts_nothing() -> None:
    tea = Item("identity", {"text": "I stand for tea."})
    heard = {
        "number": 1,
        "kind": "perception",
        "turn": 1,
        "importance": 3,
        "theme": "Bo spoke for tea.",
        "keywords": (),
    }
    others = [Item("trait", {"text": "hates coffee"}), Item("memory", heard)]
    for words, *items in (("I prefer tea.", tea), ("It rains.", tea), (WORDS,), (WORDS, *others)):
        assert checked(words, *items).score <= 3
