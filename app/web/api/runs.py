"""Routes: the list of runs, starting one, looking at one, deleting one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query

from persimchat.app.web.api.finding import board_of, check_run, understood
from persimchat.app.web.api.models import Conversation, ListedInfo, RunInfo, Turn
from persimchat.app.web.api.problems import CONFLICT, NO_RUN, RESPONSES, ConflictError
from persimchat.app.web.board import Board
from persimchat.app.web.place import Place
from persimchat.runs.events import Judged, MindRecord, StopReason, Uttered
from persimchat.runs.listing import ListedRun, deletable, delete_run, matching
from persimchat.runs.past import past_events
from persimchat.runs.reading import read_run


def info(run: str, board: Board) -> RunInfo:
    """A run in short."""
    started, stopped = board.started, board.stopped
    return RunInfo(
        run=run,
        status=board.status,
        active=board.elsewhere or board.status in ("running", "paused", "asked"),
        mode=started.mode if started else "discussion",
        baseline=started.baseline if started else None,
        topic=started.topic if started else "",
        participants=board.participants,
        people=board.people,
        utterances=board.turn,
        max_messages=started.max_messages if started else 0,
        asked=board.asked,
        reason=stopped.reason if stopped else None,
        detail=stopped.detail if stopped else "",
        error=board.error,
        totals=board.totals_at(board.turn),
    )


def runs_router(place: Place) -> APIRouter:
    """The routes, over these runs."""
    router = APIRouter(prefix="/api/runs", tags=["runs"], responses=RESPONSES)

    @router.get("")
    async def list_runs(
        text: Annotated[str, Query(max_length=1000, description="words in id, topic, participants or model")] = "",
        mode: Literal["discussion", "debate"] | None = None,
        ended: StopReason | Literal["unfinished"] | None = None,
    ) -> list[ListedInfo]:
        """The runs, the latest first."""
        listing = await place.runs.runs()
        found = matching(listing.runs, text=text, mode=mode, ended=ended)
        return [_listed(run) for run in found]

    @router.post("", status_code=201)
    async def start_run(wanted: Conversation) -> RunInfo:
        """Begin a run. It goes on by itself; follow it by its events."""
        scenario, settings = await understood(place, wanted)
        live = await place.runs.start(scenario, settings)
        return info(live.run, live.board)

    @router.get("/{run}", responses=NO_RUN)
    async def look(run: str) -> RunInfo:
        """A run in short."""
        return info(run, await board_of(place, run))

    @router.delete("/{run}", responses={**NO_RUN, **CONFLICT})
    async def delete(run: str) -> dict[Literal["kept"], str]:
        """Delete a run and what Chroma holds of it; `kept` says what had to be left, if anything."""
        check_run(place, run)
        live = place.runs.get(run)
        if live is not None and not live.over:
            raise ConflictError("the run is going on", where=run, remedy="Stop it first.")
        found = await asyncio.to_thread(deletable, place.runs.folder(run))
        kept = await delete_run(found)
        place.runs.forget(run)
        return {"kept": " ".join(part for part in (found.kept, kept) if part)}

    @router.get("/{run}/utterances", responses=NO_RUN)
    async def utterances(run: str, after: Turn = 0) -> list[Uttered]:
        """What was said, from the utterance after a turn on."""
        return (await board_of(place, run)).utterances[after:]

    @router.get("/{run}/verdicts", responses=NO_RUN)
    async def verdicts(run: str) -> list[Judged]:
        """The judge's verdicts, in order."""
        return (await board_of(place, run)).verdicts

    @router.get("/{run}/minds/{turn}", responses=NO_RUN)
    async def minds(run: str, turn: Turn) -> list[MindRecord]:
        """Everybody's mind at the end of a turn (0 before the first utterance); empty where there were none."""
        check_run(place, run)
        return await asyncio.to_thread(_minds, place, run, turn)

    return router


def _listed(run: ListedRun) -> ListedInfo:
    """A run of the list, by the name under which the server knows it: its folder's, also where that was renamed."""
    return ListedInfo.model_validate({**run.model_dump(exclude={"folder"}), "run": Path(run.folder).name})


def _minds(place: Place, run: str, turn: int) -> list[MindRecord]:
    found = []
    for event in past_events(read_run(place.runs.folder(run)), upto=turn):
        record: Any = getattr(event, "record", None)
        if event.event == "mind" and record.turn == turn:
            found.append(record)
    return found
