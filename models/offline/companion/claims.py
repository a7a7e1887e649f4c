"""What somebody tells of themselves and theirs, by patterns: "my sister is called Mira", "I live in Brno".

A claim keeps the person's own words beside it, copied exactly. What no pattern fits is not taken as a fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from persimchat.models.offline.companion.nouns import (
    head,
    is_beast,
    is_kin,
    is_living,
    last_meant,
    plural,
    same_thing,
    words,
)
from persimchat.models.offline.companion.patterns import (
    APPOSED,
    BARE,
    CORRECTS,
    DENIED,
    INSTEAD,
    MENTIONED,
    NATION,
    OBJECT,
    PATTERNS,
    SUPPOSED,
)
from persimchat.models.offline.grammar import capitalised

LONGEST_QUOTE: Final = 200
_LONGEST_VALUE: Final = 100

FORMS: Final[dict[str, tuple[str, str, str]]] = {
    # form: (suffix of the subject, verb of others, verb of "you")
    "called": ("", "is called", "are called"),
    "is": ("", "is", "are"),
    "state": ("state", "is", "are"),
    "name": ("name", "is called", "are called"),
    "age": ("age", "is", "are"),
    "home": ("home", "lives", "live"),
    "origin": ("home town", "is from", "are from"),
    "nationality": ("nationality", "is", "are"),
    "job": ("job", "is", "are"),
    "works": ("work", "works", "work"),
    "likes": ("likes", "likes", "like"),
    "dislikes": ("dislikes", "dislikes", "dislike"),
    "allergy": ("allergies", "is allergic to", "are allergic to"),
    "fear": ("fears", "is afraid of", "are afraid of"),
    "family": ("marital status", "is", "are"),
    "has": ("", "has", "have"),
    "plays": ("games", "plays", "play"),
    "speaks": ("languages", "speaks", "speak"),
    "studies": ("studies", "studies", "study"),
    "drives": ("car", "drives", "drive"),
    "collects": ("collection", "collects", "collect"),
    "born": ("birthplace", "was born", "were born"),
    "grew": ("childhood", "grew up", "grew up"),
    "learns": ("learning", "is learning", "are learning"),
    "does": ("doings", "", ""),
}
"""How each kind of claim is told."""
PLURAL: Final = frozenset({"likes", "dislikes", "allergies", "fears", "games", "languages"})
"""Subjects of which several may be true at once."""


@dataclass(frozen=True)
class Claim:
    """Something that is told.

    Attributes:
        path: of whom or what: () the teller, ("sister",) the teller's sister, ("sister", "dog") her dog.
        form: a key of `FORMS`; "told" for a statement that no pattern fits.
        value: what is told of it.
        quote: the words, copied exactly.
        correction: whether it takes back something told before.
        other: who is meant in place of the teller, by name; empty for the teller.
        told_of: the subject of a statement that no pattern fits.
        statement: such a statement.
        teller: who told it, by name.
    """

    path: tuple[str, ...]
    form: str
    value: str
    quote: str
    correction: bool = False
    other: str = ""
    told_of: str = ""
    statement: str = ""
    teller: str = ""

    @property
    def about(self) -> str:
        """Whom it is about: "person" or "other"."""
        return "other" if self.other else "person"

    @property
    def subject(self) -> str:
        """What of, in a few words: "sister", "sister's home", "job"."""
        if self.form == "told":
            return self.told_of
        suffix = FORMS[self.form][0]
        parts = [*([self.other] if self.other else []), *self.path, *([suffix] if suffix else [])]
        return _of(parts)[:80]

    def told(self, person: str) -> str:
        """The claim as a sentence with the person's name."""
        if self.form == "told":
            return self.statement
        owner = self.other or person
        return f"{capitalised(self._told(owner, you=False))}."

    def told_back(self) -> str:
        """The claim as it is said to the teller, without a full stop: "your sister is called Mira"."""
        if self.form == "told":
            return second_person(self.statement, self.teller).rstrip(".")
        return self._told(self.other, you=not self.other)

    def _told(self, owner: str, *, you: bool) -> str:
        _, others, yours = FORMS[self.form]
        if not self.path or self.form == "has":
            return " ".join(("you" if you else owner, yours if you else others, self.value))
        verb = yours if plural(self.path[-1]) else others
        whose = f"your {_of(self.path)}" if you else _of((owner, *self.path))
        return " ".join(part for part in (whose, verb, self.value) if part)


_SENTENCE: Final = re.compile(r"(?:\b(?:Dr|Mr|Mrs|Ms|St|Prof)\.|(?<=\d)[.](?=\d)|[^.!?…\n])*(?:[.!?…]+|\n|$)")


_ABBREVIATED: Final = re.compile(r"\b(Dr|Mr|Mrs|Ms|St|Prof)\.")


def _of(parts: Sequence[str]) -> str:
    """A chain of possessives: "Petr's sister's dog", "parents' home"."""
    owners = (f"{part}'" if plural(part) and part.islower() else f"{part}'s" for part in parts[:-1])
    return " ".join((*owners, parts[-1]))


def sentences(text: str) -> list[str]:
    """The sentences of a text, each copied exactly, without spaces around it."""
    return [found.group().strip() for found in _SENTENCE.finditer(text) if found.group().strip()]


@lru_cache(maxsize=4096)
def claims_alone(text: str) -> tuple[Claim, ...]:
    """What somebody tells in a text that refers to nothing before it."""
    return tuple(claims_in(text))


def claims_in(text: str, before: Sequence[Claim] = (), mentioned: Sequence[tuple[str, ...]] = ()) -> list[Claim]:
    """What somebody tells in a text, in order.

    Args:
        text: their words.
        before: what they told before, oldest first; corrections and pronouns refer to it.
        mentioned: what was spoken of before, oldest first, as paths.
    """
    found: list[Claim] = []
    spoken = list(mentioned)
    for sentence in sentences(text):
        if sentence.endswith("?") or SUPPOSED.match(sentence):
            continue
        quote = sentence[:LONGEST_QUOTE].rstrip()
        # Patterns read single spaces: long runs of them would cost time that grows with their square.
        plain = _ABBREVIATED.sub(r"\1", " ".join(sentence.split()))
        new = list(_in_sentence(plain, quote, [*before, *found], spoken))
        found += new
        spoken += [claim.path for claim in new if claim.path] or mentions(sentence)
    return found


def mentions(text: str) -> list[tuple[str, ...]]:
    """Whom and what of the person's a text speaks of: "your sister" as ("sister",)."""
    found = [_path(match["x"]) for match in MENTIONED.finditer(" ".join(text.split()))]
    return [path[:-1] + (path[-1].split()[0],) if " " in path[-1] and is_living(path[-1].split()[0]) else path
            for path in found]  # fmt: skip


def _in_sentence(
    sentence: str, quote: str, before: Sequence[Claim], spoken: Sequence[tuple[str, ...]]
) -> Iterator[Claim]:
    corrects = bool(CORRECTS.match(sentence))
    made, plain = _apposed(sentence, quote, corrects=corrects)
    taken: list[range] = []
    for form, pattern in PATTERNS:
        for match in pattern.finditer(plain):
            span = range(*match.span())
            if any(span.start < other.stop and other.start < span.stop for other in taken):
                continue
            claim = _claim(form, match, [*before, *made], spoken)
            if claim is not None:
                taken.append(span)
                made.append(replace(claim, quote=quote, correction=corrects))
    made.sort(key=lambda claim: sentence.find(claim.value))
    instead = _instead(sentence, [*before, *made])
    if instead is not None:
        yield from (claim for claim in made if claim.subject != instead.subject)
        yield replace(instead, quote=quote, correction=True)
    elif made:
        yield from made
    elif corrects and (claim := _bare(sentence, before)) is not None:
        yield replace(claim, quote=quote, correction=True)


def _apposed(sentence: str, quote: str, *, corrects: bool) -> tuple[list[Claim], str]:
    """The names in apposition ("my brother Karel"), and the sentence without them: what it tells of their bearers."""
    made: list[Claim] = []
    plain = sentence
    for match in reversed(list(APPOSED.finditer(sentence))):
        path = _path(match["x"])
        if path and is_living(path[-1]) and (value := _value(match["v"])):
            made.insert(0, Claim(path, "called", value, quote, correction=corrects))
            plain = plain[: match.end("x")] + plain[match.end("v") :]
    return made, plain


def _claim(form: str, match: re.Match[str], before: Sequence[Claim], spoken: Sequence[tuple[str, ...]]) -> Claim | None:
    value = _value(match["v"])
    if not value or DENIED.match(value):
        return None
    groups = match.groupdict()
    if form == "moved":
        form, value = "home", re.sub(r"^(?:into|to) ", "in ", value)
    kind, _, pronoun = form.partition("_")
    if pronoun == "pronoun":
        path = _meant(groups["p"], before, spoken)
        return Claim(path, kind, value, "") if path and not OBJECT.match(value) else None
    path = _path(groups.get("x") or "")
    if form == "of_other":
        named = "called" in match.group() or value[:1].isupper()
        return Claim(path, "called" if named else "is", value, "", other=groups["o"])
    if form == "has_of":
        return Claim((*path, groups["y"]), "called", value, "")
    if form == "has_when":
        noun, *rest = re.split(r"\s+(?=(?:with|for|about|at)\b)", path[-1], maxsplit=1)
        known = noun.casefold() in words("not_had")
        return None if known else Claim((*path[:-1], noun), "is", " ".join((*rest, value)), "")
    kind = _kind(form, path, value, before)
    return Claim(path, kind, value, "") if kind else None


def _kind(form: str, path: tuple[str, ...], value: str, before: Sequence[Claim]) -> str:
    """The kind of claim that a pattern has found; empty for none."""
    if form == "has":
        known = any(one.path == path for one in before) or head(path[-1]) in words("not_had")
        return "" if known else "has"
    if form == "named":
        return "" if head(value) in words("unnamed") else "nationality" if NATION.fullmatch(value) else "name"
    if form == "is":
        return _being(path, value)
    scorns = form == "job" and head(value) in words("unkind")
    means_nobody = form in ("likes", "dislikes") and OBJECT.match(value)
    return "" if scorns or means_nobody else form


def _being(path: tuple[str, ...], value: str) -> str:
    """The kind of claim that "my X is VALUE" is; empty for none."""
    if (
        value.startswith(("from ", "called "))
        or not path
        or path[-1].casefold() in ("name", "turn", "fault", "pleasure")
    ):
        return ""
    if head(value) in words("unkind"):
        return ""
    if not is_living(path[-1]):
        return "is"
    if value[:1].isupper() and not NATION.fullmatch(value):
        return "called"
    kin = re.match(r"an? ", value) and not is_beast(path[-1])
    return "job" if kin else "state"


def _instead(sentence: str, before: Sequence[Claim]) -> Claim | None:
    """The correction of a claim by its old value: "not Mira but Mara"."""
    for pattern in INSTEAD:
        for match in pattern.finditer(sentence):
            old, new = _value(match["old"]), _value(match["v"])
            for claim in reversed(before):
                if new and _same(claim.value, old) and not _same(new, old):
                    return replace(claim, value=new)
    return None


def _bare(sentence: str, before: Sequence[Claim]) -> Claim | None:
    """The correction of the last claim that fits: "sorry, it's Mara"."""
    match = BARE.search(sentence)
    value = _value(match["v"]) if match else ""
    named = value[:1].isupper()
    for claim in reversed(before):
        preposition = re.match(r"(?:in|at|as|near|on|an?) ", claim.value)
        bare = claim.value[preposition.end() :] if preposition else claim.value
        if value and (claim.form in ("called", "name") or bare[:1].isupper() or not named):
            return replace(claim, value=value if not (named and preposition) else preposition.group() + value)
    return None


def _meant(pronoun: str, before: Sequence[Claim], spoken: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Of whom a pronoun speaks: the last one that fits, of those spoken of, then of those told of."""
    paths = [*(claim.path for claim in before), *spoken]
    return last_meant(pronoun, paths)


def _path(chain: str) -> tuple[str, ...]:
    """A chain of possessives as nouns: "best friend's dog" as ("best friend", "dog")."""
    return tuple(" ".join(part.split()) for part in re.split(r"['’]s\s+", chain.strip()) if part.strip())


def _value(text: str) -> str:
    value = " ".join(text.split()).strip(" \"“”'’.,;:!?")
    return value if len(value) <= _LONGEST_VALUE else ""


def _same(first: str, second: str) -> bool:
    def bare(value: str) -> str:
        return re.sub(r"^(?:an?|the|in|at|to|as|on|called)\s+", "", value.casefold())

    return bare(first) == bare(second)


def in_force(claims: Iterable[Claim]) -> list[Claim]:
    """The claims that still hold: of one subject the last, of plural ones all that were not taken back."""
    kept: list[Claim] = []
    for claim in claims:
        kept = [one for one in kept if not replaced(one, claim)]
        kept.append(claim)
    return kept


def replaced(old: Claim, new: Claim) -> bool:
    """Whether a claim is no longer true once another was made."""
    if old.other != new.other or not same_subject(old, new):
        return False
    if "has" in (old.form, new.form) and old.form != new.form:
        return new.form != "has" and old.form == "has"
    return new.correction or FORMS.get(new.form, ("",))[0] not in PLURAL or _same(old.value, new.value)


def same_subject(first: Claim, second: Claim) -> bool:
    """Whether two claims tell of the same."""
    if first.subject.casefold() == second.subject.casefold():
        return True
    if "told" in (first.form, second.form):
        return False
    ends = FORMS[first.form][0] == FORMS[second.form][0]
    return ends and len(first.path) == len(second.path) and all(map(same_thing, first.path, second.path))


def is_of_kin(claim: Claim) -> bool:
    """Whether a claim is about somebody near to the teller."""
    return bool(claim.path) and is_kin(claim.path[-1])


_IRREGULAR: Final = {"is": "are", "was": "were", "has": "have", "does": "do", "goes": "go", "says": "say"}


def base_form(verb: str) -> str:
    """A verb as it is said of "you" or "I": "lives" as "live"; other words stay."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    if verb.endswith(("sses", "shes", "ches", "xes", "zes")):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb


def second_person(statement: str, name: str) -> str:
    """A sentence about somebody, as it is said to them: "Petr's dog limps." as "your dog limps."."""
    whole = rf"(?:{re.escape(name)}|{re.escape(name.split()[0] if name.split() else name)}|the person|the stranger)"
    owned = re.sub(rf"(?<!\w){whole}['’]s?(?=\s)", "your", statement, flags=re.IGNORECASE)

    def spoken_to(found: re.Match[str]) -> str:
        return f"you {found['adverb'] or ''}{base_form(found['verb'])}"

    return re.sub(
        rf"(?<!\w){whole}\s+(?P<adverb>(?:also|still|once|never|often)\s+)?(?P<verb>[a-z]+)", spoken_to, owned,
        flags=re.IGNORECASE,
    )  # fmt: skip


def first_person(statement: str, name: str) -> str:
    """A sentence about somebody, as they would say it themselves: "Petr's dog limps." as "My dog limps."."""
    told = second_person(statement, name)
    return re.sub(r"\byou\b", "I", re.sub(r"\byour\b", "my", told))
