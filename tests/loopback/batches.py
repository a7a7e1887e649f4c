"""OpenAI's Batch API for the loopback server: files, batches, and their answers."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from loopback.answering import Fault, Reply

Respond = Callable[[dict[str, Any]], Any]


@dataclass
class Batches:
    """The batches of a server.

    Attributes:
        pending: how many questions about a batch are answered before it is over.
        ends_as: what it is then.
        lost: how many of its requests get no answer.
        files: their contents, by id.
        made: the batches, by id, with the number of questions about each.
        keys: the authorization of every request, in order.
        faults: of which GET requests, by their number, what HTTP status is the answer.
        raw: whether answers have their characters as they are, behind a byte order mark.
    """

    pending: int = 1
    ends_as: str = "completed"
    lost: int = 0
    files: dict[str, str] = field(default_factory=dict)
    made: dict[str, dict[str, Any]] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)
    faults: dict[int, int] = field(default_factory=dict)
    raw: bool = False
    _gets: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def requests(self, batch: str) -> list[dict[str, Any]]:
        """The requests in a batch."""
        return [json.loads(line) for line in self.files[self.made[batch]["input_file_id"]].splitlines()]

    def post(self, path: str, raw: bytes) -> tuple[int, Any]:
        """Take a file, or begin a batch."""
        with self._lock:
            if path == "/v1/files":
                assert b'name="purpose"\r\n\r\nbatch' in raw
                found = re.search(rb'filename="[^"]+"\r\n.*?\r\n\r\n(.*?)\r\n--', raw, re.DOTALL)
                assert found is not None
                id_ = f"file-{len(self.files)}"
                self.files[id_] = found[1].decode()
                return 200, {"id": id_, "object": "file"}
            given = json.loads(raw)
            assert given["completion_window"] == "24h"
            id_ = f"batch_{len(self.made)}"
            self.made[id_] = {**given, "id": id_, "asked": 0}
            return 200, {"id": id_, "status": "validating"}

    def get(self, path: str, respond: Respond) -> tuple[int, Any]:
        """Tell how far a batch is, or give a file."""
        with self._lock:
            self._gets += 1
            if fault := self.faults.get(self._gets):
                return fault, {"error": {"message": "not now"}}
            id_ = path.split("/")[3]
            if path.startswith("/v1/files/"):
                return 200, self.files[id_]
            if id_ not in self.made:
                return 404, {"error": {"message": f"no batch {id_}"}}
            batch = self.made[id_]
            batch["asked"] += 1
            if batch["asked"] <= self.pending:
                return 200, {"id": id_, "status": "in_progress"}
            if "output" not in batch:
                asked = self.requests(id_)
                lines = [self._answer(one, respond) for one in asked[: len(asked) - self.lost]]
                batch["output"] = f"file-{len(self.files)}"
                said = "".join(f"{json.dumps(line, ensure_ascii=not self.raw)}\n" for line in reversed(lines))
                self.files[batch["output"]] = f"\ufeff{said}" if self.raw else said
            return 200, {"id": id_, "status": self.ends_as, "output_file_id": batch["output"], "error_file_id": None}

    def _answer(self, line: dict[str, Any], respond: Respond) -> dict[str, Any]:
        assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")
        reply = respond(line["body"])
        assert isinstance(reply, Fault | Reply)
        status = reply.status if isinstance(reply, Fault) else 200
        body = reply.body if isinstance(reply, Fault) else reply.completion(line["body"], usage=True)
        return {"custom_id": line["custom_id"], "response": {"status_code": status, "body": body}, "error": None}
