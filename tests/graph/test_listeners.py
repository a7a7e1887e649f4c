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
from pydantic import ValidationError
from run_files import logged, read_whole
from talks import check_replay, events_of

import persimchat
from persimchat.graph import build_conversation
from persimchat.personas.scenario import load_story, make_scenario
from persimchat.reports.export_rows import rows_of
from persimchat.reports.report import report_html
from persimchat.runs.control import Control
from persimchat.runs.events import Event, MindChanged, MindRecord, Silenced, TurnEnded, Uttered
from persimchat.runs.folder.reading import read_run
from persimchat.runs.run.branch import branch_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.errors import InputError, ModelError
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


@pytest.mark.proof
def test_its_speaker_and_so_many_are_asked_and_nobody_else() -> None:
    scripted = Scripted()
    with LoopbackServer(answer=scripted) as server:
        events = held(model=server.model(), listeners=2, max_messages=3)
    counted = Counter(task for task, _ in scripted.asked)
    assert (counted["appraisal"], counted["reaction"], counted["utterance"]) == (5, 3 * 3, 3)
    assert counted["reflection"] + counted["planning"] == 0  # a plan comes with what is heard, insights come later
    for said in (event for event in events if isinstance(event, Uttered)):
        assert said.speaker in asked_at(events, said.turn)
        assert len(asked_at(events, said.turn)) == 3


@pytest.mark.proof
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


@pytest.mark.proof
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


@pytest.mark.long
@pytest.mark.proof(cases=1)
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


@pytest.mark.proof
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


@pytest.mark.long
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
    await events_of(run_simulation(make_scenario("Tea?", PEOPLE), settings, out=tmp_path, run="few"))  # type: ignore[arg-type]
    record = await asyncio.to_thread(read_run, tmp_path / "few", whole=True)
    rows = [row.model_dump() for table, row in rows_of(record) if table == "minds"]
    assert [row["listened"] for row in rows if not row["turn"]] == [None] * 5
    assert Counter(row["listened"] for row in rows if row["turn"]) == {True: 4 * 2, False: 4 * 3}
    page = report_html(record)
    assert page.count("asked about it: ") == 4
    assert "messages that it heard; of the others it remembers the words" in page
    await check_replay(tmp_path / "few")
    events = [event async for event in branch_run(tmp_path / "few", 2, run="all", changes={"listeners": "all"})]
    assert [mind.listened for (turn, _), mind in minds_of(events).items() if turn > 2] == [None] * 10
    assert Counter(mind.listened for (turn, _), mind in minds_of(events).items() if turn == 2) == {True: 2, False: 3}


# cognition=fixed: minds stay as they are before the first utterance, and nobody asks a model but the speaker


BAKERS: list[dict[str, Any]] = [
    {"name": "Ada Lind", "description": "A baker.", "social_goals": ["Sell bread."]},
    {"name": "Bo Říha", "description": "A driver."},
    {"name": "李雷", "description": "A student."},
]


def hold(scripted: Scripted, **settings: Any) -> dict[str, Any]:
    with LoopbackServer(answer=scripted) as server:
        context = Settings(model=server.model(), cognition="fixed", **settings)
        given = {"topic": "Tea?", "participants": BAKERS}
        return build_conversation().invoke(given, context=context)


@pytest.mark.proof
@pytest.mark.parametrize(
    ("settings", "asked"),
    [
        ({"max_messages": 4}, {"utterance": 4}),
        ({"max_messages": 4, "planning_and_reflection": False, "closing": "on"}, {"utterance": 4}),
        ({"max_messages": 3, "pattern": "selector", "closing": "off"}, {"utterance": 3, "selector": 3}),
        ({"max_messages": 4, "mode": "debate"}, {"utterance": 4, "judge": 2, "majority": 1}),
        ({"max_messages": 2, "analysis": True}, {"utterance": 2, "analysis": 2}),
    ],
)
def test_nobody_is_asked_but_the_speaker(settings: dict[str, Any], asked: dict[str, int]) -> None:
    scripted = Scripted()
    hold(scripted, **settings)
    assert Counter(task for task, _ in scripted.asked) == asked


def test_prompts_have_nothing_that_a_mind_would_have_made() -> None:
    scripted = Scripted()
    hold(scripted, max_messages=3, closing="off")
    first, *others = scripted.prompts("utterance")
    for prompt in (first, *others):
        for tag in ("needs_and_emotions", "memories"):
            assert f"<{tag}>" not in prompt
        assert "Need to talk" not in prompt and "Who I am now" not in prompt
    assert "- My goal: Sell bread." in first and "- Name: Ada Lind" in first


def test_speakers_take_turns_unless_a_selector_names_them() -> None:
    assert Settings(cognition="fixed").pattern == "round_robin"
    assert "pattern" not in Settings(cognition="fixed").model_fields_set, "it may still be decided otherwise"
    assert Settings(cognition="fixed", pattern="selector").pattern == "selector"
    assert Settings().pattern == Settings(cognition="lean").pattern == "need_to_talk"
    assert Settings(cognition="fixed", baseline="group_chat").pattern == "need_to_talk", "baselines have no minds"
    again = Settings.model_validate(Settings(cognition="fixed").model_dump())
    assert again.pattern == "round_robin"


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"pattern": "need_to_talk"}, "set pattern=round_robin or pattern=selector"),
        ({"mode": "debate", "judge": "persona"}, "set judge=sliding_window"),
        ({"listeners": 2}, "leave listeners out"),
        ({"memory_filtering": True}, "leave memory_filtering out"),
        ({"mode": "story"}, "does not go with a story"),
    ],
)
def test_what_such_minds_cannot_do_is_refused_with_a_remedy(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Settings(cognition="fixed", **settings)


def test_a_story_has_a_cognition_of_its_own() -> None:
    with pytest.raises(InputError, match="cognition=fixed does not go with a story"):
        persimchat.simulate(load_story(), cognition="fixed", model="offline")


def test_minds_are_recorded_every_turn_and_stay_the_same() -> None:
    events = persimchat.stream_events(
        "Tea or coffee?", participants=3, max_messages=3, mode="debate", cognition="fixed", model="offline"
    )
    minds = [event.record for event in events if isinstance(event, MindChanged)]
    assert [mind.turn for mind in minds] == [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3
    for mind in minds:
        assert (mind.need_to_talk, mind.openness, mind.emotion, mind.percept) == (None, None, {}, None)
        assert (mind.action, mind.plan, mind.insights, mind.short_term_memory) == ("", None, [], None)
        assert mind.long_term_memories in (2, 3)
    assert {mind.did for mind in minds} == {"", "speak"}


@pytest.mark.proof
async def test_a_replay_is_equal(tmp_path: Path) -> None:
    run = persimchat.simulate(
        "Tea or coffee?",
        participants=3,
        max_messages=5,
        mode="debate",
        cognition="fixed",
        model="offline",
        out=tmp_path,
    )
    assert run.folder is not None
    await check_replay(Path(run.folder))


@pytest.mark.proof
@pytest.mark.parametrize(("first", "then"), [("fixed", "full"), ("lean", "fixed"), ("fixed", "compact")])
async def test_a_branch_may_begin_or_cease_to_think(first: str, then: str, tmp_path: Path) -> None:
    scenario = make_scenario("Tea or coffee?", BAKERS)
    common: dict[str, Any] = {"model": "offline", "pattern": "round_robin", "max_messages": 5, "mode": "debate"}
    await events_of(run_simulation(scenario, Settings(cognition=first, **common), out=tmp_path, run="a"))
    await events_of(branch_run(tmp_path / "a", 3, changes={"cognition": then}, run="b"))
    minds = logged(tmp_path / "b", "mind")
    assert [mind["turn"] for mind in minds] == [turn for turn in range(6) for _ in BAKERS]
    shared, own = [mind for mind in minds if mind["turn"] <= 3], [mind for mind in minds if mind["turn"] > 3]
    assert shared == [mind for mind in logged(tmp_path / "a", "mind") if mind["turn"] <= 3]
    asked = {call["module"] for call in logged(tmp_path / "b", "asked_model")}
    if then == "fixed":
        assert asked == {"natural_language", "judge"}
        for mind, before in zip(own, [mind for mind in shared if mind["turn"] == 3] * 2, strict=True):
            assert (mind["emotion"], mind["need_to_talk"]) == (before["emotion"], before["need_to_talk"])
            assert (mind["percept"], mind["action"], mind["did"] in ("", "speak")) == (None, "", True)
    else:
        assert all(mind["percept"] and mind["emotion"] and mind["need_to_talk"] is not None for mind in own)
        assert asked > {"natural_language", "judge"}


@pytest.mark.proof
async def test_an_unchanged_branch_goes_on_as_the_original_did(tmp_path: Path) -> None:
    settings = Settings(model="offline", cognition="fixed", max_messages=5)
    await events_of(run_simulation(make_scenario("Tea?", BAKERS), settings, out=tmp_path, run="a"))
    await events_of(branch_run(tmp_path / "a", 2, run="b"))
    assert read_whole(tmp_path / "b") == read_whole(tmp_path / "a")


def test_a_branch_of_a_run_by_need_names_the_remedy() -> None:
    with pytest.raises(InputError, match="pattern=round_robin"):
        persimchat.simulate("Tea?", pattern="need_to_talk", cognition="fixed", model="offline")


async def test_a_person_takes_their_turn_among_such_minds(tmp_path: Path) -> None:
    people = [*BAKERS[:2], {"name": "Li", "human": True}]
    control, said = Control(), []
    settings = Settings(model="offline", cognition="fixed", max_messages=4, human_turns="need")
    async for event in run_simulation(make_scenario("Tea?", people), settings, control=control):
        if event.event == "asked":
            control.answer("Water, please." if event.what == "utterance" else 3)
        if event.event == "utterance":
            said.append(event.speaker)
    assert said == ["Ada Lind", "Bo Říha", "Li", "Ada Lind"]
