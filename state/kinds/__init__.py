"""Kinds of conversation and of minds: each is a model with exactly the settings that it heeds.

Users write settings flat, whatever the kind is; `Settings` (state/settings.py) has them all. What chooses a kind, its
own defaults, and the values that it allows stand here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint
from typing import Any, ClassVar, Final, Literal

from ..packages import ADDED, Given, class_of, loaded
from . import groups

Flat = Mapping[str, Any]
"""Settings by their flat names."""


class Choice(groups.Group):
    """Base of the kinds of conversation and of minds."""

    CHOSEN: ClassVar[Flat] = {}
    """The settings that choose it."""
    DEFAULTS: ClassVar[Flat] = {}
    """Its own defaults."""
    ONLY: ClassVar[Mapping[str, Sequence[Any]]] = {}
    """The values that other settings may have with it."""
    PASSES: ClassVar[Sequence[str]] = ()
    """Settings that it neither heeds nor refuses, because comparisons set them for all kinds."""
    THIS: ClassVar[str] = ""
    """What it is, in errors: "a discussion"."""
    MANY: ClassVar[str] = ""
    """What has its settings, in errors: "discussions"."""
    TITLE: ClassVar[str] = ""
    """Of a kind of another package: its name for people."""
    GRAPH: ClassVar[str] = ""
    """Of a kind of another package: the builder of its graph as "module:function", as in graph/kinds.py."""
    CALLS: ClassVar[str] = ""
    """Of a kind of another package: "module:function" of the calls of one participant, as in graph/calls.py."""
    TEMPLATES: ClassVar[str] = ""
    """Of a kind of another package: the package in whose folder `templates` its prompts are."""


class Full(groups.Minds, groups.Hearing, groups.Thinking, groups.Pruned, groups.Recall, Choice):
    """Minds that ask each module in its own call."""

    cognition: Literal["full", "compact", "lean"] = "full"
    THIS = MANY = "cognition=full, compact or lean"


class Compact(Full):
    """Minds that perceive in one call, and appraise in another."""

    cognition: Literal["compact"] = "compact"
    CHOSEN = {"cognition": "compact"}
    ONLY = {"joined": ([],)}
    THIS = "cognition=compact"


class Lean(Full):
    """Minds that perceive and appraise in one call."""

    cognition: Literal["lean"] = "lean"
    CHOSEN = {"cognition": "lean"}
    ONLY = {"joined": ([],)}
    THIS = "cognition=lean"


class Fixed(groups.Minds, groups.Pruned, groups.Recall, Choice):
    """Minds that stay as they are before the first utterance."""

    cognition: Literal["fixed"] = "fixed"
    CHOSEN = {"cognition": "fixed"}
    DEFAULTS = {"pattern": "round_robin"}
    ONLY = {"pattern": ("round_robin", "selector"), "judge": ("sliding_window",)}
    PASSES = ("planning_and_reflection", "emotional_retrieval", "stm_retrieval")
    THIS, MANY = "cognition=fixed, whose minds stay as they are", "cognition=fixed"


class Strategist(groups.Minds, groups.Recall, Choice):
    """Minds of characters in a story, which take stock, choose, sum up, and review."""

    cognition: Literal["strategist"] = "strategist"
    CHOSEN = {"cognition": "strategist"}
    PASSES = tuple(name for name in groups.Thinking.model_fields if name not in ("joined", "modules"))
    THIS, MANY = "cognition=strategist, whose minds neither hear nor think", "cognition=strategist"


_MINDS: Final = ("full", "compact", "lean", "fixed")
NO_MINDS: Final = tuple(name for name in groups.USUAL if name not in ("pattern", "judge", "pruning"))
"""What a method without minds passes over, so that it can be compared with conversations of minds."""


class Talk(
    groups.Length,
    groups.Turns,
    groups.Draws,
    groups.Repeats,
    groups.Embedding,
    groups.Register,
    groups.Closing,
    groups.ClosingNeed,
    groups.People,
    groups.Analysis,
    groups.Utterances,
    Choice,
):
    """People talk as they need to."""

    ONLY = {"cognition": _MINDS}
    PASSES = ("rounds",)


class Discussion(Talk):
    """People talk freely; a focus group is a discussion with a guide."""

    THIS, MANY = "a discussion", "discussions"


class Debate(Talk, groups.Judge, groups.Verdicts, groups.Answer):
    """People debate a question until a judge finds consensus."""

    CHOSEN = {"mode": "debate"}
    DEFAULTS = {"max_messages": 60, "closing": "off"}
    THIS, MANY = "a debate", "debates"


class Story(groups.Draws, groups.Repeats, groups.Embedding, groups.Register, groups.Utterances, groups.Rounds, Choice):
    """Characters bargain in stages, and vote at the end; its stages say how many utterances it has."""

    CHOSEN = {"mode": "story"}
    DEFAULTS = {"max_messages": 100_000, "closing": "off", "cognition": "strategist"}
    ONLY = {
        "mode": ("story",),
        "baseline": (None,),
        "listeners": ("all",),
        "ablation": ([],),
        "cognition": ("full", "compact", "lean", "strategist"),
    }
    PASSES = ("closing", "closing_need", "human_turns")
    THIS, MANY = "a story", "stories"


class SingleAgent(groups.Length, groups.Repeats, groups.Register, groups.Closing, groups.Analysis, Choice):
    """One model writes a whole discussion."""

    CHOSEN = {"baseline": "single_agent"}
    ONLY = {"mode": ("discussion",)}
    PASSES = NO_MINDS
    THIS, MANY = "baseline=single_agent, which is a discussion", "baseline=single_agent"


class GroupChat(SingleAgent, groups.ClosingNeed, groups.Embedding, groups.Utterances):
    """A model names each speaker, and personas speak without minds."""

    CHOSEN = {"baseline": "group_chat"}
    ONLY = {}
    THIS, MANY = "baseline=group_chat, which has no minds", "baseline=group_chat"


class GroupDebate(GroupChat, groups.Verdicts, groups.Answer):
    """A group chat that is a debate."""

    CHOSEN = {"baseline": "group_chat", "mode": "debate"}
    DEFAULTS = Debate.DEFAULTS


class Mad(groups.Length, groups.Answer, groups.Analysis, groups.Rounds, Choice):
    """All answer, then answer again knowing the others' answers; the majority wins."""

    CHOSEN = {"baseline": "mad"}
    DEFAULTS = Debate.DEFAULTS
    ONLY = {"mode": ("debate",)}
    PASSES = NO_MINDS
    THIS, MANY = "baseline=mad, which is a debate", "baseline=mad"


class MadJudge(Mad):
    """Two sides answer each other, until a judge decides."""

    CHOSEN = {"baseline": "mad_judge"}
    THIS, MANY = "baseline=mad_judge, which is a debate", "baseline=mad_judge"


class Reconcile(Mad):
    """A round table that talks until all agree, or votes by confidence."""

    CHOSEN = {"baseline": "reconcile"}
    THIS, MANY = "baseline=reconcile, which is a debate", "baseline=reconcile"


class Companion(groups.Embedding, groups.Register, groups.Utterances, Choice):
    """One person talks with one agent, who remembers; its graph is its own, so no setting chooses it."""

    THIS, MANY = "a companion", "companions"


_SHIPPED: Final = (Discussion, Debate, SingleAgent, GroupChat, GroupDebate, Mad, MadJudge, Reconcile)
MINDS: Final[tuple[type[Choice], ...]] = (Full, Compact, Lean, Fixed, Strategist)
"""The kinds of minds, chosen in the same way."""
_COMMANDS: Final = {"discussion": "run", "debate": "debate"}


@cache
def added() -> dict[str, type[Choice]]:
    """The kinds of conversation of installed packages, by the value of `mode` or `baseline` that chooses them.

    A package registers a class with the entry point `persimchat.mode` if its participants have minds, or
    `persimchat.baseline`; the entry point's name is the value.

    Raises:
        InputError: a package's class cannot be loaded, or says not where its graph and its calls are.
    """
    return {name: _loaded(point, of) for of in ("mode", "baseline") for name, point in ADDED[of].items()}


def _loaded(point: EntryPoint | Given, setting: str) -> type[Choice]:
    found: type[Choice] = loaded(
        point,
        lambda it: class_of(Choice)(it) and bool(it.GRAPH and it.CALLS and it.TITLE),
        "class of persimchat.state.kinds.Choice with TITLE, GRAPH and CALLS",
    )
    found.CHOSEN = {setting: point.name}
    return found


@cache
def conversations() -> tuple[type[Choice], ...]:
    """The kinds of conversation; of those that settings choose, the last one counts."""
    return (*_SHIPPED, *added().values(), Story)


def kinds_of(given: Flat) -> list[type[Choice]]:
    """The kind of conversation that settings choose, and that of its minds, if it has any."""
    kind = _chosen(conversations(), given)
    return [kind] if kind.PASSES is NO_MINDS else [kind, _chosen(MINDS, {**kind.DEFAULTS, **given})]


def _chosen(kinds: Sequence[type[Choice]], given: Flat) -> type[Choice]:
    chosen = [kind for kind in kinds if all(given.get(name) == value for name, value in kind.CHOSEN.items())]
    return chosen[-1]


def chosen_by(kind: type[Choice]) -> dict[str, Any]:
    """The settings that choose a kind of conversation, with its mode."""
    return {"mode": kind.ONLY.get("mode", ("discussion",))[0], **kind.CHOSEN}


def usual(given: Flat) -> dict[str, Any]:
    """The defaults of what settings choose, where they are not the usual ones."""
    return {name: value for kind in kinds_of(given) for name, value in kind.DEFAULTS.items()}


@cache
def _of_kinds() -> frozenset[str]:
    return frozenset(name for kind in (*conversations(), *MINDS) for name in kind.model_fields)


def unheeded(given: Flat) -> frozenset[str]:
    """The settings that change nothing in a conversation with these settings."""
    return _of_kinds().difference(*(kind.model_fields for kind in kinds_of(given)))


def is_open(name: str, given: Flat) -> bool:
    """Whether a setting counts in a conversation with these settings, and may have more than one value."""
    one = any(len(kind.ONLY.get(name, "more")) == 1 for kind in kinds_of(given))
    return not one and name not in unheeded(given)


def refusals(given: Flat) -> Iterator[str]:
    """What does not go with what settings choose, a sentence each.

    Args:
        given: all settings with which a conversation is held.
    """
    kinds, without, own = kinds_of(given), unheeded(given), {**groups.USUAL, **usual(given)}
    for kind in kinds:
        for name, allowed in kind.ONLY.items():
            is_rule = name == "pattern" and given[name] in ADDED["pattern"]
            if given[name] not in allowed and not is_rule and (kind is kinds[0] or name not in without):
                ways = " or ".join(f"{name}={value}" for value in allowed)
                command = f", or use `persimchat {_COMMANDS[allowed[0]]}`" if name == "mode" else ""
                remedy = f"leave {name} out" if allowed[0] in (None, "all", []) else f"set {ways}{command}"
                yield f"{_shown(name, given[name])} does not go with {kind.THIS}; {remedy}"
    for name in (name for name in groups.USUAL if name in without and given[name] != own[name]):
        if not any(name in kind.PASSES for kind in kinds) and getattr(given[name], "active", True):
            having = [kind for kind in (*conversations(), *MINDS) if name in kind.model_fields]
            this = kinds[-1 if having[0] in MINDS else 0].THIS
            many = ", ".join(dict.fromkeys(kind.MANY for kind in having))
            yield f"{_shown(name, given[name])} does not go with {this}; it is a setting of {many}; leave {name} out"


def _shown(name: str, value: Any) -> str:
    """A setting as users write it; one with parts by its name alone."""
    written = str(value).lower() if isinstance(value, bool) else value
    return f"{name}={written}" if isinstance(value, str | int | float) else f"the setting {name}"


def offered(kind: type[Choice]) -> list[str]:
    """The settings that a form for a kind of conversation shows: those that it heeds, with any minds."""
    minds = () if kind.PASSES is NO_MINDS else MINDS
    heeded = {name for one in (kind, *minds) for name in one.model_fields}
    return [name for name in groups.USUAL if name not in _of_kinds() or name in heeded]


def fitting(given: Flat, **chosen: Any) -> dict[str, Any]:
    """Given settings without those that the kind which they choose would refuse.

    Args:
        given: settings.
        **chosen: what chooses the kind in place of these.
    """
    kinds, without = kinds_of({**given, **chosen}), unheeded({**given, **chosen})
    passed = {name for kind in kinds for name in kind.PASSES}
    return {name: value for name, value in given.items() if name not in without or name in passed}


def conditions(name: str) -> list[dict[str, Sequence[str]]]:
    """The ways in which a setting has an effect, each the values that others must have; empty if it always has."""
    heeding = [kind for kind in conversations() if name in kind.model_fields]
    modes = [kind.CHOSEN["mode"] for kind in heeding if set(kind.CHOSEN) == {"mode"}]
    methods = [kind for kind in heeding if "baseline" in kind.CHOSEN and not {"debate"} & {*modes}]
    ways: list[dict[str, Sequence[str]]] = []
    if heeding and Discussion not in heeding:
        ways += [{"baseline": [kind.CHOSEN["baseline"] for kind in methods]}] if methods else []
        ways += [{"mode": modes}] if modes else []
    needs = dict(groups.ABOUT[name].needs)
    return [{**way, **needs} for way in ways or ([{}] if needs else [])]
