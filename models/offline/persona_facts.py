"""Facts from a persona's free-text profile, in a form that sentences can use.

Values are free text such as "retired train driver" or "married, two sons". A fact that does not safely fit into a
sentence is left out; unknown characteristics are ignored.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ...state.minds.addressing import first_name
from .material import deck, matching, permutation, read, with_article, word_list, word_pattern
from .prompt import Prompt

_PLAIN: Final = re.compile(r"^[^\W\d_][\w'’.-]*(?: [\w'’.&-]+){0,4}$")


@dataclass(frozen=True)
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
        knowledge: 0 to 5.
        groups: temper groups that traits and style name (keys of `patterns` in words.yaml).
        formal: the persona speaks formally by nature.
        brief: the persona says little.
        onlooker: they take no part, as a judge.
    """

    name: str
    age: int | None
    child: bool
    teen: bool
    as_noun: str
    retired: bool
    domains: tuple[str, ...]
    hobbies: tuple[str, ...]
    pastime: str
    place: str
    family: tuple[str, ...]
    knowledge: int
    groups: frozenset[str]
    formal: bool
    brief: bool
    onlooker: bool = False


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


def facts_of(prompt: Prompt) -> Facts:
    """The facts in a prompt about its agent."""
    told = tuple(prompt.characteristics.items())
    return _facts(prompt.name, prompt.description, told, prompt.traits, prompt.style, prompt.knowledge)


@lru_cache(maxsize=256)
def _facts(
    name: str,
    description: str,
    characteristics: tuple[tuple[str, str], ...],
    traits: tuple[str, ...],
    style: str,
    knowledge: int | None,
) -> Facts:
    """`facts_of`, cached per persona: the profile is in every prompt."""
    c = dict(characteristics)
    found = re.search(r"\d{1,3}", c.get("age", ""))
    age = int(found.group()) if found else None
    occupation = c.get("occupation", c.get("profession", c.get("job", "")))
    hobby_text = ", ".join(c[k] for k in ("hobbies", "hobbies and interests", "hobby", "interests") if k in c)
    about = ", ".join(f"{k} {v}" if "child" in k else v for k, v in c.items() if k in read("words")["family_fields"])
    family = _kinds("family", about)
    attached = "partner" in family or "married" in family or "live" in about.casefold()
    character = " ".join((*traits, style))
    pieces = [p.strip(" .") for p in re.split(r"[,;]| and ", hobby_text) if p.strip()]
    spare = [p for p in pieces if _usable(p) and not _kinds("hobbies", p)]
    work = occupation or description
    return Facts(
        name=name,
        age=age,
        child=age is not None and age < 13,
        teen=age is not None and 13 <= age < 18,
        as_noun=_as_noun(occupation) if occupation else "",
        retired="retired" in work.casefold() or "pension" in work.casefold() or "former" in work.casefold(),
        domains=_kinds("occupations", work)[:2],
        hobbies=_kinds("hobbies", hobby_text),
        pastime=spare[0][:1].lower() + spare[0][1:] if spare else "",
        place=_place(c.get("residence", c.get("city", c.get("place of residence", "")))),
        family=tuple(name for name in family if not (name == "single" and attached)),
        knowledge=knowledge if knowledge is not None else 3,
        groups=frozenset(g for g in word_list("groups") if word_pattern(g).search(character)),
        formal=bool(word_pattern("formal_style").search(style)),
        brief=bool(word_pattern("brief_style").search(character)),
        onlooker="takes no part" in description,
    )


def life_lines(facts: Facts, *conversation: object) -> tuple[str, ...]:
    """A persona's stories from life (`sentence | gist`), in an order of their own for each conversation.

    Args:
        facts: of the speaker.
        *conversation: values that distinguish conversations, such as seed and topic.
    """
    near: list[tuple[str, ...]]
    general: dict[str, object]
    if facts.child:
        near, general = [("hobbies", hobby, "child") for hobby in facts.hobbies], {"child": True}
    else:
        near = [("occupations", one, "lines") for one in facts.domains if not (facts.teen and one == "student")]
        near += [("hobbies", one, "lines") for one in facts.hobbies] + [
            ("family", one, "lines") for one in facts.family
        ]
        age = facts.age if facts.age is not None else 40
        near += [(key,) for key, fits in (("old", age >= 60), ("young", 18 <= age < 32), ("teen", facts.teen)) if fits]
        working = "any_occupation_retired" if facts.retired else "any_occupation"
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
