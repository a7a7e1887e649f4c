"""Commands that look at runs: show, diff, export, and the forms of output."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fixtures import Run, Serve
from loopback.scripted import Scripted
from pydantic import TypeAdapter
from run_files import logged, read_table, run_json
from run_folders import (
    HOSTILE,
    MARKER,
    PEOPLE,
    mind,
    put,
    set_format,
    utterance,
    write_debate,
    write_run,
    write_steered,
)

from persimchat.runs.events import Event

# `persimchat show`: what it prints, which run it takes, what it refuses


Plain = Callable[[str], str]


def rows(text: str, heading: str) -> list[list[str]]:
    """The rows of the table of this heading, cells apart."""
    lines = text.split("\n")
    start = lines.index(heading) + 2
    end = next(n for n in range(start, len(lines) + 1) if n == len(lines) or not lines[n].strip())
    return [re.split(r" {2,}", line.strip()) for line in lines[start:end]]


@pytest.mark.proof
def test_a_run_from_beginning_to_end(command: Run, tmp_path: Path) -> None:
    given = ("-n", "3", "--messages", "4", "--set", "closing=off", "--model", "offline")
    done = command("run", "Tea or coffee?", *given, "--quiet")
    folder = Path(done.out.strip())
    shown = command("show", str(folder))
    assert shown.code == 0
    assert shown.err == ""
    assert shown.out.startswith("Tea or coffee?\n")
    assert "the message limit was reached, after 4 messages" in shown.out
    assert sum(int(row[1]) for row in rows(shown.out, "Messages")) == 4
    assert command("show", "latest", "--html").out == f"{folder / 'report.html'}\n"
    assert "Tea or coffee?" in (folder / "report.html").read_text(encoding="utf-8")
    assert command("show", "latest", "--html", "--force", "--language", "de").code == 0
    assert '<html lang="de">' in (folder / "report.html").read_text(encoding="utf-8")


def test_what_is_said_of_each_agent(command: Run, out: Path) -> None:
    eva, bo, _ = PEOPLE
    said = [
        utterance(1, eva, "One two three.", response_time_s=1.0),
        utterance(2, bo, "Yes."),
        utterance(3, eva, "Four five", response_time_s=3.0, tokens={"input": 1, "output": 4}),
    ]
    minds = [mind(turn, eva, need_to_talk=turn, openness=2 + turn) for turn in range(4)]
    write_run(out, said, minds)
    text = command("show", "latest").out
    assert rows(text, "Messages")[0] == [eva, "2", "3.00 s", "2.00 s", "↑ +2.00 s", "2", "4", "2.5"]
    assert rows(text, "Messages")[1] == [bo, "1", "1.00 s", "1.00 s", "–", "1", "7", "1.0"]
    assert rows(text, "Minds") == [[eva, "1.5", "2 → 5", ":) happiness 1"]]
    assert f"most active    {eva} (2 messages)" in text
    assert "Trend: the slope of the least-squares line" in text


def test_a_debate(command: Run, out: Path) -> None:
    write_debate(out, 9)
    text = command("show", "latest").out
    for expected in (
        "debate, need to talk, offline, seed 7",
        "consensus was reached, after 9 messages (source: judge)",
        "Tea at four, coffee at eight.",
        f"3 of 3: {PEOPLE[0]}, {PEOPLE[1]} and {PEOPLE[2]}; so says: judge",
        "All of them came round.",
        "9 of 9 messages",
        "corrected wording  repetition 1",
    ):
        assert expected in text, expected
    verdicts = rows(text, "Verdicts")
    assert [row[0] for row in verdicts] == [str(turn) for turn in range(3, 10)]
    assert verdicts[-1][1] == "consensus"
    assert verdicts[-1][3:] == ["3 of 3", "Tea at four"]
    assert verdicts[-3][1] == "overruled"
    assert len(rows(text, "Analysis, 0 to 10: average, last, trend")) == 3


def test_json_is_one_object(command: Run, out: Path) -> None:
    folder = write_debate(out, 5)
    done = command("show", "latest", "--json")
    summary = json.loads(done.out)
    assert summary["version"] == 1
    assert summary["folder"] == str(folder.relative_to(out.parent))
    assert summary["conclusion"]["consensus"] is True
    assert [agent["name"] for agent in summary["agents"]] == list(PEOPLE)
    assert summary["agents"][0]["speech"]["response_time_s"].keys() == {"last", "mean", "trend"}
    assert len(summary["verdicts"]) == 3


def test_an_interrupted_run(command: Run, out: Path) -> None:
    write_run(out, stop_reason=None, ended=None, usage={})
    done = command("show", "latest")
    assert done.code == 0
    assert "no ending is recorded (it is still running, or was killed), after 3 messages" in done.out
    assert "Tokens" not in done.out


def test_a_baseline(command: Run, out: Path) -> None:
    said = [utterance(n, PEOPLE[n - 1], need_to_talk={}, emotion={}, answer=a) for n, a in ((1, "yes"), (2, "no"))]
    write_run(out, said, [], settings={"mode": "debate", "baseline": "mad", "max_messages": 60})
    text = command("show", "latest").out
    assert "debate, baseline mad" in text
    assert rows(text, "Minds") == [[PEOPLE[0], "–", "–", "yes"], [PEOPLE[1], "–", "–", "no"]]


# Which run


@pytest.mark.proof
def test_a_run_is_found_by_path_id_prefix_and_as_the_latest(command: Run, out: Path) -> None:
    write_run(out, run="20260102-tea", started="2026-01-02T00:00:00+00:00")
    write_run(out, run="named-by-hand", started="2026-03-01T00:00:00+00:00")
    write_run(out, run="20260203-ale", started="2026-02-03T00:00:00+00:00")
    (out / "no-run").mkdir()
    broken = out / "zzz"
    broken.mkdir()
    (broken / "run.sqlite").write_text("{")

    def found(*arguments: str) -> str:
        done = command("show", *arguments, "--json")
        assert done.code == 0, done.err
        run = json.loads(done.out)["run"]
        assert isinstance(run, str)
        return run

    assert found("conversations/20260102-tea") == "20260102-tea"
    assert found("20260102-tea") == found("202601") == "20260102-tea"
    assert found("latest") == "named-by-hand"
    assert found("named", "--out", str(out)) == "named-by-hand"


def test_an_id_goes_before_those_that_begin_with_it(command: Run, out: Path) -> None:
    write_run(out, run="tea")
    write_run(out, run="tea-2")
    assert json.loads(command("show", "tea", "--json").out)["run"] == "tea"


def test_an_ambiguous_beginning(command: Run, out: Path) -> None:
    for n in range(5):
        write_run(out, run=f"2026-{n}")
    done = command("show", "2026")
    assert done.code == 2
    assert "2026-0, 2026-1, 2026-2 and 2 more" in done.error
    assert "Write more of the id." in done.error


@pytest.mark.parametrize("wanted", ["2026-tee", "", " ", "..x", "\x1b[2J", "x" * 5000])
def test_no_such_run(command: Run, out: Path, wanted: str) -> None:
    write_run(out, run="2026-tea")
    done = command("show", wanted)
    assert done.code == 2
    assert "there is no run" in done.error
    assert "\x1b" not in done.error
    assert len(done.error) < 400
    if wanted == "2026-tee":
        assert "Did you mean '2026-tea'?" in done.error


def test_no_runs_at_all(command: Run) -> None:
    done = command("show", "latest")
    assert done.code == 2
    assert "persimchat run" in done.error


def test_a_folder_that_is_no_run(command: Run, tmp_path: Path) -> None:
    done = command("show", str(tmp_path))
    assert done.code == 2
    assert "it has no run.sqlite" in done.error


def test_another_version_of_the_folder(command: Run, out: Path) -> None:
    set_format(write_run(out), 99)
    done = command("show", "latest")
    assert done.code == 2
    assert "format 99" in done.error


# The report's file


@pytest.mark.proof
def test_the_report_goes_where_it_is_wanted(command: Run, out: Path, tmp_path: Path) -> None:
    write_run(out)
    assert command("show", "latest", "--html", "r.html").out == "r.html\n"
    again = command("show", "latest", "r.html", "--html")
    assert again.code == 2
    assert "the file exists already (r.html)" in again.error
    assert command("show", "latest", "--html", "r.html", "--force").code == 0
    assert list(tmp_path.glob("*.partial")) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("r.html",), "Add --html"),
        (("--force",), "Add --html"),
        (("--language", "de"), "Add --html"),
        (("--html", "--language", "fr"), "Choose one of: en, cs, de."),
        (("--html", "--json"), "contradict"),
        (("--html", "no/where.html"), "no/where.html"),
    ],
)
def test_a_command_line_that_makes_no_sense(command: Run, out: Path, arguments: tuple[str, ...], said: str) -> None:
    write_run(out)
    done = command("show", "latest", *arguments)
    assert done.code == 2
    assert said in done.error
    assert done.out == ""


# Runs that people steered and joined


@pytest.mark.proof
def test_people_whispers_and_silences_are_said(command: Run, out: Path) -> None:
    eva, bo, li = PEOPLE
    write_steered(out)
    text = command("show", "latest").out
    for words in (
        f"{eva}, {bo} and {li} (person)",
        "a branch of tea-0000 at turn 1 (branch); changed: say",
        "resumed at turn 3 (changed: note xylophone)",
        "the budget was used up, after 6 messages",
        "1 line of the moderator, 1 raised hand, 1 answer, 1 new topic, 1 time the floor was given, 1 wave",
        f"{eva}: 1 turn, {li}: 1 turn",
        "whispers           2 utterances",
    ):
        assert words in text, words
    assert [row[0] for row in rows(text, "Minds")] == [eva, bo]
    messages = {row[0]: row[1:4] for row in rows(text, "Messages")}
    assert messages["Moderator"] == ["2", "–", "–"]
    assert messages[li] == ["1", "–", "–"]
    summary = json.loads(command("show", "latest", "--json").out)
    assert (summary["people"], summary["whispers"], summary["branch"]["of"]) == ([li], 2, "tea-0000")
    assert (summary["silences"], len(summary["resumed"])) == ({eva: 1, li: 1}, 1)
    assert summary["total"]["response_time_s"]["mean"] == 1.0


# Where it is shown


@pytest.mark.proof
def test_on_a_terminal_of_eighty_columns(terminal: Callable[..., tuple[int, str]], out: Path, plain: Plain) -> None:
    write_debate(out, 9)
    code, said = terminal("show", "latest", columns=80)
    lines = plain(said).split("\n")
    assert code == 0
    assert max(map(len, lines)) <= 80
    assert any(re.search(r"Eva Horáková +\d", line) for line in lines)


@pytest.mark.proof
def test_on_a_terminal_too_narrow_for_the_tables_no_name_and_no_figure_is_lost(
    terminal: Callable[..., tuple[int, str]], command: Run, out: Path, plain: Plain
) -> None:
    write_debate(out, 9)
    agents = rows(command("show", "latest").out, "Messages")
    _, said = terminal("show", "latest", columns=40)
    lines = [line.rstrip() for line in plain(said).replace("\r", "").split("\n")]
    assert max(map(len, lines)) <= 40
    assert len(agents) == 3
    for name, *figures in agents:
        at = lines.index(name)
        listed = [re.split(r" {2,}", line.strip(), maxsplit=1) for line in lines[at + 1 : at + 1 + len(figures)]]
        assert [figure for _, figure in listed] == figures
        assert [label for label, _ in listed][:3] == ["sent", "last response", "average response"]
    assert "after utterance 9" in lines


def test_hostile_text_is_no_markup_and_steers_nothing(command: Run, out: Path) -> None:
    said = [utterance(1, f"[red]{HOSTILE}[/red]", HOSTILE)]
    write_run(out, said, [], scenario={"topic": f"[bold]{HOSTILE}", "participants": [{"name": "A\n\nMessages"}]})
    text = command("show", "latest").out
    assert "[bold]</script>" in text
    assert "[red]</script>" in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert text.split("\n").count("Messages") == 1


@pytest.mark.proof
def test_without_unicode_its_own_signs_are_plain(finished: Run, out: Path) -> None:
    write_run(out, [utterance(n, "Eva", response_time_s=float(n)) for n in (1, 2)], [])
    done = finished("show", "latest", env={"PYTHONIOENCODING": "ascii"})
    assert done.code == 0
    assert "^ +1.00 s" in done.out


@pytest.mark.proof
def test_the_same_run_gives_the_same_bytes(finished: Run, out: Path) -> None:
    write_debate(out, 9)
    assert finished("show", "latest").out == finished("show", "latest").out != ""


# `persimchat diff`: what it prints, and what it refuses


@pytest.mark.long
@pytest.mark.proof
def test_two_seeds_of_one_conversation(command: Run, out: Path) -> None:
    for seed in ("1", "2", "1"):
        given = ("-n", "3", "--messages", "3", "--seed", seed, "--model", "offline", "--quiet")
        assert command("run", "Tea or coffee?", *given).code == 0
    runs = {}
    for folder in out.iterdir():
        runs.setdefault(run_json(folder)["seed"], []).append(folder.name)
    same = command("diff", *runs[1])
    assert (same.code, same.err) == (0, "")
    assert "The two runs are equal" in same.out
    other = command("diff", runs[1][0], runs[2][0])
    assert other.code == 0
    assert "they part at  utterance 1: " in other.out
    assert "Setup\nwhat  in a  in b\nseed  1     2\n" in other.out


def test_what_people_did_is_in_words(command: Run, out: Path) -> None:
    write_run(out, [utterance(1, PEOPLE[0])], [], run="one")
    other = write_run(out, [utterance(1, PEOPLE[0], "Wine.")], [], run="two")
    deeds: list[dict[str, Any]] = [
        {"do": "say", "text": "Order!", "speaker": "", "heard_by": None},
        {"do": "say", "text": "No.", "speaker": "Bo", "heard_by": ["Eva", "Jan"]},
        {"do": "topic", "topic": "Wine"},
        {"do": "hand", "agent": "Petr", "raised": True},
        {"do": "hand", "agent": "Petr", "raised": False},
        {"do": "floor", "agent": "Eva", "avoid": ["Tea."]},
        {"do": "answer", "agent": "Petr", "what": "utterance", "passes": True},
        {"do": "answer", "agent": "Petr", "what": "need_to_talk", "need_to_talk": 7},
        {"do": "answer", "agent": "Petr", "what": "utterance", "text": "Yes."},
        {"do": "dance", "with": "Eva"},
    ]
    put(other, "intervention", ({"turn": 0, **deed} for deed in deeds))
    said = command("diff", "one", "two").out.splitlines()
    assert [line.removeprefix("people in b").strip() for line in said if line.startswith("people in b")] == [
        'the moderator said "Order!"',
        'Bo was given the words "No.", for Eva, Jan only',
        "new topic: Wine",
        "Petr raised a hand",
        "Petr lowered a hand",
        "the floor was given to Eva",
        "Petr passed",
        "Petr gave a need to talk of 7",
        'Petr answered "Yes."',
        "dance: with Eva",
    ]


def test_as_json(command: Run, out: Path) -> None:
    write_run(out, run="one")
    write_steered(out, run="two", branch={"of": "one", "turn": 1, "why": "branch", "changed": {}})
    found = json.loads(command("diff", "one", "two", "--json").out)
    assert (found["a"], found["b"], found["shared"], found["parting"]["turn"]) == ("one", "two", 0, 1)
    assert found["lineage"] == ["b is a branch of a at turn 1"]


@pytest.mark.proof
def test_on_a_terminal_of_forty_columns(terminal: Callable[..., tuple[int, str]], out: Path, plain: Plain) -> None:
    write_debate(out, 9, run="one")
    write_steered(out, run="two")
    code, said = terminal("diff", "one", "two", columns=40)
    assert code == 0
    lines = [line.rstrip() for line in plain(said).replace("\r", "").split("\n")]
    assert max(map(len, lines)) <= 40
    assert [name for name in PEOPLE if not any(name in line for line in lines)] == []


def test_hostile_text_steers_nothing(command: Run, out: Path) -> None:
    write_run(out, [utterance(1, HOSTILE, HOSTILE)], [], run="one", scenario={"topic": HOSTILE, "participants": []})
    write_run(out, [utterance(1, "[red]B", f"[bold]{HOSTILE}")], [], run="two", settings={HOSTILE: HOSTILE})
    done = command("diff", "one", "two")
    assert done.code == 0
    assert not {"\x1b", "\u202e"} & set(done.out)
    assert "[red]B: [bold]</script>" in done.out


@pytest.mark.parametrize("arguments", [("one",), ("one", "none"), ("one", "broken")])
def test_bad_input_is_one_line(command: Run, out: Path, arguments: tuple[str, ...]) -> None:
    write_run(out, run="one")
    broken = write_run(out, run="broken")
    put(broken, "mind", [{"turn": 5}])
    done = command("diff", *arguments)
    assert done.code == 2
    assert done.out == ""
    assert done.error


@pytest.mark.proof
def test_without_unicode_a_comparison_is_plain(finished: Run, out: Path) -> None:
    write_run(out, run="one")
    write_run(out, [utterance(1, PEOPLE[0], "Tea!")], [], run="two")
    assert finished("diff", "one", "two", env={"PYTHONIOENCODING": "ascii"}).code == 0


# `persimchat export`: which runs, where to, what it refuses


@pytest.mark.long
@pytest.mark.proof
def test_from_conversation_to_table(command: Run, out: Path) -> None:
    for seed in ("1", "2"):
        done = command(
            "run", "Tea or coffee?", "-n", "3", "--messages", "3", "--seed", seed, "--model", "offline", "--quiet"
        )
        assert done.code == 0, done.err
    done = command("export", *(str(path) for path in sorted(out.iterdir())), "--format", "csv", "--out", "tables")
    assert (done.code, done.err) == (0, "")
    assert "tables/utterances.csv  6 rows\n" in done.out
    assert done.out.endswith("tables/codebook.md\n")
    assert {row["seed"] for row in read_table("tables/utterances.csv")} == {"1", "2"}


@pytest.mark.proof
def test_runs_are_found_as_everywhere(command: Run, out: Path) -> None:
    write_run(out, run="20260101-tea")
    write_debate(out, 3, run="20260202-ale", started="2026-03-01T00:00:00+00:00")
    assert command("export", "20260101", "latest").code == 0
    assert sorted(path.name for path in Path("export").iterdir())[0] == "calls.csv"
    assert command("export", "20260101", "--runs", str(out), "--out", "b", "--format", "jsonl").code == 0
    assert len(Path("b/utterances.jsonl").read_text(encoding="utf-8").splitlines()) == 3


@pytest.mark.proof
def test_what_is_missing_is_said(command: Run, out: Path) -> None:
    write_run(out, stop_reason=None, ended=None, usage={})
    done = command("export", "latest")
    assert done.code == 0
    assert "No ending is recorded" in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nobody",), "there is no run"),
        (("latest", "latest"), "given twice"),
        (("latest", "--bom", "--format", "md"), "--bom needs --format csv"),
        (("latest", "--format", "ods"), "ods"),
        ((), "RUN"),
        (("latest", "--out", "file"), "Choose a folder with --out"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    command: Run, out: Path, arguments: tuple[str, ...], said: str
) -> None:
    write_run(out)
    Path("file").write_text("")
    done = command("export", *arguments)
    assert done.code == 2
    assert said in done.error
    assert sorted(path.name for path in Path().iterdir()) == ["conversations", "file"]


@pytest.mark.proof
def test_tables_that_are_there_stay(command: Run, out: Path) -> None:
    write_run(out)
    assert command("export", "latest").code == 0
    again = command("export", "latest")
    assert again.code == 2
    assert "--force" in again.error
    assert command("export", "latest", "--force", "--bom").code == 0
    assert Path("export/minds.csv").read_bytes().startswith(b"\xef\xbb\xbfrun,")


@pytest.mark.proof
def test_for_one_participants_eyes(command: Run, out: Path) -> None:
    write_steered(out)
    done = command("export", "latest", "--for", "Eva", "--format", "md")
    assert (done.code, done.err) == (0, "")
    names = ["codebook.md", "interventions.md", "memories.md", "minds.md", "runs.md", "utterances.md"]
    assert sorted(path.name for path in Path("export").iterdir()) == names
    assert [path for path in Path("export").iterdir() if MARKER in path.read_text(encoding="utf-8")] == []
    assert "only what Eva may have seen" in Path("export/codebook.md").read_text(encoding="utf-8").replace("\n", " ")
    refused = command("export", "latest", "--for", "Moderator", "--out", "b")
    assert refused.code == 2
    assert "there is no participant 'Moderator'" in refused.error


# What `persimchat run` writes to standard output, in each of its forms, and what it leaves on disk


EVENT: TypeAdapter[Any] = TypeAdapter(Event)


@pytest.mark.proof
def test_json_is_events_and_nothing_else(finished: Run, serve: Serve, only_run: Callable[[Path], Path], tmp_path: Path):
    done = finished("run", "Tea?", "-n", "3", "--messages", "2", "--model", serve().model(), "--out", "o", "--json")
    assert (done.code, done.err) == (0, "")
    events = [EVENT.validate_json(line) for line in done.out.split("\n")[:-1]]
    kinds = [event.event for event in events]
    assert kinds[0] == "started"
    assert kinds[-1] == "stopped"
    assert [kinds.count(kind) for kind in ("speaking", "utterance", "turn_ended", "mind")] == [2, 2, 2, 9]
    assert events[-1].reason == "message_limit"
    run = only_run(tmp_path / "o")
    assert Path(events[-1].folder) == Path("o") / run.name
    spoken = logged(run, "utterance")
    assert [s["text"] for s in spoken] == [e.text for e in events if e.event == "utterance"]


@pytest.mark.long
@pytest.mark.proof
def test_json_survives_an_ascii_terminal_and_odd_characters(finished: Run, serve: Serve):
    server = serve(Scripted(utterance="Čaj\u2028and\x9b2J coffee – 陳."))
    arguments = ("run", "Čaj?", "-n", "2", "--messages", "1", "--model", server.model(), "--json")
    for encoding in ("ascii", "utf-8"):
        done = finished(*arguments, env={"PYTHONIOENCODING": encoding})
        assert done.code == 0, done.err
        events = [EVENT.validate_json(line) for line in done.out.splitlines()]
        assert events[0].topic == "Čaj?"
        assert next(e.text for e in events if e.event == "utterance").endswith("coffee – 陳.")


@pytest.mark.proof
def test_piped_output_is_plain_lines(command: Run, serve: Serve):
    done = command("run", "Tea?", "-n", "3", "--messages", "2", "--model", serve().model())
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "# Topic: Tea?"
    assert lines[1].startswith("# Participants: Jarmila Dvořáčková, ")
    spoken = [line for line in lines if line and not line.startswith("#")]
    assert len(spoken) == 2
    assert all(": " in line for line in spoken)
    assert "\x1b" not in done.out
    assert "# Ended: the message limit was reached, after 2 messages." in lines
    assert lines[-1].startswith("# Run: conversations/")


@pytest.mark.proof
def test_an_utterance_of_many_lines_is_one_line(command: Run, serve: Serve):
    server = serve(Scripted(utterance="One.\n\nTwo.\x1b[2J\nThree [red]as it is[/red]."))
    done = command("run", "Tea?", "-n", "2", "--messages", "1", "--model", server.model())
    assert "One. Two. Three [red]as it is[/red].\n" in done.out


@pytest.mark.proof
def test_colours_stay_away_from_pipes(finished: Run, serve: Serve):
    arguments = ("run", "Tea?", "-n", "2", "--messages", "1", "--model", serve().model())
    assert "\x1b" not in finished(*arguments, env={"FORCE_COLOR": "1", "TERM": "xterm-256color"}).out


@pytest.mark.long
@pytest.mark.proof
def test_an_ascii_terminal_gets_question_marks(finished: Run, serve: Serve):
    arguments = ("run", "Čaj?", "-n", "2", "--messages", "1", "--model", serve().model())
    done = finished(*arguments, env={"PYTHONIOENCODING": "ascii"})
    assert (done.code, done.err) == (0, "")
    assert "# Topic: ?aj?" in done.out


@pytest.mark.proof
def test_quiet_prints_the_folder_alone(command: Run, serve: Serve, only_run: Callable[[Path], Path], tmp_path: Path):
    done = command("run", "Tea?", "-n", "2", "--messages", "1", "--model", serve().model(), "--quiet", "--out", "o")
    assert (done.code, done.err) == (0, "")
    assert done.out == f"o/{only_run(tmp_path / 'o').name}\n"
    names = {path.name for path in (tmp_path / done.out.strip()).iterdir()}
    assert names == {"transcript.md", "run.sqlite", "memory", "run.lock"}


@pytest.mark.proof
def test_who_chose_no_model_is_told(command: Run):
    for form, place in (("--quiet", "err"), ("--json", "out")):
        done = command("run", "Tea?", "-n", "2", "--messages", "1", form)
        assert done.code == 0, done.err
        assert "No model was chosen" in getattr(done, place)


@pytest.mark.proof
@pytest.mark.parametrize("command_line", [["personas", "list"], ["personas", "list", "--json"], ["graph"]])
def test_nothing_that_is_piped_has_escape_codes(command_line: list[str], finished: Run):
    done = finished(*command_line, env={"FORCE_COLOR": "1"})
    assert (done.code, done.err) == (0, "")
    assert "\x1b" not in done.out
