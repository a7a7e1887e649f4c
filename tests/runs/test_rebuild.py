"""Files put right after a kill: equal to the byte to those of a run that nobody interrupted, wherever it was torn."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_files import read_records

from persimchat.runs.events import Analysed, Judged, MindRecord, Silenced, Uttered
from persimchat.runs.folder import run_folder as names
from persimchat.runs.folder.manifest import Manifest
from persimchat.runs.folder.rebuild import add_minds, rebuild
from persimchat.runs.folder.run_folder import RunFolder
from persimchat.state.conversation import as_message, utterance_id

AGENTS = ["Eva Horáková", "李雷"]
JUDGE = ["The judge"]
PARTICIPANTS = [{"name": name} for name in AGENTS]
MANIFEST = Manifest.model_validate(
    {"run": "r", "scenario": {"topic": "Tea *or* coffee?", "participants": PARTICIPANTS}, "settings": {}}
)
LEFT = ("run.json", "transcript.lost.jsonl")
"""What is no file that is rebuilt."""
EMOTION = {"happiness": 3}
ALIVE = {"a memory": 0}


def utterance(turn: int) -> dict[str, Any]:
    return {
        "turn": turn,
        "speaker": AGENTS[turn % 2],
        "text": f"I like tea – {turn}\nvery **much**.\u2028Or",
        "addressees": [],
        "emotion": EMOTION,
        "need_to_talk": dict.fromkeys(AGENTS, 5),
        "response_time_s": turn / 3,
        "tokens": {"input": 10, "output": 7},
        "corrections": [],
        **({"heard_by": [AGENTS[0]]} if turn == 2 else {}),
    }


def verdict(turn: int) -> dict[str, Any]:
    fixed = {"reasoning": "No.", "consensus": False, "answer": "", "positions": []}
    return {"turn": turn, **fixed, "progress": "circling", "overruled": ""}


def score(turn: int) -> dict[str, Any]:
    return {
        "turn": turn, "speaker": AGENTS[turn % 2], "reasoning": "é", "coherence": 1.5, "sentiment": 2.0,
        "engagement": 3.0,
    }  # fmt: skip


def mind(turn: int, agent: str) -> MindRecord:
    return MindRecord(
        turn=turn, agent=agent, did="", percept=None, focal_points=["ž"], recalled=[], short_term_memory=None,
        long_term_memories=turn, need_to_talk=5, action="plan", emotion=EMOTION,
    )  # fmt: skip


SILENCES = [
    Silenced(turn=1, agent=AGENTS[0], step="speak", why="the model [x] failed"),
    Silenced(turn=2, agent=AGENTS[1], step="think", why="no answer"),
    Silenced(turn=2, agent=AGENTS[0], step="hear", why="no answer"),
    Silenced(turn=4, agent=AGENTS[0], step="speak", why="passed"),
]
CONTROL = [{"turn": 1, "do": "topic", "topic": "Wine, *then*"}, {"turn": 3, "do": "pause"}]


def state(turns: int) -> dict[str, Any]:
    """The channels after so many utterances."""
    known = [s for s in SILENCES if s.turn <= turns + (s.step == "speak") and s.agent == AGENTS[0]]
    silent = known[-1] if known else None
    shown = silent.model_dump(include={"turn", "step", "why"}) if silent else None
    return {
        "messages": [as_message(utterance(t), utterance_id("r", t)) for t in range(1, turns + 1)],  # type: ignore[arg-type]
        "turn": turns,
        "verdicts": [verdict(t) for t in range(2, turns + 1)],
        "scores": [score(t) for t in range(1, turns + 1)],
        "agents": {name: {"name": name, "alive": ALIVE, "silent": None} for name in AGENTS}
        | {AGENTS[0]: {"name": AGENTS[0], "alive": ALIVE, "silent": shown}}
        | {name: {"name": name, "role": "judge", "alive": ALIVE} for name in JUDGE},
        "interventions": [],
        "carried_out": [record for record in CONTROL if record["turn"] <= turns],
    }


def happens(folder: RunFolder, turn: int) -> None:
    """What a run writes of one turn; silences and deeds are told late, as they may be."""
    if turn:
        for silenced in SILENCES:
            if silenced.turn == turn and silenced.step == "speak":
                folder.silence(silenced)
        folder.utterance(Uttered.model_validate(utterance(turn)))
        for silenced in SILENCES:
            if silenced.turn == turn and silenced.step != "speak":
                folder.silence(silenced)
        folder.score(Analysed.model_validate(score(turn)))
        if turn > 1:
            folder.verdict(Judged.model_validate(verdict(turn)))
    for agent in AGENTS:
        folder.mind(mind(turn, agent))
    for agent in JUDGE:
        folder.judge_mind(mind(turn, agent))
    for record in CONTROL:
        if record["turn"] == turn:
            folder.control(record)


def written(out: Path, turns: int) -> RunFolder:
    folder = RunFolder(out, "r")
    folder.begin(MANIFEST)
    for turn in range(turns + 1):
        happens(folder, turn)
    for silenced in SILENCES:
        if silenced.turn == turns + 1 and silenced.step == "speak":
            folder.silence(silenced)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name not in LEFT}


def put_right(folder: Path, turns: int) -> RunFolder:
    """Rebuild a folder and supply what it lacks, as whoever resumes a run does."""
    rebuilt = rebuild(folder, MANIFEST, state(turns), turns)
    add_minds(folder, [mind(turn, agent) for turn in rebuilt.minds for agent in AGENTS])
    add_minds(folder, [mind(turn, agent) for turn in rebuilt.judge_minds for agent in JUDGE], judge=True)
    return RunFolder.reopened(folder, rebuilt.asides)


def test_a_whole_folder_is_left_as_it_is(tmp_path: Path) -> None:
    folder = written(tmp_path, 3).path
    before, times = contents(folder), {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    rebuilt = rebuild(folder, MANIFEST, state(3), 3)
    assert (rebuilt.minds, rebuilt.judge_minds) == ([], [])
    assert contents(folder) == before
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == times


def test_the_transcript_is_read_once_also_where_it_is_set_aside(tmp_path: Path, monkeypatch: Any) -> None:
    folder = written(tmp_path, 5).path
    whole, opened, open_file = (folder / names.TRANSCRIPT).read_bytes(), [], io.open

    def counting(file: Any, mode: str = "r", *args: Any, **named: Any) -> Any:
        opened.append((Path(file).name, mode))
        return open_file(file, mode, *args, **named)

    monkeypatch.setattr(io, "open", counting)
    for turns, lost in ((5, False), (4, False), (2, True)):
        opened.clear()
        rebuilt = rebuild(folder, MANIFEST, state(turns), turns)
        assert opened.count((names.TRANSCRIPT, "rb")) == 1
        assert ("utterance 2: 2 utterances after it will be made again" in rebuilt.lost) == lost
        assert (folder / "transcript.lost.jsonl").is_file() == lost
        (folder / names.TRANSCRIPT).write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 1])
    assert (folder / "transcript.lost.jsonl").read_bytes().count(b"\n") == 4


def last_lines(data: bytes) -> Iterator[int]:
    """Every byte of the last line at which a file may end."""
    yield from range(data.rstrip(b"\n").rfind(b"\n") + 1, len(data))


FROM_STATE = [names.TRANSCRIPT, names.MINDS, names.VERDICTS, names.JUDGE_MIND, names.ANALYSIS, names.READABLE]
"""Files that can be made again from nothing; of silences, the state knows the latest."""


@pytest.mark.proof
@pytest.mark.parametrize("name", [*FROM_STATE, names.SILENCES])
def test_a_file_torn_at_any_byte_of_its_last_line(tmp_path: Path, name: str) -> None:
    folder = written(tmp_path, 3).path
    whole = contents(folder)
    for end in last_lines(whole[name]):
        (folder / name).write_bytes(whole[name][:end])
        put_right(folder, 3).close()
        assert contents(folder) == whole, (name, end)


@settings(max_examples=40)
@given(st.dictionaries(st.sampled_from(FROM_STATE), st.floats(0, 1) | st.none(), min_size=1))
def test_several_files_torn_anywhere_or_gone(tmp_path_factory: pytest.TempPathFactory, torn: dict[str, Any]) -> None:
    folder = written(tmp_path_factory.mktemp("torn"), 3).path
    whole = contents(folder)
    for name, share in torn.items():
        if share is None:
            (folder / name).unlink()
        else:
            (folder / name).write_bytes(whole[name][: int(share * len(whole[name]))])
    put_right(folder, 3).close()
    assert contents(folder) == whole


@pytest.mark.parametrize("behind", [0, 1, 2, 3])
def test_files_ahead_of_the_state_go_back_and_the_run_goes_on(tmp_path: Path, behind: int) -> None:
    """The state was saved `behind` turns ago; going on from there leaves what an uninterrupted run leaves."""
    expected = contents(written(tmp_path / "whole", 4).path)
    torn = written(tmp_path / "torn", 4)
    torn.close()
    folder = put_right(torn.path, 4 - behind)
    assert contents(torn.path)[names.TRANSCRIPT].count(b"\n") == 4 - behind
    for turn in range(5 - behind, 5):
        known = [s for s in SILENCES if s.turn == turn and s.step == "speak"]
        if turn == 5 - behind and known:  # the state that was saved knew it already
            folder.utterance(Uttered.model_validate(utterance(turn)))
            folder.score(Analysed.model_validate(score(turn)))
            folder.verdict(Judged.model_validate(verdict(turn)))
            for agent in AGENTS:
                folder.mind(mind(turn, agent))
            folder.judge_mind(mind(turn, JUDGE[0]))
        else:
            happens(folder, turn)
    assert contents(torn.path) == expected


def test_an_utterance_that_is_not_heard_yet_is_written_and_its_minds_are_not(tmp_path: Path) -> None:
    folder = written(tmp_path, 3).path
    rebuilt = rebuild(folder, MANIFEST, state(3), 2)
    assert contents(folder)[names.TRANSCRIPT].count(b"\n") == 3
    assert contents(folder)[names.MINDS].count(b"\n") == 3 * len(AGENTS)
    assert rebuilt.minds == []


def test_a_run_that_had_just_begun(tmp_path: Path) -> None:
    folder = written(tmp_path, 1).path
    rebuilt = rebuild(folder, MANIFEST, {}, -1)
    assert rebuilt.minds == []
    assert {name: data for name, data in contents(folder).items() if data} == {
        names.READABLE: b"# Tea \\*or\\* coffee?\n\nEva Hor\xc3\xa1kov\xc3\xa1, \xe6\x9d\x8e\xe9\x9b\xb7\n\n> "
        + contents(folder)[names.READABLE].split(b"> ")[1]
    }
    assert names.VERDICTS not in contents(folder)


def test_the_end_of_a_run_that_goes_on_is_taken_back(tmp_path: Path) -> None:
    open_end = contents(written(tmp_path / "a", 3).path)
    ended = written(tmp_path / "b", 3)
    ended.end(MANIFEST, "The limit was reached.")
    put_right(ended.path, 3).close()
    assert contents(ended.path) == open_end


def test_damaged_lines_in_the_middle_are_made_again(tmp_path: Path) -> None:
    folder = written(tmp_path, 3).path
    whole = contents(folder)
    for name in (names.MINDS, names.TRANSCRIPT, names.VERDICTS):
        lines = whole[name].split(b"\n")
        lines[1] = b"\x00\xff[["
        (folder / name).write_bytes(b"\n".join(lines))
    put_right(folder, 3).close()
    assert contents(folder) == whole


def test_records_written_twice_stand_once(tmp_path: Path) -> None:
    folder = written(tmp_path, 2).path
    whole = contents(folder)
    with (folder / names.MINDS).open("ab") as file:
        file.write(whole[names.MINDS][-len(whole[names.MINDS]) // 3 :].split(b"\n", 1)[1])
        file.write(whole[names.MINDS])
    put_right(folder, 2).close()
    assert contents(folder) == whole


def test_what_people_did_is_written_once_it_has_taken_effect(tmp_path: Path) -> None:
    folder = written(tmp_path, 3)
    say = {"do": "say", "text": "Hello", "speaker": "", "heard_by": None}
    folder.control({"turn": 3, **say})  # written, and the kill came before the state had it
    folder.close()
    for done in ([], [{"turn": 3, **say}]):
        known = {**state(3), "interventions": [say], "carried_out": [*CONTROL, *done]}
        rebuild(folder.path, MANIFEST, known, 3)
        told = read_records(folder.path / names.CONTROL)
        assert told == [*CONTROL, *done]


def test_where_nobody_could_hear_nobody_was_silent(tmp_path: Path) -> None:
    deaf = {"turn": 3, "step": "hear", "why": "no server"}
    minds = {name: {"name": name, "alive": ALIVE, "silent": deaf} for name in AGENTS}
    folder = written(tmp_path, 3).path
    rebuild(folder, MANIFEST, {**state(3), "agents": minds}, 2)
    assert "no server" not in (folder / names.SILENCES).read_text()
    hears = {"name": AGENTS[0], "alive": ALIVE, "silent": None}
    rebuild(folder, MANIFEST, {**state(3), "agents": {**minds, AGENTS[0]: hears}}, 2)
    assert (folder / names.SILENCES).read_text().count("no server") == 1


def test_partial_files_are_taken_away(tmp_path: Path) -> None:
    folder = written(tmp_path, 1).path
    (folder / f"{names.MINDS}.partial").write_bytes(b"half")
    rebuild(folder, MANIFEST, state(1), 1)
    assert not list(folder.glob("*.partial"))


def test_what_happened_in_between_stands_in_one_order(tmp_path: Path) -> None:
    text = (written(tmp_path, 4).path / names.READABLE).read_text(encoding="utf-8").split("> ")[1]
    blocks = [block for block in text.split("\n\n") if block.startswith(("*", "**"))]
    assert blocks[0] == r"*Eva Horáková is silent: the model \[x\] failed*"
    assert blocks[2:6] == [
        r"*The topic is now: Wine, \*then\**",
        blocks[3],
        "*李雷 had no thoughts meanwhile: no answer*",
        "*Eva Horáková did not hear this: no answer*",
    ]
    assert blocks[3].startswith("**Eva Horáková:** *(to Eva Horáková only)* I like tea")
    assert blocks[-2] == "*Eva Horáková passes.*"
