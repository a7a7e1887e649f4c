"""Votes: majority, weights, ties, and how many rounds there are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from persimchat.state.baselines.rounds import (
    Decision,
    Tally,
    Vote,
    answering_schema,
    calibrated,
    conclusion_of,
    decision_schema,
    in_words,
    reasons_of,
    rounds_of,
    sides,
    tallied,
    verdict_of,
    worded,
)
from persimchat.state.baselines.script import Faults, Line, Script, faults, parse_script, shared_out
from persimchat.state.debates.answers import AnswerFormat
from persimchat.state.errors import InputError
from persimchat.state.minds.mind import Utterance
from persimchat.state.settings import Settings

WEIGHTS = [0.1, 0.3, 0.5, 0.8, 1.0]
ANSWERS = st.sampled_from(["1", "2", "3"])
VOTES = st.lists(st.tuples(ANSWERS, st.sampled_from(WEIGHTS)), min_size=1, max_size=12).map(
    lambda given: [Vote(f"A{index}", answer, weight) for index, (answer, weight) in enumerate(given)]
)


def votes(*answers: str) -> list[Vote]:
    return [Vote(f"A{index}", answer) for index, answer in enumerate(answers)]


def test_the_most_frequent_answer_wins():
    assert tallied(votes("20", "18", "18.0"), "number") == [Tally("18", ["A1", "A2"], 2), Tally("20", ["A0"], 1)]


def test_a_tie_goes_to_the_answer_that_was_listed_first():
    assert [t.answer for t in tallied(votes("b", "a", "a", "b", "c"), "free")] == ["b", "a", "c"]


def test_confident_few_outweigh_unsure_many():
    given = [Vote("A", "18", calibrated(1.0)), Vote("B", "20", calibrated(0.7)), Vote("C", "20", calibrated(0.75))]
    assert tallied(given, "number")[0] == Tally("18", ["A"], 1.0)
    assert tallied(given, "number")[1].weight == 0.6


def test_equal_weights_tie_however_they_are_made_up():
    """In binary 0.5 + 0.3 is a little more or less than 0.8, and 0.1 three times is not 0.3."""
    for parts, whole in (([0.5, 0.3], 0.8), ([0.1, 0.1, 0.1], 0.3), ([0.3, 0.3, 0.1, 0.1], 0.8)):
        alone = [Vote("A", "x", whole)]
        several = [Vote(f"B{n}", "y", part) for n, part in enumerate(parts)]
        assert tallied([*alone, *several], "free")[0].answer == "x"
        assert tallied([*several, *alone], "free")[0].answer == "y"


@pytest.mark.parametrize(
    ("one", "other", "form", "same"),
    [
        ("18", "18.0", "number", True),
        ("1e3", "1000", "number", True),
        ("yes", "no", "yesno", False),
        ("Trams, for all.", "trams for ALL", "free", True),
        ("Trams", "Buses", "free", False),
        ("-30", "+30", "choice", False),
        ("7(√3 – 1)", "7(√3 + 1)", "choice", False),
    ],
)
def test_which_answers_are_the_same(one: str, other: str, form: AnswerFormat, same: bool):
    assert (len(tallied(votes(one, other), form)) == 1) is same


def test_no_two_choices_of_a_real_question_are_counted_as_one(shared: Path):
    lines = (shared / "data/benchmarks/aqua_test.json").read_text(encoding="utf-8").splitlines()
    for options in (json.loads(line)["options"] for line in lines):
        for choices in (options, [option.split(")", 1)[1].strip() for option in options]):
            assert len(tallied(votes(*choices), "choice")) == len(set(choices))


@given(VOTES)
def test_everybody_is_counted_once_and_the_first_has_the_greatest_weight(given: list[Vote]):
    found = tallied(given, "number")
    assert sorted(name for tally in found for name in tally.supporters) == sorted(vote.agent for vote in given)
    assert sum(tally.weight for tally in found) == pytest.approx(sum(vote.weight for vote in given))
    assert [tally.weight for tally in found] == sorted((tally.weight for tally in found), reverse=True)
    order = [vote.agent for vote in given]
    for tally in found:
        assert tally.supporters == [name for name in order if name in tally.supporters]
        assert {vote.answer for vote in given if vote.agent in tally.supporters} == {tally.answer}


@given(VOTES)
def test_among_equal_weights_the_first_listed_wins(given: list[Vote]):
    found = tallied(given, "number")
    firsts = [next(n for n, vote in enumerate(given) if vote.answer == tally.answer) for tally in found]
    for (one, first), (other, second) in zip(
        zip(found, firsts, strict=True), list(zip(found, firsts, strict=True))[1:], strict=False
    ):
        assert one.weight > other.weight or first < second


@given(VOTES, st.permutations(range(12)))
def test_weights_do_not_depend_on_the_order(given: list[Vote], order: list[int]):
    shuffled = [given[place] for place in order if place < len(given)]
    weights = {tally.answer: tally.weight for tally in tallied(given, "number")}
    assert {tally.answer: tally.weight for tally in tallied(shuffled, "number")} == weights


@given(st.lists(ANSWERS, min_size=1, max_size=12))
def test_one_more_for_the_winner_leaves_it_the_winner(answers: list[str]):
    winner = tallied(votes(*answers), "number")[0].answer
    assert tallied(votes(*answers, winner), "number")[0].answer == winner


@pytest.mark.parametrize(
    ("confidence", "weight"),
    [(0, 0.1), (0.6, 0.1), (0.61, 0.3), (0.79, 0.3), (0.8, 0.5), (0.89, 0.5), (0.9, 0.8), (0.999, 0.8), (1, 1.0)],
)
def test_confidences_become_weights_as_in_the_paper(confidence: float, weight: float):
    assert calibrated(confidence) == weight


@given(st.floats(0, 1), st.floats(0, 1))
def test_more_confidence_never_weighs_less(one: float, other: float):
    low, high = sorted((one, other))
    assert calibrated(low) <= calibrated(high)
    assert calibrated(low) in WEIGHTS


@pytest.mark.parametrize("confidence", [-0.1, 1.01, float("nan"), float("inf")])
def test_what_is_no_confidence_has_no_weight(confidence: float):
    with pytest.raises(ValueError, match="0 to 1"):
        calibrated(confidence)


def test_a_count_in_words():
    found = tallied([Vote("Ada", "18", 0.8), Vote("Bo", "20", 0.5), Vote("Cy", "18", 0.5)], "number")
    assert in_words(found) == "18: Ada, Cy; 20: Bo"
    assert in_words(found, weights=True) == "18: Ada, Cy (weight 1.3); 20: Bo (weight 0.5)"
    assert len(in_words([Tally("word " * 100, ["Ada"], 1)])) < 100


@pytest.mark.parametrize(
    ("participants", "given", "rounds"),
    [(3, {}, 3), (3, {"max_messages": 8}, 2), (3, {"max_messages": 3}, 1), (4, {"rounds": 100}, 15)],
)
def test_rounds_fit_the_message_limit(participants: int, given: dict[str, Any], rounds: int):
    assert rounds_of(participants, Settings(mode="debate", baseline="mad", **given)) == rounds


def test_less_than_a_round_is_refused(refused: Any):
    settings = Settings(mode="debate", baseline="reconcile", max_messages=2)
    refused(lambda: rounds_of(3, settings), "max_messages=2", "3 answers", "reconcile", "3 or more")
    with pytest.raises(InputError):
        rounds_of(100, Settings(mode="debate", baseline="mad"))


# The mad_judge baseline's sides, its judge's schema, and what a debate comes to by a decision


NAMES = ["Ada", "Bo", "Cy"]


def answers(*given: str) -> list[Utterance]:
    base: Any = {"turn": 1, "text": "", "addressees": [], "emotion": {}, "need_to_talk": {}}
    return [{**base, "speaker": name, "answer": answer} for name, answer in zip(NAMES, given, strict=True)]


UNDECIDED: dict[str, Any] = {"decided": False, "side": None, "answer": None}


def decision(form: AnswerFormat = "number", *, last: bool = False, **given: Any) -> Decision:
    return decision_schema(form, last=last).model_validate({"reasoning": "r", **given})


def decided(answer: str, side: str = "affirmative", form: AnswerFormat = "number") -> Decision:
    return decision(form, decided=True, side=side, answer=answer)


def test_sides_alternate_in_order_of_listing():
    assert sides(["A", "B", "C", "D", "E"]) == {
        "A": "affirmative", "B": "negative", "C": "affirmative", "D": "negative", "E": "affirmative"
    }  # fmt: skip
    assert set(sides(["A", "B"]).values()) == {"affirmative", "negative"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"decided": True, "side": "affirmative", "answer": None}, "there is no answer"),
        ({"decided": True, "side": None, "answer": "18"}, "there is no side"),
        ({"decided": True, "side": "left", "answer": "18"}, "affirmative"),
        ({"decided": True, "side": "negative", "answer": "many"}, "not one number"),
        ({"side": "negative", "answer": "18"}, "decided"),
    ],
)
def test_a_decision_without_its_parts_is_refused(given: dict[str, Any], said: str):
    with pytest.raises(ValidationError, match=said):
        decision(**given)


@pytest.mark.parametrize("nothing", [None, "", "null", "None", "n/a"])
def test_no_decision_needs_no_answer(nothing: Any):
    found = decision(decided=False, side=nothing, answer=nothing)
    assert (found.decided, found.side, found.answer) == (False, None, None)


@pytest.mark.parametrize("given", [UNDECIDED, {"decided": True, "side": None, "answer": "18"}])
def test_after_the_last_round_there_has_to_be_a_decision(given: dict[str, Any]):
    with pytest.raises(ValidationError):
        decision(last=True, **given)
    assert decision(last=True, decided=True, side="negative", answer="$18").answer == "18"


def test_a_decision_is_a_consensus_only_where_everybody_holds_it():
    one = conclusion_of(decided("18"), answers("18", "20", "18.0"), NAMES, "number")
    assert one == {
        "answer": "18", "consensus": False, "reasoning": "r", "supporters": ["Ada", "Cy"], "by": "mad_judge"
    }  # fmt: skip
    assert conclusion_of(decided("18"), answers("18", "18", "18"), NAMES, "number")["consensus"]
    nobody = conclusion_of(decided("7"), answers("18", "18", "18"), NAMES, "number")
    assert (nobody["consensus"], nobody["supporters"]) == (False, [])


def test_in_free_text_the_side_that_won_holds_what_the_judge_words():
    given = answers("Trams for all.", "Buses", "Trams, and free ones")
    found = conclusion_of(decided("Free trams", form="free"), given, NAMES, "free")
    assert (found["supporters"], found["consensus"]) == (["Ada", "Cy"], False)
    found = conclusion_of(decided("Buses.", "negative", "free"), given, NAMES, "free")
    assert found["supporters"] == ["Bo"]


def test_the_verdict_says_who_agrees_and_whether_anything_moves():
    going_on = decision(**UNDECIDED)
    given = answers("18", "20", "18")
    first = verdict_of(going_on, given, {}, NAMES, 3, "number")
    assert (first["turn"], first["consensus"], first["answer"], first["progress"]) == (3, False, "", "progressing")
    assert [(p["agent"], p["position"], p["agrees"]) for p in first["positions"]] == [
        ("Ada", "18", True), ("Bo", "20", False), ("Cy", "18", True)
    ]  # fmt: skip
    same = dict(zip(NAMES, ["18", "20", "18.0"], strict=True))
    assert verdict_of(going_on, given, same, NAMES, 6, "number")["progress"] == "circling"
    assert verdict_of(going_on, given, {**same, "Bo": "18"}, NAMES, 6, "number")["progress"] == "progressing"
    won = verdict_of(decided("20", "negative"), given, same, NAMES, 6, "number")
    assert ([p["agrees"] for p in won["positions"]], won["consensus"], won["answer"]) == (
        [False, True, False],
        False,
        "",
    )
    agreed = verdict_of(decided("18"), answers("18", "18", "18"), {}, NAMES, 3, "number")
    assert (agreed["consensus"], agreed["answer"]) == (True, "18")


@pytest.mark.parametrize("confidence", [-0.1, 1.1, "sure", None])
def test_a_confidence_is_from_0_to_1(confidence: Any):
    given = {"reasoning": "r", "answer": "18", "confidence": confidence}
    with pytest.raises(ValidationError, match="confidence"):
        answering_schema("number", confident=True).model_validate(given)
    assert answering_schema("number").model_json_schema()["properties"].keys() == {"reasoning", "answer", "conditional"}


def test_reasons_and_answer_make_an_utterance_and_come_apart_again():
    for reasoning, answer in (("Because.", "18"), ("It says\nAnswer: 18", "18"), ("x", "Trams,\nfor all")):
        utterance: Any = {"text": worded(reasoning, answer), "answer": answer}
        assert reasons_of(utterance) == reasoning


# A written conversation becomes utterances, and nobody's words are put into somebody else's mouth


CAST = ["Eva Horáková", "David Procházka", "Lukáš Jelínek", "李雷", "Brynja of the Ferry", "Jean-Luc O'Neil"]
WORDS = ["tea", "coffee", "I", "would", "rather", "sleep", "Brno", "well", "no", "because"]


def parsed(text: str) -> list[tuple[str, str]]:
    script = parse_script(text, CAST)
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
    assert parsed(text) == [(CAST[0], "Tea, please."), (CAST[1], "Coffee."), (CAST[0], "Tea, please.")]


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
    assert parsed(line) == [(CAST[0], said)]


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
    assert parsed("\n\n".join(parts)) == [(CAST[0], "Tea."), (CAST[1], "Coffee.")]


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
    script = parse_script(f"Eva: Tea.\n{dress.format(stranger)}\nand welcome\nDavid: Coffee.", CAST)
    assert script.strangers == [stranger]
    assert script.lines == [Line(CAST[0], "Tea."), Line(CAST[1], "Coffee.")]


def test_a_stranger_named_in_a_heading_is_told():
    script = parse_script("**Eva**\nTea.\n\n**Moderator**\nWelcome.\n\n**David**\nCoffee.", CAST)
    assert script == Script([Line(CAST[0], "Tea."), Line(CAST[1], "Coffee.")], ["Moderator"])


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
    assert parse_script(text, CAST).lines == []


@given(
    st.lists(
        st.tuples(st.sampled_from(CAST), st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)),
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
    script = parse_script(text, CAST)
    assert all(line.speaker in CAST and line.text and "\n" not in line.text for line in script.lines)
    assert all(stranger and "\n" not in stranger for stranger in script.strangers)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("text", ["> " * 50_000, "*" * 50_000, "(" * 50_000, "Eva (" * 20_000, "A " * 50_000 + ":"])
def test_long_nonsense_takes_no_time(text: str):
    parse_script(f"Eva: {text}\n{text}", CAST)


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
