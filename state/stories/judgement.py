"""The answers of models in a story: stocktaking, choice, summary, review, ballot; schemas made of names.

As in `state/minds/judgement.py`, the reason comes before the verdict, and models read descriptions.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints, create_model, model_validator

from ..minds.emotion import Level
from ..minds.judgement import Judgement, Keyword, Reason, Sentence, cut_to
from ..plain_text import full_names
from ..setting import no_switch

LONGEST_STOCK: Final = 700
"""The most characters of a stocktaking's summary."""
MOST_STEPS: Final = 3
MOST_TOPICS: Final = 20
"""The most points of a plan: as many as a stage may have exchanges."""

Sentenced = Literal["reasoning", "afterthought", ""]
"""Where a review has its sentence."""


class Stock(Judgement):
    """How a character sees its situation, and what it will do next."""

    summary: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_STOCK), cut_to(LONGEST_STOCK)
    ] = Field(description="two or three sentences: who is strong, who is near to me, what happened last")
    next_steps: list[Sentence] = Field(min_length=1, max_length=MOST_STEPS, description="one to three next steps")


_PLAN: Final = "one topic for each thing that I will say"


class Choice(Judgement):
    """Whom a host talks to, and about what; made for the candidates by `choice_schema`."""

    reasoning: Reason = Field(description="one sentence: why they")
    partner: str
    plan: list[Sentence] = Field(min_length=1, max_length=MOST_TOPICS, description=_PLAN)


class Summary(Judgement):
    """What a character takes from a talk of two."""

    reasoning: Reason = Field(description="one sentence: what the other wanted")
    theme: Sentence = Field(description="what was said, offered and promised, one sentence")
    keywords: list[Keyword] = Field(min_length=1, max_length=8, description="keywords and standout words")
    importance: Level = Field(description="how important this is to the persona, 0 trivial to 10 life-changing")


class Review(Judgement):
    """How the last round has moved a character; made for names and beliefs by `review_schema`."""

    def changes(self) -> tuple[dict[str, int], list[int]]:
        """The changes of closeness by name, and those of beliefs in their order."""
        found = self.model_dump(by_alias=True)
        return found["closeness"], list(found.get("beliefs", {}).values())

    def sentence(self) -> str:
        """The sentence, wherever it stands; empty without one."""
        return str(getattr(self, "reasoning", getattr(self, "afterthought", "")))


class Ballot(Judgement):
    """A vote; made for the candidates by `ballot_schema`."""

    reasoning: Reason = Field(description="one sentence: why they")
    choice: str


@lru_cache(maxsize=256)
def choice_schema(candidates: tuple[str, ...], exchanges: int = MOST_TOPICS) -> type[Choice]:
    """The schema of a choice among these names. First names and other spellings are understood.

    Args:
        candidates: who may be chosen.
        exchanges: how often the host will speak; topics beyond are left out, and asked for nowhere.
    """
    partner = (_one_of(candidates), Field(description="the name of the one whom I talk to"))
    first = BeforeValidator(lambda value: value[:exchanges] if isinstance(value, list) else value)
    plan: Any = Annotated[list[Sentence], Field(min_length=1, max_length=exchanges), first]
    return create_model("Choice", __base__=Choice, partner=partner, plan=(plan, Field(description=_PLAN)))


@lru_cache(maxsize=256)
def ballot_schema(candidates: tuple[str, ...]) -> type[Ballot]:
    """The schema of a ballot with these candidates."""
    return create_model(
        "Ballot", __base__=Ballot, choice=(_one_of(candidates), Field(description="the one candidate that I name"))
    )


@lru_cache(maxsize=512)
def review_schema(
    others: tuple[str, ...], beliefs: int, change: int, sentence: Sentenced = "reasoning"
) -> type[Review]:
    """The schema of a review: one change for each of the others, and one for each belief.

    Args:
        others: the names of all other characters.
        beliefs: how many beliefs there are; at 0 the answer has none.
        change: the greatest change.
        sentence: the field of the sentence: "reasoning" before the changes, "afterthought" behind them, or none.
    """
    served = (Reason, Field(description="one sentence: whether what I did has served my goal"))
    amount: Any = Annotated[int, Field(ge=-change, le=change), BeforeValidator(_whole)]
    each: dict[str, Any] = {f"to_{n}": (amount, Field(alias=name)) for n, name in enumerate(others)}
    full: dict[str, Any] = {"full": model_validator(mode="before")(_with_full_names(others))}
    near = create_model("Closeness", __base__=_Each, __validators__=full, **each)
    about = f"by name: how my closeness to each of the others changes, {-change} to {change}"
    fields: dict[str, Any] = {"reasoning": served} if sentence == "reasoning" else {}
    fields["closeness"] = (near, Field(description=about))
    if beliefs:
        numbered: dict[str, Any] = {f"belief_{n}": (amount, Field(alias=str(n))) for n in range(1, beliefs + 1)}
        own = create_model("Beliefs", __base__=_Each, **numbered)
        told = f"by number: how each of my beliefs changes, {-change} to {change}"
        fields["beliefs"] = (own, Field(description=told))
    if sentence == "afterthought":
        fields["afterthought"] = served
    return create_model("Review", __base__=Review, **fields)


@lru_cache(maxsize=512)
def without(schema: type[Judgement], *names: str) -> type[Judgement]:
    """The schema without some of its fields; the schema itself if it has none of them.

    Args:
        schema: of an answer.
        *names: the fields.
    """
    fields: dict[str, Any] = {
        name: (field.annotation, field) for name, field in schema.model_fields.items() if name not in names
    }
    if len(fields) == len(schema.model_fields):
        return schema
    return create_model(schema.__name__, __base__=Judgement, __doc__=schema.__doc__, **fields)


class _Each(Judgement):
    """One value for each field, and no others."""

    model_config = ConfigDict(extra="forbid")


def _whole(value: Any) -> Any:
    """A whole number, also as a text with a sign."""
    no_switch(value)
    return int(value) if isinstance(value, str) and value.strip().lstrip("+-").isdigit() else value


def _with_full_names(names: tuple[str, ...]) -> Any:
    full = full_names(names)

    def validator(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        found: dict[Any, Any] = {}
        for key, item in value.items():
            name = full(key)
            if name in found:
                raise ValueError(f"{name} is named twice")
            found[name] = item
        return found

    return validator


def _one_of(candidates: tuple[str, ...]) -> Any:
    return Annotated[Literal[candidates], BeforeValidator(full_names(candidates))]
