"""The positions of a debate: those that its topic names ("X or Y?"), or that the form of its answer allows.

This model cannot compute a number that a debate asks for. It offers a few numbers of the right kind: derived from the
numbers in the question, or drawn from the question's text alone.
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
from persimchat.models.offline.words import gerund

_SPEAKABLE: Final = re.compile(r"^[\w€$£°'’.,%+&/#-]*\w[\w€$£°'’.,%+&/#-]*(?: [\w€$£°'’.,%+&/#-]+){0,5}$")
_ORDINALS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_COUNT: Final = 5
"""Number of numbers in a debate: near enough to each other for neighbours to converge."""
_WORDS: Final = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_RANGES: Final = (
    # The quantity, and its usual range.
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
        kind: key of kinds.yaml with the points for them.
        labels: their words in sentences, in their order on the line of opinions.
        answers: each position as an answer in the required form.
        letters: tags of the points that support each; empty if points name their position themselves.
    """

    kind: str
    labels: tuple[str, ...]
    answers: tuple[str, ...]
    letters: tuple[str, ...] = ()


def sides_of(topic: str, form: AnswerForm) -> Sides | None:
    """The positions that a form of answer defines; None if the topic must define them.

    Args:
        topic: on one line.
        form: of the answer.
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
    """Every choice as a phrase that fits into sentences and is distinct from the words around it."""
    labels = []
    for index, choice in enumerate(choices):
        # Letters and numbers before a choice, as in "B) trams", are not part of it.
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
    """A number rounded to two significant digits: 1237 to 1200."""
    unit = 10 ** max(0, math.floor(math.log10(value)) - 1)
    return float(round(value / unit) * unit)


_WORD: Final = re.compile(r"^[\w'’+#-]+$")
_OR: Final = re.compile(r",? (?:or|vs\.?|versus|oder|nebo|ou|oppure) ", re.IGNORECASE)
_LEAD: Final = re.compile(
    # Greedy: the alternatives begin after the last of these words.
    r"^.*(?:\b(?:better|best|prefer|choose|pick|favou?rite|rather have|between|is it|are you for|tastier|nicer|"
    r"healthier|worse|stronger|smarter|besser|lieber)\b|:)(?: for \w+)?[,:]?\s+",
    re.IGNORECASE,
)
_SHOULD: Final = re.compile(
    r"^(?:so,? )?(?:should (?:we|i|you|they|one|people|our \w+|the \w+|\w+s)|would you rather)"
    r" (?:all |really |finally )?(?P<rest>[^?.!]+)",
    re.IGNORECASE,
)
_THAN: Final = re.compile(r"^(?:is|are) (?P<a>[^?]+?) (?:really )?(?:better|worse|\w+ier) than (?P<b>[^?]+)", re.I)
_NOUN: Final = r"(?:an?|the|our|more|new) [\w' -]{2,32}?"
_NOUNS: Final = re.compile(rf"\b({_NOUN})(?:, ({_NOUN}))?,? or ({_NOUN})(?=[.,;:?!]|$| (?:in|for|on|at|with)\b)", re.I)
_ARTICLES: Final = ("a", "an", "the", "our", "some", "more", "fewer", "less")
UNCHANGED: Final = "leaving things alone"
"""The alternative to a proposal without a named alternative."""


def _clean(phrase: str, most: int = 5) -> str:
    """A short, plain noun phrase, or "" if the text is not one."""
    words = phrase.strip(" ?!.,;:\"'“”").split()
    while words and words[0].lower() in ("or", "and", "to", "is", "are", "either", "rather", "for", "of"):
        words = words[1:]
    if not 1 <= len(words) <= most or not all(_WORD.match(w) for w in words):
        return ""
    if {words[0].lower(), words[-1].lower()} & word_list("not_options"):
        return ""
    if words[0].lower() in (*_ARTICLES, "my", "your", "this"):
        words[0] = words[0].lower()
    return " ".join({"my": "our", "your": "our", "me": "us", "i": "we"}.get(w.lower(), w) for w in words)


def _acting(rest: str) -> str:
    """A verb phrase as a noun phrase: "build a playground" to "building a playground"."""
    verb, _, remainder = rest.strip(" ?!.,").partition(" ")
    if not re.fullmatch(r"[A-Za-z]{2,}", verb) or verb.lower() in word_list("not_options") - {"be", "do", "have"}:
        return ""
    cleaned = _clean(remainder, 7) if remainder else ""
    return f"{gerund(verb.lower())} {cleaned}".strip() if cleaned or not remainder else ""


def named_options(text: str) -> tuple[str, ...]:
    """Two to four alternatives as noun phrases, in the order in which the topic names them.

    Empty if the topic names none, or in words that do not safely fit into other sentences.
    """
    sentences = re.split(r"(?<=[.!?])\s+", text)
    question = next((s for s in sentences if "?" in s), sentences[0]).strip()
    should = _SHOULD.match(question)
    if should:
        first, *rest = _OR.split(should["rest"])
        label = _acting(first.rstrip(", "))
        if not rest:
            return (label, UNCHANGED) if label and "rather" not in question.lower()[:18] else ()
        return _acts(label, rest)
    than = _THAN.match(question)
    if than:
        return _checked((_clean(than["a"]), _clean(than["b"])))
    if _OR.search(question):
        first, *rest = _OR.split(question)
        first = _LEAD.sub("", first)
        if re.match(r"to \w", first):
            return _acts(_acting(first[3:]), [r.removeprefix("to ") for r in rest])
        begun = first.split(", ")
        if len(begun) > 1 and len(begun[0].split()) > 4:
            begun = begun[1:]
        found = _checked(tuple(_clean(part) for part in (*begun, *rest)))
        if found:
            return found
    nouns = _NOUNS.search(text)
    return _checked(tuple(_clean(n) for n in nouns.groups() if n)) if nouns else ()


def _checked(options: tuple[str, ...]) -> tuple[str, ...]:
    """The alternatives if all can be used, without a capital that is due only to the beginning of a sentence."""
    if not 2 <= len(options) <= 4 or not all(options) or len({o.casefold() for o in options}) < len(options):
        return ()
    if options[0][0].isupper() and all(o[0].islower() for o in options[1:]):
        options = (options[0][0].lower() + options[0][1:], *options[1:])
    return options


def _acts(label: str, rest: list[str]) -> tuple[str, ...]:
    """The first alternative is a gerund phrase; the others are verb phrases too, or nouns that share its verb."""
    if not label:
        return ()
    verb, _, thing = label.partition(" ")
    options = [label]
    for part in rest:
        first = part.strip(" ?!.,").partition(" ")[0].lower()
        shares = bool(thing) and (first in _ARTICLES or first not in word_list("verbs"))
        noun = _clean(part) if shares else ""
        options.append(f"{verb} {noun}" if noun else "" if shares else _acting(part))
    return _checked(tuple(options))
