"""The same tree as OpenTelemetry spans, received over OTLP/HTTP on loopback by a small collector."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="needs pip install 'langsmith[otel]'")
service = pytest.importorskip(
    "opentelemetry.proto.collector.trace.v1.trace_service_pb2", reason="needs pip install 'langsmith[otel]'"
)
KEY = "sk-proj-0123456789abcdefghij"


class Collector:
    """A receiver of spans; `with Collector() as collector:` starts it."""

    def __enter__(self) -> Collector:
        self.paths: list[str] = []
        self.bodies: list[bytes] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                packed = self.headers.get("content-encoding") == "gzip"
                collector.paths.append(self.path)
                collector.bodies.append(gzip.decompress(body) if packed else body)
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def spans(self) -> list[Any]:
        """All spans, in order of their beginnings."""
        found = []
        for body in self.bodies:
            request = service.ExportTraceServiceRequest.FromString(body)
            found += [span for one in request.resource_spans for scope in one.scope_spans for span in scope.spans]
        return sorted(found, key=lambda span: span.start_time_unix_nano)


@pytest.mark.proof
def test_the_tree_reaches_a_collector_without_langsmith(tmp_path: Path) -> None:
    left_out = ("OTEL_", "LANGCHAIN_", "LANGSMITH_")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    command = [sys.executable, "-m", "persimchat", "run", "Tea?", "-n", "2", "--messages", "2", "--model", "offline"]
    with Collector() as collector:
        environment = {
            **inherited, "LANGSMITH_TRACING": "true", "LANGSMITH_TRACING_MODE": "otel", "OPENAI_API_KEY": KEY,
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
        }  # fmt: skip
        subprocess.run(
            [*command, "--quiet", "--out", str(tmp_path)],
            env=environment, capture_output=True, text=True, check=True, timeout=200,
        )  # fmt: skip
    spans = collector.spans()
    assert set(collector.paths) == {"/v1/traces"}
    assert len({span.trace_id for span in spans}) == 1
    (root,) = [span for span in spans if not span.parent_span_id]
    assert root.name == "conversation"
    turns = [span for span in spans if span.parent_span_id == root.span_id]
    assert [span.name for span in turns] == ["awakening", "turn 1", "turn 2"]
    under = [span.name for span in spans if span.parent_span_id == turns[2].span_id]
    assert {"speak", "hear", "publish", "end_check"} <= set(under)
    spoken = next(span for span in spans if span.name.startswith("natural_language:"))
    told = {one.key: one.value for one in spoken.attributes}
    assert told["gen_ai.usage.input_tokens"].int_value > 0
    assert told["langsmith.metadata.agent"].string_value == spoken.name.partition(":")[2]
    assert not any(KEY.encode() in body for body in collector.bodies)
    assert sum(map(len, collector.bodies)) / 2 <= 200_000, "bytes an utterance of two agents, awakening included"
