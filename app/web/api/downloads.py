"""Routes: a run's report and its tables."""

from __future__ import annotations

import asyncio
import io
import tempfile
import zipfile
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse

from persimchat.app.web.api.finding import check_run
from persimchat.app.web.api.problems import NO_RUN, RESPONSES
from persimchat.app.web.place import Place
from persimchat.runs.export import export_runs
from persimchat.runs.reading import read_run
from persimchat.runs.report import report_html

_HTML: Final[dict[int | str, dict[str, Any]]] = {200: {"content": {"text/html": {"schema": {"type": "string"}}}}}
_ZIP: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}}}
}


def downloads_router(place: Place) -> APIRouter:
    """The routes, over these runs."""
    router = APIRouter(prefix="/api/runs/{run}", tags=["downloads"], responses={**RESPONSES, **NO_RUN})

    @router.get("/report", response_class=Response, responses=_HTML)
    async def report(run: str) -> HTMLResponse:
        """The report on a run as far as it has come: one page without scripts."""
        check_run(place, run)
        page = await asyncio.to_thread(lambda: report_html(read_run(place.runs.folder(run))))
        policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
        return HTMLResponse(page, headers={"content-security-policy": policy})

    @router.get("/export", response_class=Response, responses=_ZIP)
    async def export(
        run: str,
        format: Annotated[Literal["csv", "jsonl", "parquet", "md", "html"], Query(description="of the tables")] = "csv",
        eyes: Annotated[
            str | None, Query(max_length=300, description="a participant: only what they may have seen")
        ] = None,
    ) -> Response:
        """The run as tables with a codebook, and its transcript, in one ZIP file."""
        check_run(place, run)
        packed = await asyncio.to_thread(_packed, place.runs.folder(run), format, eyes)
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
