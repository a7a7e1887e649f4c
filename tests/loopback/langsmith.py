"""A small real HTTP server on 127.0.0.1 that receives what the LangSmith client sends, and puts the trees together.

It knows three paths: `/info`, `/runs/multipart` (zstd or plain) and `/runs/batch`. It is not part of the package.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import zstandard
from langsmith import Client
from langsmith.run_helpers import tracing_context

INFO = {
    "version": "0.13.0",
    "instance_flags": {"zstd_compression_enabled": True},
    "batch_ingest_config": {
        "use_multipart_endpoint": True,
        "size_limit": 100,
        "size_limit_bytes": 20_971_520,
        # One thread sends everything: with more of them the client's flush (langsmith 0.14.17) may never return.
        "scale_up_nthreads_limit": 1,
        "scale_up_qsize_trigger": 1_000_000,
    },
}


@dataclass
class Traced:
    """One run of a trace, with those that it called."""

    fields: dict[str, Any] = field(default_factory=dict)
    children: list[Traced] = field(default_factory=list)

    @property
    def name(self) -> str:
        return str(self.fields["name"])

    @property
    def tags(self) -> set[str]:
        return set(self.fields.get("tags") or ())

    @property
    def metadata(self) -> dict[str, Any]:
        return dict((self.fields.get("extra") or {}).get("metadata") or {})

    @property
    def error(self) -> str | None:
        return self.fields.get("error")

    def all(self) -> Iterator[Traced]:
        """This run and all below it, depth first, in order of their beginnings."""
        yield self
        for child in self.children:
            yield from child.all()

    def models(self) -> list[Traced]:
        """The runs that asked a model."""
        return [run for run in self.all() if run.fields["run_type"] == "llm"]

    def drawn(self, depth: int = 0) -> str:
        """The tree as indented names."""
        return "".join([f"{'  ' * depth}{self.name}\n", *(child.drawn(depth + 1) for child in self.children)])


@dataclass
class LangSmithServer:
    """The server; `with LangSmithServer() as server:` starts it on a free port.

    Attributes:
        paths: method and path of every request, in order.
        raw: everything that came in, bodies decompressed, headers included.
        runs: run id: its fields as posted and patched.
        sizes: bytes of what was told, before compression, by run id.
    """

    paths: list[str] = field(default_factory=list)
    raw: bytearray = field(default_factory=bytearray)
    runs: dict[str, dict[str, Any]] = field(default_factory=dict)
    sizes: Counter[str] = field(default_factory=Counter)

    def __enter__(self) -> LangSmithServer:
        self._lock = threading.Lock()
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.loopback = self
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """The value of LANGSMITH_ENDPOINT."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def took(self, path: str, headers: Mapping[str, str], body: bytes) -> None:
        """Keep a request."""
        shown = "".join(f"{name}: {value}\n" for name, value in headers.items() if name.lower() != "x-api-key")
        with self._lock:
            self.paths.append(path)
            self.raw += shown.encode() + body
            if path == "POST /runs/multipart":
                self._multipart(headers["content-type"], body)
            elif path == "POST /runs/batch":
                for operation in ("post", "patch"):
                    for run in json.loads(body).get(operation) or []:
                        self.sizes[run["id"]] += len(json.dumps(run))
                        self._merge(run["id"], run)

    def _multipart(self, content_type: str, body: bytes) -> None:
        message = BytesParser(policy=HTTP).parsebytes(f"content-type: {content_type}\r\n\r\n".encode() + body)
        for part in message.iter_parts():  # type: ignore[attr-defined]
            _operation, run, *of = part.get_param("name", header="content-disposition").split(".")
            payload = part.get_payload(decode=True)
            self.sizes[run] += len(payload)
            value = json.loads(payload)
            self._merge(run, {of[0]: value} if of else value)

    def _merge(self, run: str, fields: dict[str, Any]) -> None:
        """A patch says null of what it leaves as it was."""
        self.runs.setdefault(run, {}).update({key: value for key, value in fields.items() if value is not None})

    def trees(self) -> list[Traced]:
        """The traces' roots, in order of their beginnings; a run whose parent is unknown counts as a root."""
        nodes = {run: Traced(fields) for run, fields in self.runs.items()}
        roots: list[Traced] = []
        for node in sorted(nodes.values(), key=lambda node: node.fields["dotted_order"]):
            parent = nodes.get(node.fields.get("parent_run_id") or "")
            (parent.children if parent else roots).append(node)
        return roots


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    loopback: LangSmithServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: tests read what was kept."""

    def do_GET(self) -> None:
        self._take(b"")
        self._answer(200, INFO) if self.path == "/info" else self._answer(404, {"detail": f"no such path {self.path}"})

    def do_POST(self) -> None:
        body = self._body()
        if self.headers.get("content-encoding") == "zstd":
            body = zstandard.ZstdDecompressor().decompressobj().decompress(body)
        self._take(body)
        known = self.path in ("/runs/multipart", "/runs/batch")
        self._answer(202 if known else 404, {"message": "Runs batch ingested" if known else "no such path"})

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length", 0)))
        parts = []
        while size := int(self.rfile.readline().strip(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _take(self, body: bytes) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.loopback.took(f"{self.command} {self.path}", headers, body)

    def _answer(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def tracing(**options: Any) -> Iterator[LangSmithServer]:
    """Trace what happens inside to a server of this kind; afterwards it has everything. Options are the client's."""
    with LangSmithServer() as server:
        client = Client(api_url=server.url, api_key="lsv2_pt_loopback", **options)
        with tracing_context(enabled=True, client=client):
            yield server
        client.flush(timeout=60)
        client.cleanup(timeout=60)
