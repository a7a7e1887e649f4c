"""A written conversation becomes utterances, and nobody's words are put into somebody else's mouth."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.script import Faults, Line, Script, faults, parse_script, shared_out

NAMES = ["Eva Horáková", "David Procházka", "Lukáš Jelínek", "李雷", "Brynja of the Ferry", "Jean-Luc O'Neil"]
WORDS = ["tea", "coffee", "I", "would", "rather", "sleep", "Brno", "well", "no", "because"]


def parsed(text: str) -> list[tuple[str, str]]:
    script = parse_script(text, NAMES)
    assert script.strangers == []
    return [tuple(line) for line in script.lines]


@pytest.mark.parametrize(
    "line",
    [
        "Eva Horáková: Tea, please.",
        "Eva: Tea, please.",
        "EVA: Tea, please.",
        "Horakova: Tea, please.",
        "eva horakova : Tea, please.",
        "**Eva:** Tea, please.",
        "**Eva Horáková**: Tea, please.",
        "**Eva: Tea, please.**",
        "*Eva:* Tea, please.",
        "__Eva__: Tea, please.",
        "- Eva: Tea, please.",
        "* **Eva**: Tea, please.",
        "3. Eva: Tea, please.",
        "12) **Eva:** Tea, please.",
        "[4] Eva: Tea, please.",
        "> Eva: Tea, please.",
        "• Eva：Tea, please.",
        "[Eva]: Tea, please.",
        "Eva (smiling): Tea, please.",
        "**Eva** *(to David)*: Tea, please.",
        'Eva: "Tea, please."',
        "Eva: „Tea, please.“",
        "Eva: (laughs) Tea, please.",
        "Eva: [pause] Tea, please.",
        "Eva: *laughs out loud* Tea, please.",
        "Eva: Tea, please. (She sits down.)",
        "Eva: Tea, please. *smiles*",
        "Eva: Eva: Tea, please.",
        "Eva: Tea,\nplease.",
        "Eva:\nTea, please.",
        "### Eva\nTea, please.",
        "**Eva Horáková**\n\nTea, please.",
        "Eva\nTea,\n  please.",
    ],
)
def test_every_dress_comes_off(line: str):
    text = f"{line}\n\nDavid: Coffee.\n{line}"
    assert parsed(text) == [(NAMES[0], "Tea, please."), (NAMES[1], "Coffee."), (NAMES[0], "Tea, please.")]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Eva: *Tea*, please.", "*Tea*, please."),
        ("Eva: I really *love* it", "I really *love* it"),
        ("Eva: Twice (in 2019) in Brno.", "Twice (in 2019) in Brno."),
        ("Eva: One thing: it is cold.", "One thing: it is cold."),
        ("Eva: At 7:30? Never.", "At 7:30? Never."),
        ('Eva: "Tea" is what he said, not "coffee".', '"Tea" is what he said, not "coffee".'),
        ("Eva: David: what do you say?", "David: what do you say?"),
        ("Eva: one thing\nor another: it is cold.", "one thing or another: it is cold."),
        ("Eva: it was\n1999 when we met.", "it was 1999 when we met."),
        ("Eva: <b>tea</b> {{ 7*7 }}", "<b>tea</b> {{ 7*7 }}"),
        ("Eva: \x1b[31mtea\x1b[0m", "tea"),
    ],
)
def test_words_stay_as_they_are(line: str, said: str):
    assert parsed(line) == [(NAMES[0], said)]


@pytest.mark.parametrize(
    "dropped",
    [
        "Here is the conversation you asked for:",
        "# Tea or coffee?",
        "**Title: Tea or Coffee**",
        "Topic: Tea or coffee",
        "Setting: a kitchen in Brno",
        "---",
        "***",
        "```",
        "(They laugh.)",
        "[Silence]",
        "*Eva looks out of the window.*",
        "_A long pause._",
        "**Narrator:** Nobody speaks.",
        "Note: This is fiction.\nIt was made up.",
        "The waiter brings the cups.",
        "Let me know if you need more!",
    ],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_nobody_says_is_dropped(dropped: str, place: int):
    parts = ["Eva: Tea.", "David: Coffee."]
    parts.insert(place, dropped)
    assert parsed("\n\n".join(parts)) == [(NAMES[0], "Tea."), (NAMES[1], "Coffee.")]


@pytest.mark.parametrize(
    "stranger",
    [
        "Moderator",
        "Dr. Novák",
        "Eva and David",
        "Eva says",
        "Eva, laughing",
        "All",
        "王五",
        "Eva Nováková",
        "The Waiter",
        "Eva [to David] (softly)",
        "Eva -> David",
    ],
)
@pytest.mark.parametrize("dress", ["{}: Good evening.", "**{}:** Good evening.", "3. {}: Good evening."])
def test_strangers_are_told_and_their_words_are_nobodys(stranger: str, dress: str):
    script = parse_script(f"Eva: Tea.\n{dress.format(stranger)}\nand welcome\nDavid: Coffee.", NAMES)
    assert script.strangers == [stranger]
    assert script.lines == [Line(NAMES[0], "Tea."), Line(NAMES[1], "Coffee.")]


def test_a_stranger_named_in_a_heading_is_told():
    script = parse_script("**Eva**\nTea.\n\n**Moderator**\nWelcome.\n\n**David**\nCoffee.", NAMES)
    assert script == Script([Line(NAMES[0], "Tea."), Line(NAMES[1], "Coffee.")], ["Moderator"])


def test_a_name_that_two_have_is_nobodys():
    script = parse_script("Jan: Tea.\nJan Novák: Coffee.", ["Jan Novák", "Jan Dvořák"])
    assert script == Script([Line("Jan Novák", "Coffee.")], ["Jan"])


def test_names_with_signs_in_them_are_found():
    names = ["R2: D2", "Ann *Star* (Lee)", "7of9", "Ó Dálaigh"]
    script = parse_script("R2: D2: Beep.\nAnn *Star* (Lee): Hm.\n7of9: Irrelevant.\n**Ó Dálaigh:** Aye.", names)
    assert script == Script(
        [Line(name, said) for name, said in zip(names, ["Beep.", "Hm.", "Irrelevant.", "Aye."], strict=True)], []
    )


@pytest.mark.parametrize("text", ["", "\n\n", "I cannot do that.", '[{"speaker": "Eva", "text": "Tea."}]', "Eva:"])
def test_no_conversation_is_none(text: str):
    assert parse_script(text, NAMES).lines == []


@given(
    st.lists(
        st.tuples(st.sampled_from(NAMES), st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)),
        max_size=10,
    ),
    st.sampled_from(
        ["{n}: {t}", "**{n}:** {t}", "- **{n}**: {t}", "1. {n} (calmly): {t}", '{n}: "{t}"', "### {n}\n{t}"]
    ),
    st.sampled_from(["\n", "\n\n", "\n---\n", "\r\n", "\n(They drink.)\n"]),
)
def test_what_was_dressed_up_is_found_again(said: list[tuple[str, str]], dress: str, between: str):
    text = between.join(dress.format(n=name, t=words) for name, words in said)
    assert parsed(text) == said


@given(st.text(alphabet=st.sampled_from("Eva: *_()[]#>-0123456789.\nDvid李雷："), max_size=200))
def test_only_participants_ever_speak(text: str):
    script = parse_script(text, NAMES)
    assert all(line.speaker in NAMES and line.text and "\n" not in line.text for line in script.lines)
    assert all(stranger and "\n" not in stranger for stranger in script.strangers)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("text", ["> " * 50_000, "*" * 50_000, "(" * 50_000, "Eva (" * 20_000, "A " * 50_000 + ":"])
def test_long_nonsense_takes_no_time(text: str):
    parse_script(f"Eva: {text}\n{text}", NAMES)


def script(*speakers: str, strangers: tuple[str, ...] = ()) -> Script:
    return Script([Line(name, "Tea.") for name in speakers], list(strangers))


def test_what_is_wrong_with_a_script():
    def found(given: Script, count: int, *, allow_repetition: bool = False) -> Faults | None:
        return faults(given, ["A", "B", "C"], count, allow_repetition=allow_repetition)

    assert found(script("A", "B", "C", "A"), 4) is None
    assert found(script("A", "B", "C", "A", "A"), 4) is None  # only what counts is looked at
    assert found(script("A", "B", "C"), 4) == Faults([], 3, [], [])
    assert found(script("A", "B", "A"), 3) == Faults([], 3, ["C"], [])
    assert found(script("A", "B"), 2) is None  # there is no room for the third
    assert found(script("A", "B", "B", "C"), 4) == Faults([], 4, [], ["B"])
    assert found(script("A", "B", "B", "C"), 4, allow_repetition=True) is None
    wrong = found(script("A", "B", "C", strangers=("M",)), 3)
    assert wrong is not None and wrong.is_useless()
    none = found(script(), 3)
    assert none is not None and none.is_useless()
    short = found(script("A"), 3)
    assert short is not None and not short.is_useless()


@given(st.integers(0, 10**6), st.lists(st.integers(0, 10**4), min_size=1, max_size=30).filter(any))
def test_what_is_shared_out_adds_up(total: int, weights: list[int]):
    parts = shared_out(total, weights)
    assert sum(parts) == total
    for part, weight in zip(parts, weights, strict=True):
        assert abs(part - total * weight / sum(weights)) < 1
