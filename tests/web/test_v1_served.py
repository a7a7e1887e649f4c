"""A world that is served: its address, keys and games; and a person forgotten while others talk."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from companion_talks import FERRY
from companion_worlds import files_with
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from starlette.testclient import TestClient
from udp_games import a_game

from persimchat.app.cli import main
from persimchat.app.companion_udp.server import serve_udp
from persimchat.app.web.serving import COOKIE, Guard
from persimchat.app.web.v1.app import Manner, v1_app
from persimchat.app.web.v1.bodies import told
from persimchat.runs.companion.folder import SERVED, served_at
from persimchat.runs.companion.world import World, opened_world
from persimchat.runs.folder.lock import holder

FERRY_FILE = Path(__file__).resolve().parents[2] / "examples" / "companion" / "ferry.yaml"


@contextmanager
def served(folder: Path, *options: str, command: tuple[str, ...] = ("companion", "serve")) -> Iterator[list[str]]:
    """The lines that a server prints; the last one is the address of `/v1`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "persimchat", *command, *options, "--port", "0"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PERSIMCHAT_MODEL": "offline"},
    )
    assert process.stdout is not None and process.stderr is not None
    lines = []
    while "/v1" not in (lines or [""])[-1]:
        line = process.stdout.readline()
        assert line, process.stderr.read()
        lines.append(line)
    try:
        yield lines
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        assert "Traceback" not in process.stderr.read()


def client_at(lines: list[str], key: str = "any") -> openai.OpenAI:
    address = re.search(r"http://\S+/v1", lines[-1])
    assert address, lines
    return openai.OpenAI(base_url=address[0].replace("0.0.0.0", "127.0.0.1"), api_key=key, max_retries=0)


@pytest.mark.proof
def test_the_snippet_of_the_documents(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    world = tmp_path / "lake"
    with served(tmp_path, str(FERRY_FILE), "--world", str(world), "--udp", "127.0.0.1:0", "--person", "Petr") as lines:
        client = client_at(lines)

        def say(text: str) -> str:
            stream = client.chat.completions.create(
                model="oda-brandvik", stream=True, messages=[{"role": "user", "content": text}]
            )
            return "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)

        say("My dog is called Kiwi.")
        say("Goodbye!")
        assert "Kiwi" in say("What is my dog called?")
        page = served_at(world)
        assert httpx.get(f"{page}companion", timeout=60).status_code == 200
        assert main(["companion", "talk", str(world), "Oda", "--person", "Petr"]) == 2
        assert page in capsys.readouterr().err
        said = ask_by_udp(next(line for line in lines if line.startswith("Games")))
        assert "Kiwi" in said["utt"], said
    assert not (world / SERVED).exists() and holder(world) is None
    with served(tmp_path, "--world", str(world), command=("serve",)) as lines:
        answer = client_at(lines).chat.completions.create(
            model="Oda",
            messages=[{"role": "user", "content": "What is my dog called?"}],
            extra_headers={"X-PerSimChat-Person": "Petr"},
        )
        assert "Kiwi" in str(answer.choices[0].message.content)


def ask_by_udp(line: str) -> dict[str, object]:
    port = int(line.strip().rpartition(":")[2])
    message = {"persona_name": "Oda", "user_name": "Petr", "message": "What is my dog called?"}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as game:
        game.settimeout(60)
        game.sendto(json.dumps({"type": "PROMPTMESSAGE", "data": message}).encode(), ("127.0.0.1", port))
        found = json.loads(game.recv(65_535))
    return dict(found["data"])


@pytest.mark.long
@pytest.mark.proof
def test_on_other_addresses_keys_are_needed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    world = tmp_path / "lake"
    with served(tmp_path, str(FERRY_FILE), "--world", str(world), "--host", "0.0.0.0") as lines:
        token = re.search(r"token=(\S+)", lines[0])
        assert token
        hello = {"model": "Oda", "messages": [{"role": "user", "content": "Hello."}]}
        for key in ("any", token[1]):
            with pytest.raises(openai.AuthenticationError):
                client_at(lines, key).chat.completions.create(**hello)
        assert main(["companion", "key", str(world), "--person", "Petr"]) == 0
        key = capsys.readouterr().out.strip()
        client = client_at(lines, key)
        assert client.chat.completions.create(**hello).choices[0].message.content
        page = str(client.base_url).removesuffix("/v1/")
        for address in ("/", "/companion", "/api/runs", "/v1x", "/v1"):
            got = httpx.get(page + address, headers={"authorization": f"Bearer {key}"}, timeout=60)
            assert got.status_code == 403, address
        assert main(["companion", "key", str(world), "--person", "petr", "--remove"]) == 0
        assert capsys.readouterr().out == "Removed: 1 key of petr.\n"
        with pytest.raises(openai.AuthenticationError):
            client.chat.completions.create(**hello)


# --- the guard ---


async def page(_: object) -> PlainTextResponse:
    return PlainTextResponse("inside")


INSIDE = Starlette(routes=[Mount("/v1", routes=[Route("/models", page)]), Route("/runs", page), Route("/v1x", page)])


def test_only_the_address_with_keys_of_its_own_needs_no_token():
    outside = TestClient(Guard(INSIDE, frozenset(), "opensesame", ("/v1/",)), follow_redirects=False)
    assert outside.get("/v1/models").text == "inside"
    for path in ("/runs", "/v1x", "/v1", "/v1/../runs", "//v1/models"):
        assert outside.get(path).status_code == 403, path
    for host in ("x/v1/", "x/v1/?", "x/v1/models#"):  # Host has no part in the path
        assert outside.get("/runs", headers={"host": host}).status_code == 403, host


def test_no_request_there_learns_the_token():
    outside = TestClient(Guard(INSIDE, frozenset(), "opensesame", ("/v1/",)), follow_redirects=False)
    answer = outside.get("/v1/models?token=guess")
    assert COOKIE not in answer.headers.get("set-cookie", "") and answer.status_code == 200


def test_other_pages_are_refused_there_too():
    outside = TestClient(Guard(INSIDE, frozenset({"localhost"}), None, ("/v1/",)), base_url="http://localhost")
    assert outside.get("/v1/models", headers={"origin": "http://evil.example"}).status_code == 403
    assert outside.get("/v1/models", headers={"host": "evil.example"}).status_code == 403
    refused = outside.post("/v1/models", headers={"content-length": "99999999999"})
    assert (refused.status_code, refused.json()["error"]["type"]) == (413, "invalid_request_error")


def test_an_error_that_nobody_expected_has_no_traceback():
    status, body, _ = told(RuntimeError("secret"))
    assert status == 500 and "secret" not in json.dumps(body)


@pytest.mark.parametrize("udp", ["x", "70000", ":9091", "127.0.0.1:", "localhost"])
def test_an_address_for_games_that_is_none(udp: str, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    world = ["--world", str(tmp_path / "lake")]
    assert main(["companion", "serve", str(FERRY_FILE), *world, "--udp", udp]) == 2
    assert "--udp" in capsys.readouterr().err
    assert not (tmp_path / "lake").exists()


def test_a_key_of_no_world(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    assert main(["companion", "key", str(tmp_path), "--person", "Petr"]) == 2
    assert "there is no world" in capsys.readouterr().err
    assert main(["serve", "--world", str(tmp_path), "--port", "0"]) == 2
    assert "there is no world" in capsys.readouterr().err


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """The ferry stage."""
    async with opened_world(tmp_path / "ferry", FERRY) as opened:
        yield opened


@asynccontextmanager
async def talking(world: World) -> AsyncIterator[Any]:
    """Says something as somebody, and gives the answer's status."""
    transport = httpx.ASGITransport(v1_app(world, Manner()))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:

        async def say(person: str, text: str) -> int:
            body = {"model": "Oda", "user": person, "messages": [{"role": "user", "content": text}]}
            return (await client.post("/chat/completions", json=body)).status_code

        yield say


@pytest.mark.proof
async def test_words_that_come_while_a_person_is_forgotten_wait_and_are_answered(world: World) -> None:
    async with talking(world) as say, asyncio.timeout(60):
        assert [await say("Petr", "My sister is called Mira."), await say("Eva", "Hello!")] == [200, 200]
        forgetting = asyncio.create_task(world.forget("Petr", "Oda"))
        said = []
        for number in range(4):
            said.append(asyncio.create_task(say("Eva", f"The boat has number {number}.")))
            await asyncio.sleep(0.02)
        await world.look_after()
        assert (await forgetting).counts["exchanges"] == 1
        assert await asyncio.gather(*said) == [200] * 4
        kept = await (await world.companion("Oda", "Eva")).exchanges()
    assert len(kept) == 5
    # Chroma's index of vectors has slots that are not in use yet; with others talking meanwhile, what the process's
    # memory held was seen in one of them, once in some twenty runs. tests/runs/test_forgetting.py searches every byte.
    assert [file for file in files_with(world.folder, "Petr", "Mira") if not file.endswith("data_level0.bin")] == []


@pytest.mark.proof
async def test_a_game_names_nobody_who_was_forgotten(world: World) -> None:
    async with serve_udp(world, port=0) as server, a_game(server.address) as game:
        await game.ask("PROMPTMESSAGE", {"persona_name": "Oda", "user_name": "Petr", "message": "Hello, I am Petr."})
        await world.forget("Petr", "Oda")
        event = {"action_event_subject": "kettle", "action_event_object": "boiling"}
        moved = await game.ask("MOVEMESSAGE", [{"name": "Oda", "events": [event]}])
    assert moved["status"] == "Success"
    assert files_with(world.folder, "Petr") == []
