"""Character cards (V2, V3, and V1's fields): the text that a PNG picture holds, and its fields.

Only six fields are taken from a card. Everything else in it, such as instructions to a model, lore, greetings and
scripts of extensions, stays where it is and is listed as left out.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from persimchat.state.document import read_bytes
from persimchat.state.errors import InputError

MAX_PICTURE: Final = 4_000_000
"""The largest picture that is read, in bytes."""
MAX_TEXT: Final = 256 * 1024
"""The longest text of a card, in bytes."""
MARK: Final = "character card"
"""The field that a card's record has beside its own: which version it is."""
TAKEN: Final = ("name", "description", "personality", "scenario", "first_mes", "mes_example")

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_KEYWORDS: Final = ("ccv3", "chara")
"""The keywords of V3 and V2; a V3 card often holds both, for older programs."""
_LONGEST_NAME: Final = 300
_SELF: Final = re.compile(r"\{\{char\}\}|<BOT>", re.IGNORECASE)
_OTHER: Final = re.compile(r"\{\{user\}\}|<USER>", re.IGNORECASE)
_REMEDY: Final = "Export the card again, as JSON if the program can."


@dataclass(frozen=True)
class _Chunk:
    """A part of a PNG file."""

    kind: bytes
    data: bytes
    checked: bool


def card_text(path: Path) -> str:
    """The JSON text of the card in a PNG picture.

    Raises:
        InputError: the file cannot be read, is larger than `MAX_PICTURE`, is no PNG or a damaged one, holds no card,
            or one that is compressed, too long or not text.
    """
    raw = read_bytes(path, MAX_PICTURE)
    where = str(path)
    held: dict[str, bytes] = {}
    for chunk in _chunks(raw, where):
        if chunk.kind not in (b"tEXt", b"zTXt", b"iTXt"):
            continue
        keyword, _, written = chunk.data.partition(b"\0")
        name = keyword.decode("latin-1")
        if name not in _KEYWORDS:
            continue
        if chunk.kind != b"tEXt":
            raise InputError("the card is compressed, which is not read", where=where, remedy=_REMEDY)
        if not chunk.checked:
            raise InputError("the card's checksum is wrong: the file is damaged", where=where, remedy=_REMEDY)
        if held.setdefault(name, written) != written:
            what = f"the picture holds two different cards ({name})"
            raise InputError(what, where=where, remedy=_REMEDY)
    found = next((held[name] for name in _KEYWORDS if name in held), None)
    if found is None:
        remedy = "Name a picture that was exported as a character card, or the card as JSON."
        raise InputError("the picture holds no character card", where=where, remedy=remedy)
    return _decoded(found, where)


def _chunks(raw: bytes, where: str) -> Iterator[_Chunk]:
    """The parts of a PNG, which begins with a header and ends with an end; their contents are not decompressed."""
    if not raw.startswith(_SIGNATURE):
        raise InputError("this is no PNG picture", where=where, remedy="Name a PNG picture, or the card as JSON.")
    at = len(_SIGNATURE)
    first = True
    while True:
        size = int.from_bytes(raw[at : at + 4])
        kind = raw[at + 4 : at + 8]
        end = at + 12 + size
        if end > len(raw) or not kind.isalpha() or first != (kind == b"IHDR"):
            raise InputError("the PNG picture is damaged, or was cut off", where=where, remedy=_REMEDY)
        data = raw[at + 8 : end - 4]
        yield _Chunk(kind, data, zlib.crc32(kind + data) == int.from_bytes(raw[end - 4 : end]))
        if kind == b"IEND":
            return
        at, first = end, False


def _decoded(written: bytes, where: str) -> str:
    """A card's text from base64."""
    if len(written) > MAX_TEXT * 4 // 3 + 4:
        raise _too_long(where)
    try:
        raw = base64.b64decode(written, validate=True)
        text = raw.decode("utf-8")
    except (binascii.Error, ValueError):
        raise InputError("the card in the picture is not text", where=where, remedy=_REMEDY) from None
    check_length(text, where)
    return text


def check_length(text: str, where: str) -> None:
    """Refuse the text of a card that is too long.

    Raises:
        InputError: it has more than `MAX_TEXT` bytes.
    """
    if len(text.encode()) > MAX_TEXT:
        raise _too_long(where)


def _too_long(where: str) -> InputError:
    what = f"the card's text is longer than {MAX_TEXT // 1024} KiB"
    return InputError(what, where=where, remedy="Remove its lore book or extensions.")


def card_in(root: Any) -> dict[str, Any] | None:
    """The fields of a card, with `MARK`; None if a value from a JSON file is no card.

    In the six fields that are taken, the placeholders of the character's and the user's name are filled in.
    """
    if not isinstance(root, Mapping):
        return None
    version = root.get("spec")
    if isinstance(version, str) and version.startswith("chara_card_v"):
        fields = root.get("data")
    else:
        version, fields = "chara_card_v1", root if all(key in root for key in TAKEN) else None
    if not isinstance(fields, Mapping):
        return None
    name = fields.get("name")
    card = {str(key): value for key, value in fields.items()}
    if isinstance(name, str) and len(name) <= _LONGEST_NAME:
        card |= {key: _filled(value, name) for key, value in card.items() if key in TAKEN and isinstance(value, str)}
    return {**card, MARK: version}


def _filled(text: str, name: str) -> str:
    return _OTHER.sub("the other", _SELF.sub(lambda _: name, text))
