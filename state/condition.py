"""Conditions of an answer ("yes, if the shops may be reached"), for which the form of the answer has no place."""

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
"""The most characters of a condition, and of a participant's last words in a conclusion."""

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
    """The type `kind | None`, which also reads words such as "none" and "n/a" as None.

    Args:
        kind: the type.
        unless: texts that stay as they are, for example a choice that is called None.
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
"""The conditions that a model states; a field of this type comes after `answer`."""


class Stand(TypedDict):
    """A participant's position at the end of a debate whose conclusion has conditions."""

    agent: str
    position: str
    """As the judge sees it, or as the participant answered; empty if neither is known."""
    words: str
    """Their last public utterance."""


def condition_beside(given: str, answer: str) -> str:
    """The condition that a text names beside its answer; empty if it names none.

    Args:
        given: the text, for example "Yes, if it is free."
        answer: the answer that was read from it, "yes".
    """
    at = given.casefold().find(answer.casefold())
    rest = given if at < 0 else f"{given[:at]} {given[at + len(answer) :]}"
    found = _CUE.search(rest)
    return one_line(rest[found.start() :]).strip(_AROUND)[:LONGEST] if found else ""


Answered = TypeVar("Answered", bound=BaseModel)


def with_condition(made: Answered, given: Any) -> Answered:
    """A model's answer; a condition that the model wrote into `answer` is kept in `conditional`.

    Args:
        made: the validated answer, with the fields `answer` and `conditional`.
        given: the data that the model gave.
    """
    written = given.get("answer") if isinstance(given, Mapping) else None
    answer = getattr(made, "answer", None)
    if not isinstance(written, str) or not isinstance(answer, str) or getattr(made, "conditional", None):
        return made
    found = condition_beside(written, answer)
    return made.model_copy(update={"conditional": found}) if found else made


def joined(holders: Sequence[str], answers: Iterable[Mapping[str, Any]]) -> str:
    """The conditions of an answer's holders in one line: one text if all name the same, empty if none names any.

    Args:
        holders: their names, in order of listing.
        answers: of the last round, with `conditional` if the participant named a condition.
    """
    named: dict[str, str] = {u["speaker"]: u["conditional"] for u in answers if u.get("conditional")}
    held = {name: named[name] for name in holders if name in named}
    if len(held) == len(holders) and len(set(held.values())) == 1:
        return next(iter(held.values()))
    return "; ".join(f"{name}: {condition}" for name, condition in held.items())


def positions_of(answers: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Each participant's answer by name, with its condition in brackets."""
    return {
        u["speaker"]: f"{u['answer']} ({u['conditional']})" if u.get("conditional") else u["answer"] for u in answers
    }


def stands(names: Sequence[str], positions: Mapping[str, str], said: Iterable[Mapping[str, Any]]) -> list[Stand]:
    """Each participant's position and last public utterance.

    Args:
        names: the participants' names, in order of listing.
        positions: by name, as far as they are known.
        said: utterances, oldest first; whispers do not count.
    """
    last = {utterance["speaker"]: utterance["text"] for utterance in said if is_public(utterance)}
    return [
        {"agent": name, "position": positions.get(name, ""), "words": last.get(name, "")[:LONGEST]} for name in names
    ]
