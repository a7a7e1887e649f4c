"""A story with a real language model, SmolLM2-135M (`make long`): begun, stopped by its budget, and resumed.

Nothing is asked of what it says. Both parts must end as they should, nobody may be told what they did not hear, and the
shares of valid answers are printed.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from run_files import conversation, logged, run_json

from persimchat.app.cli import main
from persimchat.models.ledger import Ledger
from persimchat.models.local import server
from persimchat.models.local.files import Stored
from persimchat.models.recording import Request
from persimchat.runs.folder.reading import read_run
from persimchat.state.plain_text import one_line
from persimchat.state.settings import Settings
from persimchat.state.visibility import is_heard

pytestmark = [pytest.mark.real, pytest.mark.long, pytest.mark.timeout(360)]

STORY = "personas/stories/tiny.yaml"
FIRST, IN_ALL = 10, 18
SHORT = ["--set", "timeout_s=240", "--set", "answer_tokens=120", "--set", "utterance_words=12", "--quiet"]
TELLING = 24
"""Shorter texts may be anybody's."""
MODULES: Final = {"stock": "stocktaking", "choice": "choice", "summary": "summary", "review": "review"}
"""Which module a happening comes from."""


class Given(NamedTuple):
    """A prompt as it was sent."""

    agent: str
    module: str
    turn: int
    text: str


def test_a_story_ends_with_its_budget_goes_on_where_it_was_and_tells_nobody_what_is_not_theirs(
    tmp_path: Path, root: Path, models: Path, smollm2: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PERSIMCHAT_MODELS", str(models))
    prompts: list[Given] = []
    admit = Ledger.admit

    def noted(ledger: Ledger, request: Request, settings: Settings) -> None:
        admit(ledger, request, settings)
        words = one_line(" ".join(message.text for message in request.sent))
        prompts.append(Given(request.agent, request.module, request.turn, words))

    monkeypatch.setattr(Ledger, "admit", noted)
    begin = ["run", str(root / STORY), "--model", "smollm2", "--seed", "1", "--budget-calls", str(FIRST), *SHORT]
    try:
        assert main(begin) == 0
        (folder,) = Path("conversations").glob("*-*")
        before = conversation(folder)
        first = run_json(folder)
        assert (first["stop_reason"], first["usage"]["total"]["calls"], len(prompts)) == ("budget", FIRST, FIRST)
        assert main(["resume", "latest", "--budget-calls", str(IN_ALL), "--quiet"]) == 0
    finally:
        server.stop_all()
    manifest = run_json(folder)
    assert (manifest["stop_reason"], manifest["usage"]["total"]["calls"], len(prompts)) == ("budget", IN_ALL, IN_ALL)
    assert [again["turn"] for again in manifest["resumed"]] == [first["turn"]]
    assert conversation(folder)[: len(before)] == before
    is_whole(folder, first["turn"])
    assert leaks(folder, prompts) == []
    # A replay asks nobody: all answers are in the folder.
    monkeypatch.setenv("PERSIMCHAT_MODELS", str(tmp_path / "none"))
    assert main(["replay", "latest", "--quiet"]) == 0
    shares = ", ".join(f"{name} {row['valid']} of {row['asked']}" for name, row in manifest["judgements"].items())
    silent = sum(1 for one in logged(folder, "asked_model") if one.get("failed"))
    print(f"\nSmolLM2 in a story, first answers that are valid: {shares}; {manifest['turn']} utterances, ", end="")
    print(f"{IN_ALL} calls, {silent} of them stopped or failed")


def is_whole(folder: Path, stopped: int) -> None:
    """Every file can be read, and turns and happenings are in order; only the step under way when the budget ended was
    asked for again, and who fell silent, in a later act of the same turn."""
    record, calls = read_run(folder, whole=True), logged(folder, "asked_model")
    assert record.notes == []
    assert [said.turn for said in record.utterances] == list(range(1, record.manifest.turn + 1))
    turns = [one.turn for one in record.happenings]
    assert turns == sorted(turns)
    answered = [
        (row["turn"], row["agent"], row["module"], row.get("part", ""), row["n"]) for row in calls if "answer" in row
    ]
    silent = {(one.turn - before, one.agent) for one in record.silences for before in (0, 1)}
    again = {key for key, number in Counter(answered).items() if number > 1}
    assert {key for key in again if key[0] != stopped and key[:2] not in silent} == set()
    with sqlite3.connect(folder / "run.sqlite") as database:
        assert database.execute("pragma integrity_check").fetchone() == ("ok",)
        assert database.execute("select count(*) from checkpoints").fetchone()[0] > 0


def leaks(folder: Path, prompts: list[Given]) -> list[tuple[str, str]]:
    """Who was told what they did not hear: the name and the text.

    A weak model repeats its prompt: a text that stood in the prompt that asked for it tells nothing new.
    """
    record = read_run(folder)
    said = [(one.text, one.speaker, one.heard_by, "natural_language", one.turn - 1) for one in record.utterances]
    done = [(one.text, one.speaker, one.heard_by, MODULES.get(one.do, ""), one.turn) for one in record.happenings]
    found, heard = [], 0
    for text, speaker, knowing, module, turn in ((one_line(text), *rest) for text, *rest in (*said, *done)):
        asking = [one.text for one in prompts if (one.agent, one.module, one.turn) == (speaker, module, turn)]
        if len(text) < TELLING or any(text in asked for asked in asking):
            continue
        told = {one.agent for one in prompts if text in one.text}
        knows = {name for name in told if is_heard({"speaker": speaker, "heard_by": knowing}, name)}
        found += [(name, text) for name in told - knows]
        heard += len(knows)
    assert heard, "nobody was told what they did hear"
    return found
