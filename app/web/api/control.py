"""Routes: the controls of a run; resuming, branching and regenerating."""

from __future__ import annotations

from fastapi import APIRouter

from persimchat.app.web.api.bodies import JsonRoute
from persimchat.app.web.api.models import (
    Accepted,
    Answer,
    Branch,
    Changes,
    Floor,
    Hand,
    Intervention,
    Pace,
    Plain,
    Regeneration,
    RunInfo,
    Say,
    Topic,
)
from persimchat.app.web.api.problems import CONFLICT, NO_RUN, RESPONSES, ConflictError
from persimchat.app.web.api.runs import board_of, check_own, info, live_run
from persimchat.app.web.context import WebContext
from persimchat.runs.control import Control
from persimchat.state.errors import InputError


def control_router(web: WebContext) -> APIRouter:
    """The routes, over these runs."""
    router = APIRouter(
        route_class=JsonRoute,
        prefix="/api/runs/{run}",
        tags=["going on"],
        responses={**RESPONSES, **NO_RUN, **CONFLICT},
    )

    @router.post("/control", status_code=202)
    async def control(run: str, intervention: Intervention) -> Accepted:
        """Control an active run: speak, answer, pass, pause, continue, stop, set the pace, change the topic."""
        _do(live_run(web, run).control, intervention)
        return Accepted()

    @router.post("/resume", status_code=202)
    async def resume(run: str, changes: Changes) -> RunInfo:
        """Resume a run that was stopped, has failed or was killed, or that reached a limit."""
        check_own(web, run)
        await web.runs.closed(run)
        if web.runs.going_on(run):
            raise ConflictError("the run is still running", where=run, remedy="Follow its events.")
        resumed = await web.runs.resume(run, changes.settings)
        return info(resumed.run, await board_of(web, resumed.run))

    @router.post("/branch", status_code=201)
    async def branch(run: str, wanted: Branch) -> RunInfo:
        """Begin a run that shares this one's past up to a turn."""
        check_own(web, run)
        say = (wanted.say.speaker, wanted.say.text) if wanted.say else None
        choose = (wanted.choose.host, wanted.choose.partner) if wanted.choose else None
        live = await web.runs.branch(run, wanted.turn, say=say, choose=choose, changes=wanted.settings)
        return info(live.run, live.board)

    @router.post("/regenerate", status_code=201)
    async def regenerate(run: str, wanted: Regeneration) -> RunInfo:
        """Begin a run in which the speaker words an utterance again."""
        check_own(web, run)
        live = await web.runs.regenerate(run, wanted.turn, wanted.settings)
        return info(live.run, live.board)

    return router


def _do(control: Control, intervention: Intervention) -> None:
    match intervention:
        case Say():
            control.say(intervention.text, speaker=intervention.speaker, heard_by=intervention.heard_by)
        case Topic():
            control.change_topic(intervention.topic)
        case Hand():
            control.raise_hand(intervention.agent, raised=intervention.raised)
        case Floor():
            control.give_floor(intervention.agent)
        case Answer():
            _answer(control, intervention)
        case Plain(do="pass"):
            _asked(control)
            control.pass_turn()
        case Plain(do="pause"):
            control.pause()
        case Plain(do="go_on"):
            control.go_on()
        case Plain(do="next_question"):
            control.next_question()
        case Plain(do="one_turn"):
            control.one_turn()
        case Pace():
            control.pace(intervention.seconds)
        case Plain():
            control.stop()


def _answer(control: Control, intervention: Answer) -> None:
    _asked(control)
    given = intervention.model_dump(include={"text", "need_to_talk", "choice", "position"}, exclude_none=True)
    if len(given) != 1:
        raise InputError(
            "the answer needs one of these: words, a number, a choice, a position",
            where="text, need_to_talk, choice, position",
            remedy="Give exactly one.",
        )
    heard_by = intervention.heard_by
    control.answer({**given, "heard_by": heard_by} if heard_by and "text" in given else given)


def _asked(control: Control) -> None:
    if control.asked is None:
        raise ConflictError("nobody is being asked just now", remedy="Use `say` to speak without being asked.")
