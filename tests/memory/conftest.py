"""Fixtures of the memory room: a brute-force retrieval in plain Python, stores of every kind, a faulty server."""

from __future__ import annotations

import json
import math
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from operator import mul
from pathlib import Path
from typing import Any

import pytest
from loopback.server import free_port

from persimchat.memory.recollection import discard
from persimchat.state.minds.memory import Memory, new_memory
from persimchat.state.settings import Settings

_numbers = count()


def _cosine(a: Sequence[float], b: Sequence[float]) -> float:
    lengths = math.sqrt(sum(map(mul, a, a))) * math.sqrt(sum(map(mul, b, b)))
    return round(sum(map(mul, a, b)) / lengths, 12) if lengths else 0.0


def _spread(values: list[float]) -> list[float]:
    low, high = min(values), max(values)
    return [0.0 if high == low else (value - low) / (high - low) for value in values]


def _brute_force(
    memories: Sequence[dict[str, Any]],
    focal_points: Sequence[Sequence[float]],
    stm: Sequence[float] | None,
    emotion: Sequence[float] | None,
    turn: int,
    weights: dict[str, float],
    k: int = 30,
) -> list[dict[str, Any]]:
    """The specification's score, memory by memory, in plain Python; knows nothing of the code under test.

    Args:
        memories: `id`, `last`, `importance`, `emotion`, `vector`, in order of arrival.
        focal_points: their vectors.
        stm: vector of the memory in short-term memory, None for off.
        emotion: the six numbers now, None for off.
        turn: now.
        weights: by component.
        k: memories per focal point.
    """
    fixed = {
        "recency": _spread([0.995 ** (turn - m["last"]) for m in memories]),
        "importance": _spread([float(m["importance"]) for m in memories]),
        "emotional": _spread([0.0 if emotion is None else _cosine(emotion, m["emotion"]) for m in memories]),
        "stm_relevance": _spread([0.0 if stm is None else _cosine(stm, m["vector"]) for m in memories]),
    }
    tables = []
    chosen: set[int] = set()
    for question in focal_points:
        parts = {**fixed, "relevance": _spread([_cosine(question, m["vector"]) for m in memories])}
        rows = []
        for i in range(len(memories)):
            row = {name: weights[name] * values[i] for name, values in parts.items()}
            row["score"] = round(math.fsum(row.values()), 12)
            rows.append(row)
        tables.append(rows)
        chosen.update(sorted(range(len(memories)), key=lambda i: (-rows[i]["score"], -i))[:k])
    best = {i: max(range(len(tables)), key=lambda f: (tables[f][i]["score"], -f)) for i in chosen}
    order = sorted(chosen, key=lambda i: (-tables[best[i]][i]["score"], -i))
    return [{"id": memories[i]["id"], "focal_point": best[i], **tables[best[i]][i]} for i in order]


@pytest.fixture(scope="session")
def brute_force() -> Callable[..., list[dict[str, Any]]]:
    return _brute_force


@pytest.fixture(scope="session")
def same_recall() -> Callable[[Sequence[Any], Sequence[Any]], None]:
    """Assert that two retrievals are the same: memories, order, focal points, and all numbers to a tolerance."""

    def check(got: Sequence[Any], expected: Sequence[Any], tolerance: float = 1e-9) -> None:
        assert [(r["id"], r["focal_point"]) for r in got] == [(r["id"], r["focal_point"]) for r in expected]
        for left, right in zip(got, expected, strict=True):
            for name in ("score", "recency", "importance", "relevance", "emotional", "stm_relevance"):
                assert left[name] == pytest.approx(right[name], abs=tolerance), name

    return check


@pytest.fixture
def simulation() -> Iterator[str]:
    """A simulation's id that nobody else uses."""
    name = f"test-{next(_numbers)}-{time.monotonic_ns()}"
    yield name
    discard(name)


@pytest.fixture(scope="session")
def made() -> Callable[..., Memory]:
    """Make a memory from little."""

    def make(theme: str, *, agent: str = "Eva", turn: int = 0, importance: int = 5, **more: Any) -> Memory:
        kind = more.pop("kind", "perception")
        emotion = more.pop("emotion", [0, 0, 0, 0, 0, 0])
        return new_memory(agent, turn, kind, theme, more.pop("keywords", []), importance, emotion, **more)

    return make


@contextmanager
def _chroma(folder: Path) -> Iterator[str]:
    binary = Path(sys.executable).parent / "chroma"
    command = str(binary) if binary.exists() else shutil.which("chroma")
    if command is None:
        pytest.skip("the chroma command is not installed")
    port = free_port()
    process = subprocess.Popen(
        [command, "run", "--host", "127.0.0.1", "--port", str(port), "--path", str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
    )
    try:
        _await_port(port, process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=60)


@pytest.fixture(scope="session")
def chroma_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Chroma server on loopback."""
    with _chroma(tmp_path_factory.mktemp("chroma")) as url:
        yield url


@pytest.fixture
def chroma_process(tmp_path: Path) -> Callable[[], AbstractContextManager[str]]:
    """Start a Chroma server of one's own, which ends with the `with` block."""
    return lambda: _chroma(tmp_path)


def _await_port(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, "the chroma server ended at once"
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError("the chroma server did not start")


class EmbeddingServer:
    """An OpenAI-compatible embeddings server that can be told to fail."""

    def __init__(self) -> None:
        self.status = 200
        self.vectors: list[list[float]] | None = None
        self.refuses: Callable[[list[str]], tuple[int, str] | None] = lambda texts: None
        self.backwards = False
        self.requests: list[tuple[dict[str, str], dict[str, Any]]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.requests.append(({k.lower(): v for k, v in self.headers.items()}, body))
                answer: dict[str, Any] = {"error": {"message": "key sk-abcdefgh12345678 is wrong"}}
                status = outer.status
                if refused := outer.refuses(body["input"]):
                    status, answer = refused[0], {"error": {"message": refused[1]}}
                elif status == 200:
                    rows = outer.vectors or [[float(len(t)), float(t.count("a")), 1.0] for t in body["input"]]
                    data = [{"object": "embedding", "index": i, "embedding": row} for i, row in enumerate(rows)]
                    data = data[::-1] if outer.backwards else data
                    answer = {"object": "list", "model": "m", "data": data, "usage": {}}
                payload = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, format: str, *args: Any) -> None: ...

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @contextmanager
    def running(self) -> Iterator[EmbeddingServer]:
        self._thread.start()
        try:
            yield self
        finally:
            self._http.shutdown()
            self._http.server_close()

    @property
    def name(self) -> str:
        return f"some-model@http://127.0.0.1:{self._http.server_address[1]}/v1"


@pytest.fixture
def embedding_server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer().running() as server:
        yield server


@pytest.fixture
def ephemeral() -> Settings:
    return Settings()
