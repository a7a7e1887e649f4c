"""The positions of a debate whose answer has a form: the choices, yes and no, or a few numbers.

Where a number is asked for, this model cannot work it out. It puts up a few numbers for debate that are of the right
kind: made of the numbers in the question, or drawn by the question's text alone.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from typing import Final

from persimchat.models.offline.answer_form import NUMBER, AnswerForm, spelled
from persimchat.models.offline.lexicon import themes, word_list
from persimchat.models.offline.randomness import generator

_SPEAKABLE: Final = re.compile(r"^[\w€$£°'’.,%+&/#-]*\w[\w€$£°'’.,%+&/#-]*(?: [\w€$£°'’.,%+&/#-]+){0,5}$")
_ORDINALS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_COUNT: Final = 5
"""Numbers put up for debate: near enough to each other for neighbours to come together."""
_WORDS: Final = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_RANGES: Final = (
    # What is asked for, and between which numbers it usually lies.
    (re.compile(r"\b(what|which) year\b|^when\b", re.IGNORECASE), 1500, 2020),
    (re.compile(r"per ?cent|%|\bpercentage\b|how likely|probab", re.IGNORECASE), 5, 95),
    (re.compile(r"how old|\bage\b", re.IGNORECASE), 8, 90),
    (re.compile(r"how many hours", re.IGNORECASE), 3, 14),
    (re.compile(r"how many (days|weeks|months)", re.IGNORECASE), 2, 30),
    (re.compile(r"how many minutes", re.IGNORECASE), 5, 90),
    (re.compile(r"out of ten|from (0|1|one|zero) to (10|ten)\b", re.IGNORECASE), 2, 9),
)


@dataclass(frozen=True)
class Sides:
    """The positions of a debate.

    Attributes:
        kind: key of kinds.yaml that has what can be said for them.
        labels: as they stand in sentences, in their order on the line of opinions.
        answers: the answer that each of them is, in the form asked for.
        letters: tags of the points that speak for each; empty where points name their position themselves.
    """

    kind: str
    labels: tuple[str, ...]
    answers: tuple[str, ...]
    letters: tuple[str, ...] = ()


def sides_of(topic: str, form: AnswerForm) -> Sides | None:
    """The positions that a form of answer gives; None where the topic itself has to give them.

    Args:
        topic: on one line.
        form: the answer asked for.
    """
    if form.kind == "yesno":
        polar = themes("kinds")["polar"].positions
        answers = tuple("yes" if " yes" in label else "no" for label in polar.values())
        return Sides("polar", tuple(polar.values()), answers, tuple(polar))
    if form.kind == "choice":
        return Sides("choice", _choice_labels(form.choices), form.choices)
    if form.kind == "number":
        numbers = candidate_numbers(topic)
        return Sides("number", tuple(map(spelled, numbers)), tuple(f"{n:.15g}" for n in numbers))
    return None


def _choice_labels(choices: tuple[str, ...]) -> tuple[str, ...]:
    """Every choice as a phrase that fits into sentences and is told apart from the words around it."""
    labels = []
    for index, choice in enumerate(choices):
        # Letters and numbers in front of a choice, as in "B) trams", are no part of it.
        text = re.sub(r"^\(?[A-Za-z0-9]\s?[).:]\s*(?=\w)", "", choice).strip(" .")
        if not _SPEAKABLE.match(text):
            text = re.split(r"[,;:(]| [–-] ", text)[0].strip()
        text = re.sub(r"^(?:The|An?|Our|More|No|Some)(?= )", lambda m: m.group().lower(), text)
        common = text.casefold() in word_list("stopwords") | word_list("not_options") or len(text) < 2
        if not _SPEAKABLE.match(text) or len(text) > 48:
            labels.append(f"the {_ORDINALS[index]} choice" if index < len(_ORDINALS) else f"choice number {index + 1}")
        else:
            labels.append(f"the answer {text}" if common and not text.isdigit() else text)
    return tuple(labels) if len({la.casefold() for la in labels}) == len(labels) else choices


def _named(topic: str) -> list[float]:
    """The numbers that a text names, in digits or as one word, each once."""
    found = []
    for word in re.findall(rf"{NUMBER.pattern}|[A-Za-z]+", topic):
        if word[-1].isdigit():
            found.append(float(word.replace(",", "")))
        elif word.lower() in _WORDS:
            found.append(float(_WORDS.index(word.lower()) + 2))
    return list(dict.fromkeys(found))


@lru_cache(maxsize=256)
def candidate_numbers(topic: str) -> tuple[float, ...]:
    """A few numbers of the right kind for a question, in ascending order; they depend on its text alone."""
    draw = generator("numbers", topic)
    named = _named(topic)
    question = re.split(r"(?<=[.!?])\s+", topic.strip())[-1]
    for pattern, low, high in _RANGES:
        if pattern.search(question):
            return tuple(float(n) for n in sorted(draw.sample(range(low, high + 1), min(_COUNT, high - low))))
    found = {n * part for n in named[:1] for part in (0.5, 1, 1.5, 2, 3)} if len(named) < 3 else set()
    pairs = list(permutations(named, 2))
    draw.shuffle(pairs)
    for a, b in pairs[:8]:
        made = (a + b, a - b, a * b, a / b if b else a)
        found.update(n for n in made if n > 0 and n == round(n, 2) and n < 1e12)
    if len(found) >= _COUNT:
        return tuple(sorted(draw.sample(sorted(found), _COUNT)))
    middle = 10 ** draw.uniform(1.2, 5.2)
    return tuple(_rounded(middle * part) for part in (0.5, 0.75, 1.0, 1.5, 2.2))


def _rounded(value: float) -> float:
    """A number with two digits that count: 1237 to 1200."""
    unit = 10 ** max(0, math.floor(math.log10(value)) - 1)
    return float(round(value / unit) * unit)
