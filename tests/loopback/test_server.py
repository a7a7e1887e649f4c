from __future__ import annotations

import json
import random
import urllib.request
from typing import Any

from offenders import check_each

from loopback.answering import EVALUATED, SCHEMAS, fitting, schema_of
from loopback.server import LoopbackServer
from persimchat.state import assessment
from persimchat.state.minds import judgement


def post(server: LoopbackServer, path: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(server.url + path, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def chat(text: str, **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text}], **more}


def test_embeddings_depend_on_the_text_alone() -> None:
    with LoopbackServer() as server:
        one, same, other = (
            post(server, "/embeddings", {"model": "e", "input": [text]})["data"][0]["embedding"]
            for text in ("tea", "tea", "coffee")
        )
    assert one == same != other
    assert len(one) == 64


def test_models_are_listed() -> None:
    with LoopbackServer() as server, urllib.request.urlopen(server.url + "/models", timeout=60) as response:
        assert json.load(response)["data"][0]["id"] == "test-model"


def test_requests_are_recorded_and_the_form_asked_for_is_kept() -> None:
    tool = {"type": "function", "function": {"name": "F", "parameters": {"type": "object", "properties": {}}}}
    with LoopbackServer(answer=lambda _: {"a": 1}) as server:
        plain = post(server, "/chat/completions", chat("hi"))["choices"][0]
        called = post(server, "/chat/completions", chat("hi", tools=[tool]))["choices"][0]
    assert json.loads(plain["message"]["content"]) == {"a": 1}
    assert called["message"]["content"] is None
    assert called["message"]["tool_calls"][0]["function"] == {"name": "F", "arguments": '{"a": 1}'}
    assert called["finish_reason"] == "tool_calls"
    assert [r.text for r in server.requests] == ["hi", "hi"]


def test_every_task_has_a_fitting_answer() -> None:
    def check(task: str) -> None:
        schema = schema_of(chat(f'<task name="{task}">'))
        for seed in range(20):
            model = getattr(assessment if task in EVALUATED else judgement, SCHEMAS[task])
            model.model_validate(fitting(schema, random.Random(seed)))

    check_each(SCHEMAS, check)
