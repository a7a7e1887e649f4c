"""What a run's checkpoints have in common, kept once: dictionaries with which their values are compressed.

Most of a checkpoint is what stood in the ones before it: participants, minds, names of channels. So the last values
become a dictionary now and then, and a value is kept as what it has beside the dictionary of then. Every value names
its dictionary and needs no other value, so each can still be read by itself.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Final

import zstandard

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
