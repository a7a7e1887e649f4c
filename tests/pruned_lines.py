"""Lines of minds.jsonl that say what an utterance was worded without, made up."""

from __future__ import annotations

from typing import Any

from persimchat.state.minds.pruning import select

PIECES = (
    ("basic_information", "description", "description:1", "- Description: A keeper of bees.", 5, 0.5),
    ("basic_information", "trait", "trait:1", "- Trait: patient", 3, 0.1),
    ("memories", "memory", "5f1c", "- Memory 1: the hives in March", 6, 0.3),
    ("memories", "memory", "77aa", "- Memory 2: =SUM(A1:A9)", 4, 0.05),
    ("environment", "place", "place:1", "- Place: the orchard", 4, 0.05),
)
"""Block, kind, id, text, words and score of the pieces of a prompt."""


def heavy(turn: int) -> dict[str, Any]:
    """The record of a prompt of which the first piece holds nearly all of the score."""
    first, *others = PIECES
    return pruned(turn, 0.6, [(*first[:5], 9.3), *((*piece[:5], 0.175) for piece in others)])


def pruned(turn: int, strength: float = 0.6, pieces: Any = PIECES, **more: Any) -> dict[str, Any]:
    """The record of one prompt, as `nodes/minds/pruning.py` writes it: what goes is chosen by algorithm 1."""
    gone = set(select([piece[5] for piece in pieces], strength))
    items = [
        {"block": block, "kind": kind, "id": key, "text": text, "words": words, "score": score, "removed": n in gone}
        for n, (block, kind, key, text, words, score) in enumerate(pieces)
    ]
    total = sum(item["score"] for item in items)
    return {
        "turn": turn,
        "lambda": strength,
        "method": "embedding",
        "scorer": "",
        "query": "prompt",
        "responses": 0,
        "units": len(items),
        "removed": len(gone),
        "words": sum(item["words"] for item in items),
        "words_removed": sum(item["words"] for item in items if item["removed"]),
        "share": sum(item["score"] for item in items if item["removed"]) / total if total else None,
        "items": items,
        **more,
    }
