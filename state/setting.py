"""Metadata of a setting, and the types of settings that are not plain numbers or texts.

The options of the commands, the page's form, the changes that a resumed run or a branch may make, and the table in
docs/settings.md come from a setting's field and its `About`.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple, TypeAlias, cast, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from .document import table
from .packages import ADDED, or_registered
from .plain_text import seen

Group = Literal["conversation", "judge", "model", "agents", "speaking", "limits", "advanced"]

GROUPS: Final[dict[Group, str]] = {
    "conversation": "The course of the conversation",
    "judge": "Debates: answer and judge",
    "model": "Models",
    "agents": "Minds",
    "speaking": "Speaking",
    "limits": "Limits and seed",
    "advanced": "More",
}
"""All groups in order of listing, with their titles on the command line and in the documents."""


@dataclass(frozen=True, kw_only=True)
class About:
    """What settings.yaml says of a setting.

    Attributes:
        group: where it is listed.
        description: what it is.
        option: placeholder for the value of its own option of the command line, `--name-of-the-setting`; empty for a
            switch, None if only `--set` reaches it.
        also: other names of the option, which stay valid.
        help: the option's help, if the description does not suit the command line.
        usual: the default in words, if the field's default is None.
        needs: the settings that it depends on, each with the values for which this setting has an effect.
        changes: "resume" if a resumed run may change it, "branch" if only a branch may, "never" if the history that a
            branch shares with its run depends on it.
        shapes: whether it shapes the conversation. Limits, prices and places of storage do not: a conversation of an
            experiment is the same one whatever they are.
    """

    group: Group
    description: str = ""
    option: str | None = None
    also: Sequence[str] = ()
    help: str = ""
    usual: str = ""
    needs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    changes: Literal["resume", "branch", "never"] = "branch"
    shapes: bool = True


@cache
def said() -> dict[str, About]:
    """What is said of each setting, by name, in order of listing."""
    return {name: About(**given) for name, given in table(__file__, "kinds/settings.yaml").items()}


class Setting(NamedTuple):
    """A field of a group of settings before it has its description."""

    default: dict[str, Any]
    bounds: dict[str, Any]
    about: About | None


def setting(default: Any, *, about: About | None = None, **bounds: Any) -> Any:
    """A field of a group of settings.

    Args:
        default: the value where none is given, or the type of an empty one.
        about: what is said of a setting of another package; of those here, settings.yaml says it.
        **bounds: as of pydantic's `Field`.
    """
    return Setting({"default_factory" if isinstance(default, type) else "default": default}, bounds, about)


def describe(group: type[BaseModel]) -> None:
    """Give the fields of a group that is being made their descriptions.

    Raises:
        ValueError: another package's setting has the name of one that is there.
    """
    for name, found in list(vars(group).items()):
        if isinstance(found, Setting):
            bounds = found.bounds
            if found.about is not None:
                if name in said():
                    raise ValueError(f"there is a setting {name} already")
                said()[name] = found.about
                usual = found.default["default"] if "default" in found.default else found.default["default_factory"]()
                # Runs that do not set it say nothing of it, so that they can be resumed without the package.
                bounds = {**bounds, "exclude_if": partial(operator.eq, usual)}
            setattr(group, name, Field(**found.default, **bounds, description=said()[name].description))


def no_switch(value: Any, name: str = "it") -> Any:
    """A validator that refuses true and false, which Python counts as numbers, and returns every other value.

    Raises:
        ValueError: the value is true or false.
    """
    if isinstance(value, bool):
        raise ValueError(f"{name} should be a number, not {str(value).lower()}")
    return value


Weight = Annotated[float, Field(ge=0, le=100), BeforeValidator(lambda value: no_switch(value))]
Choice = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=300, pattern=r"^[^;\x00-\x1f\x7f]+$"),
    AfterValidator(seen),
]
Price = Annotated[float, Field(ge=0, le=1e9), BeforeValidator(lambda value: no_switch(value))]
Temperature = Annotated[float, Field(ge=0, le=2), BeforeValidator(lambda value: no_switch(value))]
Prices = Annotated[tuple[Price, ...], Field(min_length=2, max_length=3)]
Listeners = Annotated[int, Field(ge=1, le=100_000), BeforeValidator(lambda value: no_switch(value, "listeners"))]

_Shipped = Literal[
    "perception",
    "focal_points",
    "memory_filtering",
    "need_to_talk",
    "openness",
    "action",
    "emotion",
    "reflection",
    "planning",
    "natural_language",
    "pruning",
    "revision",
    "hearing",
    "appraisal",
    "reaction",
    "stocktaking",
    "choice",
    "summary",
    "review",
    "ballot",
    "trust",
    "events",
    "reacting",
    "day_plan",
    "chunks",
    "consolidation",
    "judge",
    "selector",
    "analysis",
    "answering",
    "script",
    "evaluation",
    "poll",
    "interview",
]
"""A module that asks a model, by the name used in settings, accounting and traces.

"pruning" asks for first responses, by which it is decided what is left out of an utterance's prompt; "revision" whether
an utterance contradicts what was left out.
"hearing", "appraisal" and "reaction" ask for several judgements in one answer (the setting `cognition`). "stocktaking"
to "ballot" are modules of a mind in a story, "trust" to "consolidation" those of a companion. The last eight
are not part of an agent's mind: the judge of debates, the selector of speakers, the analysis of utterances, the
answers of the debate baselines, the script that the single_agent baseline writes, the evaluation of conversations
that are over, and the polls of their participants and the interviews with them.
"""

SHIPPED: Final[tuple[_Shipped, ...]] = get_args(_Shipped)
"""The modules of this package."""

if TYPE_CHECKING:
    Module: TypeAlias = _Shipped
else:
    Module = Annotated[Literal[(*SHIPPED, *ADDED["module"])], or_registered("module")]


def modules() -> tuple[Module, ...]:
    """All modules that ask a model, those of other packages last."""
    return tuple(dict.fromkeys((*SHIPPED, *cast(Mapping[Module, Any], ADDED["module"]))))


HEARD: Final[tuple[Module, ...]] = ("perception", "focal_points")
"""The modules that judge the words just heard, for which nothing is recalled yet."""

APPRAISED: Final[tuple[Module, ...]] = ("emotion", "need_to_talk", "openness", "action")
"""The modules that judge them once something is recalled; those of installed packages do, too."""

OF_STORIES: Final[tuple[Module, ...]] = ("stocktaking", "choice", "summary", "review", "ballot")
"""The modules of a mind in a story."""

OF_COMPANIONS: Final[tuple[Module, ...]] = ("trust", "events", "reacting", "day_plan", "chunks", "consolidation")
"""The modules of a companion."""

OF_PRUNING: Final[tuple[Module, ...]] = ("pruning", "revision")
"""The modules that ask only if something may be left out of prompts."""

OUTSIDE: Final[tuple[Module, ...]] = (
    "judge",
    "selector",
    "analysis",
    "answering",
    "script",
    "evaluation",
    "poll",
    "interview",
)
"""The modules that are not part of an agent's mind."""

AFTERWARDS: Final[tuple[Module, ...]] = ("evaluation", "poll", "interview")
"""The modules that ask about conversations that are over; a conversation needs no model for them."""


class RetrievalWeights(BaseModel):
    """Weights of the five components of a memory's retrieval score (thesis, equation 5.1)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    recency: Weight = 1.0
    importance: Weight = 1.0
    relevance: Weight = 1.0
    emotional: Weight = 1.0
    stm_relevance: Weight = 1.0
