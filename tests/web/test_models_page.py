"""The page of models and the field that chooses one: provider, model, status of the key, test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from loopback.server import LoopbackServer, free_port
from nicegui import ui
from nicegui.testing import User

from persimchat.models.local import files


@pytest.fixture(autouse=True)
def without_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Any):
    monkeypatch.setenv(files.FOLDER_VARIABLE, str(tmp_path / "models"))
    for variable in ("OPENAI_API_KEY", "PERSIMCHAT_API_KEY", "PERSIMCHAT_MODEL"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer() as serving:
        yield serving


def one(user: User, mark: str) -> Any:
    return next(iter(user.find(mark).elements))


def told(user: User, mark: str = "model-told") -> str:
    return str(one(user, mark).text)


async def test_a_provider_then_its_model_and_its_key(user: User, monkeypatch: pytest.MonkeyPatch):
    await user.open("/models")
    assert one(user, "model-provider").value == "offline"
    await user.should_see("says nothing real")
    one(user, "model-provider").set_value("openai")
    await user.should_see("set OPENAI_API_KEY in the terminal")
    assert one(user, "model-name").value == "gpt-4o-mini"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-value")
    one(user, "model-name").set_value("gpt-4o")
    await user.should_see("The key is set (OPENAI_API_KEY).")
    await user.should_not_see("sk-secret-value")
    one(user, "model-provider").set_value("anthropic")
    await user.should_see("pip install langchain langchain-anthropic")


async def test_what_a_server_has(user: User, server: LoopbackServer):
    await user.open("/models")
    one(user, "model-provider").set_value("server")
    await user.should_see("Address of the server")
    one(user, "model-address").set_value(server.url)
    one(user, "model-name").set_value("mine")
    user.find("model-look").click()
    await user.should_see("The server has one model.", retries=50)
    assert one(user, "model-name").value == "test-model"
    one(user, "model-name").set_value("mine")
    user.find("model-name").trigger("blur")
    assert "does not list this model" in one(user, "model-name").error
    one(user, "model-name").set_value("test-model")
    user.find("model-test").click()
    await user.should_see("It works", retries=50)


async def test_an_address_that_nobody_answers(user: User):
    await user.open("/models")
    one(user, "model-provider").set_value("server")
    one(user, "model-address").set_value(f"http://127.0.0.1:{free_port()}/v1")
    one(user, "model-name").set_value("m")
    user.find("model-test").click()
    await user.should_see("cannot reach the server", retries=50)
    assert "Check that the server runs" in told(user)


async def test_fields_are_checked_when_they_are_left(user: User):
    await user.open("/models")
    one(user, "model-provider").set_value("server")
    one(user, "model-address").set_value("localhost 8000")
    user.find("model-address").trigger("blur")
    assert "does not have a valid server address" in one(user, "model-address").error
    one(user, "model-address").set_value("http://localhost:8000/v1")
    one(user, "model-name").set_value("")
    user.find("model-name").trigger("blur")
    assert one(user, "model-name").error == "Which model? Choose one or write its name."
    one(user, "model-provider").set_value("other")
    one(user, "model-name").set_value("http://localhost:9999/v1")
    user.find("model-name").trigger("blur")
    assert "@" in one(user, "model-name").error
    await user.should_not_see("pip install")


async def test_no_model_of_its_own(user: User):
    from persimchat.app.web.models.picker import model_picker

    given: list[str] = []

    @ui.page("/field")
    def _field() -> None:
        model_picker("", given.append, none="The conversation's")

    await user.open("/field")
    assert one(user, "model-provider").value == ""
    one(user, "model-provider").set_value("openai")
    one(user, "model-provider").set_value("")
    assert given == ["openai:gpt-4o-mini", ""]
