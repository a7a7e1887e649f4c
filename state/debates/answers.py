"""The form of a debate's answer (free text, yes or no, one of several choices, a number), and its conditions."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, Field
from typing_extensions import TypedDict

from ..minds.judgement import Sentence
from ..plain_text import folded, one_line
from ..visibility import is_public

AnswerFormat = Literal["free", "yesno", "choice", "number"]

_NUMBER: Final = re.compile(r"[-+]?(?:\d{1,3}(?:[,\u202f\u00a0 ]\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?|[-+]?\.\d+")
_CONTINENTAL: Final = re.compile(
    r"(€ ?)?(?<![\d.,])([1-9]\d{0,2}(?:\.\d{3})+|\d+)(,\d+)?(?!\d|[.,]\d)"
    r"(\s?(?:€|eur(?:os?)?\b|kč|czk\b|zł|pln\b|kr\b|ft\b|,[-–]))?",
    re.IGNORECASE,
)
"""A number that may have points between thousands and a decimal comma, and a currency that is written so."""
_FRACTION: Final = re.compile(r"\d\s*[/⁄]\s*\d")
_MARKED: Final = re.compile(r"^.*(?:####|\banswer\b\W*:)(.*)$", re.IGNORECASE)
"""A last line that marks the answer: "#### 18", "Answer: 18"."""
_LABEL: Final = re.compile(r"^\(?(?!\d+[.:]\d)([a-z0-9]{1,2})\)?[.):]\s*(.+)$", re.IGNORECASE | re.DOTALL)
"""A choice behind its label, "b) trams"; not a number with decimals."""
_WHOLE: Final = re.compile(r"\d+(?:[.,:]\d+)+|\w+")
"""A word; a number with decimals or thousands, or a time, is one."""
_NEGATED: Final = re.compile(r"\b(?:not|no|never|neither|nor|without|against|except|instead|rather|\w+n t)\b")
"""Words that may turn a choice into its opposite: a text with one of them must be the choice itself."""
_YES: Final = frozenset({"yes", "y", "true"})
_NO: Final = frozenset({"no", "n", "false"})


def parse_answer(text: str, form: AnswerFormat, choices: Sequence[str] = ()) -> str:
    """Normalise an answer: "yes" or "no", a choice exactly as listed, a number in plain digits, or the stripped text.

    The parser understands small departures ("Yes.", "b) trams", "$1,200") and refuses a text that may mean two answers.
    All numbers of a text must be the same one (18 and 18.0 are), unless its last line marks the answer: "#### 18",
    "Answer: 18". Units and percent signs are left out; a fraction is no number. "1.200 €" and
    "1.200,50" are read as they are meant.

    Args:
        text: the answer of a model or a participant.
        form: the form that the debate asks for.
        choices: for "choice", the answers to choose from.

    Raises:
        ValueError: the text is not an answer of this form; the message says what would be one.
    """
    plain = " ".join(text.split())
    if not plain:
        raise ValueError("the answer is empty")
    if form == "yesno":
        return _yes_or_no(plain)
    if form == "choice":
        return _choice(plain, choices)
    return _number(text) if form == "number" else text.strip()


def same_answer(one: str, other: str, form: AnswerFormat) -> bool:
    """Whether two parsed answers are the same one; free text is compared without case, diacritics and punctuation."""
    if form == "number":
        return Decimal(one) == Decimal(other)
    return one == other or (form != "choice" and _words(one) == _words(other))


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", folded(text)))


def _yes_or_no(text: str) -> str:
    words = _words(text).split()
    first, others = words[:1], set(words[1:])
    if first and first[0] in _YES and not others & _NO:
        return "yes"
    if first and first[0] in _NO and not others & _YES:
        return "no"
    raise ValueError(f"{_shown(text)} is neither yes nor no")


def _choice(text: str, choices: Sequence[str]) -> str:
    if text in choices:  # choices may differ only in characters that are not letters: -30 and +30
        return text
    for candidate in (text, *_without_label(text)):
        found = [choice for choice in choices if _words(choice) == _words(candidate)]
        if len(found) == 1:
            return found[0]
    letter = _words(text)
    letters = [chr(ord("a") + n) for n in range(len(choices))]
    if letter in letters:
        return choices[letters.index(letter)]
    if _NEGATED.search(_words(text)):
        raise ValueError(f"{_shown(text)} is not one of the choices: {', '.join(choices)}")
    said = _WHOLE.findall(folded(text))
    named = [choice for choice in choices if _is_in(_WHOLE.findall(folded(choice)), said)]
    named = [c for c in named if not any(c != other and _words(c) in _words(other) for other in named)]
    if len(named) == 1:
        return named[0]
    raise ValueError(f"{_shown(text)} is not one of the choices: {', '.join(choices)}")


def _is_in(words: Sequence[str], text: Sequence[str]) -> bool:
    """Whether words stand in a text, one after the other: 5 is not in 2.5."""
    return any(text[at : at + len(words)] == words for at in range(len(text) - len(words) + 1))


def _without_label(text: str) -> list[str]:
    found = _LABEL.match(text)
    return [found.group(2)] if found else []


def _number(text: str) -> str:
    """The number of the last line if that marks an answer, else the one that all numbers of the text are."""
    marked = _MARKED.match(text.strip().splitlines()[-1])
    parts = [marked.group(1), text] if marked else [text]
    told = next((part for part in parts if _NUMBER.search(part)), text)
    told = " ".join(told.split())
    found = [
        re.sub(r"[,\s\u202f\u00a0]", "", number) for number in _NUMBER.findall(_CONTINENTAL.sub(_with_point, told))
    ]
    if _FRACTION.search(told) or not found or not all(math.isfinite(float(number)) for number in found):
        raise ValueError(f"{_shown(told)} is not one number")
    values = {_exact(number): number for number in found}
    if len(values) != 1:
        raise ValueError(f"{_shown(told)} is not one number")
    ((value, number),) = values.items()
    if re.fullmatch(r"[-+]?\d{1,40}", number):
        return str(int(number))
    rough = float(number)
    if _exact(repr(rough)) != value:  # a float would lose digits
        return f"{value:f}"
    return str(int(rough)) if rough == int(rough) and abs(rough) < 1e15 else repr(rough)


def _with_point(found: re.Match[str]) -> str:
    """A number that is surely continental ("1.200,50", "1.200.000", "1.200 €") with a decimal point only."""
    before, whole, rest, after = found.groups()
    points, money = whole.count("."), bool(before or after)
    sure = points > 1 or (points and rest) or (money and (points or len(rest or "") in (2, 3)))
    return f"{whole.replace('.', '')}{(rest or '').replace(',', '.')}" if sure else found[0]


def _exact(number: str) -> Decimal:
    """The value of a number in digits; of one with an exponent, that of the nearest float, which is short."""
    return Decimal(repr(float(number)) if "e" in number.lower() else number)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")


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
