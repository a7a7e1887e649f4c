"""A setting in words: the name of its option, its default, and the settings that it depends on."""

from __future__ import annotations

from typing import Any

from persimchat.state.settings import ABOUT, Settings


def option_name(setting: str) -> str:
    """The option of the command line: `--max-messages`."""
    return "--" + setting.replace("_", "-")


def default_in_words(setting: str) -> str:
    """A setting's default: `10; debates: 60`, `no`, `not set`."""
    field, about = Settings.model_fields[setting], ABOUT[setting]
    if about.usual:
        return about.usual
    free, debate = (
        _in_words(field.get_default(call_default_factory=True, validated_data={"mode": mode}))
        for mode in ("discussion", "debate")
    )
    return free if free == debate else f"{free}; debates: {debate}"


def condition_in_words(setting: str) -> str:
    """The values of other settings that it depends on: `pattern=need_to_talk and selection=softmax`; empty if none."""
    return " and ".join(f"{name}={' or '.join(values)}" for name, values in ABOUT[setting].only_if.items())


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "not set"
    return str(value) if value not in ([], {}) else "none"
