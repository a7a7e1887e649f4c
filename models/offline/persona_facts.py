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

from persimchat.models.offline.lexicon import deck, patterns, word_list, word_pattern
from persimchat.models.offline.prompt import Prompt
from persimchat.models.offline.randomness import permutation
from persimchat.models.offline.words import with_article

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


def _segment(value: str) -> str:
    return re.split(r"[,;:(/]| at | for | and | who | with | from | near ", value.strip())[0].strip(" .")


def _usable(phrase: str) -> bool:
    return bool(_PLAIN.match(phrase)) and len(phrase) <= 40


def _as_noun(occupation: str) -> str:
    phrase = _segment(occupation)
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


def _family(values: str) -> tuple[str, ...]:
    found = [name for name, pattern in patterns("life", "family") if pattern.search(values)]
    attached = "partner" in found or "married" in found or "live" in values.casefold()
    return tuple(name for name in found if not (name == "single" and attached))


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
    family = ", ".join(
        f"{k} {v}" if "child" in k else v
        for k, v in c.items()
        if k in ("family", "family status", "marital status", "number of children", "children", "relationship status")
    )
    character = " ".join((*traits, style))
    pieces = [p.strip(" .") for p in re.split(r"[,;]| and ", hobby_text) if p.strip()]
    hobbies = tuple(n for n, pattern in patterns("life", "hobbies") if pattern.search(hobby_text))
    spare = [p for p in pieces if _usable(p) and not any(x.search(p) for _, x in patterns("life", "hobbies"))]
    work = occupation or description
    return Facts(
        name=name,
        age=age,
        child=age is not None and age < 13,
        teen=age is not None and 13 <= age < 18,
        as_noun=_as_noun(occupation) if occupation else "",
        retired="retired" in work.casefold() or "pension" in work.casefold() or "former" in work.casefold(),
        domains=tuple(n for n, pattern in patterns("life", "occupations") if pattern.search(work))[:2],
        hobbies=hobbies,
        pastime=spare[0][:1].lower() + spare[0][1:] if spare else "",
        place=_place(c.get("residence", c.get("city", c.get("place of residence", "")))),
        family=_family(family),
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
    close: list[str] = []
    far: list[str] = []
    if facts.child:
        far += deck("life", "child")
        close += [line for h in facts.hobbies for line in deck("life", "hobbies", h, "child")]
    else:
        for domain in facts.domains:
            if not (facts.teen and domain == "student"):
                close += deck("life", "occupations", domain, "lines")
        for hobby in facts.hobbies:
            close += deck("life", "hobbies", hobby, "lines")
        for status in facts.family:
            close += deck("life", "family", status, "lines")
        if facts.age is not None and facts.age >= 60:
            close += deck("life", "old")
        elif facts.age is not None and 18 <= facts.age < 32:
            close += deck("life", "young")
        close += deck("life", "teen") if facts.teen else ()
        if facts.as_noun:
            far += deck("life", "any_occupation_retired" if facts.retired else "any_occupation")
        far += deck("life", "place") if facts.place else ()
        far += deck("life", "pastime") if facts.pastime else ()
        far += deck("life", "anybody")
    # Stories of this persona alone come before general ones: they distinguish speakers.
    ordered = [close[i] for i in permutation(len(close), "close", facts.name, *conversation)]
    return (*ordered, *(far[i] for i in permutation(len(far), "far", facts.name, *conversation)))


def address(name: str, present: tuple[str, ...]) -> str:
    """How to address a participant: by first name if it is unique, else in full; "" if it cannot be spoken."""
    cleaned = re.sub(r"[{}<>\[\]()|*_`#‹›\\\"]", "", name).strip(" .,:;!?-")
    words = cleaned.split()
    if not words:
        return ""
    first = words[0].strip(",;:!?")
    shared = sum(other.split()[0].casefold() == name.split()[0].casefold() for other in present if other.split())
    title = first.endswith(".") or first.casefold() in word_list("titles")
    spoken = cleaned if shared > 1 or title else first
    # To `re`, combining marks are not letters, though names such as Adébáyọ̀ have them.
    plain = "".join(c for c in unicodedata.normalize("NFKD", spoken) if not unicodedata.combining(c))
    speakable = len(spoken) <= 40 and re.fullmatch(r"[^\W\d_][\w'’. -]*", plain) is not None
    return spoken if speakable else ""
