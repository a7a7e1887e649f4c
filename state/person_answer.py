"""What a person is asked, and what they answer: words, a need to talk, and in a story also a partner or a ballot.

A question is the value of LangGraph's `interrupt`; the event `asked` has the same fields. In a story it also has
`story`: what may be answered, and what the character knows, all of it and nothing else. Answers are checked here,
wherever they come from: the terminal, a program, the page, LangGraph's `Command(resume=…)`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NotRequired

from typing_extensions import TypedDict

from .errors import InputError, suggestion
from .intervention import words
from .plain_text import as_listed, matching, one_line, quoted
from .poll import Poll

Asked = Literal["utterance", "need_to_talk", "choice", "ballot", "position"]
"""What a person is asked for; `choice` (whom they talk to) and `ballot` are asked in stories only, `position` (where
they stand) in focus groups only."""
BallotKind = Literal["guess", "open", "closed"]
"""Who will win, a ballot on which oneself may stand, a ballot on which it may not; each is a question of its own."""

_WHERE: Final = "a person's answer"
_SHOWN: Final = 60
"""The most characters of an invalid value that an error quotes."""


class Learned(TypedDict):
    """Something that a character has heard or done, in the order in which it happened."""

    round: int
    stage: str
    """"private", "confidential" or "group"; empty outside the stages."""
    do: str
    """"words", or what happened beside words: "stage" (begins), "met" (two meet), and the character's own "choice",
    "guess", "ballot", "closed_ballot"."""
    who: str
    """Who spoke or acted; empty for the story's own."""
    others: list[str]
    """Of a meeting, the partner; of words, who else hears them. Empty if all do."""
    text: str
    """The words; of a choice or a ballot, who or what was chosen."""


class Knowledge(TypedDict):
    """All that the character knows of the story."""

    topic: str
    rules: list[str]
    name: str
    description: str
    known_as: str
    """What everybody knows of the character."""
    main: bool
    goals: list[str]
    relationships: list[dict[str, str]]
    """Its own: `to`, `type`, `side`, `note`."""
    beliefs: list[dict[str, Any]]
    """`text`, `score` (0–100) and `for` (a name, or empty); they stay as in the file."""
    closeness: dict[str, int]
    """To each of the others, 0–100; it stays as in the file."""
    supports: str
    """The main character whom it supports; empty for nobody."""
    cast: list[dict[str, Any]]
    """The others, as everybody knows them: `name`, `main`, `known_as`, `camp`."""
    resources: list[dict[str, Any]]
    """`name`, `owner`, `influence`, `topics`, `description`."""
    decider: str
    """Who decides the vote; empty for nobody."""
    heard: list[Learned]
    """Everything, oldest first."""


class Room(TypedDict):
    """The talk of two in which a person is asked for words."""

    others: list[str]
    public: bool
    """Whether everybody knows that the two meet."""


class StoryQuestion(TypedDict):
    """The rest of a question in a story: where the story stands, what may be answered, what the character knows."""

    act: int
    """The number of the act: with `what` and `ballot` it tells two questions of one turn apart."""
    round: int
    rounds: int
    stage: str
    """"private", "confidential", "group" or "settlement"."""
    ballot: BallotKind | Literal[""]
    """Which ballot; empty for other questions."""
    candidates: list[str]
    """Who, or which outcome, may be named, in order: the number 1 means the first. Empty for words."""
    left: int
    """For words: how often the character still speaks in this room or stage, this time included; else 0."""
    room: Room | None
    """None outside rooms: then everybody hears the words."""
    knows: Knowledge


class Put(TypedDict):
    """A question of a focus group's guide that its moderator is to put."""

    number: int
    """From 1."""
    of: int
    """How many questions the guide has."""
    ask: str
    """In the guide's words; the moderator may use others."""
    stimulus: NotRequired[dict[str, str]]
    """What is shown with it: `title`, `text`, `image`; missing if nothing is."""


class PositionQuestion(TypedDict):
    """A question of a focus group on which people take a stand, before the talk and after it."""

    poll: str
    """Its id."""
    when: Literal["before", "after"]
    ask: str
    answer: str
    """The form: yesno, choice, number, or scale:LOW-HIGH."""
    options: list[str]
    """Of a choice."""
    possible: list[str]
    """All answers, in order; empty for any number."""


class Question(TypedDict):
    """What a person is asked: the value of the interrupt."""

    agent: str
    """Who is asked: the participant whose part the person takes."""
    what: Asked
    turn: int
    """Utterances so far."""
    problem: str
    """What was wrong with the previous answer, in one line; empty at first."""
    story: NotRequired[StoryQuestion]
    """In a story only."""
    puts: NotRequired[Put]
    """For a focus group's moderator, when a question of the guide is due."""
    position: NotRequired[PositionQuestion]
    """For `position` only."""


class PersonAnswer(TypedDict, total=False):
    """A checked answer: words, a pass, a need to talk, or the full name of one candidate."""

    text: str
    heard_by: list[str]
    passes: bool
    need_to_talk: int
    choice: str
    """To `choice` and `ballot`: one of the question's `candidates`, as they are listed."""
    position: str
    """To `position`: the answer in the form of its poll."""


def person_answer(
    given: Any,
    what: str,
    present: Sequence[str],
    story: StoryQuestion | Mapping[str, Any] | None = None,
    position: PositionQuestion | Mapping[str, Any] | None = None,
) -> PersonAnswer:
    """Validate a person's answer.

    Every question may be passed: `{"pass": True}`. In a story, passing means: no talk, no words this time, no ballot.

    Args:
        given: to `utterance`: words, or `{"text": …, "heard_by": […]}` (no `heard_by` in stories, where the room
            decides who hears). To `need_to_talk`: 0–10, as a number, a digit, or `{"need_to_talk": …}`. To `choice`
            and `ballot`: a candidate's name (a first name is enough) or number (from 1), as such or as
            `{"choice": …}`. To `position`: an answer in the form of its poll, as such, by its number (from 1) where
            it is one of a few words, or as `{"position": …}`. Or a validated answer.
        what: the question: "utterance", "need_to_talk", "choice", "ballot" or "position".
        present: the participants' full names.
        story: the question's `story`; None outside stories.
        position: the question's `position`; None for other questions.

    Raises:
        InputError: the answer is empty, too long, or not an answer to this question.
    """
    if isinstance(given, Mapping) and (given.get("pass") is True or given.get("passes") is True):
        return {"passes": True}
    if what == "need_to_talk":
        return {"need_to_talk": _need(given.get("need_to_talk") if isinstance(given, Mapping) else given)}
    if what in ("choice", "ballot"):
        return {"choice": _candidate(given, list(story["candidates"]) if story is not None else [])}
    if what == "position" and position is not None:
        return {"position": _position(given, position)}
    if not isinstance(given, Mapping):
        return {"text": words(given)}
    if story is not None and given.get("heard_by") is not None:
        raise InputError(
            "in a story, nobody whispers: a room's words are for the room, the group's for all",
            where=_WHERE,
            remedy="Leave heard_by out.",
        )
    _refuse_other_fields(given, ("text", "heard_by"), "Give text, and heard_by for a whisper.")
    answer: PersonAnswer = {"text": words(given.get("text"))}
    heard_by = given.get("heard_by")
    if heard_by is None:
        return answer
    if isinstance(heard_by, str) or not isinstance(heard_by, Sequence) or not heard_by:
        raise InputError(
            "heard_by must be a list of one or more names",
            where=_WHERE,
            remedy="Name the hearers of a whisper, or leave heard_by out so that all hear it.",
        )
    heard = [as_listed(name, present) if isinstance(name, str) else name for name in heard_by]
    for name in heard:
        if name not in present:
            what_is_wrong = f"{quoted(name, _SHOWN)} does not take part"
            raise InputError(what_is_wrong, where=_WHERE, remedy=suggestion(str(name), present))
    answer["heard_by"] = list(dict.fromkeys(heard))
    return answer


def _refuse_other_fields(given: Mapping[Any, Any], known: Sequence[str], remedy: str) -> None:
    unknown = sorted(map(str, given.keys() - set(known)))
    if unknown:
        what = f"an answer has no field {quoted(unknown[0], _SHOWN)}"
        raise InputError(what, where=_WHERE, remedy=remedy)


def _need(given: Any) -> int:
    if isinstance(given, str) and re.fullmatch(r"\s*[0-9]{1,2}\s*", given):
        given = int(given)
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= 10:
        raise InputError(
            "a need to talk is a whole number from 0 to 10",
            where=_WHERE,
            remedy="Give 0 for none, 10 for the greatest.",
        )
    return given


def _candidate(given: Any, candidates: Sequence[str]) -> str:
    """The candidate that a name or a number means; a name comes before a number."""
    if isinstance(given, Mapping):
        _refuse_other_fields(given, ("choice",), "Give choice, or pass.")
        given = given.get("choice")
    number = given if isinstance(given, int) and not isinstance(given, bool) else None
    if isinstance(given, str):
        found = matching(given.strip(), candidates)
        if len(found) == 1:
            return found[0]
        if len(found) > 1:
            remedy = f"Name one of: {one_line(', '.join(found))}."
            raise InputError(f"{quoted(given, _SHOWN)} may mean several", where=_WHERE, remedy=remedy)
        if re.fullmatch(r"\s*[0-9]{1,3}\s*", given):
            number = int(given)
    if number is not None and 1 <= number <= len(candidates):
        return candidates[number - 1]
    shown = quoted(given, _SHOWN) if isinstance(given, str) else "this number" if number is not None else "this"
    raise InputError(
        f"{shown} cannot be chosen now",
        where=_WHERE,
        remedy=f"Name one of these, or its number: {numbered(candidates)}; or pass.",
    )


def numbered(candidates: Sequence[str]) -> str:
    """The candidates with their numbers, on one line."""
    return ", ".join(f"{number} {one_line(name)}" for number, name in enumerate(candidates, start=1))


def _position(given: Any, asked: PositionQuestion | Mapping[str, Any]) -> str:
    """The answer to a poll, in its form; of a few words, also by its number."""
    if isinstance(given, Mapping):
        _refuse_other_fields(given, ("position",), "Give position, or pass.")
        given = given.get("position")
    poll = Poll(ask=asked["ask"], answer=asked["answer"], options=tuple(asked["options"]))
    text = str(given).strip() if isinstance(given, str | int | float) and not isinstance(given, bool) else ""
    if not poll.is_ordered and re.fullmatch(r"[0-9]{1,3}", text) and 1 <= int(text) <= len(poll.possible):
        text = poll.possible[int(text) - 1]
    try:
        return poll.parsed(text)
    except ValueError:
        shown = quoted(text, _SHOWN) if text else "this"
        raise InputError(
            f"{shown} is not {poll.described}",
            where=_WHERE,
            remedy=f"Answer one of these, or its number: {numbered(poll.possible)}; or pass."
            if poll.possible and not poll.is_ordered
            else f"Answer with {poll.described}, or pass.",
        ) from None


def answer_of(
    agent: str,
    given: Any,
    what: str,
    present: Sequence[str],
    story: StoryQuestion | None = None,
    position: PositionQuestion | None = None,
) -> PersonAnswer:
    """A person's answer, checked as `person_answer` does; a whisper must have a hearer besides its speaker.

    Args:
        agent: who answers.
        given: the answer.
        what: the question: "utterance", "need_to_talk", "choice", "ballot" or "position".
        present: all participants' full names.
        story: the question's `story`; None outside stories.
        position: the question's `position`; None for other questions.

    Raises:
        InputError: the answer is invalid.
    """
    answer = person_answer(given, what, present, story, position)
    if answer.get("heard_by") == [agent]:
        raise InputError(
            "nobody but the speaker would hear it",
            where="a person's answer",
            remedy="Name at least one other participant in heard_by, or leave it out so that all hear it.",
        )
    return answer
