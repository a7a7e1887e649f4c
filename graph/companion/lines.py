"""The transcript of a pair as messages, and what prompts show of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage

from persimchat.state.companion import LINES, Tie
from persimchat.state.companion_state import LINE
from persimchat.state.emotion import EmotionalState
from persimchat.state.mind import Utterance

_CALM: Final = EmotionalState().model_dump()


def line(said: str, *, own: bool, exchange: str, talk: str, at: str, n: int) -> AnyMessage:
    """A line of the transcript.

    Args:
        said: the words.
        own: whether the agent said them.
        exchange: id of the exchange.
        talk: id of the talk.
        at: ISO time.
        n: the line's number in the pair's transcript, from 1.
    """
    about = {LINE: {"exchange": exchange, "talk": talk, "at": at, "n": n}}
    kind = AIMessage if own else HumanMessage
    return kind(content=said, id=line_id(exchange, own=own), additional_kwargs=about)


def line_id(exchange: str, *, own: bool) -> str:
    """The id of a line's message, under which its words stream."""
    return f"{exchange}-{'answer' if own else 'words'}"


def about(message: BaseMessage) -> dict[str, Any]:
    """What the transcript knows of a message; empty for a message that is not in it yet."""
    found = message.additional_kwargs.get(LINE)
    return dict(found) if isinstance(found, dict) else {}


def new_words(messages: Sequence[AnyMessage]) -> AnyMessage | None:
    """The human message at the end that is not in the transcript yet; None if there is none."""
    last = messages[-1] if messages else None
    return last if isinstance(last, HumanMessage) and not about(last) else None


def of_talk(messages: Sequence[AnyMessage], talk: str) -> list[AnyMessage]:
    """The lines of one talk."""
    return [message for message in messages if about(message).get("talk") == talk]


def shown(messages: Sequence[AnyMessage], agent: str, person: str, window: int) -> list[Utterance]:
    """The last lines as utterances, oldest first.

    When there are more than the window holds, half a window goes at once: so most prompts begin with the lines with
    which the one before began, and a server's cache keeps them.

    Args:
        messages: the transcript.
        agent: the agent's name.
        person: the person's name as the agent knows it.
        window: lines.
    """
    known = [message for message in messages if about(message)]
    if not known:
        return []
    half, last = max(1, window // 2), int(about(known[-1])["n"])
    first = max(0, -(-(last - window) // half) * half)
    found = [message for message in known if int(about(message)["n"]) > first]
    return [utterance(message, agent, person) for message in found]


def utterance(message: BaseMessage, agent: str, person: str) -> Utterance:
    """A line as an utterance."""
    own = isinstance(message, AIMessage)
    return {
        "turn": int(about(message).get("n", 0)),
        "speaker": agent if own else person,
        "text": str(message.text),
        "addressees": [person if own else agent],
        "emotion": _CALM if own else {},
        "need_to_talk": {},
        "response_time_s": 0.0,
        "tokens": {},
        "corrections": [],
    }


def gone(messages: Sequence[AnyMessage], tie: Tie) -> list[str]:
    """Ids of the lines that a thread need not keep: neither among the last ones, nor of a talk to be consolidated."""
    open_talks = {talk.id for talk in tie.unconsolidated}
    return [
        str(message.id) for message in messages[:-LINES] if about(message) and about(message)["talk"] not in open_talks
    ]
