"""The settings, one field each, in groups that kinds of conversation and of minds are made of.

A field has type, default and bounds; its description and what `About` says of its use stand in settings.yaml. The order
of the groups is that of the command line, of the page and of docs/settings.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import new_class
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, field_validator

from ..debates.answers import AnswerFormat
from ..language import ENGLISH, tag_of
from ..minds.ablation import ABLATED, Ablated
from ..minds.pruning import Pruning
from ..packages import ADDED, class_of, loaded, or_registered, patterns
from ..setting import (
    APPRAISED,
    HEARD,
    SHIPPED,
    About,
    Choice,
    Listeners,
    Module,
    Prices,
    RetrievalWeights,
    Temperature,
    describe,
    said,
    setting,
)
from ..templates import templates_in, usable
from .companion import CompanionSettings

MODES: Final[tuple[str, ...]] = ("discussion", "debate", "story", *ADDED["mode"])
"""Kinds of conversation."""
BASELINES: Final[tuple[str, ...]] = (
    *("single_agent", "group_chat", "mad", "mad_judge", "reconcile"),
    *ADDED["baseline"],
)
"""Simpler methods of the literature, which hold a conversation without minds."""
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
if TYPE_CHECKING:
    Mode: TypeAlias = str
    Baseline: TypeAlias = str
    Pattern: TypeAlias = str
else:
    Mode, Baseline = Literal[MODES], Literal[BASELINES]
    Pattern = Annotated[Literal[patterns()], or_registered("pattern")]

Cognition = Literal["full", "compact", "lean", "fixed", "strategist"]

MOST_BUDGET: Final = 10**15
"""The greatest budget of calls or tokens."""

PROMPT_ORDER: Final = "bnrmpec"
"""The blocks of an utterance's prompt, a letter each, in the order of Chu et al. (table 5)."""


class Group(BaseModel):
    """Base of all groups of settings; settings.yaml says the rest of each field."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        describe(cls)


class Named(Group):
    """What is held."""

    mode: Mode = setting("discussion")


class Length(Group):
    """How long a conversation is."""

    max_messages: int = setting(10, ge=1, le=100_000)


class Turns(Group):
    """Who speaks next."""

    pattern: Pattern = setting("need_to_talk")


class Draws(Group):
    """How need to talk decides who speaks next."""

    selection: Literal["argmax", "softmax"] = setting("argmax")
    selection_temperature: float = setting(1.0, ge=0.01, le=100)


class Repeats(Group):
    """Whether somebody may speak twice in a row."""

    allow_repeated_speaker: bool = setting(False)


class Judge(Group):
    """The judge of a debate."""

    judge: Literal["sliding_window", "persona"] = setting("sliding_window")


class Verdicts(Group):
    """When a judge is asked, and what it sees."""

    judge_window: int = setting(10, ge=1, le=1000)
    judge_every: int = setting(1, ge=1, le=1000)


class Answer(Group):
    """The form of a debate's answer."""

    answer_format: AnswerFormat = setting("free")
    choices: list[Choice] = setting(list, max_length=50)


class Models(Group):
    """Which models are asked."""

    model: str | None = setting(None)
    model_temperature: float | None = setting(None, ge=0, le=2)
    model_top_p: float | None = setting(None, gt=0, le=1, exclude_if=lambda value: value is None)


class Embedding(Group):
    """How texts are compared."""

    embedding: str = setting("lexical")


def names_in(value: Any) -> Any:
    """The names on one line, separated by commas; every other value as it is."""
    return [name for part in value.split(",") if (name := part.strip())] if isinstance(value, str) else value


def joinable() -> tuple[str, ...]:
    """The modules that can share a call, those of packages included."""
    return tuple(dict.fromkeys((*HEARD, *APPRAISED, *ADDED["module"])))


class Minds(Group):
    """How minds think."""

    cognition: Cognition = setting("full")


class Hearing(Group):
    """Who hears with a model, and what is kept of it."""

    listeners: Listeners | Literal["all"] = setting("all")


class Thinking(Group):
    """What minds do while others speak, and how they remember."""

    ablation: list[Ablated] = setting(list, exclude_if=lambda value: not value)
    modules: list[str] = setting(list, exclude_if=lambda value: not value)
    joined: list[str] = setting(list, exclude_if=lambda value: not value)
    planning_and_reflection: bool = setting(True)
    memory_filtering: bool = setting(False)
    emotional_retrieval: bool = setting(True)
    stm_retrieval: bool = setting(True)

    _listed = field_validator("ablation", "joined", "modules", mode="before")(names_in)

    @field_validator("ablation")
    @classmethod
    def _in_order(cls, value: list[Ablated]) -> list[Ablated]:
        return [name for name in ABLATED if name in value]

    @field_validator("joined")
    @classmethod
    def _joinable(cls, value: list[str]) -> list[str]:
        able = joinable()
        for name in value:
            if name not in able:
                raise ValueError(f"joined has {name!r}, but only these can share a call: {', '.join(able)}")
        return [name for name in able if name in value]

    @field_validator("modules")
    @classmethod
    def _installed(cls, value: list[str]) -> list[str]:
        for name in value:
            if name not in ADDED["module"]:
                there = f"there are {', '.join(ADDED['module'])}" if ADDED["module"] else "there is none"
                what = f"no installed package has a module {name} ({there})"
                raise ValueError(f"{what}; install the package that has it, or register it")
            if not _NAME.fullmatch(name) or hasattr(BaseModel, name):
                raise ValueError(f"{name!r} cannot be a module's name; call it by small letters and _")
            if name in SHIPPED:
                raise ValueError(f"{name} is a module of every mind; a package's needs another name")
        return list(dict.fromkeys(value))


class Prompts(Group):
    """In whose words models are asked."""

    prompts: dict[str, str] = setting(dict, exclude_if=lambda value: not value)

    @field_validator("prompts", mode="before")
    @classmethod
    def _of_folder(cls, value: Any) -> Any:
        return templates_in(value)

    @field_validator("prompts")
    @classmethod
    def _usable(cls, value: dict[str, str]) -> dict[str, str]:
        return usable(value)


class Ties(Group):
    """What participants are told of each other and of themselves."""

    relationships: bool = setting(True)
    social_goals: bool = setting(True)


class Tongue(Group):
    """The language of all words."""

    language: str = setting("en", exclude_if=lambda value: value == ENGLISH)

    @field_validator("language")
    @classmethod
    def _known(cls, value: str) -> str:
        return tag_of(value)


class Register(Group):
    """The register of words."""

    speech_register: Literal["casual", "neutral", "formal"] = setting("casual")


class Wording(Group):
    """The length of words."""

    utterance_words: int = setting(25, ge=3, le=1000)


class Closing(Group):
    """When participants take leave."""

    closing: Literal["off", "near_limit", "on"] = setting("near_limit")

    @field_validator("closing", mode="before")
    @classmethod
    def _yaml_switch(cls, value: Any) -> Any:
        """Accept true and false, as which YAML reads a bare `on` and `off`."""
        return {True: "on", False: "off"}[value] if isinstance(value, bool) else value


class ClosingNeed(Group):
    """How calm a conversation is when it closes."""

    closing_need: int = setting(2, ge=0, le=10)


class People(Group):
    """When people speak."""

    human_turns: Literal["hand", "addressed", "need"] = setting("addressed")


class Analysis(Group):
    """Whether utterances are scored."""

    analysis: bool = setting(False)


class Pruned(Group):
    """What prompts lack."""

    pruning: Pruning = setting(Pruning(), exclude_if=lambda value: value == Pruning())


class Limits(Group):
    """What a conversation may use, and its seed."""

    budget_calls: int | None = setting(None, ge=1, le=MOST_BUDGET)
    budget_tokens: int | None = setting(None, ge=1, le=MOST_BUDGET)
    budget_usd: float | None = setting(None, ge=1e-9, le=1e12)
    seed: int = setting(0, ge=0, le=2**63 - 1)


class Methods(Group):
    """Methods to compare with."""

    baseline: Baseline | None = setting(None)


class Rounds(Group):
    """How many rounds there are."""

    rounds: int = setting(3, ge=1, le=100)


class Recall(Group):
    """How memories are kept and recalled."""

    weights: RetrievalWeights = setting(RetrievalWeights())
    ltm_capacity: int = setting(100, ge=10, le=100_000)
    memory_tokens: int = setting(400, ge=50, le=100_000)


class Recent(Group):
    """What prompts give word by word."""

    recent_utterances: int = setting(6, ge=1, le=100)


class Utterances(Group):
    """How utterances are asked for and checked."""

    prompt_order: str = setting(PROMPT_ORDER)
    repetition_check: bool = setting(True)
    repetition_overlap: float = setting(0.45, ge=0.01, le=1)
    repetition_similarity: float = setting(0.9, ge=0.01, le=1)
    repetition_window: int = setting(50, ge=1, le=1000)

    @field_validator("prompt_order")
    @classmethod
    def _permutation(cls, value: str) -> str:
        if sorted(value) != sorted(PROMPT_ORDER):
            raise ValueError(f"prompt_order must have each of the letters {', '.join(PROMPT_ORDER)} exactly once")
        return value


class Asking(Group):
    """How models are asked, and where things are kept."""

    strict_answers: bool = setting(False)
    agent_models: dict[str, str] = setting(dict)
    module_models: dict[Module, str] = setting(dict)
    module_temperatures: dict[Module, Temperature] = setting(dict, exclude_if=lambda value: not value)
    concurrent: bool = setting(True)
    max_concurrency: int = setting(32, ge=1, le=1000)
    requests_per_second: float | None = setting(None, ge=0.001, le=100_000)
    answer_tokens: int | None = setting(None, ge=16, le=1_000_000)
    context_tokens: int | None = setting(None, ge=256, le=100_000_000)
    timeout_s: float = setting(120, ge=0.001, le=3600)
    local_slots: int | None = setting(None, ge=1, le=64)
    local_context: int = setting(8192, ge=512, le=1_000_000)
    prices: dict[str, Prices] = setting(dict)
    store: str = setting("run")
    checkpoints: str = setting("run")


class Companions(Group):
    """What a companion keeps."""

    companion: CompanionSettings = setting(CompanionSettings(), exclude_if=lambda value: value == CompanionSettings())


class _Shipped(
    Companions,
    Asking,
    Utterances,
    Recent,
    Recall,
    Rounds,
    Methods,
    Limits,
    Pruned,
    Analysis,
    People,
    ClosingNeed,
    Closing,
    Wording,
    Register,
    Prompts,
    Tongue,
    Ties,
    Thinking,
    Hearing,
    Minds,
    Embedding,
    Models,
    Answer,
    Verdicts,
    Judge,
    Repeats,
    Draws,
    Turns,
    Length,
    Named,
):
    """All settings but those of other packages; pydantic lists the fields of the last group first."""


if TYPE_CHECKING:

    class Settings(_Shipped):
        """All settings by their flat names."""

else:
    _groups = [loaded(one, class_of(Group), "class of Group") for one in ADDED["settings"].values()]
    Settings = new_class("Settings", (*_groups, _Shipped), {}, lambda space: space.update(__module__=__name__))


OWN: Final = tuple(name for name in Settings.model_fields if name not in _Shipped.model_fields)
"""The settings of other packages."""

ABOUT: Final[Mapping[str, About]] = dict(said())
"""What is said of each setting, by name, in order of listing."""


USUAL: Final[Mapping[str, Any]] = dict(Settings())
"""The default of each setting where its kind has none of its own."""
