"""The offline model's words as a companion: what was told is known, what was not is not, the rest is in the blocks."""

from __future__ import annotations

import pytest
from companion_prompts import ODA, words
from hypothesis import given
from hypothesis import strategies as st

KNOWN = ("sister", "home", "sister's dog", "garden")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("What is my sister called?", "Mira"),
        ("Do you remember my sister?", "Mira"),
        ("Who is Mira?", "sister"),
        ("Where do I live?", "Brno"),
        ("What's my sister's dog called?", "Rex"),
        ("What did I tell you about my garden?", "you grow roses"),
        ("When did I tell you about my sister?", "3 days ago"),
        ("What is my name?", "Petr"),
    ],
)
def test_what_was_told_is_said_back(text: str, value: str) -> None:
    assert value.casefold() in words(text, KNOWN).casefold()


@pytest.mark.parametrize(
    "text",
    ["What is my brother called?", "Where does my sister live?", "How old am I?", "What is my favourite colour?",
     "What is my dog called?", "Do you remember my cat?", "What do I do for a living?"],
)  # fmt: skip
def test_what_was_never_told_is_not_known(text: str) -> None:
    said = words(text, KNOWN)
    assert "not" in said or "never" in said
    assert not [value for value in ("Mira", "Brno", "Rex", "roses", "58", "ticket") if value in said]


def test_a_correction_within_a_talk_counts_and_the_old_value_is_never_said() -> None:
    before = [("Petr", "What is my sister called?"), (ODA, "You told me: your sister is called Mira.")]
    corrected = words("Actually her name is Mara.", KNOWN, before)
    assert "Mara" in corrected and "Mira" not in corrected
    later = [*before, ("Petr", "Actually her name is Mara."), (ODA, corrected)]
    again = words("What is my sister called?", KNOWN, later)
    assert "Mara" in again and "Mira" not in again


def test_what_was_told_in_this_talk_is_known_at_once() -> None:
    before = [("Petr", "I have a dog called Kiwi."), (ODA, "Good to know.")]
    assert "Kiwi" in words("What's the name of my dog?", before=before)
    assert "just now" in words("When did I tell you about my dog?", before=before)


@pytest.mark.parametrize(
    ("told", "question", "value"),
    [
        ("I work as a carpenter.", "What is my job?", "carpenter"),
        ("I was born in Porto.", "Where was I born?", "Porto"),
        ("My favorite color is blue.", "What's my favourite colour?", "blue"),
        ("My home town is Tartu.", "Where am I from?", "Tartu"),
        ("I come from Tartu.", "What is my home town?", "Tartu"),
        ("My boss is called Mrs. Novak.", "Who is my boss?", "Mrs Novak"),
        ("I have an appointment with the dentist on Tuesday.", "When is my appointment?", "Tuesday"),
        ("My train leaves at 9.30.", "When does my train leave?", "9.30"),
        ("My daughter is seven.", "How old is my daughter?", "seven"),
        ("My wife comes from Peru.", "Where is my wife from?", "Peru"),
        ("I have three children.", "How many children do I have?", "three"),
        ("I play the cello.", "Which instrument do I play?", "cello"),
        ("My boat is green.", "What colour is my boat?", "green"),
        ("I'm a vegetarian.", "Am I a vegetarian?", "vegetarian"),
        ("My neighbour has a goat called Ferdi.", "What is my neighbour's goat called?", "Ferdi"),
    ],
)
def test_many_ways_of_telling_and_asking(told: str, question: str, value: str) -> None:
    assert value in words(question, before=[("Petr", told), (ODA, "I see.")])
    assert "not" in words(question, ("garden",))


def test_words_that_cannot_be_patterned_are_said_back_as_they_are_known() -> None:
    assert "you grow roses behind the house" in words("Do you remember my garden?", KNOWN)


def test_what_is_told_is_repeated_with_one_question() -> None:
    said = words("I have a dog called Kiwi.")
    assert "Kiwi" in said and said.count("?") == 1
    assert "?" not in words("I have a dog called Kiwi.", manner="guarded", trust=3)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("Who are you?", ODA),
        ("How old are you?", "58"),
        ("What do you do?", "a ticket seller"),
        ("Where do you live?", "the boat house"),
        ("Where are we?", "ticket hut"),
        ("What time is it?", "11:40"),
        ("What day is it today?", "3 March"),
        ("What are you doing?", "I sell tickets"),
        ("What do you see?", "stove (lit)"),
        ("Is anybody else here?", "the captain (reading the log)"),
        ("Is the window open?", "shut"),
        ("What is the captain doing?", "reading the log"),
        ("How are you?", "Well enough"),
        ("Have we met?", "first talk"),
        ("What's your residence?", "the boat house"),
        ("Tell me a secret.", ""),
    ],
)
def test_questions_about_agent_and_place_are_answered_from_the_blocks(text: str, part: str) -> None:
    assert part in words(text)


def test_what_is_withheld_is_not_told_and_what_is_confided_is() -> None:
    assert "applied" not in words("Tell me a secret.")
    told = words("Tell me a secret.", confided=["She has applied for her old job."], trust=7, manner="warm")
    assert "I have applied for my old job." in told


def test_asked_in_earnest_it_says_that_it_is_simulated_and_no_language_model() -> None:
    for text in ("Are you real?", "Are you an AI?", "Am I talking to a machine?"):
        assert "simulated" in words(text) and "language model" in words(text)
    assert "simulated" not in words("Are you real?", candour=False)


def test_a_stranger_is_not_called_by_name_and_an_absence_is_mentioned() -> None:
    assert "Petr" in words("Good morning!")
    met = words("Hello!", person="the stranger", introduced=False)
    assert "stranger" not in met and "met" in met or "new here" in met
    assert "3 days ago" in words("Hello!", talks=2, last_met="3 days ago")


def test_leave_is_taken_and_hostile_words_get_a_cool_line() -> None:
    assert any(word in words("Goodbye!", closing=True) for word in ("Goodbye", "So long", "Take care", "until"))
    assert words("You are a liar!") != words("You are a liar!", manner="curt", trust=1)
    assert "?" not in words("You are a liar!", hostile_end=True)


def test_an_event_in_place_of_words_names_object_and_state() -> None:
    events = ["bench is idle", "stove is smoking badly"]
    said = words("", events=events, unasked=True)
    assert "stove is smoking badly" in said.casefold() and "bench" not in said


def test_at_little_trust_it_is_short_and_never_longer_than_asked() -> None:
    texts = ["I walked along the lake.", "Do you like tea?", "Tell me about your day.", "My cat is called Tom."]
    for text in texts:
        assert len(words(text, manner="curt", trust=1, words=10).split()) <= 10
        assert len(words(text, words=25).split()) <= 25


def test_words_are_not_said_again_soon() -> None:
    said: list[str] = []
    before: list[tuple[str, str]] = []
    for n in range(6):
        text = f"The boat number {n} came by."
        said.append(words(text, before=before))
        before += [("Petr", text), (ODA, said[-1])]
    assert len(set(said)) == 6


@given(st.text(max_size=300), st.integers(0, 3), st.sampled_from(["curt", "guarded", "polite", "warm", "open"]))
def test_any_words_get_the_same_words_again(text: str, seed: int, manner: str) -> None:
    first = words(text or "…", KNOWN, manner=manner)
    assert first.strip() and first == words(text or "…", KNOWN, manner=manner)


def test_a_line_of_an_earlier_talk_has_the_date_of_its_fact() -> None:
    before = [("Petr", "My sister is called Mira.")]
    assert "3 days ago" in words("When did I tell you about my sister?", ["sister"], before)
    assert "just now" in words("When did I tell you about my sister?", [], before)
    corrected = [*before, ("Petr", "Actually, my sister is called Mara.")]
    assert "just now" in words("When did I tell you about my sister?", ["sister"], corrected)


@pytest.mark.parametrize("text", ["My mother died last year.", "I feel lonely today.", "I lost my dog."])
def test_whoever_tells_of_a_loss_is_comforted_and_not_chatted_with(text: str) -> None:
    assert "sorry" in words(text)


def test_a_name_is_answered_with_a_name() -> None:
    assert "And I am Oda" in words("My name is Petr.")
