"""Keys that are given by mistake are not shown again."""

from __future__ import annotations

import pytest

from persimchat.state.configuration import load_settings
from persimchat.state.errors import InputError, ModelError
from persimchat.state.secrets import without_secrets

KEYS = [
    "sk-proj-Zz9yYx8wWv7u",
    "sk-ant-api03-abcDEF123",
    "gsk_a1b2c3d4e5f6g7",
    "hf_AbCdEfGhIjKl",
    "AIzaSyA1b2C3d4E5f6G7h8",
    "ghp_abcdefABCDEF0123",
    "AKIAABCDEFGHIJKLMNOP",
    "xoxb-1234567890-abc",
    "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.abc_def",
    "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6",
]


@pytest.mark.parametrize("key", KEYS)
def test_what_looks_like_a_key_is_not_in_an_error(key: str) -> None:
    for error in (InputError(f"unknown model {key!r}", where=f"setting model={key}"), ModelError("no", model=key)):
        assert key[4:] not in f"{error} {error.what} {error.where} {error.sentence} {error.model_dump()}"
        assert "…" in str(error)


@pytest.mark.parametrize("setting", ["seed", "max_messages", "pattern", "timeout_s", "nothing"])
def test_a_key_as_a_setting_is_not_shown(setting: str) -> None:
    with pytest.raises(InputError) as caught:
        load_settings(environment={}, **{setting: KEYS[0]})
    assert "Zz9yYx8wWv7u" not in str(caught.value)


def test_a_known_key_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOMEBODY_S_API_KEY", "correct7horse")
    monkeypatch.setenv("OTHER_API_KEY", "ollama")  # as local servers are given one: an ordinary word
    assert str(InputError("unknown model 'correct7horse' of ollama")) == "unknown model '…' of ollama"


@pytest.mark.parametrize(
    "text",
    [
        "the file is damaged: sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "there is no run 20261126-185128-bikes-634c (/tmp/runs)",
        "Set OPENAI_API_KEY, or choose another model.",
        "unknown field 'key_figures'. Did you mean 'keywords'?",
        "hf-internal-testing/tiny-random-gpt2 needs answer_tokens: 332; a basic awareness of risk-taking",
        "SmolLM2-135M-Instruct-Q4_K_M.gguf cannot be read",
    ],
)
def test_other_words_stay(text: str) -> None:
    assert without_secrets(text) == text
