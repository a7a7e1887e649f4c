"""Analyses a topic: its kind, its positions, the points on it, and a short phrase for it.

Topics are free text. Sentences use only phrase material, or a short phrase that is taken from the topic under narrow
conditions; a topic that meets none of them is called "this question".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from persimchat.models.offline.answer_form import AnswerForm
from persimchat.models.offline.lexicon import Point, Theme, read, themes, word_list
from persimchat.models.offline.options import UNCHANGED, Sides, named_options, sides_of
from persimchat.models.offline.prompt import Prompt
from persimchat.models.offline.words import normalised

_PLAIN: Final = re.compile(r"^[\w'’+#-]+(?: [\w'’+#-]+)*$")
_CUT: Final = re.compile(
    r"\s*(?:[,;:.?!]|\b(?:that|which|who|when|where|while|by|because|using|without|and how|and why|and what|"
    r"such as|for me|please)\b).*$",
    re.IGNORECASE | re.DOTALL,
)
_TURNED: Final = {"my": "our", "your": "our", "me": "us", "i": "we", "mine": "ours", "myself": "ourselves"}


def _phrase(text: str, most: int) -> str:
    """The beginning of a text up to its first clause boundary, if it is short and plain."""
    words = [_TURNED.get(w.lower(), w) for w in _CUT.sub("", text.strip()).split()]
    phrase = " ".join(words)
    return phrase if 1 <= len(words) <= most and _PLAIN.match(phrase) else ""


def extracted_head(text: str, kind: str) -> str:
    """A phrase for the topic, or "" if none can safely be taken from it.

    Args:
        text: the topic on one line.
        kind: of the topic (`topics.kind_of`).
    """
    sentences = re.split(r"(?<=[.!?])\s+", text)
    sentence = next((s for s in sentences if "?" in s), sentences[0]).strip()
    for pattern, form, most in (
        (r"what if (?P<x>.+)", "what if {x}", 14),
        (r"(?:how (?:can|do|could|should|might|to) ?(?:i|we|you|one|people)?) (?P<x>\w.+)", "how to {x}", 8),
        (
            r"how many (?P<x>[\w-]+(?: [\w-]+){0,2}?) (?:are|is|do|does|would|can|could|have|has|fit|live|will) .+",
            "the number of {x}",
            4,
        ),
        (r"should (?P<s>we|they|people|schools|children|parents) (?P<x>.+)", "whether {s} should {x}", 9),
        (r"(?:what|which|who) (?:is|are|was|were|would be) (?P<x>(?:the|our|your|some) .+)", "{x}", 7),
        (r"(?:can you |could you )?(?:please )?(?:explain|describe|discuss|define|compare) (?P<x>.+)", "{x}", 7),
        (r"(?:can you help me |help me |please )?(?:write|draft|compose|create) an? (?P<x>.+)", "the {x}", 6),
        (r"what (?:is|are) (?P<x>[\w -]+)\?*", "{x}", 4),
        (
            r"(?:what|which) (?P<x>[\w-]+(?: [\w-]+)?) (?:should|shall|would|will|can|could|do|does|must|is|are) .+",
            "the choice of {x}",
            2,
        ),
    ):
        found = re.fullmatch(pattern, sentence.rstrip(" ?!."), re.IGNORECASE)
        if found:
            parts = {k: _phrase(v, most) for k, v in found.groupdict().items()}
            return form.format(**parts) if all(parts.values()) else ""
    if "?" not in text and kind == "open" and len(sentence.split()) <= 6:
        # A heading such as "The future of work"; any other first word keeps its case, for it may be a name.
        phrase = _phrase(sentence, 6)
        first = phrase.partition(" ")[0]
        lowered = first.lower() in ("the", "a", "an", "our", "how", "why", "what") or first.endswith(("ing", "s"))
        return phrase[:1].lower() + phrase[1:] if lowered and first.istitle() else phrase
    return ""


KINDS: Final = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("fermi", r"^(roughly |about )?how many\b|^estimate\b|^how much .*(in total|altogether|worldwide)"),
        ("counterfactual", r"^(what if|suppose|what would (have happened|happen|the world)|how would .* if)\b"),
        ("roleplay", r"^(as an? [\w -]+,|pretend|imagine (you|that you|being)|you are an? |if you were|how would you)"),
        ("coding", r"^(please |can you )?(implement|code|refactor|debug|write|develop|create|build)\b"),
        ("math", r"^(solve|calculate|compute|given that|prove|evaluate|simplify)\b|\bequation\b|\bendpoints\b|f\(x\)"),
        ("writing", r"^(help (me|us) |can you help me |please )?(write|draft|compose|structure|use an appropriate)"),
        ("why", r"^why\b"),
        (
            "howto",
            r"^how (to|(can|do|could|should|might) (i|we|you|one|\w+body|people|governments?))\b|ways to\b|strategies",
        ),
        (
            "should",
            r"^(should|ought|must|do we|are we|may)\b|\bshould be \w+ed\b|\bis it (right|wrong|fair|more|ethical)\b",
        ),
        ("yesno", r"^(can|could|is|are|does|do|did|will|would|was|were|has|have) (?!you\b|the following)"),
        ("best", r"\b(best|favou?rite|greatest|worst)\b"),
        (
            "explain",
            r"^(can you |could you )?(please )?(explain|describe|discuss|define|compare|how (do|does|can)|what is a)\b",
        ),
    )
)
TASK_KINDS: Final = frozenset({"fermi", "roleplay", "coding", "math", "writing"})
_REFINED: Final = {
    "roleplay": re.compile(r"^(?!how would you)|^how would you introduce yourself as", re.IGNORECASE),
    "coding": re.compile(
        r"^(please |can you )?(implement|code|refactor|debug)|"
        r"\b(program|function|algorithm|script in|class|regular expression|sql|data structure|api)\b",
        re.IGNORECASE,
    ),
}


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
        return self.kind in TASK_KINDS


def kind_of(text: str) -> str:
    """The form of the topic; "open" if none is recognised."""
    stripped = text.strip()
    for name, pattern in KINDS:
        if pattern.search(stripped) and (name not in _REFINED or _REFINED[name].search(stripped)):
            return name
    return "open"


def _best_theme(text: str, kind: str) -> Theme | None:
    scenes = read("scenes")
    found: list[tuple[int, str, Theme]] = []
    for file in ("scenes", "themes"):
        for name, theme in themes(file).items():
            if file == "scenes" and scenes[name]["kind"] != kind:
                continue
            matches = {m.group().lower() for m in theme.match.finditer(text)}
            if matches:
                # A scene for this kind of topic overrides a subject that is merely mentioned.
                found.append((sum(map(len, matches)) + (100 if file == "scenes" else 0), name, theme))
    return max(found, key=lambda f: f[0])[2] if found else None


def _stems(phrase: str) -> set[str]:
    words = normalised(phrase).split()
    return {w[:5] for w in words if w not in word_list("stopwords") and len(w) > 3}


def _covers(theme: Theme, options: tuple[str, ...]) -> bool:
    """Whether the theme's positions include the alternatives of the topic, so that they need not be added."""
    known = [p for p in theme.positions.values() if any(_stems(p) & _stems(o) for o in options)]
    return len(known) == len(options)


def _is_on(theme: Theme, sides: Sides) -> bool:
    """Whether a theme has points for a debate between these sides.

    "Which city should host the fair?" is not about town and country, and a sum with eggs in it not about healthy food.
    """
    if sides.kind == "number":
        return theme.name in themes("scenes")
    return sides.kind != "choice" or _touches(theme, sides.labels)


def _touches(theme: Theme, options: tuple[str, ...]) -> bool:
    """Whether a theme has points on one of the alternatives."""
    material = " ".join((*theme.positions.values(), *(p.text for p in theme.points)))
    return any(_stems(option) & _stems(material) or theme.match.search(option) for option in options)


def _tag_by_words(text: str, options: tuple[str, ...]) -> str:
    present = [str(i) for i, option in enumerate(options) if _stems(option) & _stems(text)]
    return present[0] if len(present) == 1 else "-"


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
    kind = kind_of(text)
    theme = _best_theme(text, kind)
    named = named_options(text)
    sides = sides_of(text, form) if form else None
    general = themes("kinds")["general"]
    if sides and theme and not _is_on(theme, sides):
        theme = None
    if sides:
        common = themes("kinds")[sides.kind]
        positions = sides.labels
        points = [Point(_tag_by_words(p.text, positions), p.text, p.gist) for p in (theme.points if theme else ())]
        points += _tagged(common.points, sides.letters)
        if sides.kind == "number":
            points += _tagged(themes("kinds")["math" if kind == "math" else "fermi"].points, ())
        kind = sides.kind
        head = theme.head if theme else ""
    elif named and not (theme and _covers(theme, named)):
        common = themes("kinds")["choice"]
        positions = named
        kind = "choice"
        points = [Point(_tag_by_words(p.text, named), p.text, p.gist) for p in (theme.points if theme else ())]
        points += _tagged(common.points, ())
        head = f"{named[0]} or {named[1]}" if len(named) == 2 and UNCHANGED not in named else ""
        head = head if len(head) <= 50 else "this choice"
    else:
        common = themes("kinds")[kind]
        source = next(t for t in (theme, common, general) if t is not None and t.positions)
        letters = tuple(source.positions)
        positions = tuple(source.positions.values())
        points = []
        for deck in (theme, common):
            # A scene without positions of its own supports those of its kind.
            ours = deck is source or (theme is not None and deck is theme and not theme.positions)
            points += _tagged(deck.points if deck else (), letters if ours else ())
        head = theme.head if theme else ""
    known = len(points)
    own = len(theme.points) if theme else 0
    # General points support general positions, and none if the topic has positions of its own.
    uses_general = positions == tuple(general.positions.values())
    points += _tagged(general.points, tuple(general.positions) if uses_general else ())
    child = (theme.child if theme else ()) + common.child + general.child
    return Topic(
        text=text,
        kind=kind,
        theme=theme.name if theme else "",
        head=head or extracted_head(text, kind_of(text)) or "this question",
        positions=positions,
        points=tuple(points),
        tiers=(own, known - own, len(general.points)),
        child=tuple(dict.fromkeys(child)),
        answers=sides.answers if sides else (),
    )


def _tagged(points: Sequence[Point], letters: tuple[str, ...]) -> list[Point]:
    """Points with indices of positions in place of letters; points with other letters support none."""
    return [Point(str(letters.index(p.tag)) if p.tag in letters else "-", p.text, p.gist) for p in points]
