"""A scorer for the folder of a transformers model, on a GPU or the processor (the extra `pruning-torch`).

The attention itself is PyTorch's scaled dot-product attention, which keeps no matrix. Beside it, each layer computes
only the rows of the tokens that look, and adds them up: one sum for each token of the prompt. Nothing in the folder is
run: weights come from safetensors alone, and the chat template is rendered in a sandbox.
"""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...state.errors import InputError, MissingExtraError, ModelError
from ..naming import shown
from ..redaction import short
from .gguf_text import read_template
from .scores import OTHERWISE, WHERE, Reducer, Scores, per_piece, refuse_long

ATTENTION: Final = "persimchat_rows"
"""The name under which transformers knows the attention, and its mask, once `register` was called."""
_QUERIES: Final = 64
"""Looking tokens whose rows are in memory at the same time."""
_ENDLESS: Final = 1_000_000_000
"""A tokenizer that knows no length states a greater one."""
_REMEDY: Final = "Give a folder that transformers' save_pretrained wrote: config.json, tokenizer.json, *.safetensors."

_reading: ContextVar[_Rows | None] = ContextVar("reading", default=None)


class _Rows:
    """What the last tokens of a sequence look at: for each token the attention to it, summed over them and the layers.

    Attributes:
        last: how many of the last tokens look.
        layers: how many layers were added.
        sums: over queries and layers summed, over heads averaged; None before the first layer.
    """

    def __init__(self, last: int) -> None:
        self.last = last
        self.layers = 0
        self.sums: Any = None

    def add(self, query: Any, key: Any, mask: Any, scaling: float | None) -> None:
        """Add the rows of one layer, computed in 32-bit floats whatever the model's type is.

        Args:
            query: (1, heads, tokens read now, size), positions applied.
            key: (1, key heads, all tokens, size); each is shared by a group of heads.
            mask: what may be seen, as booleans or to be added; None where each token sees itself and all before it.
            scaling: of the products; None for 1/√size.
        """
        torch = import_module("torch")
        heads, read, size = query.shape[1:]
        shared, seen = key.shape[1:3]
        keys = key[0].float().transpose(1, 2)
        sums = torch.zeros(seen, dtype=torch.float64, device=query.device)
        for begin in range(max(0, read - self.last), read, _QUERIES):
            end = min(begin + _QUERIES, read)
            block = query[0, :, begin:end].float().reshape(shared, -1, size)
            rows = (block @ keys).reshape(heads, end - begin, seen) * (size**-0.5 if scaling is None else scaling)
            if mask is None:
                positions = torch.arange(seen - read + begin, seen - read + end, device=query.device)
                rows.masked_fill_(torch.arange(seen, device=query.device) > positions[:, None], -math.inf)
            elif mask.dtype == torch.bool:
                rows.masked_fill_(~mask[0, :, begin:end, :seen], -math.inf)
            else:
                rows += mask[0, :, begin:end, :seen]
            sums += rows.softmax(-1).sum((0, 1), dtype=torch.float64)
        self.layers += 1
        self.sums = sums / heads if self.sums is None else self.sums + sums / heads


@cache
def register() -> None:
    """Make the attention known to transformers, with a mask of the same name: for unknown names it makes none."""
    transformers = import_module("transformers")
    attend = import_module("transformers.integrations.sdpa_attention").sdpa_attention_forward
    mask_of = import_module("transformers.masking_utils").sdpa_mask

    def attention(module: Any, query: Any, key: Any, value: Any, attention_mask: Any, **options: Any) -> Any:
        rows = _reading.get()
        if rows is not None:
            if options.get("s_aux") is not None:
                raise ValueError("its attention has sinks of its own")
            rows.add(query, key, attention_mask, options.get("scaling"))
        return attend(module, query, key, value, attention_mask, **options)

    transformers.AttentionInterface.register(ATTENTION, attention)
    transformers.AttentionMaskInterface.register(ATTENTION, mask_of)


def new_cache() -> Any:
    """An empty cache of keys and values."""
    return import_module("transformers").DynamicCache()


def read(model: Any, ids: Sequence[int], kept: Any, *, last: int) -> NDArray[np.float64]:
    """Read tokens behind those in the cache, which grows.

    Args:
        model: loaded with the attention `ATTENTION`.
        ids: the tokens.
        kept: the cache.
        last: how many of the last tokens look; 0 if only the cache is wanted.

    Returns:
        How much they look at each token up to the last: averaged over heads and over the tokens that look, summed over
        layers. So the sum over all tokens is the number of layers. Zeros if none looks.

    Raises:
        RuntimeError: the model shows no attention, or memory does not suffice.
    """
    torch = import_module("torch")
    before = kept.get_seq_length()
    rows = _Rows(last)
    token = _reading.set(rows if last else None)
    try:
        with torch.inference_mode():
            given = torch.tensor([list(ids)], device=model.device)
            model(input_ids=given, past_key_values=kept, use_cache=True)
    finally:
        _reading.reset(token)
    if not last:
        return np.zeros(before + len(ids))
    if not rows.layers:
        raise RuntimeError("its layers show no attention")
    sums: NDArray[np.float64] = rows.sums.cpu().numpy()
    return sums / last


class TorchScorer:
    """A language model whose attention is read, one sequence at a time.

    Attributes:
        name: as in the settings.
        context: the most tokens that it reads.
    """

    def __init__(self, name: str, model: Any, tokenizer: Any, context: int) -> None:
        self.name = name
        self.context = context
        self._model = model
        self._tokenizer = tokenizer
        self._alone = threading.Lock()
        source = tokenizer.chat_template
        if not isinstance(source, str):
            raise ValueError("its tokenizer has no chat template, or several")
        self._template = read_template(source, begin=tokenizer.bos_token or "", end=tokenizer.eos_token or "")
        added = {t.content for t in tokenizer.added_tokens_decoder.values() if t.special and t.content.strip()}
        self._special = re.compile("|".join(map(re.escape, ["<|", *sorted(added, key=len, reverse=True)])))

    def count(self, system: str, user: str, response: str = "") -> int:
        """As `Scorer.count`."""
        return len(self._encoded(system, user)[0]) + len(self._words(response))

    def scores(
        self,
        system: str,
        user: str,
        spans: Sequence[tuple[int, int]],
        responses: Sequence[str] = (),
        *,
        reducer: Reducer = "sum_mean",
    ) -> Scores:
        """As `Scorer.scores`. The prompt is read once, and each response against it."""
        prompt, begins = self._encoded(system, user)
        answers = [self._words(response) for response in responses]
        refuse_long(self.name, self.context, len(prompt), answers)
        try:
            with self._alone:  # two at a time take twice the memory
                seen = self._attention(prompt, answers)
        except RuntimeError as error:  # torch's, for example where memory does not suffice
            raise ModelError(f"the scorer cannot read the prompt: {short(str(error))}", model=self.name) from error
        return Scores(per_piece(self.name, seen, begins, spans, reducer), len(prompt) + sum(map(len, answers)))

    def _attention(self, prompt: list[int], answers: Sequence[list[int]]) -> NDArray[np.float64]:
        """How much the responses, or the prompt's last token, look at each token of the prompt."""
        kept = new_cache()
        seen = read(self._model, prompt, kept, last=0 if answers else 1)
        for answer in answers:
            seen += read(self._model, answer, kept, last=len(answer))[: len(prompt)] / len(answers)
            kept.crop(-len(answer))
        return seen

    def _encoded(self, system: str, user: str) -> tuple[list[int], NDArray[np.int64]]:
        """A prompt's tokens, and where each begins in the user message: negative before it."""
        text, at = self._template.prompt(self._neutral(system), self._neutral(user))
        found = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        return list(found["input_ids"]), np.array([start for start, _ in found["offset_mapping"]], np.int64) - at

    def _words(self, response: str) -> list[int]:
        """The tokens of a response's words; nothing of the chat template stands around them."""
        return list(self._tokenizer(self._neutral(response), add_special_tokens=False, verbose=False)["input_ids"])

    def _neutral(self, text: str) -> str:
        """Data without special tokens, as long as before, so that spans hold."""
        return self._special.sub(lambda found: f"‹{found[0][1:]}", text)


def check_folder(path: Path) -> None:
    """Check a model's folder without loading it.

    Raises:
        MissingExtraError: the extra `pruning-torch` is not installed.
        InputError: a file is missing, or the model is no language model that answers.
    """
    if find_spec("torch") is None or find_spec("transformers") is None:
        raise MissingExtraError(f"the scorer {shown(str(path))}", "pruning-torch", otherwise=OTHERWISE)
    name = shown(str(path))
    if not path.is_dir():
        raise InputError(f"there is no model folder {name}", where=WHERE, remedy=_REMEDY)
    for file in ("config.json", "tokenizer.json"):
        if not (path / file).is_file():
            raise InputError(f"the model folder {name} has no {file}", where=WHERE, remedy=_REMEDY)
    if not any(path.glob("*.safetensors")):
        raise InputError(
            f"the model folder {name} has no weights as safetensors; other files can hold programs and are not read",
            where=WHERE,
            remedy=_REMEDY,
        )
    with _refusing(path):
        config = json.loads((path / "config.json").read_text(encoding="utf-8"))
        kinds = [str(kind) for kind in config.get("architectures") or ()]
    if not any(kind.endswith("ForCausalLM") for kind in kinds):
        raise InputError(
            f"the model in {name} is {', '.join(kinds) or 'of no stated kind'}, and no language model that answers",
            where=WHERE,
            remedy="Give the folder of a model whose architecture ends in ForCausalLM.",
        )


def load_folder(path: Path) -> TorchScorer:
    """Load the scorer of a model's folder. It blocks.

    It is on the GPU if there is one, in the model's own type of numbers; else on the processor, in 32-bit floats.

    Raises:
        MissingExtraError: the extra `pruning-torch` is not installed.
        InputError: the folder's model cannot be used.
    """
    check_folder(path)
    torch, transformers = import_module("torch"), import_module("transformers")
    import_module("transformers.utils.logging").disable_progress_bar()
    register()
    on_gpu = torch.cuda.is_available()
    local = {"local_files_only": True, "trust_remote_code": False}
    with _refusing(path):
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(path), **local)
        if not tokenizer.is_fast:
            raise ValueError("its tokenizer does not say where tokens begin")
        whole = transformers.AutoModelForCausalLM.from_pretrained(
            str(path),
            dtype="auto" if on_gpu else torch.float32,
            attn_implementation=ATTENTION,
            use_safetensors=True,
            **local,
        )
        model = whole.base_model.to("cuda" if on_gpu else "cpu").eval()
        lengths = [getattr(whole.config, "max_position_embeddings", None), tokenizer.model_max_length]
        context = min((int(length) for length in lengths if length and length < _ENDLESS), default=0)
        if not context:
            raise ValueError("it does not state how many tokens it reads")
        scorer = TorchScorer(str(path), model, tokenizer, context)
        scorer.scores("", "?", [(0, 1)], ["!"])  # what it cannot do shows here, before a run
    return scorer


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Refuse a folder that cannot be used, in one line."""
    try:
        yield
    except Exception as error:  # safetensors and tokenizers raise it as it is
        raise InputError(
            f"the model in {shown(str(path))} cannot be used as a scorer: {short(str(error))}",
            where=WHERE,
            remedy="Check the folder, or use another model.",
        ) from error
