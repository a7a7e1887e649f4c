"""A chain that holds ten conversations at once: idea ─▶ question ─▶ focus group ─▶ one line.

Shows that `build_conversation()` is a runnable like any other: it works in an LCEL chain, and `abatch` holds as many
conversations at a time as you allow. Each has its own memories.

    python examples/embedding/ten_groups.py
"""

from __future__ import annotations

import os
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda

from persimchat import Settings, build_conversation

GROUP = Settings(max_messages=4, model=os.environ.get("PERSIMCHAT_MODEL", "offline"))
IDEAS = [
    "a night bus",
    "a repair café",
    "free fruit",
    "a quiet room",
    "a four-day week",
    "a flea market",
    "car sharing",
]
IDEAS += ["a choir", "a town beach", "a mayor for children"]


class Questioner(BaseChatModel):
    """A chat model without a network: makes a question of the last words of its prompt."""

    @property
    def _llm_type(self) -> str:
        return "questioner"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        idea = messages[-1].text.rpartition(": ")[2]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(f"Does our town need {idea}?"))])


def as_input(question: str) -> dict[str, Any]:
    """The conversation's input."""
    return {"topic": question, "participants": ["Jarmila", "Adébáyọ̀", "Rowan"]}


def last_word(conversation: dict[str, Any]) -> str:
    """The last utterance and its speaker."""
    message = conversation["messages"][-1]
    return f"{message.name}: {message.text}"


def chain(model: BaseChatModel) -> Runnable[dict[str, str], str]:
    """From an idea to the last word on it."""
    prompt = ChatPromptTemplate.from_template("Word a question for the people of a town about this idea: {idea}")
    group = build_conversation(settings=GROUP)
    return prompt | model | StrOutputParser() | RunnableLambda(as_input) | group | RunnableLambda(last_word)


if __name__ == "__main__":
    import asyncio

    ideas: Any = [{"idea": idea} for idea in IDEAS]
    for idea, word in zip(IDEAS, asyncio.run(chain(Questioner()).abatch(ideas, {"max_concurrency": 5})), strict=True):
        print(f"{idea} - {word}")
    print("Simulated people are not people.")
