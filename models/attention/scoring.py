"""A GGUF file of the llama architecture: its weights as arrays, its tokenizer, and its chat template."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...state.errors import InputError, MissingExtraError, nearest_word
from ...state.settings import Settings
from ..local.files import model_file
from ..local.gguf import Contents, read_contents
from ..naming import SMOLLM2, parse_model_name, shown
from ..redaction import short
from .forward import Floats, Layer, Llama
from .gguf_check import Entries, check_file, frequencies_of, read_arrays, shape_of, unusable
from .gguf_text import CONTROL, chat_template, tokenizer, tokens_of
from .scores import OTHERWISE, WHERE, Reducer, Scorer, Scores, per_piece, refuse_long
from .torch_rows import check_folder, load_folder

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


# Scores of pieces of information: how much a local model attends to each while it answers (equation 1)


_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")

EXTRA: Final = "pruning"
_PACKAGES: Final = ("gguf", "tokenizers")
_reader: Final = ThreadPoolExecutor(max_workers=1, thread_name_prefix="scorer")


_Stamp = tuple[tuple[str, int, int], ...]

_loaded: Final[dict[Path, tuple[_Stamp, Scorer]]] = {}
"""The scorer that was asked for last, by its file or folder, and what `_stamp` said when it was read."""
_loading: Final = threading.Lock()


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
