"""Interviews over REST: asked of a run that is over, going on by number, and nothing in the run changes."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from asked_afterwards import baseline, bytes_of
from loopback.scripted import prompt_of
from loopback.server import LoopbackServer
from run_folders import PEOPLE

from persimchat.app.web.context import WebContext
from persimchat.runs.folder.interviews import INTERVIEWS
from persimchat.runs.folder.lock import held

Serve = Callable[..., LoopbackServer]
EVA, BO, LI = PEOPLE


async def test_an_agent_is_asked_and_the_interview_goes_on(api: httpx.AsyncClient, web: WebContext, serving: Serve):
    prompts: list[str] = []
    server = serving(lambda body: prompts.append(prompt_of(body)) or {"answer": f"Answer {len(prompts)}."})
    folder = baseline(web.runs.out)
    before = bytes_of(folder, INTERVIEWS)
    at = f"/api/runs/{folder.name}/interviews"
    by = {"agent": "bo", "by": server.model(), "with_people": True}
    first = await api.post(at, json={**by, "question": "Why?", "turn": 3})
    assert (first.status_code, first.json()["answer"], first.json()["agent"]) == (201, "Answer 1.", BO)
    again = await api.post(at, json={**by, "question": "And now?", "interview": first.json()["interview"]})
    assert (again.json()["interview"], again.json()["number"], again.json()["turn"]) == (1, 2, 3)
    assert "You answered: Answer 1." in prompts[1]
    assert [row["question"] for row in (await api.get(at)).json()] == ["Why?", "And now?"]
    assert bytes_of(folder, INTERVIEWS) == before


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"agent": "Nobody", "question": "?"}, 400, "there is no participant"),
        ({"agent": LI, "question": "?"}, 400, "is a person"),
        ({"agent": EVA, "question": "?", "turn": 9}, 400, "there is no turn 9"),
        ({"agent": EVA, "question": "?", "interview": 3}, 400, "there is no interview 3"),
        ({"agent": EVA, "question": "?", "by": "llamacpp:/etc/x.gguf"}, 400, "is a file on the server's machine"),
        ({"agent": EVA, "question": "?", "by": "openai:gpt-4o"}, 400, "people took part"),
        ({"agent": EVA, "question": "?", "settings": {"budget_tokens": 1}}, 409, "budget"),
        ({"agent": EVA, "question": "?", "settings": {"nope": 1}}, 400, "nope"),
        ({"agent": EVA, "question": ""}, 422, "question"),
        ({"agent": EVA, "question": "?", "file": "x"}, 422, "file"),
    ],
)
async def test_what_cannot_be_asked(api: httpx.AsyncClient, web: WebContext, body: object, status: int, words: str):
    folder = baseline(web.runs.out)
    answer = await api.post(f"/api/runs/{folder.name}/interviews", json=body)
    assert answer.status_code == status, answer.text
    assert words in answer.text
    assert not (folder / INTERVIEWS).exists()


async def test_a_run_that_somebody_works_on_is_refused(api: httpx.AsyncClient, web: WebContext):
    folder = baseline(web.runs.out)
    with held(folder):
        answer = await api.post(f"/api/runs/{folder.name}/interviews", json={"agent": EVA, "question": "?"})
    assert (answer.status_code, "is being worked on" in answer.text) == (400, True)
    assert (await api.get("/api/runs/nobody/interviews")).status_code == 404
