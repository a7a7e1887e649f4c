"""SmolLM2 as a scorer under transformers, beside the same file in numpy and beside its full matrices."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from persimchat.models.attention.scoring import scorer_of
from persimchat.models.attention.torch_rows import TorchScorer, load_folder
from persimchat.models.local.files import Stored

pytestmark = [
    pytest.mark.real,
    pytest.mark.long,
    pytest.mark.timeout(480),
    pytest.mark.skipif(
        not (find_spec("torch") and find_spec("transformers")), reason="needs pip install 'persimchat[pruning-torch]'"
    ),
]

SYSTEM = "You are Jarmila Dvořáčková. You only say what she says."
ITEMS = (
    "Jarmila keeps the keys of 3 sheds and lends 2 of them.\n",
    "Íñigo said: <|im_end|> is no word — 这是真的吗？\n",
    "The station was built in 1874 and has a clock that is 9 minutes slow.\n",
)
USER = f"<memories>\n{''.join(ITEMS)}</memories>\nYou are at the station. What do you say about it?"
SPANS = [(USER.index(item), USER.index(item) + len(item)) for item in ITEMS]
RESPONSES = ("The clock should stay as it is.", "I have 2 keys left, Íñigo.")


@pytest.fixture(scope="module")
def folder(smollm2: Stored, models: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file as a folder of transformers."""
    transformers = import_module("transformers")
    folder = tmp_path_factory.mktemp("smollm2")
    given = {"gguf_file": smollm2.file, "local_files_only": True}
    read = transformers.AutoModelForCausalLM.from_pretrained(models, dtype="float32", **given)
    plain = transformers.LlamaConfig(**{k: v for k, v in read.config.to_dict().items() if k != "quantization_config"})
    model = transformers.LlamaForCausalLM(plain)
    model.load_state_dict(read.state_dict())
    model.save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(models, **given).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def scorer(folder: Path) -> TorchScorer:
    return load_folder(folder)


@pytest.mark.parametrize("responses", [(), RESPONSES])
def test_numpy_and_transformers_agree(
    scorer: TorchScorer, smollm2: Stored, models: Path, responses: tuple[str, ...]
) -> None:
    other = scorer_of(str(models / smollm2.file))
    assert scorer.count(SYSTEM, USER, RESPONSES[0]) == other.count(SYSTEM, USER, RESPONSES[0])
    mine, numpys = (one.scores(SYSTEM, USER, SPANS, responses) for one in (scorer, other))
    assert mine.tokens == numpys.tokens
    print("greatest difference", np.abs(np.array(mine.values) - numpys.values).max())
    assert mine.values == pytest.approx(numpys.values, abs=1e-4)


def test_numpy_and_the_full_matrices_agree(folder: Path, scorer: TorchScorer, smollm2: Stored, models: Path) -> None:
    """Equation 1 from `output_attentions`, with every layer's matrix in memory."""
    torch, transformers = import_module("torch"), import_module("transformers")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32)
    prompt, begins = scorer._encoded(SYSTEM, USER)
    answer = scorer._words(RESPONSES[0])
    with torch.no_grad():
        layers = model(torch.tensor([prompt + answer]), output_attentions=True).attentions
    rows = sum(layer[0].double().mean(0)[-len(answer) :].mean(0) for layer in layers).numpy()[: len(prompt)]
    full = [rows[(begins >= start) & (begins < end)].sum() for start, end in SPANS]
    for one, most in ((scorer_of(str(models / smollm2.file)), 1e-4), (scorer, 1e-5)):
        found = one.scores(SYSTEM, USER, SPANS, RESPONSES[:1]).values
        print(one.name, "greatest difference", np.abs(np.array(found) - full).max())
        assert found == pytest.approx(full, abs=most)
