"""The offline model as a chat model, and what it takes from topics and profiles."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from persimchat.models.exchange import wording
from persimchat.models.offline import NOTICE, OfflineChatModel
from persimchat.models.offline.material import overlap, read
from persimchat.models.offline.persona_facts import address
from persimchat.models.offline.topics import UNCHANGED, analyse, named_options, themes
from persimchat.prompts import blocks, render
from persimchat.prompts.blocks import Block, Item, estimated_tokens
from persimchat.prompts.rendering import RenderedMessage, Source
from persimchat.state.errors import ModelError


@pytest.fixture
def prompt(talk: Any, shipped: Any) -> Any:
    conversation = talk(shipped[:4], "What is the best ice cream flavor?", limit=6)
    for _ in range(3):
        conversation.step()
    conversation.appraise()
    return conversation.utterance_prompt(conversation.personas[0])


def test_says_that_it_is_no_language_model():
    assert "no language model" in NOTICE
    assert OfflineChatModel()._llm_type == "offline"
    assert OfflineChatModel().model_name == "offline"


def test_same_messages_and_seed_give_the_same_answer(prompt: Any):
    first = OfflineChatModel(seed=4).invoke(prompt)
    OfflineChatModel(seed=9).invoke(prompt)
    assert OfflineChatModel(seed=4).invoke(prompt).content == first.content
    assert len({OfflineChatModel(seed=s).invoke(prompt).content for s in range(8)}) > 4


async def test_streams_word_by_word_exactly_what_invoke_says(prompt: Any):
    model = OfflineChatModel(seed=2)
    whole = model.invoke(prompt)
    chunks = list(model.stream(prompt))
    assert "".join(c.content for c in chunks) == whole.content
    assert len(chunks) > 5
    later = [c async for c in model.astream(prompt)]
    assert "".join(c.content for c in later) == whole.content
    total = chunks[0]
    for chunk in chunks[1:]:
        total += chunk
    assert total.usage_metadata == whole.usage_metadata
    assert total.response_metadata["response_time_s"] == whole.response_metadata["response_time_s"]
    assert (await model.ainvoke(prompt)).content == whole.content


def test_reports_estimated_usage_and_a_response_time(prompt: Any):
    message = OfflineChatModel().invoke(prompt)
    assert message.usage_metadata["output_tokens"] == estimated_tokens(message.content)
    assert message.usage_metadata["total_tokens"] > message.usage_metadata["input_tokens"] > 100
    assert message.response_metadata["estimated"] is True
    assert message.response_metadata["model_name"] == "offline"
    assert 1 < message.response_metadata["response_time_s"] < 60


def test_bound_arguments_are_accepted(prompt: Any):
    model = OfflineChatModel()
    bound = model.bind(response_format={"type": "json_object"}, stop=["\n"])
    assert bound.invoke(prompt).content == model.invoke(prompt).content
    seeded = model.bind(seed=3)
    assert seeded.invoke(prompt).content == OfflineChatModel(seed=3).invoke(prompt).content
    assert model.bind_tools([{"name": "x"}]).invoke(prompt).content == model.invoke(prompt).content


def asked(task: str, *blocks: Block, **values: Any) -> list[BaseMessage]:
    """A prompt with these blocks alone."""
    return [RenderedMessage.of(Source(task, blocks, values), "")]


def test_text_is_a_topic(prompt: Any):
    assert "tea" in OfflineChatModel().invoke("Tea or coffee?").content
    assert OfflineChatModel(seed=1).invoke([SystemMessage("x"), HumanMessage("Tea?")]).content.strip()
    for mere in (prompt[1].text, HumanMessage.model_validate(prompt[1].model_dump()).text):
        with pytest.raises(ModelError, match="mere text"):
            OfflineChatModel().invoke(mere)
    with pytest.raises(ModelError, match="no message"):
        OfflineChatModel().invoke([SystemMessage("x")])


def test_unknown_task_is_a_clear_error():
    with pytest.raises(ModelError, match="unknown task 'perceptio'.*Did you mean 'perception'"):
        OfflineChatModel().invoke(asked("perceptio"))


@pytest.mark.parametrize(
    ("task", "tag"),
    [
        ("perception", "heard"),
        ("memory_filtering", "leaving_memory"),
        ("reflection", "memories"),
        ("judge", "group"),
        ("majority", "group"),
        ("selector", "group"),
        ("analysis", "heard"),
        ("inconsistency", "wording"),
        ("answering", "environment"),
        ("mad_judge", "answers"),
        ("script", "environment"),
        ("need_to_talk", "basic_information"),
        ("utterance", "basic_information"),
    ],
)
def test_a_missing_section_is_a_clear_error(task: str, tag: str):
    name = Block("basic_information", (Item("name", {"name": "Eva" if tag != "basic_information" else ""}),))
    with pytest.raises(ModelError, match=f"no <{tag}> section"):
        OfflineChatModel().invoke(asked(task, name, closing=False))


@pytest.mark.proof
def test_what_must_not_be_said_again_is_not(talk: Any, shipped: Any):
    model = OfflineChatModel()
    for limit in (6, 30):
        conversation = talk(shipped[:4], "What is the best ice cream flavor?", limit=limit)
        for _ in range(3):
            conversation.step()
        conversation.appraise()
        person = conversation.personas[0]
        given = conversation.utterance_prompt(person)
        avoid: list[str] = []
        for _ in range(4):
            source = replace(given[1].source, blocks=(*given[1].source.blocks, blocks.avoid(avoid)))
            text = str(model.invoke([RenderedMessage.of(source, given[1].text)]).content)
            assert max((overlap(text, other) for other in avoid), default=0.0) < 0.3
            avoid.append(text)


def test_a_correction_is_answered_as_the_task_it_corrects(talk: Any, shipped: Any):
    conversation = talk(shipped[:3], "Cats or dogs?")
    values = conversation.values(shipped[0])
    asked = [
        *render("emotion", **values),
        AIMessage("nonsense"),
        HumanMessage(wording("correction", problem="not JSON", schema="{}")),
    ]
    assert "happiness" in json.loads(OfflineChatModel().invoke(asked).content)


def test_an_utterance_asked_for_again_is_worded_anew(prompt: Any):
    model = OfflineChatModel()
    first = model.invoke(prompt).content
    again = model.invoke([*prompt, AIMessage(first), HumanMessage(f"Do not repeat: {first}")]).content
    assert again != first


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
        ("Should the village close its pool?", ("closing the pool", UNCHANGED)),
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
    ("name", "others", "called"),
    [
        ("Eva Malá", (), "Eva"),
        ("Eva Malá", ("Eva Nová",), "Eva Malá"),
        ("Dr. Eva Malá", (), "Eva"),
        ("Malá, Eva", (), "Eva"),
        ("陳志明", (), "陳志明"),
        ("Adébáyọ̀ Ọládélé", (), "Adébáyọ̀"),
        ("x" * 300, (), ""),
        ("{{7*7}}", (), ""),
    ],
)
def test_people_are_called_by_a_name_that_can_be_said(name: str, others: tuple[str, ...], called: str):
    assert address(name, (name, *others)) == called
