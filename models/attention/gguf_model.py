"""A GGUF file of the llama architecture: its weights as arrays, its tokenizer, and its chat template."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from persimchat.models.attention.forward import Floats, Layer, Llama
from persimchat.models.attention.gguf_arrays import read_arrays
from persimchat.models.attention.gguf_check import Entries, frequencies_of, shape_of, unusable
from persimchat.models.attention.gguf_text import CONTROL, chat_template, tokenizer, tokens_of
from persimchat.models.local.gguf import Contents, read_contents
from persimchat.models.redaction import short

if TYPE_CHECKING:
    from tokenizers import Encoding


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
        except OSError as error:
            raise unusable(file, f"it cannot be read: {error.strerror or error}") from error
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
    shape = shape_of(contents.entries)

    def array(*names: str) -> Floats:
        return read_arrays(file, contents, *names)

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

    frequencies = frequencies_of(file, contents, shape)
    return Llama(shape, array("token_embd"), [layer(number) for number in range(shape.layers)], frequencies)
