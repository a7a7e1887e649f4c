"""Facts from a persona's free-text profile, in a form that sentences can use.

Values are free text such as "retired train driver" or "married, two sons". A fact that does not safely fit into a
sentence is left out; unknown characteristics are ignored.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from ...state.minds.addressing import first_name
from .material import deck, matching, permutation, read, with_article, word_list, word_pattern
from .prompt import Prompt

_PLAIN: Final = re.compile(r"^[^\W\d_][\w'’.-]*(?: [\w'’.&-]+){0,4}$")


_Pairs = tuple[tuple[str, str], ...]


def _usable(phrase: str) -> bool:
    return bool(_PLAIN.match(phrase)) and len(phrase) <= 40


def _as_noun(occupation: str) -> str:
    phrase = re.split(r"[,;:(/]| at | for | and | who | with | from | near ", occupation.strip())[0].strip(" .")
    words = phrase.split()
    if not _usable(phrase) or words[-1].lower() in word_list("not_occupations") or words[0].lower() in ("at", "in"):
        return ""
    if words[0].lower() in ("a", "an", "the"):
        words = words[1:]
    if not words or not words[0].isascii():
        return ""
    words[0] = words[0] if words[0].isupper() and len(words[0]) > 1 else words[0][0].lower() + words[0][1:]
    return with_article(" ".join(words))


def _place(residence: str) -> str:
    phrase = residence.split(",")[0].split("(")[0].strip(" .")
    lowered = phrase[:1].lower() + phrase[1:] if phrase.lower().startswith(("a ", "an ", "the ")) else phrase
    return lowered if _usable(lowered) and not lowered.lower().startswith(("in ", "near ", "unknown")) else ""


def _kinds(key: str, text: str) -> tuple[str, ...]:
    """The entries of life.yaml that a text names."""
    return tuple(name for name, entry in read("life")[key].items() if matching(entry["match"]).search(text))


class Facts:
    """The facts about a persona.

    Attributes:
        name: in full.
        age: years, None where unknown.
        child: under 13.
        teen: 13 to 17.
        as_noun: "a nurse", "an engineer"; empty if the occupation gives no such phrase.
        retired: whether they have retired.
        domains: kinds of work (keys of `occupations` in life.yaml).
        hobbies: keys of `hobbies` in life.yaml.
        pastime: a hobby as a phrase after "with", if no kind of hobby fits; else empty.
        place: where they live, a phrase after "in"; else empty.
        family: keys of `family` in life.yaml.
        groups: temper groups that traits and style name (keys of `patterns` in words.yaml).
        formal: the persona speaks formally by nature.
        brief: the persona says little.
        onlooker: they take no part, as a judge.
        slots: what the slots of stories from life are filled with.
    """

    def __init__(self, name: str, description: str, told: _Pairs, traits: tuple[str, ...], style: str) -> None:
        c = dict(told)
        found = re.search(r"\d{1,3}", c.get("age", ""))
        occupation = c.get("occupation", c.get("profession", c.get("job", "")))
        hobby_text = ", ".join(c[k] for k in ("hobbies", "hobbies and interests", "hobby", "interests") if k in c)
        fields = read("words")["family_fields"]
        about = ", ".join(f"{k} {v}" if "child" in k else v for k, v in c.items() if k in fields)
        family, work, character = _kinds("family", about), occupation or description, " ".join((*traits, style))
        attached = "partner" in family or "married" in family or "live" in about.casefold()
        pieces = [p.strip(" .") for p in re.split(r"[,;]| and ", hobby_text) if p.strip()]
        spare = [p for p in pieces if _usable(p) and not _kinds("hobbies", p)]
        self.name, self.age = name, int(found.group()) if found else None
        self.child = self.age is not None and self.age < 13
        self.teen = self.age is not None and 13 <= self.age < 18
        self.as_noun = _as_noun(occupation) if occupation else ""
        self.retired = any(word in work.casefold() for word in ("retired", "pension", "former"))
        self.domains, self.hobbies = _kinds("occupations", work)[:2], _kinds("hobbies", hobby_text)
        self.pastime = spare[0][:1].lower() + spare[0][1:] if spare else ""
        self.place = _place(c.get("residence", c.get("city", c.get("place of residence", ""))))
        self.family = tuple(name for name in family if not (name == "single" and attached))
        self.groups = frozenset(g for g in word_list("groups") if word_pattern(g).search(character))
        self.formal = bool(word_pattern("formal_style").search(style))
        self.brief = bool(word_pattern("brief_style").search(character))
        self.onlooker = "takes no part" in description
        self.slots = {"job": self.as_noun, "place": self.place, "pastime": self.pastime}


_cached = lru_cache(maxsize=256)(Facts)
"""The profile is in every prompt of a persona."""


def facts_of(prompt: Prompt) -> Facts:
    """The facts in a prompt about its agent."""
    return _cached(prompt.name, prompt.description, tuple(prompt.characteristics.items()), prompt.traits, prompt.style)


def life_lines(facts: Facts, *conversation: object) -> tuple[str, ...]:
    """A persona's stories from life (`sentence | gist`), in an order of their own for each conversation.

    Args:
        facts: of the speaker.
        *conversation: values that distinguish conversations, such as seed and topic.
    """
    working, age = "any_occupation_retired" if facts.retired else "any_occupation", facts.age or 40
    near: list[tuple[str, ...]] = [("hobbies", one, "child") for one in facts.hobbies]
    general: dict[str, object] = {"child": True}
    if not facts.child:
        near = [("occupations", one, "lines") for one in facts.domains if not (facts.teen and one == "student")]
        near += [("hobbies", one, "lines") for one in facts.hobbies]
        near += [("family", one, "lines") for one in facts.family]
        near += [(key,) for key, fits in (("old", age >= 60), ("young", 18 <= age < 32), ("teen", facts.teen)) if fits]
        general = {working: facts.as_noun, "place": facts.place, "pastime": facts.pastime, "anybody": True}
    close = [line for keys in near for line in deck("life", *keys)]
    far = [line for key, fits in general.items() if fits for line in deck("life", key)]
    # Stories of this persona alone come before general ones: they distinguish speakers.
    ordered = [close[i] for i in permutation(len(close), "close", facts.name, *conversation)]
    return (*ordered, *(far[i] for i in permutation(len(far), "far", facts.name, *conversation)))


def address(name: str, present: tuple[str, ...]) -> str:
    """How to address a participant: by first name if it is unique, else in full; "" if it cannot be spoken."""
    cleaned = re.sub(r"[{}<>\[\]()|*_`#‹›\\\"]", "", name).strip(" .,:;!?-")
    if not cleaned:
        return ""
    first = first_name(cleaned)
    shared = sum(first_name(other).casefold() == first.casefold() for other in present)
    spoken = first if shared < 2 else cleaned
    # To `re`, combining marks are not letters, though names such as Adébáyọ̀ have them.
    plain = "".join(c for c in unicodedata.normalize("NFKD", spoken) if not unicodedata.combining(c))
    speakable = len(spoken) <= 40 and re.fullmatch(r"[^\W\d_][\w'’. -]*", plain) is not None
    return spoken if speakable else ""
