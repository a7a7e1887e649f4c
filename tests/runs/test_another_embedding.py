"""An embedding's server has another model: one sentence, and with the right one all goes on as if nothing had been.

Where nothing had been kept yet, the run goes on with the other one, and has the vectors of that one alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from companion_talks import FERRY
from loopback.answering import embeddings
from loopback.failing import retry_at_once
from loopback.scripted import ANSWERS, Scripted
from loopback.server import LoopbackServer
from run_files import read_words

import persimchat
from persimchat.app.cli import main
from persimchat.memory.store import held_store
from persimchat.state.errors import InputError

pytestmark = pytest.mark.proof

OTHER = "embedding is another one than the one that memories were kept with"
SMALLER = 32
PLACES = (2, 3, 4, 6, 9)
"""The requests for embeddings at which another model answers."""


class Swapped:
    """Embeddings by another model from one request on: with fewer numbers, or with others."""

    def __init__(self, at: int | None = None, *, numbers: bool = True) -> None:
        self.asked, self.at, self.numbers = 0, at, numbers

    def __call__(self, body: dict[str, Any]) -> dict[str, Any]:
        self.asked += 1
        return embeddings(body) if self.at is None or self.asked < self.at else self.other(body)

    def other(self, body: dict[str, Any]) -> dict[str, Any]:
        """What the other model answers."""
        texts = [f"{text}?" for text in body["input"]]
        answer = embeddings({**body, "input": texts})
        for row in answer["data"]:
            row["embedding"] = row["embedding"][: SMALLER if self.numbers else None]
        return answer


def kept_with_the_other_alone(folder: Path, swapped: Swapped, embedding: str) -> bool:
    """Is every vector that a run has kept one of the other model?"""
    with held_store(str(folder / "memory")) as store:
        agents = store.agents(folder.name)
        for agent in agents:
            found = store.load(folder.name, agent, embedding, store.ids(folder.name, agent))
            for memory, vector in found.values():
                other = np.array(swapped.other({"input": [memory.text]})["data"][0]["embedding"])
                if vector.shape != other.shape or not np.allclose(vector, other / np.linalg.norm(other), atol=1e-5):
                    return False
    return bool(agents)


def options(server: LoopbackServer, out: Path) -> dict[str, Any]:
    place = {"model": server.model(), "embedding": server.model("e"), "out": out, "seed": 3}
    return {"participants": 2, "max_messages": 3, **place}


@pytest.mark.proof(cases=2)
@pytest.mark.parametrize("numbers", [True, False])
@pytest.mark.parametrize("at", PLACES)
def test_a_run_ends_in_one_sentence_and_goes_on_with_the_right_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], at: int, numbers: bool
) -> None:
    retry_at_once(monkeypatch)
    with LoopbackServer() as server:
        whole = persimchat.simulate("Where to?", **options(server, tmp_path / "whole"))
        server.embeds = swapped = Swapped(at, numbers=numbers)
        with pytest.raises(InputError, match=OTHER):
            persimchat.simulate("Where to?", **options(server, tmp_path / "swapped"))
        (folder,) = (tmp_path / "swapped").iterdir()
        codes = {}
        for command in ("resume", "poll"):
            codes[command] = main([command, str(folder)])
            said = capsys.readouterr()
            assert "Traceback" not in said.err + said.out
            assert codes[command] in (0, 2, 3)
        assert main(["replay", str(folder)]) == 0
        capsys.readouterr()
        if codes["resume"] == 0:
            assert kept_with_the_other_alone(folder, swapped, server.model("e"))
            return
        swapped.at = None
        assert main(["resume", str(folder), "--quiet"]) == 0
        assert read_words(folder) == read_words(Path(whole.folder or ""))


@pytest.mark.parametrize("numbers", [True, False])
def test_an_interview_says_so_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], numbers: bool
) -> None:
    retry_at_once(monkeypatch)
    with LoopbackServer() as server:
        run = persimchat.simulate("Where to?", **options(server, tmp_path))
        ask = ["interview", str(run.folder), run.utterances[0].speaker, "--ask", "Would you come along?"]
        server.embeds = swapped = Swapped(1, numbers=numbers)
        assert main(ask) == 2
        said = capsys.readouterr()
        assert OTHER in said.err and "Traceback" not in said.err + said.out
        swapped.at = None
        assert main(ask) == 0, capsys.readouterr().err
        assert main(["replay", str(run.folder)]) == 0


@pytest.mark.parametrize("numbers", [True, False])
def test_a_companion_says_so_and_goes_on_with_the_right_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, numbers: bool
) -> None:
    retry_at_once(monkeypatch)
    reaction = {name: ANSWERS[name] for name in ("perception", "emotion", "trust")}
    with LoopbackServer(answer=Scripted(companion="Good to see you.", reaction=reaction)) as server:
        place = {"world": tmp_path / "w", "model": server.model(), "embedding": server.model("e")}
        with persimchat.companion(FERRY, "Oda", "Petr", **place) as oda:
            oda.say("My sister is called Mira.")
        server.embeds = swapped = Swapped(1, numbers=numbers)
        with persimchat.companion(FERRY, "Oda", "Petr", **place) as oda, pytest.raises(InputError, match=OTHER):
            oda.say("What is my sister called?")
        swapped.at = None
        with persimchat.companion(FERRY, "Oda", "Petr", **place) as oda:
            assert oda.say("What is my sister called?").utterance == "Good to see you."
            oda.say("Goodbye!")
