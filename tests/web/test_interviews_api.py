"""Interviews, bodies and their errors over REST."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from asked_afterwards import baseline, besides
from group_runs import write_group
from loopback.scripted import prompt_of
from loopback.server import LoopbackServer
from run_files import logged, run_json
from run_folders import PEOPLE, utterance, write_run
from story_records import CY, write_story
from story_talks import WORD, Telling, scenario
from web.conftest import begin

from persimchat.app.web.context import WebContext
from persimchat.app.web.live_runs import LiveRun
from persimchat.personas.scenario import load_story, with_people
from persimchat.runs.events import Asked, Stopped
from persimchat.runs.folder.lock import held
from persimchat.runs.folder.reading import read_manifest, read_run
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings


@pytest.fixture
async def run(web: WebContext) -> LiveRun:
    """A run that is over."""
    live = await begin(web, messages=3)
    await live.ended()
    return live


# Interviews over REST: asked of a run that is over, going on by number, and nothing in the run changes


Serve = Callable[..., LoopbackServer]
EVA, BO, LI = PEOPLE


async def test_an_agent_is_asked_and_the_interview_goes_on(api: httpx.AsyncClient, web: WebContext, serving: Serve):
    prompts: list[str] = []
    server = serving(lambda body: prompts.append(prompt_of(body)) or {"answer": f"Answer {len(prompts)}."})
    folder = baseline(web.runs.out)
    before = besides(folder, "interview_answer")
    at = f"/api/runs/{folder.name}/interviews"
    by = {"agent": "bo", "by": server.model(), "with_people": True}
    first = await api.post(at, json={**by, "question": "Why?", "turn": 3})
    assert (first.status_code, first.json()["answer"], first.json()["agent"]) == (201, "Answer 1.", BO)
    again = await api.post(at, json={**by, "question": "And now?", "interview": first.json()["interview"]})
    assert (again.json()["interview"], again.json()["number"], again.json()["turn"]) == (1, 2, 3)
    assert "You answered: Answer 1." in prompts[1]
    assert [row["question"] for row in (await api.get(at)).json()] == ["Why?", "And now?"]
    assert besides(folder, "interview_answer") == before


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
    assert logged(folder, "interview_answer") == []


async def test_a_run_that_somebody_works_on_is_refused(api: httpx.AsyncClient, web: WebContext):
    folder = baseline(web.runs.out)
    with held(folder):
        answer = await api.post(f"/api/runs/{folder.name}/interviews", json={"agent": EVA, "question": "?"})
    assert (answer.status_code, "is being worked on" in answer.text) == (400, True)
    assert (await api.get("/api/runs/nobody/interviews")).status_code == 404


# The summary of a focus group over REST: as JSON, as a page to print, and asking for what it needs


async def test_it_is_there_without_asking(api: httpx.AsyncClient, web: WebContext) -> None:
    run = write_group(web.runs.out).name
    found = (await api.get(f"/api/runs/{run}/summary")).json()
    assert [one["question"] for one in found["questions"]] == [0, 1, 2]
    assert found["questions"][2]["found_by"] is None
    page = await api.get(f"/api/runs/{run}/summary.html")
    assert "What would keep you from the app?" in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert logged(web.runs.out / run, "poll_answer") == []


async def test_a_model_is_asked_for_themes(api: httpx.AsyncClient, web: WebContext, serving: Serve) -> None:
    quote = {"line": 6, "words": "The deposit"}
    server = serving(lambda _: {"themes": [{"name": "Deposits", "about": "They deter.", "quotes": [quote]}]})
    run = write_group(web.runs.out).name
    body = {"by": server.model(), "positions": False}
    found = (await api.post(f"/api/runs/{run}/summary", json=body)).json()
    assert [theme["name"] for theme in found["questions"][2]["themes"]] == ["Deposits"]
    assert (found["questions"][0]["themes"], found["invented_quotes"]) == ([], 2)


async def test_what_cannot_be_summed_up_is_refused(api: httpx.AsyncClient, web: WebContext) -> None:
    write_run(web.runs.out, [utterance(1, "Eva Horáková")], run="no-guide")
    answer = await api.get("/api/runs/no-guide/summary")
    assert (answer.status_code, "no guide" in answer.json()["error"]) == (400, True)
    assert (await api.get("/api/runs/nobody/summary")).status_code == 404
    run = write_group(web.runs.out).name
    offline = await api.post(f"/api/runs/{run}/summary", json={"by": "offline", "positions": False})
    assert (offline.status_code, "cannot judge" in offline.json()["error"]) == (400, True)


# Pruning over REST: nested settings, and what would go at a past turn


SHORT = {"model": "offline", "max_messages": 3}


@pytest.fixture
async def talk(web: WebContext) -> LiveRun:
    """A talk that is over, in which everything was said."""
    live = await begin(web, messages=3, closing="off")
    await live.ended()
    return live


@pytest.mark.proof
async def test_settings_are_nested(api: httpx.AsyncClient, web: WebContext):
    pruning = {"lambda": 0.6, "method": "length", "remove": ["m"]}
    begun = await api.post("/api/runs", json={"topic": "Tea?", "settings": {**SHORT, "pruning": pruning}})
    assert begun.status_code == 201, begun.text
    talk = begun.json()["run"]
    live = web.runs.get(talk)
    assert live is not None
    await live.ended()
    assert read_manifest(web.runs.folder(talk)).settings.model_dump()["pruning"].items() >= pruning.items()
    minds = (await api.get(f"/api/runs/{talk}/minds/1")).json()
    (pruned,) = (mind["pruned"] for mind in minds if "pruned" in mind)
    assert (pruned["lambda"], pruned["method"], pruned["turn"]) == (0.6, "length", 1)
    changed = {"turn": 1, "settings": {"pruning": {"lambda": 1.0}}}
    branch = await api.post(f"/api/runs/{talk}/branch", json=changed)
    assert branch.status_code == 201, branch.text
    held = read_manifest(web.runs.folder(branch.json()["run"])).settings.model_dump()["pruning"]
    assert (held["lambda"], held["method"], held["remove"]) == (1.0, "length", ["m"])


@pytest.mark.proof
@pytest.mark.parametrize(
    ("pruning", "says"),
    [
        ({"lambda": 1.5}, "pruning.lambda"),
        ({"lambda": "high"}, "pruning.lambda"),
        ({"method": "attn"}, "pruning.method"),
        ({"remove": ["c"]}, "pruning.remove"),
        ({"responses": 0}, "pruning.responses"),
        ({"lambda": 0.5, "method": "none"}, "prunes nothing"),
        ({"scorer": "/etc/passwd"}, "users of the page cannot choose"),
        ({"speed": 1}, "speed"),
    ],
)
async def test_what_is_wrong_is_refused(api: httpx.AsyncClient, web: WebContext, pruning: dict[str, Any], says: str):
    answer = await api.post("/api/runs", json={"topic": "Tea?", "settings": {**SHORT, "pruning": pruning}})
    assert answer.status_code in (400, 422), answer.text
    problem = answer.json()
    assert problem.keys() == {"error", "where", "remedy"} and says in problem["error"] + problem["where"]
    assert web.runs.active == []


@pytest.mark.proof
async def test_a_dotted_scorer_is_refused(api: httpx.AsyncClient, talk: LiveRun):
    given = {"turn": 1, "settings": {"pruning.scorer": "/etc/passwd"}}
    answer = await api.post(f"/api/runs/{talk.run}/branch", json=given)
    assert answer.status_code == 400
    assert "users of the page cannot choose" in answer.json()["error"]


@pytest.mark.proof
async def test_what_would_go(api: httpx.AsyncClient, web: WebContext, talk: LiveRun):
    folder = web.runs.folder(talk.run)
    before = {path.name: path.read_bytes() for path in folder.glob("*.json*")}
    found = {}
    for strength in (0, 0.5, 1):
        given = {"turn": 2, "lambda": strength, "method": "length"}
        answer = await api.get(f"/api/runs/{talk.run}/pruning", params=given)
        assert answer.status_code == 200, answer.text
        found[strength] = answer.json()
        assert (found[strength]["turn"], found[strength]["lambda"]) == (2, strength)
    assert found[0]["removed"] == 0
    assert 0 < found[0.5]["words_removed"] < found[0.5]["words"]
    assert found[1]["removed"] == found[1]["units"] == len(found[1]["items"])
    assert found[0.5]["share"] <= 0.5
    assert {path.name: path.read_bytes() for path in folder.glob("*.json*")} == before


@pytest.mark.proof
@pytest.mark.parametrize(
    ("given", "status", "says"),
    [
        ({"turn": 0, "lambda": 0.5}, 422, "query.turn"),
        ({"turn": 99, "lambda": 0.5, "method": "length"}, 400, "there is no utterance 99"),
        ({"turn": 1, "lambda": "nan"}, 422, "query.lambda"),
        ({"turn": 1, "lambda": 0.5, "method": "none"}, 422, "query.method"),
        ({"turn": 1}, 422, "query.lambda"),
    ],
)
async def test_what_cannot_be_answered(
    api: httpx.AsyncClient, talk: LiveRun, given: dict[str, Any], status: int, says: str
):
    answer = await api.get(f"/api/runs/{talk.run}/pruning", params=given)
    assert answer.status_code == status, answer.text
    assert says in answer.json()["error"] + answer.json()["where"]


@pytest.mark.proof
async def test_attention_names_what_gets_it(api: httpx.AsyncClient, talk: LiveRun, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PERSIMCHAT_MODELS", "/nowhere")
    answer = await api.get(f"/api/runs/{talk.run}/pruning", params={"turn": 1, "lambda": 0.5})
    assert answer.status_code == 400, answer.text
    remedy = answer.json()["remedy"]
    assert "pip install" in remedy or "persimchat models get smollm2" in remedy


@pytest.mark.proof
async def test_no_run_has_no_prompt(api: httpx.AsyncClient):
    answer = await api.get("/api/runs/none/pruning", params={"turn": 1, "lambda": 0.5})
    assert answer.status_code == 404


@pytest.mark.proof
async def test_a_played_story_tells_nothing_of_its_prompts(api: httpx.AsyncClient, web: WebContext):
    write_story(web.runs.out / "played", people=(CY,), ended=False)
    answer = await api.get("/api/runs/played/pruning", params={"turn": 1, "lambda": 0.5, "method": "length"})
    assert answer.status_code == 409, answer.text
    assert "people play this story" in answer.json()["error"]


# Stories over REST: begun as all runs are, and read whole or as one character knows them


def body(story: Scenario) -> dict[str, Any]:
    """A story as a program would send it."""
    given = story.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return {**given, "settings": {**story.settings, "model": "offline", "seed": 1, "rounds": 1}}


async def finished(web: WebContext, api: httpx.AsyncClient, story: Scenario) -> str:
    """Hold a story; its run."""
    begun = await api.post("/api/runs", json=body(story))
    assert begun.status_code == 201, begun.text
    run: str = begun.json()["run"]
    assert begun.json()["mode"] == "story"
    live = web.runs.get(run)
    assert live is not None
    await live.ended()
    return run


@pytest.mark.proof
async def test_a_story_is_held_and_read(web: WebContext, api: httpx.AsyncClient) -> None:
    run = await finished(web, api, load_story())
    found = (await api.get(f"/api/runs/{run}/story")).json()
    assert (found["round"], found["rounds"], found["stage"], found["seen_by"]) == (2, 1, "settlement", None)
    assert [room["room"] for room in found["rooms"]] == ["1.1.1", "1.1.2", "1.1.3", "1.2.1", "1.2.2", "1.2.3"]
    assert sorted(found["standings"][-1]["characters"][0]) == ["beliefs", "closeness", "influence", "name", "supports"]
    assert found["owners"][0] | {"description": ""} == {
        "resource": "Koskela Ferries", "owner": "Aino Koskela", "influence": 30,
        "topics": ["the winter line", "wages"], "description": "",
    }  # fmt: skip
    assert [one["voter"] for one in found["ballots"]] == ["Aino Koskela", "Veikko Koskela", "Tuuli Koskela"]
    assert found["outcome"]["winners"] == run_json(web.runs.folder(run))["outcome"]["winners"]
    then = (await api.get(f"/api/runs/{run}/story", params={"turn": 3})).json()
    assert (then["stage"], len(then["rooms"]), then["outcome"]) == ("private", 2, None)
    web.runs.forget(run)  # the same from its folder
    assert (await api.get(f"/api/runs/{run}/story")).json() == found
    assert (await api.post("/api/estimate", json=body(load_story()))).json()["utterances"] == 20


@pytest.mark.proof
async def test_as_one_character(web: WebContext, api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    told = Telling().install(monkeypatch)
    run = await finished(web, api, scenario(2, 1))
    assert WORD.findall((await api.get(f"/api/runs/{run}/story")).text)
    for name in ("Ada Lind", "Bo Vik", "Cy Dahl"):
        text = (await api.get(f"/api/runs/{run}/story", params={"as": name.split()[0]})).text
        given = {word for _, own, prompt in told.prompts if own == name for word in WORD.findall(prompt)}
        assert set(WORD.findall(text)) <= given


@pytest.mark.proof
async def test_what_cannot_be_answered_of_a_story(web: WebContext, api: httpx.AsyncClient) -> None:
    run = await finished(web, api, scenario(2, 1, stages=[{"kind": "group", "exchanges": 1}]))
    wrong = await api.get(f"/api/runs/{run}/story", params={"as": "Adda"})
    assert (wrong.status_code, wrong.json()["where"]) == (400, "as")
    assert "Ada Lind" in wrong.json()["remedy"]
    talk = await begin(web, messages=1)
    await talk.ended()
    none = await api.get(f"/api/runs/{talk.run}/story")
    assert (none.status_code, none.json()["error"]) == (404, "the run is no story")
    assert (await api.get("/api/runs/nothing/story")).status_code == 404


async def test_a_wrong_story_is_refused_before_it_begins(api: httpx.AsyncClient) -> None:
    given = body(scenario(2, 1))
    given["story"]["characters"]["Boo"] = {"main": True}
    refused = await api.post("/api/runs", json=given)
    assert (refused.status_code, "Bo Vik" in refused.json()["remedy"]) == (400, True), refused.text


@pytest.mark.proof
async def test_the_description_has_it(api: httpx.AsyncClient) -> None:
    paths = (await api.get("/api/openapi.json")).json()["paths"]
    asked = paths["/api/runs/{run}/story"]["get"]
    assert [one["name"] for one in asked["parameters"]] == ["run", "as", "turn"]
    assert asked["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].endswith("/StoryCourse")


# Branches over REST that choose whom a story's host talks to


@pytest.mark.proof
async def test_a_choice_is_made_over_rest_and_wrong_ones_are_refused(web: WebContext, api: httpx.AsyncClient) -> None:
    story = load_story()
    settings = {**story.settings, "model": "offline", "seed": 1}
    body: dict[str, Any] = {**story.model_dump(mode="json", by_alias=True, exclude_defaults=True), "settings": settings}
    run = (await api.post("/api/runs", json=body)).json()["run"]
    live = web.runs.get(run)
    assert live is not None
    await live.ended()

    async def branch(**wanted: Any) -> httpx.Response:
        return await api.post(f"/api/runs/{run}/branch", json=wanted)

    made = await branch(choose={"host": "Tuuli", "partner": "nobody"})
    assert made.status_code == 201, made.text
    other = web.runs.get(made.json()["run"])
    assert other is not None
    await other.ended()
    record = await asyncio.to_thread(read_run, web.runs.folder(made.json()["run"]))
    assert record.manifest.branch is not None
    assert record.manifest.branch.turn == 8
    assert [one.speaker for one in record.happenings if one.chosen_by] == ["Tuuli Koskela"]
    wrong = [
        (await branch(choose={"host": "Olle", "partner": "Aino"}), "is no main character"),
        (await branch(turn=2, choose={"host": "Tuuli", "partner": "Tuuli"}), "may not choose"),
        (await branch(), "the turn at which the branch begins is missing"),
    ]
    for refused, words in wrong:
        assert 400 <= refused.status_code < 500
        assert words in refused.json()["error"]
        assert refused.json()["remedy"]


# The REST API's way of answering for a person who plays a character of a story


BAD: dict[str, list[dict[str, Any]]] = {
    "choice": [{"choice": "Aino"}, {"choice": 0}, {"choice": 4}, {"choice": ""}, {"text": "Nobody at all"}, {}],
    "utterance": [{"choice": "Aino"}, {"text": " "}, {"text": "Psst.", "heard_by": ["Olle Granat"]}, {"choice": 1}],
    "ballot": [{"choice": "Olle"}, {"choice": 9}, {"need_to_talk": 3}, {"choice": 1, "text": "Aino"}],
}
GOOD: dict[str, Any] = {"choice": {"choice": "Olle"}, "utterance": {"text": "Well, well."}, "ballot": {"choice": 1}}


@pytest.mark.proof
async def test_a_story_is_played_and_bad_answers_are_refused(api: httpx.AsyncClient, web: WebContext) -> None:
    live = await web.runs.start(with_people(load_story(), ["Aino"]), Settings(mode="story", model="offline", rounds=1))
    control, kinds, passed = f"/api/runs/{live.run}/control", set(), False
    async for event in live.broadcast.subscribe():
        if isinstance(event, Stopped):
            assert event.reason == "settled"
        if not isinstance(event, Asked):
            continue
        asked = (await api.get(f"/api/runs/{live.run}")).json()["asked"]
        assert asked["story"]["knows"]["name"] == "Aino Koskela"
        assert asked == event.model_dump(mode="json")
        if event.what not in kinds:
            for given in BAD[event.what]:
                refused = await api.post(control, json={"do": "answer", **given})
                assert refused.status_code in (400, 422), (event.what, given, refused.text)
                assert "\n" not in refused.json()["error"]
        kinds.add(event.what)
        body = {"do": "pass"} if event.what == "utterance" and not passed else {"do": "answer", **GOOD[event.what]}
        passed = passed or event.what == "utterance"
        answer = await api.post(control, json=body)
        assert answer.status_code == 202, answer.text
    assert kinds == {"choice", "utterance", "ballot"}
    assert (await api.post(control, json={"do": "answer", "choice": 1})).status_code == 409
