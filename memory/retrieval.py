"""Retrieval: which memories are recalled, and why (thesis, 5.2.1, equation 5.1; specification, step 3).

Pure arithmetic on arrays; it knows no store. All memories alive are scored, so the best 30 are exact.

Two rules make the outcome the same on every machine. Cosines and scores are rounded to 12 decimals, because matrix
libraries do not add up equal rows equally, and min–max normalisation would amplify that noise. And of equal scores, the
newer memory (the one that arrived later) comes first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..state.minds.mind import Recalled
from ..state.settings import RetrievalWeights

RECENCY_DECAY: Final = 0.995
"""Recency is this to the power of the number of turns since a memory was last recalled; companions may have another."""
RECALLED_PER_FOCAL_POINT: Final = 30

COMPONENTS: Final = ("recency", "importance", "relevance", "emotional", "stm_relevance")

_DECIMALS: Final = 12
_ROWS_AT_ONCE: Final = 256

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Candidates:
    """The n memories alive, in order of arrival (oldest first).

    Attributes:
        ids: their ids.
        last_access: turn at which each was last recalled, shape (n,).
        importance: 0–10, shape (n,).
        emotions: emotional state when stored, six numbers 0–10 in the order `EMOTIONS`, shape (n, 6).
        vectors: embeddings of theme and keywords, shape (n, d).
    """

    ids: Sequence[str]
    last_access: NDArray[np.int64]
    importance: Floats
    emotions: Floats
    vectors: Vectors


@dataclass(frozen=True)
class Cue:
    """The cue of one recall.

    Attributes:
        focal_points: embeddings of the focal points, shape (f, d).
        stm: embedding of the memory in short-term memory, shape (d,); None if there is none or it is switched off.
        emotion: emotional state now, shape (6,); None if emotional retrieval is switched off.
        turn: number of utterances so far.
        decay: recency is this to the power of the turns since the last access.
    """

    focal_points: Vectors
    stm: Vectors | None
    emotion: Sequence[float] | None
    turn: int
    decay: float = RECENCY_DECAY


def cosines(queries: NDArray[np.floating], vectors: NDArray[np.floating]) -> Floats:
    """Cosine of every query with every vector, to 12 decimals; 0 if either is all zeros.

    Args:
        queries: shape (q, d).
        vectors: shape (n, d).

    Returns:
        Shape (q, n), each −1 to 1.
    """
    wanted = queries.astype(np.float64)
    result, lengths = np.empty((len(wanted), len(vectors))), np.empty(len(vectors))
    # Part by part: doubles of 10,000 vectors would not stay in the processor's cache.
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        doubles = vectors[part].astype(np.float64)
        result[:, part] = wanted @ doubles.T
        lengths[part] = _lengths(doubles)
    both = _lengths(wanted)[:, np.newaxis] * lengths
    np.divide(result, both, out=result, where=both > 0)
    return np.clip(result.round(_DECIMALS), -1.0, 1.0)


def recency(last_access: NDArray[np.int64], turn: int, decay: float = RECENCY_DECAY) -> Floats:
    """The decay to the power of the turns since the last access, shape (n,), each 0 to 1."""
    ages, where = np.unique(turn - last_access, return_inverse=True)
    # One power per distinct age: equal ages must give equal numbers, to the last bit.
    powers: Floats = np.power(decay, ages.astype(np.float64))[where]
    return powers


def normalised(values: Floats) -> Floats:
    """Min–max normalisation over the last axis, each 0 to 1; if all values are equal, all become 0."""
    low = values.min(axis=-1, keepdims=True)
    spread = values.max(axis=-1, keepdims=True) - low
    result: Floats = np.divide(values - low, spread, out=np.zeros_like(values), where=spread > 0)
    return result


def components(candidates: Candidates, cue: Cue, weights: RetrievalWeights) -> dict[str, Floats]:
    """The weighted, normalised components of the scores: by name of `COMPONENTS`, each of shape (f, n)."""
    f = len(cue.focal_points)
    queries = cue.focal_points if cue.stm is None else np.vstack([cue.focal_points, cue.stm])
    near = cosines(queries, candidates.vectors)
    raw = {
        "recency": recency(candidates.last_access, cue.turn, cue.decay),
        "importance": candidates.importance,
        "relevance": near[:f],
    }
    if cue.emotion is not None:
        raw["emotional"] = cosines(np.asarray([cue.emotion], dtype=np.float64), candidates.emotions)[0]
    if cue.stm is not None:
        raw["stm_relevance"] = near[f]
    shape = (f, len(candidates.ids))
    nothing = np.zeros(shape)
    return {
        name: np.broadcast_to(getattr(weights, name) * normalised(raw[name]), shape) if name in raw else nothing
        for name in COMPONENTS
    }


def retrieve(
    candidates: Candidates, cue: Cue, weights: RetrievalWeights, k: int = RECALLED_PER_FOCAL_POINT
) -> list[Recalled]:
    """Recall the k best memories for each focal point.

    Args:
        candidates: the memories alive.
        cue: the focal points and the agent's present state.
        weights: of the five components.
        k: how many per focal point.

    Returns:
        Every recalled memory once, with the focal point for which it scored highest (the first one among equals), best
        first; ties go to the newer memory.
    """
    n = len(candidates.ids)
    if n == 0 or len(cue.focal_points) == 0:
        return []
    parts = components(candidates, cue, weights)
    scores = np.sum([parts[name] for name in COMPONENTS], axis=0).round(_DECIMALS)
    # A stable sort of the reversed array puts the newer of two equals first.
    best = n - 1 - np.argsort(-scores[:, ::-1], axis=1, kind="stable")[:, :k]
    recalled = np.unique(best)
    # Highest over all focal points, even one for which many others scored higher.
    called_by = scores[:, recalled].argmax(axis=0)
    top = scores[called_by, recalled]
    order = np.lexsort((-recalled, -top))
    return [_explained(candidates.ids, parts, scores, int(called_by[i]), int(recalled[i])) for i in order]


def _explained(ids: Sequence[str], parts: dict[str, Floats], scores: Floats, focal_point: int, memory: int) -> Recalled:
    why = {name: round(float(parts[name][focal_point, memory]), _DECIMALS) for name in COMPONENTS}
    return Recalled(
        id=ids[memory],
        focal_point=focal_point,
        score=float(scores[focal_point, memory]),
        recency=why["recency"],
        importance=why["importance"],
        relevance=why["relevance"],
        emotional=why["emotional"],
        stm_relevance=why["stm_relevance"],
    )


def _lengths(rows: Floats) -> Floats:
    lengths: Floats = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return lengths
