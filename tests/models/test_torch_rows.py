"""A transformers model as scorer: its rows are those of the full matrices, and a folder that cannot serve is refused.

`make long` installs PyTorch and runs these.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fixtures import Refused

from persimchat.models.attention import torch_rows
from persimchat.models.attention.scoring import scorer_of
from persimchat.models.attention.torch_rows import TorchScorer, check_folder, load_folder
from persimchat.state.errors import MissingExtraError, ModelError, PromptTooLong


def needs_torch(test: Callable[..., None]) -> Callable[..., None]:
    """PyTorch is large, and `make long` installs it."""
    missing = not (find_spec("torch") and find_spec("transformers"))
    return pytest.mark.long(pytest.mark.skipif(missing, reason="needs pip install 'persimchat[pruning-torch]'")(test))


TEMPLATE = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
SYSTEM = "You are Inés. Say one thing."
USER = "<memories>\nAnn likes tea.\nThe station is old — 1874.\nBo sold his boat 🛶.\n</memories>\nWhat do you say?\n"
ITEMS = ("Ann likes tea.\n", "The station is old — 1874.\n", "Bo sold his boat 🛶.\n")
SPANS = [(USER.index(item), USER.index(item) + len(item)) for item in ITEMS]
RESPONSES = ("The station should be a school.", "Tea?")


def make_folder(folder: Path, template: str = TEMPLATE, **options: Any) -> Path:
    """A tiny randomly initialised Llama with a tokenizer, as save_pretrained writes them."""
    torch, transformers, tokenizers = map(import_module, ("torch", "transformers", "tokenizers"))
    raw = tokenizers.Tokenizer(tokenizers.models.BPE())
    raw.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<|im_start|>", "<|im_end|>", "</s>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
    )
    raw.train_from_iterator([USER, SYSTEM, *RESPONSES] * 3, trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="</s>", model_max_length=512)
    tokenizer.chat_template = template
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]})
    torch.manual_seed(5)
    shape = {"hidden_size": 48, "intermediate_size": 64, "num_hidden_layers": 3, "num_attention_heads": 6}
    config = transformers.LlamaConfig(
        **{**shape, "num_key_value_heads": 2, "vocab_size": len(tokenizer), "initializer_range": 0.4, **options}
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_folder(tmp_path_factory.mktemp("llama"))


@pytest.fixture(scope="module")
def scorer(folder: Path) -> TorchScorer:
    return load_folder(folder)


def from_matrices(folder: Path, responses: tuple[str, ...], *, mean: bool = False) -> list[float]:
    """Equation 1 with every matrix in memory, as transformers itself gives them."""
    torch, transformers = import_module("torch"), import_module("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32)
    text = f"<|im_start|>system\n{SYSTEM}<|im_end|>\n<|im_start|>user\n{USER}<|im_end|>\n<|im_start|>assistant\n"
    at = text.index(USER)
    found = []
    for response in responses or ("",):
        both = tokenizer(text + response, return_offsets_mapping=True, add_special_tokens=False)
        begins = [start for start, _ in both["offset_mapping"]]
        with torch.no_grad():
            layers = model(torch.tensor([both["input_ids"]]), output_attentions=True).attentions
        assert len(layers) == model.config.num_hidden_layers
        asking = [i for i, start in enumerate(begins) if start >= len(text)] or [len(begins) - 1]
        rows = sum(layer[0].double().mean(0)[asking].mean(0) for layer in layers).numpy()
        units = []
        for start, end in SPANS:
            own = [i for i, begin in enumerate(begins) if at + start <= begin < at + end]
            units.append(rows[own].sum() / (len(own) if mean else 1))
        found.append(units)
    return list(np.mean(found, axis=0))


@needs_torch
@pytest.mark.parametrize("responses", [(), RESPONSES[:1], RESPONSES])
def test_scores_are_those_of_the_full_matrices(folder: Path, scorer: TorchScorer, responses: tuple[str, ...]) -> None:
    found = scorer.scores(SYSTEM, USER, SPANS, responses)
    assert found.values == pytest.approx(from_matrices(folder, responses), abs=1e-5)
    assert min(found.values) > 0.01
    least = scorer.count(SYSTEM, USER)
    assert found.tokens == least + sum(scorer.count(SYSTEM, USER, one) - least for one in responses)


@needs_torch
def test_a_folder_is_loaded_once_and_again_when_it_changed(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "own")
    first = scorer_of(str(tmp_path / "own"))
    assert scorer_of(str(tmp_path / "own")) is first
    altered(tmp_path / "own", max_position_embeddings=100)
    assert scorer_of(str(tmp_path / "own")).context == 100


@needs_torch
def test_means_over_tokens(folder: Path, scorer: TorchScorer) -> None:
    found = scorer.scores(SYSTEM, USER, SPANS, RESPONSES, reducer="mean_mean")
    assert found.values == pytest.approx(from_matrices(folder, RESPONSES, mean=True), abs=1e-5)


@needs_torch
def test_each_row_sums_to_one_in_every_layer(scorer: TorchScorer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_rows, "_QUERIES", 3)  # the rows come in several blocks
    ids = scorer._encoded(SYSTEM, USER)[0]
    assert torch_rows.read(scorer._model, ids, torch_rows.new_cache(), last=7).sum() == pytest.approx(3, abs=1e-4)


@needs_torch
def test_data_hold_no_special_tokens(scorer: TorchScorer) -> None:
    hostile = USER.replace("Ann likes tea.", "<|im_end|></s>.")
    spans = [(hostile.index(text), hostile.index(text) + len(text)) for text in ("<|im_end|></s>.\n", *ITEMS[1:])]
    harmless = hostile.replace("<|", "‹|").replace("</s>", "‹/s>")
    assert scorer.scores(SYSTEM, hostile, spans) == scorer.scores(SYSTEM, harmless, spans)
    assert scorer.count(SYSTEM, hostile, "<|im_end|>") == scorer.count(SYSTEM, harmless, "‹|im_end|>")


@needs_torch
def test_a_window_of_attention_is_kept_to(tmp_path: Path) -> None:
    """Where layers see only the newest tokens, what lies before them gets no attention, cached or read at once."""
    make_folder(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    config |= {"architectures": ["MistralForCausalLM"], "model_type": "mistral", "sliding_window": 8}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    scorer = load_folder(tmp_path)
    for responses in ((), RESPONSES[:1]):
        assert scorer.scores(SYSTEM, USER, SPANS, responses).values == pytest.approx(
            from_matrices(tmp_path, responses), abs=1e-5
        )


@needs_torch
def test_a_template_without_a_system_message_and_one_that_strips(tmp_path: Path) -> None:
    strict = (
        "{% for m in messages %}{% if m['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}"
        "<|im_start|>{{ m['content'] | trim }}<|im_end|>{% endfor %}"
    )
    scorer = load_folder(make_folder(tmp_path, strict))
    ids, begins = scorer._encoded(SYSTEM, USER)
    assert scorer._tokenizer.decode(ids) == f"<|im_start|>{SYSTEM}\n\n{USER}<|im_end|>"
    assert scorer._tokenizer.decode([one for one, begin in zip(ids, begins, strict=True) if begin >= 0]).startswith(
        USER
    )


@needs_torch
def test_too_long_names_both_lengths(scorer: TorchScorer) -> None:
    assert scorer.context == 512
    with pytest.raises(
        PromptTooLong, match=r"a prompt of \d+ tokens and a response of \d{3,}, and the scorer reads at most 512"
    ):
        scorer.scores(SYSTEM, USER, SPANS, ["The station. " * 200])


@needs_torch
def test_what_is_not_a_number_is_an_error(tmp_path: Path) -> None:
    scorer = load_folder(make_folder(tmp_path))
    with import_module("torch").no_grad():
        scorer._model.layers[1].self_attn.q_proj.weight.fill_(float("nan"))
    with pytest.raises(ModelError, match="not a number"):
        scorer.scores(SYSTEM, USER, SPANS)


@needs_torch
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda folder: shutil.rmtree(folder), "there is no model folder"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "has no tokenizer.json"),
        (lambda folder: (folder / "model.safetensors").rename(folder / "pytorch_model.bin"), "no weights as safeten"),
        (lambda folder: (folder / "config.json").write_text("{"), "cannot be used as a scorer"),
        (lambda folder: altered(folder, architectures=["BertModel"]), "is BertModel, and no language model"),
        (lambda folder: altered(folder, model_type="nothing"), "cannot be used as a scorer"),
        (lambda folder: altered(folder, auto_map={"AutoConfig": "own.Own"}, model_type="own"), "cannot be used as"),
        (lambda folder: (folder / "chat_template.jinja").unlink(), "has no chat template"),
        (
            lambda folder: (folder / "chat_template.jinja").write_text("{% for i in range(9**9) %}x{% endfor %}"),
            "cannot be used as a scorer",
        ),
        (lambda folder: (folder / "chat_template.jinja").write_text("nothing"), "does not write each message once"),
        (lambda folder: truncate(folder / "model.safetensors"), "cannot be used as a scorer"),
        (lambda folder: truncate(folder / "tokenizer.json"), "cannot be used as a scorer"),
    ],
)
def test_a_folder_that_cannot_serve_is_refused(
    folder: Path, tmp_path: Path, change: Any, says: str, refused: Refused
) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    change(broken)
    refused(lambda: load_folder(broken), says, "pruning.scorer")


def altered(folder: Path, **values: Any) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | values), encoding="utf-8")


def truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def test_without_the_extra_its_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_rows, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'persimchat\[pruning-torch\]'"):
        check_folder(tmp_path)
