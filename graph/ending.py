"""When and why a conversation closes and ends: pure functions.

Each rule examines the conversation independently; the first of `RULES` that has a reason ends it. The judge's verdict
is one of these rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from ..state.conversation import Conversation, participants
from ..state.outcomes import first_try, hopeless
from ..state.settings import Settings
from .guiding import course_of, is_done, limit_of
from .routing import has_left

_QUIET_TURNS: Final = 2
"""The conversation closes after so many utterances in a row with every need to talk at most `closing_need`."""


class Ending(NamedTuple):
    """Why a conversation ends.

    Attributes:
        reason: `consensus`, `guide`, `closed`, `message_limit` or `error`.
        source: the rule.
        detail: the rule's explanation, one sentence.
    """

    reason: str
    source: str
    detail: str


def leave_takers(participants: int, max_messages: int) -> int:
    """How many participants take leave before the message limit: all, but at most a quarter of all utterances."""
    return min(participants, max_messages // 4)


def quiet_turns(before: int, minds: Mapping[str, Mapping[str, Any]], settings: Settings) -> int:
    """For how many utterances in a row no need to talk was above `closing_need`, this one included.

    Always 0 where needs are not known: the group_chat baseline has none.
    """
    needs = [mind.get("need_to_talk") for mind in minds.values()]
    return before + 1 if all(need is not None and need <= settings.closing_need for need in needs) else 0


def closing_reason(turn: int, quiet: int, participants: int, settings: Settings) -> str:
    """Why it is time to take leave: "near_limit", "low_needs", or empty while it is not.

    Args:
        turn: utterances so far.
        quiet: as `quiet_turns` counts them.
        participants: the number of participants.
        settings: `closing` and `max_messages` are read.
    """
    if settings.closing == "off" or not turn:
        return ""
    takers = leave_takers(participants, settings.max_messages)
    if takers and settings.max_messages - turn <= takers:
        return "near_limit"
    return "low_needs" if settings.closing == "on" and quiet >= _QUIET_TURNS else ""


def judge_is_due(turn: int, participants: int, settings: Settings) -> bool:
    """Whether the judge is asked after this utterance: in debates, at the limit, and regularly once all could speak."""
    in_turn = turn >= participants and (turn - participants) % settings.judge_every == 0
    return settings.mode == "debate" and (in_turn or turn == settings.max_messages)


def _consensus(state: Conversation, settings: Settings) -> Ending | None:
    verdicts = state.get("verdicts", [])
    if not verdicts or verdicts[-1]["turn"] != state["turn"] or not verdicts[-1]["consensus"]:
        return None
    return Ending(
        "consensus",
        "judge",
        f"The {settings.judge.replace('_', '-')} judge found consensus after {_said(state['turn'])}.",
    )


def _guided(state: Conversation, settings: Settings) -> Ending | None:
    if not is_done(state, settings):
        return None
    course = course_of(state)
    number = course.number if course is not None else 0
    asked = "The question" if number == 1 else f"All {number} questions"
    was = "was" if number == 1 else "were"
    return Ending("guide", "guide", f"{asked} of the guide {was} put and talked about.")


def _closed(state: Conversation, settings: Settings) -> Ending | None:
    if not state.get("closing"):
        return None
    minds, since = participants(state), state["closing_since"]
    taken = sum(has_left(mind, since) for mind in minds.values())
    if taken < len(minds) and state["turn"] < settings.max_messages:
        return None
    why = {
        "near_limit": f"near the limit of {settings.max_messages} utterances",
        "low_needs": f"as no need to talk was above {settings.closing_need}",
    }[state["closing"]]
    who = "Everybody" if taken == len(minds) else f"{taken} of {len(minds)} participants"
    return Ending("closed", "closing", f"{who} took leave, {why}.") if taken else None


def useless_answers(state: Conversation) -> Ending | None:
    """The end if a module had no usable answer for anybody, turn after turn."""
    module = hopeless(state.get("streaks") or {})
    if module is None:
        return None
    tries = first_try(state.get("judgements") or {}, module)
    rates = ", ".join(f"{valid} of {asked} by {model}" for model, (valid, asked) in tries.items())
    return Ending(
        "error",
        "answers",
        f"The module {module} had no usable answer for anybody, turn after turn; right at first try were {rates}.",
    )


def _hopeless(state: Conversation, settings: Settings) -> Ending | None:
    return useless_answers(state)


def _limit(state: Conversation, settings: Settings) -> Ending | None:
    limit = limit_of(state, settings)
    if state["turn"] < limit:
        return None
    return Ending("message_limit", "message_limit", f"The limit of {_said(limit)} was reached.")


Rule = Callable[[Conversation, Settings], Ending | None]
RULES: Final[tuple[Rule, ...]] = (_consensus, _guided, _closed, _limit, _hopeless)
"""The rules in order of precedence: a result of the conversation overrides a mere limit."""


def ending(state: Conversation, settings: Settings) -> Ending | None:
    """Why the conversation ends now; None while it goes on."""
    return next((found for rule in RULES if (found := rule(state, settings))), None)


def _said(count: int) -> str:
    return "1 utterance" if count == 1 else f"{count} utterances"
