"""The record of a request to a model, and the answer from the record.

A record has the answer and its use of tokens and time. Of the question it has a digest only, which shows whether a
prompt has changed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Annotated, Any, Final, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage
from pydantic import BaseModel, ConfigDict, Field

from .naming import ModelName
from .usage import Prices, Tally, cost_usd

Asking = tuple[int, str, str]
"""Turn, agent, and module, with the part of the turn where there is one (`asking_of`)."""

Question = tuple[int, str, str, int]
"""Turn, agent, module, and the number of earlier answers of the exchange: 0, or 1 for a second request."""

STOPPED: Final = "stopped before the answer came"
"""The `failed` of a request that was given up, because the run was stopped or another step failed."""

_SPEAKING: Final = frozenset({"natural_language", "pruning", "revision"})
"""The modules of a speaker, which ask in a step of their own, without the other modules of a mind."""

_CHECKS: Final = "revision"
"""The module whose failures end no step: an utterance that cannot be checked stands."""

_KEPT: Final = (
    "finish_reason",
    "stop_reason",
    "done_reason",
    "status",
    "incomplete_details",
    "estimated",
    "response_time_s",
    "token_usage",
    "model_name",
    "model_provider",
)
"""The keys of an answer's `response_metadata` that are kept: those that are read, and the model that answered."""
_MADE_UP: Final = "lc_run-"
"""The beginning of ids that LangChain draws for answers without one; they are kept with the question's digest."""
_LONGEST_S: Final = 86_400.0
"""The most seconds of an answer that are believed."""
_FIELDS: Final = ("tool_calls", "invalid_tool_calls", "usage_metadata")


_Turn = Annotated[int, Field(strict=True, ge=0, le=10_000_000)]
_Count = Annotated[int, Field(strict=True, ge=0)]
_Amount = Annotated[float, Field(strict=True, ge=0, le=1e9, allow_inf_nan=False)]


class Row(BaseModel):
    """One request to a model, or the reason why none was made: a row of the table requests."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    turn: _Turn
    agent: str
    module: str
    model: str
    """As the user wrote it."""
    n: _Count
    """Its number within the exchange: 0, then 1 … if a form was refused or the answer was unusable."""
    prompt: str
    """Digest of the question (`prompt_digest`)."""
    seconds: _Amount
    """As the model reports them, else measured."""
    input_tokens: _Count
    output_tokens: _Count
    estimated: Annotated[bool, Field(strict=True)] = False
    cost_usd: _Amount | None = None
    failed: str | None = None
    """Why it failed, a short text; None if it was answered."""
    answer: dict[str, Any] | None = None
    """The answer (`as_record`); None if the request failed."""
    cached_tokens: _Count = 0
    """The part of `input_tokens` that the server took from its cache."""
    dropped: dict[str, Annotated[int, Field(strict=True)]] | None = None
    """How many `memories` and `utterances` were left out of the prompt, because the context was too small; None if none
    were."""
    part: str = ""
    """What distinguishes the exchange from others of the same turn, agent and module; empty if there is but one."""
    calls: Annotated[int, Field(strict=True, ge=0, le=1)] = 1
    """0 if the question was put to no model: the prompt did not fit, the model's server did not start, or this machine
    worked out the answer."""

    def line(self) -> dict[str, Any]:
        """As it is written: without default values."""
        return self.model_dump(exclude_defaults=True)


@dataclass
class Request:
    """One request to a model.

    Attributes:
        turn: utterances so far.
        agent: the agent that asks.
        module: the cognitive module that asks.
        name: the model that is asked.
        n: the request's number within its exchange.
        messages: the question as it was rendered.
        sent: the prompt as it is sent.
        schema: name of the answer's schema; empty for free text.
        part: what distinguishes the exchange from others of the same turn, agent and module; empty if there is but one.
        limit: the most tokens of the answer; None if there is no limit.
        dropped: how many memories and utterances were left out of `sent`, because they did not fit.
        context: tokens of the model's context; None if it has no limit.
        started: when it began, in seconds of `time.perf_counter`; 0 until then.
        answer: the answer; None until it has come.
        partial: the part of an answer that came before it broke off.
        seconds: how long the answer took.
    """

    turn: int
    agent: str
    module: str
    name: ModelName
    n: int
    messages: Sequence[BaseMessage]
    sent: Sequence[BaseMessage]
    schema: str = ""
    part: str = ""
    limit: int | None = None
    dropped: tuple[int, int] = (0, 0)
    context: int | None = None
    started: float = 0.0
    answer: AIMessage | None = None
    partial: AIMessage | None = None
    seconds: float = 0.0
    _tally: Tally | None = field(default=None, init=False, repr=False)

    def answered(self, message: AIMessage) -> None:
        """Keep the answer, and how long it took."""
        self.answer = message
        self.seconds = seconds_of(message, time.perf_counter() - self.started)

    @property
    def tally(self) -> Tally:
        """The tokens of the finished request, by its answer, or by the part of the answer that came."""
        if self._tally is None:
            self._tally, message = Tally(), self.answer or self.partial
            if message is not None:
                self._tally.add(self.sent, message)
        return self._tally

    def row(self, failed: str | None, prices: Prices) -> Row:
        """The record of the finished request.

        Args:
            failed: why it failed; None if it did not.
            prices: the user's own prices.
        """
        tally, answer = self.tally, self.answer
        if answer is None and failed is None:
            failed = STOPPED
        given, made, cached = tally.input_tokens, tally.output_tokens, tally.cached_tokens
        prompt = prompt_digest(self.messages, self.schema)
        kept = None if failed is not None or answer is None else as_record(answer)
        if kept is not None and str(kept["id"]).startswith(_MADE_UP):
            kept["id"] = f"{_MADE_UP}-{prompt}"
        return Row.model_construct(  # not validated: whatever a request took is recorded
            turn=self.turn,
            agent=self.agent,
            module=self.module,
            model=self.name.written,
            n=self.n,
            prompt=prompt,
            seconds=self.seconds if answer is not None else time.perf_counter() - self.started,
            input_tokens=given,
            output_tokens=made,
            estimated=tally.estimated,
            cost_usd=cost_usd(self.name, given, made, prices, cached_tokens=cached),
            failed=failed,
            answer=kept,
            cached_tokens=cached,
            dropped={"memories": self.dropped[0], "utterances": self.dropped[1]} if any(self.dropped) else None,
            part=self.part,
        )


class Worked(NamedTuple):
    """An answer that this machine worked out, and what it was worked out from.

    Attributes:
        text: the answer.
        tokens: how many were read.
        dropped: the memories and utterances left out, because they did not fit.
        context: the most tokens that could be read; None if there is no limit.
    """

    text: str
    tokens: int
    dropped: tuple[int, int] = (0, 0)
    context: int | None = None


def asking_of(request: Request | Row) -> Asking:
    """Under which key the requests of an exchange are recorded."""
    module = f"{request.module} ({request.part})" if request.part else request.module
    return request.turn, request.agent, module


def _speaks(asking: str) -> bool:
    """Whether the module of an `Asking` belongs to a speaker's step."""
    return asking.partition(" ")[0] in _SPEAKING


def ends_a_step(module: str) -> bool:
    """Whether a failure of this module, or of the module of this `Asking`, may be that of a mind's whole step."""
    return module.partition(" ")[0] != _CHECKS


def prompt_digest(messages: Iterable[BaseMessage], schema: str = "") -> str:
    """A digest of a question (its roles and texts, and the name of the answer's schema), sixteen hexadecimal digits.

    Args:
        messages: the rendered prompt, without additions for one form of answer.
        schema: the schema's name; empty for free text.
    """
    asked = [[message.type, str(message.text)] for message in messages]
    return text_digest(json.dumps([schema, asked], ensure_ascii=True))


def text_digest(text: str) -> str:
    """A digest of a text, sixteen hexadecimal digits."""
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def as_record(message: AIMessage) -> dict[str, Any]:
    """An answer as JSON: all its data that are read, and none of the request."""
    record: dict[str, Any] = {"id": message.id, "content": message.content}
    record |= {field: value for field in _FIELDS if (value := getattr(message, field))}
    extra = {k: v for k, v in message.additional_kwargs.items() if _is_json(v)}
    told = {k: v for k in _KEPT if _is_json(v := message.response_metadata.get(k)) and v is not None}
    return record | ({"additional_kwargs": extra} if extra else {}) | ({"response_metadata": told} if told else {})


def from_record(record: Mapping[str, Any], *, message_id: str | None = None) -> AIMessage:
    """The answer that `as_record` wrote, with the given id if there is one."""
    return AIMessage(**{**record, "id": message_id or record.get("id")})


@dataclass(frozen=True)
class Recorded:
    """The recorded requests of one question.

    Attributes:
        requests: the exchange's requests for this question: failed ones, and finally one that was answered.
        changed: whether the question now differs from the recorded one.
    """

    requests: tuple[Row, ...]
    changed: bool

    @property
    def row(self) -> Row:
        """The last request, which was answered or failed permanently."""
        return self.requests[-1]


class Record:
    """The answers of a run, by question.

    The record has an exchange twice if it was interrupted and repeated; the last result counts. If one module of an
    agent failed permanently, the requests of its other modules at that time were given up. Then that failure is the
    result of all of them; of several failures, the first in alphabetical order.

    Args:
        rows: the run's requests in the order in which they ended.
        vectors: embeddings of texts by a server: `text_digest` → float32 values, little endian, as base64.
    """

    def __init__(self, rows: Iterable[Row], vectors: Mapping[str, str] | None = None) -> None:
        self.vectors: Mapping[str, str] = vectors or {}
        self._exact: dict[tuple[Question, str], tuple[Row, ...]] = {}
        self._last: dict[Question, tuple[Row, ...]] = {}
        self._rows: dict[Asking, list[Row]] = {}
        under_way: dict[Asking, tuple[int, tuple[Row, ...]]] = {}
        failed: dict[Question, tuple[Row, ...]] = {}  # in the order of the failures
        for row in rows:
            key = asking_of(row)
            self._rows.setdefault(key, []).append(row)
            answers, before = under_way.get(key, (0, ())) if row.n else (0, ())
            requests = (*before, row)
            failed.pop((*key, answers), None)
            if row.answer is None and row.failed != STOPPED and ends_a_step(row.module):
                failed[(*key, answers)] = requests
            if row.failed != STOPPED:
                self._last[(*key, answers)] = self._exact[(*key, answers), row.prompt] = requests
            under_way[key] = (answers, requests) if row.answer is None else (answers + 1, ())
        self._ended: dict[tuple[int | None, str, bool], tuple[Row, ...]] = {}
        for question, requests in failed.items():
            step = (*question[:2], _speaks(question[2]))
            other = self._ended.get(step)
            if other is None or str(requests[-1].failed) < str(other[-1].failed):  # as `Ledger.failure_of`
                self._ended[step] = requests

    def find(self, question: Question, prompt: str) -> Recorded | None:
        """The recorded requests of a question, preferably with the same prompt; None if it was not asked.

        Args:
            question: the turn, the agent, the module, and the number of earlier answers.
            prompt: digest of the present prompt.
        """
        exact = self._exact.get((question, prompt))
        found = exact or self._last.get(question)
        turn, agent, module, _ = question
        if (found is None or found[-1].answer is None) and ends_a_step(module):
            ended = self._ended.get((turn, agent, _speaks(module)))
            if ended is not None:
                return Recorded(ended, changed=found is not None and exact is None)
        return Recorded(found, changed=exact is None) if found else None

    def rows_of(self, asking: Asking) -> list[Row]:
        """All requests of one agent's module in one turn, also failed and repeated ones."""
        return self._rows.get(asking, [])


def seconds_of(message: AIMessage, measured: float) -> float:
    """The seconds of an answer, as the model reports them, else as measured."""
    reported = message.response_metadata.get("response_time_s")
    if isinstance(reported, int | float) and not isinstance(reported, bool) and 0 <= reported <= _LONGEST_S:
        return float(reported)
    return measured


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True
