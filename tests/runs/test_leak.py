"""What is whispered stays with those who hear it: all prompts of whole runs, and everything that a run leaves behind.

The server's answers repeat a marker word only where the prompt had it, and utterances never do: whatever anybody else
has of it was given to them by PerSimChat.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback.scripted import ANSWERS, Scripted, prompt_of, task_of
from loopback.server import LoopbackServer
from run_files import read_records

from persimchat.graph.baselines import graph_for
from persimchat.memory.store import held_store
from persimchat.memory.utterance_vectors import utterance_vectors
from persimchat.runs.control import Control
from persimchat.runs.folder.checkpoints import opened
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

pytestmark = pytest.mark.proof

ADA, BO, CY, DEE, LI = "Ada Lind", "Bo Říha", "Cy Dahl", "Dee Ek", "李雷"
AGENTS = (ADA, BO, CY, DEE)
SCENARIO = Scenario.model_validate(
    {
        "topic": "Tea or coffee?",
        "participants": [
            *({"name": name, "description": "Somebody who drinks.", "social_goals": ["Be heard."]} for name in AGENTS),
            {"name": LI, "human": True},
        ],
    }
)
GATE = "The garden gate behind the old mill is open every night"
HEARS = {"xylophone": {ADA}, "marimba": {ADA, BO}}
"""Marker words, and the agents who hear them; the second is whispered by a person."""
WORDS = (
    "water",
    "bread",
    "river",
    "winter",
    "music",
    "letter",
    "stone",
    "wheel",
    "candle",
    "market",
    "silver",
    "forest",
)


class Echoing(Scripted):
    """Answers as scripted; every text in an answer carries the markers that stand in its prompt. Utterances do not."""

    def __init__(self, *, repeats: str = "") -> None:
        super().__init__()
        self.repeats = repeats
        self.bodies: list[dict[str, Any]] = []

    def __call__(self, body: dict[str, Any]) -> Any:
        prompt, task = "\n".join(str(message["content"]) for message in body["messages"]), task_of(body)
        self.bodies.append(body)
        if task == "utterance":
            if self.repeats and name_in(prompt) == self.repeats and "<avoid>" not in prompt:
                return f"{GATE}."
            number = len(self.prompts("utterance"))
            self.asked.append((task, prompt_of(body)))
            return " ".join(f"{word}{number}" for word in WORDS)
        echoed = " ".join(marker for marker in HEARS if marker in prompt)
        answer = super().__call__(body)
        return with_echo(answer, echoed) if task in ANSWERS and echoed else answer


def with_echo(answer: Any, echoed: str) -> Any:
    """An answer whose free texts end with a word."""
    free = {"reasoning", "theme", "identity", "reaction", "progress", "position"}
    if isinstance(answer, dict):
        return {
            key: f"{value} {echoed}"
            if key in free and isinstance(value, str) and key != "progress"
            else with_echo(value, echoed)
            for key, value in answer.items()
        }
    return [with_echo(item, echoed) for item in answer] if isinstance(answer, list) else answer


def name_in(prompt: str) -> str:
    """Whose prompt it is: the name in it; empty for those who look on."""
    found = re.search(r"^- Name: (.*)$", prompt, re.MULTILINE)
    return found.group(1) if found else ""


async def whispering(server: LoopbackServer, out: Path, **more: Any) -> list[Any]:
    """A run in which the moderator whispers to Ada, and a person to Ada and Bo."""
    settings = Settings(
        **{"model": server.model(), "max_messages": 12, "human_turns": "hand", "closing": "off", "concurrent": True}
        | more
    )
    control, events = Control(), []
    async for event in run_simulation(SCENARIO, settings, out=out, run="r", control=control):
        events.append(event)
        if event.event == "utterance" and event.turn == 1:
            control.whisper("Ada", f"{GATE}, xylophone.")
        if event.event == "utterance" and event.turn == 4:
            control.say(f"Ada, Cy, {GATE}, marimba.", speaker=LI, heard_by=["Ada", "Bo"])
        if event.event == "asked":
            control.answer(0 if event.what == "need_to_talk" else {"pass": True})
    return events


def leaks(texts: Iterator[tuple[str, str]]) -> list[tuple[str, str, str]]:
    """Who has a marker that is not theirs: name, marker, and where."""
    return [
        (name, marker, text[:200])
        for name, text in texts
        for marker, hearers in HEARS.items()
        if marker in text and name not in hearers
    ]


def prompts(server: LoopbackServer) -> Iterator[tuple[str, str]]:
    for request in server.requests:
        if request.path.endswith("/chat/completions"):
            yield name_in(request.text), json.dumps(request.body, ensure_ascii=False)


def memories(folder: Path) -> Iterator[tuple[str, str]]:
    with held_store(str(folder / "memory")) as store:
        for agent in store.agents("r"):
            (collection,) = [c for c in store._of("r") if (c.metadata or {})["agent"] == agent]
            got = collection.get(include=["documents", "metadatas"])
            yield agent, json.dumps([got["documents"], got["metadatas"]], ensure_ascii=False)


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    path = folder / name
    return read_records(path) if path.is_file() else []


async def final_state(folder: Path, settings: Settings) -> dict[str, Any]:
    async with opened("run", folder) as saver:
        return (await graph_for(settings, saver).aget_state({"configurable": {"thread_id": "r"}})).values


KINDS: dict[str, dict[str, Any]] = {
    "discussion": {"analysis": True, "memory_filtering": True},
    "need": {"human_turns": "need", "closing": "near_limit", "analysis": True},
    "selector": {"pattern": "selector", "analysis": True},
    "round_robin": {"pattern": "round_robin", "recent_utterances": 12},
    "window_judge": {"mode": "debate", "judge_window": 30, "analysis": True},
    "persona_judge": {"mode": "debate", "judge": "persona"},
    "one_by_one": {"concurrent": False},
}


@pytest.mark.parametrize("kind", KINDS)
async def test_nobody_else_has_anything_of_a_whisper(kind: str, tmp_path: Path) -> None:
    with LoopbackServer(answer=Echoing()) as server:
        events = await whispering(server, tmp_path, **KINDS[kind])
        folder = tmp_path / "r"
        stopped = events[-1]
        assert stopped.turn == 12, stopped
        assert leaks(prompts(server)) == []
        seen = {(name, marker) for name, text in prompts(server) for marker in HEARS if marker in text}
        assert seen == {(name, marker) for marker, hearers in HEARS.items() for name in hearers}, "nobody was told"
        readers = {name for name, _ in prompts(server)}
        assert {*AGENTS} <= readers
        assert ("" in readers) == (kind in ("discussion", "need", "selector", "window_judge"))
    assert leaks(memories(folder)) == []
    kept = {(name, marker) for name, text in memories(folder) for marker in HEARS if marker in text}
    assert kept == seen, "the hearers remember nothing of it"
    minds = [*lines(folder, "minds.jsonl"), *lines(folder, "judge_mind.jsonl")]
    assert leaks((record["agent"], json.dumps(record, ensure_ascii=False)) for record in minds) == []
    state = await final_state(folder, Settings(**{"model": "offline", **KINDS[kind]}))
    everybody = state["agents"]
    assert leaks((name, json.dumps(mind, ensure_ascii=False)) for name, mind in everybody.items()) == []
    onlookers = [*lines(folder, "verdicts.jsonl"), *lines(folder, "analysis.jsonl")]
    assert leaks(("", json.dumps(record)) for record in onlookers) == []
    assert (
        leaks(("", json.dumps(state.get(channel), ensure_ascii=False)) for channel in ("selected", "conclusion")) == []
    )
    calls = lines(folder, "calls.jsonl")
    assert leaks((call["agent"], json.dumps(call["answer"], ensure_ascii=False)) for call in calls) == []
    public = [u for u in lines(folder, "transcript.jsonl") if u.get("heard_by") is None]
    assert leaks(("", u["text"]) for u in public) == []


@pytest.mark.parametrize("speaker", [CY, ADA])
async def test_only_who_heard_a_whisper_is_told_not_to_repeat_it(speaker: str, tmp_path: Path) -> None:
    with LoopbackServer(answer=Echoing(repeats=speaker)) as server:
        events = await whispering(server, tmp_path, pattern="round_robin", max_messages=9)
        assert leaks(prompts(server)) == []
        corrected = [text for name, text in prompts(server) if name == speaker and "<avoid>" in text]
    spoken = [u for u in events if u.event == "utterance" and u.speaker == speaker and u.turn > 2]
    assert spoken
    if speaker == ADA:
        assert any("xylophone" in text for text in corrected), "the check did not notice"
    else:
        assert [text for text in corrected if "xylophone" in text or "marimba" in text] == []
        assert spoken[0].text == f"{GATE}."
        assert spoken[0].corrections == []


async def test_no_text_is_embedded_for_those_who_did_not_hear_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[tuple[str, str]] = []
    similarities = utterance_vectors.similarities

    async def recorded(settings: Settings, simulation: str, text: str, others: list[str], *, agent: str) -> Any:
        compared.append((agent, json.dumps([text, *others], ensure_ascii=False)))
        return await similarities(settings, simulation, text, others, agent=agent)

    monkeypatch.setattr(utterance_vectors, "similarities", recorded)
    with LoopbackServer(answer=Echoing()) as server:
        embedding = f"test-embedding@{server.url}"
        await whispering(server, tmp_path, embedding=embedding, pattern="round_robin")
        embedded = [json.dumps(r.body, ensure_ascii=False) for r in server.requests if r.path == "/v1/embeddings"]
    assert embedded
    assert leaks(iter(compared)) == []
    assert {agent for agent, text in compared if "xylophone" in text} == {ADA}
    assert {agent for agent, text in compared if "marimba" in text} == {ADA, BO}
    assert any("xylophone" in text for text in embedded)


async def test_no_text_of_a_whisper_is_embedded_where_its_hearer_does_nothing(tmp_path: Path) -> None:
    """A whisper to a person alone: no prompt and no embedding has anything of it."""
    with LoopbackServer(answer=Echoing()) as server:
        settings = Settings(
            model=server.model(), embedding=f"test-embedding@{server.url}", max_messages=6, human_turns="hand",
            closing="off", analysis=True,
        )  # fmt: skip
        control = Control()
        async for event in run_simulation(SCENARIO, settings, out=tmp_path, run="r", control=control):
            if event.event == "utterance" and event.turn == 1:
                control.whisper(LI, f"{GATE}, xylophone.")
        assert not [r for r in server.requests if "xylophone" in json.dumps(r.body)]
    assert "xylophone" in (tmp_path / "r" / "transcript.jsonl").read_text(encoding="utf-8")
