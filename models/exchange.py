"""One question's requests: configured for tracing, limited, counted, with failures explained."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Iterable, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Final, cast

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, message_chunk_to_message
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config
from pydantic import BaseModel

from persimchat.models import ladder
from persimchat.models.failures import TransientModelError, model_error, retry_after_s
from persimchat.models.ladder import Rung
from persimchat.models.ledger import Ledger, current_ledger
from persimchat.models.limits import pause, slot
from persimchat.models.naming import ModelName, parse_model_name
from persimchat.models.openai_client import cut_short
from persimchat.models.recording import Request, from_record
from persimchat.models.registry import model_name, ready_model
from persimchat.models.schemas import prompt_schema
from persimchat.models.stable_ids import WithMessageId
from persimchat.models.usage import Tally
from persimchat.prompts import render
from persimchat.state.errors import ModelError, PerSimChatError
from persimchat.state.mind import Call
from persimchat.state.settings import Settings

_SAY_THE_END: Final = ("openai", "azure", "compatible", "ollama")
"""Providers whose streams say at their end why they stopped."""


@dataclass
class Exchange:
    """What is asked on behalf of one agent's module in one turn, and what it has used so far.

    Attributes:
        settings: the simulation's settings.
        agent: on whose behalf.
        module: which cognitive module asks.
        turn: utterances so far.
        name: the model that is asked.
        tally: requests and tokens so far.
        answers: answers that came from a record.
        took_s: seconds that the answers took, as the model reports them, else measured.
    """

    settings: Settings
    agent: str
    module: str
    turn: int
    name: ModelName
    tally: Tally = field(default_factory=Tally)
    answers: int = 0
    took_s: float = 0.0

    @classmethod
    def on_behalf(cls, settings: Settings, agent: str, module: str, turn: int) -> Exchange:
        """An exchange with the model that the settings name for this agent and module."""
        return cls(settings, agent, module, turn, parse_model_name(model_name(settings, agent, module)))

    async def judge(self, messages: list[BaseMessage], schema: type[BaseModel]) -> tuple[AIMessage, Rung]:
        """Ask for a structured answer in the best form that the model takes.

        Returns:
            The raw answer and the form in which it was asked for.

        Raises:
            ModelError: the request failed, or did so according to the record.
            BudgetExhausted: it would have passed a budget, and was not made.
            NotRecorded: the run is answered from a record, which has no answer to this.
        """
        ledger = current_ledger()
        if ledger is not None and ledger.replays:
            return self._from_record(ledger, messages, schema.__name__)[0], Rung.TEXT
        while True:
            form = ladder.rung(self.name)
            sent = {form, "seed"} - ladder.refused_fields(self.name)
            model = await ready_model(self.name.written, self.settings, streaming=False)
            try:
                more = ladder.arguments(model, self.name, form, schema)
            except NotImplementedError:
                ladder.refuse(self.name, form)
                continue
            prompt = messages
            if form.needs_schema_in_prompt and self.name.provider != "offline":
                prompt = followed_by(messages, wording("json_answer", schema=prompt_schema(schema)))
            config = self._config("nostream")
            try:
                async with self._request(ledger, messages, prompt, schema.__name__) as request:
                    request.answered(await _whole(model.ainvoke(prompt, config, **more)))
            except PerSimChatError:
                raise
            except Exception as error:
                if not self._refused(error, sent):
                    raise self._explained(error) from error
                continue
            return self._taken(request), form

    async def stream(
        self, messages: list[BaseMessage], *, message_id: str | None = None, **more: Any
    ) -> tuple[AIMessage, float]:
        """Ask for free text, streamed to whoever listens.

        Args:
            messages: the conversation.
            message_id: the id that the message and its tokens carry; one made up by LangChain where it is None.
            **more: further fields of the request, for example `seed`.

        Returns:
            The whole message, with the id that its tokens carried, and the seconds it took, as the model reports them,
            else measured.

        Raises:
            ModelError: the request failed, or the stream ended before the answer did.
            BudgetExhausted: it would have passed a budget, and was not made.
            NotRecorded: the run is answered from a record, which has no answer to this.
        """
        ledger = current_ledger()
        if ledger is not None and ledger.replays:
            return self._from_record(ledger, messages, message_id=message_id)
        while True:
            sent = {"seed", "stream_options"} - ladder.refused_fields(self.name)
            model = await ready_model(self.name.written, self.settings)
            if message_id is not None:
                model = WithMessageId(inner=model, message_id=message_id)
            config = self._config()
            chunks: list[AIMessageChunk] = []
            try:
                async with self._request(ledger, messages, messages) as request:
                    try:
                        async for chunk in model.astream(messages, config, **more):
                            chunks.append(chunk)
                    except BaseException:
                        if chunks:  # what came before the cut was used, and is counted
                            request.partial = _joined(chunks)
                        raise
                    if not chunks:
                        raise self.error("the stream held no answer", again=True)
                    message = _joined(chunks)
                    request.answered(message)
                    if self.name.provider in _SAY_THE_END and not _is_whole(message):
                        raise self.error("the connection was cut in the middle of the answer", again=True)
            except PerSimChatError:
                raise
            except Exception as error:
                if chunks or not self._refused(error, sent):
                    raise self._explained(error) from error
                more = {k: v for k, v in more.items() if k not in ladder.refused_fields(self.name)}
                continue
            return self._taken(request), request.seconds

    def call(self) -> Call:
        """The accounting row of everything asked so far."""
        return self.tally.call(
            self.name, agent=self.agent, module=self.module, turn=self.turn, prices=self.settings.prices
        )

    def error(self, what: str, *, remedy: str = "", again: bool = False) -> ModelError:
        """An error that names agent, module, model and turn."""
        kind = TransientModelError if again else ModelError
        return kind(
            what,
            model=self.name.written,
            agent=self.agent,
            module=self.module,
            turn=self.turn,
            remedy=remedy or ("Try again; see the server's log." if again else ""),
        )

    def _config(self, *tags: str) -> RunnableConfig:
        """What LangGraph's node was given, with this question's name, tags and metadata added."""
        config = ensure_config()
        config["run_name"] = f"{self.module}:{self.agent}"
        config["tags"] = [*config["tags"], *tags, "persimchat", self.module]
        config["metadata"] = {
            "turn": self.turn,  # a traced run's own counts from the utterance that is made in it
            **config["metadata"],
            "agent": self.agent,
            "module": self.module,
            "model": self.name.written,
        }
        return config

    @asynccontextmanager
    async def _request(
        self, ledger: Ledger | None, messages: Sequence[BaseMessage], sent: Sequence[BaseMessage], schema: str = ""
    ) -> AsyncIterator[Request]:
        """Wait until a request may be made, and have it counted.

        Args:
            ledger: the run's, where there is one.
            messages: the question.
            sent: the prompt that is sent for it.
            schema: name of the answer's schema.
        """
        request = self._asked(messages, sent, schema)
        alone = self.name.written if self.name.provider == "llamacpp" else ""
        with ledger.keeping(request) if ledger is not None else nullcontext():
            async with slot(self.settings, model=self.name.key, alone=alone):
                if ledger is not None:
                    ledger.admit(request)
                self.tally.requests += 1
                request.started = time.perf_counter()
                yield request

    def _asked(self, messages: Sequence[BaseMessage], sent: Sequence[BaseMessage], schema: str) -> Request:
        n = self.tally.requests
        return Request(self.turn, self.agent, self.module, self.name, n, messages, sent, schema)

    def _taken(self, request: Request) -> AIMessage:
        """The answer to a request, added to what the exchange has used."""
        assert request.answer is not None
        self.tally.add(request.sent, request.answer)
        self.took_s += request.seconds
        return request.answer

    def _from_record(
        self, ledger: Ledger, messages: Sequence[BaseMessage], schema: str = "", *, message_id: str | None = None
    ) -> tuple[AIMessage, float]:
        """The recorded answer and its seconds; what it took is added as if it had been asked for."""
        found = ledger.recorded(self._asked(messages, messages, schema), self.answers)
        row = found.row
        self.tally.requests += len(found.requests)
        if row["answer"] is None:
            # It failed for good, however often it had been tried: trying again would give the same.
            failure = self.error(row["failed"] or "")
            failure.args = (row["failed"],)
            raise failure
        self.answers += 1
        self.tally.input_tokens += row["input_tokens"]
        self.tally.output_tokens += row["output_tokens"]
        self.tally.estimated = self.tally.estimated or row["estimated"]
        self.took_s += row["seconds"]
        return from_record(row["answer"], message_id=message_id), row["seconds"]

    def _explained(self, error: Exception) -> ModelError:
        seconds = retry_after_s(error)
        if seconds is not None:
            pause(self.name.key, seconds)
        return model_error(
            error,
            self.name,
            agent=self.agent,
            module=self.module,
            turn=self.turn,
            timeout_s=self.settings.timeout_s,
        )

    def _refused(self, error: Exception, sent: Iterable[str]) -> bool:
        """Whether the server refused a form or field; it is remembered, so that the next request goes without it.

        `sent` is what this request had: another one, under way at the same time, may have learnt of it first.
        """
        what = ladder.refusal(error, self.name, sent)
        if what is not None:
            ladder.refuse(self.name, what)
        return what is not None


def wording(template: str, **values: Any) -> str:
    """The user part of a template, to be added to a conversation."""
    return str(render(template, **values)[1].text)


def followed_by(messages: list[BaseMessage], text: str) -> list[BaseMessage]:
    """The messages with `text` said by the user at the end.

    It joins a user message that stands last already: many local chat templates insist that user and assistant take
    turns.
    """
    if messages and isinstance(messages[-1], HumanMessage):
        return [*messages[:-1], HumanMessage(f"{messages[-1].text}\n\n{text}")]
    return [*messages, HumanMessage(text)]


def _joined(chunks: list[AIMessageChunk]) -> AIMessage:
    """The message that the chunks of a stream, at least one, make."""
    return cast(AIMessage, message_chunk_to_message(chunks[0] + chunks[1:]))


async def _whole(request: Awaitable[AIMessage]) -> AIMessage:
    """An answer, also where OpenAI's client raises it because it was cut or filtered."""
    try:
        return await request
    except cut_short() as stopped:
        return _unfinished(stopped)


def _is_whole(message: AIMessage) -> bool:
    """Whether a streamed answer came to its end: the protocol's last chunk says why it stopped."""
    return bool(message.response_metadata.get("finish_reason") or message.response_metadata.get("status"))


def _unfinished(error: Any) -> AIMessage:
    """The message that OpenAI's client raises instead of returning it when an answer was cut or filtered."""
    completion = error.completion
    reason = "length" if isinstance(error, cut_short()[:1]) else "content_filter"
    usage = completion.usage if completion else None
    return AIMessage(
        content=(completion.choices[0].message.content or "") if completion and completion.choices else "",
        response_metadata={"finish_reason": reason},
        usage_metadata={
            "input_tokens": usage.prompt_tokens,
            "output_tokens": usage.completion_tokens,
            "total_tokens": usage.total_tokens,
        }
        if usage
        else None,
    )
