"""Studies on the command line: benchmarks, and the diversity of repeated runs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import scipy.stats  # noqa: F401  loaded here, so that no test pays for it
from fixtures import Run, Serve
from loopback.answering import Fault, Reply
from loopback.scripted import Scripted, prompt_of
from run_files import read_table
from run_folders import PEOPLE, given, manifest, mind, utterance, write_run

from persimchat.app.cli import main
from persimchat.evaluation.benchmarks.formats import Item, drawn, own_items

# `persimchat evaluate benchmark`: models on loopback answer as planned, alone and in debates


MINE = own_items()


ASKED = [MINE[place] for place in drawn("own", 0, len(MINE), 30, 1)[0]]
"""The thirty items of the first round."""


def item_in(body: Mapping[str, Any]) -> Item:
    """The item that a request asks about."""
    found = re.search(r"<topic>\n(.*?)\n</topic>", prompt_of(dict(body)), re.DOTALL)
    assert found
    return next(item for item in MINE if item.question.split() == found.group(1).split())


def wrong(item: Item) -> str:
    """An answer in the item's form that is not the right one."""
    if item.form == "choice":
        return next(choice for choice in item.choices if choice != item.answer)
    return {"yes": "no", "no": "yes"}.get(item.answer, "1000000")


def planned(states: Mapping[str, str]) -> Callable[[dict[str, Any]], Any]:
    """An answerer: right, or as planned for an item's id."""

    def answer(body: dict[str, Any]) -> Any:
        item = item_in(body)
        reasons = {"reasoning": "I have thought about it."}
        match states.get(item.id, "right"):
            case "right":
                return {**reasons, "answer": item.answer}
            case "wrong":
                return {**reasons, "answer": wrong(item)}
            case "unparseable":
                return {**reasons, "answer": "it depends"}
            case "refused":
                return Reply(None, refusal="I will not.")
            case _:
                return Fault(401, {"error": {"message": "no"}})

    return answer


def is_reasoned(body: Mapping[str, Any]) -> bool:
    return "step by step" in prompt_of(dict(body))


def data(command: Run, *arguments: str) -> dict[str, Any]:
    """What the command says with --json."""
    return command("evaluate", "benchmark", *arguments, "--json", "--yes").data


def rows() -> list[dict[str, str]]:
    return read_table("results/own/tables/items.csv")


@pytest.mark.proof
def test_thirty_items(command: Run, serve: Serve) -> None:
    """Twenty-five right, three wrong, two unparseable; against zero_shot, eight and two (design, acceptance 12)."""
    ids = [item.id for item in ASKED]
    cot = planned(dict.fromkeys(ids[:3], "wrong") | dict.fromkeys(ids[3:5], "unparseable"))
    zero = planned(dict.fromkeys(ids[2:13], "wrong"))
    script = Scripted(solving=lambda body: (cot if is_reasoned(body) else zero)(body))
    asked = ("own", "--methods", "zero_shot,cot", "--rounds", "1", "--model", serve(script).model())
    found = data(command, *asked)
    shot, thought = found["methods"]
    assert [thought[state] for state in ("right", "wrong", "unparseable", "refused", "failed")] == [25, 3, 2, 0, 0]
    accuracy = thought["accuracy"]
    assert [round(accuracy[name], 4) for name in ("value", "low", "high")] == [0.8333, 0.6528, 0.9436]
    assert (shot["right"], thought["against"]["only_first"], thought["against"]["only_second"]) == (19, 8, 2)
    assert round(thought["against"]["test"]["p"], 4) == 0.1094
    assert thought["calls"] == 32, "an answer of no use is asked for once more"
    assert len(script.asked) == 62
    assert len(rows()) == 60 and {row["state"] for row in rows()} == {"right", "wrong", "unparseable"}
    assert data(command, *asked)["methods"] == found["methods"]
    assert len(script.asked) == 62, "what has an answer is not asked again"


@pytest.mark.proof
def test_a_budget_ends_it_and_the_same_command_goes_on(command: Run, serve: Serve) -> None:
    script = Scripted(solving=planned({}))
    asked = ("own", "--methods", "cot", "--items", "6", "--rounds", "1", "--model", serve(script).model())
    found = data(command, *asked, "--budget-calls", "4")
    assert (found["methods"][0]["right"], found["methods"][0]["failed"]) == (4, 2)
    assert "budget" in found["stopped"]
    assert data(command, *asked, "--budget-calls", "6")["methods"][0]["right"] == 6
    assert len(script.asked) == 6


@pytest.mark.proof
def test_debates_are_held_as_an_experiments_conversations(command: Run, serve: Serve) -> None:
    """Right, wrong, and a debate that no answer of use came of, which is not held again."""
    items = [MINE[place] for place in drawn("own", 0, len(MINE), 3, 1)[0]]
    states = {items[1].id: "wrong", items[2].id: "unparseable"}
    script = Scripted(answering=planned(states), solving=planned({}))
    asked = ("own", "--methods", "cot,mad", "--items", "3", "--rounds", "1", "--set", "rounds=1")
    server = serve(script)
    done = command("evaluate", "benchmark", *asked, "--model", server.model(), "--yes")
    assert done.code == 1, done.err
    assert "cot" in done.out and "mad" in done.out and "McNemar" in done.out
    states_of = {(row["method"], row["item"]): row for row in rows()}
    found = [states_of["mad", item.id] for item in items]
    assert [row["state"] for row in found] == ["right", "wrong", "unparseable"]
    assert [row["consensus"] for row in found] == ["true", "true", ""]
    assert "wrong answer twice" in found[2]["why"]
    report = Path("results/own/report.html").read_text(encoding="utf-8")
    assert "Right answers" in report and "tables/items.csv" in report
    before = len(script.asked)
    assert data(command, *asked, "--model", server.model())["methods"][1]["unparseable"] == 1
    assert len(script.asked) == before
    for again in (("report", "results/own"), ("run", "results/own/experiment.yaml", "--yes")):
        refused = command("experiment", *again)
        assert refused.code == 2 and "evaluate benchmark" in refused.err
    assert Path("results/own/report.html").read_text(encoding="utf-8") == report


@pytest.mark.proof
def test_one_budget_for_answers_and_debates(command: Run, serve: Serve) -> None:
    script = Scripted(answering=planned({}), solving=planned({}))
    asked = ("own", "--methods", "cot,mad", "--items", "6", "--rounds", "1", "--set", "rounds=1")
    model = serve(script).model()
    found = data(command, *asked, "--model", model, "--budget-calls", "15")
    assert len(script.asked) <= 15 and found["stopped"]
    assert sum(method["calls"] for method in found["methods"]) == len(script.asked)
    assert found["methods"][0]["right"] == 6 and 0 < found["methods"][1]["right"] < 6
    found = data(command, *asked, "--model", model)
    assert [method["right"] for method in found["methods"]] == [6, 6]
    assert len(script.asked) == 6 + 18


@pytest.mark.proof
def test_a_refusal_is_not_right_and_a_failing_model_ends_it(command: Run, serve: Serve) -> None:
    first, second = (MINE[place] for place in drawn("own", 0, len(MINE), 2, 1)[0])
    states = {first.id: "refused", second.id: "failing"}
    script = Scripted(solving=lambda body: planned(states)(body))
    asked = ("own", "--methods", "cot", "--items", "2", "--rounds", "1", "--model", serve(script).model())
    done = command("evaluate", "benchmark", *asked, "--yes", "--set", "concurrent=false")
    assert done.code == 3
    assert "does not accept the key" in done.err
    del states[second.id]
    (cot,) = data(command, *asked)["methods"]
    assert (cot["refused"], cot["right"], cot["accuracy"]["value"]) == (1, 1, 0.5)


@pytest.mark.proof
def test_the_offline_model_guesses_and_says_so(command: Run) -> None:
    asked = ("own", "--methods", "zero_shot,cot", "--items", "16", "--model", "offline")
    done = command("evaluate", "benchmark", *asked)
    assert done.code == 0
    assert "its results mean nothing" in done.err
    assert "no benchmark" in done.out
    assert "48 draws are of 32 items" in done.out
    assert {row["state"] for row in rows()} == {"right", "wrong"}


def test_the_published_numbers_stand_beside(command: Run, write: Callable[..., Path]) -> None:
    lines = [json.dumps({"question": f"How many are {n} and 2?", "answer": f"#### {n + 2}"}) for n in range(4)]
    asked = ("--data", str(write("test.jsonl", "\n".join(lines))), "--model", "offline", "--methods", "cot")
    done = command("evaluate", "benchmark", "gsm8k", *asked, "--items", "2", "--rounds", "2")
    assert "0.900 ± 0.067" in done.out
    assert "gpt-4o-2024-08-06" in done.out and "table 6.11" in done.out


def test_nobody_is_asked_without_a_terminal(command: Run, serve: Serve) -> None:
    script = Scripted(solving=planned({}))
    done = command("evaluate", "benchmark", "own", "--methods", "cot", "--model", serve(script).model())
    assert done.code == 2 and "--yes" in done.err
    assert "Still to ask" in done.out
    assert script.asked == [] and not Path("results").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("gms8k",), ("'gms8k'", "'gsm8k'")),
        (("gsm8k",), ("not shipped", "--data", "docs/benchmarks.md")),
        (("gsm8k", "--data", "no.jsonl"), ("no such file", "no.jsonl")),
        (("own", "--data", "no.jsonl"), ("--data",)),
        (("own", "--methods", "cot,mda"), ("'mda'", "'mad'")),
        (("own", "--methods", "single_agent"), ("no answer", "--methods")),
        (("own", "--methods", "cot,cot"), ("twice",)),
        (("own", "--methods", "cot,"), ("--methods",)),
        (("own", "--methods", "cot", "--reference", "mad"), ("--reference", "'mad'")),
        (("own", "--items", "33"), ("33", "32", "--items")),
        (("own", "--rounds", "0"), ("--rounds",)),
        (("own", "--set", "baseline=mad"), ("baseline", "--methods")),
        (("own", "--methods", "mad", "--participants", "Nobody Known,Jarmila"), ("Nobody Known",)),
        (("own", "--methods", "mad", "--budget-calls", "2"), ("budget_calls=2",)),
        (("own", "--model", "m@http://127.0.0.1:9/v1", "--budget-usd", "1"), ("price", "not known")),
    ],
)
def test_bad_input(arguments: tuple[str, ...], words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "benchmark", *arguments, "--yes"]) == 2
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert [word for word in words if word not in last] == [], last
    assert not Path("results").exists()


# `persimchat evaluate diversity`: cases and settings, what does not count, and what is refused


RUNS = Path("conversations")


EVA, BO, LI = PEOPLE


SCENARIO = manifest()["scenario"]


def dialogue(name: str, *texts: str, seed: int = 0, strength: float = 0, topic: str = "Tea?", **about: Any) -> str:
    """A run in which Eva and Bo say these texts."""
    said = about.pop("said", None) or [
        utterance(turn, (EVA, BO)[turn % 2], text) for turn, text in enumerate(texts, start=1)
    ]
    settings: dict[str, Any] = {"max_messages": 4, "pattern": "need_to_talk", "model": "offline"}
    if strength:
        settings["pruning"] = {"lambda": strength, "method": "length", "revision": about.pop("revision", "off")}
    minds = about.pop("minds", [])
    settings |= about.pop("settings", {})
    scenario = {**SCENARIO, "topic": topic}
    folder = write_run(RUNS, said, minds, run=name, seed=seed, settings=settings, scenario=scenario, **about)
    return str(folder)


def two_settings(topic: str = "Tea?") -> list[str]:
    """Two runs without pruning and two with it: the examples of the design, computed by hand."""
    tag = topic[:3]
    pruned = {"lambda": 0.6, "method": "length", "units": 4, "removed": 1, "words": 40, "words_removed": 10}

    def minds(scores: Sequence[Sequence[int]] = ()) -> list[dict[str, Any]]:
        checks = [
            {"scores": [*each], "taken": place == len(scores) - 1, "comment": ""} for place, each in enumerate(scores)
        ]
        return [mind(1, EVA, pruned={**pruned, "turn": 1, "items": [], **({"checks": checks} if checks else {})})]

    less: dict[str, Any] = {"strength": 0.6, "revision": "again", "topic": topic}
    return [
        dialogue(f"{tag}-full-0", "a b a b", seed=0, topic=topic),
        dialogue(f"{tag}-full-1", "a b c", seed=1, topic=topic),
        dialogue(f"{tag}-less-0", "a b d", seed=0, minds=minds([(8, 8, 8), (2, 3, 4)]), **less),
        dialogue(f"{tag}-less-1", "c c", seed=1, minds=minds([(1, 1, 1)]), **less),
    ]


def found(done: Any) -> dict[tuple[str, str], Any]:
    """Values of cases by setting and measure."""
    return {(one["setting"], one["measure"]): one["value"] for one in done.data["values"] if one["unit"] == "case"}


FULL, LESS = "pruning.lambda=0", "pruning.lambda=0.6"


def test_settings_of_one_case_stand_side_by_side(command: Run) -> None:
    values = found(command("evaluate", "diversity", *two_settings(), "--json", "--embedding", "lexical"))
    assert {n: values[FULL, f"dist_{n}"] for n in (1, 2, 3)} == {1: 3 / 7, 2: 3 / 5, 3: 1.0}
    assert values[LESS, "dist_1"] == pytest.approx(4 / 5)
    assert values[FULL, "dist_1_cut"] == pytest.approx(2 / 4), "each is cut to two words: a b, a b"
    assert values[LESS, "dist_1_cut"] == pytest.approx(3 / 4)
    assert values[LESS, "exclusive_1"] == pytest.approx(1 / 4)
    assert values[LESS, "exclusive_2"] == pytest.approx(2 / 3)
    assert values[LESS, "exclusive_3"] == 1.0
    assert values[LESS, "dist_3_gain"] == 0.0
    assert (values[FULL, "words_left_out"], values[LESS, "words_left_out"]) == (0.0, 0.25)
    assert values[LESS, "inconsistency"] == pytest.approx((3 + 1) / 2), "what was said"
    assert values[LESS, "inconsistency_first"] == pytest.approx((8 + 1) / 2)
    assert (FULL, "inconsistency") not in values, "nothing is checked without revision"
    assert (values[FULL, "words"], values[LESS, "words"]) == (3.5, 2.5)
    assert (FULL, "exclusive_1") not in values, "the reference is compared with itself only in groups"


@pytest.mark.proof
def test_what_is_printed(command: Run) -> None:
    done = command("evaluate", "diversity", *two_settings(), "--embedding", "lexical", "--out", "res")
    assert "4 dialogues in 1 case, 2 settings" in done.out
    assert "lexical: words, not meanings; not comparable with published sim" in done.out
    assert "95 % interval" not in done.out, "one case has none"
    rows = {(row["setting"], row["measure"]): row for row in read_table("res/diversity.csv")}
    assert float(rows[FULL, "dist_2"]["value"]) == 0.6
    assert rows[FULL, "dist_2"]["runs"] == '["Tea-full-0", "Tea-full-1"]'
    assert "inconsistency is missing" not in done.out
    assert done.out.rstrip().endswith("diversity_settings.csv")
    means = {(row["setting"], row["measure"]): row for row in read_table("res/diversity_settings.csv")}
    less = means[LESS, "dist_1"]
    assert (float(less["mean"]), less["cases"], less["reference"], less["low"]) == (0.8, "1", FULL, "")
    assert float(less["difference"]) == pytest.approx(4 / 5 - 3 / 7)


@pytest.mark.proof
def test_two_cases_have_intervals_and_paired_differences(command: Run) -> None:
    runs = [*two_settings(), *two_settings("Coffee?")]
    data = json.loads(command("evaluate", "diversity", *runs, "--json").out)
    means = {(one["setting"], one["measure"]): one for one in data["settings"]}
    dist = means[LESS, "dist_1"]
    assert (dist["n"], dist["against"], dist["difference"]["n"]) == (2, FULL, 2)
    assert dist["difference"]["value"] == pytest.approx(4 / 5 - 3 / 7)
    assert dist["low"] is None, "both cases are the same, and what does not vary has no interval"
    assert means[FULL, "dist_1"]["difference"] is None
    assert "differences from the reference" in command("evaluate", "diversity", *runs).out


@pytest.mark.proof
def test_positions(command: Run) -> None:
    runs = [dialogue("one", "tea now", "no tea"), dialogue("two", "tea now", "yes", "well"), dialogue("three", "tea")]
    data = json.loads(command("evaluate", "diversity", *runs, "--json", "--positions").out)
    values = {(one["who"], one["measure"]): one for one in data["values"] if one["unit"] == "position"}
    assert values["1", "dist_1"]["value"] == pytest.approx(2 / 5)
    assert values["2", "dist_1"]["value"] == 1.0
    assert values["2", "dist_1"]["dialogues"] == 2
    assert ("3", "sim") not in values, "one dialogue alone reaches it"
    assert "By position in the dialogue" in command("evaluate", "diversity", *runs, "--positions").out


@pytest.mark.proof
def test_groups_compare_the_reference_with_itself(command: Run) -> None:
    runs = [dialogue(f"run-{seed}", text, seed=seed) for seed, text in enumerate(["a b", "a c", "a b", "d e", "f"])]
    done = command("evaluate", "diversity", *runs, "--json", "--group", "2")
    values, notes = found(done), json.loads(done.out)["notes"]
    assert values["as given", "dist_1"] == pytest.approx((3 / 4 + 1) / 2)
    assert values["as given", "exclusive_1"] == pytest.approx((1 / 3 + 2 / 4) / 2), "c is new, then d and e"
    assert "Left out: 1 dialogue beyond whole groups of 2." in notes
    assert "smaller group" in command("evaluate", "diversity", *runs, "--group", "9").error


@pytest.mark.proof
def test_groups_of_other_seeds_are_compared(command: Run) -> None:
    """A setting that changes nothing is as near to the reference as the reference to itself."""
    said = ["a b", "a c", "a b", "d e"]
    runs = [dialogue(f"full-{seed}", text, seed=seed) for seed, text in enumerate(said)]
    runs += [dialogue(f"less-{seed}", text, seed=seed, strength=0.6) for seed, text in enumerate(said)]
    values = found(command("evaluate", "diversity", *runs, "--json", "--group", "2"))
    for measure in ("max_sim", "exclusive_1", "exclusive_2"):
        assert values[FULL, measure] == values[LESS, measure] != 0
    done = command("evaluate", "diversity", *runs, "--json", "--group", "4")
    assert found(done)[LESS, "max_sim"] is None
    assert any("they need two groups of seeds" in note for note in json.loads(done.out)["notes"])
    assert "max_sim is missing" not in command("evaluate", "diversity", *runs, "--group", "4").out


@pytest.mark.proof
def test_settings_stand_in_order_of_their_values(command: Run) -> None:
    runs = [
        dialogue(f"{topic}{strength}-{seed}", "a b", seed=seed, strength=strength, topic=topic)
        for topic, strengths in (("Tea", (0.9, 0.15)), ("Milk", (0.6, 0)))
        for strength in strengths
        for seed in (1, 0)
    ]
    data = json.loads(command("evaluate", "diversity", *runs, "--json").out)
    assert [*data["cases"]] == ["Milk", "Tea"]
    assert data["cases"]["Tea"] == {
        "pruning.lambda=0.15": ["Tea0.15-0", "Tea0.15-1"],
        "pruning.lambda=0.9": ["Tea0.9-0", "Tea0.9-1"],
    }
    order = [one["setting"] for one in data["settings"] if one["measure"] == "sim"]
    assert order == [f"pruning.lambda={strength}" for strength in ("0", "0.15", "0.6", "0.9")]
    other = command("evaluate", "diversity", *reversed(runs), "--json")
    assert json.loads(other.out) == data, "the order of folders changes nothing"


def test_dependent_runs_are_named(command: Run) -> None:
    of = {"of": "one", "turn": 1, "why": "branch", "changed": {}}
    runs = [
        dialogue("one", "tea", seed=4),
        dialogue("two", "tea", seed=4),
        dialogue("three", "milk", seed=5, branch=of),
        dialogue("four", "milk", seed=6, branch={**of, "of": "gone"}),
    ]
    notes = json.loads(command("evaluate", "diversity", *runs, "--json").out)["notes"]
    assert len(notes) == 2
    assert notes[0].endswith("Tea?, as given: 4.")
    assert notes[1].endswith(": three (of one).")
    siblings = [runs[1], runs[3], dialogue("five", "milk", seed=7, branch={**of, "of": "gone"})]
    assert ": five (of gone), four (of gone)." in command("evaluate", "diversity", *siblings).out.replace("\n", " ")


@pytest.mark.proof
def test_words_of_others_do_not_count_and_are_counted(command: Run) -> None:
    said = [
        utterance(1, EVA, "tea please"),
        utterance(2, BO, "secret", heard_by=[EVA]),
        given(3, "Moderator", "go on"),
        given(4, LI, "hello"),
        utterance(5, BO, "put in", edited_by="moderator"),
    ]
    runs = [dialogue("one", said=said), dialogue("two", "tea please")]
    data = json.loads(command("evaluate", "diversity", *runs, "--json").out)
    assert data["left_out"]["utterances"] == {"whispers": 1, "words of the moderator": 2, "words of people": 1}
    assert found(command("evaluate", "diversity", *runs, "--json"))["as given", "dist_1"] == 0.5
    assert "whispers 1, words of people 1, words of the moderator 2" in command("evaluate", "diversity", *runs).out


@pytest.mark.proof
def test_runs_that_failed_are_left_out_by_name(command: Run) -> None:
    runs = [
        dialogue("one", "tea"),
        dialogue("two", "coffee"),
        dialogue("broken", "water", stop_reason="error"),
        dialogue("open", "milk", stop_reason=None),
        dialogue("silent", said=[utterance(1, BO, "psst", heard_by=[EVA])]),
    ]
    done = command("evaluate", "diversity", *runs)
    told = "Left out: broken (it failed), open (it is not over), silent (no agent said anything that all heard)."
    assert told in done.out
    assert found(command("evaluate", "diversity", *runs, "--json"))["as given", "dist_1"] == 1.0


@pytest.mark.proof
def test_unequal_numbers(command: Run) -> None:
    full = [dialogue(f"full-{seed}", f"tea {seed}", seed=seed) for seed in range(3)]
    less = [dialogue(f"less-{seed}", f"milk {seed}", seed=seed, strength=0.6) for seed in (0, 1)]
    done = command("evaluate", "diversity", *full, *less, "--json")
    assert "left out 1 dialogue, because another setting lacks the seed" in " ".join(done.data["notes"])
    assert found(done)[FULL, "dist_1"] == pytest.approx(3 / 4)
    other = dialogue("less-9", "milk 9", seed=9, strength=0.6)
    done = command("evaluate", "diversity", *full, less[0], other, "--json")
    values, notes = found(done), " ".join(json.loads(done.out)["notes"])
    assert values[FULL, "dist_1"] is None
    assert values[FULL, "sim"] is not None
    assert values[LESS, "max_sim"] is not None
    assert f"unequal numbers of dialogues ({FULL} 3, {LESS} 2)" in notes
    assert "max_sim grows with their number" in notes


def test_texts_without_embedding_are_counted(command: Run) -> None:
    runs = [dialogue("one", "tea"), dialogue("two", "tea"), dialogue("three", " ")]
    done = command("evaluate", "diversity", *runs, "--json", "--embedding", "lexical")
    assert "Left out of sim: 1 dialogue without words that lexical can compare." in json.loads(done.out)["notes"]
    assert found(done)["as given", "sim"] == pytest.approx(1.0)


def test_other_settings_are_compared_too(command: Run) -> None:
    runs = [
        dialogue(f"{mode}-{seed}", "tea", seed=seed, settings={"model_temperature": heat})
        for mode, heat in (("cool", 0.8), ("hot", 1.0))
        for seed in (0, 1)
    ]
    data = json.loads(command("evaluate", "diversity", *runs, "--json").out)
    assert [*data["cases"]["Tea?"]] == ["model_temperature=0.8", "model_temperature=1"]


@pytest.mark.parametrize(
    ("given", "usual", "other"),
    [
        ({"pruning": {"remove": "mb"}}, "pruning.remove=nothing", "pruning.remove=bm"),
        ({"agent_models": {EVA: "other"}}, "agent_models={}", f'agent_models={{"{EVA}": "other"}}'),
    ],
)
def test_a_setting_that_only_some_runs_give_is_compared(
    command: Run, given: dict[str, Any], usual: str, other: str
) -> None:
    runs = [dialogue(f"full-{seed}", "a b a b", seed=seed) for seed in (0, 1)]
    runs += [dialogue(f"less-{seed}", "c", "d", seed=seed, settings=given) for seed in (0, 1)]
    done = command("evaluate", "diversity", *runs, "--json")
    assert json.loads(done.out)["cases"] == {"Tea?": {usual: ["full-0", "full-1"], other: ["less-0", "less-1"]}}
    assert found(done)[usual, "dist_1"] == 2 / 8
    assert ((other, "dist_3_gain") in found(done)) == ("pruning" in given)


def test_what_changes_nothing_is_not_compared(command: Run) -> None:
    methods = {"one": {"remove": "bm", "method": "length"}, "two": {"remove": "mb", "method": "random"}}
    runs = [dialogue(name, "tea", settings={"pruning": pruning}) for name, pruning in methods.items()]
    assert [*json.loads(command("evaluate", "diversity", *runs, "--json").out)["cases"]["Tea?"]] == ["as given"]


def test_texts_are_data(command: Run) -> None:
    runs = [dialogue(f"run-{seed}", "tea", seed=seed, topic="=1+1 [bold]\x1b[2J") for seed in (0, 1)]
    command("evaluate", "diversity", *runs, "--out", "res")
    assert "'=1+1" in (Path("res") / "diversity.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("one",), "diversity is how runs differ, and one run is given"),
        (("one", "one"), "the run one is given twice"),
        (("one", "gone"), "there is no run"),
        (("one", "apart"), "no two runs are of one scenario"),
        (("one", "broken"), "1 of 2 runs can be measured"),
        (("one", "two", "--embedding", "minilmm"), "Did you mean 'minilm'?"),
        (("one", "two", "--embedding", ""), "unknown embedding"),
        (("one", "two", "--tokens", "signs"), "--tokens"),
        (("one", "two", "--group", "1"), "--group"),
        (("one", "."), "it has no run.sqlite"),
    ],
)
def test_bad_input_is_one_line(command: Run, arguments: tuple[str, ...], words: str) -> None:
    dialogue("one", "tea"), dialogue("two", "tea", seed=1), dialogue("apart", "tea", topic="Milk?")
    dialogue("broken", "tea", stop_reason="error")
    done = command("evaluate", "diversity", *arguments)
    assert done.code == 2
    assert words in done.error
    assert "Traceback" not in done.error
