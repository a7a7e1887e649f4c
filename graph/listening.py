"""Which agents are asked about an utterance if the setting `listeners` is a number: pure functions."""

from __future__ import annotations

from itertools import islice

from persimchat.nodes.overhearing import concern_of
from persimchat.state.conversation import Conversation, each_utterance, participants
from persimchat.state.listening import Listening, most_concerned, noticed
from persimchat.state.mind import Utterance
from persimchat.state.settings import Settings
from persimchat.state.visibility import is_heard


def listening_to(state: Conversation, heard: Utterance, settings: Settings) -> dict[str, Listening]:
    """The new record of listening of every agent that hears an utterance; empty if all are asked.

    Args:
        state: the conversation, with the utterance as its last message, which `turn` does not count yet.
        heard: the utterance.
        settings: `listeners` and `recent_utterances` are read.
    """
    if settings.listeners == "all":
        return {}
    minds = {
        name: mind for name, mind in participants(state).items() if not mind.get("human") and is_heard(heard, name)
    }
    before = islice(reversed(state["messages"]), 1, 1 + min(state["turn"], settings.recent_utterances))
    said: dict[str, str] = {}
    for utterance in each_utterance(before):
        said.setdefault(utterance["speaker"], utterance["text"])
    concerns = [concern_of(mind, heard, said.get(name, "")) for name, mind in minds.items() if name != heard["speaker"]]
    asked = {heard["speaker"], *most_concerned(concerns, settings.listeners)}
    return {
        name: noticed(mind.get("listening"), heard["turn"], mind["emotion"], asked=name in asked)
        for name, mind in minds.items()
    }
