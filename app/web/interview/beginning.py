"""Begins an interview for the page and for the REST API: of a run that is over, and with what may be chosen there."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from persimchat.app.web.context import WebContext
from persimchat.app.web.live_runs import refuse_model_files
from persimchat.evaluation.interviews import MODULE, Interview, begin
from persimchat.runs.folder.reading import read_run
from persimchat.state.errors import InputError
from persimchat.state.settings import BUDGETS


async def begun(
    web: WebContext,
    run: str,
    agent: str,
    *,
    turn: int | None = None,
    going_on: int | None = None,
    by: str = "",
    settings: Mapping[str, Any] | None = None,
    with_people: bool = False,
) -> Interview:
    """An interview in a run of this server; see `begin`.

    Args:
        web: what the pages work with.
        run: its id.
        agent: who is interviewed.
        turn: utterances so far; None for the end.
        going_on: the number of an interview that goes on; None for a new one.
        by: the model that answers in place of the agent's own.
        settings: others than in the run; the budgets among them are the interview's.
        with_people: with `by`: whether that model may read the words of people who took part.

    Raises:
        InputError: as `begin`; the run is a cell of an experiment, or still going on; or a model is a file.
    """
    if web.runs.experiment_of(run):
        raise InputError("the run is a cell of an experiment", where=run, remedy="Interview somebody in another run.")
    await web.runs.closed(run)
    if web.runs.going_on(run):
        raise InputError("the run is still going on", where=run, remedy="Wait until it is over, or stop it.")
    given = dict(settings or {})
    refuse_model_files({**given, f"module_models.{MODULE}": by})
    budgets = {str(name): given.pop(name) for name in BUDGETS if name in given}

    def made() -> Interview:
        record = read_run(web.runs.own_folder(run))
        return begin(
            record,
            agent,
            turn=turn,
            going_on=going_on,
            by=by,
            changes=given,
            budgets=budgets,
            with_people=with_people,
        )

    return await asyncio.to_thread(made)
