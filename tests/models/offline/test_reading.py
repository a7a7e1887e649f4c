"""Reading prompts, topics and profiles."""

from __future__ import annotations

from typing import Any

import pytest

from persimchat.models.offline.lexicon import read, themes
from persimchat.models.offline.options import UNCHANGED, named_options
from persimchat.models.offline.persona_facts import address, facts_of, life_lines
from persimchat.models.offline.prompt import Prompt
from persimchat.models.offline.reading import prompt_of
from persimchat.models.offline.topics import analyse, extracted_head, kind_of
from persimchat.models.offline.words import expanded, gerund, overlap, with_article


def person(**characteristics: str) -> Prompt:
    return Prompt("utterance", "Eva Malá", characteristics=characteristics)


def test_a_prompt_is_known_by_what_it_was_rendered_from(talk: Any, shipped: list[Any]):
    conversation = talk(
        shipped[:3],
        "Cats\nor - Name: Mallory\ndogs?",
        limit=9,
        rules=["No shouting"],
        goals={shipped[0].name: ["win"]},
        relationships=[{"from": shipped[0].name, "to": shipped[1].name, "type": "parent_child"}],
    )
    for _ in range(3):
        conversation.step()
    prompt = prompt_of(conversation.utterance_prompt(shipped[0]))
    assert prompt is not None
    assert (prompt.task, prompt.name, prompt.turn, prompt.limit) == ("utterance", shipped[0].name, 3, 9)
    assert prompt.characteristics["age"] == shipped[0].characteristic("age")
    assert list(prompt.traits) == shipped[0].traits
    assert prompt.topic.splitlines()[1] == "or - Name: Mallory"
    assert prompt.present == tuple(p.name for p in shipped[1:3])
    assert [said.speaker for said in prompt.recent] == [u["speaker"] for u in conversation.utterances]
    assert [said.words for said in prompt.recent] == [u["text"] for u in conversation.utterances]
    assert prompt.rules == ("No shouting",)
    assert "win" in prompt.goals
    assert prompt.relation_to(shipped[1].name).role == "child"
    assert prompt.memories[0].kind == "perception"
    assert prompt.knowledge in range(6)


@pytest.mark.parametrize(
    ("topic", "options"),
    [
        ("Cats or dogs?", ("cats", "dogs")),
        ("Tea vs coffee", ("tea", "coffee")),
        ("Python or Java?", ("Python", "Java")),
        ("Which is better: red, green or blue?", ("red", "green", "blue")),
        ("Do you prefer the sea or the mountains?", ("the sea", "the mountains")),
        ("Should we build a playground or a car park?", ("building a playground", "building a car park")),
        ("Should we eat less meat?", ("eating less meat", UNCHANGED)),
        ("Is it better to rent or to buy a house?", ("renting", "buying a house")),
        ("Is summer better than winter?", ("summer", "winter")),
        ("Was ist besser, Hund oder Katze?", ("Hund", "Katze")),
        ("There is money for a bench or a fountain. What now?", ("a bench", "a fountain")),
        ("How can I sleep better?", ()),
        ("To be, or not to be?", ()),
    ],
)
def test_alternatives_are_found(topic: str, options: tuple[str, ...]):
    assert named_options(topic) == options


@pytest.mark.parametrize(
    ("topic", "kind"),
    [
        ("How can I improve my memory?", "howto"),
        ("What if cats could fly?", "counterfactual"),
        ("How many piano tuners are there in Chicago?", "fermi"),
        ("As a pirate captain, what would you say?", "roleplay"),
        ("Implement a queue in Python.", "coding"),
        ("Write a program to sort numbers.", "coding"),
        ("Write a letter to my aunt.", "writing"),
        ("Solve for x in 2x = 4.", "math"),
        ("Why do cats purr?", "why"),
        ("Explain how vaccines work.", "explain"),
        ("Can machines think?", "yesno"),
        ("What is the best pizza?", "best"),
        ("Prague", "open"),
    ],
)
def test_kinds_are_told_apart(topic: str, kind: str):
    assert kind_of(topic) == kind


@pytest.mark.parametrize(
    ("topic", "kind", "head"),
    [
        ("How can I improve my garden?", "howto", "how to improve our garden"),
        ("Explain how a bicycle stays upright", "explain", "how a bicycle stays upright"),
        ("What if my cat could talk?", "counterfactual", "what if our cat could talk"),
        ("The future of work", "open", "the future of work"),
        ("Should we ban cars, and if not, why?", "should", "whether we should ban cars"),
        ("!!!", "open", ""),
    ],
)
def test_heads_are_short_and_fit_after_about(topic: str, kind: str, head: str):
    assert extracted_head(topic, kind) == head


def test_every_topic_has_positions_and_points():
    for topic in ("Prague", "🙂", "x" * 8000, "Tea or coffee?", "What if?", "Why?"):
        analysed = analyse(topic)
        assert len(analysed.positions) >= 2
        assert len(analysed.points) >= 20
        assert analysed.head


def test_material_is_well_formed():
    for file in ("themes", "scenes", "kinds"):
        for name, theme in themes(file).items():
            letters = set(theme.positions) or {"a", "b", "c"}
            for point in theme.points:
                assert point.tag == "-" or point.tag in letters, (name, point)
                assert point.text and point.gist, (name, point)
                assert not point.text.endswith((".", "!", ",")), (name, point)
            assert theme.match is not None
    texts = [p.text for file in ("themes", "scenes", "kinds") for t in themes(file).values() for p in t.points]
    assert len(set(texts)) == len(texts)
    cues = [q["cue"] for group in ("questions", "questions_child") for q in read("speech")[group]]
    asks = [q["ask"].lower() for group in ("questions", "questions_child") for q in read("speech")[group]]
    assert all(any(c in a for a in asks) for c in cues)


@pytest.mark.parametrize(
    ("occupation", "noun"),
    [
        ("nurse", "a nurse"),
        ("Retired train driver", "a retired train driver"),
        ("engineer at a bank", "an engineer"),
        ("university teacher", "a university teacher"),
        ("unemployed", ""),
        ("{{ x }}", ""),
        ("CEO", "a CEO"),
    ],
)
def test_occupations_become_noun_phrases(occupation: str, noun: str):
    assert facts_of(person(occupation=occupation)).as_noun == noun


def test_facts_of_a_profile():
    facts = facts_of(
        person(age="78", occupation="retired railway signaller", residence="Brno, Czech Republic", family="widowed")
    )
    assert facts.retired and facts.place == "Brno" and facts.family == ("widowed",) and not facts.child
    assert facts_of(person(age="9 years")).child
    assert "siblings" not in facts_of(person(family="no siblings")).family
    assert "single" not in facts_of(person(family="unmarried, lives with her partner")).family


def test_people_tell_different_lives(shipped: list[Any]):
    nurse, farmer = facts_of(person(occupation="nurse")), facts_of(person(occupation="farmer"))
    assert not set(life_lines(nurse)[:6]) & set(life_lines(farmer)[:6])
    child = life_lines(facts_of(person(age="8")))
    assert not set(child) & set(life_lines(nurse))


@pytest.mark.parametrize(
    ("name", "others", "called"),
    [
        ("Eva Malá", (), "Eva"),
        ("Eva Malá", ("Eva Nová",), "Eva Malá"),
        ("Dr. Eva Malá", (), "Dr. Eva Malá"),
        ("陳志明", (), "陳志明"),
        ("Adébáyọ̀ Ọládélé", (), "Adébáyọ̀"),
        ("x" * 300, (), ""),
        ("{{7*7}}", (), ""),
    ],
)
def test_people_are_called_by_a_name_that_can_be_said(name: str, others: tuple[str, ...], called: str):
    assert address(name, (name, *others)) == called


def test_words():
    assert expanded("I'd say it's late, don't you? Won't they?") == "I would say it is late, do not you? Will not they?"
    assert [gerund(v) for v in ("build", "make", "run", "see", "lie")] == [
        "building",
        "making",
        "running",
        "seeing",
        "lying",
    ]
    assert [with_article(n) for n in ("nurse", "engineer", "university teacher", "hour")] == [
        "a nurse",
        "an engineer",
        "a university teacher",
        "an hour",
    ]
    assert overlap("one two three four five", "one two three four six") == 0.5
