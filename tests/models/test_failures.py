from __future__ import annotations

import json
import logging
import traceback
from typing import Any

import pytest
from fixtures import Serve
from ledgers import RIGHT, question, question_to, words_of
from loopback.answering import Fault, Reply
from loopback.server import LoopbackServer

from persimchat.models.failures import TransientModelError, is_transient, message_of, status_of
from persimchat.models.health_check import check_model
from persimchat.models.redaction import redact, short
from persimchat.models.registry import chat_model
from persimchat.state.errors import InputError, ModelError
from persimchat.state.settings import Settings

SECRET = "sk-secret-1234567890abcdef"


async def failing(model: str, **options: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await question(Settings(model=model, **options))
    assert "\n" not in str(caught.value)
    assert is_transient(caught.value) is isinstance(caught.value, TransientModelError)
    return caught.value


def error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


@pytest.mark.parametrize(
    ("fault", "again", "words"),
    [
        (Fault(401, error("Incorrect API key provided")), False, "PERSIMCHAT_API_KEY"),
        (Fault(403, error("forbidden")), False, "does not accept the key (HTTP 403)"),
        (Fault(404, error("The model `x` does not exist")), False, "Check the model's name"),
        (Fault(404, "page not found"), False, "page not found"),
        (Fault(400, error("top_k is too large")), False, "top_k is too large"),
        (Fault(408), True, "HTTP 408"),
        (Fault(409), True, "HTTP 409"),
        (Fault(425), True, "HTTP 425"),
        (Fault(429, error("slow down")), True, "requests_per_second"),
        (Fault(429, error("You exceeded your current quota", code="insufficient_quota")), False, "quota is used up"),
        (Fault(429, error("You exceeded your current quota. Please retry in 0.01s.")), True, "busy"),
        (Fault(429, [error("You exceeded your current quota: RequestsPerMinute")]), True, "busy"),
        (Fault(429, [error("You exceeded your current quota: RequestsPerDay. Retry in 9s")]), False, "used up"),
        (Fault(500), True, "something broke"),
        (Fault(502, "<html>Bad Gateway</html>"), True, "HTTP 502"),
        (Fault(503, error("loading model")), True, "loading model"),
        (Fault(529, error("overloaded")), True, "overloaded"),
        (Fault(400, error("This model's maximum context length is 4096 tokens")), False, "Lower memory_tokens"),
        (Fault(400, error("The response was filtered", code="content_filter")), False, "content filter"),
        (Fault(200, error("upstream overloaded", code=502)), True, "HTTP 502"),
        (Fault(200, error("upstream failed")), True, "reported an error: upstream failed"),
        (Fault(200, "<html>Welcome!</html>", {"content-type": "text/html"}), False, "usually ends in /v1"),
        (Fault(200, "{garbage"), False, "usually ends in /v1"),
        (Fault(200, {"choices": None}), False, "usually ends in /v1"),
        (Fault(200, {"hello": "there"}), False, "usually ends in /v1"),
        (Fault(200, {"choices": []}), False, "usually ends in /v1"),
        (Fault(hang_up=True), True, "cut in the middle|cannot reach"),
        (Fault(partial='{"choices": [{"mess'), True, "cut in the middle"),
    ],
)
async def test_failures_are_told_apart_and_say_what_to_do(fault: Fault, again: bool, words: str, serve: Serve) -> None:
    server = serve(lambda _: fault)
    caught = await failing(server.model())
    assert isinstance(caught, TransientModelError) is again, caught
    assert any(word in str(caught) for word in words.split("|")), caught
    for part in ("agent Ann", "module need_to_talk", "turn 3", server.model()):
        assert part in str(caught)
    assert len(server.requests) == 1, "trying again is LangGraph's"


async def test_a_server_that_is_not_there(serve: Serve) -> None:
    with LoopbackServer() as server:
        model = server.model()
    caught = await failing(model)
    assert isinstance(caught, TransientModelError)
    assert server.url in str(caught)
    assert "Is the server started?" in str(caught)


async def test_too_slow_an_answer(serve: Serve) -> None:
    server = serve(lambda _: {}, delay_s=1.0)
    caught = await failing(server.model(), timeout_s=0.2)
    assert not isinstance(caught, TransientModelError), "the graph would try five times"
    assert "no answer within 0.2 seconds, twice" in str(caught)
    assert len(server.requests) <= 2  # on a busy machine, a request may be given up before it has arrived


@pytest.mark.parametrize(
    "fault", [Fault(partial="One two three four"), Fault(partial="One two three four", silent=True)]
)
async def test_a_stream_that_is_cut_is_no_utterance(fault: Fault, serve: Serve) -> None:
    with pytest.raises(TransientModelError, match="cut in the middle"):
        await words_of(serve(lambda _: fault))


class BreaksOff(Reply):
    def chunks(self, body: dict[str, Any], *, usage: bool) -> list[dict[str, Any]]:
        return [*super().chunks(body, usage=usage)[:3], error("upstream exploded", code=503)]


async def test_an_error_in_the_middle_of_a_stream(serve: Serve) -> None:
    with pytest.raises(TransientModelError, match="HTTP 503: upstream exploded"):
        await words_of(serve(lambda _: BreaksOff("One two three four")))


@pytest.mark.proof
async def test_a_stream_that_stalls_runs_out_of_time(serve: Serve) -> None:
    server = serve(lambda _: " ".join(["word"] * 50), token_delay_s=0.05)
    with pytest.raises(ModelError, match="no answer within.*, twice") as caught:
        await words_of(server, timeout_s=0.4)
    assert not isinstance(caught.value, TransientModelError)
    assert len(server.requests) <= 2


async def test_a_key_that_the_server_repeats_is_shown_nowhere(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("PERSIMCHAT_API_KEY", SECRET)
    server = serve(lambda _: Fault(401, error(f"Incorrect API key provided: {SECRET}. Bearer {SECRET}")))
    settings = Settings(model=server.model())
    caught = await failing(server.model())
    model = chat_model(server.model(), settings)
    assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"
    shown = [str(caught), repr(caught), repr(caught.__dict__), *traceback.format_exception(caught)]
    shown += [repr(model), str(model), json.dumps(model._identifying_params, default=str), str(model.model_dump())]
    current: BaseException | None = caught
    while current is not None:
        shown += [str(current), repr(current), repr(current.__dict__)]
        current = current.__cause__ or current.__context__
    assert all("secret-1234567890" not in text for text in shown)
    own = [r.getMessage() for r in caplog.records if r.name.startswith("persimchat")]
    assert all("secret-1234567890" not in text for text in own)


async def test_openais_key_and_account_are_not_sent_to_other_servers(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-mine")
    server = serve(lambda _: RIGHT)
    await question_to(server)
    sent = json.dumps(server.requests[0].headers)
    assert SECRET not in sent
    assert "mine" not in sent
    assert "x-stainless-os" not in sent
    assert server.requests[0].headers["authorization"] == "Bearer no-key"


async def test_openais_key_goes_to_openais_address(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(lambda _: Fault(401))
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    caught = await failing("openai:gpt-4o-mini")
    assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"
    assert "OPENAI_API_KEY" in str(caught)


async def test_requests_to_this_machine_do_not_go_through_a_proxy(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    server = serve(lambda _: "Hello.")
    await words_of(server)
    assert len(server.requests) == 1


async def test_check_model_names_the_form_that_works(serve: Serve) -> None:
    settings = Settings()
    action = {"reasoning": "because", "action": "plan"}
    assert "JSON schema" in await check_model(serve(lambda _: action).model(), settings)
    server = serve(lambda _: action, refuses={"json_schema", "tools", "json_object"})
    line = await check_model(server.model(), settings)
    assert "plain text" in line
    assert "4 requests" in line
    assert "\n" not in line


async def test_check_model_raises_what_is_wrong(serve: Serve) -> None:
    with pytest.raises(ModelError, match="HTTP 401"):
        await check_model(serve(lambda _: Fault(401)).model(), Settings())
    with pytest.raises(InputError, match="OPENAI_API_KEY"):
        await check_model("openai:gpt-4o-mini", Settings())


def test_programming_errors_are_not_tried_again() -> None:
    assert not is_transient(KeyError("x"))
    assert not is_transient(InputError("x"))
    assert not is_transient(KeyboardInterrupt())
    assert is_transient(ConnectionResetError())
    assert is_transient(TimeoutError())


def test_status_and_message_of_foreign_exceptions() -> None:
    assert status_of(ValueError({"message": "m", "code": 429})) == 429
    assert message_of(ValueError({"error": {"message": "m"}})) == "m"
    assert status_of(ValueError("x")) is None
    assert message_of(ValueError()) == "ValueError"


@pytest.mark.parametrize(
    "text",
    [
        f"key {SECRET}!",
        f"Authorization: Bearer {SECRET}",
        "api_key=abcdef123456secret",
        "http://user:abcdefsecret@host/v1",
        "hf_abcdefsecret",
    ],
)
def test_redaction(text: str) -> None:
    assert "secret" not in redact(text)
    assert redact("The maximum is 4096 tokens: shorten it") == "The maximum is 4096 tokens: shorten it"


def test_short_is_one_short_line() -> None:
    assert short("a\nb" * 1000).startswith("a ba b")
    assert len(short("x" * 1000)) == 300
