"""The bare model of a world: answers to what is no talk, such as a chat program's request for a title."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableLambda

from persimchat.models.answers import answer_text
from persimchat.models.exchange import Exchange
from persimchat.models.ledger import LEDGER
from persimchat.runs.companion.budget import talking_with
from persimchat.runs.companion.world import World

_MODULE: Final = "natural_language"
_PART: Final = "plain"
_TOKENS: Final = 1_024
"""The most tokens of an answer, unless the client says otherwise."""
_MOST_TOKENS: Final = 8_192
_KINDS: Final[dict[str, type[BaseMessage]]] = {
    "system": SystemMessage,
    "developer": SystemMessage,
    "assistant": AIMessage,
}


async def plain_answer(
    world: World,
    said: Sequence[tuple[str, str]],
    *,
    person: str,
    tokens: int | None = None,
    temperature: float | None = None,
    seed: int | None = None,
) -> str:
    """The answer of the model that words a world's utterances; counts in its budget, and no agent hears of it.

    Args:
        world: the world.
        said: role and text of each message.
        person: id of the person for whom it is asked, so that forgetting them forgets this request, too.
        tokens: the most tokens of the answer.
        temperature: of the answer; None: the settings'.
        seed: of the answer; None: the settings'.

    Raises:
        ModelError: the model failed.
        BudgetExhausted: the world's budget of the day is used up.
    """
    asked = [_KINDS.get(role, HumanMessage)(text) for role, text in said]
    limit = min(tokens or _TOKENS, _MOST_TOKENS)
    exchange = Exchange.on_behalf(world.settings.model_copy(update={"answer_tokens": limit}), "", _MODULE, 0, _PART)
    fields: dict[str, Any] = {} if temperature is None else {"temperature": temperature}
    if seed is not None and exchange.takes_seed:
        fields["seed"] = seed

    async def answer(_: None) -> str:
        talking_with.set(person)
        message, _seconds = await exchange.stream(asked, quietly=True, **fields)
        return answer_text(message)

    return await RunnableLambda(answer).ainvoke(None, {"configurable": {LEDGER: world.ledger}})
