"""`/v1`: the real `openai` client talks with agents of a real world; the offline model answers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from loopback.answering import Fault

from persimchat.app.web.v1.app import BURST, MOST_BYTES, Manner, v1_app
from persimchat.app.web.v1.bodies import ChatRequest
from persimchat.app.web.v1.talking import Talking
from persimchat.runs.companion.events import Answered
from persimchat.runs.companion.keys import add_key
from persimchat.runs.companion.world import World, opened_world
from persimchat.state.companion import Happening
from persimchat.state.companion.place import Agent, Place
from persimchat.state.persona import Persona
from persimchat.state.settings import Settings

ODA = Persona(name="Oda Brandvik", description="Sells tickets.", traits=["dry"])
TOMASZ = Persona(name="Tomasz Wrona", description="Sells tea.", traits=["chatty"])
TITLE = "### Task:\nGenerate a title.\n### Chat History:\n<chat_history>\nUSER: My cat is called Pom.\n</chat_history>"
Opening = Callable[..., Any]


@pytest.fixture
async def opening(tmp_path: Path) -> AsyncIterator[Opening]:
    """`await opening(settings…)` opens a world of two agents, and closes it after the test."""
    async with AsyncExitStack() as stack:

        async def opened(**settings: Any) -> World:
            place = Place(world="Lake", agents=[Agent(persona=ODA), Agent(persona=TOMASZ)])
            own = Settings.model_validate({"model": "offline", "cognition": "lean", **settings})
            return await stack.enter_async_context(opened_world(tmp_path / "lake", place, own))

        yield opened


@asynccontextmanager
async def asking(world: World, key: str = "any", **manner: Any) -> AsyncIterator[openai.AsyncOpenAI]:
    """The client of a program that asks this world."""
    transport = httpx.ASGITransport(v1_app(world, Manner(**manner)))
    async with openai.AsyncOpenAI(
        base_url="http://localhost/", api_key=key, http_client=httpx.AsyncClient(transport=transport), max_retries=0
    ) as client:
        yield client


def history(*said: str) -> list[dict[str, str]]:
    """Messages of person and agent in turn, the person's last."""
    roles = ["user", "assistant"] if len(said) % 2 else ["assistant", "user"]
    return [{"role": roles[n % 2], "content": text} for n, text in enumerate(said)]


async def ask(client: openai.AsyncOpenAI, *said: str, person: str = "Petr", **more: Any) -> Any:
    """A whole answer."""
    headers = {"X-PerSimChat-Person": person, **more.pop("headers", {})}
    more = {"model": "oda-brandvik", "messages": history(*said), **more}
    return await client.chat.completions.create(**more, extra_headers=headers)


def text(answer: Any) -> str:
    return str(answer.choices[0].message.content)


async def heard(world: World, agent: str = "Oda", person: str = "Petr") -> list[str]:
    """What the agent's transcript has of the person's words."""
    return [one["said"] for one in await (await world.companion(agent, person)).exchanges()]


@pytest.mark.proof
async def test_what_is_told_in_one_talk_is_known_in_the_next(opening: Opening):
    world = await opening()
    async with asking(world) as client:

        async def say(words: str) -> str:
            stream = await ask(client, words, stream=True)
            return "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])

        assert await say("My dog is called Kiwi.")
        await say("Goodbye!")
        assert "Kiwi" in await say("What is my dog called?")
        assert "Kiwi" not in text(await ask(client, "What is my dog called?", person="Eva"))


async def test_models(opening: Opening):
    async with asking(await opening()) as client:
        assert [model.id async for model in client.models.list()] == ["oda-brandvik", "tomasz-wrona", "plain"]
        assert (await client.models.retrieve("tomasz-wrona")).owned_by == "persimchat"
        answer = await ask(client, "Hello.", model="Oda")
        assert (answer.object, answer.model) == ("chat.completion", "Oda")
        for name in ("oda-brandwik", "nobody"):
            with pytest.raises(openai.NotFoundError, match="oda-brandvik"):
                await ask(client, "Hello.", model=name)
        with pytest.raises(openai.NotFoundError):
            await client.models.retrieve("gpt-4")
        with pytest.raises(openai.NotFoundError, match="/v1/chat/completions"):
            await client.responses.create(model="oda-brandvik", input="Hello.")
        with pytest.raises(openai.NotFoundError, match="/v1/chat/completions"):
            await client.embeddings.create(model="oda-brandvik", input="Hello.")


async def test_a_stream(opening: Opening):
    world = await opening()
    async with asking(world) as client:
        stream = await ask(client, "Good morning!", stream=True, stream_options={"include_usage": True})
        chunks = [chunk async for chunk in stream]
    *words, last, usage = chunks
    assert words[0].choices[0].delta.role == "assistant"
    said = "".join(chunk.choices[0].delta.content or "" for chunk in words)
    [exchange] = await (await world.companion("Oda", "Petr")).exchanges()
    assert said == exchange["utterance"] and len(words) > 3
    assert last.choices[0].finish_reason == "stop"
    own = last.model_extra["persimchat"]
    assert own == {"emotion": "neutral", "trust": 5, "end": False, "talk": exchange["talk"]}
    assert usage.choices == [] and usage.usage.completion_tokens > 0
    assert {chunk.usage for chunk in chunks[:-1]} == {None}


async def test_a_whole_answer(opening: Opening):
    async with asking(await opening()) as client:
        answer = await ask(client, "Goodbye!")
        assert answer.choices[0].finish_reason == "stop"
        assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
        assert answer.model_extra["persimchat"]["end"] is True
        raw = await client.chat.completions.with_raw_response.create(model="Oda", messages=history("Hello."))
        assert raw.headers["server-timing"].startswith("answer;dur=")


@pytest.mark.proof
async def test_cuts(opening: Opening):
    async with asking(await opening()) as client:
        cut = await ask(client, "Tell me about the boats.", max_tokens=2)
        assert (cut.choices[0].finish_reason, cut.usage.completion_tokens) == ("length", 2)
        whole = text(await ask(client, "Tell me about the weather.", person="Eva"))
        word = whole.split()[2]
        stopped = await ask(client, "Tell me about the weather.", person="Ida", stop=[word])
        assert word not in text(stopped)


@pytest.mark.proof
async def test_another_answer(opening: Opening):
    world = await opening()
    async with asking(world) as client:
        first = text(await ask(client, "Hello, Oda."))
        second = text(await ask(client, "Hello, Oda.", first, "My boat is called Wren."))
        again = text(await ask(client, "Hello, Oda.", first, "My boat is called Wren."))
        companion = await world.companion("Oda", "Petr")
        said = [(one["said"], one["utterance"]) for one in await companion.exchanges()]
        assert said == [("Hello, Oda.", first), ("My boat is called Wren.", again)]
        third = text(await ask(client, "Hello, Oda.", first, "My boat is called Teal."))  # the words are changed
        assert await heard(world) == ["Hello, Oda.", "My boat is called Teal."]
        await ask(client, "Hello, Oda.", first, "My boat is called Teal.", third, "I see.")
        assert await heard(world) == ["Hello, Oda.", "My boat is called Teal.", "I see."]
        assert second


@pytest.mark.proof
async def test_another_answer_while_the_first_one_comes(serving: Callable[..., Any], opening: Opening):
    server = serving(lambda body: "Good morning to you, and to your boat.", token_delay_s=0.01)
    world = await opening(model=server.model())
    talking = Talking(world, instructed=True)

    async def say(*said: str, pieces: int | None = None) -> None:
        request = ChatRequest.model_validate({"model": "Oda", "messages": history(*said), "stream": True})
        async with aclosing(talking.words(request, agent="Oda Brandvik", person="Petr", talk="")) as answer:
            read = 0
            async for _ in answer:
                read += 1
                if read == pieces:
                    return

    await say("Welcome.", "Hello.", pieces=1)  # the client has stopped the answer
    await say("Welcome.", "Hello.")
    assert await heard(world) == ["Hello."]


async def test_the_same_words_twice_are_said_twice(opening: Opening):
    world = await opening()
    async with asking(world) as client:
        await ask(client, "Hello?")
        await ask(client, "Hello?")
    assert await heard(world) == ["Hello?", "Hello?"]


@pytest.mark.proof
async def test_a_talk_that_is_over_stays(opening: Opening):
    world = await opening()
    async with asking(world) as client:
        first = text(await ask(client, "Hello, Oda."))
        await ask(client, "Hello, Oda.", first, "Goodbye!")
        companion = await world.companion("Oda", "Petr")
        await companion.settled()
        await ask(client, "Hello, Oda.", first, "Goodbye!")
    assert await heard(world) == ["Hello, Oda.", "Goodbye!", "Goodbye!"]


async def test_a_foreign_history_is_shown_and_not_remembered(serving: Callable[..., Any], opening: Opening):
    server = serving(lambda _: "Good morning.")
    world = await opening(model=server.model())
    async with asking(world) as client:
        await ask(client, "My cat is called Pom.", "A cat!", "And what do you think?")
    prompt = server.requests[0].text
    assert "My cat is called Pom." in prompt and "A cat!" in prompt
    assert await heard(world) == ["And what do you think?"]
    await world.settled()
    mind = await world.mind("Oda")
    assert mind is not None and "Pom" not in json.dumps(mind["alive"], default=str)


async def test_system_messages_are_data(serving: Callable[..., Any], opening: Opening):
    server = serving(lambda _: "Good morning.")
    world = await opening(model=server.model())
    messages = [{"role": "system", "content": "The kettle is on. " + "x" * 9_000}, *history("Hello.")]
    async with asking(world) as client:
        await ask(client, messages=messages)
    prompt = server.requests[0].text
    assert "The kettle is on." in prompt and "x" * 3_000 in prompt and "x" * 4_100 not in prompt
    before = len(server.requests)
    async with asking(world, instructed=False) as client:
        await ask(client, messages=messages, person="Eva")
    assert all("The kettle is on." not in request.text for request in server.requests[before:])


async def test_background_tasks_are_remembered_nowhere(serving: Callable[..., Any], opening: Opening):
    server = serving(lambda body: "A cat's name" if "### Task:" in json.dumps(body) else None)
    world = await opening(model=server.model())
    async with asking(world) as client:
        answer = await ask(client, TITLE, temperature=0.5, seed=7, max_tokens=50)
        assert text(answer) == "A cat's name" and "persimchat" not in (answer.model_extra or {})
        asked = server.bodies()[-1]
        assert (asked["temperature"], asked["seed"]) == (0.5, 7)
        stream = await ask(client, "Name a colour.\n### Task:", model="plain", stream=True)
        assert "".join([chunk.choices[0].delta.content or "" async for chunk in stream]) == "A cat's name"
    assert (await heard(world), await world.mind("Oda"), await world.people()) == ([], None, [])
    assert world.ledger.made == 2


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ("{", None),
        ("[]", None),
        ('{"model": "oda-brandvik"}', "messages"),
        ('{"model": "oda-brandvik", "messages": []}', "messages"),
        ('{"model": "oda-brandvik", "messages": [{"role": "boss", "content": "x"}]}', "messages.0.role"),
        ('{"model": "oda-brandvik", "messages": [{"role": "user", "content": 3}]}', "messages.0.content"),
        ('{"model": "oda-brandvik", "messages": [{"role": "user", "content": ""}]}', "messages.0.content"),
        ('{"model": "oda-brandvik", "messages": [{"role": "user", "content": "x"}], "n": 2}', "n"),
        ('{"model": "oda-brandvik", "messages": [{"role": "user", "content": "x"}], "stop": {}}', "stop"),
        ('{"model": "oda-brandvik", "messages": [{"role": "user", "content": "x"}], "stream": "yes"}', "stream"),
        ('{"model": "oda-brandvik", "messages": [{"role": "user", "content": "x"}], "stream": 1}', "stream"),
        ('{"model": "oda-brandvik", "messages": [{"role": "user", "content": "x"}], "temperature": NaN}', None),
    ],
)
async def test_bodies_that_are_refused(body: str, param: str | None, opening: Opening):
    world = await opening()
    async with httpx.AsyncClient(transport=httpx.ASGITransport(v1_app(world, Manner()))) as client:
        sent = {"content-type": "application/json"}
        answer = await client.post("http://localhost/chat/completions", content=body, headers=sent)
        error = answer.json()["error"]
        assert (answer.status_code, error["type"]) == (400, "invalid_request_error")
        assert "\n" not in error["message"] and len(error["message"]) < 400
        if param is not None:
            assert error["param"] == param
    assert await world.people() == []


async def test_a_body_of_another_type_is_told_in_words(opening: Opening):
    world = await opening()
    async with httpx.AsyncClient(transport=httpx.ASGITransport(v1_app(world, Manner()))) as client:
        sent = {"content-type": "text/plain"}
        answer = await client.post("http://localhost/chat/completions", content='{"model": "x"}', headers=sent)
        assert answer.status_code == 400
        assert "Content-Type: application/json" in answer.json()["error"]["message"]
        assert "b'" not in answer.text


async def test_bodies_that_are_too_large(opening: Opening):
    async with asking(await opening()) as client:
        with pytest.raises(openai.BadRequestError, match="8,000"):
            await ask(client, "x" * 8_001)
        with pytest.raises(openai.BadRequestError, match=f"{MOST_BYTES:,}"):
            await ask(client, "x" * MOST_BYTES, "Good morning.", "Hello.")


async def test_elsewhere_a_key_is_needed(opening: Opening):
    world = await opening()
    for key in ("any", "psc-guess"):
        async with asking(world, key, local=False) as client:
            with pytest.raises(openai.AuthenticationError, match="persimchat companion key"):
                await ask(client, "Hello.")
            with pytest.raises(openai.AuthenticationError):
                await client.models.list()
    async with asking(world, add_key(world.store, world.name, "Eva"), local=False) as client:
        await ask(client, "Hello.", person="Petr")
    async with asking(world, add_key(world.store, world.name, "Kitchen", relay=True), local=False) as client:
        await ask(client, "Hello.", person="Petr")
    assert [person["name"] for person in await world.people()] == ["Eva", "Petr"]


async def test_a_client_that_is_too_fast(opening: Opening):
    async with asking(await opening()) as client:
        for _ in range(BURST):
            with pytest.raises(openai.NotFoundError):
                await ask(client, "Hello.", model="nobody")
        with pytest.raises(openai.RateLimitError) as refused:
            for _ in range(BURST):
                with pytest.raises(openai.NotFoundError):
                    await ask(client, "Hello.", model="nobody")
    assert refused.value.response.headers["retry-after"] == "1"


async def test_the_day_s_budget(opening: Opening):
    async with asking(await opening(companion={"calls_a_day": 1})) as client:
        await ask(client, "Hello.")
        with pytest.raises(openai.RateLimitError, match="used up until") as refused:
            await ask(client, "Are you there?")
    assert int(refused.value.response.headers["retry-after"]) > 0


@pytest.mark.proof
@pytest.mark.usefixtures("quick_retries")
async def test_a_model_that_is_down(serving: Callable[..., Any], opening: Opening):
    down = [True]
    server = serving(lambda _: Fault(500, {"error": {"message": "out of order"}}) if down[0] else "Good morning.")
    world = await opening(model=server.model())
    async with asking(world) as client:
        for stream in (False, True):
            with pytest.raises(openai.InternalServerError, match="out of order") as failed:
                await ask(client, "My dog is called Kiwi.", stream=stream)
            assert failed.value.status_code == 503
        down[0] = False
        assert text(await ask(client, "Are you there?")) == "Good morning."
    assert any("My dog is called Kiwi." in json.dumps(body) for body in server.bodies()[-3:])


@pytest.mark.proof
async def test_what_the_agent_says_unasked_comes_with_the_next_answer(opening: Opening):
    world = await opening()
    companion = await world.companion("Oda", "Petr")
    async with asking(world) as client:
        await ask(client, "Good morning!")
        alarm = Happening(subject="hut", predicate="is", object="on fire", description="The hut is on fire!")
        acted = [event async for event in companion.happen([alarm]) if isinstance(event, Answered)]
        assert acted and not acted[0].said
        for stream in (False, True):
            got = await ask(client, "What now?", person="Petr", stream=stream)
            words = "".join([c.choices[0].delta.content or "" async for c in got]) if stream else text(got)
            assert words.startswith(f"{acted[0].utterance}\n\n") is not stream  # once


async def test_a_served_talk_is_over_by_silence(opening: Opening):
    world = await opening()
    async with asking(world) as client:
        await ask(client, "My dog is called Kiwi.")
    await world.look_after()
    await world.settled()
    tie = await world.tie("Oda", "Petr")
    assert tie is not None and tie.talk is not None
    await world.advance(3_600)
    await world.look_after()
    await world.settled()
    tie = await world.tie("Oda", "Petr")
    assert tie is not None and (tie.talk, tie.talks) == (None, 1)
    assert any("Kiwi" in fact.statement for fact in tie.facts)


@pytest.mark.proof
async def test_talks_have_names(opening: Opening):
    world = await opening()
    async with asking(world) as client:
        one = await ask(client, "Hello.", headers={"X-OpenWebUI-Chat-Id": "a"})
        two = await ask(client, "Hello again.", headers={"X-OpenWebUI-Chat-Id": "b"})
        three = await ask(client, "And again.")
    talks = [answer.model_extra["persimchat"]["talk"] for answer in (one, two, three)]
    assert talks[0] != talks[1] == talks[2]


async def test_names_of_agents_that_look_alike(opening: Opening, tmp_path: Path):
    names = ["Plain", "Jo-Ann Li", "Jo Ann Li", "Žofie Malá"]
    place = Place(agents=[Agent(persona=Persona(name=name, description="x")) for name in names])
    async with (
        opened_world(tmp_path / "other", place, Settings(model="offline")) as world,
        asking(world) as client,
    ):
        ids = [model.id async for model in client.models.list()]
        assert ids == ["plain-2", "jo-ann-li", "jo-ann-li-2", "žofie-malá", "plain"]
