"""What people type: what is understood, what is refused and how, and what is completed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.app.console.console_lines import COMMANDS, Order, Talk, answers, completions, order, unknown_speaker
from persimchat.state.errors import InputError

PRESENT = ("Jan Dvořák", "Jan Maria Nováková", "Petr", "Eva Malá")
ALONE = Talk(PRESENT, ("Petr",))
BOTH = Talk(PRESENT, ("Petr", "Eva Malá"))
MODERATOR = Talk(PRESENT, (), moderating=True)
ASKED = Talk(PRESENT, ("Petr", "Eva Malá"), asked=("Eva Malá", "utterance"))
NEED = Talk(PRESENT, ("Petr",), asked=("Petr", "need_to_talk"))


@pytest.mark.parametrize(
    ("line", "talk", "wanted"),
    [
        ("Hello.", ALONE, Order("say", "Hello.", "Petr")),
        ("  Hello.\r\n", ALONE, Order("say", "Hello.", "Petr")),
        ("Well: I think so.", ALONE, Order("say", "Well: I think so.", "Petr")),
        ("Jan: speak up.", ALONE, Order("say", "Jan: speak up.", "Petr")),  # an agent's words are nobody's to type
        ("Eva: Hello.", BOTH, Order("say", "Hello.", "Eva Malá")),
        ("eva mala:Hello: you", BOTH, Order("say", "Hello: you", "Eva Malá")),
        ("Hello.", ASKED, Order("say", "Hello.", "Eva Malá")),
        ("Petr: Hello.", ASKED, Order("say", "Hello.", "Petr")),
        ("7", NEED, Order("answer", "7", "Petr")),
        ("Petr: 7", NEED, Order("answer", "7", "Petr")),
        ("Hello.", MODERATOR, Order("say", "Hello.")),
        ("Moderator: Hello.", Talk(PRESENT, ("Petr",), moderating=True), Order("say", "Hello.")),
        ("Moderator: Hello.", ALONE, Order("say", "Moderator: Hello.", "Petr")),
        ("//say it", ALONE, Order("say", "/say it", "Petr")),
        ("/say Hello.", MODERATOR, Order("say", "Hello.")),
        ("/SAY  Hello.", MODERATOR, Order("say", "Hello.")),
        ("/topic Cocoa?", MODERATOR, Order("topic", "Cocoa?")),
        ("/whisper Eva psst", MODERATOR, Order("say", "psst", "", "Eva Malá")),
        ("/whisper eva mala:  psst, you", MODERATOR, Order("say", "psst, you", "", "Eva Malá")),
        ("/whisper Jan Maria psst", ALONE, Order("say", "psst", "Petr", "Jan Maria Nováková")),
        ("/whisper Jan Maria Nováková psst", ALONE, Order("say", "psst", "Petr", "Jan Maria Nováková")),
        ("/whisper Petr psst", ASKED, Order("say", "psst", "Eva Malá", "Petr")),
        ("/hand", ALONE, Order("hand", who="Petr")),
        ("/hand eva", BOTH, Order("hand", who="Eva Malá")),
        ("/hand", Talk(PRESENT, ("Petr",), raised=frozenset({"Petr"})), Order("hand", who="Petr", raised=False)),
        ("/pass", ASKED, Order("pass")),
        ("/pause", ALONE, Order("pause")),
        ("/go", ALONE, Order("go")),
        ("/stop", ALONE, Order("stop")),
        ("/help", ALONE, Order("help")),
        ("", ALONE, Order("nothing")),
        (" \t\n", ALONE, Order("nothing")),
    ],
)
def test_a_line_is_understood(line: str, talk: Talk, wanted: Order):
    assert order(line, talk) == wanted


@pytest.mark.parametrize(
    ("line", "talk", "what", "remedy"),
    [
        ("", ASKED, "there are no words in it (Eva Malá)", "Type what you say, or /pass."),
        ("\x07", NEED, "this is not a number (Petr)", "a number from 0 to 10"),
        ("\x1b[2J\x07", ALONE, "there are no words in it", "/help"),
        ("Nobody: Hello.", BOTH, "no participant is called 'Nobody'; several people take part", "Petr: …"),
        ("Hello.", BOTH, "several people take part", "Petr: …"),
        ("Hello.", Talk(PRESENT), "no person takes part", "/help"),
        ("/wisper Jan psst", ALONE, "no command '/wisper'", "Did you mean '/whisper'?"),
        ("/", ALONE, "no command '/'", "Choose one of: /say"),
        ("/" + "x" * 100_000, ALONE, "no command '/xxx", "Choose one of"),
        ("/say", MODERATOR, "/say says nothing", "Write /say TEXT."),
        ("/whisper", MODERATOR, "/whisper says nothing", "Write /whisper NAME TEXT."),
        ("/whisper Eva", MODERATOR, "there are no words to whisper to Eva Malá", "/whisper NAME TEXT"),
        ("/whisper Jan psst", MODERATOR, "'Jan' may be Jan Dvořák or Jan Maria Nováková", "full name"),
        ("/whisper Evva psst", MODERATOR, "no participant 'Evva'", "Did you mean 'Eva Malá'?"),
        ("/whisper " + "x" * 100_000, MODERATOR, "this is not a name", "/whisper NAME TEXT"),
        ("/whisper Eva psst", BOTH, "not clear who whispers", "when a person is asked"),
        ("/say Hello.", ALONE, "only the moderator can use /say", "--moderate"),
        ("/topic Cocoa?", ALONE, "only the moderator can use /topic", "--moderate"),
        ("/hand", BOTH, "several people", "/hand Petr"),
        ("/hand", MODERATOR, "no person takes part", "/say"),
        ("/hand Jan", BOTH, "no person 'Jan'", "Choose one of: Petr, Eva Malá."),
        ("/stop now", ALONE, "/stop takes nothing after it", "Write /stop alone."),
    ],
)
def test_a_wrong_line_is_one_clear_line(line: str, talk: Talk, what: str, remedy: str):
    with pytest.raises(InputError) as found:
        order(line, talk)
    text = str(found.value)
    assert what in text
    assert remedy in text
    assert "\n" not in text
    assert len(text) < 300


@pytest.mark.parametrize(
    ("line", "talk", "nobody"),
    [
        ("Nobody: what", ALONE, "Nobody"),
        ("Nobody: what", ASKED, "Nobody"),
        ("Nobody: what", MODERATOR, "Nobody"),
        ("Eva: what", BOTH, ""),
        ("Jan: what", ALONE, ""),  # takes part, though it is not theirs to say
        ("At 10:30 then", ALONE, ""),
        ("See http://x", ALONE, ""),
        ("http: //x", ALONE, "http"),
        ("Two words: what", ALONE, ""),
        ("/whisper Petr Nobody: what", MODERATOR, ""),
    ],
)
def test_a_name_that_is_nobodys(line: str, talk: Talk, nobody: str):
    assert unknown_speaker(order(line, talk), talk) == nobody


TALKS = st.sampled_from([ALONE, BOTH, MODERATOR, ASKED, NEED, Talk(PRESENT), Talk()])
LINES = st.one_of(
    st.text(max_size=60),
    st.builds("{} {}".format, st.sampled_from([*COMMANDS, "/x"]), st.text(max_size=40)),
    st.builds("/whisper {} {}".format, st.sampled_from(PRESENT), st.text(max_size=40)),
)


@given(LINES, TALKS)
def test_every_line_is_an_order_or_a_clear_error(line: str, talk: Talk):
    try:
        found = order(line, talk)
    except InputError as error:
        assert "\n" not in str(error)
        assert error.remedy
        return
    assert found.do in {"nothing", "answer", "say", "topic", "hand", "pass", "pause", "go", "stop", "help"}
    assert (found.text != "") == (found.do in ("answer", "say", "topic"))
    assert found.who in ("", *talk.people)
    assert found.to in ("", *talk.present)
    if found.do in ("say", "topic") and not found.who:
        assert talk.moderating


@given(st.sampled_from(PRESENT), st.from_regex(r"[a-z0-9.,!?] ?[a-z0-9.,!?: ]{0,30}[a-z0-9.!?]", fullmatch=True))
def test_a_whisper_by_full_name_loses_no_word(name: str, text: str):
    assert order(f"/whisper {name} {text}", MODERATOR) == Order("say", text, "", name)


@given(LINES, st.sampled_from([ALONE, BOTH]))
def test_only_words_without_a_name_wait_for_a_question(line: str, talk: Talk):
    if not answers(line, talk):
        return
    try:
        found = order(line, Talk(talk.present, talk.people, asked=("Petr", "utterance")))
    except InputError:
        assert line.strip().casefold().startswith("/pass")
        return
    assert found.do == "pass" or (found.do, found.who) == ("say", "Petr")


def test_words_for_somebody_else_do_not_wait():
    assert answers("Hello.", BOTH)
    assert answers("/pass", BOTH)
    assert not answers("Eva: Hello.", BOTH)
    assert not answers("/stop", BOTH)
    assert not answers("", BOTH)
    assert not answers("Hello.", MODERATOR)


@pytest.mark.parametrize(
    ("before", "talk", "wanted"),
    [
        ("/wh", ALONE, [("/whisper ", 3)]),
        ("/p", ALONE, [("/pass", 2), ("/pause", 2)]),
        ("/whisper J", ALONE, [("Jan Dvořák ", 1), ("Jan Maria Nováková ", 1)]),
        ("/whisper mal", ALONE, [("Eva Malá ", 3)]),
        ("/hand ", BOTH, [("Petr", 0), ("Eva Malá", 0)]),
        ("/say J", ALONE, []),
        ("ev", BOTH, [("Eva Malá: ", 2)]),
        ("ev", ALONE, []),
        ("", BOTH, []),
    ],
)
def test_commands_and_names_are_completed(before: str, talk: Talk, wanted: list[tuple[str, int]]):
    assert completions(before, talk) == wanted


def test_a_story_has_no_whispers_and_no_hands() -> None:
    """Its rooms say who hears whom, and its agenda who speaks."""
    story = Talk(PRESENT, PRESENT[:1], story=True)
    assert ALONE.commands.keys() - story.commands.keys() == {"/whisper", "/hand"}
    assert completions("/wh", story) == []
    assert completions("/wh", ALONE) != []


def test_an_empty_line_puts_the_question_that_is_due() -> None:
    due = Talk(PRESENT, ("Petr",), asked=("Petr", "utterance"), puts="Tea or coffee?")
    assert order("", due) == Order("say", "Tea or coffee?", "Petr")
    assert order("Tea, then?", due) == Order("say", "Tea, then?", "Petr")


def test_a_position_is_an_answer() -> None:
    stands = Talk(PRESENT, ("Petr",), asked=("Petr", "position"))
    assert order("4", stands) == Order("answer", "4", "Petr")
    with pytest.raises(InputError, match="no answer in it"):
        order("", stands)
