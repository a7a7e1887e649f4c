"""Reading single items of a prompt's text: the wording of `prompts/templates/_item.jinja`, the other way round.

Names are free text and may hold commas, colons and brackets, so an item is matched with the names that are known
before it is split.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

from persimchat.models.offline.answer_form import AnswerForm
from persimchat.models.offline.prompt import Answered, Heard, Member, MemoryLine, Relation, Said
from persimchat.models.offline.reading import ROLES, as_relation
from persimchat.prompts.blocks import Item
from persimchat.prompts.rendering import worded_item
from persimchat.state.answer_format import AnswerFormat
from persimchat.state.emotion import EMOTIONS
from persimchat.state.verdict import answer_description

_MEMORY: Final = re.compile(
    r"^- (?:\[(?P<number>\d+)\] )?(?P<kind>\w+), turn (?P<turn>\d+), importance (?P<importance>\d+): (?P<text>.*)$"
)
_MEMBER: Final = re.compile(
    r"^- (?P<name>.+): (?:need to talk (?P<need>\d+) of 10, )?(?:openness (?P<openness>\d+) of 10, )?"
    r"spoken (?P<spoken>\d+) times, (?:last in turn (?P<last>\d+)|not yet)$"
)
_LEVELS: Final = rf"\((?P<felt>calm|(?:(?:{'|'.join(EMOTIONS)}) \d+(?:, )?)+)\): "
_FELT: Final = re.compile(_LEVELS)
_OBSERVED: Final = re.compile(rf"^- (?P<speaker>.+?) {_LEVELS}(?P<words>.*)$")
_WHISPER: Final = re.compile(r" \(whispered to .+?; nobody else heard it\)(?=: | \()")


def every(lines: Sequence[str], prefix: str) -> list[str]:
    """What follows a prefix, line by line."""
    return [line[len(prefix) :].strip() for line in lines if line.startswith(prefix)]


def first(lines: Sequence[str], prefix: str) -> str | None:
    """What follows a prefix where it stands first; None where it stands nowhere."""
    return next(iter(every(lines, prefix)), None)


def levels(text: str) -> dict[str, int]:
    """Emotions and their levels in words such as "anger 6, surprise 2"."""
    return {e: min(10, int(v)) for e, v in re.findall(r"(\w+) (\d+)", text) if e in EMOTIONS}


def memory(line: str) -> MemoryLine | None:
    """A memory's item; None where the line is none."""
    found = _MEMORY.match(line)
    if found is None:
        return None
    theme, _, keywords = found["text"].rpartition(" | ")
    if not theme:
        theme, keywords = keywords, ""
    return MemoryLine(
        number=int(found["number"] or 0),
        kind=found["kind"],
        turn=int(found["turn"]),
        importance=int(found["importance"]),
        theme=theme.strip(),
        keywords=tuple(k for k in keywords.split(", ") if k.strip()),
    )


def member(line: str) -> Member | None:
    """A participant's item in `<group>`; None where the line is none."""
    found = _MEMBER.match(line)
    if found is None:
        return None
    need, openness = found["need"], found["openness"]
    return Member(
        name=found["name"],
        need=int(need) if need else None,
        openness=int(openness) if openness else None,
        spoken=int(found["spoken"]),
        last=int(found["last"] or 0),
    )


def said(line: str, names: Iterable[str]) -> Said | None:
    """An item of `<last_utterances>`, with or without the speaker's emotions; None where the line is none.

    Args:
        line: the item.
        names: of all who may have spoken.
    """
    text = line.removeprefix("- ")
    if text == line:
        return None
    # The longest name first: "Eva" must not be found in "Eva (the elder) (calm): …".
    for name in sorted(filter(None, names), key=len, reverse=True):
        if text.startswith(name + ": "):
            return Said(name, text[len(name) + 2 :].strip())
        if not text.startswith(name + " ("):
            continue
        whisper = _WHISPER.match(text, len(name))
        end = whisper.end() if whisper else len(name)
        if whisper and text.startswith(": ", end):
            return Said(name, text[end + 2 :].strip(), whispered=True)
        felt = _FELT.match(text, end + 1)
        if felt:
            told = tuple(levels(felt["felt"]).items())
            return Said(name, text[felt.end() :].strip(), told, whispered=whisper is not None)
    observed = _OBSERVED.match(line)
    if observed:
        return Said(observed["speaker"], observed["words"].strip(), tuple(levels(observed["felt"]).items()))
    speaker, _, words = text.partition(": ")
    return Said(speaker, words.strip()) if words else None


def answered(line: str, names: Iterable[str], name: str) -> Answered | None:
    """An item of `<answers>`; None where the line is none, such as those that say how many hold an answer.

    Args:
        line: the item.
        names: of all who may have answered.
        name: whose own answer begins with "I answered".
    """
    for known in ("I", *sorted(filter(None, names), key=len, reverse=True)):
        found = re.match(
            rf"- {re.escape(known)}(?: \((?P<side>\w+) side\))? answered: (?P<answer>.*?)"
            r"(?: \| confidence: (?P<sure>[\d.]+))? \| because: (?P<reasons>.*)$",
            line,
        )
        if found:
            sure = found["sure"]
            own = known == "I"
            return Answered(
                speaker=name if own else known,
                own=own,
                side=found["side"] or "",
                answer=found["answer"].strip(),
                confidence=float(sure) if sure else None,
                reasons=found["reasons"].strip(),
            )
    return None


def heard(lines: Sequence[str], name: str) -> Heard | None:
    """The items of `<heard>` as `name` hears them; None where nothing is heard."""
    speaker = first(lines, "- Speaker: ")
    if speaker is None:
        return None
    own = speaker.endswith(" (myself)")
    addressees = first(lines, "- Speaks to: ") or ""
    return Heard(
        speaker=speaker.removesuffix(" (myself)"),
        own=own,
        to_me=bool(name) and (name in addressees.split(", ") or (", " in name and name in addressees)),
        addressees=addressees,
        emotion=levels(first(lines, "- Speaker's emotional state: ") or ""),
        words=first(lines, "- Words: ") or "",
        whispered=first(lines, "- Whispered: ") is not None,
    )


def among(text: str, names: Sequence[str]) -> list[str]:
    """The names of a list such as "Eva, Bob, Cleo, MD", in its order, each taken whole where it is known.

    Args:
        text: the list.
        names: those that are known; where they do not make up the list, it is cut at its commas.
    """
    found: list[str] = []
    rest = text
    while rest:
        name = next(
            (n for n in sorted(names, key=len, reverse=True) if rest == n or rest.startswith(n + ", ")),
            "",
        )
        if not name:
            return [part.strip() for part in text.split(", ") if part.strip()]
        found.append(name)
        rest = rest[len(name) + 2 :]
    return found


@cache
def _relations() -> tuple[tuple[str, str, str], ...]:
    """How every relationship is worded behind the other's name, its type, and one's side of it."""
    found = []
    for kind in ROLES:
        for side in ("from", "to"):
            item = Item("relationship", {"to": "Eva", "type": kind, "side": side, "note": ""})
            found.append((str(worded_item(item)).strip().removeprefix("- Eva "), kind, side))
    return tuple(found)


def relation(line: str, others: Sequence[str]) -> Relation | None:
    """The relationship that an item tells, None where it is none of the known ones.

    Args:
        line: the item.
        others: names of the others present.
    """
    text = line.removeprefix("- ").strip()
    # The longest name first: "Eva" must not be found in "Eva Malá is my parent."
    for to in sorted(others, key=len, reverse=True):
        for words, kind, side in _relations() if text.startswith(to + " ") else ():
            rest = text[len(to) + 1 :]
            if rest.startswith(words):
                return as_relation({"to": to, "type": kind, "side": side, "note": rest[len(words) :].strip()})
    return None


def form_of(words: str) -> AnswerForm:
    """The form of answer that a description asks for; free text where it is none of the known ones."""
    text, choice = words.strip().rstrip("."), answer_description("choice")
    if text.startswith(choice.removesuffix(": ")):
        choices = tuple(c.strip() for c in text[len(choice.removesuffix(": ")) :].lstrip(": ").split("; ") if c.strip())
        return AnswerForm("choice", choices) if len(choices) > 1 else AnswerForm()
    forms: dict[str, AnswerFormat] = {answer_description(f): f for f in ("free", "yesno", "number")}
    return AnswerForm(next((kind for said, kind in forms.items() if text.startswith(said)), "free"))
