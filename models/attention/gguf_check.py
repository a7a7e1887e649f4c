"""Arrays of a GGUF file: how many bytes they take, and their numbers as 32-bit floats."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...state.errors import InputError
from ..local.gguf import Contents, Tensor, read_contents
from ..naming import shown
from .forward import Floats, Shape
from .gguf_text import chat_template, split_digits, template_of, tokenizer, tokens_of

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


# Checks whether a GGUF file can score, without reading its weights


MOST_PARAMETERS: Final = 1_000_000_000
ARCHITECTURE: Final = "llama"

_LARGE: Final = (
    "Use a smaller one, or a folder of the same model for transformers: pip install 'persimchat[pruning-torch]'."
)
_OTHER: Final = "Use pruning.scorer=smollm2, or a folder of the same model for transformers."


def check_file(file: Path) -> None:
    """Check, without reading its weights, that a file can be used; again only if it has changed.

    Raises:
        InputError: it is no complete GGUF file, of another architecture, too large, or lacks a part.
    """
    if file.is_file():
        about = file.stat()
        _checked(file, about.st_size, about.st_mtime_ns)
    else:
        read_contents(file)  # says what is wrong


@lru_cache(maxsize=16)
def _checked(file: Path, _size: int, _changed: int) -> None:
    contents = read_contents(file)
    try:
        _check(file, contents)
    except (ValueError, TypeError, OverflowError) as error:
        raise unusable(file, str(error)) from error
    except OSError as error:
        raise unusable(file, f"it cannot be read: {error.strerror or error}") from error
    except MemoryError:
        raise unusable(file, "there is not enough memory for it") from None
    parameters = sum(math.prod(tensor.shape) for tensor in contents.tensors.values())
    if parameters > MOST_PARAMETERS:
        raise InputError(
            f"the model file {shown(str(file))} (architecture {ARCHITECTURE}) has {parameters / 1e9:.1f} billion "
            f"parameters, and numpy reads at most {MOST_PARAMETERS / 1e9:.0f} billion",
            remedy=_LARGE,
        )


def unusable(file: Path, why: str) -> InputError:
    """The error for a file that cannot be used, and why."""
    return InputError(f"the model file {shown(str(file))} cannot score: {why}", remedy=_OTHER)


class Entries(dict[str, Any]):
    """The entries of a file, with the types that they must have."""

    def whole(self, key: str) -> int:
        """An entry that must be a whole number from 1."""
        value = self.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{key} is not a whole number from 1 in its header")
        return value

    def number(self, key: str, otherwise: float) -> float:
        """An entry that must be a number above 0, if it is there."""
        value = self.get(key, otherwise)
        if not isinstance(value, float | int) or not math.isfinite(value) or value <= 0:
            raise ValueError(f"{key} is not a number above 0 in its header")
        return float(value)


def _check(file: Path, contents: Contents) -> None:
    """Refuse what `GgufModel` cannot read."""
    entries = Entries(contents.entries)
    architecture = entries.get("general.architecture")
    if architecture != ARCHITECTURE:
        named = shown(architecture) if isinstance(architecture, str) else "unknown"
        raise ValueError(f"its architecture is {named}, and only {ARCHITECTURE} can be read")
    entries.whole("llama.context_length")
    scaling = entries.get("llama.rope.scaling.type", "none")
    if scaling not in ("none", "linear"):
        raise ValueError(f"its positions are scaled by {shown(str(scaling))}, which is not built")
    shape = shape_of(entries)
    tokens = tokens_of(entries)
    split_digits(entries)
    template_of(entries)
    if shape.layers > len(contents.tensors):
        raise ValueError("it lacks arrays of its layers")
    expected = dict(_expected(shape))
    if missing := expected.keys() - contents.tensors.keys():
        raise ValueError(f"it lacks the array {min(missing)}")
    known = {*expected, "output.weight", "rope_freqs.weight"}
    if more := contents.tensors.keys() - known:
        raise ValueError(f"it has the array {shown(min(more))}, which the plain {ARCHITECTURE} architecture lacks")
    words = contents.tensors["token_embd.weight"].shape
    if len(words) != 2 or words[0] < len(tokens) or words[1] != shape.width:
        raise ValueError("its token_embd.weight has another shape than its header says")
    frequencies = {"rope_freqs.weight": (shape.head // 2,)} if "rope_freqs.weight" in contents.tensors else {}
    for name, wanted in {**expected, **frequencies, "token_embd.weight": words}.items():
        tensor = contents.tensors[name]
        if tensor.shape != wanted:
            raise ValueError(f"its {name} has another shape than its header says")
        if tensor.offset + bytes_of(name, tensor) > contents.size:
            raise ValueError("it ends in the middle; get it again")
    frequencies_of(file, contents, shape)
    tokenizer(entries)
    chat_template(entries)


def frequencies_of(file: Path, contents: Contents, shape: Shape) -> NDArray[np.float64]:
    """How far positions turn each pair of a head's numbers.

    Raises:
        ValueError: they are no numbers.
        OSError: the file cannot be read.
    """
    entries = Entries(contents.entries)
    base = entries.number("llama.rope.freq_base", 10_000.0)
    with np.errstate(all="ignore"):
        found: NDArray[np.float64] = base ** (-np.arange(0, shape.head, 2, dtype=np.float64) / shape.head)
        if entries.get("llama.rope.scaling.type") == "linear":
            found = found / entries.number("llama.rope.scaling.factor", 1.0)
        if "rope_freqs.weight" in contents.tensors:
            found = found / read_arrays(file, contents, "rope_freqs")
        furthest = found * entries.whole("llama.context_length")
    if not np.isfinite(furthest).all():
        raise ValueError("its positions turn by what is not a number")
    return found


def shape_of(entries: Mapping[str, Any]) -> Shape:
    """The measures of a model.

    Raises:
        ValueError: the header lacks one, or they are not built.
    """
    header = Entries(entries)
    heads, width = header.whole("llama.attention.head_count"), header.whole("llama.embedding_length")
    kv_heads = header.whole("llama.attention.head_count_kv") if "llama.attention.head_count_kv" in header else heads
    head = header.whole("llama.attention.key_length") if "llama.attention.key_length" in header else width // heads
    value = header.get("llama.attention.value_length", head)
    turned = header.get("llama.rope.dimension_count", head)
    if heads % kv_heads or head % 2 or head < 2 or value != head or turned != head:
        raise ValueError("its heads have measures that are not built")
    epsilon = header.number("llama.attention.layer_norm_rms_epsilon", 1e-5)
    layers, hidden = header.whole("llama.block_count"), header.whole("llama.feed_forward_length")
    return Shape(layers, width, heads, kv_heads, head, hidden, epsilon)


def _expected(shape: Shape) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The shape of every array that is read, but the embedding's."""
    asked, kept = shape.heads * shape.head, shape.kv_heads * shape.head
    yield "token_embd.weight", ()
    for number in range(shape.layers):
        begin = f"blk.{number}."
        yield f"{begin}attn_norm.weight", (shape.width,)
        yield f"{begin}attn_q.weight", (asked, shape.width)
        yield f"{begin}attn_k.weight", (kept, shape.width)
        yield f"{begin}attn_v.weight", (kept, shape.width)
        yield f"{begin}attn_output.weight", (shape.width, asked)
        yield f"{begin}ffn_norm.weight", (shape.width,)
        yield f"{begin}ffn_gate.weight", (shape.hidden, shape.width)
        yield f"{begin}ffn_up.weight", (shape.hidden, shape.width)
        yield f"{begin}ffn_down.weight", (shape.width, shape.hidden)
    yield "output_norm.weight", (shape.width,)
