from __future__ import annotations

import json
from typing import Any

import pytest
from fixtures import Serve
from langchain_core.messages import AIMessage
from ledgers import RIGHT, question_to
from loopback.answering import Reply

from persimchat.models.answers import WrongAnswer, read
from persimchat.models.asking import ask
from persimchat.models.failures import TransientModelError
from persimchat.models.schemas import prompt_schema
from persimchat.state.errors import ModelError
from persimchat.state.minds.judgement import Action, NeedToTalk
from persimchat.state.settings import Settings

TEXT = json.dumps(RIGHT)


def tool_call(arguments: str) -> Reply:
    call = {"id": "c", "type": "function", "function": {"name": "NeedToTalk", "arguments": arguments}}
    return Reply(None, [call], "tool_calls")


@pytest.mark.parametrize(
    "said",
    [
        TEXT,
        f"```json\n{TEXT}\n```",
        f"<think>Hm, {{5}}?</think>\n{TEXT}",
        f"Here you are: {TEXT} I hope it helps.",
        '{"reasoning": "because", "need_to_talk": "7"}',
        '{"reasoning": "because", "need_to_talk": 7.0}',
        '{"reasoning": "because", "need_to_talk": 7,}',
        '{"reasoning": "because", "need_to_talk": 7, "mood": "good"}',
    ],
)
async def test_what_is_forgiven(said: str, serve: Serve) -> None:
    server = serve([said])
    answer = await question_to(server)
    assert answer.value == NeedToTalk(**RIGHT)
    assert answer.call["calls"] == 1


@pytest.mark.parametrize("arguments", [TEXT, TEXT[:-1] + ",}"], ids=["whole", "broken"])
async def test_a_tool_call_without_content_is_the_answer(arguments: str, serve: Serve) -> None:
    server = serve(lambda _: tool_call(arguments), refuses={"json_schema"})
    assert (await question_to(server)).value.need_to_talk == 7


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ('{"reasoning": "because", "need_to_talk": 11}', "need_to_talk: Input should be less than or equal to 10"),
        ('{"reasoning": "because", "need_to_talk": -1}', "greater than or equal to 0"),
        ('{"reasoning": "because", "need_to_talk": "7/10"}', "need_to_talk: Input should be a valid integer"),
        ('{"reasoning": "because", "need_to_talk": 7.5}', "need_to_talk: Input should be a valid integer"),
        ('{"reasoning": "because", "need_to_talk": null}', "need_to_talk: Input should be a valid integer"),
        ('{"need_to_talk": 7}', "reasoning: Field required"),
        ('{"reasoning": "  ", "need_to_talk": 7}', "reasoning: String should have at least 1 character"),
        ('{"reasoning": "because", "need_to_talk": 1', "there was no JSON object"),
        ("[]", "there was no JSON object"),
        ("", "the answer was empty"),
        (None, "the answer was empty"),
        ("<think>never ends", "the answer was empty"),
        (Reply('{"reasoning": "because, ', finish_reason="length"), "cut off at the length limit"),
        (Reply("", finish_reason="content_filter"), "content filter"),
        (Reply(None, refusal="I will not judge people"), "refused to answer: I will not judge people"),
    ],
)
async def test_a_wrong_answer_is_asked_for_once_more_with_the_words_of_what_was_wrong(
    wrong: Any, words: str, serve: Serve
) -> None:
    server = serve([wrong, RIGHT])
    answer = await question_to(server)
    assert answer.value.need_to_talk == 7
    assert answer.call["calls"] == 2
    first, second = server.requests
    assert words in second.text
    assert words not in first.text
    assert prompt_schema(NeedToTalk) in second.text
    roles = [m["role"] for m in second.body["messages"]]
    assert roles in (["system", "user", "assistant", "user"], ["system", "user"]), "user and assistant take turns"


async def test_wrong_twice_is_an_error_that_names_who_asked_what(serve: Serve) -> None:
    server = serve([{"reasoning": "because", "need_to_talk": 11}, {"reasoning": "because", "need_to_talk": 12}])
    with pytest.raises(ModelError) as caught:
        await question_to(server)
    error = caught.value
    assert (error.agent, error.module, error.model, error.turn) == ("Ann", "need_to_talk", server.model(), 3)
    for part in ("agent Ann", "module need_to_talk", server.model(), "turn 3", "less than or equal to 10", "given: 12"):
        assert part in str(error)
    assert "\n" not in str(error)
    assert not isinstance(error, TransientModelError)
    assert error.exit_code == 3


@pytest.mark.parametrize("reason", ["length", "content_filter"])
async def test_an_answer_stopped_twice_says_why(reason: str, serve: Serve) -> None:
    server = serve([Reply("{", finish_reason=reason)] * 2)
    with pytest.raises(ModelError, match=reason.replace("_", " ")):
        await question_to(server)


async def test_the_model_of_a_module_goes_before_the_agents(serve: Serve) -> None:
    common, own, module = serve([RIGHT]), serve([RIGHT]), serve([{"reasoning": "because", "action": "plan"}])
    settings = Settings(
        model=common.model(), agent_models={"Ann": own.model()}, module_models={"action": module.model()}
    )
    asked = {"settings": settings, "turn": 1, "schema": "S"}
    await ask("json_answer", NeedToTalk, agent="Ann", module="need_to_talk", **asked)
    await ask("json_answer", NeedToTalk, agent="Ben", module="need_to_talk", **asked)
    answer = await ask("json_answer", Action, agent="Ann", module="action", **asked)
    assert answer.call["model"] == module.model()
    assert [len(s.requests) for s in (common, own, module)] == [1, 1, 1]


async def test_settings_reach_the_server(serve: Serve) -> None:
    server = serve([RIGHT])
    await question_to(server, seed=42, model_temperature=0.25)
    body = server.bodies()[0]
    assert (body["seed"], body["temperature"], body["model"]) == (42, 0.25, "test-model")


async def test_a_temperature_that_is_refused_is_an_error_not_dropped(serve: Serve) -> None:
    server = serve([RIGHT], refuses={"temperature"})
    with pytest.raises(ModelError, match="temperature is not supported"):
        await question_to(server, model_temperature=0.25)


async def test_reported_usage_is_summed_over_corrections(serve: Serve) -> None:
    server = serve(['{"need_to_talk":11}', RIGHT])
    call = (await question_to(server)).call
    bodies = server.bodies()
    assert call["estimated"] is False
    assert call["input_tokens"] == sum(len(str(m["content"]).split()) for b in bodies for m in b["messages"])
    assert call["output_tokens"] == 1 + len(TEXT.split())
    assert call["cost_usd"] is None


async def test_usage_is_estimated_where_none_is_reported(serve: Serve) -> None:
    server = serve([RIGHT], reports_usage=False)
    call = (await question_to(server, prices={server.model(): (1.0, 2.0)})).call
    assert call["estimated"] is True
    assert call["input_tokens"] > 10
    assert call["output_tokens"] == -(-len(TEXT) // 4)
    assert call["cost_usd"] == pytest.approx((call["input_tokens"] + 2 * call["output_tokens"]) / 1e6)


# Of a judge: two answers that contradict each other are none, and a refusal in prose is a refusal

ONE = '{"reasoning": "because", "need_to_talk": 7}'


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"{ONE} or rather {ONE.replace('7', '3')}", None),
        (f"{ONE} So again: {ONE.replace('because', 'as I said')}", 7),
        ('{"need_to_talk": 3} is no answer yet. ' + ONE, 7),
        (f"<think>{ONE.replace('7', '3')}</think>{ONE}", 7),
    ],
)
def test_two_answers_that_contradict_each_other_are_none(text: str, found: int | None) -> None:
    message = AIMessage(text)
    if found is not None:
        assert read(message, NeedToTalk, alone=True).need_to_talk == found
        return
    assert read(message, NeedToTalk).need_to_talk == 3
    with pytest.raises(WrongAnswer, match="contradict"):
        read(message, NeedToTalk, alone=True)


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("I'm sorry, but I can't help with that.", True),
        ("I’m sorry, I can’t assist with this request.", True),
        ("As an AI, I am unable to judge people.", True),
        ("I cannot in good conscience rate this conversation.", True),
        ("Sorry, I won't be able to evaluate that.", True),
        ("Omlouvám se, ale nemohu odpovědět.", True),
        ("The first conversation is more natural; 7 of 10.", False),
        ("They can't agree on tea.", False),
        ("I'm sorry for them. Score: 3", False),
    ],
)
def test_a_refusal_in_prose_is_a_refusal(text: str, refused: bool) -> None:
    with pytest.raises(WrongAnswer) as caught:
        read(AIMessage(text), NeedToTalk)
    assert (caught.value.refused, caught.value.prose) == (refused, True)
