"""Invented people, put together from word material: names, places, lives, tempers and habits (the YAML files).

What is fixed in the request holds; the rest is chosen to go with it. Everybody walks the same decks of phrases, which
the seed shuffles, and the person's number is the place in the deck, so that no phrase comes twice before its deck is
used up.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import accumulate
from random import Random
from typing import Any, Final, NamedTuple

from ...prompts.rendering import one_line
from ...state.persona import Persona, derived_level
from ...state.plain_text import folded
from .material import (
    capitalised,
    deck,
    filled,
    generator,
    lines,
    matching,
    permutation,
    read,
    slots,
    table,
    turned,
    with_article,
    word_list,
)
from .prompt import Answer, Prompt, plain

FILE: Final = "persona_lives"
"""The file of the material."""
_ADULT: Final = 18
_YOUNGEST, _OLDEST = 8, 88
_OLDER: Final = 50
"""Years from which on first names are those of older people."""
_ELSEWHERE: Final = 0.12
"""Part of a group from one place whose names come from another part of the world."""
_TRAINED: Final = re.compile(r"vocation|apprentic|trade", re.IGNORECASE)


@dataclass(frozen=True)
class Request:
    """Who is to be invented.

    Attributes:
        about: who they all are, in a sentence; may be empty.
        number: which one of them, from 1.
        fixed: characteristic in lower case → value.
        others: those made before.
        again: what was wrong with earlier answers; empty where there were none.
    """

    about: str = ""
    number: int = 1
    fixed: Mapping[str, str] = field(default_factory=dict)
    others: Sequence[Persona] = ()
    again: tuple[str, ...] = ()

    @property
    def shift(self) -> int:
        """How far the decks are moved on, so that another answer is another one."""
        return 7 * len(self.again) + sum(map(len, self.again))


def request_of(prompt: Prompt) -> Request:
    """Who is to be invented; what was said after the task counts as what was wrong with earlier answers."""
    values = prompt.need(prompt.values, "request")
    wrong = (one_line(f"{problem.kind}: {problem.value} ({problem.other})") for problem in values["problems"])
    fixed = {plain(name).lower(): plain(value) for name, value in values["fixed"]}
    return Request(plain(values["about"]), values["number"], fixed, values["others"], (*wrong, *prompt.later))


def persona_generation(prompt: Prompt) -> Answer:
    """The task of this name."""
    return persona(request_of(prompt), prompt.seed)


def persona(request: Request, seed: int) -> Answer:
    """An invented person: what is asked for by `persona_generation.jinja`, without what is fixed.

    Args:
        request: who is asked for.
        seed: the same seed and request give the same person.
    """
    return _Person(request, seed).told()


def _match(pattern: str, text: str) -> bool:
    return matching(pattern).search(text) is not None


def _span(ages: str) -> tuple[int, int]:
    low, _, high = ages.partition("-")
    return int(low), int(high)


class Trade(NamedTuple):
    """An occupation.

    Attributes:
        title: as a noun without article.
        education: where it is learnt.
        youngest: years at which somebody may have it.
        money: "low", "mid" or "high".
        domain: a key of `work` in the material; empty where none fits.
    """

    title: str = ""
    education: str = "secondary school"
    youngest: int = 18
    money: str = "mid"
    domain: str = ""


@cache
def trades() -> tuple[Trade, ...]:
    """All occupations of the material."""
    rows = [(domain, row) for domain in read(FILE)["work"] for row in table(FILE, "work", domain, "titles")]
    return tuple(Trade(title, learnt, int(age), money, domain) for domain, (title, learnt, age, money) in rows)


def _level(education: str) -> int:
    """The knowledge level that an education stands for, 1 to 5."""
    derived = derived_level(Persona(name="x", description="x", characteristics={"education": education}))
    return next((level for level, words in read(FILE)["levels"].items() if _match(words, education)), derived)


def _entry_named(key: str, text: str) -> str:
    """The first entry of the material whose pattern a text matches; empty for none."""
    entries = read(FILE)[key].items()
    return next((str(name) for name, entry in entries if "match" in entry and _match(entry["match"], text)), "")


def _status_of(occupation: str) -> str:
    """What kind of life an occupation stands for; empty where there is none."""
    found = _entry_named("status", occupation)
    teaches = found == "pupil" and "teacher" in occupation.casefold()
    return "working" if occupation and (teaches or not found) else found


def _occupation(other: Persona) -> str:
    return other.characteristic("occupation") or ""


def _stage_at(age: int) -> str:
    return "adult" if age >= _ADULT else "teen" if age > 12 else "child"


@lru_cache(maxsize=256)
def _work_named(about: str) -> tuple[frozenset[str], frozenset[str]]:
    """Occupations that a sentence names, also in the plural and by their kind ("drivers"), and kinds of work."""
    titles = {t.title for t in trades() if _match(rf"{re.escape(t.title)}s?\b", about)}
    rest = about
    for title in titles:
        rest = re.sub(rf"\b{re.escape(title)}s?\b", "", rest, flags=re.IGNORECASE)
    spoken = set(re.findall(r"[\w']+", rest.casefold())) & {f"{kind}s" for kind in word_list("kinds", FILE)}
    titles |= {t.title for t in trades() if f"{t.title.split()[-1]}s" in spoken}
    domains = {t.domain for t in trades() if t.title in titles}
    domains |= {str(key) for key, entry in read(FILE)["work"].items() if _match(rf"(?:{entry['about']})\b", about)}
    return frozenset(titles), frozenset(domains)


def _noun_in(occupation: str) -> str:
    """An occupation as a noun without article; empty where it names no trade."""
    text = re.sub(read(FILE)["before_trade"], "", occupation.strip(), flags=re.IGNORECASE)
    text = re.split(r"[,;:(/]| at | for | and | who | with | in | from ", text)[0].strip(" .")
    usable = re.fullmatch(r"[^\W\d_][\w'’-]*(?: [\w'’-]+){0,3}", text)
    if not usable or _status_of(text) != "working" or re.fullmatch(read(FILE)["no_trade"], text.casefold()):
        return ""
    parts = text.casefold().split()
    if parts[-1] in word_list("not_occupations") or parts[0] in ("works", "working", "runs"):
        return ""
    return text if text.split()[0].isupper() else text[:1].lower() + text[1:]


def _fits(trade: Trade, education: str) -> bool:
    """Whether a trade is learnt by such an education."""
    level, trained = _level(education), bool(_TRAINED.search(education))
    return _level(trade.education) == level and (level != 3 or trained == bool(_TRAINED.search(trade.education)))


def _towns(part: str) -> list[str]:
    return [town for size in read(FILE)["sizes"] for town in read("persona_names")[part][size]]


def _town_in(text: str, part: str) -> str:
    """The first town of a part of the world that a text names; empty for none."""
    return next((town for town in _towns(part) if town.partition(",")[0] in text), "")


def _part_of_world(text: str) -> str:
    parts = read("persona_names").items()
    return next((str(part) for part, e in parts if _match(e["match"], text) or _town_in(text, part)), "")


def _of_age(key: str, age: int) -> list[str]:
    """The entries of a deck `from-to | entry` that fit an age; those for the nearest age where none does."""
    rows = [(_span(ages), entry) for ages, entry in table(FILE, key)]
    found = [(max(0, low - age, age - high), entry) for (low, high), entry in rows]
    nearest = min(distance for distance, _ in found)
    return [entry for distance, entry in found if distance == nearest]


class _Trait(NamedTuple):
    """A trait of character; it excludes those with which it shares one of its `ends`."""

    words: str
    ends: str
    who: str
    sentence: str
    voice: str


class _Person:
    """Somebody who is being invented.

    Attributes:
        age: in years.
        status: "working", "retired", "student", "pupil", "kindergarten", "apprentice", "jobless" or "home".
        occupation: as a characteristic.
        education: as a characteristic.
        trade: what they do or did; without a title where that cannot be said.
        form: the class of a pupil.
        subject: what a student studies.
        kind: which pronouns go with the gender: "she", "he" or "they".
    """

    def __init__(self, request: Request, seed: int) -> None:
        self.request, self.seed, self.about = request, seed, request.about
        self.titles, self.domains = _work_named(self.about)
        self.group: Mapping[str, Any] = read(FILE)["groups"].get(_entry_named("groups", self.about), {})
        self.occupation, self.education = (request.fixed.get(name, "") for name in ("occupation", "education"))
        rng = self.draw("life")
        self.age = self._age(rng)
        self.status = _status_of(self.occupation)
        if not self.status:
            usual = self._usual_status(rng)
            self.status = usual if usual in self.group.get("who", usual).split() else "working"
        if self.status == "student" and self.occupation and self.age < _ADULT:
            self.status = "pupil"
        if self.status == "pupil" and self.age < 6:
            self.status = "kindergarten"
        self.trade, self.form, self.subject = Trade(), "", ""
        self._live(rng)
        self.stage, self.at_school = _stage_at(self.age), self.status in ("pupil", "kindergarten")
        self.residence, part = self._origin()
        self.gender, self.kind = self._gender()
        self.name = self._name(part)

    def draw(self, about: str, *key: object) -> Random:
        """The random numbers of one decision; another answer has others."""
        return generator(self.seed, about, *key, self.about, self.request.number, self.request.again)

    def order(self, label: str, size: int, step: int | None = None) -> Sequence[int]:
        """The numbers below `size` in this person's order: the group's decks, from their own place on."""
        start = (self.request.number - 1 if step is None else step) + self.request.shift
        return turned(permutation(size, self.seed, label, self.about), start)

    def take(self, label: str, phrases: Sequence[str], step: int | None = None) -> str:
        """The first phrase whose slots have values, filled."""
        due = (phrases[index] for index in self.order(label, len(phrases), step))
        return filled(next(phrase for phrase in due if slots(phrase) <= self.values.keys()), self.values)

    def _age(self, rng: Random) -> int:
        """The age: as it is fixed, else one that goes with all that is known, else any."""
        if fixed := re.search(r"\d{1,3}", self.request.fixed.get("age", "")):
            return int(fixed.group())
        low, high, known = _YOUNGEST, _OLDEST, self._ages_known()
        for least, most in known:
            if max(low, least) <= min(high, most):
                low, high = max(low, least), min(high, most)
        # One of ten equal parts for each of ten people, so that a small group is mixed.
        tenths = permutation(10, self.seed, "ages", self.about)
        part = (tenths[(self.request.number - 1) % 10] + rng.random()) / 10
        if known:
            return low + int(part * (high - low + 1))
        shares = table(FILE, "shares")
        upto = list(accumulate(int(share) for share, _ in shares))
        return rng.randint(*_span(shares[bisect_left(upto, 100 * part)][1]))

    def _ages_known(self) -> list[tuple[int, int]]:
        """Ages from and to, the most binding first."""
        found = []
        if status := _status_of(self.occupation):
            low, high = _span(read(FILE)["status"][status]["ages"])
            if status == "working":
                known = next((t.youngest + 1 for t in trades() if t.title == self.occupation.casefold()), low)
                low = 42 if _match(read(FILE)["senior"], self.occupation) else known
            found.append((low, high))
        if self.education:
            least = {5: 29, 4: 24, 3: 20}.get(_level(self.education), 18)
            found.append((7, 18) if _match(read(FILE)["at_school"], self.education) else (least, _OLDEST))
        years = re.search(r"\b(\d{1,2})\s*(?:-|–|to|and)\s*(\d{1,2})\b(?!\s*%)", self.about)
        if years and int(years[1]) < int(years[2]):
            found.append((int(years[1]), int(years[2])))
        if "ages" in self.group:
            found.append(_span(self.group["ages"]))
        aged = (_span(ages) for pattern, ages in read(FILE)["ages"].items() if _match(pattern, self.about))
        # Teachers of a primary school are no children.
        found += [(low, high) for low, high in aged if low > 18 or not self.domains][:1]
        return found or ([(23, 64)] if self.domains else [])

    def _usual_status(self, rng: Random) -> str:
        """What somebody of this age and education may do where nobody says."""
        age, about, level = self.age, self.about, _level(self.education) if self.education else 0
        trained = bool(_TRAINED.search(self.education))
        low, statuses = next(row for row in read(FILE)["usual"] if age >= row[0])
        usual = generator("usual", rng.random()).choice(statuses.split())
        if low == 17:
            return "apprentice" if trained else "pupil" if self.education else usual
        if low >= 19 and _match("retire|pensioner", about):
            return "retired" if age > 55 else "working"
        if 19 <= age < 26 and (_match("student|undergraduate", about) or (level >= 4 and age < 24)):
            return "student"
        may_study = not trained and level != 2 and not self.domains
        return "working" if (usual == "student" and not may_study) or (self.domains and 19 <= age <= 66) else usual

    def _live(self, rng: Random) -> None:
        """What this person does and has learnt; what is fixed holds, whatever it is."""
        classes = read(FILE)["classes"].split()
        if self.status == "kindergarten":
            does, learns = "kindergarten child", "kindergarten"
        elif self.status == "pupil" and self.age < 15:
            self.form = f"{classes[self.age - 6]} class"
            does, learns = "primary school pupil", f"{self.form} of primary school"
        elif self.status == "pupil":
            does, learns = "secondary school pupil", f"{classes[min(3, self.age - 15)]} year of secondary school"
            self.form = learns
        elif self.status == "student":
            named = re.search(r"(?:student|studies|studying)(?: of| in)? (\w[\w ]+)", self.occupation, re.IGNORECASE)
            subjects = deck(FILE, "subjects")
            place = (self.request.number - 1 + self.request.shift) % len(subjects)
            self.subject = named[1] if named else subjects[permutation(len(subjects), self.seed, "subjects")[place]]
            does, learns = f"student of {self.subject}", "secondary school"
        else:
            self.trade = self._trade(rng)
            does = read(FILE)["status"][self.status].get("worded", "{title}").format(title=self.trade.title)
            learns = "vocational school" if self.status == "apprentice" else self.trade.education
        self.occupation, self.education = self.occupation or does, self.education or learns

    def _trade(self, rng: Random) -> Trade:
        """What somebody does, did or learns: what their occupation says, else something that fits all that is known."""
        occupation, others = self.occupation, self.request.others
        said = _noun_in(occupation)
        known = next((t for t in trades() if t.title in said.casefold()), None) if said else None
        domain = known.domain if known else _entry_named("work", occupation)
        if said:
            like = known or next((t for t in trades() if t.domain == domain), None)
            studied = re.search(r"(?:ist|naut|ian|ect|or|analyst|manager|consultant|director)$", said.casefold())
            learnt = like.education if like else "bachelor's degree" if studied else "vocational school"
            learnt = "doctorate" if "professor" in said.casefold() else learnt
            return Trade(said, learnt, money=known.money if known else "mid", domain=domain)
        no_trade = re.fullmatch(read(FILE)["no_trade"], occupation.casefold())
        if occupation and not domain and self.status == "working" and not no_trade:
            return Trade()
        taken = {_entry_named("work", _occupation(other)) for other in others[-6:]}
        rules: list[Callable[[Trade], bool]] = [
            lambda t: t.domain == domain or not domain,
            lambda t: t.domain in self.domains or not self.domains,
            lambda t: t.title in self.titles or not self.titles,
            lambda t: not self.education or _fits(t, self.education),
            lambda t: t.youngest <= self.age,
            lambda t: t.domain != "technology" or self.status != "retired" or self.age < 70,
            lambda t: self.status != "apprentice" or t.education == "vocational school",
            lambda t: not any(t.title in _occupation(other) for other in others),
            lambda t: t.domain not in taken,
        ]
        left = list(trades())
        for rule in rules:
            left = [trade for trade in left if rule(trade)] or left
        return rng.choice(left)

    def _origin(self) -> tuple[str, str]:
        """Where this person lives, and which part of the world their name is from.

        A group that a sentence describes lives in one place; people of whom nothing is said come from everywhere.
        """
        fixed, about, parts = self.request.fixed.get("residence", ""), self.about, sorted(read("persona_names"))
        named, rng = _part_of_world(fixed) or _part_of_world(about), self.draw("origin")
        if not about and not fixed:
            place = (self.request.number - 1 + self.request.shift) % len(parts)
            main = names = parts[permutation(len(parts), self.seed, "parts")[place]]
            return self._residence(main, rng), names
        # Somebody from a place that is not in the material gets a name from where most of the material is read.
        known = re.search(read(FILE)["named"], about) or fixed[:1].isupper()
        main = named or ("british" if known else generator(self.seed, "main", about).choice(parts))
        names = rng.choice(parts) if not named and rng.random() < _ELSEWHERE else main
        return fixed or self._residence(main, generator(self.seed, "place", about)), names

    def _residence(self, part: str, rng: Random) -> str:
        """A town of a part of the world; the very one that the sentence names, where it names one."""
        entry, found = read("persona_names")[part], _town_in(self.about, part)
        if not found and (elsewhere := re.search(read(FILE)["named"], self.about)) and not _part_of_world(elsewhere[1]):
            return str(elsewhere[1])
        size = next((size for size, pattern in read(FILE)["sizes"].items() if _match(pattern, self.about)), None)
        return f"{found or rng.choice(entry[size] if size else _towns(part))}, {entry['country']}"

    def _gender(self) -> tuple[str, str]:
        """The gender as a characteristic, and which pronouns go with it."""
        if fixed := self.request.fixed.get("gender", ""):
            words = read(FILE)["genders"]
            return fixed, next((kind for kind, known in words.items() if fixed.casefold() in known.split()), "they")
        women, men = (_match(read(FILE)[one], self.about) for one in ("women", "men"))
        kind = ("she", "he")[permutation(2, self.seed, "gender", self.about)[self.request.number % 2]]
        if women != men:
            kind = "she" if women else "he"
        elif 16 <= self.age < 45 and generator(self.seed, "gender", self.about, self.request.number).random() < 0.04:
            return "non-binary", "they"
        return {"she": ("girl", "woman"), "he": ("boy", "man")}[kind][self.age >= _ADULT], kind

    def _name(self, part: str) -> str:
        """A name that nobody made before has; first name and surname of their own where there are enough."""
        entry = read("persona_names")[part]
        firsts = entry["neutral"].split()
        if self.kind != "they":
            older, younger = entry["women" if self.kind == "she" else "men"]
            firsts = (older if self.age >= _OLDER else younger).split()
        pairs = [pair.partition("/") for pair in entry["surnames"].split()]
        surnames = [(women or men) if self.kind == "she" else men for men, _, women in pairs]
        rng = self.draw("name", part, self.kind)
        whole = {folded(other.name) for other in self.request.others}
        taken = {word for name in whole for word in name.split()}
        rng.shuffle(firsts)
        rng.shuffle(surnames)
        names = [(first, last) for first in firsts for last in surnames]
        free = [pair for pair in names if folded(" ".join(pair)) not in whole and pair[0] != pair[1]]

        def known(pair: tuple[str, str]) -> tuple[int, bool]:
            first, last = (folded(part) in taken for part in pair)
            return first + last, first

        name: tuple[str, str] = min(free or names, key=known)
        return " ".join(name)

    def _traits(self, rng: Random) -> list[_Trait]:
        """Three to five traits that do not exclude each other, as nobody made before has them."""
        known = [_Trait(*row) for row in table(FILE, "traits")]
        known = [trait for trait in known if self.stage == "adult" or trait.who != "adult"]
        shown = Counter(other.traits[0] for other in self.request.others)
        first = min((known[place] for place in self.order("traits", len(known))), key=lambda trait: shown[trait.words])
        others = {frozenset(other.traits) for other in self.request.others}
        while True:
            chosen, number = [first], rng.choice((3, 4, 4, 5))
            for trait in rng.sample(known, len(known)):
                ends = {end for other in chosen for end in other.ends.split()}
                if len(chosen) < number and ends.isdisjoint(trait.ends.split()):
                    chosen.append(trait)
            if frozenset(trait.words for trait in chosen) not in others:
                return chosen

    def _slots(self, rng: Random) -> dict[str, str]:
        """What the slots of phrases are filled with; where there is nothing to say, the slot has no value."""
        place, title, age = self.residence.partition(",")[0].strip(), self.trade.title, self.age
        read_out = re.match(r"[AEFHILMNORSX][A-Z]{1,3}\b", title)  # letters that are read out: an HR manager
        noun = f"an {title}" if read_out else with_article(title) if title else ""
        values = {
            "first": self.name.split()[0],
            "noun": noun,
            "title": title,
            "place": place if place[:1].isupper() else "",
            "age": read(FILE)["numbers"].split()[age - 4] if 4 <= age < 20 else str(age),
            "years": str(max(12, min(age - 25, rng.randint(28, 41)))),
            "form": self.form,
            "subject": self.subject,
        }
        return {**read(FILE)["pronouns"][self.kind], **{slot: value for slot, value in values.items() if value}}

    def told(self) -> Answer:
        """The answer that tells of this person."""
        rng = self.draw("persona")
        self.values = self._slots(rng)
        traits = self._traits(rng)
        hobbies = _of_age("hobbies", self.age)
        days, money, opening = self._decks()
        given = {
            "age": self.age,
            "gender": self.gender,
            "residence": self.residence,
            "occupation": self.occupation,
            "education": self.education,
            "family": self._family(),
            "hobbies": ", ".join(rng.sample(hobbies, min(len(hobbies), 2 if self.age < _ADULT else 3))),
            "lifestyle": self.take("days", days),
            "financial_status": self.take("money", money),
        }
        alike = sum(self.stage == _stage_at(other.age or 0) for other in self.request.others)
        habit = self.take("habits", deck(FILE, "habits", self.stage), alike)
        rest = [habit, filled(traits[0].sentence, self.values), self._wish(alike)]
        rng.shuffle(rest)
        return {
            "name": self.name,
            **{key: value for key, value in given.items() if key.replace("_", " ") not in self.request.fixed},
            "traits": [trait.words for trait in traits],
            "speaking_style": capitalised(f"{traits[0].voice}; {traits[1].voice}."),
            "description": " ".join((self._opening(opening), *rest)),
        }

    def _family(self) -> str:
        low, high = _span(self.group.get("ages", "0-0"))
        if "family" in self.group and low <= self.age <= high:
            return self.take("group's family", lines(self.group["family"]))
        fitting = _of_age("family", self.age)
        if self.status == "home":
            fitting = [line for line in fitting if _match("married|partner", line)] or fitting
        return self.take(f"family {fitting[0]}", fitting)

    def _decks(self) -> list[tuple[str, ...]]:
        """The decks of their days, of what they live on, and of the first sentence about them."""
        life = f"working_{self.trade.money}" if self.status == "working" else self.status
        life = "teen_pupil" if self.at_school and self.age > 12 else life
        days, money, opening = (deck(FILE, *path.split()) for path in read(FILE)["decks"][life])
        if self.status == "retired" and self.trade.money == "low":
            money = tuple(line for line in money if not line.startswith(("a good", "a fair")))
        return [days, money, opening]

    def _opening(self, phrases: Sequence[str]) -> str:
        """The first sentence: what this person does."""
        others = [_occupation(other) for other in self.request.others]
        alike = sum(self.status == _status_of(other) for other in others)
        domain = self.trade.domain
        if self.age < 15 and not self.at_school:
            return self.take("pupils", deck(FILE, "pupils", "lines"))  # whatever the quotas say of a child's work
        if self.status != "working":
            return self.take("pupils" if self.status == "pupil" else self.status, phrases, alike)
        if domain and self.trade.title:
            alike = sum(domain == _entry_named("work", other) for other in others)
            return self.take(f"work {domain}", deck(FILE, "work", domain, "lines"), alike)
        return self.take("status", deck(FILE, "status", "noun", "lines") if self.trade.title else phrases)

    def _wish(self, alike: int) -> str:
        """What belonging to the group looks like, while there are lines for it; else what this person wishes for."""
        belonging = lines(self.group.get("lines", ""))
        belongs = self.status in self.group.get("who", self.status).split() and self.stage != "child"
        if self.request.number <= len(belonging) and belongs:
            return self.take("group", belonging)
        return self.take("wishes", deck(FILE, "wishes", self.stage), alike)
