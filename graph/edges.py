"""The conversation's edges: what happens next, and what each step is given. Nothing here writes or asks a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, cast

from langgraph.types import Send

from persimchat.graph.ending import judge_is_due
from persimchat.graph.node import current_settings
from persimchat.graph.routing import choose_speaker, has_left, is_silent
from persimchat.graph.situation import for_step, last_heard, situation_of
from persimchat.nodes.intervening import pending
from persimchat.state.conversation import Conversation, utterances
from persimchat.state.intervention import Floor, Say
from persimchat.state.mind import Utterance
from persimchat.state.settings import Settings
from persimchat.state.visibility import is_heard, is_public


def leaving_since(state: Conversation) -> int | None:
    """While people take leave, how many utterances were made when that began."""
    return state["closing_since"] if state["closing"] else None


def last_utterance(state: Conversation) -> Utterance:
    """The utterance that was made last."""
    return utterances(state["messages"][-1:])[0]


def hearers(state: Conversation, heard: Utterance) -> list[str]:
    """The agents who hear an utterance, its speaker included; people hear for themselves."""
    return [name for name, mind in state["agents"].items() if not mind.get("human") and is_heard(heard, name)]


def everyone_awakens(state: Conversation) -> list[Send]:
    """Route: every agent awakens, and the judge who has a mind."""
    settings = current_settings()
    agents = [mind for mind in state["agents"].values() if not mind.get("human")]
    return [
        *(Send("awaken", for_step(state, mind, settings)) for mind in agents),
        *(Send("judge_awakens", for_step(state, mind, settings)) for mind in state["judge_mind"].values()),
    ]


def after_publishing(state: Conversation) -> list[Send] | Literal["select", "end_check"]:
    """Route: the utterance is heard; where its speaker failed or passed, somebody else speaks.

    Before that comes what people ask for; and where the one who passed was the last to take leave, the end.
    """
    settings, since = current_settings(), leaving_since(state)
    tried = [mind["silent"] for mind in state["agents"].values() if mind.get("silent")]
    if not any(silent["step"] == "speak" and silent["turn"] > state["turn"] for silent in tried):
        return _everyone_hears(state, settings)
    if state["interventions"] or (since is not None and all(has_left(m, since) for m in state["agents"].values())):
        return "end_check"
    if settings.pattern == "selector":
        return "select"
    return [_speaks(state, _chosen(state, settings))]


def _everyone_hears(state: Conversation, settings: Settings) -> list[Send] | Literal["end_check"]:
    """Whoever is to hear the last utterance does, its speaker included; the judge's mind and the analysis, too."""
    heard = last_utterance(state)
    to = [("hear", state["agents"][name]) for name in hearers(state, heard)]
    if is_public(heard):
        to += [("judge_hears", mind) for mind in state["judge_mind"].values()]
    recalls = settings.memory_filtering
    sends = [Send(node, for_step(state, mind, settings, recalls=recalls, heard=heard)) for node, mind in to]
    if settings.analysis and is_public(heard):
        sends.append(Send("analyse", {"situation": situation_of(state, "", settings), "heard": heard}))
    if settings.human_turns == "need":
        people = [mind for name, mind in state["agents"].items() if mind.get("human") and is_heard(heard, name)]
        sends += [Send("person_appraises", for_step(state, mind, settings)) for mind in people if not mind["hand"]]
    return sends or "end_check"


def after_hearing(state: Conversation) -> Literal["regroup", "judge", "end_check"]:
    """Route of everybody by themselves: who could not hear meets the others; the judge is asked when it is time.

    An edge sees what its own step has changed, and nothing of what the others' have.
    """
    settings, turn, heard = current_settings(), state["turn"], last_utterance(state)
    if is_public(heard) and any(is_silent(mind, turn) for mind in _hearing(state, heard)):
        return "regroup"
    due = judge_is_due(turn, len(state["agents"]), settings)
    return "judge" if due and (is_public(heard) or turn == settings.max_messages) else "end_check"


def beside_hearing(state: Conversation) -> Literal["end_check", "__end__"]:
    """Route of what goes on beside hearing: those who hear lead on, and of a whisper there may be none."""
    return "__end__" if hearers(state, last_utterance(state)) else "end_check"


def nobody_heard(state: Conversation) -> bool:
    """Whether everybody's model has failed at the last utterance."""
    return all(is_silent(mind, state["turn"]) for mind in _hearing(state, last_utterance(state)))


def heard_by_nobody(state: Conversation | dict[str, Any]) -> bool:
    """Whether the last utterance was for everybody, and nobody's model could hear it."""
    said = utterances(state.get("messages", [])[-1:])
    return bool(said) and is_public(said[0]) and nobody_heard(cast(Conversation, state))


def _hearing(state: Conversation, heard: Utterance) -> list[dict[str, Any]]:
    return [state["agents"][name] for name in hearers(state, heard)]


def after_regrouping(state: Conversation) -> list[Send] | Literal["__end__"]:
    """Route: where everybody is to hear again, a failure ends the run, and resuming it tries again from here."""
    settings, turn, heard = current_settings(), state["turn"], last_utterance(state)
    if any(is_silent(mind, turn) for mind in _hearing(state, heard)):
        return "__end__"  # the others have heard, and go on meanwhile
    recalls = settings.memory_filtering
    given = {"heard": heard, "required": True}
    return [Send("hear", for_step(state, mind, settings, recalls=recalls, **given)) for mind in _hearing(state, heard)]


_UNDECIDED: Final = ("stopped", "budget")
"""Endings after which nobody is asked for the position of the majority: it would be one more call."""

Next = list[Send] | Literal["select", "intervene", "conclude", "__end__"]


def next_step(state: Conversation) -> Next:
    """Route: the end; or what people ask for; or somebody is selected; or the one who needs it most speaks."""
    settings = current_settings()
    if state["stop_reason"]:
        undecided = settings.mode == "debate" and state["conclusion"] is None and state["stop_reason"] not in _UNDECIDED
        return "conclude" if undecided else "__end__"
    match pending(state):
        case Say(text=text, speaker=speaker, heard_by=heard_by):
            return _saying(state, text, speaker, heard_by)
        case Floor(agent=agent, avoid=avoid):
            return [_speaks(state, agent, avoid=avoid), *_others_think(state, agent)]
        case None:
            pass
        case _:
            return "intervene"
    if settings.pattern == "selector":
        return "select"
    speaker = _chosen(state, settings)
    return [_speaks(state, speaker), *_others_think(state, speaker)]


def selected_speaks(state: Conversation) -> list[Send]:
    """Route: the one who was selected speaks, and everybody else thinks."""
    speaker = state["selected"]["speaker"]
    return [_speaks(state, speaker), *_others_think(state, speaker)]


def _chosen(state: Conversation, settings: Settings) -> str:
    return choose_speaker(state["agents"], state["turn"], settings, leaving_since=leaving_since(state))


def _needs(state: Conversation) -> dict[str, int]:
    return {name: mind["need_to_talk"] for name, mind in state["agents"].items()}


def _speaks(state: Conversation, speaker: str, *, avoid: Sequence[str] = ()) -> Send:
    """One speaks: an agent words it, a person is asked."""
    settings, mind, needs = current_settings(), state["agents"][speaker], _needs(state)
    if mind.get("human"):
        return Send("person_speaks", for_step(state, mind, settings, needs=needs))
    compared = settings.repetition_window if settings.repetition_check else 0
    said = [u["text"] for u in last_heard(state, speaker, compared)]
    more: dict[str, Any] = {"avoid": list(avoid)} if avoid else {}
    if is_silent(mind, state["turn"]):  # nobody else is left
        more["required"] = True
    return Send("speak", for_step(state, mind, settings, needs=needs, said=said, **more))


def _saying(state: Conversation, text: str, speaker: str, heard_by: list[str] | None) -> list[Send]:
    """Words that are given are said; nobody notices a whisper, so nobody thinks meanwhile."""
    settings = current_settings()
    mind = for_step(state, state["agents"][speaker], settings) if speaker else None
    given = {
        "situation": situation_of(state, speaker, settings),
        "needs": _needs(state),
        "text": text,
        "heard_by": heard_by,
        "mind": mind,
    }
    return [Send("say", given), *(_others_think(state, speaker) if heard_by is None else [])]


def _others_think(state: Conversation, speaker: str) -> list[Send]:
    """Everybody else does what they chose; who could not hear the last utterance has chosen nothing.

    Nobody thinks twice before the same utterance, where the first who was to make it failed or passed.
    """
    settings, turn = current_settings(), state["turn"]
    minds = [mind for name, mind in state["agents"].items() if name != speaker and not is_silent(mind, turn)]
    thinkers = [mind for mind in minds if mind["action"] and mind.get("thought", 0) <= turn]
    judges = [mind for mind in state["judge_mind"].values() if mind["action"] and mind.get("thought", 0) <= turn]
    return [
        *(Send("think", for_step(state, mind, settings)) for mind in thinkers),
        *(Send("judge_thinks", for_step(state, mind, settings)) for mind in judges),
    ]
