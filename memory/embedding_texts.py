"""Turns texts into vectors, without blocking the event loop, and with errors that a user can read."""

from __future__ import annotations

import asyncio
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Final

import numpy as np

from ..models.failures import model_error
from ..models.ledger import Cut, current_ledger
from ..models.limits import pause_asked_for, slot
from ..models.recording import text_digest
from ..state.errors import InputError, ModelError
from ..state.settings import Settings
from .embeddings import LEXICAL, MINILM, MiniLMEmbeddings, ServerEmbeddings, embedding, remote_name
from .lexical import LexicalEmbeddings
from .retrieval import Vectors

_MODULE = "embedding"
_FEW = 16
"""So many short texts take the lexical embedding a few milliseconds: using a thread would be slower."""


_SAME: Final = 0.99
"""The least cosine of two embeddings of one text by one model; servers round differently."""


_FIRST: Final = "A boat lies in the harbour."
"""Embedded with every request of a simulation: its vector tells one model from another."""


class Space:
    """The vectors of one simulation's memories: another model behind the embedding's name is noticed."""

    def __init__(self) -> None:
        self.first: Vectors | None = None

    def check(self, first: Vectors, known: tuple[Vectors, Vectors] | None, name: str, agent: str) -> None:
        """Raise InputError if vectors come from another model than those before.

        Args:
            first: of `_FIRST`.
            known: of a memory, now and as it was kept; None if no memory was.
            name: the embedding's.
            agent: on whose behalf.
        """
        if known is not None:
            try:
                check_same(*known, name, agent)
            except InputError:
                self.first = None  # it may be the other model's
                raise
        if self.first is not None:
            check_same(first, self.first, name, agent)
        self.first = first


async def embed(
    settings: Settings,
    texts: Sequence[str],
    *,
    agent: str = "",
    space: Space | None = None,
    known: tuple[str, Vectors] | None = None,
) -> Vectors:
    """Embed texts.

    If the run has a ledger, a server's embeddings are recorded, or taken from the record.

    Args:
        settings: `embedding`, `timeout_s` and the limits on requests count.
        texts: what to embed, at least one text.
        agent: on whose behalf; named in errors.
        space: whose vectors a server's must be like; nothing is written before that is known.
        known: a text with its vector as it was kept, where `space` has none of this process.

    Returns:
        Shape (number of texts, dimensions), rows of length 1, or 0 if a text has nothing to compare.

    Raises:
        TransientModelError: the embedding's server failed for a transient reason.
        ModelError: it failed permanently, or did not answer with vectors.
        InputError: the embedding's name is wrong, a requirement is missing, a record lacks a text, or the server has
            another model than before.
    """
    name, wanted = settings.embedding.strip(), list(texts)
    ledger = None if name in (LEXICAL, MINILM) else current_ledger()
    if ledger is not None and ledger.replays:
        remote_name(name)
        return np.stack([_decoded(ledger.vector(text_digest(text))) for text in wanted])
    # Making one reads files (certificates, or a model that takes seconds); the lexical one needs none.
    model = embedding(name, settings) if name == LEXICAL else await asyncio.to_thread(embedding, name, settings)
    if isinstance(model, LexicalEmbeddings) and len(wanted) <= _FEW:
        return _checked(model.embed_documents(wanted), len(wanted), name, agent)
    if isinstance(model, LexicalEmbeddings | MiniLMEmbeddings):
        return _checked(await asyncio.to_thread(model.embed_documents, wanted), len(wanted), name, agent)
    server, first = ("embedding", settings.embedding), [_FIRST, *([known[0]] if known else [])] if space else []
    try:
        async with slot(settings, model=server):
            rows = await asyncio.to_thread(model.embed_documents, [*first, *wanted])
    except Exception as error:
        pause_asked_for(error, server, name)
        raise model_error(
            error, remote_name(name), agent=agent, module=_MODULE, timeout_s=settings.timeout_s
        ) from error
    longest = model.longest if isinstance(model, ServerEmbeddings) else 0
    if ledger is not None and 0 < longest < max(map(len, wanted)):
        ledger.note_cut(Cut(agent, name, longest))
    vectors = _checked(rows, len(first) + len(wanted), name, agent)
    if space is not None:
        space.check(vectors[0], (vectors[1], known[1]) if known else None, name, agent)
        vectors = vectors[len(first) :]
    if ledger is None:
        return vectors
    recorded = []
    for text, vector in zip(wanted, vectors, strict=True):
        recorded.append(_decoded(ledger.embedded(text_digest(text), _encoded(vector))))
        check_same(vector, recorded[-1], name, agent)
    return np.stack(recorded)


def check_same(vector: Vectors, kept: Vectors, name: str, agent: str) -> None:
    """Raise InputError if the vectors of one text, now and as it was kept, come from two models.

    It is no failure of one mind, which would be silent for a turn.
    """
    now, then = vector.shape[-1], kept.shape[-1]
    if now == then and (float(vector @ kept) >= _SAME or not kept.any()):
        return
    what = f"{now} numbers a text, not {then}" if now != then else "other numbers for a text that was embedded before"
    raise InputError(
        f"the embedding is another one than the one that memories were kept with: it gives {what}",
        where=f"embedding {name}, memories of {agent}" if agent else f"embedding {name}",
        remedy="Start its server with the model of then; a companion's memories can be embedded again (--reembed).",
    )


def _encoded(vector: Vectors) -> str:
    """A vector for a record: float32 values, little endian, as base64."""
    return b64encode(vector.astype("<f4").tobytes()).decode()


def _decoded(text: str) -> Vectors:
    return np.frombuffer(b64decode(text), dtype="<f4").astype(np.float32)


def _checked(rows: list[list[float]], expected: int, name: str, agent: str) -> Vectors:
    """The rows as unit vectors, after checking that they are vectors."""
    try:
        vectors = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):  # of several lengths, or no numbers
        vectors = np.empty((0, 0))
    if vectors.ndim != 2 or vectors.shape[0] != expected or not vectors.size or not np.isfinite(vectors).all():
        raise ModelError(
            f"the embedding returned {len(rows)} vectors for {expected} texts, or some of them are unusable",
            model=name,
            agent=agent,
            module=_MODULE,
            remedy="Check that the model is an embedding model.",
        )
    huge = np.abs(vectors).max(axis=1, keepdims=True)
    vectors = np.where(huge > 1e100, vectors / np.maximum(huge, 1.0), vectors)  # their squares would be infinite
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0).astype(np.float32)
    return unit
