"""Another embedding for a world: all memories of all agents are embedded again, all or nothing.

The new memories are written beside the old ones, and take their place once they are whole.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from persimchat.memory.embedding_texts import embed
from persimchat.memory.store import MemoryStore, held_store
from persimchat.models.naming import parse_model_name
from persimchat.models.usage import cost_usd
from persimchat.prompts.blocks import estimated_tokens
from persimchat.runs.companion.renewing import renewed
from persimchat.runs.companion.worldfile import WorldFile, write_world
from persimchat.state.errors import InputError
from persimchat.state.memory import Memory
from persimchat.state.settings import Settings

MEMORIES: Final = "memory"
"""The folder of memories in the folder of a world."""
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


def refusal(file: WorldFile, wanted: str, folder: Path) -> InputError:
    """The error for a world whose memories were kept with another embedding."""
    return InputError(
        f"the memories of this world were kept with the embedding {file.embedding}, not {wanted}",
        where=str(folder),
        remedy=f"Leave embedding={wanted} out, or add --reembed to embed all memories again.",
    )


def cost_of(folder: Path, file: WorldFile, settings: Settings) -> Cost:
    """What embedding all memories again would take. Blocks.

    Args:
        folder: the world's.
        file: its world.json, with the embedding as it is.
        settings: with the new embedding.
    """
    with held_store(str(folder / MEMORIES)) as kept:
        texts = [one.text for agent in kept.agents(file.world) for one in _memories(kept, file, agent)]
        agents = len(kept.agents(file.world))
    tokens = sum(map(estimated_tokens, texts))
    name = settings.embedding
    remote = "@" in name or ":" in name
    return Cost(
        len(texts), agents, tokens, cost_usd(parse_model_name(name), tokens, 0, settings.prices) if remote else 0.0
    )


async def reembed(folder: Path, file: WorldFile, settings: Settings) -> WorldFile:
    """Embed all memories again, and put them in place of the old ones, all or none.

    Args:
        folder: the world's, whose lock is held, and whose memories are not open.
        file: its world.json.
        settings: with the new embedding.

    Returns:
        world.json with the new embedding.

    Raises:
        ModelError: the embedding failed; all is as it was.
        MachineError: the memories could not be written; all is as it was.
    """
    changed = file.model_copy(update={"embedding": settings.embedding})
    with renewed(folder) as part:
        old = await asyncio.to_thread(MemoryStore, str(folder / MEMORIES))
        new = await asyncio.to_thread(MemoryStore, str(part / MEMORIES))
        try:
            for agent in await asyncio.to_thread(old.agents, file.world):
                memories = await asyncio.to_thread(_memories, old, file, agent)
                for start in range(0, len(memories), _AT_ONCE):
                    some = memories[start : start + _AT_ONCE]
                    vectors = await embed(settings, [memory.text for memory in some], agent=agent)
                    await asyncio.to_thread(new.save, file.world, agent, settings.embedding, some, vectors)
        finally:
            await asyncio.to_thread(old.close)
            await asyncio.to_thread(new.close)
        await asyncio.to_thread(write_world, part, changed)
    return changed


def _memories(kept: MemoryStore, file: WorldFile, agent: str) -> list[Memory]:
    ids = kept.ids(file.world, agent)
    found = kept.load(file.world, agent, file.embedding, ids)
    return [found[one][0] for one in ids if one in found]
