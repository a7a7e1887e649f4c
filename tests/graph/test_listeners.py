"""The setting `listeners`: only those whom an utterance concerns most are asked; the others remember its words."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from graph.test_interventions import begun, go_on, intervene
from loopback.answering import Fault
from loopback.failing import Failing, retry_at_once
from loopback.scripted import Scripted
from loopback.server import LoopbackServer

import persimchat
from persimchat.personas.scenario import make_scenario
from persimchat.runs.events import Event, MindChanged, MindRecord, Silenced, TurnEnded, Uttered
from persimchat.runs.folder.reading import read_run
from persimchat.runs.reports.export_rows import rows_of
from persimchat.runs.reports.report import report_html
from persimchat.runs.run.branch import branch_run
from persimchat.runs.run.replay import Replay
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.errors import ModelError
from persimchat.state.settings import Settings

TRADES = ("bread and ovens", "buses and timetables", "tea and kettles", "goats and cheese", "stars and telescopes")
PEOPLE: list[dict[str, Any]] = [
    {"name": f"{name} Lind", "description": f"Knows all about {trade}.", "traits": [trade.split()[0]]}
    for name, trade in zip(("Ada", "Bo", "Cy", "Dan", "Eve"), TRADES, strict=True)
]
NAMES = [person["name"] for person in PEOPLE]


def held(people: list[dict[str, Any]] = PEOPLE, topic: str = "Tea?", **settings: Any) -> list[Event]:
    given = {"model": "offline", "closing": "off", "max_messages": 4, "cognition": "lean", **settings}
    return list(persimchat.stream_events(make_scenario(topic, people), **given))  # type: ignore[arg-type]


def minds_of(events: list[Event]) -> dict[tuple[int, str], MindRecord]:
    return {(e.record.turn, e.record.agent): e.record for e in events if isinstance(e, MindChanged)}


def asked_at(events: list[Event], turn: int) -> list[str]:
    return [name for (at, name), mind in minds_of(events).items() if at == turn and mind.listened]


def test_its_speaker_and_so_many_are_asked_and_nobody_else() -> None:
    scripted = Scripted()
    with LoopbackServer(answer=scripted) as server:
        events = held(model=server.model(), listeners=2, max_messages=3)
    counted = Counter(task for task, _ in scripted.asked)
    assert (counted["appraisal"], counted["reaction"], counted["utterance"]) == (5, 3 * 3, 3)
    # Whoever was asked may think while the next one speaks; the last speaker, who does not speak, always does.
    assert 2 * 2 <= counted["reflection"] + counted["planning"] <= 2 * 3
    for said in (event for event in events if isinstance(event, Uttered)):
        assert said.speaker in asked_at(events, said.turn)
        assert len(asked_at(events, said.turn)) == 3


def test_those_who_are_not_asked_remember_the_words() -> None:
    events = held(listeners=1, max_messages=5)
    minds, words = minds_of(events), {e.turn: e for e in events if isinstance(e, Uttered)}
    missed, made = 0, {"reflect": 5, "plan": 1, "": 0}
    for (turn, name), mind in minds.items():
        if not turn:
            assert mind.listened is None
            continue
        before = minds[turn - 1, name]
        if mind.listened:
            continue
        missed += 1
        assert mind.percept and mind.short_term_memory
        assert words[turn].text.startswith(mind.percept["theme"].removeprefix(f"{words[turn].speaker}: ").rstrip("…"))
        assert mind.short_term_memory["theme"] == mind.percept["theme"]
        assert mind.long_term_memories == before.long_term_memories + (turn > 1) + made[mind.did]
        assert (mind.focal_points, mind.recalled, mind.action, mind.need_reasoning) == ([], [], "", "")
        assert mind.need_to_talk is not None and before.need_to_talk is not None
        assert mind.need_to_talk - before.need_to_talk in (0, 1)
        temper = minds[0, name].emotion
        for emotion, level in mind.emotion.items():
            assert abs(level - temper[emotion]) == max(0, abs(before.emotion[emotion] - temper[emotion]) - 1)
    assert missed == 5 * 3


def listening(words: str, *, whispered_to: list[str] | None = None, **settings: Any) -> list[str]:
    """Who is asked about these words of the moderator's."""
    people = settings.pop("people", PEOPLE)
    held = begun(
        people=people, **{"closing": "off", "cognition": "lean", "max_messages": 2, "listeners": 1, **settings}
    )
    intervene(held, {"do": "say", "text": words, **({"heard_by": whispered_to} if whispered_to else {})})
    go_on(held)
    assert held.said[1]["text"] == words
    return [name for name, mind in held.state["agents"].items() if mind.get("listening", {}).get("asked") == 2]


@pytest.mark.proof
def test_whoever_is_named_is_asked_first_and_then_whom_the_words_are_near() -> None:
    about_goats = "Goats give the best cheese of all."
    assert listening(about_goats) == ["Dan Lind"]
    assert listening(f"Bo, what do you say? {about_goats}") == ["Bo Lind"]
    assert listening(f"Bo, what do you say? {about_goats}", listeners=2) == ["Bo Lind", "Dan Lind"]
    assert listening("Ada, Bo, Eve: hello!", listeners=2) != listening("Cy, Dan: hello!", listeners=2) == NAMES[2:4]


def test_a_whisper_is_remembered_by_those_who_hear_it_alone() -> None:
    assert listening("Goats give cheese.", whispered_to=["Ada Lind", "Bo Lind"])[0] in ("Ada Lind", "Bo Lind")
    held = begun(people=PEOPLE, closing="off", cognition="lean", max_messages=2, listeners=1)
    before = {name: mind["stm"] for name, mind in held.state["agents"].items()}
    intervene(held, {"do": "say", "text": "Goats give cheese.", "heard_by": ["Ada Lind", "Bo Lind"]})
    go_on(held)
    told = [name for name, mind in held.state["agents"].items() if mind["stm"] != before[name]]
    assert told == ["Ada Lind", "Bo Lind"]
    kept = {name: mind["listening"] for name, mind in held.state["agents"].items()}
    assert sorted(2 in (kept[name]["asked"], kept[name]["overheard"]) for name in NAMES) == [False] * 3 + [True] * 2


def test_people_are_not_counted() -> None:
    people = [*PEOPLE[:3], {"name": "李雷", "human": True}]
    assert len(listening("Tea, bread and buses for 李雷!", people=people, listeners=2, human_turns="hand")) == 2


def test_the_judges_mind_hears_all() -> None:
    events = held(PEOPLE[:3], mode="debate", judge="persona", listeners=1, max_messages=3)
    heard = [event.record for event in events if event.event == "judge_mind"]
    assert [mind.turn for mind in heard] == [0, 1, 2, 3]
    assert all(mind.listened is None and mind.focal_points for mind in heard[1:])
    assert all(mind.openness is not None for mind in minds_of(events).values())


@pytest.mark.proof
@pytest.mark.parametrize("listeners", ["all", 4, 100])
def test_where_everybody_is_asked_the_conversation_is_the_same(listeners: Any) -> None:
    plain, other = held(cognition="full"), held(cognition="full", listeners=listeners)

    def told(events: list[Event]) -> list[Any]:
        return [event.record.model_dump(exclude={"listened"}) for event in events if isinstance(event, MindChanged)]

    assert told(plain) == told(other)
    assert all("listened" not in mind.model_dump() for mind in minds_of(plain).values())


def test_where_those_who_were_asked_all_fail_nobody_has_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the others remember the words: so the run fails, as it does where everybody is asked."""
    retry_at_once(monkeypatch)
    with LoopbackServer(answer=Failing(Fault(401), tasks=("reaction",))) as server, pytest.raises(ModelError):
        held(model=server.model(), listeners=1)


def test_one_of_those_who_were_asked_fails_and_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    retry_at_once(monkeypatch)
    with LoopbackServer() as well, LoopbackServer(answer=Failing(Fault(401), tasks=("reaction",))) as ill:
        events = held(model=well.model(), agent_models={"Bo Lind": ill.model("bo")}, listeners=3, max_messages=6)
    silent = [(event.turn, event.agent) for event in events if isinstance(event, Silenced) and event.step == "hear"]
    asked = [(turn, name) for (turn, name), mind in minds_of(events).items() if mind.listened and name == "Bo Lind"]
    assert silent == asked != []
    assert len([event for event in events if isinstance(event, Uttered)]) == 6


@pytest.mark.proof
def test_nobody_is_forgotten_for_ever() -> None:
    events = held(listeners=1, max_messages=40)
    assert {event.speaker for event in events if isinstance(event, Uttered)} == set(NAMES)


@pytest.mark.proof
def test_the_cost_of_an_utterance_does_not_grow_with_the_group() -> None:
    people = [
        {"name": f"Person{number} Lind", "description": f"Knows all about {TRADES[number % 5]}."}
        for number in range(100)
    ]
    events = held(people, listeners=4, max_messages=10)
    used = [event.totals.calls for event in events if isinstance(event, TurnEnded)]
    assert used[0] <= 100 + 6
    assert max(now - before for before, now in zip(used, used[1:], strict=False)) <= 12


@pytest.mark.proof
async def test_it_stands_in_folder_export_report_and_replay(tmp_path: Path) -> None:
    settings = Settings(model="offline", closing="off", max_messages=4, cognition="lean", listeners=1)
    async for _ in run_simulation(make_scenario("Tea?", PEOPLE), settings, out=tmp_path, run="few"):  # type: ignore[arg-type]
        pass
    record = await asyncio.to_thread(read_run, tmp_path / "few", whole=True)
    rows = [row.model_dump() for table, row in rows_of(record) if table == "minds"]
    assert [row["listened"] for row in rows if not row["turn"]] == [None] * 5
    assert Counter(row["listened"] for row in rows if row["turn"]) == {True: 4 * 2, False: 4 * 3}
    page = report_html(record)
    assert page.count("asked about it: ") == 4
    assert "utterances that it heard; of the others it remembers the words" in page
    replay = Replay(tmp_path / "few")
    async for _ in replay.events():
        pass
    assert replay.comparison is not None and replay.comparison.parts == []
    events = [event async for event in branch_run(tmp_path / "few", 2, run="all", changes={"listeners": "all"})]
    assert [mind.listened for (turn, _), mind in minds_of(events).items() if turn > 2] == [None] * 10
    assert Counter(mind.listened for (turn, _), mind in minds_of(events).items() if turn == 2) == {True: 2, False: 3}
