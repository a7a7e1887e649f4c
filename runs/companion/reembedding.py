"""Another embedding for a world: all memories of all agents are embedded again, all or nothing."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...memory.embedding_texts import embed
from ...memory.store import MemoryStore
from ...models.naming import parse_model_name
from ...models.usage import cost_usd
from ...prompts.blocks import estimated_tokens
from ...state.errors import InputError
from ...state.settings import Settings
from .events import Opened
from .folder import memories_in, renewed

_AT_ONCE: Final = 256
"""Texts embedded at once."""


@dataclass(frozen=True)
class Cost:
    """What embedding all memories again takes.

    Attributes:
        memories: how many.
        agents: of how many agents.
        tokens: estimated.
        usd: US dollars; None if the price is not known.
    """

    memories: int
    agents: int
    tokens: int
    usd: float | None

    def __str__(self) -> str:
        price = "" if self.usd is None else f", {self.usd:.4f} US dollars"
        whose = "1 agent" if self.agents == 1 else f"{self.agents} agents"
        return f"{self.memories:,} memories of {whose}, about {self.tokens:,} tokens{price}"


def refusal(known: Opened, wanted: str, folder: Path) -> InputError:
    """The error for a world whose memories were kept with another embedding."""
    return InputError(
        f"the memories of this world were kept with the embedding {known.embedding}, not {wanted}",
        where=str(folder),
        remedy=f"Leave embedding={wanted} out, or add --reembed to embed all memories again.",
    )


def cost_of(folder: Path, known: Opened, settings: Settings) -> Cost:
    """What embedding all memories again would take. Blocks.

    Args:
        folder: the world's.
        known: what it is, with the embedding as it is.
        settings: with the new embedding.
    """
    found, name = memories_in(folder, known), settings.embedding
    texts = [memory.text for memories in found.values() for memory in memories]
    tokens = sum(map(estimated_tokens, texts))
    remote = "@" in name or ":" in name
    usd = cost_usd(parse_model_name(name), tokens, 0, settings.prices) if remote else 0.0
    return Cost(len(texts), len(found), tokens, usd)


async def reembed(folder: Path, known: Opened, settings: Settings) -> None:
    """Embed all memories again, and put them in place of the old ones, all or none.

    Args:
        folder: the world's, whose lock is held, and whose memories are not open.
        known: what it is.
        settings: with the new embedding.

    Raises:
        ModelError: the embedding failed; all is as it was.
        MachineError: the memories could not be written; all is as it was.
    """
    found = await asyncio.to_thread(memories_in, folder, known)
    with (
        renewed(folder, embedding=settings.embedding) as (_, part),
        closing(await asyncio.to_thread(MemoryStore, str(part))) as new,
    ):
        for agent, memories in found.items():
            for start in range(0, len(memories), _AT_ONCE):
                some = memories[start : start + _AT_ONCE]
                vectors = await embed(settings, [memory.text for memory in some], agent=agent)
                await asyncio.to_thread(new.save, known.world, agent, settings.embedding, some, vectors)
