"""Reads what a GGUF file says of itself. It trusts no length: each is checked against the size of the file."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar

from ...state.errors import InputError
from ..naming import shown

_Found = TypeVar("_Found")

_MAGIC: Final = b"GGUF"
_NUMBERS: Final = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING: Final = 8
_ARRAY: Final = 9
_VERSIONS: Final = (2, 3)
_KEPT_LENGTH: Final = 10_000
"""Longer texts and lists (vocabularies, chat templates) are skipped for the header."""
_MOST: Final = 1_000_000
"""The longest text or list that is read for the contents."""
_ALIGNMENT: Final = 32
"""Bytes whose multiples tensors begin at, unless the file states another number."""
_MOST_AXES: Final = 4
_BYTES_A_VALUE: Final = 2
"""Bytes of a number in the KV cache, which llama.cpp keeps as 16-bit numbers."""
_REMEDY: Final = "Check that it is a complete .gguf file, or get it again."


@dataclass(frozen=True)
class Header:
    """The header of a model file.

    Attributes:
        architecture: for example "llama".
        context: tokens of context in training; None if the file does not state them.
        kv_bytes: bytes of memory that one token of context takes; 0 if unknown.
        licence: as the file states it; empty if it does not.
        size_label: its number of parameters in short, for example "135M"; empty if the file does not state it.
    """

    architecture: str
    context: int | None
    kv_bytes: int
    licence: str
    size_label: str


@dataclass(frozen=True)
class Tensor:
    """Where an array stands in a model file.

    Attributes:
        shape: its axes, the slowest first.
        kind: GGML's number for the form of its numbers.
        offset: bytes from the beginning of the file.
    """

    shape: tuple[int, ...]
    kind: int
    offset: int


@dataclass(frozen=True)
class Contents:
    """What a model file holds.

    Attributes:
        entries: the values of its header, by key.
        tensors: the places of its arrays, by name.
        size: bytes of the file.
    """

    entries: dict[str, Any]
    tensors: dict[str, Tensor]
    size: int


def read_header(file: Path) -> Header:
    """The header of a model file; read again only if the file has changed.

    Raises:
        InputError: the file does not exist, cannot be read, or is not a complete GGUF file.
    """
    return _checked(file, _read)


def read_contents(file: Path) -> Contents:
    """All values of a model file's header, and where its arrays stand.

    Raises:
        InputError: the file does not exist, cannot be read, or is not a complete GGUF file.
    """
    return _checked(file, _read_whole)


def _checked(file: Path, read: Callable[[Path, int, int], _Found]) -> _Found:
    path = shown(str(file))
    if file.is_dir():
        raise InputError(f"{path} is a folder, not a model file", remedy="Give the path of a .gguf file.")
    if not file.is_file():
        raise InputError(f"there is no model file {path}", remedy="Give the path of a .gguf file.")
    try:
        about = file.stat()
        return read(file, about.st_size, about.st_mtime_ns)
    except OSError as error:
        raise InputError(
            f"the model file {path} cannot be read: {error.strerror or error}", remedy="Check that you may read it."
        ) from error
    except MemoryError:
        raise InputError(f"{path} asks for more memory than there is", remedy=_REMEDY) from None
    except (ValueError, struct.error, ArithmeticError, TypeError) as error:
        raise InputError(f"{path} is not a complete GGUF file: {error}", remedy=_REMEDY) from error


@lru_cache(maxsize=16)
def _read(file: Path, size: int, _changed: int) -> Header:
    with file.open("rb") as opened:
        return _header(_metadata(opened, size, _KEPT_LENGTH)[0])


def _read_whole(file: Path, size: int, _changed: int) -> Contents:
    with file.open("rb") as opened:
        entries, count = _metadata(opened, size, _MOST)
        return Contents(entries, _tensors(opened, size, count, entries.get("general.alignment", _ALIGNMENT)), size)


def _metadata(file: BinaryIO, size: int, kept: int) -> tuple[dict[str, Any], int]:
    """The entries by key, without those longer than `kept`, and the number of tensors."""
    if file.read(4) != _MAGIC:
        raise ValueError("it does not begin with GGUF")
    version = _number(file, "<I")
    if version not in _VERSIONS:
        raise ValueError(f"its version is {version}, not one of {', '.join(map(str, _VERSIONS))}")
    tensors, count = _number(file, "<Q"), _number(file, "<Q")
    # The least that an entry takes: a length, a type, one byte.
    if count > size // 13:
        raise ValueError(f"it claims {count} entries, more than fit into it")
    found = {}
    for _ in range(count):
        key = str(_text(file, size, kept))
        found[key] = _value(file, _number(file, "<I"), size, kept)
    return found, tensors


def _tensors(file: BinaryIO, size: int, count: int, alignment: Any) -> dict[str, Tensor]:
    # The least that a tensor takes here: the length of its name, the number of its axes, one axis, its kind, its place.
    if count > size // 32:
        raise ValueError(f"it claims {count} tensors, more than fit into it")
    if not isinstance(alignment, int) or alignment < 1:
        raise ValueError("its alignment is not a number")
    found: dict[str, tuple[tuple[int, ...], int, int]] = {}
    for _ in range(count):
        name = str(_text(file, size, _KEPT_LENGTH))
        axes = _number(file, "<I")
        if not 1 <= axes <= _MOST_AXES or name in found:
            raise ValueError(f"its tensor {shown(name)} is invalid")
        shape = tuple(_number(file, "<Q") for _ in range(axes))[::-1]
        found[name] = (shape, _number(file, "<I"), _number(file, "<Q"))
    begin = -(-file.tell() // alignment) * alignment
    if any(begin + offset > size for _, _, offset in found.values()):
        raise ValueError("it ends in the middle")
    return {name: Tensor(shape, kind, begin + offset) for name, (shape, kind, offset) in found.items()}


def _value(file: BinaryIO, kind: int, size: int, kept: int) -> Any:
    """The next value; None for a skipped one."""
    if kind in _NUMBERS:
        return _number(file, _NUMBERS[kind])
    if kind == _STRING:
        return _text(file, size, kept)
    if kind != _ARRAY:
        raise ValueError(f"it has a value of unknown type {kind}")
    inner, count = _number(file, "<I"), _number(file, "<Q")
    if inner == _ARRAY:
        raise ValueError("it has a list of lists")
    if inner in _NUMBERS:
        width = struct.calcsize(_NUMBERS[inner])
        _within(file, count * width, size)
        if count > kept:
            file.seek(count * width, 1)
            return None
        form = _NUMBERS[inner]
        return list(struct.unpack(f"<{count}{form[-1]}", file.read(count * width)))
    if inner != _STRING:
        raise ValueError(f"it has a list of unknown type {inner}")
    _within(file, count * 8, size)
    texts = (_text(file, size, kept) for _ in range(count))
    if count > kept:
        deque(texts, maxlen=0)
        return None
    return list(texts)


def _number(file: BinaryIO, form: str) -> Any:
    return struct.unpack(form, file.read(struct.calcsize(form)))[0]


def _text(file: BinaryIO, size: int, kept: int) -> str | None:
    length = _number(file, "<Q")
    _within(file, length, size)
    if length > kept:
        file.seek(length, 1)
        return None
    return file.read(length).decode(errors="replace")


def _within(file: BinaryIO, length: int, size: int) -> None:
    if file.tell() + length > size:
        raise ValueError("it ends in the middle")


def _header(found: dict[str, Any]) -> Header:
    architecture = found.get("general.architecture")
    if not isinstance(architecture, str) or not architecture:
        raise ValueError("it does not name its architecture")

    def whole(name: str) -> int | None:
        value = found.get(f"{architecture}.{name}")
        return value if isinstance(value, int) and value > 0 else None

    def text(name: str) -> str:
        value = found.get(f"general.{name}")
        return " ".join(value.split())[:60] if isinstance(value, str) else ""

    return Header(
        architecture=architecture,
        context=whole("context_length"),
        kv_bytes=_kv_bytes(found, architecture, whole("block_count") or 0, whole("embedding_length") or 0),
        licence=text("license"),
        size_label=text("size_label"),
    )


def _kv_bytes(found: dict[str, Any], architecture: str, blocks: int, width: int) -> int:
    """Bytes of one token's keys and values in all blocks; 0 where an entry is no whole number."""
    heads = found.get(f"{architecture}.attention.head_count")
    kept = found.get(f"{architecture}.attention.head_count_kv", heads)
    most = max((h for h in heads if isinstance(h, int)), default=0) if isinstance(heads, list) else heads
    if not isinstance(most, int) or most <= 0:
        return 0
    lengths = [found.get(f"{architecture}.attention.{part}_length", width // most) for part in ("key", "value")]
    numbers = [*(kept if isinstance(kept, list) else [kept]), *lengths]
    if not all(isinstance(number, int) and number >= 0 for number in numbers):
        return 0
    total = sum(kept) if isinstance(kept, list) else (kept or most) * blocks
    return int(total * sum(lengths) * _BYTES_A_VALUE)
