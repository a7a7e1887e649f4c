"""Polls: the same question, put in private to everybody as they were at a turn, after the conversation.

A poll cannot change a run: nothing of it is written to checkpoints, memories or transcript. Its answers are lines of
polls.jsonl in the run's folder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from persimchat.evaluation.judging import Asked, Asking, Cost, Respondent, together
from persimchat.evaluation.record import is_answered, opened
from persimchat.models.exchange import Exchange
from persimchat.models.ledger import ANSWER_TOKENS
from persimchat.models.naming import ModelName, parse_model_name
from persimchat.models.registry import model_name, ready_model
from persimchat.models.usage import cost_usd
from persimchat.runs.folder.judgements import Key, answers_in
from persimchat.runs.folder.polls import POLLS, PollAnswer
from persimchat.runs.folder.reading import Record
from persimchat.runs.run.at_turn import Standpoint, profile, standpoints
from persimchat.runs.run.going_on import settings_of
from persimchat.state.errors import InputError
from persimchat.state.plain_text import without_credentials
from persimchat.state.poll import Poll, reply_schema
from persimchat.state.scenario import Scenario
from persimchat.state.setting_values import Module
from persimchat.state.settings import BUDGETS, Settings

MODULE: Final = "poll"
START, END = "start", "end"


@dataclass(frozen=True)
class AskedOf(Asked):
    """A question to one agent.

    Attributes:
        agent: who answers.
        turn: utterances so far.
        settings: with which the agent's model is found.
        module: as which it is asked.
    """

    agent: str = ""
    turn: int = 0
    settings: Settings = Settings()
    module: Module = MODULE

    @cached_property
    def model(self) -> ModelName:
        """The model that answers."""
        return parse_model_name(model_name(self.settings, self.agent, self.module))

    @property
    def by(self) -> str:
        """The model's name in records."""
        return without_credentials(self.model.written)


@dataclass(frozen=True)
class Unit:
    """One question: a poll, to an agent at a turn, for one of several independent answers.

    Attributes:
        poll: what is asked.
        asked: the question.
        repeat: the number of the answer, from 1.
    """

    poll: Poll
    asked: AskedOf
    repeat: int

    @property
    def key(self) -> Key:
        """Its key in the record."""
        one = self.asked
        return ("poll", self.poll.id, one.agent, one.turn, one.by, one.request, self.repeat)


@dataclass(frozen=True)
class Polled:
    """The questions of one poll in one run, or to the personas of one scenario; their answers go to one folder.

    Attributes:
        folder: the run's, or where the answers are kept.
        run: the run's id; empty for profiles.
        poll: what is asked.
        standpoints: who is asked, as they were.
        settings: with which the agents' models are found.
        repeats: independent answers of each.
    """

    folder: Path
    run: str
    poll: Poll
    standpoints: Sequence[Standpoint]
    settings: Settings
    repeats: int = 1

    @cached_property
    def units(self) -> list[Unit]:
        """All questions, in order of turns and agents."""
        asked = [question_to(self.poll, one, self.settings, in_conversation=bool(self.run)) for one in self.standpoints]
        return [Unit(self.poll, one, n) for one in asked for n in range(1, self.repeats + 1)]

    def rows(self) -> dict[Key, PollAnswer]:
        """The answers in the folder. Raises as `answers_in`."""
        return answers_in(self.folder / POLLS, PollAnswer)

    def left(self, judge: str, rows: Mapping[Key, PollAnswer]) -> list[Unit]:
        """The questions that have no answer; each names its own model, whoever `judge` is."""
        return [unit for unit in self.units if not is_answered(dict(rows), unit.key)]

    def answers(self) -> list[PollAnswer]:
        """The answers to these questions, in their order."""
        rows = self.rows()
        return [rows[unit.key] for unit in self.units if unit.key in rows]

    async def judged(self, asking: Asking) -> None:
        """Ask what has no answer yet, and record each answer; raises as `judge_all`."""
        if not self.left("", self.rows()):
            return
        with opened(self.folder / POLLS, PollAnswer) as answers:

            async def one(unit: Unit) -> None:
                row = await self._answer(unit, asking)
                if row is not None:
                    answers.add(row)

            await together(one(unit) for unit in self.left("", answers.rows))

    async def _answer(self, unit: Unit, asking: Asking) -> PollAnswer | None:
        """The answer to a question; None if a budget is exhausted."""
        asked, poll = unit.asked, unit.poll
        seed = asking.judge.seed(MODULE, self.run, poll.id, asked.agent, asked.turn, unit.repeat, self.settings.seed)
        reply = await asking.put(asked, about=asked.agent, seed=seed)
        if reply is None:
            return None
        answer: Any = reply.value
        return PollAnswer(
            poll=poll.id,
            question=poll,
            turn=asked.turn,
            agent=asked.agent,
            judge=asked.by,
            request=asked.request,
            repeat=unit.repeat,
            seed=seed,
            answer=answer.answer if answer else None,
            reasoning=answer.reasoning if answer else "",
            missing=reply.missing,
            **reply.used,
        )


class Everybody(Respondent):
    """The agents of the runs that are polled, or an agent that is interviewed, each with its own model.

    Args:
        settings: give budgets, limits and seed.
        asked: the questions.

    Raises:
        InputError: a model's name is wrong, or its price is not known and there is a budget.
    """

    def __init__(self, settings: Settings, asked: Iterable[AskedOf]) -> None:
        super().__init__(settings)
        self._asked = {one.by: one for one in asked}
        for by, one in self._asked.items():
            if settings.budget_usd is not None and _cost(one, 1_000_000, 1_000_000) is None:
                raise InputError(
                    f"budget_usd is set, and the price of {by} is not known",
                    remedy=f"Set prices={{'{by}': [USD per million tokens in, out]}}, or budget_tokens.",
                )

    @property
    def name(self) -> str:
        """The models that answer."""
        return ", ".join(self._asked) or "nobody"

    @property
    def models(self) -> list[str]:
        """The models that answer, as users write them."""
        return [asked.model.written for asked in self._asked.values()]

    @property
    def draws_lots(self) -> bool:
        """Whether the offline model answers for somebody."""
        return any(asked.model.provider == "offline" for asked in self._asked.values())

    async def ready(self) -> None:
        """Make the models' clients, or start their servers."""
        for asked in self._asked.values():
            await ready_model(asked.model.written, asked.settings)

    def exchange(self, asked: Asked, about: str) -> Exchange:
        """An exchange with the model of the agent that is asked."""
        if not isinstance(asked, AskedOf):
            raise TypeError("the question names nobody who is asked")
        return Exchange.on_behalf(asked.settings, asked.agent, asked.module, asked.turn)

    def cost_of(self, asked: Iterable[Asked]) -> Cost:
        """What asking these questions will take, if every first answer is valid."""
        calls, given, cost = 0, 0, 0.0
        known = True
        for one in asked:
            price = _cost(one, one.tokens, ANSWER_TOKENS) if isinstance(one, AskedOf) else None
            calls, given, cost, known = calls + 1, given + one.tokens, cost + (price or 0), known and price is not None
        return Cost(calls, given, calls * ANSWER_TOKENS, cost if known else None)


def _cost(asked: AskedOf, given: int, made: int) -> float | None:
    return cost_usd(asked.model, given, made, asked.settings.prices)


def question_to(poll: Poll, one: Standpoint, settings: Settings, *, in_conversation: bool) -> AskedOf:
    """The question to somebody as they were.

    Args:
        poll: what is asked.
        one: who is asked.
        settings: with which their model is found.
        in_conversation: whether they have been in one.
    """
    values = {
        "blocks": list(one.blocks),
        "question": poll.ask,
        "form": poll.described,
        "possible": list(poll.possible),
        "in_conversation": in_conversation,
    }
    return AskedOf("poll", reply_schema(poll), values, one.agent, one.turn, settings)


async def in_run(
    record: Record,
    poll: Poll,
    at: Iterable[str | int],
    *,
    repeats: int = 1,
    changes: Mapping[str, Any] | None = None,
    budgets: Mapping[str, Any] | None = None,
) -> Polled:
    """A poll in a recorded run, with the questions that it takes.

    Args:
        record: of the run.
        poll: what is asked.
        at: turns, `start` and `end`.
        repeats: independent answers of each agent.
        changes: settings that are others than in the run.
        budgets: of the poll; the run's own do not count.

    Raises:
        InputError: as `standpoints`; or a setting is wrong.
        ModelError: an embedding failed.
    """
    found = await standpoints(record, turns_of(record, at), poll.ask)
    settings = settings_of(record.manifest, changes or {})
    return Polled(record.path, record.manifest.run, poll, found, answering(settings, poll, budgets or {}), repeats)


def of_profiles(folder: Path, scenario: Scenario, poll: Poll, settings: Settings, *, repeats: int = 1) -> Polled:
    """A poll of the personas of a scenario, from their profiles alone.

    Args:
        folder: where the answers are kept.
        scenario: who is asked.
        poll: what is asked.
        settings: with which their models are found, with budgets and limits.
        repeats: independent answers of each.
    """
    people = [profile(persona) for persona in scenario.participants if not persona.human]
    budgets = {name: getattr(settings, name) for name in BUDGETS}
    return Polled(folder, "", poll, people, answering(settings, poll, budgets), repeats)


def turns_of(record: Record, at: Iterable[str | int]) -> list[int]:
    """The turns that are meant, in ascending order.

    Args:
        record: of the run.
        at: turns, `start` (before the first utterance) and `end` (after the last).
    """
    last = record.utterances[-1].turn if record.utterances else 0
    return sorted({{START: 0, END: last}[one] if isinstance(one, str) else one for one in at})


def answering(settings: Settings, poll: Poll, budgets: Mapping[str, Any]) -> Settings:
    """The settings with which a poll is answered: with the model that answers for everybody, if any does."""
    models = {**settings.module_models, MODULE: poll.by} if poll.by else settings.module_models
    return settings.model_copy(update={**dict.fromkeys(BUDGETS), **budgets, "module_models": models})


@dataclass(frozen=True)
class Tally:
    """The answers to a poll at one turn.

    Attributes:
        poll: what was asked.
        turn: utterances so far.
        counts: how often each answer was given; for a closed form, all that could be, in order.
        missing: why answers are missing, and how often.
    """

    poll: Poll
    turn: int
    counts: dict[str, int]
    missing: dict[str, int]

    @property
    def n(self) -> int:
        """The answers that are there."""
        return sum(self.counts.values())


def tallies(rows: Iterable[PollAnswer]) -> list[Tally]:
    """The answers to each poll at each turn, counted."""
    grouped: dict[tuple[str, int], list[PollAnswer]] = {}
    for row in rows:
        grouped.setdefault((row.poll, row.turn), []).append(row)
    return [_tally(own) for own in grouped.values()]


def _tally(rows: Sequence[PollAnswer]) -> Tally:
    poll = rows[0].question
    given = Counter(row.answer for row in rows if row.answer is not None)
    listed = poll.possible or tuple(sorted(given, key=float))
    missing = Counter(row.missing for row in rows if row.answer is None)
    return Tally(poll, rows[0].turn, {answer: given[answer] for answer in listed}, dict(missing))
