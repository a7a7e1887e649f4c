"""Files and folders that cannot score, chat templates of strangers, and names of scorers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fixtures import Refused
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tiny_model import CHATML, TOKENS, tiny

from persimchat.models.attention import gguf_check, scoring
from persimchat.models.attention.gguf_text import read_template
from persimchat.models.attention.scoring import GgufModel, check_scorer, check_settings, scorer_of
from persimchat.models.local.gguf import read_contents
from persimchat.state.errors import InputError, MissingExtraError
from persimchat.state.settings import Settings


def written(**changes: Any) -> Callable[[Path], object]:
    return lambda file: tiny(file, **changes)


def cut(file: Path) -> None:
    whole = tiny(file).read_bytes()
    file.write_bytes(whole[:-100])


BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "text": (lambda file: file.write_text("Once upon a time " * 40), "does not begin with GGUF"),
    "empty": (lambda file: file.write_bytes(b""), "does not begin with GGUF"),
    "cut": (cut, "it ends in the middle"),
    "gpt2": (written(architecture="gpt2"), "its architecture is 'gpt2', and only llama can be read"),
    "qwen2": (written(architecture="qwen2"), "its architecture is 'qwen2', and only llama can be read"),
    "biases": (written(weights={"blk.0.attn_q.bias": np.ones(32, np.float32)}), "'blk.0.attn_q.bias', which the plain"),
    "tokens": (written(**{"tokenizer.ggml.tokens": None}), "it has no tokenizer"),
    "kinds": (written(**{"tokenizer.ggml.token_type": [1, 2]}), "does not say of each token"),
    "sentencepiece": (written(**{"tokenizer.ggml.model": "llama"}), "its tokenizer is 'llama', and only gpt2 is built"),
    "split": (written(**{"tokenizer.ggml.pre": "qwen35"}), "splits texts as 'qwen35'"),
    "template": (written(**{"tokenizer.chat_template": None}), "it has no chat template"),
    "context": (written(**{"llama.context_length": None}), "llama.context_length is not a whole number"),
    "heads": (written(**{"llama.attention.head_count": 3}), "its heads have measures that are not built"),
    "layers": (written(**{"llama.block_count": 4_000_000_000}), "it lacks arrays of its layers"),
    "layer": (written(**{"llama.block_count": 3}), "it lacks the array blk.2.attn_k.weight"),
    "scaling": (written(**{"llama.rope.scaling.type": "yarn"}), "scaled by 'yarn', which is not built"),
    "shape": (written(**{"llama.feed_forward_length": 99}), "has another shape than its header says"),
    "vocabulary": (
        written(weights={"token_embd.weight": np.ones((9, 32), np.float32)}),
        "its token_embd.weight has another shape",
    ),
    "numbers": (
        written(weights={"output_norm.weight": np.ones(32, np.int32)}),
        "its output_norm.weight has a form of numbers that is not built",
    ),
    "base": (written(**{"llama.rope.freq_base": -1.0}), "llama.rope.freq_base is not a number above 0"),
    "factor": (
        written(**{"llama.rope.scaling.type": "linear", "llama.rope.scaling.factor": 0.0}),
        "llama.rope.scaling.factor is not a number above 0",
    ),
    "factors": (
        written(weights={"rope_freqs.weight": np.zeros(4, np.float32)}),
        "its positions turn by what is not a number",
    ),
    "merges": (written(**{"tokenizer.ggml.merges": None}), "its tokenizer has no pairs to join"),
    "unknown": (written(**{"tokenizer.ggml.merges": ["t h", "zz zz"]}), "its tokenizer cannot be used"),
    "twice": (written(**{"tokenizer.ggml.tokens": [*TOKENS[:-1], TOKENS[-2]]}), "its tokenizer has a token twice"),
    "syntax": (written(**{"tokenizer.chat_template": "{% for %}"}), "its chat template cannot be used"),
    "raises": (written(**{"tokenizer.chat_template": "{{ raise_exception('no') }}"}), "its chat template cannot be"),
    "nothing": (written(**{"tokenizer.chat_template": "nothing"}), "does not write each message once"),
}


@pytest.mark.parametrize("kind", BAD)
def test_files_that_cannot_score_are_refused_before_a_run(tmp_path: Path, refused: Refused, kind: str):
    write, words = BAD[kind]
    file = tmp_path / f"{kind}.gguf"
    write(file)
    refused(lambda: check_scorer(str(file)), words, f"{kind}.gguf")


def test_a_file_that_changed_after_its_check_is_refused(
    tmp_path: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch
):
    """What `check_scorer` has found right may be cut, or no longer be readable, when its weights are read."""
    file = tiny(tmp_path / "a.gguf")
    contents = read_contents(file)
    monkeypatch.setattr(scoring, "read_contents", lambda _: contents)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    refused(lambda: GgufModel(file), "a.gguf' cannot score")
    file.unlink()
    refused(lambda: GgufModel(file), "a.gguf' cannot score: it cannot be read: No such file")


def test_too_large_a_model_is_refused_with_what_to_install(
    tmp_path: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch
):
    file = tiny(tmp_path / "a.gguf")
    monkeypatch.setattr(gguf_check, "MOST_PARAMETERS", 1000)
    refused(lambda: check_scorer(str(file)), "architecture llama", "billion parameters", "persimchat[pruning-torch]")


def test_names_of_scorers(tmp_path: Path, refused: Refused, models_folder: Path):
    refused(lambda: check_scorer("smollm2"), "is not on this machine", "persimchat models get smollm2")
    refused(lambda: check_scorer("hf:o/r/x.gguf"), "persimchat models get hf:o/r/x.gguf")
    refused(lambda: check_scorer("smolm2"), "Did you mean 'smollm2'?")
    refused(lambda: check_scorer("/nowhere/x.gguf"), "there is no scorer '/nowhere/x.gguf' (pruning.scorer)")
    refused(lambda: check_scorer(str(tmp_path)), "it has no config.json")
    models_folder.mkdir()
    stored = tiny(models_folder / "smollm2.gguf")
    check_scorer("smollm2")
    assert scorer_of("smollm2").name == "smollm2"
    assert scorer_of(str(stored)).name == str(stored)


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = str(tiny(tmp_path / "a.gguf"))
    monkeypatch.setattr(scoring, "find_spec", lambda name: None)
    for use in (check_scorer, scorer_of):
        with pytest.raises(MissingExtraError, match=r"'persimchat\[pruning\]', or set pruning.method=embedding"):
            use(file)


async def test_only_attention_with_a_strength_needs_a_scorer(models_folder: Path):
    for pruning in ({}, {"lambda": 0.0}, {"lambda": 0.5, "method": "length"}, {"remove": ["b"]}):
        await check_settings(Settings(pruning=pruning))
    with pytest.raises(InputError, match="models get smollm2"):
        await check_settings(Settings(pruning={"lambda": 0.1}))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return tiny(tmp_path_factory.mktemp("model") / "tiny.gguf").read_bytes()


@pytest.mark.proof
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(st.integers(0, 1 << 20), st.binary(min_size=1, max_size=8), st.booleans())
@example(16, b"\xff" * 8, False)
@example(8, b"\xff" * 8, False)
def test_a_damaged_file_is_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, whole: bytes, at: int, new: bytes, short: bool
):
    at %= len(whole)
    file = tmp_path_factory.getbasetemp() / "damaged.gguf"
    file.write_bytes(whole[:at] if short else whole[:at] + new + whole[at + len(new) :])
    try:
        contents = read_contents(file)
        gguf_check._checked.__wrapped__(file, 0, 0)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert all(tensor.offset <= contents.size for tensor in contents.tensors.values())


def test_a_template_is_read_once_around_its_messages():
    found = read_template("{{ bos_token }}" + CHATML, begin="<s>", end="</s>")
    text, at = found.prompt("Be kind.", "Hello {{ 1 }}")
    assert text == (
        "<s><|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nHello {{ 1 }}<|im_end|>\n<|im_start|>assistant\n"
    )
    assert text[at:].startswith("Hello {{ 1 }}")
    assert found.prompt("", "Hi")[0] == "<s><|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    assert found.begun("<s>") == found
    assert found.begun("<b>").prompt("", "Hi")[0].startswith("<b><s><|im_start|>user")


def test_a_model_without_system_messages_gets_them_from_the_user():
    refusing = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}" + CHATML
    text, at = read_template(refusing, begin="", end="").prompt("Be kind.", "Hello")
    assert text == "<|im_start|>user\nBe kind.\n\nHello<|im_end|>\n<|im_start|>assistant\n"
    assert text[at:].startswith("Hello")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("{{ messages.__class__.__mro__ }}", "unsafe"),
        ("{{ messages.append(1) }}", "unsafe"),
        ("{{ cycler.__init__.__globals__.os.environ }}", "unsafe"),
        ("{% for a in range(99999) %}{% for b in range(99999) %}xxxxxxxx{% endfor %}{% endfor %}", "without end"),
        ("{{ 'x' * 9999999999 }}", "MemoryError"),
        ("x" * 70_000, "longer than"),
        ("{{ raise_exception('only for tools\nand more') }}", "only for tools"),
        ("{{ messages[0].content }}{{ messages[0].content }}", "once, in order"),
    ],
)
def test_templates_of_strangers_are_held(source: str, words: str):
    with pytest.raises(ValueError, match=words):
        read_template(source, begin="", end="")


@pytest.mark.proof
def test_a_template_that_does_not_end_is_ended():
    endless = "{% for a in range(99999) %}{% for b in range(99999) %}{% set c = a * b %}{% endfor %}{% endfor %}"
    with pytest.raises(ValueError, match="too much time or memory"):
        read_template(endless, begin="", end="")


def test_a_file_that_adds_the_beginning_itself(tmp_path: Path):
    scorer = scorer_of(str(tiny(tmp_path / "a.gguf", **{"tokenizer.ggml.add_bos_token": True})))
    plain = scorer_of(str(tiny(tmp_path / "b.gguf")))
    assert scorer.count("", "x") == plain.count("", "x"), "the template begins with that token already"
    other = {"tokenizer.ggml.add_bos_token": True, "tokenizer.ggml.bos_token_id": 0}
    assert scorer_of(str(tiny(tmp_path / "c.gguf", **other))).count("", "x") == plain.count("", "x") + 1
