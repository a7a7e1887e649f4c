"""The REST routes of models: the status of keys, what a server has, a test, downloads with consent to their size."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from loopback.server import LoopbackServer, free_port

from persimchat.models.local import files


@pytest.fixture(autouse=True)
def without_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Any):
    monkeypatch.setenv(files.FOLDER_VARIABLE, str(tmp_path / "models"))
    for variable in ("OPENAI_API_KEY", "PERSIMCHAT_API_KEY"):
        monkeypatch.delenv(variable, raising=False)


async def test_providers_and_the_status_of_their_keys(api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GROQ_API_KEY", "gsk-secret-value")
    answer = await api.get("/api/models")
    providers = {one["id"]: one for one in answer.json()["providers"]}
    assert providers["groq"]["key"] == "set"
    assert providers["openai"]["key"] == "missing"
    assert providers["openai"]["variables"] == ["OPENAI_API_KEY"]
    assert providers["offline"]["key"] == "not_needed"
    assert "gsk-secret-value" not in answer.text
    assert answer.json()["files"] == answer.json()["downloads"] == []


async def test_a_server_and_its_models(api: httpx.AsyncClient):
    with LoopbackServer() as server:
        found = await api.post("/api/models/served", json={"address": server.url})
        assert found.json()["models"] == ["test-model"]
        tested = await api.post("/api/models/test", json={"model": server.model()})
        assert tested.json()["model"] == server.model()
    wrong = await api.post("/api/models/test", json={"model": f"m@http://127.0.0.1:{free_port()}/v1"})
    assert wrong.status_code == 400
    assert "nothing listens at" in wrong.json()["error"]
    for model in ("http://localhost:9999/v1", "llamacpp:/etc/passwd", "m@http://169.254.169.254/v1"):
        refused = await api.post("/api/models/test", json={"model": model})
        assert refused.status_code == 400
        assert "pip install" not in refused.text


async def test_a_download_needs_consent_to_its_size(api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch):
    began: list[str] = []

    def get(name: str, **_: Any) -> Any:
        began.append(name)
        return None, True

    monkeypatch.setattr("persimchat.models.local.getting.get", get)
    told = (await api.get("/api/models/announced", params={"name": "smollm2"})).json()
    assert (told["size"], told["licence"], told["there"]) == (92_900_000, "Apache-2.0", False)
    refused = await api.post("/api/models/files", json={"name": "smollm2", "size": 1})
    assert refused.status_code == 400
    assert began == []
    assert (await api.post("/api/models/files", json={"name": "smollm2"})).status_code == 422
    started = await api.post("/api/models/files", json={"name": "smollm2", "size": told["size"]})
    assert started.status_code == 202
    while (await api.get("/api/models")).json()["downloads"][0]["state"] == "loading":
        await asyncio.sleep(0.01)
    assert began == ["smollm2"]
    for name in ("/etc/passwd", "hf:../a/b.gguf"):
        assert (await api.get("/api/models/announced", params={"name": name})).status_code == 400
    assert (await api.delete("/api/models/files", params={"name": "smollm2"})).status_code == 400
