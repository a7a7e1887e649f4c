"""Arrays of a GGUF file: how many bytes they take, and their numbers as 32-bit floats."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final

import numpy as np

from persimchat.models.attention.forward import Floats
from persimchat.models.local.gguf import Contents, Tensor

_ROWS: Final = 1024
"""Rows of an array that are read at the same time."""


def row_bytes(name: str, tensor: Tensor) -> int:
    """The bytes of one row of an array, whose form must be one that `gguf` can read."""
    import gguf

    try:
        kind = gguf.GGMLQuantizationType(tensor.kind)
        numbers, size = gguf.GGML_QUANT_SIZES[kind]
        gguf.quants.dequantize(np.zeros((1, size), np.uint8), kind)
    except (ValueError, KeyError, NotImplementedError):
        raise ValueError(f"its {name} has a form of numbers that is not built ({tensor.kind})") from None
    if tensor.shape[-1] % numbers:
        raise ValueError(f"its {name} has rows that its form of numbers does not fill")
    return tensor.shape[-1] // numbers * size


def bytes_of(name: str, tensor: Tensor) -> int:
    """The bytes of an array."""
    return row_bytes(name, tensor) * math.prod(tensor.shape[:-1])


def read_arrays(file: Path, contents: Contents, *names: str) -> Floats:
    """Arrays of a file, one below the other.

    Args:
        file: the path of the file.
        contents: of the file, checked.
        names: the names of the arrays, without their ending `.weight`.

    Raises:
        ValueError: the file is shorter than it was.
        OSError: it cannot be read.
    """
    tensors = [contents.tensors[f"{name}.weight"] for name in names]
    whole = np.empty((sum(tensor.shape[0] for tensor in tensors), *tensors[0].shape[1:]), np.float32)
    at = 0
    for name, tensor in zip(names, tensors, strict=True):
        _fill(whole[at : at + tensor.shape[0]], file, name, tensor)
        at += tensor.shape[0]
    return whole


def _fill(target: Floats, file: Path, name: str, tensor: Tensor) -> None:
    """Read an array, some rows at a time: what is needed meanwhile is small."""
    import gguf

    kind, length = gguf.GGMLQuantizationType(tensor.kind), row_bytes(name, tensor)
    rows = target if target.ndim > 1 else target[None]
    for begin in range(0, len(rows), _ROWS):
        part = rows[begin : begin + _ROWS]
        stored = np.fromfile(file, np.uint8, len(part) * length, offset=tensor.offset + begin * length)
        part[:] = gguf.quants.dequantize(stored.reshape(len(part), length), kind)
