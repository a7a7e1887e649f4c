"""A question that can be shortened if the model's context is too small for it.

Memories are removed first, beginning with the lowest score, then utterances, beginning with the oldest. In a story,
what has happened stands in the place of memories, the oldest first. Persona, topic, the last utterance and the task
always stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from .blocks import Block, estimated_tokens
from .rendering import render

_A_MESSAGE: Final = 8
"""Tokens that a server's chat template puts around a message, about."""
_LEAST: Final = {"memories": 0, "happened": 0, "last_utterances": 1}
"""Blocks that can be shortened, and how many items each keeps at least."""


class Dropped(NamedTuple):
    """The number of items left out of a prompt."""

    memories: int = 0
    utterances: int = 0


@dataclass(frozen=True)
class Question:
    """A request to a model.

    Attributes:
        messages: all messages.
        template: the template of the first messages; empty if they cannot be shortened.
        values: the values of the template.
        said: messages at the end: unusable answers, each with the reply to it.
    """

    messages: list[BaseMessage]
    template: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    said: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, template: str, values: Mapping[str, Any]) -> Question:
        """The question that a template makes."""
        return cls(render(template, **values), template, values)

    def followed(self, words: str, answer: str = "") -> Question:
        """The question with an answer added, if it is not empty, and the user's reply to it."""
        added = (answer, words)
        return replace(self, messages=_with(self.messages, added), said=(*self.said, added))

    def whole(self) -> Question:
        """The question in a form that cannot be shortened."""
        return replace(self, template="")

    def shortened_to(
        self, tokens: int, *, behind: str = "", size: Callable[[list[BaseMessage]], int] | None = None
    ) -> tuple[list[BaseMessage], Dropped]:
        """The messages without as few items as makes them fit, or, if they never fit, without all optional items.

        Args:
            tokens: the most tokens of the prompt.
            behind: text at the end of the messages.
            size: counts the prompt's tokens; if None, they are estimated.
        """
        size = size or prompt_size
        whole = self._without(Dropped(), behind)
        if not self.template or size(whole) <= tokens:
            return whole, Dropped()
        memories, utterances = _droppable(self.values)

        def at(step: int) -> tuple[list[BaseMessage], Dropped]:
            dropped = Dropped(min(step, memories), max(0, step - memories))
            return self._without(dropped, behind), dropped

        least, most = min(1, memories + utterances), memories + utterances
        while least < most:  # the fewest steps with which it fits
            middle = (least + most) // 2
            if size(at(middle)[0]) <= tokens:
                most = middle
            else:
                least = middle + 1
        return at(least)

    def lacking(self, dropped: Dropped) -> Question:
        """The question without as many memories and utterances; without further messages."""
        return Question.of(self.template, _cut_all(self.values, dropped)) if any(dropped) else self

    def _without(self, dropped: Dropped, behind: str) -> list[BaseMessage]:
        messages = self.messages
        if any(dropped):
            messages = render(self.template, **_cut_all(self.values, dropped))
            for added in self.said:
                messages = _with(messages, added)
        return followed_by(messages, behind) if behind else messages


def prompt_size(messages: list[BaseMessage]) -> int:
    """Tokens of a prompt as its server counts them, estimated."""
    return sum(estimated_tokens(str(message.text)) + _A_MESSAGE for message in messages)


def followed_by(messages: list[BaseMessage], text: str) -> list[BaseMessage]:
    """The messages with `text` of the user at the end.

    If the last message is a user's, the text joins it: many local chat templates require that user and assistant take
    turns.
    """
    if messages and isinstance(messages[-1], HumanMessage):
        last = messages[-1]
        return [*messages[:-1], last.model_copy(update={"content": f"{last.text}\n\n{text}"})]
    return [*messages, HumanMessage(text)]


def _with(messages: list[BaseMessage], added: tuple[str, str]) -> list[BaseMessage]:
    answer, words = added
    return followed_by([*messages, AIMessage(answer)] if answer else messages, words)


def _droppable(values: Mapping[str, Any]) -> tuple[int, int]:
    """How many memories and how many utterances may be left out."""
    found = dict.fromkeys(_LEAST, 0)
    for value in values.values():
        for block in value if isinstance(value, list | tuple) else (value,):
            if isinstance(block, Block) and block.tag in _LEAST:
                found[block.tag] = max(found[block.tag], len(block.items) - _LEAST[block.tag])
    return max(found["memories"], found["happened"]), found["last_utterances"]


def _cut_all(values: Mapping[str, Any], dropped: Dropped) -> dict[str, Any]:
    return {name: _cut(value, dropped) for name, value in values.items()}


def _cut(value: Any, dropped: Dropped) -> Any:
    if isinstance(value, list | tuple):
        return [_cut(part, dropped) for part in value]
    if not isinstance(value, Block) or value.tag not in _LEAST:
        return value
    if value.tag == "memories":
        return replace(value, items=value.items[: max(0, len(value.items) - dropped.memories)])
    if value.tag == "happened":
        return replace(value, items=value.items[dropped.memories :])
    return replace(value, items=value.items[dropped.utterances :])
