"""Routes: experiments, how far they are, their tables and reports. Nothing here starts or changes one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from fastapi import APIRouter, Response

from persimchat.app.web.api.models import CellInfo, ExperimentDetail, ExperimentInfo
from persimchat.app.web.api.problems import NO_EXPERIMENT, RESPONSES
from persimchat.app.web.context import WebContext
from persimchat.app.web.watching import STATUSES, Summary, WatchedCell
from persimchat.state.errors import MachineError, PerSimChatError

POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'; sandbox allow-downloads allow-same-origin"
)
"""Of files of an experiment: no script, and only pages of this server may frame them."""

_TYPES: Final = {".csv": "text/csv", ".md": "text/plain", ".html": "text/html"}


def _typed(*kinds: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"content": {kind: {"schema": {"type": "string"}} for kind in kinds}}}


def experiments_router(web: WebContext) -> APIRouter:
    """The routes, over the folder of results."""
    router = APIRouter(prefix="/api/experiments", tags=["experiments"], responses=RESPONSES)

    @router.get("")
    async def list_experiments() -> list[ExperimentInfo]:
        """The experiments, the one that was touched last first; those whose folders are damaged are left out."""
        listed = []
        for name in (await web.experiments.found()).names:
            try:
                listed.append(_info(await web.experiments.summary(name)))
            except PerSimChatError:
                continue
        return listed

    @router.get("/{name}", responses=NO_EXPERIMENT)
    async def look(name: str) -> ExperimentDetail:
        """An experiment with its conversations, as it was not longer than two seconds ago."""
        watched = await web.experiments.look(name)
        return ExperimentDetail(
            **_info(watched.summary()).model_dump(),
            axes={axis: list(labels) for axis, labels in watched.axes.items()},
            conversations=[_cell(one) for one in watched.cells.values()],
            tables=list(watched.tables),
            report=watched.report > 0,
        )

    @router.get("/{name}/report", response_class=Response, responses={**NO_EXPERIMENT, **_typed("text/html")})
    async def report(name: str) -> Response:
        """The report, as it was last written: one page without scripts."""
        return await _file(web.experiments.report(name))

    @router.get(
        "/{name}/tables/{table}",
        response_class=Response,
        responses={**NO_EXPERIMENT, **_typed("text/csv", "text/plain")},
    )
    async def table(name: str, table: str) -> Response:
        """A table as CSV, or `codebook.md`, which explains the columns."""
        return await _file(web.experiments.table(name, table), {"content-disposition": f'inline; filename="{table}"'})

    @router.get(
        "/{name}/runs/{cell}/transcript.md",
        response_class=Response,
        responses={**NO_EXPERIMENT, **_typed("text/plain")},
    )
    async def transcript(name: str, cell: str) -> Response:
        """The transcript of a conversation, to which the report links."""
        return await _file(web.experiments.transcript(name, cell))

    return router


async def _file(path: Path, headers: Mapping[str, str] | None = None) -> Response:
    try:
        data = await asyncio.to_thread(path.read_bytes)
    except OSError as error:
        raise MachineError.caused_by(error, "the file cannot be read", path.name) from error
    media = f"{_TYPES[path.suffix]}; charset=utf-8"
    return Response(data, media_type=media, headers={"content-security-policy": POLICY, **(headers or {})})


def _info(short: Summary) -> ExperimentInfo:
    return ExperimentInfo(
        experiment=short.name,
        driven=short.driven,
        cells=short.cells,
        **{status: short.counts.get(status, 0) for status in STATUSES},
        spent=short.spent,
        seconds_left=short.seconds_left,
        touched=datetime.fromtimestamp(short.touched, UTC).isoformat(timespec="seconds"),
    )


def _cell(one: WatchedCell) -> CellInfo:
    return CellInfo(
        cell=one.cell.id,
        axes=one.cell.axes,
        task=one.cell.task,
        category=one.cell.category,
        round=one.cell.round,
        topic=one.cell.topic,
        status=one.status,
        why=one.why,
        run=one.run or None,
        utterances=one.utterances,
        spent=one.spent,
    )
