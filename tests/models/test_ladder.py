from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fixtures import Serve
from langchain_core.language_models import FakeListChatModel
from ledgers import RIGHT, question_to
from loopback.answering import Fault

from persimchat.models import ladder
from persimchat.models.ladder import Rung
from persimchat.models.naming import parse_model_name
from persimchat.models.schemas import prompt_schema
from persimchat.state.errors import ModelError
from persimchat.state.minds.judgement import NeedToTalk


def form_of(body: dict[str, Any]) -> Rung:
    kind = (body.get("response_format") or {}).get("type")
    if kind:
        return Rung.JSON_SCHEMA if kind == "json_schema" else Rung.JSON_MODE
    return Rung.TOOL_CALL if "tools" in body else Rung.TEXT


@pytest.mark.parametrize(
    ("refuses", "forms"),
    [
        (set(), [Rung.JSON_SCHEMA]),
        ({"json_schema"}, [Rung.JSON_SCHEMA, Rung.TOOL_CALL]),
        ({"json_schema", "tools"}, [Rung.JSON_SCHEMA, Rung.TOOL_CALL, Rung.JSON_MODE]),
        ({"json_schema", "tools", "json_object"}, list(Rung)),
    ],
)
async def test_a_server_is_asked_in_the_best_form_it_takes_and_never_again_in_one_it_refused(
    refuses: set[str], forms: list[Rung], serve: Serve
) -> None:
    server = serve(lambda _: RIGHT, refuses=refuses)
    first = await question_to(server)
    assert first.value.need_to_talk == 7
    assert first.call["calls"] == len(forms)
    second = await question_to(server)
    assert second.call["calls"] == 1
    assert [form_of(b) for b in server.bodies()] == [*forms, forms[-1]]


async def test_the_schema_is_in_the_prompt_only_where_the_server_does_not_hold_to_it(serve: Serve) -> None:
    server = serve(lambda _: RIGHT, refuses={"json_schema", "tools"})
    await question_to(server)
    schema = prompt_schema(NeedToTalk)
    assert [schema in r.text for r in server.requests] == [False, False, True]
    assert [m["role"] for m in server.bodies()[-1]["messages"]] == ["system", "user"]


async def test_a_seed_that_is_refused_is_left_out_from_then_on(serve: Serve) -> None:
    server = serve(lambda _: RIGHT, refuses={"seed"})
    assert [(await question_to(server, seed=11)).call["calls"] for _ in range(2)] == [2, 1]
    assert [b.get("seed") for b in server.bodies()] == [11, None, None]
    assert {form_of(b) for b in server.bodies()} == {Rung.JSON_SCHEMA}


async def test_a_top_p_is_sent_where_the_server_takes_it(serve: Serve) -> None:
    taking, refusing = serve(lambda _: RIGHT), serve(lambda _: RIGHT, refuses={"top_p"})
    assert (await question_to(taking, model_top_p=0.9)).call["calls"] == 1
    await question_to(taking)
    assert [body.get("top_p") for body in taking.bodies()] == [0.9, None]
    assert [(await question_to(refusing, model_top_p=0.9)).call["calls"] for _ in range(2)] == [2, 1]
    assert [body.get("top_p") for body in refusing.bodies()] == [0.9, None, None]


async def test_many_at_once_all_learn_of_a_refusal(serve: Serve) -> None:
    server = serve(lambda _: RIGHT, refuses={"json_schema", "seed"}, delay_s=0.05)
    answers = await asyncio.gather(*(question_to(server) for _ in range(8)))
    assert [a.value.need_to_talk for a in answers] == [7] * 8
    assert len(server.requests) <= 24


@pytest.mark.parametrize(
    "fault",
    [
        Fault(422, {"detail": [{"loc": ["body", "response_format"], "msg": "Extra inputs are not permitted"}]}),
        Fault(404, {"error": {"message": "No endpoints found that support structured outputs"}}),
        Fault(501, {"error": {"message": "no"}}),
        Fault(500, {"error": {"message": "Failed to parse grammar"}}),
        Fault(400, "json_schema is not supported"),
        Fault(200, {"error": {"message": "response_format is not supported", "code": 400}}),
    ],
)
async def test_servers_refuse_in_many_ways(fault: Fault, serve: Serve) -> None:
    server = serve(lambda body: fault if "response_format" in body else RIGHT)
    assert (await question_to(server)).call["calls"] == 2
    assert form_of(server.bodies()[-1]) is Rung.TOOL_CALL


async def test_a_server_that_ignores_the_schema_gets_it_in_the_prompt_from_then_on(serve: Serve) -> None:
    schema = prompt_schema(NeedToTalk)
    server = serve(lambda body: RIGHT if schema in str(body["messages"]) else "I would say seven.")
    calls = [(await question_to(server)).call["calls"] for _ in range(4)]
    assert calls == [2, 1, 1, 1]
    assert form_of(server.bodies()[-1]) is Rung.JSON_MODE


async def test_a_model_named_after_a_tool_is_not_taken_to_refuse_tools(serve: Serve) -> None:
    server = serve([Fault(400, {"error": {"message": "cannot run json_schema-tools-7b today"}})])
    with pytest.raises(ModelError, match="HTTP 400"):
        await question_to(server, model=server.model("json_schema-tools-7b"))
    assert len(server.requests) == 1


def test_a_class_without_forms_of_answer_is_asked_in_plain_text() -> None:
    model = FakeListChatModel(responses=["x"])
    name = parse_model_name("fake:model")
    assert ladder.arguments(model, name, Rung.TEXT, NeedToTalk) == {}
    for form in (Rung.JSON_SCHEMA, Rung.TOOL_CALL, Rung.JSON_MODE):
        with pytest.raises(NotImplementedError):
            ladder.arguments(model, name, form, NeedToTalk)


def test_a_field_that_a_client_does_not_know_is_refused() -> None:
    name = parse_model_name("fake:model")
    error = TypeError("create() got an unexpected keyword argument 'seed'")
    assert ladder.refusal(error, name, {"seed", Rung.JSON_SCHEMA}) == "seed"
    assert ladder.refusal(error, name, {Rung.JSON_SCHEMA}) is None
    assert ladder.refusal(NotImplementedError(), name, {"seed", Rung.TOOL_CALL}) is Rung.TOOL_CALL
    assert ladder.refusal(KeyError("seed"), name, {"seed"}) is None


async def test_a_server_that_ignores_schemas_and_tools_is_asked_in_the_prompt(
    serve: Serve,
) -> None:
    def heedless(body: dict[str, Any]) -> Any:
        if "tools" in body or (body.get("response_format") or {}).get("type") == "json_schema":
            return "I would rather talk about the weather."
        return 'Sure!\n```json\n{"reasoning": "because", "need_to_talk": 7}\n```'

    server = serve(heedless)
    assert (await question_to(server)).value.need_to_talk == 7
    assert len(server.bodies()) == 2


@pytest.mark.parametrize("model", ["s", "p", "e", "seed-2", "top"])
def test_a_refused_field_is_known_whatever_the_model_is_called(model: str) -> None:
    name = parse_model_name(f"ollama:{model}")
    assert ladder.refusal(TypeError(f"the model {model} has no argument 'top_p'"), name, {"seed", "top_p"}) == "top_p"
