"""The answer to a question of an interview: set phrases around what the prompt shows, for this model has no views."""

from __future__ import annotations

from typing import Any, Final

from persimchat.models.offline.prompt import Prompt
from persimchat.models.offline.randomness import generator

SET_PHRASES: Final = "The offline model answers in set phrases: it has no views of its own."


def interview(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`InterviewReply`: one thing that the prompt shows: what the agent said last, remembers or means to do."""
    own = [said.words for said in prompt.recent if said.speaker == prompt.name]
    known = [f"What I said last was: {words}" for words in own[-1:]]
    known += [f"What has stayed with me: {memory.theme}" for memory in prompt.memories if memory.theme]
    known += [f"What I meant to do: {prompt.plan}"] if prompt.plan else []
    known = known or [f"I am {prompt.name}, and there is nothing of it that I remember."]
    drawn = generator(seed, "interview", prompt.name, prompt.turn, prompt.question).choice(known)
    return {"answer": f"{drawn} {SET_PHRASES}"}
