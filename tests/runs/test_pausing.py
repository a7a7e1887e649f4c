"""Pausing a run and ending it: at every moment, and what can be done afterwards."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from loopback.scripted import Scripted
from loopback.server import LoopbackServer
from runs.test_control import AGENTS_ONLY, LI, SCENARIO, control_lines, of, once, run, said, settings

from persimchat.runs.control import Control
from persimchat.runs.events import Event
from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.errors import InputError


@pytest.mark.proof
async def test_a_pause_stops_model_calls(tmp_path: Path) -> None:
    with LoopbackServer(answer=Scripted()) as server:
        control, counted = Control(), []
        events = []

        async def later() -> None:
            for _ in range(50):
                await asyncio.sleep(0)
            counted.append(len(server.requests))
            assert control.paused
            control.say("Go on, Bo.")
            control.go_on()

        tasks = []
        async for event in run_simulation(
            SCENARIO, settings(model=server.model(), repetition_check=False), out=tmp_path, run="r", control=control
        ):
            events.append(event)
            if event.event == "speaking" and event.turn == 2:
                control.pause()
            if event.event == "paused":
                counted.append(len(server.requests))
                tasks.append(asyncio.create_task(later()))
    assert counted[0] == counted[1] < len(server.requests)
    kinds = [event.event for event in events if event.event in ("utterance", "paused", "continued")]
    assert kinds == ["utterance", "utterance", "paused", "continued", "utterance", "utterance"]
    assert said(events)[2] == ("Moderator", "Go on, Bo.")


async def test_a_pause_before_the_beginning() -> None:
    control = Control()
    control.pause()
    events = await run(once("paused", lambda control, _: control.go_on()), control)
    kinds = [event.event for event in events]
    assert kinds.index("continued") < kinds.index("speaking")
    assert len(said(events)) == 4


async def test_the_end_while_paused() -> None:
    def on(control: Control, event: Event) -> None:
        if event.event == "utterance" and event.turn == 2:
            control.pause()
        if event.event == "paused":
            control.stop()

    events = await run(on)
    stopped = of(events, "stopped")[0]
    assert (stopped.reason, stopped.source, stopped.turn) == ("stopped", "moderator", 2)


async def test_the_end_while_speaking_comes_after_the_utterance(tmp_path: Path) -> None:
    events = await run(once("speaking", lambda control, _: control.stop(), turn=2), out=tmp_path)
    stopped = of(events, "stopped")[0]
    assert (stopped.reason, stopped.source, stopped.turn) == ("stopped", "moderator", 2)
    assert control_lines(tmp_path) == [{"turn": 2, "do": "stop"}]
    again = [event async for event in resume_run(tmp_path / "r")]
    assert len(said(again)) == 4


async def test_the_end_while_asked_is_at_once_and_the_person_is_asked_again(tmp_path: Path) -> None:
    def on(control: Control, event: Event) -> None:
        if event.event == "utterance" and event.turn == 1:
            control.raise_hand(LI)
        if event.event == "asked":
            control.stop()

    events = await run(on, out=tmp_path)
    stopped = of(events, "stopped")[0]
    assert (stopped.reason, stopped.source, stopped.turn) == ("stopped", "moderator", 1)
    control = Control()
    again = []
    async for event in resume_run(tmp_path / "r", control=control):
        again.append(event)
        if event.event == "asked":
            control.answer("Water.")
    assert said(again)[1] == (LI, "Water.")


async def test_whoever_leaves_leaves_no_pause_behind() -> None:
    def on(control: Control, event: Event) -> None:
        if event.event == "utterance" and event.turn == 2:
            control.pause()
        if event.event == "paused":
            control.leave()

    events = await asyncio.wait_for(run(on, scenario=AGENTS_ONLY), 60)
    assert of(events, "stopped")[0].reason == "message_limit"


async def test_one_turn_at_a_time() -> None:
    control = Control()
    turns: list[int] = []
    control.pause()

    def on(control: Control, event: Event) -> None:
        if event.event == "paused":
            turns.append(event.turn)
            control.one_turn() if event.turn < 3 else control.go_on()

    events = await run(on, control)
    assert turns == [0, 1, 2, 3]
    assert len(said(events)) == 4


async def test_a_pace_holds_between_turns_and_an_end_cuts_it_short() -> None:
    control = Control()
    control.pace(600)
    with pytest.raises(InputError):
        control.pace(-1)

    async def stop_soon() -> None:
        while control.pace_s and not asked:
            await asyncio.sleep(0)
        control.stop()

    asked: list[int] = []
    stopping: list[asyncio.Task[None]] = []

    def on(control: Control, event: Event) -> None:
        if event.event == "turn_ended":
            asked.append(event.turn)
            stopping.append(asyncio.create_task(stop_soon()))

    events = await run(on, control)
    assert len(said(events)) == 1
    assert events[-1].event == "stopped"
