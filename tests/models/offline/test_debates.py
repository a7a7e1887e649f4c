"""Debates: which position words speak for, openness, the judge, answers in rounds, and debates through the graph."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from offline_prompts import judged, situation, utterance

from persimchat import Persona, Result, Scenario, Settings, simulate
from persimchat.models.offline import OfflineChatModel
from persimchat.models.offline.material import deck, filled, for_register, lines, read, took_leave
from persimchat.models.offline.minds import openness_to
from persimchat.models.offline.positions import (
    Stance,
    Temper,
    anchor,
    place_in,
    position_in,
    stance,
    temper_of,
    updated,
)
from persimchat.models.offline.prompt import AnswerForm, Prompt
from persimchat.models.offline.topics import analyse, candidate_numbers
from persimchat.prompts import answer_blocks, render
from persimchat.prompts import blocks as b
from persimchat.state.baselines.rounds import answering_schema, decision_schema
from persimchat.state.baselines.script import faults, parse_script
from persimchat.state.debates.verdict import answer_description, majority_schema, verdict_schema
from persimchat.state.minds.memory import new_memory

QUESTION = "Which city should host the fair?"


CITIES = ("Brno", "Lviv", "Porto")


FORMS = {
    "free": (AnswerForm(), "Should we build a playground or a car park?"),
    "choice": (AnswerForm("choice", CITIES), QUESTION),
    "yesno": (AnswerForm("yesno"), "Should schools ban phones?"),
    "number": (AnswerForm("number"), "How many piano tuners are there in Chicago?"),
}


def stating() -> list[tuple[str, str]]:
    """Every phrase that says where its speaker stands."""
    found = [
        (kind, p) for kind in ("stance", "near", "firm", "settled", "concede", "moved") for p in deck("debate", kind)
    ]
    found += [(f"child {k}", p) for k in read("debate")["child"] for p in deck("debate", "child", k)]
    for asked in read("debate")["questions"]:
        found += [(asked["cue"], p) for kind in ("same", "differ") for p in lines(asked[kind])]
        found += [(asked["cue"], asked["ask"])] if "{mine}" in asked["ask"] else []
    for kind in ("words", "near", "far"):
        found += [(f"leave {kind}", p) for p in deck("leave", kind)]
    found += [("leave child", p) for p in deck("leave", "child", "words")]
    return [(kind, p) for kind, p in found if "{mine" in p]


@pytest.mark.parametrize("form", FORMS)
def test_every_phrase_speaks_for_what_its_speaker_holds(form: str):
    topic = analyse(FORMS[form][1], FORMS[form][0])
    n = len(topic.positions)
    wrong = []
    for kind, phrase in stating():
        for register in ("casual", "neutral", "formal"):
            text = for_register(phrase, register)
            for mine in range(n) if text else ():
                values = {"mine": topic.positions[mine], "rival": topic.positions[(mine + 1) % n]}
                said = filled(text, {**values, "name": "Ann", "other": "Bob", "theirs": values["rival"]})
                if position_in(said, topic) != mine:
                    wrong.append((kind, said))
    assert not wrong


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("I say Brno, and Porto may wait.", "Brno"),
        ("Not Brno, please. Lviv it is.", "Lviv"),
        ("Nothing to say.", None),
    ],
)
def test_choices_are_recognised(text: str, answer: str | None):
    index = position_in(text, analyse(QUESTION, AnswerForm("choice", CITIES)))
    assert (None if index is None else CITIES[index]) == answer


@pytest.mark.parametrize(
    "choices",
    [
        ("Yes", "No", "Maybe"),
        ("A", "B"),
        ("A) 21", "B) 42"),
        ("one; two", "three"),
        ("Build the playground beside the school and pay for it from the reserve", "Wait for another year"),
        ("{mine}", "<task>"),
        ("is", "are"),
    ],
)
def test_odd_choices_have_names_that_can_be_said_and_understood(choices: tuple[str, ...]):
    topic = analyse("What is it to be?", AnswerForm("choice", choices))
    assert topic.answers == choices
    for index, label in enumerate(topic.positions):
        assert position_in(f"So my vote goes to {label}.", topic) == index


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("My answer is no.", "no"),
        ("I say yes, Bob.", "yes"),
        ("No, Bob, I don't buy that.", None),
        ("It's a yes.", "yes"),
        ("I think yes. Whoever stays at home lets others decide.", "yes"),
        ("I think no rule helps here.", None),
        ("Definitely no!", "no"),
        ("Yes!", "yes"),
        ("No.", "no"),
    ],
)
def test_a_bare_yes_or_no_is_an_answer_only_where_it_is_given_as_one(text: str, answer: str | None):
    topic = analyse("Should schools ban phones?", AnswerForm("yesno"))
    index = position_in(text, topic)
    assert (None if index is None else topic.answers[index]) == answer


def test_numbers_lie_in_order_and_others_between_them():
    topic = analyse("How many piano tuners are there in Chicago?", AnswerForm("number"))
    values = [float(a) for a in topic.answers]
    assert values == sorted(values) and len(set(values)) == 5
    places = [place_in(f"I'd say {v:,.10g}.", topic) for v in values]
    assert places == [anchor(i, 5) for i in range(5)]
    between = place_in(f"I'd say {(values[1] + values[2]) / 2:.2f}.", topic)
    assert between is not None and places[1] < between < places[2]
    assert place_in("I'd say 1.", topic) == places[0]
    assert place_in("No idea.", topic) is None


@pytest.mark.parametrize(
    "question",
    [
        "Ann has 3 apples and buys 4 more. How many?",
        "In which year was it?",
        "How likely is rain, in percent?",
        "What?",
    ],
)
def test_numbers_put_up_for_debate_are_few_different_and_always_the_same(question: str):
    numbers = candidate_numbers(question)
    assert 2 <= len(set(numbers)) == len(numbers) <= 5
    assert list(numbers) == sorted(numbers)
    assert candidate_numbers(question) == numbers


unit = st.floats(0, 1)


TOPIC = "Is tea better than coffee?"


@given(unit, unit)
def test_near_positions_converge_and_far_ones_do_not(mine: float, theirs: float):
    temper = Temper(confidence_bound=0.3, convergence_rate=0.25)
    after = updated(mine, theirs, temper)
    if abs(mine - theirs) <= 0.3:
        assert abs(after - theirs) == pytest.approx(0.75 * abs(mine - theirs))
    else:
        assert after == mine


def test_temper_widens_or_narrows_the_bound():
    plain = temper_of([], [])
    assert temper_of(["stubborn"], []).confidence_bound < plain.confidence_bound
    assert temper_of(["open-minded"], []).confidence_bound > plain.confidence_bound
    assert temper_of([], ["find a compromise"]).confidence_bound > plain.confidence_bound


@pytest.mark.parametrize(
    ("words", "index"),
    [
        ("I'd go for tea.", 0),
        ("Coffee gets me up.", 1),
        ("I'm not so sure about tea, I'd stay with coffee.", 1),
        ("Anything but that.", None),
        ("You won't talk me out of coffee.", 1),
        ("With coffee we'd be back here in a year, Bob.", None),
        ("Bob, you've half talked me out of tea.", None),
        ("So don't wave coffee away too quickly.", 1),
        ("It's true that a cup is a cup; even so, I'd choose tea.", 0),
    ],
)
def test_positions_are_told_from_words(words: str, index: int | None):
    assert position_in(words, analyse(TOPIC)) == index


@pytest.mark.parametrize(
    ("description", "goals", "expected"),
    [
        ("He has ordered vanilla since he was six.", (), {"vanilla"}),
        ("Only mint chocolate chip has a star.", (), {"chocolate"}),
        ("She likes vanilla.", ("Get chocolate on the list.",), {"chocolate"}),
    ],
)
def test_people_start_from_what_their_profile_says(description: str, goals: tuple[str, ...], expected: set[str]):
    topic = analyse("What is the best ice cream flavor?")
    found = set()
    for seed in range(8):
        prompt = Prompt("utterance", "Lu", seed, description=description, goals=goals, topic=topic.text)
        found.add(topic.positions[stance(prompt, topic).mine])
    assert found == expected


def held(mine: int, opinion: float, bound: float = 0.4, *, adversarial: bool = False) -> Stance:
    return Stance(opinion, mine, mine, None, Temper(bound, 0.25, adversarial))


def test_openness_follows_the_confidence_bound():
    same = openness_to((1, 1.0), held(1, 0.5), 3)
    near = openness_to((1, 1.0), held(0, 0.3), 3)
    nearish = openness_to((1, 1.0), held(0, 0.15), 3)
    far = openness_to((2, 1.0), held(0, 0.1), 3)
    assert same >= 8 > 7 >= near > nearish >= 4 > 3 >= far


CHOICE = {"format": "choice", "choices": list(CITIES)}


FREE = {"format": "free", "choices": []}


def judge(
    task: str,
    said: list[tuple[str, str]],
    debate: dict[str, Any],
    openness: dict[str, int] | None = None,
    topic: str = QUESTION,
    memories: list[Any] | None = None,
) -> Any:
    names = list(dict.fromkeys([*(who for who, _ in said), *(openness or {})]))
    recent = [utterance(who, text, i) for i, (who, text) in enumerate(said, 1)]
    group = [
        {"name": n, "need_to_talk": 4, "openness": (openness or {}).get(n, 8), "last_spoke": 1}
        | {"utterances": sum(who == n for who, _ in said)}
        for n in names
    ]
    shown = [b.environment(situation(names, topic, recent, debate=debate), ""), b.group(group)]
    if memories is None:
        shown.append(b.observed(recent))
    else:
        who = Persona(name="Judge", description="The judge takes no part.")
        shown = [b.basic_information(who), b.memories(memories), *shown]
    form, choices = debate["format"], tuple(debate["choices"])
    schema: Any = (verdict_schema if task == "judge" else majority_schema)(tuple(names), form, choices)
    return judged(task, schema, blocks=shown, form=answer_description(form, choices), in_form=form != "free")


AGREED = [("Ann", "I'm for Lviv."), ("Bob", "Lviv it is, as far as I'm concerned."), ("Cleo", "My vote goes to Lviv.")]


def test_all_for_the_same_by_their_own_words_is_consensus():
    verdict = judge("judge", AGREED, CHOICE)
    assert verdict.consensus and verdict.answer == "Lviv"
    assert all(p.agrees for p in verdict.positions)


@pytest.mark.parametrize(
    ("last", "openness"),
    [
        ("I'm still for Porto.", 9),
        ("That was a fine argument.", 9),
        ("My vote goes to Lviv.", 0),
        ("My vote goes to Lviv.", 5),
    ],
)
def test_no_consensus_with_another_view_silence_or_unwillingness(last: str, openness: int):
    verdict = judge("judge", [*AGREED[:2], ("Cleo", last)], CHOICE, {"Cleo": openness})
    assert not verdict.consensus and verdict.answer is None
    assert not next(p for p in verdict.positions if p.agent == "Cleo").agrees
    assert "Cleo" in verdict.reasoning


def test_the_last_word_counts_and_who_came_round_is_told():
    verdict = judge("judge", [("Cleo", "I'm for Porto."), *AGREED], CHOICE)
    assert verdict.consensus and verdict.progress == "progressing"
    assert next(p for p in verdict.positions if p.agent == "Cleo").position == "Came round from Porto to Lviv."


def test_a_free_answer_is_a_sentence_with_what_spoke_for_it():
    topic = "Should we build a playground or a car park?"
    said = [("Ann", "I'm for building a playground."), ("Bob", "A place with swings keeps the young families here. ")]
    said.append(("Bob", "So my vote goes to building a playground."))
    verdict = judge("judge", said, FREE, topic=topic)
    assert verdict.consensus and "building a playground" in verdict.answer and verdict.answer.endswith(".")


def test_yes_with_and_without_conditions_is_yes():
    said = [("Ann", "My vote goes to a plain yes."), ("Bob", "I'd sign a yes with conditions today.")]
    verdict = judge("judge", said, {"format": "yesno", "choices": []}, topic="Should schools ban phones?")
    assert verdict.consensus and verdict.answer == "yes"


def test_a_judge_with_a_mind_reads_its_memories():
    memories = [
        new_memory("Judge", i, "perception", f"{who} spoke for Lviv, on the fair.", ["Lviv"], 4, [0] * 6)
        for i, (who, _) in enumerate(AGREED, 1)
    ]
    assert judge("judge", AGREED, CHOICE, memories=memories).consensus
    forgotten = judge("judge", AGREED, CHOICE, memories=memories[:2])
    assert not forgotten.consensus
    assert next(p for p in forgotten.positions if p.agent == "Cleo").position == "Has not said what they hold."


def test_saying_the_same_again_is_going_in_circles():
    same = [(who, f"I'm for {city}.") for _ in range(3) for who, city in (("Ann", "Brno"), ("Bob", "Porto"))]
    assert judge("judge", same, CHOICE).progress == "circling"
    new = [
        ("Ann", "I'm for Brno."),
        ("Bob", "I'm for Porto."),
        ("Ann", "Brno lies nearer to the railway and has cheaper hotels."),
        ("Bob", "Porto has a harbour, mild winters and excellent fish."),
    ]
    assert judge("judge", new, CHOICE).progress == "progressing"


def test_the_majority_is_named_with_its_holders():
    said = [("Ann", "I'm for Brno."), ("Bob", "I'm for Porto."), ("Cleo", "My answer is Porto.")]
    majority = judge("majority", said, CHOICE)
    assert majority.answer == "Porto" and majority.supporters == ["Bob", "Cleo"]


def test_of_equally_many_the_more_open_holders_count():
    said = [("Ann", "I'm for Brno."), ("Bob", "I'm for Porto.")]
    assert judge("majority", said, CHOICE, {"Ann": 2, "Bob": 7}).supporters == ["Bob"]
    assert judge("majority", said, CHOICE, {"Ann": 7, "Bob": 2}).supporters == ["Ann"]


def test_a_tie_is_not_called_a_majority():
    said = [("Ann", "I'm for tea."), ("Bob", "I'm for coffee.")]
    topic = "Tea or coffee?"
    assert "most" in judge("majority", [*said, ("Cleo", "I'm for coffee.")], FREE, topic=topic).answer.lower()
    assert "divided" in judge("majority", said, FREE, topic=topic).answer
    assert "guess" in judge("majority", [("Ann", "Hm."), ("Bob", "Well.")], FREE, topic=topic).answer


def leaning(name: str, city: str, trait: str, *goals: str) -> Persona:
    return Persona(name=name, description=f"Swears by {city}.", traits=[trait], social_goals=list(goals))


def debate(people: list[Persona], seed: int, **options: Any) -> Result:
    scenario = Scenario(topic="Which city should host the fair?", participants=people)
    chosen: dict[str, Any] = {"answer_format": "choice", "choices": CITIES, "max_messages": 30, "seed": seed, **options}
    return simulate(scenario, settings=Settings(model="offline", mode="debate", **chosen))


def neighbours(*goals: str) -> list[Persona]:
    return [
        leaning("Ann Miller", "Brno", "open-minded", *goals),
        leaning("Bob Novak", "Lviv", "calm"),
        leaning("Cleo Reyes", "Lviv", "curious"),
    ]


@pytest.mark.parametrize("judge", ["sliding_window", "persona"])
@pytest.mark.proof(cases=1)
def test_near_positions_come_to_a_consensus_in_bounded_time(judge: str):
    results = [debate(neighbours(), seed, judge=judge) for seed in range(3)]
    assert sum(r.stop_reason == "consensus" for r in results) >= 2
    for result in results:
        if result.stop_reason == "consensus":
            assert result.conclusion is not None and result.conclusion.answer in CITIES
            assert len(result.conclusion.supporters) == 3


@pytest.mark.long
@pytest.mark.proof
def test_an_adversary_is_never_declared_agreed():
    for seed in range(3):
        result = debate(neighbours("Never agree with the others"), seed)
        assert result.stop_reason == "message_limit"
        assert result.conclusion is not None and not result.conclusion.consensus
        assert all(m.openness == 0 for m in result.minds if m.agent == "Ann Miller")
        assert not any(v.consensus for v in result.verdicts)


@pytest.mark.parametrize("baseline", ["mad", "mad_judge", "reconcile"])
def test_every_baseline_is_answered(baseline: str):
    result = debate(neighbours(), 0, baseline=baseline, rounds=2)
    assert result.conclusion is not None and result.conclusion.answer in CITIES
    assert {u.answer for u in result.utterances} <= set(CITIES)


@pytest.mark.long
@pytest.mark.proof
def test_a_discussion_that_is_talked_out_closes():
    scenario = Scenario(topic="Cats or dogs?", participants=neighbours())
    result = simulate(scenario, settings=Settings(model="offline", closing="on", max_messages=90))
    assert result.stop_reason == "closed"
    assert 12 <= len(result.utterances) < 70


def script(
    people: list[Persona], count: int, *, closing: bool = True, seed: int = 0, topic: str = "Cats or dogs?"
) -> str:
    names = [p.name for p in people]
    minds: Any = [{"name": p.name, "persona": p.model_dump(), "goals": p.social_goals} for p in people]
    prompt = render(
        "script",
        people=answer_blocks.people([(m, situation(names, topic)) for m in minds]),
        environment=b.environment(situation(names, topic), ""),
        names=names,
        count=count,
        everybody=count >= len(names),
        allow_repetition=False,
        closing=closing,
        register="casual",
        words=25,
    )
    return str(OfflineChatModel(seed=seed).invoke(prompt).content)


@pytest.mark.parametrize("count", [1, 2, 4, 5, 12, 40])
def test_a_script_has_as_many_lines_as_asked_for_and_no_fault(shipped: list[Persona], count: int):
    for seed in range(3):
        people = shipped[seed : seed + 4]
        names = [p.name for p in people]
        parsed = parse_script(script(people, count, seed=seed), names)
        assert len(parsed.lines) == count
        assert faults(parsed, names, count, allow_repetition=False) is None
        assert len({line.text for line in parsed.lines}) == count


def test_a_script_answers_itself_and_comes_to_a_close(shipped: list[Persona]):
    text = script(shipped[:4], 16)
    lines = parse_script(text, [p.name for p in shipped[:4]]).lines
    firsts = {p.name.split()[0] for p in shipped[:4]}
    answered = sum(before.speaker.split()[0] in line.text for before, line in zip(lines, lines[1:], strict=False))
    assert answered >= 4
    assert sum(any(f in line.text for f in firsts) for line in lines) >= 8
    assert all(took_leave(line.text) for line in lines[-4:])
    assert not any(took_leave(line.text) for line in lines[:-4])
    open_end = parse_script(script(shipped[:4], 16, closing=False), [p.name for p in shipped[:4]]).lines
    assert not any(took_leave(line.text) for line in open_end)


def test_odd_names_speak_in_scripts():
    people = [Persona(name=n, description="Somebody.") for n in ("Eva (the elder)", "Dr. Bob, MD", "李雷")]
    lines = parse_script(script(people, 6), [p.name for p in people]).lines
    assert {line.speaker for line in lines} == {p.name for p in people}


def answer(
    person: Persona,
    form: str,
    given: list[dict[str, Any]] | None = None,
    *,
    topic: str = QUESTION,
    side: str = "",
    opposes: str | None = None,
    seed: int = 0,
    others: tuple[str, ...] = ("Bob", "Cleo"),
) -> Any:
    choices = list(CITIES) if form == "choice" else []
    where = situation([person.name, *others], topic, debate={"format": form, "choices": choices})
    sides = {u["speaker"]: u["side"] for u in given or [] if "side" in u}
    return judged(
        "answering",
        answering_schema(form, tuple(choices), confident=True),
        seed,
        basic_information=b.basic_information(person, knowledge=True),
        relationships=b.Block("relationships", ()),
        plan_and_identity=b.plan_and_identity({"goals": person.social_goals}),
        environment=b.environment(where, person.name, spoken=1),
        answers=answer_blocks.answers(given or [], person.name, sides),
        side=side,
        opposes=opposes,
        grouped=False,
        confident=True,
        form=answer_description(form, choices),
    )


def answered(speaker: str, answer: str, reasons: str = "", **more: Any) -> dict[str, Any]:
    return {"speaker": speaker, "answer": answer, "text": f"{reasons or 'I say so.'}\nAnswer: {answer}"} | more


def person(city: str, **more: Any) -> Persona:
    return Persona(name="Ann Miller", description=f"A person who swears by {city}.", **more)


@pytest.mark.parametrize("form", ["free", "choice", "yesno", "number"])
def test_an_answer_has_the_form_asked_for_and_says_that_it_is_a_guess(form: str):
    topic = {"number": "How many eggs are left if 16 hens lay 3 each and 4 break?"}.get(form, QUESTION)
    given = answer(person("Lviv"), form, topic=topic)
    assert 0 < given.confidence <= 0.95
    guesses = re.search(r"feel|hunch|prove|guess|bet|lean|every step", given.reasoning) is not None
    assert guesses or form == "free"
    assert given.confidence <= 0.6 or form == "free"
    assert answer(person("Lviv"), form, topic=topic) == given


def test_near_answers_move_and_far_ones_do_not():
    def after(own: str, others: str, rounds: int = 4, **more: Any) -> str:
        held = own
        for _ in range(rounds):
            given = [answered("Ann Miller", held), answered("Bob", others), answered("Cleo", others)]
            held = answer(person(own, **more), "choice", given).answer
        return str(held)

    assert after("Brno", "Lviv", traits=["open-minded"]) == "Lviv"
    assert after("Brno", "Porto", traits=["stubborn"]) == "Brno"
    assert after("Brno", "Lviv", social_goals=["Never agree"]) == "Brno"


def test_the_negative_side_answers_something_else():
    for seed in range(6):
        assert answer(person("Lviv"), "choice", side="negative", opposes="Lviv", seed=seed).answer != "Lviv"
        assert answer(person("Lviv"), "yesno", side="negative", opposes="yes", seed=seed).answer == "no"


def decide(answers: list[dict[str, Any]], form: str = "choice", *, last: bool = False) -> Any:
    choices = list(CITIES) if form == "choice" else []
    where = situation([u["speaker"] for u in answers], QUESTION, debate={"format": form, "choices": choices})
    return judged(
        "mad_judge",
        decision_schema(form, tuple(choices), last=last),
        environment=b.environment(where, ""),
        answers=answer_blocks.answers(answers, "", {u["speaker"]: u["side"] for u in answers}),
        round=2,
        rounds=3,
        last=last,
        form=answer_description(form, choices),
    )


SIDES = [
    answered("Ann", "Brno", "It's near.", side="affirmative"),
    answered(
        "Bob", "Porto", "It has a harbour, because it lies by the sea, and since trade came early.", side="negative"
    ),
]


def test_two_sides_are_left_to_it_until_the_last_round():
    assert not decide(SIDES).decided
    last = decide(SIDES, last=True)
    assert (last.side, last.answer) == ("negative", "Porto")


def test_free_answers_are_compared_by_their_position():
    topic = analyse(QUESTION, AnswerForm())
    free = [
        answered(n, f"The answer is {topic.positions[0]}.", side=s)
        for n, s in (("A", "affirmative"), ("B", "negative"))
    ]
    assert decide(free, "free").decided
