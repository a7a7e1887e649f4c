"""Ways in which a run's folder may be damaged, each of them repeatable: a file, a way and a random generator."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Final

FILES: Final = ("run.sqlite", "transcript.md", "run.lock", "run.pid")
"""Every file that damage is done to, byte by byte."""


def deep(levels: int) -> Any:
    """A list in a list in a list."""
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


ABSURD: Final[tuple[Any, ...]] = (
    10**30, 10**400, -1, -(10**400), 0.5, 1e308, -1e308, float("nan"), float("inf"), True, None, "", "\0", "\ud800",
    "\x1b[2J\u202e", "x" * 100_000, "nothing of the kind", [], {}, [None], {"": None}, deep(60), deep(400), 7, [7], "7",
)  # fmt: skip
"""Values that nobody expects."""


def _places(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Every place of a value at which another value may be put: the container and the key."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        found.append((value, key))
        _places(value[key], found)
    return found


def _absurd(value: Any, random: Random) -> Any:
    places = _places(value, [])
    if not places:
        return random.choice(ABSURD)
    top = [place for place in places if place[0] is value]
    container, key = random.choice(random.choice([top, places]))
    if random.random() < 0.2 and isinstance(container, dict):
        del container[key]
    else:
        container[key] = random.choice(ABSURD)
    return value


def absurd(data: bytes, random: Random) -> bytes:
    """A value of the file is another one, or has gone; it is still JSON."""
    rows = data.splitlines() if data.count(b"\n") > 1 and data.startswith(b'{"') else [data]
    number = random.randrange(len(rows)) if rows else 0
    try:
        value = json.loads(rows[number])
    except (ValueError, IndexError):
        return data + b'{"turn": 1e999}\n'
    rows[number] = json.dumps(_absurd(value, random)).encode()
    return b"\n".join(rows) + b"\n"


def cut(data: bytes, random: Random) -> bytes:
    """Truncated at any byte."""
    return data[: random.randrange(len(data) + 1)]


def flipped(data: bytes, random: Random) -> bytes:
    """Up to twenty bytes are others."""
    changed = bytearray(data)
    for _ in range(random.randint(1, 20) if data else 0):
        changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed)


def shuffled(data: bytes, random: Random) -> bytes:
    """Lines in another order, some twice and some missing."""
    rows = data.splitlines(keepends=True)
    return b"".join(random.choices(rows, k=len(rows))) if rows else data


def within(what: bytes) -> Callable[[bytes, Random], bytes]:
    """Something is put between two bytes."""

    def put(data: bytes, random: Random) -> bytes:
        place = random.randrange(len(data) + 1)
        return data[:place] + what + data[place:]

    return put


def _version(data: bytes, random: Random) -> bytes:
    """Of another version, or a line that has fields of one."""
    try:
        value = json.loads(data.split(b"\n{")[0])
    except ValueError:
        return b"format 99\n"
    if not isinstance(value, dict):
        return data
    for key in random.choice([["format"], ["state_version"], ["format", "state_version"], ["versions"], ["aura"]]):
        value[key] = random.choice([0, 1, 3, 99, "2", None, {"persimchat": 7}])
    rest = data.partition(b"\n{")
    return json.dumps(value).encode() + (b"\n{" + rest[2] if rest[1] else b"\n")


WAYS: Final[dict[str, Callable[[bytes, Random], bytes]]] = {
    "cut": cut,
    "flipped": flipped,
    "absurd": absurd,
    "more absurd": lambda data, random: absurd(absurd(data, random), random),
    "shuffled": shuffled,
    "another version": _version,
    "emptied": lambda data, random: b"",
    "foreign": lambda data, random: random.choice([b"{}", b"[]\n", b"null\n", b'"x"\n', b'{"a": 1}\n', b"7\n"]),
    "deep": lambda data, random: data + b'{"turn":' * 5_000 + b"1" + b"}" * 5_000 + random.choice([b"", b"\n"]),
    "zeros": lambda data, random: data[: len(data) // 2] + bytes(len(data) // 2),
    "NUL within": within(b"\0"),
    "no UTF-8 within": within(b"\xff\xfe"),
    "UTF-16": lambda data, random: data.decode(errors="replace").encode("utf-16"),
    "a long line": within(b"x" * 2_000_000),
    "blank lines": within(b"\n\n  \n"),
    "a number": within(b"9" * 5_000),
}
"""What may become of a file's bytes."""

GONE: Final[dict[str, Callable[[Path], None]]] = {
    "missing": lambda path: shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True),
    "a folder": lambda path: _replaced(path, lambda: (path / "x").mkdir(parents=True)),
    "a file": lambda path: _replaced(path, lambda: path.write_bytes(b"This is no database. " * 200)),
    "empty": lambda path: _replaced(path, path.touch),
    "a link to nowhere": lambda path: _replaced(path, lambda: path.symlink_to(path.parent / "nowhere")),
    "a link to itself": lambda path: _replaced(path, lambda: path.symlink_to(path)),
}
"""What may stand in the place of a file, or of the folder of memories."""


def _replaced(path: Path, make: Callable[[], Any]) -> None:
    GONE["missing"](path)
    make()


def damage(folder: Path, name: str, way: str, seed: int) -> None:
    """Damage a file of a run."""
    path = folder / name
    if way in GONE:
        GONE[way](path)
    else:
        data = path.read_bytes() if path.exists() else b""
        path.write_bytes(WAYS[way](data, Random(f"{name} {way} {seed}")))
