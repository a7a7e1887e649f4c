from __future__ import annotations

import pytest
from fixtures import Refused
from hypothesis import given
from hypothesis import strategies as st

from persimchat.models.naming import (
    DEFAULT,
    OFFLINE,
    default_model_name,
    parse_model_name,
    server_address,
)
from persimchat.state.errors import InputError


@pytest.mark.parametrize(
    ("name", "provider", "model", "url"),
    [
        ("offline", "offline", "offline", None),
        (" offline ", "offline", "offline", None),
        ("openai:gpt-4o-mini", "openai", "gpt-4o-mini", "https://api.openai.com/v1"),
        ("azure:my-deployment", "azure", "my-deployment", None),
        ("ollama:llama3.2:3b", "ollama", "llama3.2:3b", "http://localhost:11434/v1"),
        ("llamacpp:/models/a b.gguf", "llamacpp", "/models/a b.gguf", None),
        ("llamacpp:C:\\models\\a.gguf", "llamacpp", "C:\\models\\a.gguf", None),
        ("m@http://localhost:8000/v1", "compatible", "m", "http://localhost:8000/v1"),
        ("m@http://localhost:8000/v1/", "compatible", "m", "http://localhost:8000/v1"),
        ("org/m:7b@q4@https://h.example/v1", "compatible", "org/m:7b@q4", "https://h.example/v1"),
        ("openai:gpt@http://h/v1", "compatible", "openai:gpt", "http://h/v1"),
        ("m@HTTP://h/v1", "compatible", "m", "HTTP://h/v1"),
        ("m@http://[::1]:8000/v1", "compatible", "m", "http://[::1]:8000/v1"),
        ("anthropic:claude-sonnet-4-5", "langchain", "anthropic:claude-sonnet-4-5", None),
    ],
)
def test_every_form_of_name(name: str, provider: str, model: str, url: str | None) -> None:
    parsed = parse_model_name(name)
    assert (parsed.provider, parsed.model, parsed.base_url) == (provider, model, url)
    assert parsed.written == name.strip()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gpt-4o", "Did you mean openai:gpt-4o?"),
        ("o4-mini", "Did you mean openai:o4-mini?"),
        ("claude-3-5-sonnet", "Did you mean anthropic:claude-3-5-sonnet?"),
        ("llama3.2", "Did you mean ollama:llama3.2?"),
        ("ofline", "Did you mean 'offline'?"),
        ("ollama", "ollama:<model>"),
        ("xyzzy", "<model>@http://host:port/v1"),
        ("", "Use offline"),
        ("openai:", "the model's name is missing"),
        ("@http://localhost/v1", "the model's name is missing"),
        ("offline:7", "Use offline"),
        ("m@http://", "a valid server address"),
        ("m@http://host:notaport/v1", "a valid server address"),
    ],
)
def test_wrong_names_say_what_to_write(name: str, expected: str, refused: Refused) -> None:
    refused(lambda: parse_model_name(name), expected)


@pytest.mark.parametrize("url", ["http://me:pa55word@h/v1", "http://pa55word@h/v1", "http://h/v1?key=pa55word"])
def test_credentials_in_an_address_are_refused_and_not_shown(url: str, refused: Refused) -> None:
    assert "pa55word" not in refused(lambda: parse_model_name(f"m@{url}"), "PERSIMCHAT_API_KEY")


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0:9999", "http://127.0.0.1:9999/v1"),
        ("http://box:11434", "http://box:11434/v1"),
        ("https://box/v1", "https://box/v1"),
    ],
)
def test_ollama_host(host: str, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", host)
    assert parse_model_name("ollama:m").base_url == url


def test_default_model_is_offline_without_a_key_and_says_so() -> None:
    name, notice = default_model_name(None)
    assert name == OFFLINE
    assert notice is not None
    assert "openai:gpt-4o-mini" in notice
    assert "\n" not in notice


def test_default_model_with_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret123456")
    name, notice = default_model_name(None)
    assert name == DEFAULT
    assert notice is not None
    assert "secret" not in notice


def test_a_chosen_model_needs_no_notice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret123456")
    assert default_model_name("offline") == ("offline", None)


@given(st.text(max_size=60))
def test_any_text_is_parsed_or_refused_with_one_line(text: str) -> None:
    try:
        assert parse_model_name(text).written == text.strip()
    except InputError as error:
        assert "\n" not in str(error)


@given(st.text(alphabet="abcAZ019/:@._-", min_size=1, max_size=30).filter(lambda t: "@http" not in t))
def test_model_names_may_hold_slash_colon_and_at(model: str) -> None:
    assert parse_model_name(f"{model}@http://127.0.0.1:8000/v1").model == model


def test_server_address_wants_http() -> None:
    with pytest.raises(InputError, match="OLLAMA_HOST"):
        server_address("ftp://h", "OLLAMA_HOST")


def test_a_key_in_the_place_of_a_name_is_not_shown(refused: Refused) -> None:
    assert "abcdefgh" not in refused(lambda: parse_model_name("sk-abcdefghijklmnop123"))
