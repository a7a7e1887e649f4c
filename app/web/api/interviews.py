"""Routes: interviews with single agents of a run that is over."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from persimchat.app.web.api.bodies import JsonRoute
from persimchat.app.web.api.models import Name, Turn
from persimchat.app.web.api.problems import CONFLICT, NO_RUN, RESPONSES, ConflictError
from persimchat.app.web.api.runs import check_own, check_run
from persimchat.app.web.context import WebContext
from persimchat.app.web.interview.beginning import begun
from persimchat.runs.folder.interviews import InterviewAnswer, Number, read_interviews
from persimchat.state.interview import LONGEST_QUESTION


class InterviewQuestion(BaseModel):
    """A question to one agent, in private."""

    model_config = ConfigDict(extra="forbid")

    agent: Name = Field(description="a participant")
    question: Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION)]
    interview: Number | None = Field(default=None, description="the interview that goes on; null for a new one")
    turn: Turn | None = Field(default=None, description="as it was after so many utterances; null for the end")
    by: str = Field(default="", max_length=300, description="the model that answers; empty for the agent's own")
    settings: dict[str, Any] = Field(default={}, description="others than in the run; budgets are of this question")
    with_people: bool = Field(
        default=False, description="with `by`: whether that model may read words of people who took part"
    )


def interviews_router(web: WebContext) -> APIRouter:
    """The routes, over these runs."""
    router = APIRouter(
        route_class=JsonRoute,
        prefix="/api/runs/{run}/interviews",
        tags=["afterwards"],
        responses={**RESPONSES, **NO_RUN},
    )

    @router.get("")
    async def held(run: str) -> list[InterviewAnswer]:
        """The questions and answers of all interviews, in order."""
        check_run(web, run)
        return await asyncio.to_thread(lambda: read_interviews(web.runs.folder(run)))

    @router.post("", status_code=201, responses=CONFLICT)
    async def ask(run: str, wanted: InterviewQuestion) -> InterviewAnswer:
        """Ask an agent a question, as it was at the end or at a turn; nothing of it enters the run."""
        check_own(web, run)
        if web.runs.going_on(run):
            raise ConflictError("the run is still running", where=run, remedy="Wait until it is over, or stop it.")
        interview = await begun(
            web,
            run,
            wanted.agent,
            turn=wanted.turn,
            going_on=wanted.interview,
            by=wanted.by,
            settings=wanted.settings,
            with_people=wanted.with_people,
        )
        answer = await interview.ask(wanted.question)
        if answer is None:
            raise ConflictError(interview.exhausted, where=run, remedy="Set a higher budget.")
        return answer

    return router
