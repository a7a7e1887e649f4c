"""Names of models that are offered; any other name can be typed."""

from __future__ import annotations

from typing import Final

MODELS: Final = (
    "offline",
    "openai:gpt-4o-mini",
    "openai:gpt-4o",
    "openai:gpt-4.1-mini",
    "ollama:llama3.2",
    "ollama:qwen2.5:7b",
    "qwen2.5-7b-instruct@http://localhost:8000/v1",
    "anthropic:claude-3-5-haiku-latest",
)
"""Language models, one of each kind at least."""

EMBEDDINGS: Final = ("lexical", "minilm", "openai:text-embedding-3-small", "bge-m3@http://localhost:8000/v1")
"""Embeddings."""
