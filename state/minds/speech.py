"""The words of an utterance: which of them are the speaker's own, and what was said before.

Source: specification, *Speaking*, faults known from the thesis. The share of n-grams that another text has is the
n-gram precision of BLEU (Papineni et al. 2002), on sets and against one earlier text at a time.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ..plain_text import folded, shortened, spoken_order, without_marks
from .addressing import first_name, mentions


def whole_sentences(text: str) -> str:
    """A text that breaks off, up to the end of its last whole sentence.

    If no sentence ends after the first tenth of the text: all but the last word, with an ellipsis.
    """
    text = text.strip()
    ends = [found.end() for found in _SENTENCE_END.finditer(text)]
    if ends and ends[-1] * 10 >= len(text):
        return text[: ends[-1]]
    return shortened(text, max(1, len(text) - 1))


def without_own_name(text: str, speaker: str) -> str:
    """The utterance without its speaker's name in front ("Eva: …", "**Eva Horáková:** …") and quotes around it all."""
    return _bare(text, _forms(speaker))[0]


@dataclass(frozen=True)
class OwnWords:
    """The speaker's own part of a model's answer.

    Attributes:
        text: the speaker's own words; empty where there are none.
        own_name: whether the speaker's own name stood in front and was removed.
        others: whether words of other participants were removed.
    """

    text: str
    own_name: bool
    others: bool


def own_words(text: str, speaker: str, present: list[str], last_speaker: str = "") -> OwnWords:
    """The speaker's part of an answer that may be written like a script, without the words under others' names.

    A line speaks for another participant if it begins with their name (in full, first or last, or first with a wrong
    last one) and a colon, or with a role of chats ("User:"; "Assistant:" is the speaker). All from there on is cut. If
    the speaker's own words come only later, under their own name, those are taken.
    An introduction ("Here is what Eva says:") is removed.
    Three things look similar and stay:

    - a mention in the middle of a line ("as Ben said: …") or with a comma ("Ben, I think …");
    - a list ("Who does what:" and then "Ben: the chairs"): it follows a colon, and its first item is no sentence;
    - one single name at the very beginning that is the last speaker's ("Ben: I don't think so"), with no word to the
      speaker by name: nobody speaks twice in a row, so this answers Ben.

    Stage directions ("(Ben nods)") stay as well, because they cannot be distinguished from asides.

    Args:
        text: a model's answer.
        speaker: who speaks.
        present: names of all participants.
        last_speaker: who made the last utterance; may be empty.
    """
    roles = {role for role in (_OWN_ROLE, *_OTHER_ROLES) if not any(role in _forms(name) for name in present)}
    own = _forms(speaker) | (roles & {_OWN_ROLE})
    others = {form: name for name in present if name != speaker for form in _forms(name)}
    others |= {role: role for role in roles - {_OWN_ROLE}}
    bare, own_name = _bare(text, own)
    lines = bare.splitlines()
    names = [_known(line, own, others) for line in lines]
    labelled = [i for i, name in enumerate(names) if name in own or name in others]
    if not labelled or _is_list(lines, labelled[0]) or _answers(bare, names, labelled, others, own, last_speaker):
        return OwnWords(bare, own_name, False)
    stretches = [_Stretch(own=True, labelled=False, lines=[])]
    for i, line in enumerate(lines):
        name = names[i]
        if name not in own and name not in others:
            stretches[-1].lines.append(line)
        elif name in own and stretches[-1].own and not stretches[-1].announces:
            stretches[-1].lines.append(_label(line)[1])
            own_name = True
        else:
            stretches.append(_Stretch(own=name in own, labelled=True, lines=[_label(line)[1]]))
    cut = any(not s.own for s in stretches)
    for said in stretches:
        if said.own and said.has_words and not (said.announces and said is not stretches[-1]):
            return OwnWords(_bare(said.text, own)[0], own_name or said.labelled, cut)
    return OwnWords("", own_name, cut)


@dataclass
class _Stretch:
    """Lines that one voice speaks, without the name in front."""

    own: bool
    labelled: bool
    lines: list[str]

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip()

    @property
    def has_words(self) -> bool:
        return re.search(r"[^\W_]", self.text) is not None

    @property
    def announces(self) -> bool:
        """Whether it only introduces the next lines ("Here is what Eva says:")."""
        last = next((line for line in reversed(self.lines) if line.strip()), "")
        return last.strip().rstrip(_MARKUP).endswith((":", "："))


_OWN_ROLE: Final = "assistant"
_OTHER_ROLES: Final = ("user", "human")
_MOST_NAMES: Final = 3
_MARKUP: Final = "*_ \t"
_QUOTES: Final = '"“”„«»'
_LONGEST_LABEL: Final = 120
_COLON: Final = re.compile("[:：]")
_NAME: Final = re.compile(r"[\W_]*(?P<name>[^\W_].*?)[\W_]*(?:[(\[（][^()\[\]（）]*[)\]）][\W_]*)?")
"""A name among markup, quotes and list signs, and a stage direction in brackets behind it."""
_SENTENCE_END: Final = re.compile(r"[.!?…؟۔।]+[\"'”’»)*]*(?=\s|\Z)|[。！？]+[”」』）]*")
_SENTENCE_ENDS: Final = tuple('.!?…。！？؟۔।"”»)*')


def _name(text: str) -> str:
    """The normal form of a name, for comparison."""
    found = _NAME.fullmatch(text)
    return folded(found["name"]) if found else ""


@lru_cache(1024)
def _forms(name: str) -> frozenset[str]:
    """The forms in which a script names a participant: in full, by first or by last name."""
    spoken = spoken_order(name)
    return frozenset(_name(form) for form in (name, spoken, first_name(name), *spoken.split()[-1:])) - {""}


def _label(line: str) -> tuple[str, str]:
    """The name before a line's first colon and the text after it; an empty name and the line if there is no colon."""
    colon = _COLON.search(line, 0, _LONGEST_LABEL)
    if colon is None:
        return "", line
    head, rest = line[: colon.start()], line[colon.end() :]
    return _name(head), (rest.lstrip("*_]") if head.lstrip()[:1] in tuple("*_[") else rest).strip()


def _known(line: str, own: frozenset[str], others: Mapping[str, str]) -> str:
    """The name before a line's first colon; the first name alone, if a wrong last name stands behind a known one.

    "Ben Adams: a friend of mine." says who that is, and is no label.
    """
    name, rest = _label(line)
    first, _, last = name.partition(" ")
    wrong = last and name not in own and name not in others and (first in own or first in others)
    written = _COLON.split(line, 1)[0].split() if wrong else []
    capital = bool(written) and all(word.lstrip(_MARKUP)[:1].isupper() for word in written)
    return first if capital and len(written) <= _MOST_NAMES and not rest[:1].islower() else name


def _bare(text: str, own: frozenset[str]) -> tuple[str, bool]:
    """The text without its speaker's name in front and quotes around it all, and whether there was a name."""
    bare, named = text.strip(), False
    while True:
        first, _, more = bare.partition("\n")
        name, rest = _label(first)
        shorter = _unquoted(bare)
        if shorter == bare and name in own:
            shorter = f"{rest}\n{more}".strip() or bare
            named = named or shorter != bare
        if shorter == bare:
            return bare, named
        bare = shorter


def _unquoted(text: str) -> str:
    around = len(text) > 2 and text[0] in '"“„«' and text[-1] in '"”“»' and not any(q in text[1:-1] for q in _QUOTES)
    return (text[1:-1].strip() or text) if around else text


def _is_list(lines: list[str], first: int) -> bool:
    before = next((line for line in reversed(lines[:first]) if line.strip()), "")
    item = lines[first].rstrip()
    return before.rstrip(_MARKUP).endswith((":", "：")) and not item.endswith(_SENTENCE_ENDS)


def _answers(
    text: str, names: list[str], labelled: list[int], others: dict[str, str], own: frozenset[str], last_speaker: str
) -> bool:
    """Whether the only name, in front, is the last speaker's, so that the text answers them."""
    only = names[labelled[0]]
    words = folded(text)
    return labelled == [0] and others.get(only) == last_speaker and not any(mentions(words, form) for form in own)


UNWRAPPED: Final = "unwrapped"
"""The model's thinking, marks of its chat template, or a wrapper stood around the words and were removed."""
OWN_NAME_REMOVED: Final = "own_name_removed"
"""The speaker's own name stood in front of the words and was removed."""
OTHERS_WORDS_REMOVED: Final = "others_words_removed"
"""The answer spoke for other participants too; their part was cut off."""
ASKED_AGAIN_FOR_OTHERS_WORDS: Final = "asked_again_for_others_words"
"""The answer spoke for other participants only, so the model was asked once more for the speaker's own words."""
ASKED_AGAIN_FOR_REPETITION: Final = "asked_again_for_repetition"
"""The utterance nearly repeated earlier ones, so the model was asked for another one and told what to avoid."""
STILL_REPEATS: Final = "still_repeats"
"""The second wording also nearly repeats an earlier utterance."""
REVISED: Final = "revised"
"""The utterance contradicted what was left out of its prompt, so other words were asked for and taken (revision)."""
STILL_INCONSISTENT: Final = "still_inconsistent"
"""All wordings contradict what was left out of the prompt; the one that does so least was taken."""
NOT_CHECKED: Final = "not_checked"
"""Whether the words contradict what was left out of the prompt is not known: no answer about them was of use."""

CORRECTIONS: Final = (
    UNWRAPPED,
    OWN_NAME_REMOVED,
    OTHERS_WORDS_REMOVED,
    ASKED_AGAIN_FOR_OTHERS_WORDS,
    ASKED_AGAIN_FOR_REPETITION,
    STILL_REPEATS,
    REVISED,
    STILL_INCONSISTENT,
    NOT_CHECKED,
)
"""All corrections of a wording, as `Utterance.corrections` names them."""

LEAST_WORDS: Final = 6
"""Shorter texts ("Yes.", "Good night, everyone!") are never repetitions: people say such things again and again."""
SHORT: Final = 10
"""In texts with fewer words ("What do you think about the price, Eva?"), one other word changes the meaning: they
repeat an earlier text only if it has all their n-grams."""
COMPARED: Final = 20_000
"""The most characters of a text that are compared with others; no utterance is longer."""
SIGN: Final = 0.5
"""The length in words of one sign in scripts that put no spaces between words."""

_UNSPACED: Final = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # radicals
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x323AF),
)
"""Unicode blocks of scripts that put no spaces between words; each of their signs counts as a word."""


class _Spacing(dict[int, str]):
    """A table for `str.translate`, filled on demand: letters and digits stay, other characters become spaces."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        belongs = unicodedata.category(sign)[0] in "LMN"
        self[code] = f" {sign} " if belongs and _unspaced(sign) else sign if belongs else " "
        return self[code]


_SPACING: Final = _Spacing({ord("'"): "", ord("’"): ""})


def words(text: str) -> list[str]:
    """The words of a text for comparison, without case, diacritics and punctuation.

    Scripts without spaces between words give single signs; a text without words (emoji, "?!") gives its characters.
    Only the first `COMPARED` characters count.
    """
    plain = without_marks(text[:COMPARED])
    return plain.translate(_SPACING).split() or [mark for mark in plain if not mark.isspace()]


def size(text: str) -> float:
    """The length of a text in words; a sign of a script without spaces counts as half of one."""
    return _size(words(text))


def _size(found: Sequence[str]) -> float:
    return sum(SIGN if _is_sign(word) else 1.0 for word in found)


def _is_sign(word: str) -> bool:
    return len(word) == 1 and (_unspaced(word) or not word.isalnum())


def _unspaced(sign: str) -> bool:
    code = ord(sign)
    return any(first <= code <= last for first, last in _UNSPACED)


def overlaps(text: str, said: Sequence[str]) -> list[float]:
    """How much of a text was said before: the share of its n-grams that occur in each earlier text.

    n is 4 words; 3 where the text is shorter than ten words or written in signs (about two words then).

    Args:
        text: the new text.
        said: earlier texts.

    Returns:
        For each earlier text a share from 0 to 1; 0 where the new text has no n-gram at all.
    """
    found = words(text)
    n = 3 if _size(found) < SHORT or _size(found) < 0.75 * len(found) else 4
    grams = _grams(found, n)
    return [len(grams & _grams(words(earlier), n)) / len(grams) if grams else 0.0 for earlier in said]


def _grams(found: Sequence[str], n: int) -> set[tuple[str, ...]]:
    return {tuple(found[i : i + n]) for i in range(len(found) - n + 1)}


def nearness(
    text: str, said: Sequence[str], cosines: Sequence[float], *, overlap: float, similarity: float
) -> list[float]:
    """How near a new text is to a repetition of each earlier one, by n-grams and embeddings.

    Args:
        text: the new text.
        said: earlier texts.
        cosines: of its embedding with theirs; texts shorter than `SHORT` words need none.
        overlap: the least share of n-grams of a repetition, above 0 to 1 (`Settings.repetition_overlap`).
        similarity: the least cosine of a repetition, above 0 to 1 (`Settings.repetition_similarity`).

    Returns:
        For each earlier text the greater of share and cosine as a multiple of its limit: 1 or more is a
        near-repetition. For texts shorter than `SHORT` the share alone, for those shorter than `LEAST_WORDS` 0.
    """
    length = size(text)
    if length < LEAST_WORDS:
        return [0.0] * len(said)
    shares = overlaps(text, said)
    if length < SHORT:
        return shares
    return [max(share / overlap, cosine / similarity) for share, cosine in zip(shares, cosines, strict=True)]
