"""How a checkpoint's values are kept: compressed, with a checksum, so that what is damaged is never taken for whole.

A value's type says so: `d:msgpack` is compressed with a dictionary of the file (`runs/folder/checkpoint_values.py`),
`z:msgpack` without one, `c:msgpack` is as it was; four bytes of checksum come first. Values of earlier versions have
neither, and can be read.
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
"""Bytes of a dictionary's number."""


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
        """Take in a dictionary of the file; values are compressed with the one of the greatest number."""
        with self._lock:
            self._kept[number] = kept
            if number == max(self._kept):
                self._newest = None

    def made(self) -> tuple[int, bytes]:
        """A new dictionary out of what was packed last: its number, and as it is to be kept; it is not used yet."""
        with self._lock:
            content = b"".join(self._seen)[-_MOST:]
            return max(self._kept, default=0) + 1, zstandard.compress(content, _LEVEL_OF_DICTIONARIES)

    def pack(self, data: bytes) -> bytes | None:
        """A value compressed with the newest dictionary, whose number comes first; None where there is none yet."""
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
        """What was packed.

        Raises:
            KeyError: its dictionary is not there.
            zstandard.ZstdError: it, or its dictionary, is damaged.
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
"""Bytes from which on compressing a value pays."""
_SUM: Final = 4
"""Bytes of a checksum."""


class Serializer(JsonPlusSerializer):
    """Plain values and LangChain's messages are all that our channels hold; nothing else is made from stored bytes.

    A failed step leaves its error beside them, of which the text is kept.

    Args:
        where: the file or the server, for errors.
        dictionaries: of the file, if it keeps any.
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
        except Exception as error:  # whatever bytes that mean nothing lead to
            raise damaged(f"a value cannot be read ({type(error).__name__})", self.where) from error

    def new_dictionary(self) -> tuple[int, bytes]:
        """A dictionary's number and bytes, to be kept in the file; `know` has it used."""
        number, kept = (self._dictionaries or Dictionaries()).made()
        return number, _checksum(f"{_DICTIONARY} {number}", kept) + kept

    def know(self, number: int, kept: bytes) -> None:
        """Use a dictionary that the file keeps.

        Raises:
            InputError: it is damaged.
        """
        if self._dictionaries is not None:
            self._dictionaries.add(number, self._whole(f"{_DICTIONARY} {number}", kept))

    def _whole(self, kind: str, kept: bytes) -> bytes:
        """The bytes behind a checksum.

        Raises:
            InputError: they do not agree with it.
        """
        own, rest = kept[:_SUM], kept[_SUM:]
        if own != _checksum(kind, rest):
            raise damaged("a value does not agree with its checksum", self.where)
        return rest


def damaged(how: str, where: str) -> InputError:
    """The error that tells of damaged checkpoints.

    Args:
        how: what is wrong with them, a clause.
        where: the file or the server.
    """
    return InputError(
        f"the run's checkpoints are damaged: {how}",
        where=where,
        remedy="Take them from a backup. The run can be shown and exported, but not go on; its files are as they were.",
    )


def _checksum(kind: str, kept: bytes) -> bytes:
    return zlib.crc32(kept, zlib.crc32(kind.encode())).to_bytes(_SUM, "big")
