"""A conversation that one model wrote in one answer, parsed into utterances (the single_agent baseline).

A script is lines of "Name: words". Models decorate it with bold names, numbers, bullets, quotation marks, headings and
stage directions; the parser removes these. It does not guess who speaks: it reports speakers who do not take part, and
drops text that belongs to no speaker.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from ..minds.speech import without_own_name
from ..plain_text import clean, matching, one_line


class Line(NamedTuple):
    """One utterance of a script."""

    speaker: str
    text: str


class Script(NamedTuple):
    """What a script holds.

    Attributes:
        lines: the participants' utterances, in order.
        strangers: speakers' names, as written, that match no participant or several.
    """

    lines: list[Line]
    strangers: list[str]


_BULLETS: Final = re.compile(r"^[\s>•#|–—-]*(?:\*\s+)?")
_NUMBER: Final = re.compile(r"^[\[(]?\d{1,4}[\])]?\s*[.):]?\s+")
_LABEL: Final = re.compile(
    r"^(?P<mark>[*_`]{0,3})\[?(?P<name>[^\W_][^:：\n*_`\[\]()]{0,80}?)\]?[*_`]{0,3}"
    r"\s*[*_`]{0,3}(?:[(\[][^()\[\]]{0,200}[)\]])?[*_`]{0,3}\s*[:：](?P<text>.*)$"
)
"""A name, perhaps marked, perhaps with a direction in brackets, and a colon."""
_DIRECTION: Final = re.compile(r"^(?:\(.*\)|\[.*\]|\*[^*]+\*|_[^_]+_|#{1,6}\s.*|[-*_=~]{3,}|```.*)$")
_OPENING: Final = re.compile(r"^(?:\([^()]{1,120}\)|\[[^\[\]]{1,120}\]|\*[^*]{1,120}\*)\s*(?=\S)")
_CLOSING: Final = re.compile(r"(?<=[.!?…\"”])\s*(?:\([^()]{1,120}\)|\[[^\[\]]{1,120}\]|\*[^*]{1,120}\*)$")
_MARKS: Final = "*_`[( "
_LONGEST: Final = 100
"""The most characters before a colon in which the parser looks for a participant's name in an unusual form."""
_NOT_SPEAKERS: Final = frozenset(
    ("scene", "setting", "title", "topic", "participants", "characters", "cast", "conversation", "dialogue")
    + ("transcript", "script", "note", "narrator", "end")
)
"""First words of labels that are parts of a script's layout, not speakers; the text after them is a stage direction."""


def parse_script(text: str, names: Sequence[str]) -> Script:
    """The utterances in a script.

    Names may be written in full, or as a part that only one participant's name has, regardless of case and diacritics.
    A line without a name continues the line right above it; after an empty line, and before the first name, it is
    dropped. Stage directions ("(They laugh.)", "[Silence]", "*smiles*" around an utterance), headings and rules are
    dropped, too.

    Args:
        text: what the model wrote.
        names: the participants' names.
    """
    lines: list[Line] = []
    strangers: list[str] = []
    speaker: str | None = None
    gap = False
    for raw in clean(text).split("\n"):
        line = raw.strip()
        named = _named(line, names, begun=bool(lines))
        if named is not None:
            label, words = named
            meant = matching(label, names)
            speaker = meant[0] if len(meant) == 1 else None
            if speaker is not None:
                lines.append(Line(speaker, words))
            elif label.split()[0].casefold() not in _NOT_SPEAKERS and label not in strangers:
                strangers.append(label)
        elif speaker is not None and line and not _DIRECTION.match(line) and not (gap and lines[-1].text):
            lines[-1] = Line(speaker, f"{lines[-1].text} {line}")
        gap = not line
    spoken = (Line(line.speaker, _words(line)) for line in lines)
    return Script([line for line in spoken if line.text], strangers)


def _named(line: str, names: Sequence[str], *, begun: bool) -> tuple[str, str] | None:
    """The name with which a line begins, as it is written, and the words after it; None if it begins with no name.

    A participant's name may stand on a line of its own; an unknown name only as a heading, after the first utterance.
    """
    bare = _BULLETS.sub("", line)
    for start in dict.fromkeys((bare, _NUMBER.sub("", bare))):
        own = next((name for name in names if start.lower().startswith(f"{name}:".lower())), None)
        if own is not None:
            return own, start[len(own) + 1 :].strip()
        found = _LABEL.match(start)
        label = one_line(found["name"]) if found else ""
        if found and (len(matching(label, names)) == 1 or _is_like_a_name(label, names)):
            return label, _unmarked(found["text"], found["mark"])
        head, colon, _ = start.replace("：", ":").partition(":")
        if colon and len(head) <= _LONGEST and _is_like_a_name(head.strip(_MARKS), names, title=False):
            return one_line(head.strip(_MARKS)), ""
    alone = line.strip("*_`[]#: ")
    heading = begun and line.startswith(("#", "**")) and _is_title(alone)
    return (one_line(alone), "") if alone and (heading or len(matching(alone, names)) == 1) else None


def _is_like_a_name(label: str, names: Sequence[str], *, title: bool = True) -> bool:
    """Whether the text before a colon is meant as a name: "Dr. Novák" and "Eva says" are, "One thing" is not."""
    words = label.split()
    return bool(words) and (bool(matching(words[0].strip(".,;!?*_`)]"), names)) or (title and _is_title(label)))


def _is_title(label: str) -> bool:
    words = label.split()
    if not 1 <= len(words) <= 5 or re.search(r"[,;!?…]|\w{4,}\.", label) or not label[0].isalpha():
        return False
    return not words[0][0].islower() and not any(word[0].islower() and len(word) > 3 for word in words)


def _unmarked(text: str, mark: str) -> str:
    """Words without the rest of a mark that began before the name: "**Eva: words**", "**Eva:** words"."""
    if not mark or text.count(mark) % 2 == 0:
        return text.strip()
    text = text.strip()
    return (text.removeprefix(mark) if text.startswith(mark) else text.removesuffix(mark)).strip()


def _words(line: Line) -> str:
    """An utterance's words alone: without stage directions around it, the speaker's name, quotation marks."""
    text = line.text
    for direction in (_OPENING, _CLOSING):
        found = direction.search(text)
        if found and _is_direction(found.group().strip()):
            text = (text[: found.start()] + text[found.end() :]).strip()
    text = "" if _DIRECTION.match(text) and _is_direction(text) else text
    return one_line(without_own_name(text, line.speaker)) if text else ""


def _is_direction(text: str) -> bool:
    """Whether brackets or asterisks hold a stage direction: "*smiles*" does, the stress in "*Tea*, please" does not."""
    return not text.startswith("*") or text[1].islower()


class Faults(NamedTuple):
    """What is wrong with a script.

    Attributes:
        strangers: speakers who do not take part.
        found: the number of utterances, at most as many as were asked for.
        silent: participants who say nothing although the script has room for all.
        repeaters: participants who speak twice in a row although that is not allowed.
    """

    strangers: list[str]
    found: int
    silent: list[str]
    repeaters: list[str]

    def is_useless(self) -> bool:
        """Whether the script is unusable: it has no utterance, or a speaker who does not take part."""
        return not self.found or bool(self.strangers)


def faults(script: Script, names: Sequence[str], count: int, *, allow_repetition: bool) -> Faults | None:
    """What is wrong with a script, None where nothing is.

    Args:
        script: as parsed; utterances beyond the first `count` are ignored.
        names: the participants' names.
        count: how many utterances were asked for.
        allow_repetition: whether a participant may speak twice in a row.
    """
    speakers = [line.speaker for line in script.lines[:count]]
    silent = [name for name in names if name not in speakers] if count >= len(names) else []
    twice = {one for one, next_ in zip(speakers, speakers[1:], strict=False) if one == next_ and not allow_repetition}
    found = Faults(script.strangers, len(speakers), silent, [name for name in names if name in twice])
    return found if found.is_useless() or len(speakers) < count or silent or twice else None


def shared_out(total: int, weights: Sequence[int]) -> list[int]:
    """A whole number shared out in proportion to weights; the parts add up to it.

    Args:
        total: 0 or more.
        weights: 0 or more, not all of them 0.
    """
    whole, parts, given, seen = sum(weights), [], 0, 0
    for weight in weights:
        seen += weight
        upto = total * seen // whole
        parts.append(upto - given)
        given = upto
    return parts
