"""Routes: models and their files, experiments, and what companions remember."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

from fastapi import Depends, Query, Response

from ....models.health_check import served_models
from ....models.local import files
from ....models.local.files import Stored
from ....models.local.getting import Announced, announced
from ....models.offers import OFFERS, OTHER, key_of, missing_packages
from ....models.waiting import waits
from ....reports.world_export import Remembered, remembered
from ....runs.companion.forgetting import Forgotten
from ....runs.companion.world import World
from ....state.errors import InputError, MachineError, PerSimChatError
from ..background import Download
from ..models.picker import Tested, patience_s, test_model
from ..watching import Summary
from . import models as form
from .bodies import ConflictError, MissingError, giving, refusing, router
from .runs import Web

models = router("/api/models", "models")
ModelName = Annotated[str, Query(min_length=1, max_length=300)]


@models.get("")
async def list_models(web: Web) -> form.ModelsInfo:
    """Providers with the status of their keys, model files of this machine, downloads, and which servers are silent.

    A request that begins a run, or asks a model, is answered once the model's server has said something; until then
    `waiting` names the server.
    """
    stored = await asyncio.to_thread(files.stored)
    found = {
        "providers": [_provider(offer) for offer in OFFERS if offer != OTHER],
        "files": [file.model_dump() for file in stored],
        "downloads": [vars(download) for download in web.downloads.all],
        "waiting": [vars(waiting) for waiting in waits()],
    }
    return form.ModelsInfo.model_validate(found)


def _provider(id_: str) -> dict[str, Any]:
    offer, (key, variables) = OFFERS[id_], key_of(id_)
    lists = {"variables": list(variables), "missing_packages": list(missing_packages(id_))}
    return {"id": id_, "name": offer.name or id_, "key": key, **lists}


@models.post("/test", response_model=form.TestedInfo)
async def test(given: form.ModelGiven) -> Tested:
    """Ask a model one small question; a silent server is waited for up to the setting `timeout_s`."""
    return await test_model(given.model)


@models.post("/served")
async def served(given: form.ServerGiven) -> form.ServedInfo:
    """Ask a server of the OpenAI protocol which models it has."""
    return form.ServedInfo(address=given.address, models=await served_models(given.address, patience_s()))


@models.get("/announced", response_model=form.AnnouncedInfo)
async def announce(name: ModelName) -> Announced:
    """What a download would be; nothing is downloaded."""
    return await asyncio.to_thread(announced, name)


@models.post(
    "/files",
    status_code=202,
    response_model=form.DownloadInfo,
    responses=refusing(409, "A download of this model is under way."),
)
async def get(web: Web, given: form.DownloadGiven) -> Download:
    """Begin a download; the size in the request has to be the announced one."""
    found = await asyncio.to_thread(announced, given.name)
    if found.size != given.size:
        remedy = f"Ask GET /api/models/announced, and send its size: {found.size}."
        raise InputError("the size is not the announced one", where="field size", remedy=remedy)
    try:
        return web.downloads.start(given.name)
    except InputError as error:
        raise ConflictError(error.what, where=error.where, remedy=error.remedy) from error


@models.delete("/files", response_model=form.FileInfo)
async def remove(web: Web, name: ModelName) -> Stored:
    """Delete a model file of this machine."""
    file = await asyncio.to_thread(files.remove, name)
    web.downloads.forget(name)
    return file


# Experiments: how far they are, their tables and reports. Nothing here starts or changes one

experiments = router("/api/experiments", "experiments")
one_experiment = router(
    "/api/experiments/{name}", "experiments", refusing(404, "There is no such experiment, or it has no such file.")
)
POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'; sandbox allow-downloads allow-same-origin"
)
"""Of files of an experiment: no script, and only pages of this server may frame them."""
_TYPES: Final = {".csv": "text/csv", ".md": "text/plain", ".html": "text/html"}


@experiments.get("")
async def list_experiments(web: Web) -> list[form.ExperimentInfo]:
    """The experiments, the one that was touched last first; those whose folders are damaged are left out."""
    listed = []
    for name in (await web.experiments.found()).names:
        try:
            listed.append(form.ExperimentInfo.model_validate(_short(await web.experiments.summary(name))))
        except PerSimChatError:
            continue
    return listed


def _short(short: Summary) -> dict[str, Any]:
    touched = datetime.fromtimestamp(short.touched, UTC).isoformat(timespec="seconds")
    return {**vars(short), **short.counts, "experiment": short.name, "touched": touched}


@one_experiment.get("")
async def look(web: Web, name: str) -> form.ExperimentDetail:
    """An experiment with its conversations, as it was not longer than two seconds ago."""
    watched = await web.experiments.look(name)
    cells = [
        {**one.cell.model_dump(), **vars(one), "cell": one.cell.id, "run": one.run or None}
        for one in watched.cells.values()
    ]
    more = {"axes": watched.axes, "conversations": cells, "tables": watched.tables, "report": watched.report > 0}
    return form.ExperimentDetail.model_validate({**_short(watched.summary()), **more})


@one_experiment.get("/report", response_class=Response, responses=giving("text/html"))
async def report(web: Web, name: str) -> Response:
    """The report, as it was last written: one page without scripts."""
    return await _file(web.experiments.report(name))


@one_experiment.get("/tables/{table}", response_class=Response, responses=giving("text/csv", "text/plain"))
async def table(web: Web, name: str, table: str) -> Response:
    """A table as CSV, or `codebook.md`, which explains the columns."""
    return await _file(web.experiments.table(name, table), **{"content-disposition": f'inline; filename="{table}"'})


@one_experiment.get("/runs/{cell}/transcript.md", response_class=Response, responses=giving("text/plain"))
async def transcript(web: Web, name: str, cell: str) -> Response:
    """The transcript of a conversation, to which the report links."""
    return await _file(web.experiments.transcript(name, cell))


async def _file(path: Path, **headers: str) -> Response:
    try:
        data = await asyncio.to_thread(path.read_bytes)
    except OSError as error:
        raise MachineError.caused_by(error, "the file cannot be read", path.name) from error
    media = f"{_TYPES[path.suffix]}; charset=utf-8"
    return Response(data, media_type=media, headers={"content-security-policy": POLICY, **headers})


# What an agent of the open world remembers of a person, and having it forgotten

companions = router(
    "/api/companions",
    "companions",
    refusing(404, "No world is open, or it has no such agent, or they have never talked."),
)


async def _world(web: Web) -> World:
    if web.world is None:
        remedy = "Start the server with one: persimchat serve --world worlds/NAME."
        raise MissingError("no world is open", remedy=remedy)
    return web.world


OpenWorld = Annotated[World, Depends(_world)]


@asynccontextmanager
async def _pair(world: World, agent: str, person: str) -> AsyncIterator[tuple[str, str]]:
    """The names of the two, if they have talked; nothing else of the world's goes on meanwhile."""
    async with world.gate.beside():
        try:
            who = world.agent_named(agent)
        except InputError as error:
            raise MissingError(error.what, where=error.where, remedy=error.remedy) from None
        tie = await world.records.tie(who, (await world.person(person))["id"])
        if tie is None:
            what = f"{who} has never talked with this person"
            raise MissingError(what, where="person", remedy="Check the name of the person.")
        yield who, tie.name


@companions.get("/{agent}/people/{person}")
async def known(world: OpenWorld, agent: str, person: str) -> Remembered:
    """What the agent remembers: facts with quotes and dates, also replaced ones; talks, insights, trust, words."""
    async with _pair(world, agent, person) as pair:
        return await remembered(await world.companion(*pair))


@companions.delete("/{agent}/people/{person}")
async def forget_person(web: Web, world: OpenWorld, agent: str, person: str) -> Forgotten:
    """Have the agent forget the person; an open talk is ended first. It cannot be undone."""
    async with _pair(world, agent, person) as pair:
        pass
    return await web.pairs.forget(world, *pair)
