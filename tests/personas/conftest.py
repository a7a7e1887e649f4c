"""Files written for one test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from persimchat.state.errors import InputError

settings.register_profile("unhurried", deadline=None)  # a busy machine is no failure
settings.load_profile("unhurried")


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a file into the test's own folder: `write("a.yaml", "text")`."""

    def _write(name: str, text: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return _write


@pytest.fixture
def refused() -> Callable[..., str]:
    """Call something that must raise InputError; the message, which is one line that holds every word given."""

    def _refused(call: Callable[[], object], *words: str) -> str:
        with pytest.raises(InputError) as caught:
            call()
        message = str(caught.value)
        assert "\n" not in message
        assert [word for word in words if word not in message] == [], message
        assert caught.value.remedy, message
        return message

    return _refused
