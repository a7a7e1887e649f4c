"""What somebody tells of themselves and theirs, and what they ask about it, by the patterns of `companion_facts.yaml`.

A claim keeps the person's own words beside it, copied exactly. What no pattern fits is not taken as a fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import takewhile
from typing import Final, NamedTuple

from .material import capitalised, read, substituted, word_list
from .prompt import STRANGER, Known, KnownFact

FILE: Final = "companion_facts"
LONGEST_QUOTE: Final = 200
_LONGEST_VALUE: Final = 100
_SENTENCE: Final = re.compile(r"(?:\b(?:Dr|Mr|Mrs|Ms|St|Prof)\.|(?<=\d)[.](?=\d)|[^.!?…\n])*(?:[.!?…]+|\n|$)")

Path = tuple[str, ...]
"""Of whom or what: () the teller, ("sister",) the teller's sister, ("sister", "dog") her dog."""


def words(name: str) -> frozenset[str]:
    """A set of words of the file."""
    return word_list(name, FILE)


@cache
def _synonyms() -> dict[str, str]:
    return {word: row.split()[0] for row in read(FILE)["same"].splitlines() for word in row.split()}


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """A pattern with its fragments (`<NOUN>`) put in."""
    while (put := re.sub(r"<([A-Z]+)>", lambda name: read(FILE)["fragments"][name[1]], text)) != text:
        text = put
    return re.compile(text, re.IGNORECASE)


def _named(name: str) -> re.Pattern[str]:
    return _pattern(read(FILE)[name])


def _form(form: str) -> list[str]:
    """Suffix of the subject, verb of others, verb of "you"; empty where a form has none."""
    return [part.strip() for part in read(FILE)["forms"].get(form, "||").split("|")]


def _head(noun: str) -> str:
    return noun.split()[-1].casefold() if noun.split() else ""


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def one_word(word: str) -> str:
    """A word in the form by which words are compared: lower case, singular, one of its synonyms."""
    bare = _singular(word.casefold())
    return _synonyms().get(bare, bare)


def _same_thing(first: str, second: str) -> bool:
    return list(map(one_word, first.split())) == list(map(one_word, second.split()))


def is_beast(noun: str) -> bool:
    """Whether it is an animal."""
    return _singular(_head(noun)) in words("beasts")


def is_kin(noun: str) -> bool:
    """Whether it is somebody near: kin, friends, colleagues."""
    return _singular(_head(noun)) in words("female") | words("male") | words("either") - words("beasts")


def _is_living(noun: str) -> bool:
    return is_kin(noun) or is_beast(noun) or _head(noun) in words("plurals")


def _plural(noun: str) -> bool:
    last = _head(noun)
    return last in words("plurals") or (last.endswith("s") and _singular(last) != last)


def _last_meant(pronoun: str, paths: Sequence[Path]) -> Path:
    """Of whom a pronoun speaks: the last one that it fits for certain, else the last one that it may fit."""

    def fit(noun: str) -> int:
        last, wanted = _singular(_head(noun)), read(FILE)["pronouns"][pronoun.casefold()]
        gender = next((one for one in ("female", "male") if last in words(one)), "")
        if wanted in ("female", "male"):
            return 2 if gender == wanted else int(_is_living(noun) and not gender)
        if wanted == "thing":
            return 0 if gender else 1 if is_kin(noun) else 2
        return 2 if _plural(noun) else 1

    found, place = max(((fit(path[-1]), place) for place, path in enumerate(paths) if path), default=(0, 0))
    return paths[place] if found else ()


def _chain(parts: Sequence[str]) -> str:
    """A chain of possessives: "Petr's sister's dog", "parents' home"."""
    owners = (f"{part}'" if _plural(part) and part.islower() else f"{part}'s" for part in parts[:-1])
    return " ".join((*owners, parts[-1]))


class Claim(NamedTuple):
    """Something that is told.

    Attributes:
        path: of whom or what.
        form: a key of `forms` in the file; "told" for a statement that no pattern fits.
        value: what is told of it; of "told", the whole statement.
        quote: the words, copied exactly.
        correction: whether it takes back something told before.
        told_of: the subject of a statement that no pattern fits.
        teller: who told such a statement, by name.
    """

    path: Path
    form: str
    value: str
    quote: str = ""
    correction: bool = False
    told_of: str = ""
    teller: str = ""

    @property
    def subject(self) -> str:
        """What of, in a few words: "sister", "sister's home", "job"."""
        if self.form == "told":
            return self.told_of
        return _chain([*self.path, *filter(None, _form(self.form)[:1])])[:80]

    def told(self, person: str) -> str:
        """The claim as a sentence with the person's name."""
        return self.value if self.form == "told" else f"{capitalised(self._worded(person))}."

    def told_back(self) -> str:
        """The claim as it is said to the teller, without a full stop: "your sister is called Mira"."""
        return second_person(self.value, self.teller).rstrip(".") if self.form == "told" else self._worded("")

    def _worded(self, owner: str) -> str:
        _, others, yours = _form(self.form)
        if not self.path or self.form == "has":
            return " ".join((owner or "you", others if owner else yours, self.value))
        whose = _chain((owner, *self.path)) if owner else f"your {_chain(self.path)}"
        return " ".join(part for part in (whose, yours if _plural(self.path[-1]) else others, self.value) if part)


def sentences(text: str) -> list[str]:
    """The sentences of a text, each copied exactly, without spaces around it."""
    return [found.group().strip() for found in _SENTENCE.finditer(text) if found.group().strip()]


def mentions(text: str) -> list[Path]:
    """Whom and what of the person's a text speaks of: "your sister" as ("sister",)."""
    found = [_path(match["x"]) for match in _named("mentioned").finditer(" ".join(text.split()))]
    return [(*path[:-1], path[-1].split()[0] if _is_living(path[-1].split()[0]) else path[-1]) for path in found]


def claims_in(text: str, before: Sequence[Claim] = (), mentioned: Sequence[Path] = ()) -> list[Claim]:
    """What somebody tells in a text, in order.

    Args:
        text: their words.
        before: what they told before, oldest first; corrections and pronouns refer to it.
        mentioned: what was spoken of before, oldest first.
    """
    found, spoken = list[Claim](), list(mentioned)
    for sentence in sentences(text):
        if sentence.endswith("?") or _named("supposed").match(sentence):
            continue
        # Patterns read single spaces: long runs of them would cost time that grows with their square.
        plain = re.sub(r"\b(Dr|Mr|Mrs|Ms|St|Prof)\.", r"\1", " ".join(sentence.split()))
        corrects, quote = bool(_named("corrects").match(plain)), sentence[:LONGEST_QUOTE].rstrip()
        new = [
            claim._replace(quote=quote, correction=corrects or claim.correction)
            for claim in _in_sentence(plain, [*before, *found], spoken, corrects=corrects)
        ]
        found += new
        spoken += [claim.path for claim in new if claim.path] or mentions(sentence)
    return found


@lru_cache(maxsize=4096)
def _claims_alone(text: str) -> tuple[Claim, ...]:
    return tuple(claims_in(text))


def _in_sentence(sentence: str, before: Sequence[Claim], spoken: Sequence[Path], *, corrects: bool) -> Iterator[Claim]:
    made, plain, taken = list[Claim](), sentence, list[range]()
    for match in reversed(list(_named("apposed").finditer(sentence))):  # "my brother Karel"
        path = _path(match["x"])
        if path and _is_living(path[-1]) and (value := _value(match["v"])):
            made.insert(0, Claim(path, "called", value))
            plain = plain[: match.end("x")] + plain[match.end("v") :]
    for form, pattern in (entry for row in read(FILE)["told"] for entry in row.items()):
        for match in _pattern(pattern).finditer(plain):
            free = all(match.end() <= other.start or other.stop <= match.start() for other in taken)
            if free and (claim := _claim(form, match, [*before, *made], spoken)) is not None:
                taken.append(range(*match.span()))
                made.append(claim)
    made.sort(key=lambda claim: sentence.find(claim.value))
    instead = _instead(sentence, [*before, *made])
    if instead is not None:
        yield from (claim for claim in made if claim.subject != instead.subject)
        yield instead
    elif made:
        yield from made
    elif corrects and (bare := _bare(sentence, before)) is not None:
        yield bare


def _claim(form: str, match: re.Match[str], before: Sequence[Claim], spoken: Sequence[Path]) -> Claim | None:
    value, groups = _value(match["v"]), match.groupdict()
    if not value or _named("denied").match(value):
        return None
    if form == "moved":
        form, value = "home", re.sub(r"^(?:into|to) ", "in ", value)
    kind, _, pronoun = form.partition("_")
    if pronoun == "pronoun":
        path = _last_meant(groups["p"], [*(claim.path for claim in before), *spoken])
        return Claim(path, kind, value) if path and not _named("object").match(value) else None
    path = _path(groups.get("x") or "")
    if form == "has_of":
        return Claim((*path, groups["y"]), "called", value)
    if form == "has_when":
        noun, *rest = re.split(r"\s+(?=(?:with|for|about|at)\b)", path[-1], maxsplit=1)
        known = noun.casefold() in words("not_had")
        return None if known else Claim((*path[:-1], noun), "is", " ".join((*rest, value)))
    if form == "has":
        kind = "" if any(one.path == path for one in before) or _head(path[-1]) in words("not_had") else "has"
    elif form == "named":
        nation = _named("nation").fullmatch(value)
        kind = "" if _head(value) in words("unnamed") else "nationality" if nation else "name"
    elif form == "is":
        kind = _being(path, value)
    elif form == "job":
        kind = "" if _head(value) in words("unkind") else form
    elif form in ("likes", "dislikes"):
        kind = "" if _named("object").match(value) else form
    return Claim(path, kind, value) if kind else None


def _being(path: Path, value: str) -> str:
    """The kind of claim that "my X is VALUE" is; empty for none."""
    vain = not path or path[-1].casefold() in ("name", "turn", "fault", "pleasure") or _head(value) in words("unkind")
    if vain or value.startswith(("from ", "called ")):
        return ""
    if not _is_living(path[-1]):
        return "is"
    if value[:1].isupper() and not _named("nation").fullmatch(value):
        return "called"
    return "job" if re.match(r"an? ", value) and not is_beast(path[-1]) else "state"


def _instead(sentence: str, before: Sequence[Claim]) -> Claim | None:
    """The correction of a claim by its old value: "not Mira but Mara"."""
    for match in (found for one in read(FILE)["instead"] for found in _pattern(one).finditer(sentence)):
        old, new = _value(match["old"]), _value(match["v"])
        for claim in reversed(before):
            if new and _same(claim.value, old) and not _same(new, old):
                return claim._replace(value=new, correction=True)
    return None


def _bare(sentence: str, before: Sequence[Claim]) -> Claim | None:
    """The correction of the last claim that fits: "sorry, it's Mara"."""
    match = _named("bare").search(sentence)
    value = _value(match["v"]) if match else ""
    named = value[:1].isupper()
    for claim in reversed(before):
        preposition = re.match(r"(?:in|at|as|near|on|an?) ", claim.value)
        bare = claim.value[preposition.end() :] if preposition else claim.value
        if value and (claim.form in ("called", "name") or bare[:1].isupper() or not named):
            return claim._replace(value=value if not (named and preposition) else preposition.group() + value)
    return None


def _path(chain: str) -> Path:
    """A chain of possessives as nouns: "best friend's dog" as ("best friend", "dog")."""
    return tuple(" ".join(part.split()) for part in re.split(r"['’]s(?:\s+|$)", chain.strip()) if part.strip())


def _value(text: str) -> str:
    value = " ".join(text.split()).strip(" \"“”'’.,;:!?")
    return value if len(value) <= _LONGEST_VALUE else ""


def _same(first: str, second: str) -> bool:
    bare = [re.sub(r"^(?:an?|the|in|at|to|as|on|called)\s+", "", value.casefold()) for value in (first, second)]
    return bare[0] == bare[1]


def in_force(claims: Iterable[Claim]) -> list[Claim]:
    """The claims that still hold: of one subject the last, of plural ones all that were not taken back."""
    kept: list[Claim] = []
    for claim in claims:
        kept = [*(one for one in kept if not replaced(one, claim)), claim]
    return kept


def replaced(old: Claim, new: Claim) -> bool:
    """Whether a claim is no longer true once another was made."""
    if old.subject.casefold() != new.subject.casefold() and (
        "told" in (old.form, new.form)
        or _form(old.form)[0] != _form(new.form)[0]
        or len(old.path) != len(new.path)
        or not all(map(_same_thing, old.path, new.path))
    ):
        return False
    if "has" in (old.form, new.form) and old.form != new.form:
        return new.form != "has"
    return new.correction or _form(new.form)[0] not in words("several") or _same(old.value, new.value)


def base_form(verb: str) -> str:
    """A verb as it is said of "you" or "I": "lives" as "live"; other words stay."""
    return substituted(verb, FILE, "base_forms")


def second_person(statement: str, name: str) -> str:
    """A sentence about somebody, as it is said to them: "Petr's dog limps." as "your dog limps."."""
    first = name.split()[0] if name.split() else name
    who = rf"(?<!\w)(?:{re.escape(name)}|{re.escape(first)}|the person|the stranger)"
    owned = re.sub(rf"{who}['’]s?(?=\s)", "your", statement, flags=re.IGNORECASE)
    verb = rf"{who}\s+((?:also|still|once|never|often)\s+)?([a-z]+)"
    return re.sub(verb, lambda m: f"you {m[1] or ''}{base_form(m[2])}", owned, flags=re.IGNORECASE)


def first_person(statement: str, name: str) -> str:
    """A sentence about somebody, as they would say it themselves: "Petr's dog limps." as "my dog limps."."""
    return re.sub(r"\byou\b", "I", re.sub(r"\byour\b", "my", second_person(statement, name)))


class Asked(NamedTuple):
    """A question about what a person has told.

    Attributes:
        path: of whom or what.
        form: of claims; "any" for whatever was told of it, "all" for all that was told.
        when: whether the time is asked at which it was told.
        name: somebody who is asked about by name; empty for none.
    """

    path: Path = ()
    form: str = "any"
    when: bool = False
    name: str = ""


def asked_in(text: str, mentioned: Sequence[Path] = ()) -> list[Asked]:
    """The questions of a text about what the speaker has told.

    Args:
        text: the speaker's words.
        mentioned: what was spoken of before, oldest first.
    """
    return [one for sentence in sentences(text) for one in _asked(" ".join(sentence.split()), mentioned)]


def _asked(sentence: str, mentioned: Sequence[Path]) -> list[Asked]:
    if when := _named("when").match(sentence):
        own = claims_in(when["rest"].strip(" ?").removeprefix("that ") + ".")
        told = [Asked(claim.path, claim.form, when=True) for claim in own]
        return told or [Asked(path, when=True) for path in mentions(when["rest"]) or mentioned[-1:]]
    embedded = _named("asks").match(sentence)
    rest = embedded["rest"] if embedded else sentence
    if _named("all").fullmatch(rest) and (embedded or "?" in sentence or "what" in rest.casefold()):
        return [Asked((), "all")]
    begins = _named("begins").match(rest)
    if not embedded and (not begins or re.search(r"\byou(?:r|rs)?\b", rest, re.IGNORECASE)):
        return []
    if not embedded and "?" not in sentence and re.match(r"\W*(?:my|is|are|do|does|was|am|have|has)\b", rest, re.I):
        return []
    if who := _named("named").match(rest):
        return [Asked(name=who["n"])]
    if pronoun := _named("pronoun").search(rest):
        meant = _last_meant(pronoun["p"] or pronoun["q"], mentioned)
        return [Asked(meant, "called")] if meant else []
    form = next((form for form, pattern in read(FILE)["asked"].items() if _pattern(pattern).search(rest)), "any")
    owned = [_path(_noun_of(match)) for match in _named("owned").finditer(rest)]
    if any(owned):
        return [_of_attribute(path, form, rest) for path in owned if path]
    if form == "any" or not re.search(r"\bi\b", rest, re.IGNORECASE):
        return []
    return [Asked((), "name" if form == "called" else form)]


def _noun_of(match: re.Match[str]) -> str:
    """The noun phrase of a question, up to the first word that belongs to none."""
    found = (match["x"] or match["m"] or match["k"] or match["h"]).split()
    return " ".join(takewhile(lambda word: word.casefold() not in words("no_noun"), found))


def _of_attribute(path: Path, form: str, rest: str) -> Asked:
    """The question for a thing, or for what is known of its owner: "my sister's name", "my job"."""
    attribute = read(FILE)["attributes"].get(path[-1].casefold())
    if attribute == form:
        return Asked(path[:-1], "name" if form == "called" and len(path) == 1 else form)
    return Asked(path, "any" if _named("yes_or_no").match(rest) else form)


def claim_of(fact: KnownFact, person: str) -> Claim:
    """A fact of a prompt as a claim: by its statement, else by its quote, else as it is told."""
    teller = fact.source or person
    for text in (first_person(fact.statement, teller), fact.quote):
        found = _claims_alone(text if text.endswith((".", "!")) else f"{text}.")
        same = [claim for claim in found if claim.subject.casefold() == fact.subject.casefold()]
        if found:
            return (same or found)[0]._replace(correction=False)
    subject = fact.subject or fact.statement
    return Claim((), "told", fact.statement, fact.quote, told_of=subject, teller=teller)


def told_in(known: Known) -> tuple[list[tuple[Claim, str]], list[Claim]]:
    """The facts of the prompt with when they were told, and what the person tells in the talk, each in order."""
    before = [(claim_of(fact, known.person), fact.when) for fact in known.facts if fact.about != "agent"]
    mentioned = [claim.path for claim, _ in before if claim.path]
    told: list[Claim] = []
    for line in known.lines:
        if not line.own:
            told += claims_in(line.text, [*(claim for claim, _ in before), *told], mentioned)
        mentioned += mentions(line.text)
    return before, told


def told_by(known: Known) -> list[tuple[Claim, str]]:
    """All that the prompt tells of what the person has told, oldest first, with when it was told.

    In words; empty for in this talk. What was taken back is missing.
    """
    told, new = told_in(known)
    for claim in new:  # lines of an earlier talk, which facts date, say the same
        last = next((one for one, _ in reversed(told) if replaced(one, claim)), None)
        if last is None or (last.form, last.value) != (claim.form, claim.value):
            told.append((claim, ""))
    left = {id(claim) for claim in in_force(claim for claim, _ in told)}
    return [one for one in told if id(one[0]) in left]


def spoken_of(known: Known) -> list[Path]:
    """What was spoken of, oldest first, by facts and lines before the last one."""
    facts = [claim.path for fact in known.facts if (claim := claim_of(fact, known.person)).path]
    return facts + [path for line in known.lines[:-1] for path in mentions(line.text)]


def answers_to(asked: Asked, told: Sequence[tuple[Claim, str]], person: str = STRANGER) -> list[tuple[Claim, str]]:
    """What answers a question, best last; empty if it was never told."""
    if asked.form == "all":
        return list(told)
    if asked.name:
        return [one for one in told if asked.name.casefold() in re.findall(r"[\w-]+", one[0].value.casefold())]
    exact = [one for one in told if _fits(asked, one[0])]
    return exact or [one for one in told if one[0].form == "told" and _shares(asked, one[0], person)]


def _fits(asked: Asked, claim: Claim) -> bool:
    if claim.form == "told":
        return False
    if len(asked.path) != len(claim.path):  # asked by a noun and told by a verb, or the other way round: "home town"
        longer, form = (asked.path, claim.form) if asked.path else (claim.path, asked.form)
        named = (asked.form if asked.path else claim.form) in ("any", "is")
        return named and len(longer) == 1 and _same_thing(longer[0], _form(form)[0])
    for noun, told in zip(asked.path, claim.path, strict=True):  # "dog" may be asked for, and "old dog" told
        if not _same_thing(noun, " ".join(told.split()[-len(noun.split()) :])):
            return False
    kinds = {"called": ("called", "is"), "job": ("job", "works")}
    return asked.form == "any" or claim.form in kinds.get(asked.form, (asked.form,))


def _shares(asked: Asked, claim: Claim, person: str) -> bool:
    """Whether a statement that no pattern fits is about what is asked."""

    def plain(text: str) -> set[str]:
        return {one_word(word) for word in re.findall(r"[\w-]+", text.replace("'s", ""))}

    subject = plain(claim.subject) - plain(f"{person} {claim.teller}")
    wanted = plain(" ".join(asked.path))
    cues = plain(read(FILE)["cues"].get(asked.form, _form(asked.form)[0]))
    if not wanted:
        return bool(subject) and bool(cues) and subject <= cues
    whole = subject | plain(claim.value)
    return wanted <= whole and bool(wanted & subject) and (asked.form == "any" or not cues or bool(cues & whole))
