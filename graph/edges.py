"""The conversation's edges: the next nodes and the input of each step. No function here writes or asks a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from langgraph.types import Send

from ..nodes.people import pending
from ..state.conversation import Conversation, judge_mind, participants, utterances
from ..state.intervention import Floor, Say
from ..state.minds.listening import was_asked
from ..state.minds.mind import Mind, Step, Utterance
from ..state.person_answer import PositionQuestion
from ..state.settings import Settings
from ..state.visibility import is_heard, is_public
from . import phases
from .ending import ending, judge_is_due
from .guiding import positions_due, question_due, question_early, resting, to_put
from .node import current_settings
from .routing import choose_speaker, has_left, is_silent
from .situation import compared_with, for_step, situation_of


def leaving_since(state: Conversation) -> int | None:
    """The turn at which the participants began to take leave; None before that."""
    return state["closing_since"] if state["closing"] else None


def last_utterance(state: Conversation) -> Utterance:
    """The last utterance."""
    return utterances(state["messages"][-1:])[0]


def hearers(state: Mapping[str, Any], heard: Utterance) -> list[str]:
    """The agents whose model is asked about an utterance, its speaker included; never people."""
    return [
        name
        for name, mind in participants(state).items()
        if not mind.get("human") and is_heard(heard, name) and was_asked(mind, heard["turn"]) is not False
    ]


def overhearers(state: Conversation, heard: Utterance) -> list[str]:
    """The agents that remember an utterance without asking their model, in order of listing."""
    return [name for name, mind in participants(state).items() if was_asked(mind, heard["turn"]) is False]


def everyone_awakens(state: Conversation) -> list[Send]:
    """Route: every agent awakens, and so does a judge with a mind."""
    settings, minds = current_settings(), _minds(state)
    return [Send(phases.AWAKEN, for_step(state, mind, settings)) for mind in minds] + _judge_s_own(
        state, phases.AWAKEN, settings, beside=bool(minds)
    )


def _minds(state: Mapping[str, Any]) -> list[Mind]:
    """The minds of the agents, without people and the judge."""
    return [mind for mind in participants(state).values() if not mind.get("human")]


def _judge_s_own(state: Conversation, node: str, settings: Settings, **given: Any) -> list[Send]:
    """The same step for the judge's mind; empty if the judge has none."""
    mind = judge_mind(state)
    return [] if mind is None else [Send(node, for_step(state, mind, settings, **given))]


def has_awoken(mind: Step, failed: bool, settings: Settings) -> Literal["regroup", "end_check", "__end__"]:
    """The node after a mind's awakening: regroup if its model failed, else end_check.

    A judge's mind that awakens beside agents chooses no node, because their tasks do.
    """
    if mind.get("beside"):
        return "__end__"
    return phases.REGROUP if failed else phases.END_CHECK


def after_publishing(state: Conversation) -> list[Send | str] | list[Send] | Literal["select", "end_check"]:
    """Route: all hear the utterance; if its speaker failed or passed, another participant speaks.

    Waiting interventions come before another speaker, and so does the end if all participants have taken leave.
    """
    settings, since = current_settings(), leaving_since(state)
    tried = [silent for mind in participants(state).values() if (silent := mind.get("silent"))]
    if not any(silent["step"] == phases.SPEAK and silent["turn"] > state["turn"] for silent in tried):
        return _everyone_hears(state, settings)
    if state["interventions"] or (since is not None and all(has_left(m, since) for m in participants(state).values())):
        return phases.END_CHECK
    due = question_due(state, settings)
    if due is not None:  # the moderator's model failed
        return [_puts(state, due)]
    if settings.pattern == "selector":
        return phases.SELECT
    return [_speaks(state, _chosen(state, settings))]


def _everyone_hears(state: Conversation, settings: Settings) -> list[Send | str] | Literal["end_check"]:
    """The tasks after an utterance: hearing for its hearers, its speaker and the judge's mind; analysis; appraisal."""
    heard = last_utterance(state)
    minds, recalls = _hearing(state, heard), settings.memory_filtering
    sends: list[Send | str] = [
        Send(phases.HEAR, for_step(state, mind, settings, recalls=recalls, heard=heard)) for mind in minds
    ]
    if is_public(heard):
        sends += _judge_s_own(state, phases.HEAR, settings, recalls=recalls, heard=heard, beside=bool(minds))
    if overhearers(state, heard):
        sends.append(phases.OVERHEAR)
    if settings.analysis and is_public(heard):
        sends.append(Send(phases.ANALYSE, {"situation": situation_of(state, "", settings), "heard": heard}))
    if settings.human_turns == "need":
        people = [mind for name, mind in participants(state).items() if mind.get("human") and is_heard(heard, name)]
        sends += [Send(phases.PERSON_APPRAISES, for_step(state, mind, settings)) for mind in people if not mind["hand"]]
    return sends or phases.END_CHECK


def has_heard(mind: Step, failed: bool, settings: Settings) -> Literal["regroup", "judge", "end_check", "__end__"]:
    """The node after a mind has heard: regroup if its model failed, else judge if a verdict is due, else end_check.

    A judge's mind chooses end_check only if no agent hears; otherwise the agents' tasks choose.
    """
    turn, heard = mind["situation"]["turn"], mind["heard"]
    if mind.get("role") == "judge":
        return "__end__" if mind["beside"] else phases.END_CHECK
    if is_public(heard) and failed:
        return phases.REGROUP
    due = judge_is_due(turn, len(mind["situation"]["present"]), settings)
    return phases.JUDGE if due and (is_public(heard) or turn == settings.max_messages) else phases.END_CHECK


def beside_hearing(state: Conversation) -> Literal["end_check", "__end__"]:
    """Route of tasks that run in parallel with hearing: they stop here unless no agent hears (a whisper to people)."""
    return "__end__" if hearers(state, last_utterance(state)) else phases.END_CHECK


def nobody_took_part(state: Mapping[str, Any]) -> bool:
    """Whether the models of all agents failed: at awakening, or at hearing the last utterance, if it was public."""
    if not state.get("agents"):
        return False
    if not state["turn"]:
        silent = [mind.get("silent") for mind in _minds(state)]
        return bool(silent) and all(found is not None and found["step"] == phases.AWAKEN for found in silent)
    said = utterances(state["messages"][-1:])
    return bool(said) and is_public(said[0]) and all(is_silent(m, state["turn"]) for m in _hearing(state, said[0]))


def _hearing(state: Mapping[str, Any], heard: Utterance) -> list[Mind]:
    return [state["agents"][name] for name in hearers(state, heard)]


def after_regrouping(state: Conversation) -> list[Send] | Literal["__end__"]:
    """Route: if all agents failed, all try again, and a failure then ends the run; a resumed run tries again here."""
    settings, turn = current_settings(), state["turn"]
    heard = last_utterance(state) if turn else None
    if any(is_silent(mind, turn) for mind in (_hearing(state, heard) if heard else _minds(state))):
        return "__end__"  # other agents have awoken or heard, and their tasks chose the next node
    if heard is None:
        return [Send(phases.AWAKEN, for_step(state, mind, settings, required=True)) for mind in _minds(state)]
    recalls = settings.memory_filtering
    given = {"heard": heard, "required": True}
    return [
        Send(phases.HEAR, for_step(state, mind, settings, recalls=recalls, **given)) for mind in _hearing(state, heard)
    ]


_UNDECIDED: Final = ("stopped", "budget", "error")
"""Endings after which the judge is not asked for the position of the majority, because it would be one more call."""


def lacks_conclusion(state: Conversation, settings: Settings) -> bool:
    """Whether a debate that is over had no consensus, so that the judge words the position of the majority."""
    return settings.mode == "debate" and state["conclusion"] is None and state["stop_reason"] not in _UNDECIDED


Next = list[Send] | Literal["select", "intervene", "conclude", "__end__"]


def next_step(state: Conversation) -> Next:
    """Route after the end check: the end, the next intervention, the selector, or the participant chosen to speak.

    In a focus group, people first say where they stand, and the moderator speaks when a question of the guide is due.
    """
    settings = current_settings()
    if state["stop_reason"]:
        return phases.CONCLUDE if lacks_conclusion(state, settings) else "__end__"
    over = bool(state.get("guide") and state["turn"]) and ending(state, settings) is not None
    if waiting := positions_due(state, over=over):
        return [_takes_position(state, name, asked) for name, asked in waiting.items()]
    due = question_due(state, settings)
    moderator = state["guide"]["moderator"] if due is not None else None
    match pending(state):
        case Say() as words:
            puts = words.speaker == moderator and words.edited_by == "branch"
            return _saying(state, words, due if puts else None)
        case Floor(agent=agent, avoid=avoid, question=early):
            early_one = question_early(state, agent) if early else None
            number = due if due is not None and agent == moderator else early_one
            speaks = _puts(state, number, avoid=avoid) if number is not None else _speaks(state, agent, avoid=avoid)
            return [speaks, *_others_think(state, agent)]
        case None:
            pass
        case _:
            return phases.INTERVENE
    if due is not None and moderator is not None:
        return [_puts(state, due), *_others_think(state, moderator)]
    if settings.pattern == "selector":
        return phases.SELECT
    speaker = _chosen(state, settings)
    return [_speaks(state, speaker), *_others_think(state, speaker)]


def selected_speaks(state: Conversation) -> list[Send]:
    """Route: the selected participant speaks, and all others think."""
    speaker = state["selected"]["speaker"]
    return [_speaks(state, speaker), *_others_think(state, speaker)]


def _chosen(state: Conversation, settings: Settings) -> str:
    return choose_speaker(
        participants(state), state["turn"], settings, leaving_since=leaving_since(state), resting=resting(state)
    )


def _needs(state: Conversation) -> dict[str, int]:
    """All needs to talk that are known; with fixed cognition, only people's."""
    return {name: mind["need_to_talk"] for name, mind in participants(state).items() if "need_to_talk" in mind}


def _speaks(state: Conversation, speaker: str, *, avoid: Sequence[str] = ()) -> Send:
    """The task of the next speaker: an agent words an utterance, a person is asked for words."""
    settings, mind, needs = current_settings(), state["agents"][speaker], _needs(state)
    if mind.get("human"):
        return Send(phases.PERSON_SPEAKS, for_step(state, mind, settings, needs=needs))
    more: dict[str, Any] = {"avoid": list(avoid)} if avoid else {}
    if is_silent(mind, state["turn"]):  # no other participant can speak
        more["required"] = True
    return Send(phases.SPEAK, step_of_speaker(state, speaker, settings, **more))


def _puts(state: Conversation, number: int, *, avoid: Sequence[str] = ()) -> Send:
    """The task of a focus group's moderator, who puts a question of the guide.

    The question is said in the guide's words, without a model, if these are exact, or if the moderator's model failed.
    """
    settings, guide = current_settings(), state["guide"]
    name, put = guide["moderator"], to_put(state, number)
    mind = state["agents"][name]
    if mind.get("human"):
        return Send(phases.PERSON_SPEAKS, for_step(state, mind, settings, needs=_needs(state), puts=put))
    if guide["wording"] == "own" and not is_silent(mind, state["turn"]):
        more = {"avoid": list(avoid)} if avoid else {}
        return Send(phases.SPEAK, step_of_speaker(state, name, settings, puts=put, **more))
    return _says(state, Say(text=put["ask"], speaker=name), number)


def _takes_position(state: Conversation, name: str, asked: list[PositionQuestion]) -> Send:
    """The task of a person who says where they stand."""
    mind = for_step(state, state["agents"][name], current_settings(), positions=asked)
    return Send(phases.PERSON_TAKES_POSITION, mind)


def step_of_speaker(state: Conversation, speaker: str, settings: Settings, **given: Any) -> Step:
    """An agent's mind with the input with which it words an utterance.

    Args:
        state: the conversation.
        speaker: the agent.
        settings: of the simulation.
        **given: further input of the step.
    """
    said = compared_with(state, speaker, settings)
    return for_step(state, state["agents"][speaker], settings, needs=_needs(state), said=said, **given)


def _saying(state: Conversation, words: Say, question: int | None = None) -> list[Send]:
    """The task that says given words; the others think meanwhile unless it is a whisper, which they do not notice.

    Args:
        state: the conversation.
        words: to be said.
        question: the number of the guide's question that they put; None if they put none.
    """
    others = _others_think(state, words.speaker) if words.heard_by is None else []
    return [_says(state, words, question), *others]


def _says(state: Conversation, words: Say, question: int | None) -> Send:
    settings, speaker = current_settings(), words.speaker
    given: dict[str, Any] = {
        "situation": situation_of(state, speaker, settings),
        "needs": _needs(state),
        "text": words.text,
        "heard_by": words.heard_by,
        "mind": for_step(state, state["agents"][speaker], settings) if speaker else None,
        **({"edited_by": words.edited_by} if words.edited_by else {}),
        **({"question": question} if question is not None else {}),
    }
    return Send(phases.SAY, given)


def _others_think(state: Conversation, speaker: str) -> list[Send]:
    """Every other mind, the judge's included, reflects or plans as it chose; a silent mind has chosen nothing.

    With fixed cognition, nobody does, not even if a branch begins where minds had chosen. A mind
    thinks only once before an utterance, also if the first speaker chosen for it failed or passed.
    """
    settings, turn = current_settings(), state["turn"]
    if settings.cognition == "fixed":
        return []
    minds = [mind for name, mind in state["agents"].items() if name != speaker and not is_silent(mind, turn)]
    thinkers = [mind for mind in minds if mind["action"] and mind.get("thought", 0) <= turn]
    return [Send(phases.THINK, for_step(state, mind, settings)) for mind in thinkers]
