"""The forward pass of a model of the llama architecture, which keeps of its attention only sums over queries.

Scores need, of all attention, one number a token of the prompt: how much the last tokens look at it. So nothing of the
size of a prompt squared exists: memory grows by keys and values, and by one block of queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

_BLOCK: Final = 256
"""Queries whose attention is in memory at the same time."""
_PIECE: Final = 1024
"""Tokens that are read at the same time."""


@dataclass(frozen=True)
class Shape:
    """The measures of a model.

    Attributes:
        layers: number of layers.
        width: length of a token's state.
        heads: heads of queries in a layer.
        kv_heads: heads of keys and values; a group of query heads shares each.
        head: length of a head's query, key and value.
        hidden: width of the feed-forward network.
        epsilon: what RMS normalisation adds to the mean square.
    """

    layers: int
    width: int
    heads: int
    kv_heads: int
    head: int
    hidden: int
    epsilon: float


@dataclass(frozen=True)
class Layer:
    """The weights of a layer; matrices have a row for each output.

    Attributes:
        attention_norm: of the state before attention.
        qkv: queries, keys and values, one below the other.
        attention_out: from the heads to the state.
        feed_norm: of the state before the feed-forward network.
        gate_up: gate and content of the feed-forward network, one below the other.
        down: from it to the state.
    """

    attention_norm: Floats
    qkv: Floats
    attention_out: Floats
    feed_norm: Floats
    gate_up: Floats
    down: Floats


@dataclass
class Cache:
    """Keys and values of the tokens read so far: (layers, heads, room for tokens, length of a head).

    Attributes:
        keys: with positions.
        values: beside them.
        length: how many tokens were read; a smaller number forgets the tokens behind it.
    """

    keys: Floats
    values: Floats
    length: int = 0


@dataclass(frozen=True)
class Llama:
    """A model of the llama architecture in 32-bit floats.

    Attributes:
        shape: its measures.
        embedding: the state with which each token begins.
        layers: from the first to the last.
        frequencies: by which each pair of a head's numbers turns with the position.
    """

    shape: Shape
    embedding: Floats
    layers: Sequence[Layer]
    frequencies: NDArray[np.float64]

    def cache(self, room: int) -> Cache:
        """An empty cache for so many tokens."""
        size = (self.shape.layers, self.shape.kv_heads, room, self.shape.head)
        return Cache(np.empty(size, np.float32), np.empty(size, np.float32))

    def read(self, ids: Sequence[int], cache: Cache, *, last: int = 0) -> NDArray[np.float64]:
        """Read tokens behind those in the cache, which grows.

        Args:
            ids: the tokens.
            cache: of what was read before.
            last: how many of the last tokens look; 0 if only the cache is wanted.

        Returns:
            How much they look at each token up to the last: averaged over heads and over the tokens that look, summed
            over layers. So the sum over all tokens is the number of layers. Zeros if none looks.
        """
        seen = np.zeros(cache.length + len(ids))
        with np.errstate(all="ignore"):  # a broken file shows in the scores, which are checked
            for first in range(0, len(ids), _PIECE):
                piece = ids[first : first + _PIECE]
                behind = len(ids) - first - len(piece)
                self._read_piece(piece, cache, max(0, min(last - behind, len(piece))), seen)
        return seen / (self.shape.heads * max(1, last))

    def _read_piece(self, ids: Sequence[int], cache: Cache, last: int, seen: NDArray[np.float64]) -> None:
        shape, n, start = self.shape, len(ids), cache.length
        cuts = shape.heads * shape.head, (shape.heads + shape.kv_heads) * shape.head
        state = self.embedding[list(ids)]
        turn = np.outer(np.arange(start, start + n), self.frequencies)
        cosine, sine = np.cos(turn).astype(np.float32), np.sin(turn).astype(np.float32)
        for number, layer in enumerate(self.layers):
            joined = _normalised(state, layer.attention_norm, shape.epsilon) @ layer.qkv.T
            q, k, v = (part.reshape(n, -1, shape.head).swapaxes(0, 1) for part in np.split(joined, cuts, axis=1))
            cache.keys[number, :, start : start + n] = _turned(k, cosine, sine)
            cache.values[number, :, start : start + n] = v
            q = _turned(q, cosine, sine) * np.float32(shape.head**-0.5)
            keys, values = cache.keys[number], cache.values[number]
            state = state + _attended(q, keys, values, start, last, seen) @ layer.attention_out.T
            joined = _normalised(state, layer.feed_norm, shape.epsilon) @ layer.gate_up.T
            gate, up = np.split(joined, 2, axis=1)
            state = state + (gate / (1 + np.exp(-gate)) * up) @ layer.down.T
        cache.length = start + n


def _attended(
    queries: Floats, keys: Floats, values: Floats, start: int, last: int, seen: NDArray[np.float64]
) -> Floats:
    """What the queries of one layer take from the values.

    Args:
        queries: (heads, tokens, length), scaled.
        keys: (heads of keys, room, length), those of the queries' tokens included.
        values: as the keys.
        start: tokens before the first query.
        last: of how many of the last queries the attention is wanted.
        seen: their attention is added to it.

    Returns:
        (tokens, heads × length).
    """
    heads, n, length = queries.shape
    kv_heads = len(keys)
    out = np.empty((n, heads * length), np.float32)
    for a in range(0, n, _BLOCK):
        b = min(a + _BLOCK, n)
        end = start + b
        grouped = queries[:, a:b].reshape(kv_heads, -1, length)  # the queries of a group share their keys
        p = (grouped @ keys[:, :end].swapaxes(1, 2)).reshape(heads, b - a, end)
        p[:, :, start + a :][:, np.triu(np.ones((b - a, b - a), bool), 1)] = -np.inf
        p -= p.max(-1, keepdims=True)
        np.exp(p, out=p)
        total = p.sum(-1, keepdims=True)
        wanted = max(a, n - last)
        if wanted < b:  # the rows are here anyway
            seen[:end] += (p[:, wanted - a :] / total[:, wanted - a :]).sum((0, 1), dtype=np.float64)
        mixed = (p.reshape(kv_heads, -1, end) @ values[:, :end]).reshape(heads, b - a, length) / total
        out[a:b] = mixed.swapaxes(0, 1).reshape(b - a, -1)
    return out


def _turned(x: NDArray[np.float32], cosine: Floats, sine: Floats) -> Floats:
    """Rotary positions; the numbers of a pair stand side by side in GGUF."""
    out = np.empty(x.shape, np.float32)
    out[..., 0::2] = x[..., 0::2] * cosine - x[..., 1::2] * sine
    out[..., 1::2] = x[..., 0::2] * sine + x[..., 1::2] * cosine
    return out


def _normalised(x: Floats, weight: Floats, epsilon: float) -> Floats:
    root: Floats = np.sqrt(np.mean(x * x, -1, keepdims=True) + np.float32(epsilon))
    return x / root * weight
