"""GGUF files made for tests: a header, and no tensors."""

from __future__ import annotations

import struct
from typing import Any

KNOWN: dict[str, Any] = {
    "general.architecture": "llama",
    "general.license": "apache-2.0",
    "general.size_label": "135M",
    "llama.context_length": 2048,
    "llama.block_count": 4,
    "llama.embedding_length": 64,
    "llama.attention.head_count": 8,
    "llama.attention.head_count_kv": 2,
    "tokenizer.ggml.tokens": ["a", "bc"],
    "tokenizer.ggml.scores": [0.5, 1.5],
}


def gguf(**changes: Any) -> bytes:
    """A file with these entries beside `KNOWN`; an entry of None is left out."""
    entries = {name: value for name, value in {**KNOWN, **changes}.items() if value is not None}
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, len(entries))
    return head + b"".join(_text(name) + _value(value) for name, value in entries.items())


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _value(value: Any) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value[0], str):
        return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(_text, value))
    return struct.pack(f"<IIQ{len(value)}f", 9, 6, len(value), *value)
