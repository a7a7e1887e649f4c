"""What is wrong with a request is told in the form of the API's errors, and the API keeps to its description."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nicegui.testing import User
from pydantic import BaseModel, TypeAdapter, ValidationError
from web.conftest import Server
from web.experiment_folders import hold_cell, write_experiment

from persimchat.app.web.api import models
from persimchat.app.web.api.bodies import read_json, wrong_in
from persimchat.app.web.api.models import Branch, Conversation, Intervention
from persimchat.app.web.serving import MOST_BYTES
from persimchat.state import intervention
from persimchat.state.errors import InputError
from persimchat.state.scenario import Scenario

JSON = {"content-type": "application/json"}


@pytest.fixture
async def client(user: User) -> httpx.AsyncClient:
    """A client of the whole application, behind its guard."""
    return user.http_client


@pytest.mark.proof
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"topic":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
        (b'{"topic":"x","settings":' + b'{"a":' * 200 + b"1" + b"}" * 201, "nested too deeply"),
        (b'{"topic":"x","rules":[' + b"1," * 60_000 + b"1]}", "too many values"),
        (b'{"topic":"\xff"}', "not UTF-8"),
        (b'{"topic":"x","topic":"y"}', "given twice"),
        (b'{"topic":"x","settings":{"timeout_s":NaN}}', "NaN is not a number"),
        (b'{"topic":"x","settings":{"timeout_s":1e999}}', "1e999 is not a number"),
        (b'{"topic":"x","settings":{"seed":' + b"9" * 5000 + b"}}", "5000 digits"),
        (b'{"topic":"\\ud800"}', "half of a Unicode character"),
        (b'{"topic":', "not JSON"),
        (b'{"topic":"x","settings":{"max_messages":true}}', "max_messages should be a number, not true"),
        (b'{"topic":"x","settings":{"requests_per_second":1e-300}}', "greater than or equal to 0.001"),
        ('{"topic":"\u200b\u3164"}'.encode(), "topic is empty"),
        (b'{"topic":"x","participants":[{"name":"A\\u0000","description":"a"},"Jarmila"]}', "U+0000"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_what_is_wrong_with_a_body(body: bytes, words: str, client: httpx.AsyncClient) -> None:
    answer = await client.post("/api/estimate", content=body, headers=JSON)
    assert answer.status_code in (400, 422)
    told = answer.json()
    assert told.keys() == {"error", "where", "remedy"}
    assert words in told["error"]
    assert told["where"]


@pytest.mark.proof
@pytest.mark.parametrize(("size", "status"), [(str(MOST_BYTES + 1), 413), ("9" * 40, 413), ("-1", 413)])
async def test_a_body_that_is_too_large(size: str, status: int, client: httpx.AsyncClient) -> None:
    answer = await client.post("/api/runs", content=b"{}", headers={**JSON, "content-length": size})
    assert answer.status_code == status
    assert answer.json()["error"] == "the body is too large"


@pytest.mark.proof
async def test_a_body_of_unknown_size(client: httpx.AsyncClient) -> None:
    whole, chunked = [
        await client.post("/api/runs", content=b"{}", headers={**JSON, **more})
        for more in ({}, {"transfer-encoding": "chunked"})
    ]
    assert (whole.status_code, whole.json()) == (chunked.status_code, chunked.json())


@pytest.mark.proof
async def test_whether_it_is_up(client: httpx.AsyncClient) -> None:
    assert (await client.get("/api/health")).json() == {"status": "ok"}
    assert (await client.head("/api/health")).status_code == 200


@pytest.mark.parametrize("path", ["/api/runs", "/api/models"])
async def test_a_head_is_its_get_without_a_body(path: str, client: httpx.AsyncClient) -> None:
    got, headed = await client.get(path), await client.head(path)
    assert (headed.status_code, headed.content) == (got.status_code, b"")
    assert headed.headers["content-type"] == got.headers["content-type"]


@given(st.binary(max_size=60) | st.text(max_size=40).map(str.encode))
def test_any_bytes(body: bytes) -> None:
    try:
        read_json(body)
    except InputError as error:
        assert error.where.startswith("body")


TEXT = st.text(st.characters(exclude_categories=["Cs"]))
PLAIN: Any = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**64), 2**64) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
)


@given(PLAIN)
def test_what_is_right_is_read(data: Any) -> None:
    assert read_json(json.dumps(data).encode()) == data


@pytest.mark.parametrize(
    ("model", "body", "words", "where"),
    [
        (Conversation, [], "the body should be an object with fields, not a list", "body"),
        (Conversation, None, "the body should be an object with fields, not null", "body"),
        (Conversation, {}, "topic is missing", "body.topic"),
        (Conversation, {"topic": ""}, "topic is empty", "body.topic"),
        (Conversation, {"topic": "T", "nonsense": 1}, "there is no field nonsense", "body.nonsense"),
        (Conversation, {"topic": "T", "rules": {"a": 1}}, "rules should be a list, not an object", "body.rules"),
        (
            Conversation,
            {"topic": "T", "participants": [3]},
            "participants.0 should be text or an object with fields, not 3",
            "body.participants.0",
        ),
        (
            Conversation,
            {"topic": "T", "participants": [{"name": "Eva"}]},
            "participants.0.description is missing",
            "body.participants.0.description",
        ),
        (Branch, {"turn": "four"}, "turn should be a whole number, not 'four'", "body.turn"),
        (Branch, {"turn": -1}, "turn should be 0 or more, not -1", "body.turn"),
        (Branch, {"say": "hello"}, "say should be an object with fields, not 'hello'", "body.say"),
        (Intervention, {}, "do is missing", "body.do"),
        (Intervention, {"do": "hand", "agent": "A", "raised": "up"}, "raised should be true or false", "body.raised"),
        (Intervention, {"do": "dance"}, "do should be one of 'say', 'topic'", "body.do"),
    ],
)
def test_a_body_of_the_wrong_form_is_told_in_plain_words(model: Any, body: Any, words: str, where: str) -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(model).validate_python(body, from_attributes=True)
    errors = [{**one, "loc": ("body", *one["loc"])} for one in refused.value.errors()]
    wrong = wrong_in(errors, body)
    assert wrong.what.startswith(words)
    assert wrong.where == where


# The REST API takes texts as long as the core does, no longer and no shorter


def longest(model: type[BaseModel], *path: str) -> Any:
    """The `maxLength` of a field, or of what it holds."""
    schema = model.model_json_schema()["properties"]
    for part in path:
        schema = schema[part]
    return schema["maxLength"]


@pytest.mark.parametrize(
    ("taken", "core", "path"),
    [
        (models.Conversation, Scenario, ("topic",)),
        (models.Conversation, Scenario, ("rules", "items")),
        (models.Conversation, Scenario, ("social_goals", "additionalProperties", "items")),
        (models.Say, intervention.Say, ("text",)),
        (models.Topic, intervention.NewTopic, ("topic",)),
    ],
)
def test_lengths_are_the_core_s(taken: type[BaseModel], core: type[BaseModel], path: tuple[str, ...]):
    assert longest(taken, *path) == longest(core, *path)


# The REST API keeps to its own description: schemathesis sends it what fits and what does not


WITHOUT = "positive_data_acceptance"
"""A check that asks that whatever has the right form is accepted; nobody has the name of a random participant."""
KNOWN = """
[parameters]
"path.run" = ["{run}", "no-run", "small:{cell}"]
"path.name" = ["small", "none"]
"path.table" = ["cells.csv", "none.csv"]
"path.cell" = ["{cell}", "none"]

[[operations]]
include-name = "DELETE /api/runs/{{run}}"
parameters = {{ "path.run" = "no-run" }}
"""
"""Configuration of schemathesis: a run that there is, and is not deleted."""


@pytest.mark.long
@pytest.mark.proof
def test_it_keeps_to_its_description(tmp_path: Path):
    served = Server(
        tmp_path, PERSIMCHAT_MAX_MESSAGES="1", PERSIMCHAT_MODEL="offline", PERSIMCHAT_STORE="ephemeral"
    )  # what it starts is short
    try:
        place, (cell, *_) = write_experiment(tmp_path / "results")
        hold_cell(place, cell)
        run = httpx.post(f"{served.url}/api/runs", json={"topic": "Tea?"}, timeout=60).json()["run"]
        (tmp_path / "schemathesis.toml").write_text(KNOWN.format(run=run, cell=cell))
        command = [sys.executable, "-m", "schemathesis.cli", "run", f"{served.url}/api/openapi.json"]
        options = ["--max-examples=10", "--seed=7", "--phases=fuzzing", "--no-color", f"--exclude-checks={WITHOUT}"]
        done = subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, text=True, timeout=240)
    finally:
        served.close()
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
