"""A GGUF file of the llama architecture: its weights as arrays, its tokenizer, and its chat template."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from persimchat.models.attention.forward import Floats, Layer, Llama
from persimchat.models.attention.gguf_check import Entries, row_bytes, shape_of, unusable
from persimchat.models.attention.gguf_text import CONTROL, chat_template, tokenizer, tokens_of
from persimchat.models.local.gguf import Contents, Tensor, read_contents
from persimchat.models.redaction import short

if TYPE_CHECKING:
    from tokenizers import Encoding

_ROWS: Final = 1024
"""Rows of an array that are read at the same time."""


class GgufModel:
    """A file that is loaded, as 32-bit floats.

    Args:
        file: the path of a .gguf file, which `check_file` has accepted.

    Raises:
        InputError: it cannot be read after all.
    """

    def __init__(self, file: Path) -> None:
        contents = read_contents(file)
        try:
            self.context = Entries(contents.entries).whole("llama.context_length")
            self.template = chat_template(contents.entries)
            self.tokenizer = tokenizer(contents.entries)
            self.llama = _weights(file, contents)
        except (ValueError, TypeError, IndexError, OverflowError) as error:
            raise unusable(file, short(str(error))) from error
        except MemoryError:
            raise unusable(file, "there is not enough memory for it") from None
        control = [text for text, kind in tokens_of(contents.entries) if kind == CONTROL and text.strip()]
        self._special = re.compile("|".join(["<\\|", *(re.escape(t) for t in sorted(control, key=len, reverse=True))]))

    def neutral(self, text: str) -> str:
        """Data without special tokens, as long as before: their first character, mostly `<`, becomes `‹`."""
        return self._special.sub(lambda found: f"‹{found[0][1:]}", text)

    def encode(self, text: str) -> Encoding:
        """A text as tokens, with the characters that each stands for."""
        return self.tokenizer.encode(text, add_special_tokens=False)

    def prompt(self, system: str, user: str) -> tuple[list[int], NDArray[np.int64]]:
        """The tokens of a prompt, and where each begins in the user message: negative before it, beyond it behind."""
        text, at = self.template.prompt(self.neutral(system), self.neutral(user))
        found = self.encode(text)
        return list(found.ids), np.array([begin for begin, _ in found.offsets], np.int64) - at


def _weights(file: Path, contents: Contents) -> Llama:
    entries, shape = Entries(contents.entries), shape_of(contents.entries)

    def array(*names: str) -> Floats:
        """Arrays of the file, one below the other."""
        tensors = [contents.tensors[f"{name}.weight"] for name in names]
        whole = np.empty((sum(tensor.shape[0] for tensor in tensors), *tensors[0].shape[1:]), np.float32)
        at = 0
        for name, tensor in zip(names, tensors, strict=True):
            _fill(whole[at : at + tensor.shape[0]], file, name, tensor)
            at += tensor.shape[0]
        return whole

    def layer(number: int) -> Layer:
        begin = f"blk.{number}"
        return Layer(
            attention_norm=array(f"{begin}.attn_norm"),
            qkv=array(*(f"{begin}.attn_{part}" for part in "qkv")),
            attention_out=array(f"{begin}.attn_output"),
            feed_norm=array(f"{begin}.ffn_norm"),
            gate_up=array(f"{begin}.ffn_gate", f"{begin}.ffn_up"),
            down=array(f"{begin}.ffn_down"),
        )

    base = entries.number("llama.rope.freq_base", 10_000.0)
    frequencies = base ** (-np.arange(0, shape.head, 2, dtype=np.float64) / shape.head)
    if entries.get("llama.rope.scaling.type") == "linear":
        frequencies /= entries.number("llama.rope.scaling.factor", 1.0)
    if "rope_freqs.weight" in contents.tensors:
        frequencies /= array("rope_freqs")
    return Llama(shape, array("token_embd"), [layer(number) for number in range(shape.layers)], frequencies)


def _fill(target: Floats, file: Path, name: str, tensor: Tensor) -> None:
    """Read an array, some rows at a time: what is needed meanwhile is small."""
    import gguf

    kind, length = gguf.GGMLQuantizationType(tensor.kind), row_bytes(name, tensor)
    rows = target if target.ndim > 1 else target[None]
    for begin in range(0, len(rows), _ROWS):
        part = rows[begin : begin + _ROWS]
        stored = np.fromfile(file, np.uint8, len(part) * length, offset=tensor.offset + begin * length)
        part[:] = gguf.quants.dequantize(stored.reshape(len(part), length), kind)
