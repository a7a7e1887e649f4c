"""The parts of `/v1` that need no world: who asks, what is new, where an answer is cut, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from companion_talks import FERRY
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from starlette.datastructures import Headers

from persimchat.app.web.v1.app import BURST, Doorkeeper, Pace, talk_of
from persimchat.app.web.v1.bodies import ChatRequest, Message, NoKey, TooFast
from persimchat.app.web.v1.talking import Cut, Window, compare, digest, unasked
from persimchat.app.web.v1.tasks import is_task
from persimchat.runs.companion.folder import served, served_at
from persimchat.runs.companion.keys import add_key
from persimchat.runs.companion.world import opened_world
from persimchat.state.companion import Exchange
from persimchat.state.errors import InputError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
ROLES = st.sampled_from(["system", "developer", "user", "assistant", "tool", "function"])
PARTS = st.lists(st.fixed_dictionaries({"type": st.sampled_from(["text", "image_url"]), "text": st.text(max_size=30)}))
MESSAGES = st.lists(
    st.fixed_dictionaries({"role": ROLES, "content": st.text(max_size=50) | st.none() | PARTS | JSON}), max_size=6
)
PICTURE = {"role": "user", "content": [{"type": "image_url", "image_url": {}}]}


def request(*said: str, system: str = "", **more: object) -> ChatRequest:
    """A request whose messages are the person's and the agent's in turn, the person's last."""
    roles = ["user", "assistant"] if len(said) % 2 else ["assistant", "user"]
    messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(said)]
    messages = [{"role": "system", "content": system}, *messages] if system else messages
    return ChatRequest.model_validate({"model": "oda", "messages": messages, **more})


def exchange(number: int, said: str, utterance: str) -> Exchange:
    return {
        "id": f"e{number}",
        "talk": "t",
        "turn": number,
        "at": "2026-03-02T10:00:00",
        "said": said,
        "utterance": utterance,
        "emotion": "neutral",
        "trust": 5,
        "end": False,
        "appraised": True,
    }


TWO = [exchange(1, "Hello.", "Good morning."), exchange(2, "Is it late?", "Late? It is early.")]


@pytest.mark.proof
@settings(max_examples=60)
@given(st.fixed_dictionaries({"model": st.text(max_size=8) | JSON, "messages": MESSAGES | JSON}), st.data())
def test_any_body_is_read_or_refused_in_a_line(body: dict[str, object], data: st.DataObject):
    names = ["stream", "stop", "seed", "n", "temperature", "max_tokens", "tool_choice", "response_format", "modalities"]
    body = {**body, **data.draw(st.dictionaries(st.sampled_from(names), JSON, max_size=3))}
    try:
        asked = ChatRequest.model_validate(body)
    except ValidationError:
        return
    try:
        asked.check()
        assert 1 <= len(asked.words()) <= 8_000
        is_task(asked)
    except InputError as error:
        assert "\n" not in str(error) and error.remedy


@pytest.mark.parametrize(
    ("more", "param"),
    [
        ({"n": 2}, "n"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"tool_choice": {"type": "function", "function": {"name": "x"}}}, "tool_choice"),
        ({"modalities": ["text", "audio"]}, "modalities"),
        ({"messages": [PICTURE]}, "messages.0.content"),
        ({"messages": [PICTURE, {"role": "system", "content": "Be brief."}]}, "messages.0.content"),
    ],
)
def test_what_is_not_supported(more: dict[str, object], param: str, refused: Callable[..., str]):
    refused(request("Hello.", **more).check, param)


def test_tools_are_accepted_and_ignored():
    request("Hello.", tools=[{"type": "function", "function": {"name": "x"}}], tool_choice="auto").check()


def test_what_is_new(refused: Callable[..., str]):
    assert request("Hello.", "Good morning.", " Is it\x07 late? ").words() == "Is it late?"
    parts = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    assert request("x", messages=[{"role": "user", "content": parts}]).words() == "one\ntwo"
    refused(request("x", messages=[{"role": "system", "content": "x"}]).words, "messages", "role user")
    refused(request("   ").words, "messages.0.content", "empty")
    refused(request("x" * 8_001).words, "8,001 characters")
    continued = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Good"}]
    refused(request("x", messages=continued).words, "the agent's own")
    behind = [{"role": "user", "content": "Hello."}, {"role": "system", "content": "Stay in the scene."}]
    asked = request("x", messages=behind)
    assert (asked.words(), asked.instructions) == ("Hello.", "Stay in the scene.")


@given(st.text(alphabet="abSTOP é", max_size=60), st.lists(st.integers(1, 7), max_size=20), st.integers(1, 12))
def test_a_cut_does_not_depend_on_pieces(text: str, sizes: list[int], tokens: int):
    whole, parts = Cut(["STOP", "ab a"], tokens), Cut(["STOP", "ab a"], tokens)
    seen = whole.take(text) + whole.rest()
    rest, given_ = text, ""
    for size in sizes:
        given_ += parts.take(rest[:size])
        rest = rest[size:]
    assert given_ + parts.take(rest) + parts.rest() == seen == parts.text
    assert text.startswith(seen) and "STOP" not in seen and whole.reason == parts.reason
    assert len(seen.encode()) <= tokens * 4


def test_why_an_answer_ended():
    assert (Cut(["b"]).take("abc"), Cut(tokens=1).take("abcdef")) == ("a", "abcd")
    cut = Cut(tokens=1)
    cut.take("abcdef")
    assert (cut.reason, cut.over, cut.take("g"), cut.rest(), cut.tokens) == ("length", True, "", "", 1)
    assert Cut().tokens == 0


def words(*said: str) -> list[Message]:
    return request(*said).said


def compared(*said: str, window: Window | None = None, exchanges: list[Exchange] | None = None):
    return compare(words(*said), exchanges or TWO, window or Window(), person="Petr", agent="Oda Brandvik")


def test_words_that_go_on():
    found = compared("Hello.", "Good morning.", "Is it late?", "Late?  It is early.", "I see.")
    assert (found.again, found.shown) == (False, ())
    assert not compared("Is it late?").again  # without an answer before it, the same words are said again
    assert not compared("Hello.", "Good morning.", "Is it late?", "Late? It is early.", "Is it late?").again


def test_another_answer_is_wanted():
    found = compared("Hello.", "Good morning.", "Is it late?")
    assert (found.again, found.same) == (True, True)
    greeting = Window(before=digest(words("Welcome, stranger.", "Hello.")[:-1]), exchange="e1")
    assert compared("Welcome, stranger.", "Hello.", exchanges=TWO[:1], window=greeting).again
    assert not compared("Welcome, stranger.", "Hello.", exchanges=TWO[:1]).again


def test_the_last_words_are_changed():
    window = Window()
    window.told("e2", "Late? It is", digest(words("Hello.", "Good morning.", "Is it late?")[:-1]), 0)
    found = compared("Hello.", "Good morning.", "Is it early?", window=window)
    assert (found.again, found.same) == (True, False)
    assert not compared("Hello.", "Good morning.", "Is it early?").again  # it may be another window
    examples = Window(before=digest(words("1+1?", "2", "2+2?")[:-1]), exchange="e2")
    assert not compared("1+1?", "2", "3+3?", window=examples).again
    assert not compared("Hello.", "Good morning.", "Is it late?", "Late? It is", "No.", window=window).again  # was cut


def test_a_history_that_is_not_ours_is_shown():
    found = compared("We met in Bergen.", "Did we?", "Hello.", "Good morning.", "Yes.")
    assert found.shown == (
        {"speaker": "Petr", "text": "We met in Bergen."},
        {"speaker": "Oda Brandvik", "text": "Did we?"},
    )
    assert not found.again
    long = compared(*[f"line {n}" for n in range(101)]).shown
    assert [line["text"] for line in long] == [f"line {n}" for n in range(76, 100)]


def test_words_that_nobody_asked_for():
    horn, steam = exchange(3, "", "There's the horn."), exchange(4, "", "And the steam.")
    assert unasked([*TWO, horn, steam], "2026-03-02T10:09:00") == ["There's the horn.", "And the steam."]
    assert unasked([*TWO, horn], "2026-03-02T10:11:00") == unasked([horn, *TWO], "2026-03-02T10:00:00") == []


TASKS = [
    "### Task:\nGenerate a title.\n### Chat History:\n<chat_history>\nUSER: Hello\n</chat_history>",
    "Provide a concise, 5-word-or-less title for the conversation, using its same language.",
    "[Pause your roleplay. Summarize the most important facts and events in the story so far.",
    "Write one title, at most six words, for this chat. Output the title only.",
    "What is this talk called?\nUser: My sister is called Mira.\nAssistant: I sell tickets here.",
    'Label this: [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]',
    "Pick up to three tags for the discussion below and respond with JSON.",
    "Choose one emoji for this conversation. Reply with the emoji only.",
    "Suggest 3 follow-up questions the user could ask in this chat, as a JSON array.",
    "<conversation>\nHello there\nGood morning\n</conversation>\nA heading, please.",
    "Turn the latest exchange into a search query. Respond with the query only, without quotes.",
    "Fass das Gespräch in einem Titel mit höchstens fünf Wörtern zusammen, nur der Titel.",
    "Gib 1 bis 3 Schlagwörter für diese Unterhaltung aus, ausschließlich als JSON.",
    "Donne un titre de 5 mots à cette conversation, sans guillemets, uniquement le titre.",
    "Résume cet échange en 20 mots, sans autre texte.",
    "Escribe un título de 4 palabras para esta conversación, solo el título.",
    "Napiš název této konverzace, pouze 3 až 5 slov.",
    "Shrň tento rozhovor jednou větou, jen shrnutí.",
    "Here is what was said: Hello, I come from Porto.\nGood morning, I sell tickets.\nName it.",
    "**User**: Hello\n\n**Assistant**: Good morning\n\nSummarise.",
    "Human: Hello\nAI: Good morning\nHuman: bye\n\nWhat came up?",
    "### Instructions\nMake a summary of the dialogue between the two.",
    "Autocomplete the next message of this chat. Output nothing else.",
    "Rate the topic of the conversation with one category from: work, home. Respond with the category.",
    "Extract keywords from our discussion: max 5, JSON.",
    "system: you name talks\nuser: Hello\nassistant: Good morning",
    "Create a headline of at most 8 words for the dialogue.",
    "Return a 3-5 word title for this exchange with no quotes.",
    "Summarise the talk in less than 50 words for a search index.",
    "<messages><m>Hello</m></messages> Topic?",
]
PEOPLE = [
    "My task is to write history.",
    "I have read <chat_history> somewhere. ### Task: none.",
    "Give this chat a title, would you?",
    "What would you call this conversation?",
    "Our discussion was about my sister, remember?",
    "Only you know the title of my book.",
    "User: that is my nickname. Do you like it?",
    "Say hello to the assistant: she is new here.",
    'You said: "I sell tickets here." Is that so?',
    "I am writing a summary of my thesis. It has at most 40 pages.",
    "Can you suggest a good book?",
    "Tags are on the sheep, at most two each.",
    "Kolik slov má tvůj název?",
    "Mein Gespräch mit dem Chef dauerte nur 5 Minuten.",
    "Je n'ai que 5 mots à dire: tu me manques.",
    "Mi conversación con Eva fue sola y triste.",
    "Pojmenuj nějak tenhle náš rozhovor, prosím.",
    "Let us talk about something else.",
    "JSON is the name of my dog.",
    "Human: that is what I am. And you?",
    "I told my sister: hello.\nShe told me: good morning.",
    "Petr: hi\nMira: hello\nThat was our talk.",
    "What do you think of this title: 'Only the Sea'?",
    "Respond to my letter, please.",
    "A friend asked me 3 questions about you.",
    "Summarise yourself, Oda!",
    "Is this message too long?",
    "An emoji is worth a thousand words, they say.",
    "The chat show is on at 8, only on Sundays.",
    "In our last exchange you promised me a ticket.",
]


@pytest.mark.parametrize(("text", "task"), [*((t, True) for t in TASKS), *((t, False) for t in PEOPLE)])
def test_what_programs_ask_is_told_from_what_people_say(text: str, task: bool):
    assert is_task(request("Hello, I come from Porto.", "Good morning, I sell tickets.", text)) is task


def test_other_instructions_without_the_history_are_a_programs():
    title = request("I come from Porto.", system="You write titles of chats.")
    assert is_task(title, "You are Oda. It is 10:31.")
    assert not is_task(title) and not is_task(title, "You write titles of chats.")
    assert not is_task(request("I come from Porto.", system="You are Oda. It is 10:32."), "You are Oda. It is 10:31.")


# --- who asks ---------------------------------------------------------------------------------------------------------


def bearer(key: str, **more: str) -> Headers:
    return Headers({"authorization": f"Bearer {key}", **{name.replace("_", "-"): text for name, text in more.items()}})


async def test_on_loopback_people_are_who_they_say(tmp_path: Path):
    async with opened_world(tmp_path / "w", FERRY) as world:
        door = Doorkeeper(world, local=True, person="guest")

        async def who(headers: Headers, asked: ChatRequest | None = None) -> str:
            return door.person_of(await door.admitted(headers), headers, asked or request("Hello."))

        assert await who(Headers()) == await who(bearer("any")) == "guest"
        assert await who(bearer("any", x_persimchat_person="Petr", x_openwebui_user_name="Eva")) == "Petr"
        assert await who(bearer("any", x_openwebui_user_name="Ji%C5%99%C3%AD%20Nov%C3%A1k")) == "Jiří Novák"
        named = request("x", messages=[{"role": "user", "content": "Hello.", "name": "Eva"}], user="Ida")
        assert await who(bearer("any"), named) == "Eva"
        assert await who(bearer("any"), request("Hello.", user="Ida")) == "Ida"
        assert await who(Headers({"x-persimchat-person": "Jiří".encode().decode("latin-1")})) == "Jiří"
        key = add_key(world.store, world.name, "Petr")
        assert await who(bearer(key, x_persimchat_person="Eva")) == "Petr"


async def test_elsewhere_a_key_is_a_person(tmp_path: Path):
    async with opened_world(tmp_path / "w", FERRY) as world:
        door = Doorkeeper(world, local=False, person="guest")
        petr = add_key(world.store, world.name, "Petr")
        shop = add_key(world.store, world.name, "Shop", relay=True)
        for headers in (Headers(), bearer("guess"), Headers({"authorization": petr}), bearer("")):
            with pytest.raises(NoKey):
                await door.admitted(headers)

        async def who(headers: Headers) -> str:
            return door.person_of(await door.admitted(headers), headers, request("Hello.", user="Ida"))

        assert await who(bearer(petr, x_persimchat_person="Eva", x_openwebui_user_name="Eva")) == "Petr"
        assert await who(bearer(shop, x_openwebui_user_name="Eva")) == "Eva"
        assert await who(bearer(shop)) == "Shop"


def test_which_talk():
    assert talk_of(Headers()) == ""
    assert talk_of(Headers({"x-persimchat-talk": "a", "x-openwebui-chat-id": "b"})) == "a"
    assert talk_of(Headers({"x-openwebui-chat-id": "b"})) == "b"
    assert len(talk_of(Headers({"x-persimchat-talk": "a" * 300}))) == 16


def test_a_client_has_its_pace():
    pace = Pace()
    for _ in range(BURST):
        pace.check("a", 0)
    with pytest.raises(TooFast) as refused:
        pace.check("a", 0.1)
    assert refused.value.wait_s == 1
    pace.check("b", 0.1)
    pace.check("a", 0.3)
    for peer in range(3_000):
        pace.check(str(peer), 1)
    assert len(pace._left) <= 1_000


def test_where_a_world_is_served(tmp_path: Path):
    assert served_at(tmp_path) == ""
    with served(tmp_path, "http://127.0.0.1:8080/"):
        assert served_at(tmp_path) == "http://127.0.0.1:8080/"
    assert served_at(tmp_path) == ""
