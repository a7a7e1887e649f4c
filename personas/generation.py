"""Personas that a model makes one after another, so that each can be made different from the previous ones."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Final, Literal

import numpy as np
from langchain_core.runnables import RunnableLambda
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, StringConstraints, create_model

from ..memory.lexical import LexicalEmbeddings
from ..models.asking import Answer, ask
from ..models.failures import TransientModelError
from ..models.naming import parse_model_name
from ..models.registry import model_name, ready_model
from ..state.errors import InputError, ModelError
from ..state.minds.addressing import first_name
from ..state.minds.mind import Call
from ..state.persona import Persona
from ..state.plain_text import folded, one_line
from ..state.settings import Settings
from .quotas import OLDEST, YOUNGEST, Quotas, persons

MOST_NAME: Final = 80
LEAST_TRAITS: Final = 3
MOST_TRAITS: Final = 5

_NAME: Final = re.compile(r"[^\W\d_][\w.'’ʼ‘·-]*(?: [^\W\d_][\w.'’ʼ‘·-]*)*", re.UNICODE)
_JOINED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]{2,}")


def _flat(value: Any) -> Any:
    """Text on one line; some models list what they were asked to write with commas."""
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        value = ", ".join(value)
    return one_line(value) if isinstance(value, str) else value


def _is_name(value: str) -> str:
    bare = "".join(c for c in unicodedata.normalize("NFD", value) if not unicodedata.category(c).startswith("M"))
    if not _NAME.fullmatch(bare) or any(c.isdigit() for c in bare):
        raise ValueError("a name has letters, spaces, hyphens and apostrophes and nothing else")
    if " " not in bare and not _JOINED.fullmatch(bare):
        raise ValueError("give name and surname")
    return value


def _all_different(values: list[str]) -> list[str]:
    if len({folded(value) for value in values}) < len(values):
        raise ValueError("a trait is given twice")
    return values


def _text(least: int, most: int) -> Any:
    return Annotated[str, StringConstraints(min_length=least, max_length=most), BeforeValidator(_flat)]


_Value = _text(1, 300)
_Years = Annotated[int, Field(ge=YOUNGEST, le=OLDEST, description="in years")]
_Trait = Annotated[str, StringConstraints(min_length=1, max_length=120), BeforeValidator(_flat)]
_Traits = Annotated[
    list[_Trait], Field(min_length=LEAST_TRAITS, max_length=MOST_TRAITS), AfterValidator(_all_different)
]

CHARACTERISTICS: Final[Mapping[str, tuple[Any, str]]] = {
    "age": (_Years, "in years"),
    "gender": (_Value, "for example woman, man, non-binary, girl, boy"),
    "residence": (_Value, "town and country"),
    "occupation": (_Value, "what this person does; retired and from what, or pupil of which school"),
    "education": (_Value, "the highest finished, or the class a pupil is in"),
    "family": (_Value, "with whom this person lives, and the nearest relatives"),
    "hobbies": (_Value, "two or three, with commas in between"),
    "lifestyle": (_Value, "what an ordinary day or week looks like"),
    "financial status": (_Value, "what this person lives on"),
}
"""Characteristics that every persona gets: name → type and what it should hold."""

_FIRST: Final = {"name": (Annotated[_text(1, MOST_NAME), AfterValidator(_is_name)], "name and surname")}
_LAST: Final = {
    "traits": (_Traits, "traits of character, each in a few words; not only good ones"),
    "speaking_style": (_text(10, 400), "how this person talks, one sentence"),
    "description": (_text(80, 2000), "who this is: one paragraph of two to five sentences"),
}


@lru_cache(maxsize=64)
def answer_schema(fixed: frozenset[str]) -> type[BaseModel]:
    """The schema of an answer.

    Args:
        fixed: names of the fixed characteristics, in lower case; the answer has no fields for them.
    """
    asked = {field(name): about for name, about in CHARACTERISTICS.items() if name not in fixed}
    fields: dict[str, Any] = {
        name: (kind, Field(description=what)) for name, (kind, what) in {**_FIRST, **asked, **_LAST}.items()
    }
    return create_model("GeneratedPersona", __doc__="An invented person.", **fields)


def field(characteristic: str) -> str:
    """The name of a characteristic's field in the answer."""
    return characteristic.replace(" ", "_")


def persona_of(answer: BaseModel, fixed: Mapping[str, str]) -> Persona:
    """The persona that an answer and the fixed characteristics make together."""
    given = answer.model_dump()
    usual = {name: fixed.get(name, given.get(field(name))) for name in CHARACTERISTICS}
    return Persona(
        name=given["name"],
        description=given["description"],
        characteristics=usual | {name: value for name, value in fixed.items() if name not in usual},
        traits=given["traits"],
        speaking_style=given["speaking_style"],
    )


MOST: Final = 100
"""The most personas that one generation makes."""
LONGEST_ABOUT: Final = 1000
"""The most characters of the sentence that describes them."""
TIMES: Final = 3
"""How often one persona is asked for until it differs from the others."""

_MODULE: Final = "persona_generation"
_ATTEMPTS: Final = 4
"""Attempts of one request that fails for a transient reason; about 1, 2 and 4 seconds lie in between."""


@dataclass(frozen=True)
class Generated:
    """A generated persona.

    Attributes:
        persona: the persona.
        fixed: names of the characteristics that were fixed.
        calls: the requests that it took.
    """

    persona: Persona
    fixed: tuple[str, ...]
    calls: tuple[Call, ...]


def model_asked(settings: Settings) -> str:
    """The name of the model that makes personas."""
    return parse_model_name(model_name(settings, "", _MODULE)).written


def check_request(number: int, about: str) -> None:
    """Refuse an impossible request.

    Raises:
        InputError: the number is outside 1 to `MOST`; the sentence is too long.
    """
    if not 1 <= number <= MOST:
        raise InputError(f"{number} personas cannot be made", where="--n", remedy=f"Ask for 1 to {MOST}.")
    if len(about) > LONGEST_ABOUT:
        what = f"the sentence is too long: {len(about):,} characters"
        raise InputError(what, where="--about", remedy=f"Say it in at most {LONGEST_ABOUT:,}.")


async def generate(
    number: int,
    settings: Settings,
    *,
    about: str = "",
    quotas: Quotas | None = None,
    made: Callable[[Persona], None] = lambda _: None,
) -> list[Generated]:
    """Make personas; all of them, or an error.

    Args:
        number: how many, 1 to `MOST`.
        settings: which model is asked, and the seed, which also decides who gets which part of a quota.
        about: a sentence that describes them; no restriction if it is empty.
        quotas: shares of characteristics, which the personas will have exactly.
        made: called with each persona as soon as it is made.

    Raises:
        InputError: the number, the sentence or the model's name is wrong.
        ModelError: the model fails permanently, answers wrongly twice, or repeats the same persona.
    """
    check_request(number, about)
    slots = persons(quotas, number, settings.seed)
    await ready_model(model_asked(settings), settings)
    done: list[Generated] = []
    for fixed in slots:
        others = [generated.persona for generated in done]
        done.append(await _unlike(others, fixed, number, one_line(about), settings))
        made(done[-1].persona)
    return done


async def _unlike(
    others: Sequence[Persona], fixed: Mapping[str, str], total: int, about: str, settings: Settings
) -> Generated:
    """One more persona, asked for until nothing is wrong with it."""
    schema = answer_schema(frozenset(fixed))
    asked = tuple((field(name), what) for name, (_, what) in CHARACTERISTICS.items() if name not in fixed)
    wrong: list[Problem] = []
    calls: list[Call] = []

    async def once(_: object) -> Answer[BaseModel]:
        group = {"about": about, "number": len(others) + 1, "total": total, "others": others}
        values = {**group, "fixed": tuple(fixed.items()), "asked": asked, "problems": wrong}
        return await ask(_MODULE, schema, settings=settings, agent="", module=_MODULE, turn=0, **values)

    # A request that fails for a transient reason is made again, a little later each time.
    transient = (TransientModelError,)
    patient = RunnableLambda(once).with_retry(retry_if_exception_type=transient, stop_after_attempt=_ATTEMPTS)
    for _ in range(TIMES):
        answer = await patient.ainvoke(None)
        calls.append(answer.call)
        persona = persona_of(answer.value, fixed)
        wrong = problems(persona, others)
        if not wrong:
            return Generated(persona, tuple(fixed), tuple(calls))
    raise ModelError(
        f"persona {len(others) + 1} of {total} was unusable {TIMES} times: {wrong[0]}",
        model=model_asked(settings),
        module=_MODULE,
        remedy="Try another seed, fewer personas, or a model that follows instructions better.",
    )


# What is wrong with a persona: it must not contradict itself, or be too similar to an earlier one

MOST_OVERLAP: Final = 0.3
"""The greatest share of a description's runs of four words that another description may have, too."""
MOST_SIMILARITY: Final = 0.85
"""The greatest cosine of the lexical embeddings of two descriptions, names left out."""
_RUN: Final = 4

_SHE: Final = frozenset({"she", "her", "hers", "herself"})
_HE: Final = frozenset({"he", "him", "his", "himself"})
_WOMEN: Final = frozenset({"woman", "female", "girl", "f", "w", "lady"})
_MEN: Final = frozenset({"man", "male", "boy", "m", "gentleman"})


@dataclass(frozen=True)
class Problem:
    """Why a persona is asked for again; the words for the model are in the prompt's template.

    Attributes:
        kind: what is wrong.
        value: the part of the persona that is wrong.
        other: the name of the too similar persona, or the value that the part should agree with.
    """

    kind: Literal["name", "traits", "description", "age", "gender"]
    value: str
    other: str

    def __str__(self) -> str:
        """The problem in words, for the user."""
        match self.kind:
            case "name":
                return f"it is called {self.value!r}, like {self.other!r}"
            case "age":
                return f"its description speaks of the age {self.value}, but the age is {self.other}"
            case "gender":
                return f"its description speaks of {self.value!r}, but the gender is {self.other!r}"
        return f"its {self.kind} {'are' if self.kind == 'traits' else 'is'} nearly those of {self.other!r}"


def problems(persona: Persona, others: Sequence[Persona]) -> list[Problem]:
    """All that is wrong with a persona.

    Args:
        persona: the new one.
        others: those made before.
    """
    return [*_contradictions(persona), *_likenesses(persona, others)]


def _contradictions(persona: Persona) -> list[Problem]:
    """Contradictions between the description and the characteristics in age or gender.

    Only unambiguous statements count: the age right after the persona's own name, and pronouns of one gender
    throughout.
    """
    found = []
    names = "|".join(re.escape(name) for name in dict.fromkeys((persona.name, first_name(persona.name))))
    said = re.match(rf"(?:{names})(?:,| is)(?: an?| now| only| already)? (\d{{1,3}})\b", persona.description)
    if said and persona.age is not None and int(said[1]) != persona.age:
        found.append(Problem("age", said[1], str(persona.age)))
    gender = persona.characteristic("gender") or ""
    words = re.findall(r"\w+", persona.description.casefold())
    she, he = (next((w for w in words if w in pronouns), None) for pronouns in (_SHE, _HE))
    wrong = he if gender.casefold() in _WOMEN and not she else she if gender.casefold() in _MEN and not he else None
    if wrong:
        found.append(Problem("gender", wrong, gender))
    return found


def _likenesses(persona: Persona, others: Sequence[Persona]) -> list[Problem]:
    """Similarities between the persona and an earlier one."""
    found = []
    traits = {folded(trait) for trait in persona.traits}
    for other in others:
        if folded(persona.name) == folded(other.name):
            found.append(Problem("name", persona.name, other.name))
        if traits == {folded(trait) for trait in other.traits}:
            found.append(Problem("traits", ", ".join(persona.traits), other.name))
        first, second = _nameless(persona), _nameless(other)
        if overlap(first, second) > MOST_OVERLAP or similarity(first, second) > MOST_SIMILARITY:
            found.append(Problem("description", persona.description, other.name))
    return found


def overlap(text: str, other: str) -> float:
    """The share of a text's runs of four words that another text has, too, 0 to 1."""
    runs, known = (_runs(words) for words in (text, other))
    return len(runs & known) / len(runs) if runs else 0.0


def similarity(text: str, other: str) -> float:
    """Cosine of the lexical embeddings of two texts, -1 to 1."""
    first, second = np.asarray(LexicalEmbeddings().embed_documents([text, other]))
    return float(first @ second)


def _runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", folded(text))
    return {tuple(words[n : n + _RUN]) for n in range(len(words) - _RUN + 1)}


def _nameless(persona: Persona) -> str:
    """The description without the persona's own names, which always differ."""
    own = "|".join(re.escape(part) for part in persona.name.split())
    return re.sub(rf"\b(?:{own})\b", "", persona.description)
