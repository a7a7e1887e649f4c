"""Conditions: what an answer hangs on ("yes, if the shops may be reached"), which its form has no place for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, Field
from typing_extensions import TypedDict

from persimchat.state.judgement import Sentence
from persimchat.state.plain_text import one_line
from persimchat.state.visibility import is_public

LONGEST: Final = 1000
"""Characters of a condition, and of somebody's words beside a conclusion."""

_CUE: Final = re.compile(
    r"\b(?:(?:but |and )?only (?:if|when|where|with|after|until|once)|if|unless|provided|providing|as long as|"
    r"so long as|on (?:the )?condition|under (?:the |one |certain )?conditions?|with (?:\w+ )?conditions?|"
    r"conditional on|subject to)\b",
    re.IGNORECASE,
)
"""Words with which a condition begins."""

_AROUND: Final = " \t\n,.;:!()[]\"'“”–—-"


_NOTHING: Final = frozenset({"", "null", "none", "n/a"})


def or_none(kind: Any, *, unless: Sequence[str] = ()) -> Any:
    """This type or None, for which models also write words such as "none".

    Args:
        kind: the type.
        unless: texts that mean themselves, as a choice that is called None.
    """
    kept = {text.strip().casefold() for text in unless}

    return Annotated[kind | None, BeforeValidator(partial(_nothing, kept=kept))]


def _nothing(value: Any, *, kept: Collection[str] = ()) -> Any:
    word = value.strip().casefold() if isinstance(value, str) else None
    return None if word in _NOTHING and word not in kept else value


Condition = Annotated[
    Sentence | None,
    BeforeValidator(_nothing),
    Field(description="the conditions under which they hold the answer, in their words; null where they name none"),
]
"""What a model says of conditions; a field of this type stands behind `answer`."""


class Stand(TypedDict):
    """Where a participant stood when a debate came to a conclusion that holds under conditions."""

    agent: str
    position: str
    """As the judge sees it, or as the participant answered; empty where nobody said."""
    words: str
    """The last thing that they said to everybody."""


def condition_beside(given: str, answer: str) -> str:
    """The condition in somebody's words beside an answer that was read out of them; empty where there is none.

    Args:
        given: "Yes, if it is free."
        answer: "yes"
    """
    at = given.casefold().find(answer.casefold())
    rest = given if at < 0 else f"{given[:at]} {given[at + len(answer) :]}"
    found = _CUE.search(rest)
    return one_line(rest[found.start() :]).strip(_AROUND)[:LONGEST] if found else ""


Answered = TypeVar("Answered", bound=BaseModel)


def with_condition(made: Answered, given: Any) -> Answered:
    """An answer of a model (with `answer` and `conditional`) that keeps a condition which stood beside the answer.

    Args:
        made: the answer, read.
        given: what the model gave.
    """
    written = given.get("answer") if isinstance(given, Mapping) else None
    answer = getattr(made, "answer", None)
    if not isinstance(written, str) or not isinstance(answer, str) or getattr(made, "conditional", None):
        return made
    found = condition_beside(written, answer)
    return made.model_copy(update={"conditional": found}) if found else made


def joined(holders: Sequence[str], answers: Iterable[Mapping[str, Any]]) -> str:
    """The conditions of those who hold an answer, in a line: once where all name the same; empty where none does.

    Args:
        holders: their names, in order of listing.
        answers: of the last round, with `conditional` where one was named.
    """
    named: dict[str, str] = {u["speaker"]: u["conditional"] for u in answers if u.get("conditional")}
    held = {name: named[name] for name in holders if name in named}
    if len(held) == len(holders) and len(set(held.values())) == 1:
        return next(iter(held.values()))
    return "; ".join(f"{name}: {condition}" for name, condition in held.items())


def positions_of(answers: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """By name what everybody answered, with the conditions that they named."""
    return {
        u["speaker"]: f"{u['answer']} ({u['conditional']})" if u.get("conditional") else u["answer"] for u in answers
    }


def stands(names: Sequence[str], positions: Mapping[str, str], said: Iterable[Mapping[str, Any]]) -> list[Stand]:
    """Where everybody stood.

    Args:
        names: the participants', in order of listing.
        positions: by name, as far as they are known.
        said: utterances, oldest first; whispers are left out.
    """
    last = {utterance["speaker"]: utterance["text"] for utterance in said if is_public(utterance)}
    return [
        {"agent": name, "position": positions.get(name, ""), "words": last.get(name, "")[:LONGEST]} for name in names
    ]
