"""Routes: the list of runs, starting, looking at, deleting one; its report and its tables."""

from __future__ import annotations

import asyncio
import io
import tempfile
import zipfile
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse

from persimchat.app.web.api.bodies import JsonRoute
from persimchat.app.web.api.conversations import understood
from persimchat.app.web.api.models import Conversation, ListedInfo, RunInfo, Turn
from persimchat.app.web.api.problems import (
    CONFLICT,
    NO_RUN,
    NO_STORY,
    RESPONSES,
    TOO_LONG,
    ConflictError,
    NoRunError,
    NoStoryError,
)
from persimchat.app.web.board import Board
from persimchat.app.web.context import WebContext
from persimchat.app.web.live_runs import LiveRun
from persimchat.app.web.shared.stories import read_plan
from persimchat.app.web.shared.would_go import Scored, open_record
from persimchat.runs.events import Judged, MindRecord, StopReason, Uttered
from persimchat.runs.folder.labels import MOST_TAGS
from persimchat.runs.folder.listing import ListedRun, deletable, delete_run, matching
from persimchat.runs.folder.past import past_events
from persimchat.runs.folder.reading import read_run
from persimchat.runs.reports.export import export_runs
from persimchat.runs.reports.report import report_html
from persimchat.runs.reports.story_course import StoryCourse
from persimchat.runs.run.going_on import settings_of
from persimchat.runs.run.past_calls import PastCall, past_calls, recorded_calls
from persimchat.runs.run.past_prompts import foreseen_at
from persimchat.state.errors import InputError, MachineError
from persimchat.state.pruning import Fill, Pruned, Pruning
from persimchat.state.settings import Mode

HTML: Final[dict[int | str, dict[str, Any]]] = {200: {"content": {"text/html": {"schema": {"type": "string"}}}}}
_ZIP: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}}}
}


def as_page(text: str) -> HTMLResponse:
    """A page that runs nothing, loads nothing and stands in no other page."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
    return HTMLResponse(text, headers={"content-security-policy": policy})


async def board_of(web: WebContext, run: str) -> Board:
    """The board of a run; raises NoRunError if there is none."""
    if web.runs.get(run) is None:
        check_run(web, run)
    return await web.runs.board(run)


def check_run(web: WebContext, run: str) -> None:
    """Raise NoRunError if there is no such run."""
    try:
        web.runs.folder(run)
    except InputError as error:
        raise NoRunError(error.what, where=run, remedy="See /api/runs for the list of runs.") from None


def check_own(web: WebContext, run: str) -> None:
    """Raise NoRunError if there is no such run, or ConflictError if it is a cell of an experiment."""
    check_run(web, run)
    if web.runs.experiment_of(run):
        raise ConflictError("the run is a cell of an experiment", where=run, remedy="Read it, or begin another run.")


def live_run(web: WebContext, run: str) -> LiveRun:
    """An active run; raises NoRunError or ConflictError if it is not."""
    live = web.runs.going_on(run)
    if live is None:
        if web.runs.get(run) is None:
            check_run(web, run)
        raise ConflictError("the run is not running", where=run, remedy="Resume it, or branch it.")
    return live


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


def runs_router(web: WebContext) -> APIRouter:
    """The routes, over these runs."""
    router = APIRouter(route_class=JsonRoute, prefix="/api/runs", tags=["runs"], responses=RESPONSES)

    @router.get("")
    async def list_runs(
        text: Annotated[
            str, Query(max_length=1000, description="words in id, name, tags, topic, people or model")
        ] = "",
        mode: Mode | None = None,
        ended: StopReason | Literal["unfinished"] | None = None,
        tag: Annotated[list[str], Query(max_length=MOST_TAGS, description="a tag that it has; all of several")] = [],  # noqa: B006
    ) -> list[ListedInfo]:
        """The runs, the latest first."""
        listing = await web.runs.runs()
        found = matching(listing.runs, text=text, mode=mode, ended=ended, tags=tag)
        return [_listed(run) for run in found]

    @router.post("", status_code=201)
    async def start_run(wanted: Conversation) -> RunInfo:
        """Begin a run. It runs by itself; follow it by its events."""
        scenario, settings = await understood(web, wanted)
        live = await web.runs.start(scenario, settings)
        return info(live.run, live.board)

    @router.get("/{run}", responses=NO_RUN)
    async def look(run: str) -> RunInfo:
        """A run in short."""
        return info(run, await board_of(web, run))

    @router.delete("/{run}", responses={**NO_RUN, **CONFLICT})
    async def delete(run: str) -> dict[Literal["kept"], str]:
        """Delete a run and its memories; `kept` says what could not be deleted, if anything."""
        check_own(web, run)
        await web.runs.closed(run)
        if web.runs.going_on(run):
            raise ConflictError("the run is still running", where=run, remedy="Stop it first.")
        found = await asyncio.to_thread(deletable, web.runs.own_folder(run))
        kept = await delete_run(found)
        web.runs.forget(run)
        return {"kept": " ".join(part for part in (found.kept, kept) if part)}

    @router.get("/{run}/utterances", responses=NO_RUN)
    async def utterances(run: str, after: Turn = 0) -> list[Uttered]:
        """The utterances after a turn."""
        return (await board_of(web, run)).utterances[after:]

    @router.get("/{run}/verdicts", responses=NO_RUN)
    async def verdicts(run: str) -> list[Judged]:
        """The judge's verdicts, in order."""
        return (await board_of(web, run)).verdicts

    @router.get("/{run}/minds/{turn}", responses=NO_RUN)
    async def minds(run: str, turn: Turn) -> list[MindRecord]:
        """All minds at the end of a turn (0 before the first utterance); empty if there are none."""
        check_run(web, run)
        return await asyncio.to_thread(_minds, web, run, turn)

    @router.get("/{run}/pruning", responses={**NO_RUN, **CONFLICT, **TOO_LONG})
    async def pruning(
        run: str,
        turn: Annotated[int, Query(ge=1, le=10_000_000, description="number of the utterance")],
        strength: Annotated[float, Query(alias="lambda", ge=0, le=1, allow_inf_nan=False, description="λ")],
        method: Annotated[Scored, Query(description="what scores the pieces of information")] = "attention",
        fill: Annotated[Fill, Query(description="what becomes of a piece that would pass the share")] = "skip",
    ) -> Pruned:
        """What would be left out of the prompt of a past utterance; no model is asked, and nothing changes.

        Blocks that the run leaves out whole (`pruning.remove`) are left out here, too. For `attention`, the scorer is
        always smollm2.
        """
        check_run(web, run)
        record = await asyncio.to_thread(open_record, web.runs.folder(run))
        remove = settings_of(record.manifest, {}).pruning.remove
        wanted: Any = {"lambda": strength, "method": method, "fill": fill, "remove": remove}
        settings = Pruning.model_validate(wanted)
        return await web.forecasts.one(lambda: foreseen_at(record, turn, settings))

    @router.get("/{run}/calls", responses={**NO_RUN, **CONFLICT, **TOO_LONG})
    async def calls(
        run: str,
        turn: Annotated[int, Query(ge=1, le=10_000_000, description="number of the utterance")],
        prompts: Annotated[bool, Query(description="whether to make their prompts again")] = True,
    ) -> list[PastCall]:
        """The requests that made an utterance's words, and those with which it was heard; no model is asked."""
        check_run(web, run)
        folder = web.runs.folder(run)
        await asyncio.to_thread(open_record, folder)
        if not prompts:
            return await asyncio.to_thread(recorded_calls, folder, turn)
        return await web.forecasts.one(lambda: past_calls(folder, turn))

    @router.get("/{run}/story", responses=NO_STORY)
    async def story(
        run: str,
        seen_by: Annotated[
            str | None,
            Query(alias="as", max_length=300, description="a character: what it knows, and no word more"),
        ] = None,
        turn: Annotated[Turn | None, Query(description="up to and with this utterance; left out: so far")] = None,
    ) -> StoryCourse:
        """The course of a story: round, stage, rooms, where its characters stand, owners, ballots, outcome."""
        board = await board_of(web, run)
        plan = await asyncio.to_thread(read_plan, web.runs.folder(run))
        if plan is None:
            raise NoStoryError("the run is no story", where=run, remedy="Choose a run whose mode is story.")
        eyes = None if seen_by is None else plan.character(seen_by, where="as")
        return plan.course(board, seen_by=eyes, turn=turn)

    return router


def _listed(run: ListedRun) -> ListedInfo:
    """A run of the list; its id is the name of its folder, even if the folder was renamed."""
    return ListedInfo.model_validate({**run.model_dump(exclude={"folder"}), "run": Path(run.folder).name})


def _minds(web: WebContext, run: str, turn: int) -> list[MindRecord]:
    found = []
    for event in past_events(read_run(web.runs.folder(run)), upto=turn):
        record: Any = getattr(event, "record", None)
        if event.event == "mind" and record.turn == turn:
            found.append(record)
    return found


def downloads_router(web: WebContext) -> APIRouter:
    """The routes, over these runs."""
    router = APIRouter(prefix="/api/runs/{run}", tags=["downloads"], responses={**RESPONSES, **NO_RUN})

    @router.get("/report", response_class=Response, responses=HTML)
    async def report(run: str) -> HTMLResponse:
        """The report of a run so far: one page without scripts."""
        check_run(web, run)
        return as_page(await asyncio.to_thread(lambda: report_html(read_run(web.runs.folder(run)))))

    @router.get("/export", response_class=Response, responses=_ZIP)
    async def export(
        run: str,
        format: Annotated[Literal["csv", "jsonl", "parquet", "md", "html"], Query(description="of the tables")] = "csv",
        eyes: Annotated[
            str | None, Query(max_length=300, description="a participant: only what they may have seen")
        ] = None,
    ) -> Response:
        """The run as tables with a codebook, and its transcript, in one ZIP file."""
        check_run(web, run)
        try:
            packed = await asyncio.to_thread(_packed, web.runs.folder(run), format, eyes)
        except OSError as error:
            raise MachineError.caused_by(error, "the tables cannot be made", tempfile.gettempdir()) from error
        name = f"{run}-{format}.zip".encode("ascii", "replace").decode().replace("?", "_").replace('"', "_")
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(packed, media_type="application/zip", headers=headers)

    return router


def _packed(folder: Path, form: str, eyes: str | None) -> bytes:
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "tables"
        export_runs([folder], out, form, bom=form == "csv", eyes=eyes)
        files = sorted(out.iterdir())
        if eyes is None and (folder / "transcript.md").is_file():
            files.append(folder / "transcript.md")
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in files:
                archive.write(file, file.name)
        return packed.getvalue()
