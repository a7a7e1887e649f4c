"""The requests of one question: configures tracing, applies limits, counts them, and explains failures."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Container, Iterable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Final, cast

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, message_chunk_to_message
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config
from pydantic import BaseModel

from ..prompts import render
from ..prompts.fitting import Question, prompt_size
from ..state.errors import ModelError, PerSimChatError
from ..state.minds.mind import Call
from ..state.settings import Settings
from . import capacity, ladder
from .answers import was_cut
from .failures import TransientModelError, is_hung_up, is_timeout, is_too_long, model_error, status_of
from .fitted import Fitted, fit, most_characters
from .ladder import Rung
from .ledger import Ledger, current_ledger
from .limits import pause_asked_for, slot
from .local.server import SEE_LOG, how_ended, room, slots
from .naming import ModelName, parse_model_name
from .profiles import profile_of
from .recording import Request, Worked, from_record
from .registry import model_name, ready_model
from .schemas import prompt_schema
from .stream_filter import StreamFilter
from .usage import Tally

_ALONE: Final = "alone"
_FULL: Final = 500
"""llama.cpp's status if requests together have filled the context; 400 is its status for a prompt that is too long."""


@dataclass
class Exchange:
    """One question of an agent's module in one turn, and what its requests have used so far.

    Attributes:
        settings: the simulation's settings.
        agent: the agent that asks.
        module: the cognitive module that asks.
        turn: utterances so far.
        name: the model that is asked.
        tally: requests and tokens so far.
        answers: the number of answers that came from a record.
        took_s: seconds that the answers took, as the model reports them, else measured.
        seed: the seed of its requests for structured answers, if it is not the settings'.
        part: what distinguishes the question from others of the same turn, agent and module; empty if there is but one.
    """

    settings: Settings
    agent: str
    module: str
    turn: int
    name: ModelName
    tally: Tally = field(default_factory=Tally)
    answers: int = 0
    took_s: float = 0.0
    seed: int | None = None
    part: str = ""

    @classmethod
    def on_behalf(cls, settings: Settings, agent: str, module: str, turn: int, part: str = "") -> Exchange:
        """An exchange with the model that the settings name for this agent and module."""
        return cls(settings, agent, module, turn, parse_model_name(model_name(settings, agent, module)), part=part)

    @property
    def _own(self) -> Settings:
        """The settings of its requests."""
        return self.settings.of_module(self.module)

    @property
    def takes_seed(self) -> bool:
        """Whether the model's server takes a seed."""
        return profile_of(self.name).seed and "seed" not in ladder.refused_fields(self.name)

    async def judge(
        self, asked: list[BaseMessage] | Question, schema: type[BaseModel], *, more_room: bool = False
    ) -> tuple[AIMessage, Rung]:
        """Ask for a structured answer in the best form that the model accepts.

        Args:
            asked: the conversation; only a `Question` is shortened if it does not fit the context.
            schema: the answer's schema.
            more_room: whether the answer was cut before, so that it may have half again as many tokens.

        Returns:
            The raw answer and its form.

        Raises:
            ModelError: the request failed, or failed according to the record.
            PromptTooLong: the prompt does not fit the model's context.
            BudgetExhausted: the request would have exceeded a budget, and was not made.
            NotRecorded: the run is replayed, and its record has no answer to this question.
        """
        ledger, question, tried = current_ledger(), _question(asked), set[str]()
        if ledger is not None and ledger.replays:
            return self._from_record(ledger, question.messages, schema.__name__)[0], Rung.TEXT
        while True:
            form = ladder.rung(self.name)
            with self._preparing(ledger, question.messages, schema.__name__):
                model = await ready_model(self.name.written, self._own, streaming=False)
                try:
                    more = ladder.arguments(model, self.name, form, schema)
                except NotImplementedError:
                    ladder.refuse(self.name, form)
                    continue
                needed = form.needs_schema_in_prompt and self.name.provider != "offline"
                behind = wording("json_answer", schema=prompt_schema(schema)) if needed else ""
                fitted = await fit(self, model, question, schema, behind=behind, more_room=more_room)
            sent = {*ladder.sent_with(model, self.name, form), *filter(None, [fitted.field])}
            more = fitted.arguments(model, more)
            if self.seed is not None and self.takes_seed:
                more = {**more, "seed": self.seed}
            config = self._config("nostream")
            try:
                async with self._request(ledger, question.messages, fitted, tried, schema.__name__) as request:
                    taking = StreamFilter(inner=model, longest=most_characters(fitted.tokens), disable_streaming=True)
                    request.answered(await taking.ainvoke(fitted.messages, config, **more))
            except PerSimChatError:
                raise
            except Exception as error:
                if not self._asks_again(error, sent, fitted, tried):
                    raise self._explained(error) from error
                continue
            return self._account_for(request), form

    async def stream(
        self,
        asked: list[BaseMessage] | Question,
        *,
        message_id: str | None = None,
        more_room: bool = False,
        quietly: bool = False,
        begun: Callable[[], None] | None = None,
        **more: Any,
    ) -> tuple[AIMessage, float]:
        """Ask for free text, and stream it to LangGraph's listeners.

        Args:
            asked: the conversation; only a `Question` is shortened if it does not fit the context.
            message_id: the id of the message and its tokens; if None, LangChain makes one.
            more_room: whether the answer was cut before, so that it may have half again as many tokens.
            quietly: whether listeners are told nothing.
            begun: called at the first piece of the answer.
            **more: further fields of the request, for example `seed`.

        Returns:
            The whole message, with the id of its tokens, and its seconds, as the model reports them, else measured.

        Raises:
            ModelError: the request failed, or the stream ended before the answer did.
            PromptTooLong: the prompt does not fit the model's context.
            BudgetExhausted: the request would have exceeded a budget, and was not made.
            NotRecorded: the run is replayed, and its record has no answer to this question.
        """
        ledger, question, tried = current_ledger(), _question(asked), set[str]()
        if ledger is not None and ledger.replays:
            return self._from_record(ledger, question.messages, message_id=message_id)
        while True:
            with self._preparing(ledger, question.messages):
                client = await ready_model(self.name.written, self._own)
                fitted = await fit(self, client, question, more_room=more_room)
            sent = {*ladder.sent_with(client, self.name, None), *more, *filter(None, [fitted.field])}
            most = most_characters(fitted.tokens)
            model = StreamFilter(inner=client, message_id=message_id, longest=most)
            arguments = fitted.arguments(client, more)
            config = self._config(*(["nostream"] if quietly else []))
            chunks: list[AIMessageChunk] = []
            try:
                async with self._request(ledger, question.messages, fitted, tried) as request:
                    try:
                        async for chunk in model.astream(fitted.messages, config, **arguments):
                            if begun is not None and not chunks:
                                begun()
                            chunks.append(chunk)
                    except BaseException:
                        if chunks:  # the tokens before the cut are counted
                            request.partial = _joined(chunks)
                        raise
                    if not chunks:
                        raise self.error("the stream held no answer", again=True)
                    message = _joined(chunks)
                    request.answered(message)
                    if profile_of(self.name).says_the_end and not _is_whole(message):
                        raise self.error("the connection was cut in the middle of the answer", again=True)
            except PerSimChatError:
                raise
            except Exception as error:
                if (chunks and not is_timeout(error)) or not self._asks_again(error, sent, fitted, tried):
                    raise self._explained(error) from error
                more = {k: v for k, v in more.items() if k not in ladder.refused_fields(self.name)}
                continue
            return self._account_for(request), request.seconds

    async def work_out(self, asked: Question, work: Callable[[], Awaitable[Worked]], *, takes_time: bool = True) -> str:
        """An answer that this machine works out instead of a model: recorded like one, and taken from the record.

        Args:
            asked: what the answer depends on.
            work: makes the answer.
            takes_time: whether the record tells how long that took; without it, equal runs have equal records.

        Raises:
            ModelError: it cannot be made, or could not according to the record.
            NotRecorded: the run is replayed, and its record has no such answer.
        """
        ledger = current_ledger()
        if ledger is not None and ledger.replays:
            return str(self._from_record(ledger, asked.messages)[0].text)
        request = self._asked(asked.messages, asked.messages, "")
        with nullcontext() if ledger is None else ledger.preparing(request, self.settings):
            worked = await work()
        request.dropped, request.context = worked.dropped, worked.context
        if ledger is not None:
            took = time.perf_counter() - request.started if takes_time else 0.0
            ledger.worked_out(request, worked.text, worked.tokens, took, self.settings)
        return worked.text

    def call(self) -> Call:
        """The accounting row of all requests so far."""
        return self.tally.call(
            self.name, agent=self.agent, module=self.module, turn=self.turn, prices=self.settings.prices
        )

    def error(
        self, what: str, *, remedy: str = "", again: bool = False, kind: type[ModelError] = ModelError
    ) -> ModelError:
        """An error that names agent, module, model and turn; a transient one if trying `again` may help."""
        kind = TransientModelError if again else kind
        return kind(
            what,
            model=self.name.written,
            agent=self.agent,
            module=self.module,
            turn=self.turn,
            remedy=remedy or ("Try again; see the server's log." if again else ""),
        )

    def _config(self, *tags: str) -> RunnableConfig:
        """The configuration of LangGraph's node, with this question's name, tags and metadata."""
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

    def _preparing(
        self, ledger: Ledger | None, messages: Sequence[BaseMessage], schema: str = ""
    ) -> AbstractContextManager[None]:
        """Record why a question could not be put to its model, for a replay."""
        if ledger is None:
            return nullcontext()
        return ledger.preparing(self._asked(messages, messages, schema), self.settings)

    @asynccontextmanager
    async def _request(
        self,
        ledger: Ledger | None,
        messages: Sequence[BaseMessage],
        fitted: Fitted,
        tried: Container[str],
        schema: str = "",
    ) -> AsyncIterator[Request]:
        """Wait until a request may be made, and count it.

        Args:
            ledger: the conversation's ledger; None outside of conversations.
            messages: the question.
            fitted: the prompt that is sent.
            tried: ways of repeating the request that were tried before.
            schema: name of the answer's schema.
        """
        request = self._asked(messages, fitted.messages, schema)
        request.limit, request.dropped, request.context = fitted.tokens, fitted.dropped, fitted.context
        local = self.name.provider == "llamacpp"
        at_once = slots(self.settings) if local else None
        taken = None if _ALONE in tried else prompt_size(fitted.messages) + fitted.tokens
        shared = room(self.name, self.settings, taken) if local else None
        # One agent's requests go one after another, so that the slot with its prompt's beginning is used again.
        after = self.agent if local else None
        with ledger.keeping(request, self.settings) if ledger is not None else nullcontext():
            async with slot(self.settings, model=self.name.key, at_once=at_once, after=after, room=shared):
                if ledger is not None:
                    ledger.admit(request, self.settings)
                self.tally.requests += 1
                request.started = time.perf_counter()
                yield request

    def _asked(self, messages: Sequence[BaseMessage], sent: Sequence[BaseMessage], schema: str) -> Request:
        n = self.tally.requests
        return Request(self.turn, self.agent, self.module, self.name, n, messages, sent, schema, self.part)

    def _account_for(self, request: Request) -> AIMessage:
        """The answer to a request, added to what the exchange has used."""
        assert request.answer is not None
        if was_cut(request.answer):
            capacity.learn_thinking(self.name, request.answer)
        self.tally.sum(request.tally)
        self.took_s += request.seconds
        return request.answer

    def _from_record(
        self, ledger: Ledger, messages: Sequence[BaseMessage], schema: str = "", *, message_id: str | None = None
    ) -> tuple[AIMessage, float]:
        """The recorded answer and its seconds; its tokens are counted as if it had been requested."""
        found = ledger.recorded(self._asked(messages, messages, schema), self.answers)
        row = found.row
        self.tally.requests += len(found.requests)
        if row.answer is None:
            # The recorded requests failed permanently; trying again would give the same.
            failure = self.error(row.failed or "")
            failure.args = (row.failed,)
            raise failure
        self.answers += 1
        self.tally.sum(Tally(0, row.input_tokens, row.output_tokens, row.cached_tokens, row.estimated))
        self.took_s += row.seconds
        return from_record(row.answer, message_id=message_id), row.seconds

    def _explained(self, error: Exception) -> ModelError:
        pause_asked_for(error, self.name.key, self.name.written)
        if self.name.provider == "llamacpp" and (how := how_ended(self.name, self.settings, hung_up=is_hung_up(error))):
            return self.error(how, again=True, remedy=SEE_LOG)
        explained = model_error(
            error,
            self.name,
            agent=self.agent,
            module=self.module,
            turn=self.turn,
            timeout_s=self.settings.timeout_s,
        )
        # It was asked twice; LangGraph's retries would wait four times more.
        return self.error(f"{explained.what}, twice", remedy=explained.remedy) if is_timeout(error) else explained

    def _asks_again(self, error: Exception, sent: Iterable[str], fitted: Fitted, tried: set[str]) -> bool:
        """Whether a failed request is repeated: in another form if the server refused it, or unchanged.

        A prompt that was too long is shortened once; one that took too long is sent once more; `tried` records this.
        A prompt that had too little room beside others, because tokens are estimates, is sent once more alone.
        """
        why = "too long" if is_too_long(error) else "too late" if is_timeout(error) else ""
        if why == "too long" and self.name.provider == "llamacpp" and status_of(error) == _FULL:
            why = why if _ALONE in tried else _ALONE
        if not why:
            return self._refused(error, sent)
        if why in tried:
            return False
        tried.add(why)
        if why != "too long":
            return True
        size = prompt_size(fitted.messages)
        return capacity.learn_context(self.name, error, size) < size + fitted.tokens

    def _refused(self, error: Exception, sent: Iterable[str]) -> bool:
        """Whether the server refused a form or field, which the next request then leaves out.

        `sent` names the forms and fields of this request; a parallel request may have met the refusal first.
        """
        what = ladder.refusal(error, self.name, sent)
        if what is not None:
            ladder.refuse(self.name, what)
        return what is not None


def wording(template: str, **values: Any) -> str:
    """The user part of a rendered template, for adding to a conversation."""
    return str(render(template, **values)[1].text)


def _question(asked: list[BaseMessage] | Question) -> Question:
    return asked if isinstance(asked, Question) else Question(asked)


def _joined(chunks: list[AIMessageChunk]) -> AIMessage:
    """The message that the chunks of a stream, at least one, make."""
    # LangChain declares the common base class, BaseMessage.
    return cast(AIMessage, message_chunk_to_message(chunks[0] + chunks[1:]))


def _is_whole(message: AIMessage) -> bool:
    """Whether a streamed answer is complete: the protocol's last chunk says why it stopped."""
    return bool(message.response_metadata.get("finish_reason") or message.response_metadata.get("status"))
