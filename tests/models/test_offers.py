"""The fixed list of providers: names in parts and whole, keys by their status, packages of the list alone."""

from __future__ import annotations

import pytest

from persimchat.models.naming import PACKAGES, parse_model_name
from persimchat.models.offers import OFFERS, Key, Parts, key_of, missing_packages, parts_of
from persimchat.state.errors import InputError


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("offline", Parts("offline")),
        ("smollm2", Parts("file", "smollm2")),
        ("hf:a/b/c.gguf", Parts("file", "hf:a/b/c.gguf")),
        ("openai:gpt-4o", Parts("openai", "gpt-4o")),
        ("anthropic:claude-x", Parts("anthropic", "claude-x")),
        ("m@http://localhost:8000/v1", Parts("server", "m", "http://localhost:8000/v1")),
        ("org/m@HTTPS://host/v1", Parts("server", "org/m", "HTTPS://host/v1")),
        ("nvidia:m", Parts("other", "nvidia:m")),
        ("llama3", Parts("other", "llama3")),
        ("file", Parts("other", "file")),
    ],
)
def test_a_name_in_parts_and_whole_again(name: str, parts: Parts):
    assert parts_of(name) == parts
    assert parts.name == name


@pytest.mark.parametrize("name", ["http://localhost:9999/v1", "https://evil.example/pip/v1"])
def test_an_address_is_a_server_without_a_model(name: str):
    parts = parts_of(name)
    assert (parts.provider, parts.model, parts.address) == ("server", "", name)
    with pytest.raises(InputError, match="model's name is missing"):
        parse_model_name(parts.name)


def test_keys_are_known_by_their_status_only(monkeypatch: pytest.MonkeyPatch):
    for variable in ("OPENAI_API_KEY", "PERSIMCHAT_API_KEY", "PERSIMCHAT_KEY_HOSTS", "AWS_ACCESS_KEY_ID"):
        monkeypatch.delenv(variable, raising=False)
    assert key_of("openai") == (Key.MISSING, ("OPENAI_API_KEY",))
    assert key_of("ollama")[0] is key_of("offline")[0] is key_of("file")[0] is Key.NOT_NEEDED
    assert key_of("bedrock")[0] is Key.ELSEWHERE
    assert key_of("server", "http://localhost:8000/v1")[0] is Key.OPTIONAL
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    monkeypatch.setenv("PERSIMCHAT_API_KEY", "own-1")
    assert key_of("openai") == (Key.SET, ("OPENAI_API_KEY",))
    assert key_of("server", "http://localhost:8000/v1")[0] is Key.SET
    assert key_of("server", "http://gpu.example:8000/v1")[0] is Key.WITHHELD
    monkeypatch.setenv("PERSIMCHAT_KEY_HOSTS", "other.example, GPU.example:8000")
    assert key_of("server", "http://gpu.example:8000/v1")[0] is Key.SET
    assert key_of("server", "http://gpu.example:8001/v1")[0] is Key.WITHHELD
    assert key_of("server", "http://[broken/v1")[0] is Key.WITHHELD


def test_packages_come_from_the_list():
    assert set(PACKAGES) <= set(OFFERS)
    known = {"langchain", *PACKAGES.values()}
    assert {package for provider in OFFERS for package in missing_packages(provider)} <= known
    assert missing_packages("http") == missing_packages("evil") == ()
