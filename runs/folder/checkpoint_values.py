"""Serialises the values of checkpoints: compressed, with a checksum that detects damage.

The type of a value names its form: `d:msgpack` is compressed with a dictionary of the file, `z:msgpack` without one,
`c:msgpack` is not compressed; four bytes of checksum come first. Values of earlier versions have neither, and can still
be read.
"""

from __future__ import annotations

import threading
import zlib
from collections import deque
from typing import Any, Final

import zstandard
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from persimchat.state.errors import InputError

_MOST: Final = 160_000
"""Bytes of a dictionary."""
_LEVEL, _LEVEL_OF_DICTIONARIES = 3, 9
_NUMBER: Final = 4
"""Bytes of the number of a dictionary."""


class Dictionaries:
    """The dictionaries of one file. Safe between threads."""

    def __init__(self) -> None:
        self._kept: dict[int, bytes] = {}
        self._newest: tuple[int, zstandard.ZstdCompressor] | None = None
        self._opened: tuple[int, zstandard.ZstdDecompressor] | None = None
        self._seen: deque[bytes] = deque()
        self._bytes = 0
        self._lock = threading.Lock()

    def add(self, number: int, kept: bytes) -> None:
        """Add a dictionary of the file; the one of the greatest number compresses new values."""
        with self._lock:
            self._kept[number] = kept
            if number == max(self._kept):
                self._newest = None

    def made(self) -> tuple[int, bytes]:
        """Make a dictionary from the values packed last; returns its number and bytes, and does not use it yet."""
        with self._lock:
            content = b"".join(self._seen)[-_MOST:]
            return max(self._kept, default=0) + 1, zstandard.compress(content, _LEVEL_OF_DICTIONARIES)

    def pack(self, data: bytes) -> bytes | None:
        """A value compressed with the newest dictionary, after the dictionary's number; None if there is none yet."""
        with self._lock:
            self._seen.append(data)
            self._bytes += len(data)
            while self._bytes - len(self._seen[0]) >= _MOST:
                self._bytes -= len(self._seen.popleft())
            if not self._kept:
                return None
            if self._newest is None:
                number = max(self._kept)
                content = self._content(number)
                self._newest = number, zstandard.ZstdCompressor(_LEVEL, dict_data=content, write_checksum=True)
            number, compressor = self._newest
            return number.to_bytes(_NUMBER, "big") + compressor.compress(data)

    def unpack(self, packed: bytes) -> bytes:
        """Decompress a packed value.

        Raises:
            KeyError: its dictionary is missing.
            zstandard.ZstdError: it or its dictionary is damaged.
        """
        with self._lock:
            number = int.from_bytes(packed[:_NUMBER], "big")
            if self._opened is None or self._opened[0] != number:
                self._opened = number, zstandard.ZstdDecompressor(dict_data=self._content(number))
            return self._opened[1].decompress(packed[_NUMBER:])

    def _content(self, number: int) -> zstandard.ZstdCompressionDict:
        content = zstandard.decompress(self._kept[number])
        return zstandard.ZstdCompressionDict(content, dict_type=zstandard.DICT_TYPE_RAWCONTENT)


_SHARED, _PACKED, _PLAIN = "d:", "z:", "c:"
_DICTIONARY: Final = "dictionary"
"""Type of a dictionary."""
_WORTH: Final = 200
"""Size in bytes from which compression pays."""
_SUM: Final = 4
"""Bytes of a checksum."""


class Serializer(JsonPlusSerializer):
    """Serialises plain values and LangChain's messages, all that channels hold; stored bytes become nothing else.

    Of the error of a failed step, it keeps the text.

    Args:
        where: the file or the server, for errors.
        dictionaries: of the file, if it has any.
    """

    def __init__(self, where: str, dictionaries: Dictionaries | None = None) -> None:
        super().__init__(allowed_msgpack_modules=None)
        self.where = where
        self._dictionaries = dictionaries

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """A value's type and bytes."""
        kind, data = super().dumps_typed(str(obj) if isinstance(obj, BaseException) else obj)
        shared = self._dictionaries.pack(data) if self._dictionaries is not None else None
        if shared is not None:
            packed, how = shared, _SHARED
        else:
            packed, how = zlib.compress(data, 1) if len(data) >= _WORTH else data, _PACKED
        kept, how = (packed, how) if len(packed) < len(data) else (data, _PLAIN)
        return how + kind, _checksum(how + kind, kept) + kept

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """A value from its type and bytes.

        Raises:
            InputError: it is damaged.
        """
        kind, kept = data
        try:
            if kind.startswith((_SHARED, _PACKED, _PLAIN)):
                kept = self._whole(kind, kept)
                if kind.startswith(_SHARED):
                    kept = (self._dictionaries or Dictionaries()).unpack(kept)
                elif kind.startswith(_PACKED):
                    kept = zlib.decompress(kept)
                kind = kind[len(_PACKED) :]
            return super().loads_typed((kind, kept))
        except InputError:
            raise
        except Exception as error:  # meaningless bytes may raise any error
            raise damaged(f"a value cannot be read ({type(error).__name__})", self.where) from error

    def new_dictionary(self) -> tuple[int, bytes]:
        """The number and bytes of a new dictionary, to keep in the file; `know` puts it to use."""
        number, kept = (self._dictionaries or Dictionaries()).made()
        return number, _checksum(f"{_DICTIONARY} {number}", kept) + kept

    def know(self, number: int, kept: bytes) -> None:
        """Use a dictionary of the file.

        Raises:
            InputError: it is damaged.
        """
        if self._dictionaries is not None:
            self._dictionaries.add(number, self._whole(f"{_DICTIONARY} {number}", kept))

    def _whole(self, kind: str, kept: bytes) -> bytes:
        """The bytes after a checksum.

        Raises:
            InputError: they do not match it.
        """
        own, rest = kept[:_SUM], kept[_SUM:]
        if own != _checksum(kind, rest):
            raise damaged("a value does not match its checksum", self.where)
        return rest


def damaged(how: str, where: str) -> InputError:
    """The error that reports damaged checkpoints.

    Args:
        how: the fault, as a clause.
        where: the file or the server.
    """
    return InputError(
        f"the run's checkpoints are damaged: {how}",
        where=where,
        remedy="Restore them from a backup. The run can be shown and exported, but not resumed; its files are whole.",
    )


def _checksum(kind: str, kept: bytes) -> bytes:
    return zlib.crc32(kept, zlib.crc32(kind.encode())).to_bytes(_SUM, "big")
