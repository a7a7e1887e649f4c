"""What is whispered stays with those who hear it; whatever people are called, every file and view is whole."""

from __future__ import annotations

import asyncio
import json
import os
import re
import tempfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from loopback.scripted import ANSWERS, Scripted, prompt_of, task_of
from loopback.server import LoopbackServer
from pydantic import TypeAdapter
from run_files import logged, read_table
from talks import check_replay, events_of

from persimchat.graph.kinds import graph_for
from persimchat.memory.store import held_store
from persimchat.memory.utterance_vectors import utterance_vectors
from persimchat.personas.scenario import make_scenario
from persimchat.reports.export import export_runs
from persimchat.reports.report import report_html
from persimchat.runs.control import Control
from persimchat.runs.events import Event
from persimchat.runs.folder.checkpoints import opened
from persimchat.runs.folder.reading import past_events, read_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.errors import InputError
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

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

WORDS = [
    "water",
    "bread",
    "river",
    "winter",
    "music",
    "lamp",
    "stone",
    "wheel",
    "candle",
    "market",
    "silver",
    "forest",
]


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


@pytest.mark.proof(cases=1)
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
    minds = [*logged(folder, "mind"), *logged(folder, "judge_mind")]
    assert leaks((record["agent"], json.dumps(record, ensure_ascii=False)) for record in minds) == []
    state = await final_state(folder, Settings(**{"model": "offline", **KINDS[kind]}))
    everybody = state["agents"]
    assert leaks((name, json.dumps(mind, ensure_ascii=False)) for name, mind in everybody.items()) == []
    onlookers = [*logged(folder, "verdict"), *logged(folder, "analysis")]
    assert leaks(("", json.dumps(record)) for record in onlookers) == []
    assert (
        leaks(("", json.dumps(state.get(channel), ensure_ascii=False)) for channel in ("selected", "conclusion")) == []
    )
    calls = logged(folder, "asked_model")
    assert leaks((call["agent"], json.dumps(call["answer"], ensure_ascii=False)) for call in calls) == []
    public = [u for u in logged(folder, "utterance") if u.get("heard_by") is None]
    assert leaks(("", u["text"]) for u in public) == []


@pytest.mark.long
@pytest.mark.proof
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


@pytest.mark.long
@pytest.mark.proof
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


@pytest.mark.proof
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
    assert "xylophone" in str(logged(tmp_path / "r", "utterance"))


HARD = [
    "{{ 7*7 }}",
    "{% raw %}",
    "{name}",
    "%s%n",
    "<script>alert(1)</script>",
    "</td><b>",
    "../../etc/passwd",
    "C:\\x",
    "a/b.yaml",
    "'; DROP TABLE x;--",
    "=1+1",
    "**bold** [x](y)",
    "# Topic",
    "Anna: hello",
    "null",
    "true",
    "__proto__",
    "Moderator",
    "Judge",
    "everybody",
    "👩‍👩‍👧‍👦",
    "🏴\U000e0067\U000e0062\U000e007f",
    "שלום",
    "مرحبا بالعالم",
    "\u200fعمر\u200e",
    "नमस्ते",
    "Z̷̢͝a̸l̵g̶o̴" + "\u0301" * 40,
    "\ue000private",
    "\U000e1fff",
    "\ufdd0x",
    os.fsdecode(b"caf\xe9"),
    "x\x00y",
    "x\x1b[31my",
    "x\u2028y",
    "x\u202ey",
    "n" * 300,
    "ﷺ" * 300,
    "İstanbul ǅ ﬁ ß",
]

ANY = (
    st.text(st.characters(), min_size=1, max_size=40)
    | st.sampled_from(HARD)
    | st.text("ab\u0301\u200b\n ,:", max_size=9)
)

VOID = {"meta", "link", "br", "hr", "img", "input"}


class WellFormed(HTMLParser):
    """Reads a page of which every element is closed, and none is a script."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.waiting: list[str] = []
        self.feed(page)
        self.close()
        assert self.waiting == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag != "script"
        if tag not in VOID:
            self.waiting.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.waiting.pop() == tag


async def held(scenario: Scenario, how: Settings, out: Path) -> Path:
    await events_of(run_simulation(scenario, how, out=out))
    (folder,) = out.iterdir()
    return folder


def check(folder: Path, scenario: Scenario, how: Settings, scratch: Path) -> None:
    names = [person.name for person in scenario.participants]
    assert folder.name.isascii()
    assert folder.parent == scratch / "runs"
    said = logged(folder, "utterance")
    assert len(said) == how.max_messages
    assert {line["speaker"] for line in said} <= set(names)
    shown = (folder / "transcript.md").read_text(encoding="utf-8")
    assert sum(line.startswith("**") for line in shown.splitlines()) >= len(said)
    assert re.search(r"(?<!\\)<script", shown) is None, "a backslash takes its meaning away in Markdown"
    record = read_run(folder)
    events = TypeAdapter(list[Event])
    past = list(past_events(record))
    assert events.validate_json(events.dump_json(past)) == past
    WellFormed(report_html(record))
    for form in ("csv", "md", "html"):
        export_runs([folder], scratch / form, form, eyes=names[0] if form == "md" else None)
    WellFormed((scratch / "html" / "utterances.html").read_text(encoding="utf-8"))
    assert len(read_table(scratch / "csv" / "utterances.csv")) == len(said)
    asyncio.run(check_replay(folder))


@pytest.mark.long
@pytest.mark.proof
@pytest.mark.timeout(900)
@settings(deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate])
@example(topic="0", one="0", other=":\u200b", about="0", debate=True, seed=0)
@given(topic=ANY, one=ANY, other=ANY, about=ANY, debate=st.booleans(), seed=st.integers(0, 3))
def test_a_clear_error_or_a_well_formed_run(
    topic: str, one: str, other: str, about: str, debate: bool, seed: int
) -> None:
    choice = {"answer_format": "choice", "choices": [about[:300], "B"]}
    more: dict[str, Any] = {"mode": "debate", "judge_every": 5, **choice} if debate else {}
    with tempfile.TemporaryDirectory() as kept:
        scratch = Path(kept)
        try:
            people = [{"name": one, "description": about}, {"name": other, "description": "Somebody."}]
            scenario = make_scenario(
                topic, people, rules=[about], relationships=[{"from": one, "to": other, "type": "ally"}]
            )
            how = Settings(model="offline", max_messages=2, seed=seed, **more)
        except InputError as error:
            assert str(error).isprintable()
            assert error.remedy
            return
        except ValueError:  # of Settings
            return
        folder = asyncio.run(held(scenario, how, scratch / "runs"))
        check(folder, scenario, how, scratch)
