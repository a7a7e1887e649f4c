"""Scores of pieces of information: how much a local model attends to each while it answers (equation 1).

Source: Chu, Chen, Nakayama, *Exploring and Controlling Diversity in LLM-Agent Conversation*. A scorer reads a prompt
and responses to it, and sums up its attention; it says nothing itself. One scorer is in memory at a time.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal, ParamSpec, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from persimchat.models.attention.gguf_check import check_file
from persimchat.models.attention.gguf_model import GgufModel
from persimchat.models.local.files import model_file
from persimchat.models.naming import SMOLLM2, parse_model_name, shown
from persimchat.state.errors import InputError, MissingExtraError, ModelError, PromptTooLong, nearest_word
from persimchat.state.settings import Settings

_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")

Reducer = Literal["sum_mean", "mean_mean"]
"""How attention becomes a score: the sum over a piece's tokens, or their mean; both are means over the response's."""

EXTRA: Final = "pruning"
WHERE: Final = "pruning.scorer"
_PACKAGES: Final = ("gguf", "tokenizers")
OTHERWISE: Final = "set pruning.method=embedding"
_reader: Final = ThreadPoolExecutor(max_workers=1, thread_name_prefix="scorer")
_GET: Final = f"persimchat models get {SMOLLM2}"


@dataclass(frozen=True)
class Scores:
    """What a scorer found in one prompt.

    Attributes:
        values: one score a piece, in the order of the spans, not rounded.
        tokens: tokens read.
    """

    values: tuple[float, ...]
    tokens: int


class Scorer(Protocol):
    """A model whose attention can be read."""

    @property
    def name(self) -> str:
        """Its name, as the settings have it."""

    @property
    def context(self) -> int:
        """The most tokens that it reads."""

    def count(self, system: str, user: str, response: str = "") -> int:
        """The tokens of a prompt under its chat template, and of a response to it."""

    def scores(
        self,
        system: str,
        user: str,
        spans: Sequence[tuple[int, int]],
        responses: Sequence[str] = (),
        *,
        reducer: Reducer = "sum_mean",
    ) -> Scores:
        """The score of each piece of information. Blocks; call it by `reading`.

        Args:
            system: the system message.
            user: the user message.
            spans: where each piece begins and ends, in characters of `user`. A token belongs to the piece in which its
                first character stands.
            responses: answers to the prompt, whose mean counts; without one, the prompt's last token looks.
            reducer: how attention becomes a score.

        Raises:
            PromptTooLong: prompt and response pass the context.
            ModelError: the model gives no numbers, or a response has no token.
        """


def check_scorer(name: str) -> None:
    """Check, without loading it, that a scorer can be used. Blocks for a moment; call it in a thread.

    Raises:
        MissingExtraError: the part that reads it is not installed.
        InputError: its file is missing or not a complete model that can be read.
    """
    path = _path(name)
    if not path.is_dir():
        if not all(find_spec(package) for package in _PACKAGES):
            raise MissingExtraError(f"the scorer {shown(name)}", EXTRA, otherwise=OTHERWISE)
        check_file(path)
        return
    if not (path / "config.json").is_file():
        raise InputError(
            f"the folder {shown(str(path))} holds no model of transformers: it has no config.json",
            where=WHERE,
            remedy="Give the folder of a model, or the path of a .gguf file.",
        )
    from persimchat.models.attention.torch_rows import check_folder

    check_folder(path)


def reads_attention(settings: Settings) -> bool:
    """Whether a conversation needs a scorer."""
    return settings.pruning.strength > 0 and settings.pruning.method == "attention"


async def check_settings(settings: Settings) -> None:
    """Check, before a conversation begins, the scorer that it needs, if it needs one.

    Raises:
        InputError: as `check_scorer`.
    """
    if reads_attention(settings):
        await asyncio.to_thread(check_scorer, settings.pruning.scorer)


def scorer_of(name: str) -> Scorer:
    """The scorer of a name, loaded unless the last call was for the same one. Blocks; call it by `reading`.

    Args:
        name: `smollm2`, `hf:OWNER/REPO/FILE.gguf` as `persimchat models get` stored it, the path of a .gguf file, or a
            folder of a transformers model.

    Raises:
        MissingExtraError: the part that reads it is not installed.
        InputError: its file is missing or not a complete model that can be read.
    """
    check_scorer(name)
    path = _path(name)
    key = path.resolve()
    with _loading:
        stamp = _stamp(path)
        if key not in _loaded or _loaded[key][0] != stamp:
            _loaded.clear()  # before the new one is loaded: there may not be room for both
            _loaded[key] = (stamp, _load(name, path))
        found = _loaded[key][1]
    return replace(found, name=name) if isinstance(found, GgufScorer) else found


async def reading(work: Callable[_Given, _Found], *given: _Given.args, **named: _Given.kwargs) -> _Found:
    """Do work with a scorer that blocks, in the one thread that scorers have.

    Scorers read one prompt at a time. Were the others to wait in asyncio's own threads, nothing else would get one,
    such as the writing of records.

    Args:
        work: what blocks.
        given: its arguments.
        named: its arguments by name.

    Returns:
        What `work` returns.
    """
    call = partial(copy_context().run, work, *given, **named)
    return await asyncio.get_running_loop().run_in_executor(_reader, call)


def _load(name: str, path: Path) -> Scorer:
    if not path.is_dir():
        return GgufScorer(name, GgufModel(path))
    from persimchat.models.attention.torch_rows import load_folder

    return load_folder(path)


@dataclass(frozen=True)
class GgufScorer:
    """A scorer of a GGUF file: it reads on the processor, with numpy.

    Attributes:
        name: as the settings have it.
        model: the file, loaded.
    """

    name: str
    model: GgufModel
    _alone: threading.Lock = field(default_factory=threading.Lock)

    @property
    def context(self) -> int:
        """The most tokens that it reads."""
        return self.model.context

    def count(self, system: str, user: str, response: str = "") -> int:
        """As `Scorer.count`."""
        return len(self.model.prompt(system, user)[0]) + len(self._answer(response))

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
        prompt, begins = self.model.prompt(system, user)
        answers = [self._answer(response) for response in responses]
        refuse_long(self.name, self.context, len(prompt), answers)
        with self._alone:  # two at a time would not be faster, and take twice the memory
            seen = self._attention(prompt, answers)
        return Scores(per_piece(self.name, seen, begins, spans, reducer), len(prompt) + sum(map(len, answers)))

    def _answer(self, response: str) -> list[int]:
        return list(self.model.encode(self.model.neutral(response)).ids)

    def _attention(self, prompt: list[int], answers: Sequence[list[int]]) -> NDArray[np.float64]:
        """How much the responses, or the prompt's last token, look at each token of the prompt."""
        llama = self.model.llama
        cache = llama.cache(len(prompt) + max(map(len, answers), default=0))
        seen = llama.read(prompt, cache, last=0 if answers else 1)
        for answer in answers:
            cache.length = len(prompt)
            seen += llama.read(answer, cache, last=len(answer))[: len(prompt)] / len(answers)
        return seen


def refuse_long(name: str, context: int, prompt: int, answers: Sequence[Sequence[int]]) -> None:
    """Refuse what a scorer cannot read.

    Args:
        name: the scorer's.
        context: the most tokens that it reads.
        prompt: tokens of the prompt.
        answers: the tokens of each response.

    Raises:
        PromptTooLong: prompt and response pass the context.
        ModelError: a response has no token.
    """
    if not all(answers):
        raise ModelError("a first response has no words, so it looks at nothing", model=name)
    longest = max(map(len, answers), default=0)
    if prompt + longest > context:
        answer = f" and a response of {longest:,}" if longest else ""
        raise PromptTooLong(
            f"too long: a prompt of {prompt:,} tokens{answer}, and the scorer reads at most {context:,}",
            model=name,
            remedy="Shorten the prompt with context_tokens, or use another pruning.scorer.",
        )


def per_piece(
    name: str, seen: NDArray[np.float64], begins: NDArray[np.int64], spans: Sequence[tuple[int, int]], reducer: Reducer
) -> tuple[float, ...]:
    """The attention to tokens as a score of each piece of information.

    Args:
        name: the scorer's.
        seen: of each token of the prompt.
        begins: where each token begins, in the characters in which the spans are given, ascending.
        spans: where each piece begins and ends.
        reducer: sum or mean over a piece's tokens; a piece without a token has 0.

    Raises:
        ModelError: something is not a number.
    """
    if not np.isfinite(seen).all():
        raise ModelError(
            "the attention is not a number: the scorer's file is broken",
            model=name,
            remedy=f"Get it again, for example with: {_GET}",
        )
    bounds = np.searchsorted(begins, np.array(spans, np.int64).reshape(-1, 2))
    found = [(float(seen[a:b].sum()), max(1, int(b - a))) for a, b in bounds]
    return tuple(total if reducer == "sum_mean" else total / tokens for total, tokens in found)


_Stamp = tuple[tuple[str, int, int], ...]

_loaded: Final[dict[Path, tuple[_Stamp, Scorer]]] = {}
"""The scorer that was asked for last, by its file or folder, and what `_stamp` said when it was read."""
_loading: Final = threading.Lock()


def _stamp(path: Path) -> _Stamp:
    """Name, size and time of change of a file, or of all files of a folder."""
    files = sorted(file for file in path.iterdir() if file.is_file()) if path.is_dir() else [path]
    return tuple((file.name, about.st_size, about.st_mtime_ns) for file, about in ((f, f.stat()) for f in files))


def _path(name: str) -> Path:
    """The file or folder of a scorer."""
    if name == SMOLLM2 or name.startswith("hf:"):
        return model_file(parse_model_name(name))
    path = Path(name).expanduser()
    if not path.exists():
        near = nearest_word(name, [SMOLLM2])
        raise InputError(
            f"there is no scorer {shown(name)}",
            where=WHERE,
            remedy=f"Did you mean {near!r}?"
            if near
            else "Give smollm2, the path of a .gguf file, or a folder of a transformers model.",
        )
    return path
