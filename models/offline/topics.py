"""Analyses a topic: its kind, its positions, the points on it, and a short phrase for it.

Topics are free text. Sentences use only phrase material, or a short phrase that is taken from the topic under narrow
conditions; a topic that meets none of them is called "this question". The positions of a debate follow from the form
of its answer; a yes or no, a choice, a number. Without a form, they are the alternatives that the topic names ("Tea or
coffee?", "Should we move?"), else those of the material.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import permutations
from typing import Any, Final, NamedTuple

from .material import generator, gerund, lines, matching, normalised, read, word_list
from .prompt import NUMBER, AnswerForm, Prompt

UNCHANGED: Final = "leaving things alone"
"""The alternative to a proposal without a named alternative."""
_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+")
_COUNT: Final = 5
"""Number of numbers in a debate: near enough to each other for neighbours to converge."""


class Point(NamedTuple):
    """Something that can be said on a topic.

    Attributes:
        tag: letter of the position that it supports, "-" if none.
        text: the clause.
        gist: a noun phrase for it; empty if it has none.
    """

    tag: str
    text: str
    gist: str


class Theme:
    """The phrase material for a kind of topic.

    Attributes:
        name: its key in the file.
        head: the subject, a phrase that fits after "about"; empty if the topic supplies it.
        match: matches topics of this theme.
        positions: letter to noun phrase, in their order on the line of opinions.
        points: what can be said.
        child: whole sentences for a child.
    """

    def __init__(self, name: str, entry: Mapping[str, Any]) -> None:
        self.name, self.head = name, str(entry.get("head", ""))
        self.match = matching(entry.get("match", "(?!)"))
        self.positions: dict[str, str] = dict(entry.get("positions", {}))
        bars = (f"{line} | |".split("|")[:3] for line in lines(entry.get("points", "")))
        self.points = tuple(Point(*map(str.strip, parts)) for parts in bars)
        self.child = lines(entry.get("child", ""))


_NONE: Final = Theme("", {})
"""In place of a theme where none matches."""


@cache
def themes(file: str) -> dict[str, Theme]:
    """The themes of one file."""
    return {key: Theme(key, entry) for key, entry in read(file).items()}


@dataclass(frozen=True, eq=False)
class Topic:
    """A topic, analysed.

    Attributes:
        text: as given.
        kind: its form ("howto", "fermi", "counterfactual", ...; "open" if none fits).
        theme: name of the theme that supplied content, empty if none matched.
        head: a phrase that fits after "about".
        positions: noun phrases, two or more, in their order on the line of opinions.
        points: the most specific first; the tag of a point is the index of its position, or "-".
        tiers: how many of `points` are of the theme itself, of the kind of topic, and general, in this order.
        child: whole sentences for a child.
        answers: in debates whose answer has a form, each position as an answer; else empty.
    """

    text: str
    kind: str
    theme: str
    head: str
    positions: tuple[str, ...]
    points: tuple[Point, ...]
    tiers: tuple[int, int, int]
    child: tuple[str, ...]
    answers: tuple[str, ...] = ()

    @property
    def is_task(self) -> bool:
        """Whether the topic is a task to work out, not a subject to discuss."""
        return self.kind in word_list("tasks", "topics")


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(read("topics")[name], re.IGNORECASE | re.DOTALL)


def kind_of(text: str) -> str:
    """The form of the topic; "open" if none is recognised."""
    for kind, patterns in read("topics")["kinds"].items():
        if all(re.search(pattern, text.strip(), re.IGNORECASE) for pattern in patterns):
            return str(kind)
    return "open"


def _question_in(text: str) -> str:
    sentences = _SENTENCES.split(text)
    return next((s for s in sentences if "?" in s), sentences[0]).strip()


def _phrase(text: str, most: int) -> str:
    """The beginning of a text up to its first clause boundary, if it is short and plain."""
    words = [read("topics")["ours"].get(w.lower(), w) for w in _pattern("cut").sub("", text.strip()).split()]
    phrase = " ".join(words)
    return phrase if 1 <= len(words) <= most and _pattern("plain").match(phrase) else ""


def extracted_head(text: str, kind: str) -> str:
    """A phrase for the topic, or "" if none can safely be taken from it.

    Args:
        text: the topic on one line.
        kind: of the topic (`topics.kind_of`).
    """
    sentence = _question_in(text)
    for pattern, form, most in read("topics")["heads"]:
        if found := re.fullmatch(pattern, sentence.rstrip(" ?!."), re.IGNORECASE):
            parts = {k: _phrase(v, most) for k, v in found.groupdict().items()}
            return str(form.format(**parts)) if all(parts.values()) else ""
    if "?" not in text and kind == "open" and len(sentence.split()) <= 6:
        # A heading such as "The future of work"; any other first word keeps its case, for it may be a name.
        phrase = _phrase(sentence, 6)
        first = phrase.partition(" ")[0]
        lowered = first.lower() in ("the", "a", "an", "our", "how", "why", "what") or first.endswith(("ing", "s"))
        return phrase[:1].lower() + phrase[1:] if lowered and first.istitle() else phrase
    return ""


def _choice_labels(choices: tuple[str, ...]) -> tuple[str, ...]:
    """Every choice as a phrase that fits into sentences and is distinct from the words around it."""
    ordinals = read("topics")["ordinals"].split()
    labels = []
    for index, choice in enumerate(choices):
        # Letters and numbers before a choice, as in "B) trams", are not part of it.
        text = re.sub(r"^\(?[A-Za-z0-9]\s?[).:]\s*(?=\w)", "", choice).strip(" .")
        if not _pattern("speakable").match(text):
            text = re.split(r"[,;:(]| [–-] ", text)[0].strip()
        text = re.sub(r"^(?:The|An?|Our|More|No|Some)(?= )", lambda m: m.group().lower(), text)
        common = text.casefold() in word_list("stopwords") | word_list("not_options") or len(text) < 2
        if not _pattern("speakable").match(text) or len(text) > 48:
            labels.append(f"the {ordinals[index]} choice" if index < len(ordinals) else f"choice number {index + 1}")
        else:
            labels.append(f"the answer {text}" if common and not text.isdigit() else text)
    return tuple(labels) if len({la.casefold() for la in labels}) == len(labels) else choices


@lru_cache(maxsize=256)
def candidate_numbers(topic: str) -> tuple[float, ...]:
    """A few numbers of the right kind for a question, in ascending order; they depend on its text alone."""
    draw = generator("numbers", topic)
    for pattern, low, high in read("topics")["ranges"]:
        if re.search(pattern, _SENTENCES.split(topic.strip())[-1], re.IGNORECASE):
            return tuple(float(n) for n in sorted(draw.sample(range(low, high + 1), min(_COUNT, high - low))))
    spoken = read("topics")["numbers"].split()
    tokens = re.findall(rf"{NUMBER.pattern}|[A-Za-z]+", topic)
    values = [float(w.replace(",", "")) if w[-1].isdigit() else spoken.index(w.lower()) + 2.0
              for w in tokens if w[-1].isdigit() or w.lower() in spoken]  # fmt: skip
    named = list(dict.fromkeys(values))
    found = {n * part for n in named[:1] for part in (0.5, 1, 1.5, 2, 3)} if len(named) < 3 else set()
    pairs = list(permutations(named, 2))
    draw.shuffle(pairs)
    for a, b in pairs[:8]:
        found.update(n for n in (a + b, a - b, a * b, a / b if b else a) if n > 0 and n == round(n, 2) and n < 1e12)
    if len(found) >= _COUNT:
        return tuple(sorted(draw.sample(sorted(found), _COUNT)))
    middle = 10 ** draw.uniform(1.2, 5.2)
    parts = [middle * part for part in (0.5, 0.75, 1.0, 1.5, 2.2)]
    return tuple(float(round(n, -max(0, math.floor(math.log10(n)) - 1))) for n in parts)


def _clean(phrase: str, most: int = 5) -> str:
    """A short, plain noun phrase, or "" if the text is not one."""
    words = phrase.strip(" ?!.,;:\"'“”").split()
    while words and words[0].lower() in ("or", "and", "to", "is", "are", "either", "rather", "for", "of"):
        words = words[1:]
    if not 1 <= len(words) <= most or not all(re.fullmatch(r"[\w'’+#-]+", w) for w in words):
        return ""
    if {words[0].lower(), words[-1].lower()} & word_list("not_options"):
        return ""
    if words[0].lower() in word_list("articles", "topics") | {"my", "your", "this"}:
        words[0] = words[0].lower()
    ours = {k: v for k, v in read("topics")["ours"].items() if k in ("my", "your", "me", "i", "its", "their")}
    return " ".join(ours.get(w.lower(), w) for w in words)


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
    question = _question_in(text)
    if should := _pattern("should").match(question):
        first, *rest = _pattern("or").split(should["rest"])
        label = _acting(first.rstrip(", "))
        if not rest:
            return (label, UNCHANGED) if label and "rather" not in question.lower()[:18] else ()
        return _acts(label, rest)
    if than := _pattern("than").match(question):
        return _checked([_clean(than["a"]), _clean(than["b"])])
    if _pattern("or").search(question):
        first, *rest = _pattern("or").split(question)
        first = _pattern("lead").sub("", first)  # greedy: the alternatives begin after the last of these words
        if re.match(r"to \w", first):
            return _acts(_acting(first[3:]), [r.removeprefix("to ") for r in rest])
        begun = first.split(", ")
        begun = begun[1:] if len(begun) > 1 and len(begun[0].split()) > 4 else begun
        if found := _checked([_clean(part) for part in (*begun, *rest)]):
            return found
    nouns = _pattern("nouns").search(text)
    return _checked([_clean(n) for n in nouns.groups() if n]) if nouns else ()


def _checked(options: Sequence[str]) -> tuple[str, ...]:
    """The alternatives if all can be used, without a capital that is due only to the beginning of a sentence."""
    if not 2 <= len(options) <= 4 or not all(options) or len({o.casefold() for o in options}) < len(options):
        return ()
    lowered = options[0][0].isupper() and all(o[0].islower() for o in options[1:])
    return (options[0][0].lower() + options[0][1:] if lowered else options[0], *options[1:])


def _acts(label: str, rest: list[str]) -> tuple[str, ...]:
    """The first alternative is a gerund phrase; the others are verb phrases too, or nouns that share its verb."""
    verb, _, thing = label.partition(" ")
    options = [label]
    for part in rest:
        first = part.strip(" ?!.,").partition(" ")[0].lower()
        shares = bool(thing) and (first in word_list("articles", "topics") or first not in word_list("verbs"))
        noun = _clean(part) if shares else ""
        options.append(f"{verb} {noun}" if noun else "" if shares else _acting(part))
    return _checked(options)


def _best_theme(text: str, kind: str) -> Theme:
    found = [(0, _NONE)]
    for file in ("scenes", "themes"):
        for name, theme in themes(file).items():
            matches = {m.group().lower() for m in theme.match.finditer(text)}
            if matches and (file == "themes" or read("scenes")[name]["kind"] == kind):
                # A scene for this kind of topic overrides a subject that is merely mentioned.
                found.append((sum(map(len, matches)) + (100 if file == "scenes" else 0), theme))
    return max(found, key=lambda f: f[0])[1]


def _stems(phrase: str) -> set[str]:
    return {w[:5] for w in normalised(phrase).split() if w not in word_list("stopwords") and len(w) > 3}


def _touches(theme: Theme, options: Sequence[str]) -> bool:
    """Whether a theme has points on one of the alternatives."""
    material = _stems(" ".join((*theme.positions.values(), *(p.text for p in theme.points))))
    return any(_stems(option) & material or theme.match.search(option) for option in options)


def _tag_by_words(points: Sequence[Point], options: tuple[str, ...]) -> list[Point]:
    """Points that support the alternative that they name."""

    def tag(text: str) -> str:
        present = [str(i) for i, option in enumerate(options) if _stems(option) & _stems(text)]
        return present[0] if len(present) == 1 else "-"

    return [Point(tag(p.text), p.text, p.gist) for p in points]


def _tagged(points: Sequence[Point], letters: Sequence[str] = ()) -> list[Point]:
    """Points with indices of positions in place of letters; points with other letters support none."""
    return [Point(str(letters.index(p.tag)) if p.tag in letters else "-", p.text, p.gist) for p in points]


def topic_of(prompt: Prompt) -> Topic:
    """The topic of a prompt, analysed for the form of the debate's answer.

    In a focus group it is the question put last, if there is anything to say on it in particular.
    """
    if prompt.asked and ((asked := analyse(prompt.asked, prompt.form)).theme or named_options(prompt.asked)):
        return asked
    return analyse(prompt.topic, prompt.form)


@lru_cache(maxsize=512)
def analyse(text: str, form: AnswerForm | None = None) -> Topic:
    """Analyse a topic. Pure and cached: equal arguments give the same object.

    Args:
        text: the topic; any text at all.
        form: of the debate's answer; None in discussions.
    """
    text = " ".join(text.split())
    kinds, wanted = themes("kinds"), form.kind if form else ""
    kind, general = kind_of(text), kinds["general"]
    theme, named = _best_theme(text, kind), named_options(text)
    head, answers, besides = "", tuple[str, ...](), tuple[Point, ...]()
    if wanted == "number":
        # A sum with eggs in it is not about healthy food.
        theme = theme if theme.name in themes("scenes") else _NONE
        numbers = candidate_numbers(text)
        answers, positions = (
            tuple(f"{n:.15g}" for n in numbers),
            tuple(f"{int(n):,}" if n == int(n) else f"{n:g}" for n in numbers),
        )
        kind, besides = "number", kinds["math" if kind == "math" else "fermi"].points
    elif wanted == "yesno":
        kind, positions = "polar", tuple(kinds["polar"].positions.values())
        answers = tuple("yes" if " yes" in label else "no" for label in positions)
    elif wanted == "choice" or (named and not _covers(theme, named)):
        kind, positions = "choice", named
        if form and wanted == "choice":
            answers, positions = form.choices, _choice_labels(form.choices)
            # "Which city should host the fair?" is not about town and country.
            theme = theme if _touches(theme, positions) else _NONE
        elif len(named) == 2 and UNCHANGED not in named:
            head = f"{named[0]} or {named[1]}"
            head = head if len(head) <= 50 else "this choice"
    else:
        source = next(one for one in (theme, kinds[kind], general) if one.positions)
        positions = tuple(source.positions.values())
    common = kinds[kind]
    if kind in ("number", "polar", "choice"):
        points = _tag_by_words(theme.points, positions)
        points += _tagged(common.points, tuple(common.positions)) + _tagged(besides)
    else:
        # A scene without positions of its own supports those of its kind.
        points = _tagged(theme.points, tuple(source.positions) if theme is source or not theme.positions else ())
        points += _tagged(common.points, tuple(source.positions) if common is source else ())
    if not named or answers or _covers(theme, named):
        head = theme.head
    own, known = len(theme.points), len(points)
    # General points support general positions, and none if the topic has positions of its own.
    letters = tuple(general.positions) if positions == tuple(general.positions.values()) else ()
    return Topic(
        text=text,
        kind=kind,
        theme=theme.name,
        head=head or extracted_head(text, kind_of(text)) or "this question",
        positions=positions,
        points=(*points, *_tagged(general.points, letters)),
        tiers=(own, known - own, len(general.points)),
        child=tuple(dict.fromkeys(theme.child + common.child + general.child)),
        answers=answers,
    )


def _covers(theme: Theme, options: tuple[str, ...]) -> bool:
    """Whether the theme's positions include the alternatives of the topic, so that they need not be added."""
    held = theme.positions.values()
    return bool(held) and sum(any(_stems(p) & _stems(o) for o in options) for p in held) == len(options)
