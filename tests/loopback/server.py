"""A small real HTTP server on 127.0.0.1 that speaks the OpenAI protocol, for tests and measurements.

Use it as a context manager, or run it: `python tests/loopback/server.py --port 8765 --delay 0.2`, and give PerSimChat
the model `any@http://127.0.0.1:8765/v1`. It is not part of the package.
"""

from __future__ import annotations

import argparse
import json
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from loopback.answering import Fault, Raw, Reply, embeddings, natural_answer

Answerer = Callable[[dict[str, Any]], "Reply | Fault | Raw | dict[str, Any] | str | None"]

REFUSABLE = {
    "json_schema": lambda body: (body.get("response_format") or {}).get("type") == "json_schema",
    "json_object": lambda body: (body.get("response_format") or {}).get("type") == "json_object",
    "tools": lambda body: "tools" in body,
    "seed": lambda body: "seed" in body,
    "stream_options": lambda body: "stream_options" in body,
    "temperature": lambda body: "temperature" in body,
    "top_p": lambda body: "top_p" in body,
    "max_tokens": lambda body: "max_tokens" in body,
    "max_completion_tokens": lambda body: "max_completion_tokens" in body,
    "strict": lambda body: '"strict"' in json.dumps(body),
    "maxLength": lambda body: '"maxLength"' in json.dumps([body.get("response_format"), body.get("tools")]),
}
"""What a server can be told to refuse with HTTP 400, and how a request shows it."""

_WORDS = {"json_schema": "response_format", "json_object": "response_format"}


@dataclass
class Recorded:
    """One request as it came in."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def text(self) -> str:
        """All messages' contents, one after the other."""
        return "\n".join(str(m.get("content")) for m in self.body.get("messages", []))


def free_port() -> int:
    """A port of 127.0.0.1 on which nothing listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class LoopbackServer:
    """The server; `with LoopbackServer(...) as server:` starts it on a free port.

    Attributes:
        answer: what it says to a request's body. A string is the content as it stands; a dict is given in the form
            that the request asks for (tool call or JSON text); None is `"content": null`; a Fault goes wrong. Where
            there is no answerer, it gives answers that fit PerSimChat's tasks.
        refuses: keys of REFUSABLE that are answered with HTTP 400.
        delay_s: seconds before an answer begins.
        silent_s: seconds from the first request until anything is answered; for good if infinite.
        awake: set once it answers.
        token_delay_s: seconds between the pieces of a stream.
        reports_usage: whether answers say how many tokens they took.
        tells: what it says of itself: path → JSON, or a Fault.
        told: those of these paths, and others that it does not have, that were asked for, with the key that came along.
        port: where it listens; 0 for a free one.
        requests: everything that came in, in order.
        most_at_once: the greatest number of requests that were under way at the same time.
    """

    answer: Answerer | None = None
    refuses: frozenset[str] | set[str] = frozenset()
    delay_s: float = 0.0
    silent_s: float = 0.0
    awake: threading.Event = field(default_factory=threading.Event)
    token_delay_s: float = 0.0
    reports_usage: bool = True
    embeds: Callable[[dict[str, Any]], dict[str, Any] | Fault] = embeddings
    tells: dict[str, Any] = field(default_factory=dict)
    told: list[tuple[str, str]] = field(default_factory=list)
    port: int = 0
    requests: list[Recorded] = field(default_factory=list)
    most_at_once: int = 0

    def __enter__(self) -> LoopbackServer:
        self._at_once = 0
        self._lock = threading.Lock()
        self._asked = False
        if not self.silent_s:
            self.awake.set()
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Listen, on the same port as before where it was stopped."""
        self._http = _Server(("127.0.0.1", self.port), _Handler)
        self._http.loopback = self
        self.port = self._http.server_address[1]
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        self._listens = True

    def stop(self) -> None:
        """Refuse connections from now on, and cut those that are open."""
        if self._listens:
            self._listens = False
            self.awake.set()
            self._http.shutdown()
            self._http.server_close()
            self._http.cut()
            self._thread.join()

    @property
    def url(self) -> str:
        """The base URL, ending in /v1."""
        return f"http://127.0.0.1:{self.port}/v1"

    def model(self, name: str = "test-model") -> str:
        """A model's name for PerSimChat's settings."""
        return f"{name}@{self.url}"

    def bodies(self, path: str = "/v1/chat/completions") -> list[dict[str, Any]]:
        """The bodies of the requests to one path, in order."""
        return [r.body for r in self.requests if r.path == path]

    def wake(self) -> None:
        """Wait until it answers; the first request begins its time of silence."""
        with self._lock:
            first, self._asked = not self._asked, True
        if first and 0 < self.silent_s < threading.TIMEOUT_MAX:
            timer = threading.Timer(self.silent_s, self.awake.set)
            timer.daemon = True
            timer.start()
        self.awake.wait()

    def respond(self, recorded: Recorded) -> Reply | Fault | Raw:
        """What is answered to a chat request."""
        with self._lock:
            self.requests.append(recorded)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            time.sleep(self.delay_s)
            for what in sorted(self.refuses):
                if REFUSABLE[what](recorded.body):
                    return Fault(400, {"error": {"message": f"{_WORDS.get(what, what)} is not supported here"}})
            answer = self.answer(recorded.body) if self.answer else natural_answer(recorded.body)
            return answer if isinstance(answer, Reply | Fault | Raw) else Reply.of(answer, recorded.body)
        finally:
            with self._lock:
                self._at_once -= 1


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    loopback: LoopbackServer

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._connections: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection."""
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """The connection has come to its end."""
        self._connections.discard(request)
        super().shutdown_request(request)

    def cut(self) -> None:
        """Cut every open connection."""
        for connection in list(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gives up in the middle of its request is nothing to report; anything else is."""
        if not isinstance(sys.exc_info()[1], ConnectionError | json.JSONDecodeError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: tests read `requests`."""

    def _tell(self) -> None:
        server = self.server.loopback
        server.told.append((self.path, self.headers.get("authorization", "")))
        found = server.tells.get(self.path)
        if isinstance(found, Fault):
            self._fail(found, streamed=False)
        elif found is not None:
            self._json(200, found)
        else:
            self._json(404, {"error": {"message": f"no such path {self.path}"}})

    def do_GET(self) -> None:
        self.server.loopback.wake()
        if self.path in self.server.loopback.tells:
            self._tell()
        elif self.path == "/v1/models":
            self._json(200, {"object": "list", "data": [{"id": "test-model", "object": "model"}]})
        else:
            self._tell()

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        raw = self.rfile.read(length)
        if len(raw) < length:
            raise ConnectionAbortedError("the client gave up before its request was whole")
        self.server.loopback.wake()
        recorded = Recorded(self.path, {k.lower(): v for k, v in self.headers.items()}, json.loads(raw or b"{}"))
        if self.path == "/v1/embeddings":
            self.server.loopback.requests.append(recorded)
            found = self.server.loopback.embeds(recorded.body)
            self._fail(found, streamed=False) if isinstance(found, Fault) else self._json(200, found)
        elif self.path == "/v1/chat/completions" or self.path.startswith("/openai/deployments/"):
            self._chat(recorded)
        else:
            self._tell()

    def _chat(self, recorded: Recorded) -> None:
        reply = self.server.loopback.respond(recorded)
        streamed = bool(recorded.body.get("stream"))
        if isinstance(reply, Fault):
            self._fail(reply, streamed)
        elif isinstance(reply, Raw):
            self._raw(reply)
        elif streamed:
            self._stream(reply.chunks(recorded.body, usage=self.server.loopback.reports_usage))
        else:
            self._json(200, reply.completion(recorded.body, usage=self.server.loopback.reports_usage))

    def _raw(self, raw: Raw) -> None:
        self.send_response(raw.status)
        for name, value in {"content-type": raw.content_type, "connection": "close", **raw.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(ConnectionError):  # who has read enough hangs up
            self.wfile.write(raw.body)
        self.close_connection = True

    def _fail(self, fault: Fault, streamed: bool) -> None:
        time.sleep(fault.delay_s)
        if fault.hang_up:
            self.close_connection = True
        elif fault.partial and streamed:
            self._stream(Reply(fault.partial).chunks({}, usage=False)[:-1], cut=not fault.silent, done=False)
        elif fault.partial:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", "100000")
            self.end_headers()
            self.wfile.write(fault.partial.encode())
            self.close_connection = True
        else:
            self._json(fault.status, fault.body, fault.headers)

    def _json(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, chunks: list[dict[str, Any]], *, cut: bool = False, done: bool = True) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for chunk in [*map(json.dumps, chunks), *(["[DONE]"] if done else [])]:
            data = f"data: {chunk}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()
            time.sleep(self.server.loopback.token_delay_s)
        if cut:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="An OpenAI-compatible server for tests, on 127.0.0.1.")
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before every answer")
    parser.add_argument("--token-delay", type=float, default=0.0, help="seconds between pieces of a stream")
    parser.add_argument("--refuse", action="append", default=[], choices=sorted(REFUSABLE))
    parser.add_argument("--scripted", action="store_true", help="fixed answers, which take the server no time")
    given = parser.parse_args()
    from loopback.scripted import Scripted

    with LoopbackServer(
        answer=Scripted() if given.scripted else None,
        delay_s=given.delay,
        token_delay_s=given.token_delay,
        refuses=set(given.refuse),
        port=given.port,
    ) as server:
        print(f"listening on {server.url}", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
