"""Randomness that depends only on a seed and the messages."""

from __future__ import annotations

import hashlib
import random
from functools import lru_cache


def generator(*parts: object) -> random.Random:
    """A random number generator of these parts; the same parts give the same numbers on every machine."""
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode("utf-8", "surrogatepass")).digest()
    return random.Random(int.from_bytes(digest[:8], "big"))


@lru_cache(maxsize=8192)
def permutation(size: int, *parts: object) -> tuple[int, ...]:
    """The numbers below `size` in an order that depends on the parts."""
    return tuple(generator("permutation", size, *parts).sample(range(size), size))
