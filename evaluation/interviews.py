"""An interview with one agent after a conversation: question after question, as the agent was at a turn.

An interview cannot change a run: nothing of it is written to checkpoints, memories or transcript. Its answers are lines
of the run's log. Each question is asked with what the agent recalls when it hears it, and with the
last questions and answers of the same interview; the prompt does not grow with their number.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..models.ledger import Ledger
from ..personas.names import full_name
from ..runs.folder.answers import InterviewAnswer
from ..runs.folder.lock import check_free
from ..runs.folder.reading import Record, read_interviews
from ..runs.run.at_turn import standpoints
from ..runs.run.resume_input import settings_of
from ..state.assessment import LONGEST_QUESTION, InterviewReply
from ..state.errors import InputError
from ..state.plain_text import one_line
from ..state.settings import BUDGETS, Settings
from .asking import Asked, Question, Questions, everybody, judge_all, opened
from .transcripts import has_words_of_people

MODULE: Final = "interview"
REMEMBERED: Final = 12
"""The most earlier questions that the agent knows."""
REMEMBERED_CHARACTERS: Final = 8000
"""The most characters of earlier questions and answers in a prompt."""


@dataclass
class Interview:
    """An interview. Questions are put one after another.

    Attributes:
        record: of the run.
        agent: who is interviewed.
        turn: utterances so far, when the agent was as it is asked.
        settings: with which its model is found, with budgets and limits.
        number: of the interview in this run; 0 until its first answer is kept.
        answers: so far.
        exhausted: why a budget ended it; empty while none has.
    """

    record: Record
    agent: str
    turn: int
    settings: Settings
    number: int = 0
    answers: list[InterviewAnswer] = field(default_factory=list)
    exhausted: str = ""
    _ledger: Ledger = field(default_factory=Ledger)

    async def ask(self, question: str) -> InterviewAnswer | None:
        """Put a question, and keep the answer in the run's folder; a missing answer has its reason.

        Returns:
            The answer; None if a budget is used up.

        Raises:
            InputError: the question is empty or too long, or somebody works on the run.
            ModelError: the model failed.
            MachineError: the answer cannot be written.
        """
        text = checked(question)
        (one,) = await standpoints(self.record, [self.turn], text, only=self.agent)
        values = {"blocks": list(one.blocks), "question": text, "earlier": remembered(self.answers)}
        asked = Asked("interview", InterviewReply, values, self.agent, self.turn, self.settings, MODULE)
        number, run = len(self.answers) + 1, self.record.manifest.run
        fields = {"interview": max(self.number, 1), "number": number, "turn": self.turn, "agent": self.agent}
        seeded = (MODULE, run, self.agent, self.turn, self.number, number, self.settings.seed, text)
        unit = Question(asked, InterviewAnswer, {**fields, "question": text}, self.agent, seeded)
        part = Questions({}, InterviewAnswer, [unit])
        asking = await judge_all(everybody(self.settings, [asked]), [part], ledger=self._ledger)
        if not (rows := part.answers()):
            self.exhausted = asking.exhausted
            return None
        row = await asyncio.to_thread(self._keep, rows[0])
        self.answers.append(row)
        return row

    def _keep(self, row: InterviewAnswer) -> InterviewAnswer:
        """Write an answer as the next of its interview; a new interview gets its number now."""
        with opened(self.record.path, InterviewAnswer) as answers:
            taken = [one.interview for one in answers.rows.values()]
            self.number = self.number or max(taken, default=0) + 1
            kept = row.model_copy(
                update={"interview": self.number, "number": taken.count(self.number) + 1},
            )
            answers.add(kept)
        return kept


def begin(
    record: Record,
    agent: str,
    *,
    turn: int | None = None,
    going_on: int | None = None,
    by: str = "",
    changes: Mapping[str, Any] | None = None,
    budgets: Mapping[str, Any] | None = None,
    with_people: bool = False,
) -> Interview:
    """An interview with somebody, a new one or one that goes on.

    Args:
        record: of the run.
        agent: full name, or part of it.
        turn: utterances so far; None for the end, or where the interview that goes on was.
        going_on: the number of an interview of this agent that goes on; 0 for its last one; None for a new one.
        by: the model that answers in place of the agent's own.
        changes: settings that are others than in the run.
        budgets: of the interview; the run's own do not count.
        with_people: with `by`: whether that model may read the words of people who took part.

    Raises:
        InputError: there is no such agent, turn or interview, or the agent is a person; somebody works on the run; or a
            setting is wrong.
    """
    manifest = record.manifest
    check_free(record.path)
    people = [persona.name for persona in manifest.scenario.participants]
    name = full_name(agent, people, what="participant", where=f"run {manifest.run}")
    if name in manifest.people:
        raise InputError(
            f"{name} is a person, whom no model answers for",
            where=f"run {manifest.run}",
            remedy="Interview an agent.",
        )
    if by and has_words_of_people(record) and not with_people:
        raise InputError(
            "people took part, and another model than the agents' own would read their words",
            where=f"run {manifest.run}",
            remedy="If they agree to that, add --with-people; or leave --by out.",
        )
    last = record.utterances[-1].turn if record.utterances else 0
    earlier = [] if going_on is None else _earlier(record, name, going_on)
    at = earlier[-1].turn if earlier else last if turn is None else turn
    if turn is not None and turn != at:
        raise InputError(
            f"interview {earlier[-1].interview} is held at turn {at}", where=f"turn {turn}", remedy="Begin a new one."
        )
    if not 0 <= at <= last:
        raise InputError(
            f"the run has {last} utterances; there is no turn {at}",
            where=f"run {manifest.run}",
            remedy=f"Choose a turn from 0 to {last}.",
        )
    settings = settings_of(manifest, changes or {})
    models = {**settings.module_models, MODULE: by} if by else settings.module_models
    own = settings.model_copy(update={**dict.fromkeys(BUDGETS), **(budgets or {}), "module_models": models})
    return Interview(record, name, at, own, earlier[-1].interview if earlier else 0, earlier)


def _earlier(record: Record, agent: str, number: int) -> list[InterviewAnswer]:
    """The answers of an interview that goes on."""
    own = [row for row in read_interviews(record.path) if row.agent == agent]
    wanted = number or (own[-1].interview if own else 0)
    found = [row for row in own if row.interview == wanted]
    if not found:
        which = f"interview {number}" if number else "interview"
        raise InputError(
            f"there is no {which} with {agent}", where=f"run {record.manifest.run}", remedy="Begin a new one."
        )
    return found


def checked(question: str) -> str:
    """A question on one line.

    Raises:
        InputError: it is empty or too long.
    """
    text = one_line(question)
    if not text or len(text) > LONGEST_QUESTION:
        what = "the question is empty" if not text else f"the question has {len(text):,} characters"
        raise InputError(what, where="the interview", remedy=f"Write 1 to {LONGEST_QUESTION:,} characters.")
    return text


def remembered(answers: Sequence[InterviewAnswer]) -> list[dict[str, str]]:
    """The newest questions and their answers, as far as they fit into a prompt; a missing answer is left out."""
    found: list[dict[str, str]] = []
    room = REMEMBERED_CHARACTERS
    for row in reversed([row for row in answers if row.answer is not None][-REMEMBERED:]):
        answer = row.answer or ""
        room -= len(row.question) + len(answer)
        if room < 0:
            break
        found.append({"question": row.question, "answer": answer})
    return found[::-1]
