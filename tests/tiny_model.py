"""A tiny random model of the llama architecture as a GGUF file, and attention as a plain program computes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from tokenizers import pre_tokenizers

CHATML = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<file_sep>"]
JOINED = ["t h", "th e", "Ġ the"]
TOKENS = [*SPECIAL, *sorted(pre_tokenizers.ByteLevel.alphabet()), *(pair.replace(" ", "") for pair in JOINED)]
LAYERS, WIDTH, HEADS, HEAD, HIDDEN = 2, 32, 4, 8, 48

ENTRIES: dict[str, Any] = {
    "llama.context_length": 600,
    "llama.block_count": LAYERS,
    "llama.embedding_length": WIDTH,
    "llama.feed_forward_length": HIDDEN,
    "llama.attention.head_count": HEADS,
    "llama.attention.head_count_kv": 2,
    "llama.attention.layer_norm_rms_epsilon": 1e-5,
    "llama.rope.freq_base": 10_000.0,
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "smollm",
    "tokenizer.ggml.tokens": TOKENS,
    "tokenizer.ggml.token_type": [3] * len(SPECIAL) + [1] * (len(TOKENS) - len(SPECIAL)),
    "tokenizer.ggml.merges": JOINED,
    "tokenizer.ggml.bos_token_id": 1,
    "tokenizer.ggml.eos_token_id": 2,
    "tokenizer.chat_template": CHATML,
}
QUANTISED = gguf.GGMLQuantizationType.Q8_0


def arrays(kv_heads: int = 2) -> dict[str, np.ndarray]:
    """Random weights, large enough that attention is uneven."""
    draw = np.random.default_rng(7)
    shapes = {"token_embd": (len(TOKENS), WIDTH), "output_norm": (WIDTH,)}
    for n in range(LAYERS):
        shapes |= {
            f"blk.{n}.attn_norm": (WIDTH,),
            f"blk.{n}.attn_q": (HEADS * HEAD, WIDTH),
            f"blk.{n}.attn_k": (kv_heads * HEAD, WIDTH),
            f"blk.{n}.attn_v": (kv_heads * HEAD, WIDTH),
            f"blk.{n}.attn_output": (WIDTH, HEADS * HEAD),
            f"blk.{n}.ffn_norm": (WIDTH,),
            f"blk.{n}.ffn_gate": (HIDDEN, WIDTH),
            f"blk.{n}.ffn_up": (HIDDEN, WIDTH),
            f"blk.{n}.ffn_down": (WIDTH, HIDDEN),
        }
    return {f"{name}.weight": draw.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}


def tiny(
    file: Path,
    weights: Mapping[str, np.ndarray | None] | None = None,
    *,
    architecture: str = "llama",
    kv_heads: int = 2,
    **changes: Any,
) -> Path:
    """Write the model; entries and arrays that are None are left out, bytes are quantised numbers (Q8_0)."""
    writer = gguf.GGUFWriter(str(file), architecture)
    entries = {**ENTRIES, "llama.attention.head_count_kv": kv_heads, **changes}
    for key, value in entries.items():
        if isinstance(value, str):
            writer.add_string(key, value)
        elif isinstance(value, bool):
            writer.add_bool(key, value)
        elif isinstance(value, int):
            writer.add_uint32(key, value)
        elif isinstance(value, float):
            writer.add_float32(key, value)
        elif value is not None:
            writer.add_array(key, value)
    for name, array in {**arrays(kv_heads), **(weights or {})}.items():
        if array is not None:
            writer.add_tensor(name, array, raw_dtype=QUANTISED if array.dtype == np.uint8 else None)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def plain_attention(file: Path, ids: Sequence[int], queries: int) -> tuple[np.ndarray, np.ndarray]:
    """What the last queries look at, from whole matrices, one head after another, in 64-bit floats.

    Returns:
        Of each token: over layers summed, over heads and queries averaged; and the logits behind the last token.
    """
    reader = gguf.GGUFReader(str(file))
    meta = {key: field.contents() for key, field in reader.fields.items() if key.startswith("llama.")}
    raw = {tensor.name: tensor for tensor in reader.tensors}

    def array(name: str) -> np.ndarray:
        found = raw[f"{name}.weight"]
        return gguf.quants.dequantize(found.data, found.tensor_type).astype(np.float64)

    heads, kv = meta["llama.attention.head_count"], meta["llama.attention.head_count_kv"]
    layers, eps = meta["llama.block_count"], meta["llama.attention.layer_norm_rms_epsilon"]
    embedding = array("token_embd")
    size, n = embedding.shape[1] // heads, len(ids)
    angles = np.outer(np.arange(n), meta["llama.rope.freq_base"] ** (-np.arange(0, size, 2) / size))
    turn = np.exp(1j * angles)

    def norm(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * weight

    def turned(x: np.ndarray) -> np.ndarray:
        pairs = (x[:, 0::2] + 1j * x[:, 1::2]) * turn
        return np.stack([pairs.real, pairs.imag], -1).reshape(x.shape)

    x, looked = embedding[list(ids)], np.zeros(n)
    for layer in range(layers):
        h = norm(x, array(f"blk.{layer}.attn_norm"))
        q, k, v = (h @ array(f"blk.{layer}.attn_{part}").T for part in "qkv")
        mixed = []
        for head in range(heads):
            own, shared = slice(head * size, (head + 1) * size), head // (heads // kv)
            theirs = slice(shared * size, (shared + 1) * size)
            products = turned(q[:, own]) @ turned(k[:, theirs]).T / np.sqrt(size)
            products[np.triu_indices(n, 1)] = -np.inf
            weights = np.exp(products - products.max(-1, keepdims=True))
            weights /= weights.sum(-1, keepdims=True)
            looked += weights[n - queries :].mean(0) / heads
            mixed.append(weights @ v[:, theirs])
        x = x + np.concatenate(mixed, 1) @ array(f"blk.{layer}.attn_output").T
        h = norm(x, array(f"blk.{layer}.ffn_norm"))
        gate = h @ array(f"blk.{layer}.ffn_gate").T
        inner = gate / (1 + np.exp(-gate)) * (h @ array(f"blk.{layer}.ffn_up").T)
        x = x + inner @ array(f"blk.{layer}.ffn_down").T
    out = array("output") if "output.weight" in raw else embedding
    return looked, norm(x[-1], array("output_norm")) @ out.T
