"""Reads the header of a GGUF file. It trusts no length: each is checked against the size of the file."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, Final

from persimchat.models.naming import shown
from persimchat.state.errors import InputError

_MAGIC: Final = b"GGUF"
_NUMBERS: Final = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING: Final = 8
_ARRAY: Final = 9
_VERSIONS: Final = (2, 3)
_KEPT_LENGTH: Final = 10_000
"""Longer texts and lists (vocabularies, chat templates) are skipped."""
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


def read_header(file: Path) -> Header:
    """The header of a model file; read again only if the file has changed.

    Raises:
        InputError: the file does not exist, cannot be read, or is not a complete GGUF file.
    """
    path = shown(str(file))
    if file.is_dir():
        raise InputError(f"{path} is a folder, not a model file", remedy="Give the path of a .gguf file.")
    if not file.is_file():
        raise InputError(f"there is no model file {path}", remedy="Give the path of a .gguf file.")
    try:
        about = file.stat()
        return _read(file, about.st_size, about.st_mtime_ns)
    except OSError as error:
        raise InputError(
            f"the model file {path} cannot be read: {error.strerror or error}", remedy="Check that you may read it."
        ) from error
    except (ValueError, struct.error, ArithmeticError, TypeError) as error:
        raise InputError(f"{path} is not a complete GGUF file: {error}", remedy=_REMEDY) from error


@lru_cache(maxsize=16)
def _read(file: Path, size: int, _changed: int) -> Header:
    with file.open("rb") as opened:
        return _header(_metadata(opened, size))


def _metadata(file: BinaryIO, size: int) -> dict[str, Any]:
    if file.read(4) != _MAGIC:
        raise ValueError("it does not begin with GGUF")
    version = _number(file, "<I")
    if version not in _VERSIONS:
        raise ValueError(f"its version is {version}, not one of {', '.join(map(str, _VERSIONS))}")
    _number(file, "<Q")  # how many tensors there are
    count = _number(file, "<Q")
    # The least that an entry takes: a length, a type, one byte.
    if count > size // 13:
        raise ValueError(f"it claims {count} entries, more than fit into it")
    found = {}
    for _ in range(count):
        key = str(_text(file, size))
        found[key] = _value(file, _number(file, "<I"), size)
    return found


def _value(file: BinaryIO, kind: int, size: int) -> Any:
    """The next value; None for a skipped one."""
    if kind in _NUMBERS:
        return _number(file, _NUMBERS[kind])
    if kind == _STRING:
        return _text(file, size)
    if kind != _ARRAY:
        raise ValueError(f"it has a value of unknown type {kind}")
    inner, count = _number(file, "<I"), _number(file, "<Q")
    if inner == _ARRAY:
        raise ValueError("it has a list of lists")
    if inner in _NUMBERS:
        width = struct.calcsize(_NUMBERS[inner])
        _within(file, count * width, size)
        if count > _KEPT_LENGTH:
            file.seek(count * width, 1)
            return None
        return [_number(file, _NUMBERS[inner]) for _ in range(count)]
    if inner != _STRING:
        raise ValueError(f"it has a list of unknown type {inner}")
    _within(file, count * 8, size)
    for _ in range(count):
        _text(file, size)
    return None


def _number(file: BinaryIO, form: str) -> Any:
    return struct.unpack(form, file.read(struct.calcsize(form)))[0]


def _text(file: BinaryIO, size: int) -> str | None:
    length = _number(file, "<Q")
    _within(file, length, size)
    if length > _KEPT_LENGTH:
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
    """Bytes of one token's keys and values in all blocks."""
    heads = found.get(f"{architecture}.attention.head_count")
    kept = found.get(f"{architecture}.attention.head_count_kv", heads)
    most = max((h for h in heads if isinstance(h, int)), default=0) if isinstance(heads, list) else heads
    if not isinstance(most, int) or most <= 0:
        return 0
    lengths = [found.get(f"{architecture}.attention.{part}_length", width // most) for part in ("key", "value")]
    total = sum(kept) if isinstance(kept, list) else (kept or most) * blocks
    return int(total * sum(lengths) * _BYTES_A_VALUE)
