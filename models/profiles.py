"""What each kind of server accepts and reports, in one table.

A profile is the knowledge before the first request to a server. `ladder.py` remembers what a server then refuses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, Literal

from .naming import ModelName, Provider


class Bounds(StrEnum):
    """A kind of limit in a JSON schema, by what it limits."""

    NUMBERS = "number bounds"
    ARRAYS = "array bounds"
    STRINGS = "string bounds"


KEYWORDS: Final[Mapping[Bounds, tuple[str, str]]] = {
    Bounds.NUMBERS: ("minimum", "maximum"),
    Bounds.ARRAYS: ("minItems", "maxItems"),
    Bounds.STRINGS: ("minLength", "maxLength"),
}
"""The keywords of each kind: for the least and the greatest."""

ALL_BOUNDS: Final = frozenset(Bounds)

TOKEN_LIMITS: Final = ("max_tokens", "max_completion_tokens", "max_output_tokens", "num_predict")
"""Names of the field that limits an answer's tokens."""

Tells = Literal["nothing", "client", "openai", "ollama", "file"]


@dataclass(frozen=True)
class Profile:
    """What one kind of server accepts and reports.

    Attributes:
        bounds: kinds of limits that its JSON schemas may have.
        longest: the greatest `maxLength` that it accepts; llama.cpp refuses grammars with more than 2,000 repetitions.
        strict: whether a request asks for strict adherence to the schema.
        token_limit: names of the field that limits an answer's tokens, best first; empty if none is sent.
        seed: whether a request has a seed.
        stream_options: whether a request for a stream asks for the count of its tokens.
        cached: paths in its answers to the number of prompt tokens from its cache, in order of search.
        says_the_end: whether its streams end with the reason why they stopped.
        tells_context: the source of the length of the model's context: none ("nothing"), the client library, a server
            with the paths of vLLM and llama.cpp ("openai"), Ollama, or the model's own file.
        context: tokens of the context if neither that source nor the setting `context_tokens` gives them.
        thinks: whether the model's thinking counts against the limit of its answers.
    """

    bounds: frozenset[Bounds] = ALL_BOUNDS
    longest: int = 2000
    strict: bool = False
    token_limit: tuple[str, ...] = ()
    seed: bool = False
    stream_options: bool = False
    cached: tuple[tuple[str, ...], ...] = ()
    says_the_end: bool = False
    tells_context: Tells = "nothing"
    context: int = 8192
    thinks: bool = False


_CACHED: Final = (
    ("usage", "prompt_tokens_details", "cached_tokens"),  # OpenAI, and most others
    ("usage", "prompt_cache_hit_tokens"),  # DeepSeek
    ("timings", "cache_n"),  # older llama.cpp
)

_OPENAI: Final = Profile(
    # https://platform.openai.com/docs/guides/structured-outputs, "Supported schemas", read as of February 2026: strict
    # mode takes bounds of numbers and arrays, and none of strings.
    bounds=frozenset({Bounds.NUMBERS, Bounds.ARRAYS}),
    strict=True,
    token_limit=("max_completion_tokens", "max_tokens"),
    seed=True,
    stream_options=True,
    cached=_CACHED,
    says_the_end=True,
    tells_context="client",
    context=128_000,
)
_SERVER: Final = Profile(
    strict=True,
    token_limit=("max_tokens", "max_completion_tokens"),
    seed=True,
    stream_options=True,
    cached=_CACHED,
    says_the_end=True,
    tells_context="openai",
)

PROFILES: Final[Mapping[Provider, Profile]] = {
    "offline": Profile(seed=True),
    "openai": _OPENAI,
    "azure": _OPENAI,
    "compatible": _SERVER,
    "ollama": replace(_SERVER, tells_context="ollama"),
    "llamacpp": replace(_SERVER, tells_context="file"),
    "langchain": Profile(bounds=frozenset({Bounds.NUMBERS, Bounds.ARRAYS}), tells_context="client"),
}
"""By kind of client."""

_LANGCHAIN_LIMITS: Final[Mapping[str, str]] = {
    "google_genai": "max_output_tokens",
    "google_vertexai": "max_output_tokens",
    "ollama": "num_predict",
} | dict.fromkeys(
    ("anthropic", "azure_ai", "bedrock", "bedrock_converse", "cohere", "deepseek", "fireworks", "groq")
    + ("huggingface", "mistralai", "nvidia", "openai", "openrouter", "perplexity", "together", "xai"),
    "max_tokens",
)
"""The field of the token limit by the provider's name for `init_chat_model`; other providers get no limit."""

_THINKING: Final = re.compile(
    r"(?:^|[/:._-])(?:o[1-9]|gpt-5|gpt-oss|codex|qwq|qwen3|deepseek-(?:r\d|reasoner)|r1|magistral|thinking|reasoning"
    r"|reasoner|gemini-(?:2\.5|3)|glm-[45]|kimi-k2-thinking|nemotron|phi-4-mini-reasoning|exaone-deep)(?=$|[/:._@-])",
    re.IGNORECASE,
)
_ANSWERS_AT_ONCE: Final = re.compile(r"instruct|non-?thinking|no-?think|gpt-5-chat|gpt-5[.\d]*-chat", re.IGNORECASE)


def profile_of(name: ModelName) -> Profile:
    """The profile of a model's server; the model's name says whether the model thinks."""
    profile = PROFILES[name.provider]
    if name.provider == "langchain":
        limit = _LANGCHAIN_LIMITS.get(name.model.partition(":")[0])
        profile = replace(profile, token_limit=(limit,) if limit else ())
    thinks = bool(_THINKING.search(name.model)) and not _ANSWERS_AT_ONCE.search(name.model)
    return replace(profile, thinks=thinks)
