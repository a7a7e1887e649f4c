"""The fixed list of providers, what each needs, and a model's name as provider, model and address.

Nothing here asks a server. Of a key it is only known whether its environment variable is set.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from types import MappingProxyType
from typing import Final

from .naming import OFFLINE, OLLAMA_PORT, PACKAGES, SMOLLM2, is_this_machine, may_have_own_key

FILE: Final = "file"
SERVER: Final = "server"
OLLAMA: Final = "ollama"
OTHER: Final = "other"
"""Providers without a name of their own: a file of this machine, a server by its address, anything else by name."""

SERVER_KEY: Final = "PERSIMCHAT_API_KEY"
USUAL_ADDRESSES: Final = (
    "http://localhost:8000/v1",
    "http://localhost:8080/v1",
    "http://localhost:1234/v1",
    f"http://localhost:{OLLAMA_PORT}/v1",
)
"""Where servers listen that nobody configured: vLLM, llama.cpp, LM Studio, Ollama."""


class Key(StrEnum):
    """What is known of a provider's key."""

    NOT_NEEDED = "not_needed"
    SET = "set"
    MISSING = "missing"
    OPTIONAL = "optional"
    """The variable is not set; many servers need no key."""
    WITHHELD = "withheld"
    """The variable is set, and its key is not sent to this server."""
    ELSEWHERE = "elsewhere"
    """The provider's library finds it, in a file or from the cloud's own tool."""


@dataclass(frozen=True)
class Offer:
    """A provider of the list.

    Attributes:
        id: the beginning of its models' names; `file`, `server` and `other` stand for names of other forms.
        name: its proper name; empty where pages use words of their language.
        keys: the environment variables that it needs; empty if none.
        elsewhere: whether its library finds the key elsewhere, too.
    """

    id: str
    name: str = ""
    keys: tuple[str, ...] = ()
    elsewhere: bool = False


OFFERS: Final[Mapping[str, Offer]] = MappingProxyType(
    {
        offer.id: offer
        for offer in (
            Offer(OFFLINE),
            Offer(FILE),
            Offer(SERVER),
            Offer(OLLAMA, "Ollama"),
            Offer("openai", "OpenAI", ("OPENAI_API_KEY",)),
            Offer("anthropic", "Anthropic", ("ANTHROPIC_API_KEY",)),
            Offer("azure", "Azure OpenAI", ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "OPENAI_API_VERSION")),
            Offer("bedrock", "Amazon Bedrock", ("AWS_ACCESS_KEY_ID",), elsewhere=True),
            Offer("cohere", "Cohere", ("COHERE_API_KEY",)),
            Offer("deepseek", "DeepSeek", ("DEEPSEEK_API_KEY",)),
            Offer("fireworks", "Fireworks AI", ("FIREWORKS_API_KEY",)),
            Offer("google_genai", "Google Gemini", ("GOOGLE_API_KEY",)),
            Offer("google_vertexai", "Google Vertex AI", ("GOOGLE_APPLICATION_CREDENTIALS",), elsewhere=True),
            Offer("groq", "Groq", ("GROQ_API_KEY",)),
            Offer("huggingface", "Hugging Face", ("HUGGINGFACEHUB_API_TOKEN",)),
            Offer("mistralai", "Mistral AI", ("MISTRAL_API_KEY",)),
            Offer("openrouter", "OpenRouter", ("OPENROUTER_API_KEY",)),
            Offer("perplexity", "Perplexity", ("PPLX_API_KEY",)),
            Offer("together", "Together AI", ("TOGETHER_API_KEY",)),
            Offer("xai", "xAI", ("XAI_API_KEY",)),
            Offer(OTHER),
        )
    }
)
"""Every provider by its id, in the order of pages."""


@dataclass(frozen=True)
class Parts:
    """A model's name in parts.

    Attributes:
        provider: an id of `OFFERS`.
        model: the model's name at its provider; the whole name where the provider is a file or another one.
        address: of a server; empty for all other providers.
    """

    provider: str
    model: str = ""
    address: str = ""

    @property
    def name(self) -> str:
        """The whole name; one that lacks the model is refused where it is read."""
        match self.provider:
            case "offline":
                return OFFLINE
            case "server":
                return f"{self.model}@{self.address}"
            case "file" | "other":
                return self.model
            case provider:
                return f"{provider}:{self.model}"


def parts_of(name: str) -> Parts:
    """The parts of a name, which may be incomplete or wrong: that is told where it is read."""
    name = name.strip()
    if name == OFFLINE or name in OFFERS and name not in (FILE, SERVER, OTHER):
        return Parts(name)
    if name == SMOLLM2 or name.startswith(("hf:", "llamacpp:")):
        return Parts(FILE, name)
    for scheme in ("@http://", "@https://"):
        if (at := name.lower().rfind(scheme)) >= 0:
            return Parts(SERVER, name[:at], name[at + 1 :])
    if name.lower().startswith(("http://", "https://")):
        return Parts(SERVER, "", name)
    provider, colon, model = name.partition(":")
    if colon and provider in OFFERS and provider not in (OFFLINE, FILE, SERVER, OTHER):
        return Parts(provider, model)
    return Parts(OTHER, name)


def key_of(provider: str, address: str = "") -> tuple[Key, tuple[str, ...]]:
    """What is known of a provider's key, and the environment variables that it is about.

    Args:
        provider: an id of `OFFERS`.
        address: of the server, if it is one.
    """
    if provider == SERVER:
        given = bool(os.environ.get(SERVER_KEY, "").strip())
        if not given:
            return Key.OPTIONAL, (SERVER_KEY,)
        return (Key.SET if may_have_own_key(address) else Key.WITHHELD), (SERVER_KEY,)
    offer = OFFERS[provider]
    missing = tuple(variable for variable in offer.keys if not os.environ.get(variable, "").strip())
    if not offer.keys:
        return (Key.ELSEWHERE if provider == OTHER else Key.NOT_NEEDED), ()
    if missing:
        return (Key.ELSEWHERE if offer.elsewhere else Key.MISSING), missing
    return Key.SET, offer.keys


def missing_packages(provider: str) -> tuple[str, ...]:
    """The packages that a provider of the list needs and this environment lacks; never made from a typed name."""
    package = PACKAGES.get(provider)
    if package is None:
        return ()
    needed = {"langchain": "langchain", package: package.replace("-", "_")}
    return tuple(name for name, module in needed.items() if find_spec(module) is None)


def is_local(address: str) -> bool:
    """Whether an address is one of this machine; False for what is no address."""
    try:
        return is_this_machine(address)
    except ValueError:
        return False
