"""Pure functions on an utterance's text: addressees, the speaker's name in front, words for other participants."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from persimchat.state.normalise import folded
from persimchat.state.plain_text import shortened


def addressees(text: str, speaker: str, present: list[str]) -> list[str]:
    """The participants that an utterance addresses by name, in order of listing; empty means the whole group.

    A name counts as a whole word, in full or as a first name that only one participant has, regardless of case and
    diacritics. In scripts without spaces between words (李雷), a name counts wherever it stands.

    Args:
        text: the utterance.
        speaker: who said it; never among the addressees.
        present: names of all participants.
    """
    words = folded(text)
    firsts = [next(iter(folded(name).split()), "") for name in present]
    found = []
    for name, first in zip(present, firsts, strict=True):
        forms = [form for form in (folded(name), first if firsts.count(first) == 1 else "") if form]
        if name != speaker and any(_mentions(words, form) for form in forms):
            found.append(name)
    return found


def _mentions(text: str, name: str) -> bool:
    if any(character >= "\u2e80" for character in name):  # scripts that put no spaces between words
        return name in text
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


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

    A line speaks for another participant if it begins with their name (in full, first or last) and a colon. Everything
    from there on is cut. If the speaker's own words come only later, under their own name, those are taken.
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
    own = _forms(speaker)
    others = {form: name for name in present if name != speaker for form in _forms(name)}
    bare, own_name = _bare(text, own)
    lines = bare.splitlines()
    names = [_label(line)[0] for line in lines]
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


def _forms(name: str) -> set[str]:
    """The forms in which a script names a participant: in full, by first or by last name."""
    return {_name(form) for form in (name, *name.split()[:1], *name.split()[-1:])} - {""}


def _label(line: str) -> tuple[str, str]:
    """The name before a line's first colon and the text after it; an empty name and the line if there is no colon."""
    colon = _COLON.search(line, 0, _LONGEST_LABEL)
    if colon is None:
        return "", line
    head, rest = line[: colon.start()], line[colon.end() :]
    return _name(head), (rest.lstrip("*_]") if head.lstrip()[:1] in tuple("*_[") else rest).strip()


def _bare(text: str, own: set[str]) -> tuple[str, bool]:
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
    text: str, names: list[str], labelled: list[int], others: dict[str, str], own: set[str], last_speaker: str
) -> bool:
    """Whether the only name, in front, is the last speaker's, so that the text answers them."""
    only = names[labelled[0]]
    words = folded(text)
    return labelled == [0] and others.get(only) == last_speaker and not any(_mentions(words, form) for form in own)
