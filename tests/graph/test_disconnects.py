"""A client that goes away: whatever holds the conversation stops, and asks its models nothing more."""

from __future__ import annotations

import itertools
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypedDict

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from langgraph.graph import START, StateGraph
from loopback.server import LoopbackServer, natural_answer
from starlette.responses import StreamingResponse

from persimchat import Settings, as_tool, asimulate, astream_events, build_conversation, conversation_node

pytestmark = pytest.mark.proof

AT_ONCE = 3
"""Requests that are answered at once; later ones wait until the client has gone away."""
PEOPLE = ["Jarmila", "Zeynep"]


class Asked(TypedDict, total=False):
    topic: str
    participants: list[Any]
    messages: list[Any]
    told: str


class Model:
    """A model that answers no request after the first ones until it is told to, and counts them."""

    def __init__(self) -> None:
        self.asked, self.waits, self.goes_on = itertools.count(1), threading.Event(), threading.Event()
        self.count = 0

    def __call__(self, body: dict[str, Any]) -> Any:
        self.count = next(self.asked)
        if self.count > AT_ONCE:
            self.waits.set()
            self.goes_on.wait(60)
        return natural_answer(body)


def one(work: Any) -> Any:
    return StateGraph(Asked).add_node("group", work).add_edge(START, "group").compile()


def node(settings: Settings, _: Path) -> Any:
    return one(conversation_node(settings, participants=PEOPLE, topic_from="topic", into={"told": "transcript"}))


def graph_as_node(settings: Settings, _: Path) -> Any:
    return one(build_conversation(settings=settings))


def nested(settings: Settings, folder: Path) -> Any:
    return one(node(settings, folder))


def tool(settings: Settings, _: Path, out: Path | None = None) -> Any:
    asks = as_tool(settings, participants=PEOPLE, most_messages=8, out=out)

    async def ask(state: Asked) -> Asked:
        return {"told": str(await asks.ainvoke({"topic": state["topic"]}))}

    return one(ask)


def kept_tool(settings: Settings, folder: Path) -> Any:
    return tool(settings, folder, folder)


def simulated(settings: Settings, folder: Path) -> Any:
    async def hold(state: Asked) -> Asked:
        return {"told": (await asimulate(state["topic"], PEOPLE, settings=settings, out=folder)).transcript()}

    return one(hold)


class Events:
    """The conversation itself, without a graph around it."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self._settings, self._folder = settings, folder

    def astream(self, given: Asked, **_: Any) -> AsyncIterator[Any]:
        return astream_events(given["topic"], PEOPLE, settings=self._settings, out=self._folder)


@contextmanager
def served(app: FastAPI) -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    listens = socket.create_server(("127.0.0.1", 0))  # before anybody asks
    running = threading.Thread(target=server.run, args=([listens],))
    running.start()
    try:
        yield f"http://127.0.0.1:{listens.getsockname()[1]}"
    finally:
        server.should_exit = True
        running.join(60)


@pytest.mark.parametrize("form", [node, graph_as_node, nested, tool, kept_tool, simulated, Events])
def test_nothing_more_is_asked(form: Callable[[Settings, Path], Any], tmp_path: Path) -> None:
    app, model, over = FastAPI(), Model(), threading.Event()
    with LoopbackServer(answer=model) as server:
        graph = form(Settings(model=server.model(), max_messages=8), tmp_path)

        @app.get("/")
        async def talk() -> StreamingResponse:
            async def words() -> AsyncIterator[str]:
                try:
                    yield "begun\n"
                    async for part in graph.astream(
                        {"topic": "Tea or coffee?"}, stream_mode=["updates"], subgraphs=True
                    ):
                        yield f"{str(part)[:50]}\n"
                finally:
                    over.set()

            return StreamingResponse(words())

        with served(app) as address:
            with httpx.stream("GET", address, timeout=60):
                assert model.waits.wait(60)
            assert over.wait(60)
            time.sleep(0.2)  # what was begun before is under way
            asked = model.count
            model.goes_on.set()
            time.sleep(1.5)
            assert model.count == asked


@pytest.mark.parametrize("form", [node, graph_as_node, nested])
def test_a_stream_that_is_closed_in_ordinary_code(form: Callable[[Settings, Path], Any], tmp_path: Path) -> None:
    asked = itertools.count()

    def answer(body: dict[str, Any]) -> Any:
        next(asked)
        return natural_answer(body)

    with LoopbackServer(answer=answer) as server:
        graph = form(Settings(model=server.model(), max_messages=8), tmp_path)
        stream = graph.stream({"topic": "Tea or coffee?"}, stream_mode=["updates"], subgraphs=True)
        next(stream)
        stream.close()
        assert next(asked) < 30  # of some two hundred: those of one step
