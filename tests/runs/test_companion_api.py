"""`persimchat.companion`: a companion in ordinary code, in a notebook's loop, and in async code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import persimchat
from persimchat.runs.companion.api import companion
from persimchat.runs.companion.events import Answered, TalkOver, Token


def test_the_example_of_its_docstring_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    found = re.search(r"```python\n(.*?)```", companion.__doc__ or "", re.DOTALL)
    assert found is not None
    exec("\n".join(line[8:] for line in found[1].splitlines()), {})
    assert "Mira" in capsys.readouterr().out


def test_ordinary_code_asks_ends_and_forgets(tmp_path: Path) -> None:
    with persimchat.companion("Jarmila", person="Petr", world=tmp_path / "w", model="offline") as jarmila:
        assert jarmila.agent.startswith("Jarmila ") and jarmila.remembered() is None
        said = jarmila.say("I like tea.", id="1")
        assert said.appraised and jarmila.say("I like tea.", id="1") == said
        assert [type(event) for event in jarmila.end()] == [TalkOver]
        assert (tie := jarmila.remembered()) is not None and tie.in_force
        jarmila.forget()
        assert jarmila.remembered() is None
        assert jarmila.say("Hello.").trust == 5
    with pytest.raises(persimchat.InputError, match="settings are given twice"):
        persimchat.companion("Jarmila", world=tmp_path / "w", settings=persimchat.Settings(), model="offline")


async def test_async_code_gets_events(tmp_path: Path) -> None:
    async with await persimchat.acompanion("Jarmila", "", "Petr", world=tmp_path / "w", model="offline") as jarmila:
        events = [event async for event in jarmila.asay("My dog is called Rex.")]
        words = "".join(event.text for event in events if isinstance(event, Token))
        assert words == next(event.utterance for event in events if isinstance(event, Answered))
        assert await jarmila.aend()
        assert (tie := await jarmila.aremembered()) is not None and tie.talks == 1
