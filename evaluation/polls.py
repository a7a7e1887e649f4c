"""Polls: the same question, put in private to everybody as they were at a turn, after the conversation.

A poll cannot change a run: nothing of it is written to checkpoints, memories or transcript. Its answers are events of
the run's log.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..runs.folder.answers import PollAnswer, fresh
from ..runs.folder.reading import Record
from ..runs.run.at_turn import Standpoint, profile, standpoints
from ..runs.run.resume_input import settings_of
from ..state.errors import InputError
from ..state.poll import Poll, reply_schema
from ..state.scenario import Scenario
from ..state.settings import BUDGETS, Settings
from .asking import AnswerFile, Asked, Question, Questions, read_answers

MODULE: Final = "poll"
START, END = "start", "end"
PROFILES: Final = "polls.sqlite"
"""The file of answers that personas gave outside of any conversation."""


def polls_in(folder: Path) -> list[PollAnswer]:
    """The answers to polls that count, of a run or of personas outside of any; raises as `read_answers`."""
    alone = _profiles(folder)
    return fresh(read_answers(alone if alone.path.is_file() else folder, PollAnswer).values())


def _profiles(folder: Path) -> AnswerFile:
    return AnswerFile(folder / PROFILES, "poll_answer", PollAnswer)


@dataclass(frozen=True)
class Polled(Questions[PollAnswer]):
    """The questions of polls in one run, or to the personas of one scenario.

    Attributes:
        run: the run's id; empty for profiles.
        settings: with which the agents' models are found, with budgets and limits.
    """

    run: str = ""
    settings: Settings = Settings()


def question_to(
    poll: Poll, one: Standpoint, settings: Settings, *, in_conversation: bool, seeded: str = "", repeats: int = 1
) -> list[Question[PollAnswer]]:
    """The questions to somebody as they were, one for each independent answer.

    Args:
        poll: what is asked.
        one: who is asked.
        settings: with which their model is found.
        in_conversation: whether they have been in one.
        seeded: by which the seeds are told from those of other conversations.
        repeats: independent answers.
    """
    values = {
        "blocks": list(one.blocks),
        "question": poll.ask,
        "form": poll.described,
        "possible": list(poll.possible),
        "in_conversation": in_conversation,
    }
    asked = Asked("poll", reply_schema(poll), values, one.agent, one.turn, settings, MODULE)
    fields = {"poll": poll.id, "question": poll, "turn": one.turn, "agent": one.agent}
    return [
        Question(
            asked,
            PollAnswer,
            fields,
            about=one.agent,
            seeded=(MODULE, seeded, poll.id, one.agent, one.turn, n, settings.seed),
            repeat=n,
        )
        for n in range(1, repeats + 1)
    ]


async def in_run(
    record: Record,
    polls: Iterable[Poll],
    at: Iterable[str | int],
    *,
    repeats: int = 1,
    changes: Mapping[str, Any] | None = None,
    budgets: Mapping[str, Any] | None = None,
    asks: Callable[[str], bool] = lambda _: True,
    seeded: str | None = None,
) -> Polled:
    """Polls in a recorded run, with the questions that they take, in order of turns and agents.

    Args:
        record: of the run.
        polls: what is asked; at least one.
        at: turns, `start` and `end`.
        repeats: independent answers of each agent.
        changes: settings that are others than in the run.
        budgets: of the polls; the run's own do not count.
        asks: whether somebody is asked, by the name.
        seeded: by which the seeds are told from those of other runs; the run's id if None.

    Raises:
        InputError: as `standpoints`; or a setting is wrong.
        ModelError: an embedding failed.
    """
    run, base, turns = record.manifest.run, settings_of(record.manifest, changes or {}), turns_of(record, at)
    units: list[Question[PollAnswer]] = []
    found = []
    for poll in polls:
        found.append(answering(base, poll, budgets or {}))
        for one in await standpoints(record, turns, poll.ask):
            if asks(one.agent):
                named = run if seeded is None else seeded
                units += question_to(poll, one, found[-1], in_conversation=True, seeded=named, repeats=repeats)
    return Polled(record.path, PollAnswer, units, run, found[0])


async def positions_in(
    record: Record, *, changes: Mapping[str, Any] | None = None, budgets: Mapping[str, Any] | None = None
) -> Polled | None:
    """The guide's positions: polls of everybody but the moderator, as they were before the talk and after it.

    Args:
        record: of the run.
        changes: settings that are others than in the run.
        budgets: of the polls; the run's own do not count.

    Returns:
        None if the guide has no positions, or there is no guide.

    Raises:
        InputError: the run is a branch, which has no states of its beginning; or as `in_run`.
        ModelError: as `in_run`.
    """
    guide = record.guide
    if guide is None or not guide.positions:
        return None
    if origin := origin_of(record):
        raise InputError(
            f"nobody can be asked where they stood before the talk: this run is a branch, and begins as {origin}",
            where=f"run {record.manifest.run}",
            remedy=f"Make the summary without positions (--no-positions), or that of {origin}.",
        )
    moderator = guide.moderator
    return await in_run(
        record, guide.positions, (START, END), changes=changes, budgets=budgets, asks=lambda name: name != moderator
    )


def origin_of(record: Record) -> str:
    """The run whose beginning this one shares, so that nobody in this one can be asked as before the talk; else ""."""
    branch = record.manifest.branch
    return branch.of if branch and branch.turn else ""


def of_profiles(folder: Path, scenario: Scenario, poll: Poll, settings: Settings, *, repeats: int = 1) -> Polled:
    """A poll of the personas of a scenario, from their profiles alone.

    Args:
        folder: where the answers are kept.
        scenario: who is asked.
        poll: what is asked.
        settings: with which their models are found, with budgets and limits.
        repeats: independent answers of each.
    """
    own = answering(settings, poll, {name: getattr(settings, name) for name in BUDGETS})
    people = [profile(persona) for persona in scenario.participants if not persona.human]
    units = [unit for one in people for unit in question_to(poll, one, own, in_conversation=False, repeats=repeats)]
    return Polled(_profiles(folder), PollAnswer, units, "", own)


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
