"""Routes: models. What there is, what a server has, a test of any model, and the files of this machine."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from persimchat.app.web.api.models import Problem
from persimchat.app.web.api.problems import RESPONSES, ConflictError
from persimchat.app.web.context import WebContext
from persimchat.app.web.downloads import Download, State
from persimchat.app.web.models.testing import test_model
from persimchat.models.local import files
from persimchat.models.local.getting import announced
from persimchat.models.offers import OFFERS, OTHER, Key, key_of, missing_packages
from persimchat.models.reaching import served_models
from persimchat.state.errors import InputError

Name = Annotated[str, Field(min_length=1, max_length=300)]
_BUSY: Final[dict[int | str, dict[str, Any]]] = {
    409: {"model": Problem, "description": "A download of this model is under way."}
}


class ProviderInfo(BaseModel):
    """A provider of the fixed list. Of its key only the status is known."""

    id: str = Field(description="the beginning of its models' names; file and server stand for other forms")
    name: str
    key: Key
    variables: list[str] = Field(description="environment variables that the status is about")
    missing_packages: list[str] = Field(description="what pip would have to install")
    models: list[str] = Field(description="some of its models")


class FileInfo(BaseModel):
    """A model file of this machine."""

    name: str
    size: int = Field(description="bytes")
    licence: str
    source: str


class DownloadInfo(BaseModel):
    """A download since the server's start."""

    name: str
    state: State
    done: int = Field(description="bytes")
    total: int | None
    error: str


class ModelsInfo(BaseModel):
    """Providers, files and downloads."""

    providers: list[ProviderInfo]
    files: list[FileInfo]
    downloads: list[DownloadInfo]


class ServedInfo(BaseModel):
    """The models that a server lists."""

    address: str
    models: list[str]


class TestedInfo(BaseModel):
    """A model that answered."""

    model: str
    seconds: float


class AnnouncedInfo(BaseModel):
    """What a download would be."""

    name: str
    source: str
    size: int | None = Field(description="bytes; null if the source does not say")
    licence: str
    there: bool = Field(description="whether this machine has it")


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ModelGiven(_Given):
    """A model to be tested."""

    model: Name


class ServerGiven(_Given):
    """A server to be asked for its models."""

    address: Name


class DownloadGiven(_Given):
    """A download, with consent to its size."""

    name: Name
    size: int | None = Field(description="the size that GET /api/models/announced gave: consent to it")


def models_router(web: WebContext) -> APIRouter:
    """The routes, over the server's models."""
    router = APIRouter(prefix="/api/models", tags=["models"], responses=RESPONSES)

    @router.get("")
    async def list_models() -> ModelsInfo:
        """Providers with the status of their keys, model files of this machine, and downloads."""
        return ModelsInfo(
            providers=[_provider(provider) for provider in OFFERS if provider != OTHER],
            files=[
                FileInfo(name=file.name, size=file.size, licence=file.licence, source=file.source)
                for file in await asyncio.to_thread(files.stored)
            ],
            downloads=[_download(download) for download in web.downloads.all],
        )

    @router.post("/test")
    async def test(given: ModelGiven) -> TestedInfo:
        """Ask a model one small question; a wrong server is told within three seconds."""
        tested = await test_model(given.model)
        return TestedInfo(model=tested.model, seconds=round(tested.seconds, 2))

    @router.post("/served")
    async def served(given: ServerGiven) -> ServedInfo:
        """Ask a server of the OpenAI protocol which models it has."""
        return ServedInfo(address=given.address, models=await served_models(given.address))

    @router.get("/announced")
    async def announce(name: Annotated[str, Query(min_length=1, max_length=300)]) -> AnnouncedInfo:
        """What a download would be; nothing is downloaded."""
        found = await asyncio.to_thread(announced, name)
        return AnnouncedInfo(
            name=found.name, source=found.source, size=found.size, licence=found.licence, there=found.there
        )

    @router.post("/files", status_code=202, responses=_BUSY)
    async def get(given: DownloadGiven) -> DownloadInfo:
        """Begin a download; the size in the request has to be the announced one."""
        found = await asyncio.to_thread(announced, given.name)
        if found.size != given.size:
            raise InputError(
                "the size is not the announced one",
                where="field size",
                remedy=f"Ask GET /api/models/announced, and send its size: {found.size}.",
            )
        try:
            return _download(web.downloads.start(given.name))
        except InputError as error:
            raise ConflictError(error.what, where=error.where, remedy=error.remedy) from error

    @router.delete("/files")
    async def remove(name: Annotated[str, Query(min_length=1, max_length=300)]) -> FileInfo:
        """Delete a model file of this machine."""
        file = await asyncio.to_thread(files.remove, name)
        web.downloads.forget(name)
        return FileInfo(name=file.name, size=file.size, licence=file.licence, source=file.source)

    return router


def _provider(provider: str) -> ProviderInfo:
    offer = OFFERS[provider]
    key, variables = key_of(provider)
    return ProviderInfo(
        id=offer.id,
        name=offer.name or offer.id,
        key=key,
        variables=list(variables),
        missing_packages=list(missing_packages(provider)),
        models=list(offer.models),
    )


def _download(download: Download) -> DownloadInfo:
    return DownloadInfo(
        name=download.name,
        state=download.state,
        done=download.done,
        total=download.total,
        error=download.error,
    )
