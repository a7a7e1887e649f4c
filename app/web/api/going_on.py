"""Routes: what people do to a run, and runs that go on from others."""

from __future__ import annotations

from fastapi import APIRouter

from persimchat.app.web.api.finding import board_of, check_run, live_run
from persimchat.app.web.api.models import (
    Accepted,
    Answer,
    Branch,
    Changes,
    Deed,
    Floor,
    Hand,
    Plain,
    Regeneration,
    RunInfo,
    Say,
    Topic,
)
from persimchat.app.web.api.problems import CONFLICT, NO_RUN, RESPONSES, ConflictError
from persimchat.app.web.api.runs import info
from persimchat.app.web.place import Place
from persimchat.runs.control import Control
from persimchat.state.errors import InputError


def going_on_router(place: Place) -> APIRouter:
    """The routes, over these runs."""
    router = APIRouter(prefix="/api/runs/{run}", tags=["going on"], responses={**RESPONSES, **NO_RUN, **CONFLICT})

    @router.post("/control", status_code=202)
    async def control(run: str, deed: Deed) -> Accepted:
        """Do something to a run that goes on: speak, answer, pass, pause, go on, stop, change the topic."""
        _do(live_run(place, run).control, deed)
        return Accepted()

    @router.post("/resume", status_code=202)
    async def resume(run: str, changes: Changes) -> RunInfo:
        """Go on with a run that was stopped, has failed, was killed, or is to go on beyond its end."""
        check_run(place, run)
        live = place.runs.get(run)
        if live is not None and not live.over:
            raise ConflictError("the run is going on", where=run, remedy="Follow its events.")
        resumed = await place.runs.resume(run, changes.settings)
        return info(resumed.run, await board_of(place, resumed.run))

    @router.post("/branch", status_code=201)
    async def branch(run: str, wanted: Branch) -> RunInfo:
        """Begin a run that shares this one's past up to a turn."""
        check_run(place, run)
        say = (wanted.say.speaker, wanted.say.text) if wanted.say else None
        live = await place.runs.branch(run, wanted.turn, say=say, changes=wanted.settings)
        return info(live.run, live.board)

    @router.post("/regenerate", status_code=201)
    async def regenerate(run: str, wanted: Regeneration) -> RunInfo:
        """Begin a run in which an utterance is worded anew by its speaker."""
        check_run(place, run)
        live = await place.runs.regenerate(run, wanted.turn, wanted.settings)
        return info(live.run, live.board)

    return router


def _do(control: Control, deed: Deed) -> None:
    match deed:
        case Say():
            control.say(deed.text, speaker=deed.speaker, heard_by=deed.heard_by)
        case Topic():
            control.change_topic(deed.topic)
        case Hand():
            control.raise_hand(deed.agent, raised=deed.raised)
        case Floor():
            control.give_floor(deed.agent)
        case Answer():
            _answer(control, deed)
        case Plain(do="pass"):
            _asked(control)
            control.pass_turn()
        case Plain(do="pause"):
            control.pause()
        case Plain(do="go_on"):
            control.go_on()
        case Plain():
            control.stop()


def _answer(control: Control, deed: Answer) -> None:
    _asked(control)
    if (deed.text is None) == (deed.need_to_talk is None):
        raise InputError("an answer is words or a number", where="text, need_to_talk", remedy="Give one of them.")
    if deed.text is None:
        control.answer(deed.need_to_talk)
    else:
        control.answer({"text": deed.text, "heard_by": deed.heard_by} if deed.heard_by else deed.text)


def _asked(control: Control) -> None:
    if control.asked is None:
        raise ConflictError("nobody is being asked just now", remedy="Use say to speak without being asked.")
