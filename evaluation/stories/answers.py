"""Form of answers: the share of first answers that have the form that was asked for.

Source: Gu et al. 2024, AgentGroupChat, tables 3 and 4 (instruction understanding). There, models list what they were
given, and the lists are compared. Here nothing more is asked: the first answers are those of the run's own requests,
and the schemas that the run used judge them. A server that enforces schemas scores 100.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from persimchat.models.answers import answer_text, stop_problem
from persimchat.models.extraction import find_object
from persimchat.models.recording import Row, asking_of, from_record
from persimchat.runs.folder.reading import Record, calls_of
from persimchat.state.standing import camps
from persimchat.state.story import Story
from persimchat.state.story_judgement import ballot_schema, choice_schema, review_schema

KINDS: Final[Mapping[str, str]] = {
    "CS": "the partner, or the name on the ballot, is one of the candidates",
    "BUS": "all changes of beliefs are within the bound",
    "RUS": "all changes of closeness are within the bound",
    "NoB": "every belief has exactly one change",
    "NoR": "each of the others has exactly one change of closeness",
}
"""What is asked of a first answer, by the paper's abbreviation."""

_NUMBER: Final = ("missing", "extra_forbidden")
"""The validator's names of what is wrong if a name or number is missing, or is none of those asked for."""


@dataclass(frozen=True)
class Form:
    """How many first answers there are, and how many have the form.

    Attributes:
        right: those that have it.
        n: all of them.
    """

    right: int
    n: int

    @property
    def percent(self) -> float | None:
        """The share in percent; None without answers."""
        return 100 * self.right / self.n if self.n else None


def forms(record: Record, story: Story) -> dict[str, Form]:
    """The form of a run's first answers, by the names of `KINDS`."""
    found: dict[str, list[bool]] = {kind: [] for kind in KINDS}
    rooms = list(_rooms(record, story))
    for row in first_answers(record):
        for kind, right in _judged(row, story, rooms):
            found[kind].append(right)
    return {kind: Form(sum(each), len(each)) for kind, each in found.items()}


def first_answers(record: Record) -> Iterator[Row]:
    """The first answer to each choice, review and ballot of a run; of a question that was put again, the last time."""
    first: dict[Any, Row | None] = {}
    for row in calls_of(record):
        if row.module in ("choice", "review", "ballot"):
            key = asking_of(row)
            if row.n == 0:
                first[key] = None
            if first.get(key) is None and row.answer is not None:
                first[key] = row
    return (row for row in first.values() if row is not None)


def _judged(row: Row, story: Story, rooms: Sequence[_Room]) -> Iterator[tuple[str, bool]]:
    if row.module == "review":
        others = tuple(name for name in story.characters if name != row.agent)
        own = story.characters.get(row.agent)
        beliefs = 0 if own is None or row.part == "round 0" else len(own.beliefs)
        wrong = _problems(row, review_schema(others, beliefs, story.limits.change))
        yield "RUS", not _has(wrong, "closeness", number=False)
        yield "NoR", not _has(wrong, "closeness", number=True)
        if beliefs:
            yield "BUS", not _has(wrong, "beliefs", number=False)
            yield "NoB", not _has(wrong, "beliefs", number=True)
        return
    if row.module == "choice":
        field, among = "partner", {name for room in rooms if room.may_be(row) for name in room.partners[row.agent]}
    else:
        field = "choice"
        among = {name for name in story.candidates if row.part != "closed" or name != row.agent}
    schema = choice_schema(tuple(sorted(among))) if row.module == "choice" else ballot_schema(tuple(sorted(among)))
    if among:
        yield "CS", not any(place[:1] in ((field,), ()) for place, _ in _problems(row, schema))


Problems = Sequence[tuple[tuple[int | str, ...], str]]
"""Where an answer is wrong, and the validator's name of what is wrong; the empty place is the whole answer."""


def _problems(row: Row, schema: type[BaseModel]) -> Problems:
    assert row.answer is not None
    message = from_record(row.answer)
    found = None if stop_problem(message) else find_object(answer_text(message), schema.model_fields)
    if found is None:
        return [((), "no object")]
    try:
        schema.model_validate(found)
    except ValidationError as error:
        return [(problem["loc"], problem["type"]) for problem in error.errors(include_url=False, include_input=False)]
    return []


def _has(wrong: Problems, field: str, *, number: bool) -> bool:
    """Whether an answer has a problem in a field: of number, or of a bound.

    Without the whole field it has both, and so it has if a name stands there twice: its changes cannot be told.
    """
    return any(place in ((), (field,)) or (place[0] == field and (kind in _NUMBER) == number) for place, kind in wrong)


@dataclass(frozen=True)
class _Room:
    """A stage of rooms in one round.

    Attributes:
        first: utterances made when it began.
        last: utterances made when the next stage, or the update, began.
        partners: whom each host could choose.
    """

    first: float
    last: float
    partners: Mapping[str, Sequence[str]]

    def may_be(self, row: Row) -> bool:
        """Whether a choice may have been made in it; where stages without words meet, in several."""
        return self.first <= row.turn <= self.last and row.agent in self.partners


def _rooms(record: Record, story: Story) -> Iterator[_Room]:
    supports = {name: one.supports for name, one in story.characters.items()}
    began: list[tuple[float, Mapping[str, Sequence[str]]]] = []
    place: dict[int, int] = {}
    for one in record.happenings:
        if one.do == "standing":
            supports[one.speaker] = one.supports or ""
        elif one.do == "stage":
            number = place[one.round] = place.get(one.round, -1) + 1
            partners: Mapping[str, Sequence[str]] = {}
            if number < len(story.stages) and story.stages[number].by_two:
                sides = camps(story, supports)
                partners = {host: story.partners(host, story.stages[number], sides) for host in story.mains}
            began.append((one.turn, partners))
    for (first, partners), (last, _) in pairwise([*began, (float("inf"), {})]):
        yield _Room(first, last, partners)
