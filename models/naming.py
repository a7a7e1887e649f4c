"""Parses models' names: `offline`, `openai:<model>`, `<model>@http://host:port/v1` and so on."""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import urlsplit

from ..state.errors import InputError, suggestion
from ..state.plain_text import quoted
from .redaction import redact

Provider = Literal["offline", "openai", "azure", "ollama", "compatible", "llamacpp", "langchain"]

OFFLINE: Final = "offline"
DEFAULT: Final = "openai:gpt-4o-mini"
OLLAMA_PORT: Final = 11434
OPENAI_URL: Final = "https://api.openai.com/v1"
_MAX_SHOWN: Final = 120

SMOLLM2: Final = "smollm2"
_OWN: Final = ("openai", "azure", "ollama", "llamacpp", "hf")
PACKAGES: Final = {
    "anthropic": "langchain-anthropic",
    "bedrock": "langchain-aws",
    "cohere": "langchain-cohere",
    "deepseek": "langchain-deepseek",
    "fireworks": "langchain-fireworks",
    "google_genai": "langchain-google-genai",
    "google_vertexai": "langchain-google-vertexai",
    "groq": "langchain-groq",
    "huggingface": "langchain-huggingface",
    "mistralai": "langchain-mistralai",
    "openrouter": "langchain-openrouter",
    "perplexity": "langchain-perplexity",
    "together": "langchain-together",
    "xai": "langchain-xai",
}
"""The package for each provider that LangChain serves. Errors advise to install only these: a package name made from
what a user typed could belong to a stranger."""
_KNOWN: Final = (*_OWN, *PACKAGES)
_FAMILIES: Final = (
    (re.compile(r"(gpt|chatgpt|o\d)\b", re.IGNORECASE), "openai"),
    (re.compile(r"claude\b", re.IGNORECASE), "anthropic"),
    (re.compile(r"gemini\b", re.IGNORECASE), "google_genai"),
    (re.compile(r"(llama|qwen|gemma|mi[sx]tral|phi|deepseek)[\d.]*", re.IGNORECASE), "ollama"),
)
_HUB: Final = re.compile(r"hf:([\w.-]+)/([\w.-]+)/((?:[\w.+-]+/)*[\w.+-]+\.gguf)", re.ASCII)
_PART: Final = re.compile(r"-\d{5}-of-\d{5}\.gguf$")
_FORMS: Final = (
    "Use offline, openai:<model>, azure:<deployment>, ollama:<model>, <model>@http://host:port/v1, "
    "smollm2, hf:<owner>/<repo>/<file.gguf>, llamacpp:<file.gguf>, or <provider>:<model> as LangChain's "
    "init_chat_model knows it."
)


@dataclass(frozen=True)
class ModelName:
    """A parsed model name.

    Attributes:
        written: the name as the user wrote it; what errors, accounting and traces show.
        provider: the kind of client.
        model: the model's name at its server, a deployment, a file, or `provider:model` for LangChain.
        base_url: the server's address, without credentials; None for the client's own default.
    """

    written: str
    provider: Provider
    model: str
    base_url: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        """The key for what the process remembers about the model's server."""
        return (self.written, self.base_url or "")


def parse_model_name(name: str) -> ModelName:
    """Parse a model's name.

    Raises:
        InputError: the name has none of the known forms; the message suggests the nearest one.
    """
    written = name.strip()
    if written == OFFLINE:
        return ModelName(written, "offline", OFFLINE)
    if written == SMOLLM2:
        return ModelName(written, "llamacpp", SMOLLM2)
    found = list(re.finditer(r"@(?=https?://)", written, re.IGNORECASE))
    if found:
        model, url = written[: found[-1].start()], written[found[-1].end() :]
        return ModelName(written, "compatible", _named(model, written), server_address(url, "the model's name"))
    provider, colon, model = written.partition(":")
    if not colon:
        raise InputError(f"unknown model {shown(written)}", remedy=_bare_remedy(written))
    match provider:
        case "openai":
            url = os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE") or OPENAI_URL
            return ModelName(
                written, "openai", _named(model, written), server_address(url, "OPENAI_BASE_URL", key="OPENAI_API_KEY")
            )
        case "azure":
            return ModelName(written, "azure", _named(model, written), os.environ.get("AZURE_OPENAI_ENDPOINT") or None)
        case "ollama":
            return ModelName(written, "ollama", _named(model, written), _ollama_address())
        case "llamacpp":
            return ModelName(written, "llamacpp", _named(model, written))
        case "hf":
            return ModelName(written, "llamacpp", "/".join(hub_parts(written)))
    if provider.lower() in ("http", "https"):
        raise InputError(
            f"the model's name is missing in {shown(written)}",
            remedy="Put the name that the server knows and an @ before the address: <model>@http://localhost:8000/v1.",
        )
    if provider == OFFLINE or not re.fullmatch(r"[a-z][a-z0-9_-]*", provider):
        raise InputError(f"unknown model {shown(written)}", remedy=_FORMS)
    return ModelName(written, "langchain", f"{provider}:{_named(model, written)}")


def hub_parts(name: str) -> tuple[str, str, str]:
    """Owner, repository and file of `hf:OWNER/REPO/FILE.gguf`.

    Raises:
        InputError: the name has another form, or names one part of a model that is in several files.
    """
    found = _HUB.fullmatch(name)
    if found is None or ".." in name:
        raise InputError(
            f"{shown(name)} is not the name of a model file on the Hugging Face hub",
            remedy="Write hf:OWNER/REPO/FILE.gguf, as the hub's page of the file shows them.",
        )
    if _PART.search(name):
        raise InputError(
            f"{shown(name)} is one of several parts of a model", remedy="Choose a file that holds the whole model."
        )
    owner, repository, file = found.groups()
    return owner, repository, file


def default_model_name(explicit: str | None) -> tuple[str, str | None]:
    """The model to use and, if the user chose none, a line that says so.

    Args:
        explicit: the name in the settings or on the command line, if any.
    """
    if explicit:
        return explicit, None
    if os.environ.get("OPENAI_API_KEY"):
        return DEFAULT, f"No model was chosen; OPENAI_API_KEY is set, so {DEFAULT} answers. Choose with --model."
    return OFFLINE, (
        "No model was chosen, so the built-in offline model answers: it needs no key and is no language model. "
        "For a real one: --model openai:gpt-4o-mini (set OPENAI_API_KEY), --model ollama:llama3.2, or a small one on "
        "this machine (persimchat models get smollm2)."
    )


def unknown_provider(name: ModelName) -> InputError:
    """The error for a provider that LangChain does not know either."""
    provider = name.model.partition(":")[0]
    return InputError(
        f"unknown model provider {provider!r} in {shown(name.written)}", remedy=suggestion(provider, _KNOWN)
    )


def server_address(url: str, source: str, *, key: str = "PERSIMCHAT_API_KEY") -> str:
    """A server's address, checked, without a slash at its end.

    Args:
        url: the address.
        source: where the address was given, for the error.
        key: the environment variable of this server's key; empty if no key is sent to it.

    Raises:
        InputError: it is not an http(s) address, or has credentials, which would end up in logs and records.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if host is None or parts.scheme.lower() not in ("http", "https"):
        raise InputError(
            f"{source} does not have a valid server address",
            remedy="An address looks like http://localhost:8000/v1.",
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise InputError(
            f"{source} has credentials or parameters in the server's address",
            remedy=f"Give the address alone{f', and the key in the environment variable {key}' if key else ''}.",
        )
    return url.rstrip("/")


def shown(name: str) -> str:
    """A user's name for a model, as errors quote it: without keys and credentials, and shortened."""
    return quoted(redact(name), _MAX_SHOWN)


def _named(model: str, written: str) -> str:
    if not model.strip():
        raise InputError(f"the model's name is missing in {shown(written)}", remedy=_FORMS)
    return model.strip()


def _bare_remedy(name: str) -> str:
    if not name:
        return _FORMS
    for family, provider in _FAMILIES:
        if family.match(name):
            return f"Did you mean {provider}:{name}?"
    if name in _KNOWN:
        return f"Add the model's name: {name}:<model>."
    return suggestion(name, [OFFLINE, SMOLLM2], otherwise=_FORMS)


def _ollama_address() -> str:
    host = os.environ.get("OLLAMA_HOST", "").strip()
    if not host:
        return f"http://localhost:{OLLAMA_PORT}/v1"
    if "://" not in host:
        host = f"http://{host}" if ":" in host else f"http://{host}:{OLLAMA_PORT}"
    address = server_address(host, "OLLAMA_HOST", key="")
    # Ollama's own server reads this variable as the address to listen on; not every system can connect to 0.0.0.0.
    address = re.sub(r"(?<=//)0\.0\.0\.0(?=[:/]|$)", "127.0.0.1", address)
    return address if address.endswith("/v1") else f"{address}/v1"


KEY_HOSTS: Final = "PERSIMCHAT_KEY_HOSTS"
"""Environment variable: the hosts beside this machine that get the key in PERSIMCHAT_API_KEY."""


def is_this_machine(url: str | None) -> bool:
    """Whether an address is a loopback one."""
    host = (urlsplit(url).hostname if url else None) or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def may_have_own_key(url: str | None) -> bool:
    """Whether a server gets the key in PERSIMCHAT_API_KEY: one of this machine, or a host in PERSIMCHAT_KEY_HOSTS.

    That variable is a list of host names with commas between them, each with or without a port.
    """
    try:
        if is_this_machine(url):
            return True
        parts = urlsplit(url or "")
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme.lower() == "https" else 80)
    except ValueError:
        return False
    named = {entry.strip().lower() for entry in os.environ.get(KEY_HOSTS, "").split(",") if entry.strip()}
    return bool(host) and bool({host, f"{host}:{port}"} & named)
