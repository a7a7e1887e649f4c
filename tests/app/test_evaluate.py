"""Evaluations of conversations that are over: dimensions, pairs, focus groups."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asked_afterwards import besides
from evaluation.judging import REASON, TIES, Planned, dimension_in, first_words, run_about, topic_in
from fixtures import Run, Serve
from group_runs import LIKELY, WORDS, write_group
from loopback.answering import Fault, Reply
from loopback.scripted import prompt_of
from run_files import drop, logged, read_table, run_json
from run_folders import PEOPLE, put, write_events, write_steered

from persimchat.evaluation import asking
from persimchat.reports.guide import positions, summary_of
from persimchat.runs.folder.reading import read_judgements, read_run

# `persimchat evaluate`: a judge on loopback, whose answers are planned, rates runs on disk


RUNS = Path("conversations")


TIED = {"scenario": {"relationships": TIES}}


def topics(number: int) -> list[str]:
    return [f"Topic {n}?" for n in range(number)]


def data(command: Run, *arguments: str) -> dict[str, Any]:
    """What a command says with --json."""
    return command("evaluate", *arguments, "--json").data


def row_of(found: dict[str, Any], key: str) -> dict[str, Any]:
    (row,) = [row for row in found["dimensions"] if row["key"] == key]
    return row  # type: ignore[no-any-return]


@pytest.mark.proof
def test_means_spreads_and_intervals(command: Run, serve: Serve) -> None:
    folders = [str(run_about(RUNS, topic)) for topic in topics(4)]
    bel = dict(zip(topics(4), (6, 7, 8, 9), strict=True))
    judge = Planned(lambda body: bel[topic_in(body)] if dimension_in(body) == "believability" else 5)
    found = data(command, "dimensions", *folders, "--by", serve(judge).model(), "--only", "BEL,CRE")
    row = row_of(found, "BEL")
    assert (row["mean"], row["n"], row["missing"], judge.asked) == (7.5, 4, {}, 8)
    assert row["sd"] == pytest.approx(1.2910, abs=5e-5)
    assert (row["interval"]["low"], row["interval"]["high"]) == pytest.approx((5.446, 9.554), abs=5e-4)
    assert row_of(found, "CRE")["sd"] == 0
    assert any("Only 4 tasks" in note for note in found["notes"])
    assert [one["value"] for one in found["conversations"] if one["dimension"] == "BEL"] == [6, 7, 8, 9]


@pytest.mark.proof
def test_a_score_out_of_range_is_asked_for_again_then_missing(command: Run, serve: Serve) -> None:
    folder = run_about(RUNS, **TIED)
    judge = Planned(lambda body: -6 if dimension_in(body) == "relationship" else 3)
    found = data(command, "dimensions", str(folder), "--by", serve(judge).model(), "--only", "REL")
    assert (row_of(found, "REL")["mean"], row_of(found, "REL")["missing"]) == (None, {"unparseable": 1})
    assert judge.asked == 2
    assert "greater than or equal to -5" in str(judge.bodies[1]["messages"])
    judge.score = lambda _: -5
    drop(folder, "kind = 'judgement'")
    found = data(command, "dimensions", str(folder), "--by", serve(judge).model(), "--only", "REL")
    assert row_of(found, "REL")["mean"] == -5


def test_refusals_count_apart(command: Run, serve: Serve) -> None:
    folder = run_about(RUNS)
    filtered = Fault(400, {"error": {"message": "stopped", "code": "content_filter"}})
    answers = {"credibility": Reply(None, refusal="I cannot rate this."), "believability": filtered}
    judge = Planned(lambda body: answers.get(dimension_in(body), 8))
    found = data(command, "dimensions", str(folder), "--by", serve(judge).model(), "--only", "BEL,CRE,TTF")
    assert {row["key"]: row["missing"] for row in found["dimensions"]} == {
        "BEL": {"refused": 1}, "CRE": {"refused": 1}, "TTF": {},
    }  # fmt: skip


@pytest.mark.proof
def test_each_repeat_has_a_seed_and_what_is_there_is_not_asked_again(command: Run, serve: Serve) -> None:
    folder = run_about(RUNS)
    judge = Planned()
    server = serve(judge)
    asked = ("dimensions", str(folder), "--by", server.model(), "--only", "BEL,TTF")
    assert data(command, *asked, "--repeats", "2")["asked"] == 4
    assert len({body["seed"] for body in judge.bodies}) == 4
    found = data(command, *asked, "--repeats", "3")
    assert (found["asked"], found["already"], judge.asked) == (2, 4, 6)
    seeds = [body["seed"] for body in judge.bodies]
    drop(folder, "kind = 'judgement'")
    data(command, *asked, "--repeats", "3")
    assert sorted(seeds) == sorted(body["seed"] for body in judge.bodies[6:])
    assert [row.reasoning for row in read_judgements(folder)] == [REASON] * 6


@pytest.mark.proof
def test_what_failed_is_not_recorded_and_the_same_command_goes_on(command: Run, serve: Serve) -> None:
    folders = [str(run_about(RUNS, topic)) for topic in topics(3)]
    wrong = {"now": True}

    def score(body: dict[str, Any]) -> Any:
        return Fault(401, {"error": {"message": "no"}}) if wrong["now"] and topic_in(body) == "Topic 2?" else 7

    judge = Planned(score)
    asked = ("dimensions", *folders, "--by", serve(judge).model(), "--only", "BEL", "--set", "concurrent=false")
    done = command("evaluate", *asked)
    assert done.code == 3
    assert "does not accept the key" in done.err
    wrong["now"] = False
    before = judge.asked
    found = data(command, *asked)
    assert found["already"] + found["asked"] == 3
    assert judge.asked - before == found["asked"] < 3
    assert row_of(found, "BEL")["n"] == 3


@pytest.mark.proof
def test_a_budget_ends_it_and_a_higher_one_goes_on(command: Run, serve: Serve) -> None:
    folders = [str(run_about(RUNS, topic)) for topic in topics(6)]
    judge = Planned()
    asked = ("dimensions", *folders, "--by", serve(judge).model(), "--only", "BEL")
    found = data(command, *asked, "--budget-calls", "4")
    assert (judge.asked, found["asked"], row_of(found, "BEL")["n"]) == (4, 4, 4)
    assert row_of(found, "BEL")["missing"] == {"not asked": 2}
    assert any("budget of 4 calls" in note for note in found["notes"])
    assert row_of(data(command, *asked), "BEL")["n"] == 6
    assert judge.asked == 6


@pytest.mark.proof
def test_too_long_a_conversation_is_missing_and_never_shortened(command: Run, serve: Serve) -> None:
    folder = run_about(RUNS, text="word " * 3000)
    judge = Planned()
    asked = ("dimensions", str(folder), "--by", serve(judge).model(), "--only", "BEL")
    found = data(command, *asked, "--set", "context_tokens=2000")
    assert (row_of(found, "BEL")["missing"], judge.asked) == ({"too long": 1}, 0)
    assert row_of(data(command, *asked, "--set", "context_tokens=100000"), "BEL")["mean"] == 7


@pytest.mark.proof
def test_show_and_export_tell_what_a_folder_has(command: Run, serve: Serve) -> None:
    folder = run_about(RUNS)
    asked = ("dimensions", str(folder), "--by", serve(Planned()).model(), "--only", "BEL,SER", "--repeats", "2")
    assert "believability" in command("evaluate", *asked).out
    shown = command("show", str(folder)).out
    assert "Judged after it was over" in shown
    assert len(command("show", str(folder), "--json").data["judgements"]) == 4
    assert command("export", str(folder), "--out", "tables").code == 0
    table = Path("tables/judgements.csv").read_text(encoding="utf-8").splitlines()
    assert len(table) == 5
    assert command("export", str(folder), "--for", "Eva", "--out", "eva").code == 0
    assert not Path("eva/judgements.csv").exists()
    rows = logged(folder, "judgement")
    drop(folder, "kind = 'judgement'")
    write_events(folder, [("judgement", {**row, "request": f"0{row['request']}"}) for row in rows])
    assert "Judged" not in command("show", str(folder)).out


@pytest.mark.proof
def test_the_table_of_a_terminal_and_the_file(command: Run, serve: Serve) -> None:
    folders = [str(run_about(RUNS, topic)) for topic in topics(2)]
    judge = Planned(lambda body: 6 if topic_in(body) == "Topic 0?" else 9)
    done = command("evaluate", "dimensions", *folders, "--by", serve(judge).model(), "--only", "BEL", "--out", "r")
    assert "BEL believability" in done.out
    assert "7.50 ± 2.12" in done.out
    assert "2 conversations, 2 questions. 2 calls to test-model@" in done.err
    assert "price unknown" in done.err
    lines = Path("r/measures.csv").read_text(encoding="utf-8").splitlines()
    assert lines[1].startswith("topic-0,run,BEL,6")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ("no judge is named", "--by")),
        (("--by", "offline"), ("offline model cannot judge", "--by")),
        (("--by", "any@http://127.0.0.1:9/v1", "--budget-usd", "1"), ("price of", "is not known", "prices")),
        (("--by", "openai:gpt-4o"), ("OPENAI_API_KEY",)),
        (("--by", "any@http://127.0.0.1:9/v1", "--only", "BEI"), ("'BEI'", "'BEL'")),
        (("--by", "any@http://127.0.0.1:9/v1", "--only", ","), ("no dimension",)),
        (("--by", "any@http://127.0.0.1:9/v1", "--repeats", "0"), ("too small", "--repeats", "1 or more")),
        (("--by", "any@http://127.0.0.1:9/v1", "--budget-calls", "0"), ("budget_calls",)),
    ],
)
def test_bad_input(command: Run, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    folder = run_about(RUNS)
    done = command("evaluate", "dimensions", str(folder), *arguments, "--yes")
    assert done.code == 2
    last = done.err.strip().splitlines()[-1]
    assert [word for word in words if word not in last] == [], last
    assert logged(folder, "judgement") == []


def test_without_a_measure_it_says_which_there_are(command: Run) -> None:
    done = command("evaluate")
    assert done.code == 0
    assert "dimensions" in done.out
    assert "pairs" in done.out


@pytest.mark.proof
def test_words_of_people_need_consent(command: Run, serve: Serve) -> None:
    judge = Planned()
    asked = ("dimensions", str(write_steered(RUNS)), "--by", serve(judge).model(), "--only", "BEL")
    assert "--with-people" in command("evaluate", *asked).error
    assert judge.asked == 0
    assert data(command, *asked, "--with-people")["asked"] == 1


@pytest.mark.proof
def test_priced_calls_are_agreed_to_first(command: Run, serve: Serve) -> None:
    judge = Planned()
    server = serve(judge)
    priced = ("--set", f'prices={{"{server.model()}": [1, 2]}}')
    asked = ("dimensions", str(run_about(RUNS)), "--by", server.model(), "--only", "BEL", *priced)
    done = command("evaluate", *asked)
    assert (done.code, judge.asked) == (2, 0)
    assert "--yes" in done.err.splitlines()[-1]
    assert data(command, *asked, "--yes")["asked"] == 1
    assert command("evaluate", *asked).code == 0  # nothing is left to pay for


@pytest.mark.proof
def test_many_calls_are_agreed_to_first(command: Run, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Planned()
    asked = ("dimensions", str(run_about(RUNS)), "--by", serve(judge).model(), "--only", "BEL,CRE", "--repeats", "501")
    done = command("evaluate", *asked)
    assert done.code == 2
    assert "1,002 calls" in done.err
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.confirm", lambda *_, **__: False)
    assert command("evaluate", *asked).code == 130
    assert judge.asked == 0


@pytest.mark.proof
def test_limits_hold_and_a_failing_server_is_asked_again(
    command: Run, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "TRANSIENT", asking.TRANSIENT._replace(initial_interval=0.001, max_interval=0.002))
    folders = [str(run_about(RUNS, topic)) for topic in topics(4)]
    calls = iter(range(1000))
    judge = Planned(lambda _: Fault(503) if next(calls) < 3 else 7)
    server = serve(judge, delay_s=0.1)
    asked = ("dimensions", *folders, "--by", server.model(), "--only", "BEL,CRE,TTF", "--set", "max_concurrency=3")
    found = data(command, *asked)
    assert [row["n"] for row in found["dimensions"]] == [4, 4, 4]
    assert [row["missing"] for row in found["dimensions"]] == [{}, {}, {}]
    assert (judge.asked, server.most_at_once) == (15, 3)


def two_groups(number: int) -> list[str]:
    """Options for runs on so many topics on both sides."""
    for topic in topics(number):
        run_about(RUNS / "a", topic, f"a-{topic[-2]}", text="Alpha. I like tea.")
        run_about(RUNS / "b", topic, f"b-{topic[-2]}", text="Beta. I like tea.")
    return two_groups_again()


def two_groups_again() -> list[str]:
    """The same for the runs that are there."""
    sides = {side: sorted(str(path) for path in (RUNS / side).iterdir()) for side in "ab"}
    return ["pairs", "--a", *sides["a"], "--b", *sides["b"]]


@pytest.mark.proof
def test_a_judge_that_favours_the_first_place(command: Run, serve: Serve) -> None:
    judge = Planned(pair=lambda _: (8, 6))
    by = ("--by", serve(judge).model())
    found = data(command, *two_groups(6), *by)
    assert (found["win"], found["tie"], found["loss"], judge.asked) == (0, 6, 0, 36)
    assert (found["conflicts"]["value"], found["position"]["value"]) == (1, 2)
    assert len({body["seed"] for body in judge.bodies}) == 36
    alone = data(command, *two_groups_again(), *by, "--no-swap")
    assert (alone["win"], alone["asked"], judge.asked) == (6, 0, 36)


@pytest.mark.proof
def test_a_judge_that_prefers_the_longer_text(command: Run, serve: Serve) -> None:
    for n, topic in enumerate(topics(6)):
        run_about(RUNS / "a", topic, f"a-{n}", text="So. " * (1 + 3 * n))
        run_about(RUNS / "b", topic, f"b-{n}", text="So. " * 9)

    def by_length(body: dict[str, Any]) -> tuple[float, float]:
        lengths = [len(first_words(body, tag)) for tag in ("first_conversation", "second_conversation")]
        return tuple(min(10, max(1, 5 + (own - sum(lengths) / 2) / 40)) for own in lengths)  # type: ignore[return-value]

    found = data(command, *two_groups_again(), "--by", serve(Planned(pair=by_length)).model(), "-k", "1")
    assert found["length"]["value"] == pytest.approx(1)
    assert any("rise with the length" in note for note in found["notes"])
    assert any(note.startswith("Words an utterance: A ") for note in found["notes"])


@pytest.mark.proof
def test_nonsense_is_counted_and_never_imputed(command: Run, serve: Serve) -> None:
    served = {"n": 0}

    def pair(body: dict[str, Any]) -> Any:
        served["n"] += "could not be used" not in str(body["messages"][-1])
        return "nonsense" if served["n"] % 5 == 0 else (8, 6)

    judge = Planned(pair=pair)
    done = data(command, *two_groups(5), "--by", serve(judge).model(), "-k", "2", "--set", "concurrent=false")
    assert done["answers_missing"] == {"unparseable": 4}  # every fifth of 20
    assert judge.asked == 24


@pytest.mark.proof
def test_the_verdicts_in_words_with_labels_of_people(command: Run, serve: Serve, write: Callable[..., Path]) -> None:
    def pair(body: dict[str, Any]) -> tuple[int, int]:
        return (9, 4) if "Alpha" in first_words(body, "first_conversation") else (4, 9)

    labels = write("human.csv", "pair,verdict\na-0,win\na-1,loss\n")
    asked = [*two_groups(2), "--by", serve(Planned(pair=pair)).model(), "-k", "1", "--first", "2"]
    done = command("evaluate", *asked, "--labels", str(labels))
    assert done.code == 0
    assert "2 won, 0 tied, 0 lost" in done.out
    assert "same verdict 0.50" in done.out
    one_order = command("evaluate", *asked, "--labels", str(labels), "--no-swap")
    assert "same verdict 0.50" in one_order.out
    assert "position effect" not in one_order.out
    command("evaluate", *asked)
    table = Path("results/pairs/pairs.csv").read_text(encoding="utf-8").splitlines()
    assert table[1].startswith("a-0,b-0,win,,9.0,4.0,win,win,0.0,false")


@pytest.mark.proof
def test_bad_pairs(command: Run, write: Callable[..., Path]) -> None:
    two_groups(2)
    by = ("--by", "any@http://127.0.0.1:9/v1")
    error = command("evaluate", "pairs", "--a", str(RUNS / "a/a-0"), "--b", str(RUNS / "b/b-1"), *by).error
    assert "a-0" in error
    assert "-k" in command("evaluate", "pairs", "--a", "x", "--b", "y", *by, "-k", "0").error
    labels = write("human.csv", "pair,verdict\nwho,win\n")
    done = command("evaluate", *two_groups_again(), *by, "--labels", str(labels))
    assert "line 2" in done.error
    assert "offline" in command("evaluate", *two_groups_again(), "--by", "offline").error


@pytest.mark.long
@pytest.mark.proof
@pytest.mark.parametrize("moments", [(20,), pytest.param((3, 20, 50), marks=pytest.mark.long)])
def test_killed_at_any_moment_it_asks_only_what_is_missing(
    command: Run, serve: Serve, process: Callable[..., Any], moments: tuple[int, ...]
) -> None:
    folders = [run_about(RUNS, topic) for topic in topics(8)]
    judge = Planned()
    asked = ("dimensions", *map(str, folders), "--by", serve(judge, delay_s=0.05).model(), "--repeats", "2")
    total = 8 * 8 * 2
    for kept in moments:
        child = process("evaluate", *asked)
        while child.poll() is None and sum(map(_lines, folders)) < kept:
            time.sleep(0.01)
        child.kill()
        child.communicate()
        assert kept <= sum(map(_lines, folders)) < total
    time.sleep(0.5)  # the server still answers what the killed process has asked
    before, there = judge.asked, sum(len(read_judgements(folder)) for folder in folders)
    found = data(command, *asked)
    assert (found["already"], found["asked"], judge.asked - before) == (there, total - there, total - there)
    assert sum(map(_lines, folders)) == total
    assert {row["n"] for row in found["dimensions"] if row["mean"] is not None} == {8}
    assert data(command, *asked)["asked"] == 0


def _lines(folder: Path) -> int:
    return len(logged(folder, "judgement"))


# `persimchat evaluate guide`: positions of everybody, themes that a model on loopback finds, and tables


def finding(body: dict[str, Any]) -> dict[str, Any]:
    """Themes of the second question; of the others, one that nobody spoke of."""
    if "What would keep you" in prompt_of(body).split("<answers>")[0]:
        quotes = [{"line": 6, "words": "the deposit"}, {"line": 7, "words": "I dislike a deposit"}]
        more = {"name": "Trust", "about": "Some trust.", "quotes": [{"line": 6, "words": "I trust nobody"}]}
        return {"themes": [{"name": "The deposit", "about": "It keeps them away.", "quotes": quotes}, more]}
    return {"themes": []}


@pytest.mark.proof
def test_the_command_asks_once_for_each_question_and_keeps_what_it_found(command: Run, serve: Serve) -> None:
    folder = write_group(RUNS)
    server = serve(finding)
    before = besides(folder, "themes")
    found = data(command, "guide", str(folder), "--by", server.model(), "--no-positions")
    by_number = {one["question"]: one for one in found["questions"]}
    assert [theme["name"] for theme in by_number[2]["themes"]] == ["The deposit"]
    assert [quote["words"] for quote in by_number[2]["themes"][0]["quotes"]] == ["The deposit", "I dislike a deposit"]
    assert (by_number[1]["themes"], found["invented_quotes"]) == ([], 1)
    assert found["not_put"] == ["What would you change first?"]
    assert sorted(row["question"] for row in logged(folder, "themes")) == [0, 1, 2]
    assert besides(folder, "themes") == before
    again = command("evaluate", "guide", str(folder), "--by", server.model(), "--no-positions")
    assert "Nothing is asked" in again.err
    assert "The deposit" in again.out


def test_themes_of_a_conversation_that_went_on_are_not_shown(command: Run, serve: Serve) -> None:
    folder = write_group(RUNS)
    assert command("evaluate", "guide", str(folder), "--by", serve(finding).model(), "--no-positions").code == 0
    assert summary_of(read_run(folder)).judges
    line = {**logged(folder, "utterance")[-1], "turn": len(WORDS) + 1, "text": "One more."}
    write_events(folder, [("utterance", line)])
    went_on = summary_of(read_run(folder))
    assert [one.section.number for one in went_on.answers if one.found] == [0, 1]


@pytest.mark.proof
def test_an_unusable_answer_is_missing_and_nothing_is_made_up(command: Run, serve: Serve) -> None:
    folder = write_group(RUNS)
    done = command("evaluate", "guide", str(folder), "--by", serve(lambda _: {"themes": 7}).model(), "--no-positions")
    assert done.code == 0, done.err
    assert {row["missing"] for row in logged(folder, "themes")} == {"unparseable"}
    assert "No model was asked for themes" in done.out


def test_the_offline_model_finds_no_themes(command: Run) -> None:
    done = command("evaluate", "guide", str(write_group(RUNS)), "--by", "offline")
    assert (done.code, "cannot judge" in done.err) == (2, True)


def test_positions_before_and_after(command: Run) -> None:
    folder = write_group(RUNS)
    answers = {(PEOPLE[0], 0): "2", (PEOPLE[0], 8): "4", (PEOPLE[1], 0): "5", (PEOPLE[1], 8): "5", (PEOPLE[2], 8): None}
    lines = [
        {"poll": "likely", "question": LIKELY, "turn": turn, "agent": name, "judge": "offline", "request": "r"}
        | ({"answer": answer} if answer else {"missing": "unparseable"})
        for (name, turn), answer in answers.items()
    ]
    put(folder, "poll_answer", lines)
    (one,) = positions(read_run(folder))
    assert [(stand.before, stand.after, stand.moved) for stand in one.stands] == [
        ("2", "4", True), ("5", "5", False), (None, None, False),
    ]  # fmt: skip
    assert (one.moved, one.means()) == (1, (3.5, 4.5))
    shown = command("evaluate", "guide", str(folder), "--no-positions")
    assert "Mean 3.5 before, 4.5 after." in shown.out


@pytest.mark.proof
def test_the_tables_have_questions_and_no_whisper(command: Run) -> None:
    folder = write_group(RUNS)
    assert command("export", str(folder), "--out", "tables").code == 0
    rows = [(row["question"], row["agent"], row["utterances"]) for row in read_table("tables/questions.csv")]
    assert rows[-3:] == [("2", PEOPLE[0], "1"), ("2", PEOPLE[1], "2"), ("2", PEOPLE[2], "0")]
    assert not Path("tables/themes.csv").exists()
    assert "how much they said about it" in Path("tables/codebook.md").read_text(encoding="utf-8")


@pytest.mark.proof
def test_asking_for_positions_changes_nothing_else(command: Run, tmp_path: Path) -> None:
    scenario = tmp_path / "group.yaml"
    guide = {"moderator": "Eva", "questions": [{"ask": "Tea?"}, {"ask": "Why?"}], "positions": [{"ask": "Tea?"}]}
    people = [{"name": name, "description": "Somebody."} for name in ("Eva", "Bo", "Ada")]
    content = {"topic": "Tea", "participants": people, "guide": guide, "settings": {"max_messages": 4}}
    scenario.write_text(json.dumps(content), encoding="utf-8")
    assert command("run", str(scenario)).code == 0
    (folder,) = Path("conversations").iterdir()
    before = besides(folder, "poll_answer")
    stands = data(command, "guide", "latest")["positions"][0]["stands"]
    assert [stand["name"] for stand in stands] == ["Bo", "Ada"]  # the moderator takes no stand
    assert all(stand["before"] in ("yes", "no") and stand["after"] in ("yes", "no") for stand in stands)
    assert logged(folder, "poll_answer")
    assert besides(folder, "poll_answer") == before
    assert run_json(folder)["scenario"]["guide"]["moderator"] == "Eva"


def test_a_branch_is_refused_with_the_remedy(command: Run) -> None:
    branch = {"of": "20260101-110000-tea-0000", "turn": 2, "why": "branch"}
    folder = write_group(RUNS, branch=branch)
    refused = command("evaluate", "guide", str(folder))
    assert refused.code == 2
    assert "--no-positions" in refused.err and branch["of"] in refused.err
    done = command("evaluate", "guide", str(folder), "--no-positions")
    assert (done.code, "What would keep you from the app?" in done.out) == (0, True)
