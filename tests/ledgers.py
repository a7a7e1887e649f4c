"""What the tests of a run's ledger share: a sink, questions, and a node of a run that has the ledger."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Iterator
from typing import Any

from langchain_core.runnables.config import set_config_context
from loopback.server import LoopbackServer
from typing_extensions import TypedDict

from persimchat.models.asking import Answer, Spoken, ask, speak
from persimchat.models.ledger import LEDGER, Ledger
from persimchat.models.recording import Row
from persimchat.state.minds.judgement import NeedToTalk
from persimchat.state.settings import Settings

RIGHT = {"reasoning": "because", "need_to_talk": 7}
WORDS = "Well, I would rather walk home."


class Kept:
    """A sink that keeps what it is given."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.vectors: dict[str, str] = {}

    def call(self, row: Row) -> None:
        self.rows.append(Row.model_validate(json.loads(json.dumps(row.line()))))

    def embedding(self, text: str, vector: str) -> None:
        self.vectors[text] = vector


@contextlib.contextmanager
def running(ledger: Ledger) -> Iterator[Any]:
    """Inside a node of a run that has this ledger."""
    with set_config_context({"configurable": {LEDGER: ledger}}) as context:
        yield context


async def within(ledger: Ledger, work: Awaitable[Any]) -> Any:
    async def do() -> Any:
        return await work

    with running(ledger) as context:
        return await asyncio.create_task(do(), context=context)


def question(settings: Settings, *, agent: str = "Ann", turn: int = 3, schema: str = "S") -> Any:
    return ask(
        "json_answer",
        NeedToTalk,
        settings=settings,
        agent=agent,
        module="need_to_talk",
        turn=turn,
        schema=schema,
    )


def words(settings: Settings, *, agent: str = "Ann", turn: int = 3, schema: str = "S", **more: Any) -> Any:
    asked = {"settings": settings, "agent": agent, "module": "natural_language", "turn": turn, "schema": schema}
    return speak("json_answer", **asked, **more)


async def question_to(server: LoopbackServer, **options: Any) -> Answer[NeedToTalk]:
    """The answer of a server's model to the question."""
    answer: Answer[NeedToTalk] = await question(Settings(**{"model": server.model(), **options}))
    return answer


async def words_of(server: LoopbackServer, message_id: str | None = None, **options: Any) -> Spoken:
    """What a server's model says."""
    spoken: Spoken = await words(Settings(**{"model": server.model(), **options}), message_id=message_id)
    return spoken


class State(TypedDict, total=False):
    name: str
    found: list[str]
