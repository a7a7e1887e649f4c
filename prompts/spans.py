"""Where each piece of information stands in a rendered prompt, and the prompt's blocks without some of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..state.errors import PerSimChatError
from .blocks import Block, Item
from .rendering import block_begins, without_gaps, worded_item


@dataclass(frozen=True)
class Unit:
    """A removable piece of information of a prompt.

    Attributes:
        block: the place of its block among those of the prompt.
        item: its place in the block.
        tag: the block's tag.
        data: the item.
        id: of a memory: its id, where known; else its kind and its number among those of its kind.
        text: its words in the prompt, without the line end.
    """

    block: int
    item: int
    tag: str
    data: Item
    id: str
    text: str


def units_of(blocks: Sequence[Block], memory_ids: Mapping[int, str] | None = None) -> list[Unit]:
    """The removable pieces of information, in the order of the prompt.

    Args:
        blocks: of the prompt, in its order.
        memory_ids: the memories' ids by their numbers in the prompt.
    """
    found: list[Unit] = []
    counted: dict[str, int] = {}
    for b, block in enumerate(blocks):
        for i, item in enumerate(block.items):
            counted[item.kind] = counted.get(item.kind, 0) + 1
            if not item.prunable:
                continue
            number = item["number"] if item.kind == "memory" else None
            id_ = (memory_ids or {}).get(number) if number is not None else None
            text = str(worded_item(item)).rstrip("\n")
            found.append(Unit(b, i, block.tag, item, id_ or f"{item.kind}:{counted[item.kind]}", text))
    return found


def without(blocks: Sequence[Block], removed: Collection[tuple[int, int]]) -> list[Block]:
    """The blocks without some items; a block whose items are all gone is empty, so its heading goes with them.

    Args:
        blocks: of the prompt.
        removed: the places of the items: that of the block, and that in the block.
    """
    return [
        replace(block, items=tuple(item for i, item in enumerate(block.items) if (b, i) not in removed))
        for b, block in enumerate(blocks)
    ]


def together(units: Iterable[Unit]) -> list[Block]:
    """These pieces of information in their blocks, in the order of the prompt."""
    found: dict[int, Block] = {}
    for unit in sorted(units, key=lambda unit: (unit.block, unit.item)):
        block = found.setdefault(unit.block, Block(unit.tag, ()))
        found[unit.block] = replace(block, items=(*block.items, unit.data))
    return list(found.values())


def spans(text: str, blocks: Sequence[Block], units: Sequence[Unit]) -> list[tuple[int, int]]:
    """Where each unit stands in the user message of a prompt: its first character, and the one behind its line end.

    The items of a block follow one another behind the block's tag, so a search forward is exact.

    Args:
        text: the user message.
        blocks: of the prompt, in its order.
        units: of these blocks, in the order of the prompt.

    Raises:
        PerSimChatError: the message is not made of these blocks.
    """
    wanted = {(unit.block, unit.item): n for n, unit in enumerate(units)}
    found: dict[int, tuple[int, int]] = {}
    at = 0
    for b, block in enumerate(blocks):
        if not block.items:
            continue
        begin = block_begins(block)
        at = text.find(begin, at)
        if at < 0:
            raise _unlike(block)
        at += len(begin)
        for i, item in enumerate(block.items):
            words = without_gaps(str(worded_item(item)))
            if not text.startswith(words, at):
                raise _unlike(block)
            if (b, i) in wanted:
                found[wanted[b, i]] = (at, at + len(words))
            at += len(words)
    return [found[n] for n in range(len(units))]


def _unlike(block: Block) -> PerSimChatError:
    return PerSimChatError(
        f"the block {block.tag} does not stand in the prompt as it was worded",
        remedy="A template changes what blocks say; templates are in prompts/templates.",
    )
