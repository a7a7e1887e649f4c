"""Who speaks next: pure functions (specification, *Who speaks next*)."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Mapping
from copy import deepcopy
from typing import Any, Final

from ..state.errors import InputError
from ..state.outcomes import NEUTRAL
from ..state.packages import ADDED, Rule, rule_of, within
from ..state.settings import Settings
from . import phases


def draw(seed: int, turn: int, purpose: str) -> random.Random:
    """The random generator of one turn; it depends on seed, turn and purpose only, so a resumed run draws the same."""
    return random.Random(f"{seed}/{turn}/{purpose}")


def softmax(scores: list[int], temperature: float) -> list[float]:
    """Probabilities proportional to exp(score / temperature), summing to 1; stable for any temperature > 0."""
    greatest = max(scores)
    weights = [math.exp((score - greatest) / temperature) for score in scores]
    total = sum(weights)
    return [weight / total for weight in weights]


def is_silent(mind: Mapping[str, Any], turn: int) -> bool:
    """Whether a participant cannot speak next: their model failed at awakening, hearing or speaking, or they passed.

    Args:
        mind: `silent` is read.
        turn: utterances so far.
    """
    silent = mind.get("silent")
    return silent is not None and int(silent["turn"]) + phases.may_meet_again({silent["step"]}) > turn


def has_left(mind: Mapping[str, Any], since: int) -> bool:
    """Whether a participant has taken leave: they spoke or passed after the utterance number `since`."""
    return bool(max(mind["last_spoke"], mind.get("passed", 0)) > since)


def candidates(
    minds: Mapping[str, Mapping[str, Any]],
    turn: int,
    settings: Settings,
    *,
    leaving_since: int | None = None,
    resting: Collection[str] = (),
) -> list[str]:
    """The names of the participants who may speak next, in order of listing; never empty.

    Args:
        minds: by name, in order of listing; `last_spoke` is read.
        turn: utterances so far.
        settings: `pattern` and `allow_repeated_speaker`.
        leaving_since: the turn at which the participants began to take leave, None before that; each then speaks once.
        resting: those who do not speak now, unless nobody else can.
    """
    names = [name for name in minds if not is_silent(minds[name], turn)] or list(minds)
    names = [name for name in names if name not in resting] or names
    if leaving_since is not None:
        names = [name for name in names if not has_left(minds[name], leaving_since)] or names
    last = next((name for name in names if turn and minds[name]["last_spoke"] == turn), None)
    if not settings.allow_repeated_speaker or settings.pattern == "round_robin":
        names = [name for name in names if name != last] or names
    if settings.pattern == "need_to_talk" and leaving_since is None:  # people who do not want to speak are not asked
        names = [name for name in names if not minds[name].get("human") or minds[name]["need_to_talk"]] or names
    return names


def choose_speaker(
    minds: Mapping[str, Mapping[str, Any]],
    turn: int,
    settings: Settings,
    *,
    leaving_since: int | None = None,
    resting: Collection[str] = (),
) -> str:
    """The name of the participant who speaks next, by need to talk, in turn, or by an installed package's rule.

    Args:
        minds: by name, in order of listing; `need_to_talk`, `utterances` and `last_spoke` are read.
        turn: utterances so far.
        settings: pattern, selection, selection_temperature, allow_repeated_speaker, seed.
        leaving_since: as for `candidates`.
        resting: as for `candidates`.

    Raises:
        InputError: a package's rule fails, or names nobody who may speak.
    """
    able = candidates(minds, turn, settings, leaving_since=leaving_since, resting=resting)
    if settings.pattern == "round_robin":
        names = list(minds)
        return next(name for name in names[turn % len(names) :] + names if name in able)
    rule = rule_of(settings.pattern)
    if rule is not None:
        return _by_rule(rule, {name: minds[name] for name in able}, turn, settings)
    if settings.selection == "softmax":
        weights = softmax([_need(minds[name]) for name in able], settings.selection_temperature)
        return draw(settings.seed, turn, "speaker").choices(able, weights)[0]
    # Ties: fewest utterances so far, then longest silent, then order of listing (min takes the first among equals).
    return min(
        able,
        key=lambda name: (-_need(minds[name]), minds[name]["utterances"], minds[name]["last_spoke"]),
    )


_SEEN: Final = ("need_to_talk", "openness", "emotion", "utterances", "last_spoke", "human", "own")
"""What a package's rule sees of a mind."""


def _by_rule(rule: Rule, minds: Mapping[str, Mapping[str, Any]], turn: int, settings: Settings) -> str:
    where, named = f"setting pattern={settings.pattern}", ADDED["pattern"][settings.pattern].value
    seen = {name: {key: deepcopy(mind[key]) for key in _SEEN if key in mind} for name, mind in minds.items()}
    try:
        chosen = within(settings.timeout_s, rule, seen, turn, draw(settings.seed, turn, "speaker"))
    except Exception as error:  # code of others
        what = f"{named} failed after utterance {turn}: {type(error).__name__}: {error}"
        raise InputError(what, where=where, remedy="Mend it, and resume the run.") from error
    if not (isinstance(chosen, str) and chosen in minds):
        what = f"{named} named {chosen!r} after utterance {turn}, who may not speak next"
        raise InputError(what, where=where, remedy=f"Let it return one of {', '.join(minds)}; then resume the run.")
    return chosen


def _need(mind: Mapping[str, Any]) -> int:
    """A need to talk; minds without one (the setting `ablation`) need to talk alike."""
    return int(mind.get("need_to_talk", NEUTRAL))
