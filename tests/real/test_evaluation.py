"""A real language model as a judge: SmolLM2-135M (`make long`). Nothing is asked of what it thinks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from persimchat.app.cli import main
from persimchat.evaluation.asking import AnswerFile
from persimchat.evaluation.pairs import PAIRS, PairAnswer
from persimchat.models.local import server
from persimchat.models.local.files import Stored
from persimchat.runs.folder.reading import read_judgements

pytestmark = [pytest.mark.real, pytest.mark.long, pytest.mark.timeout(360)]

SHORT = ["--by", "smollm2", "--set", "timeout_s=240", "--set", "answer_tokens=120", "--json"]
MOST_CALLS = 25
REASONS = {"", "unparseable", "refused", "too long"}


@pytest.fixture
def runs(tmp_path: Path, models: Path, smollm2: Stored, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """A conversation in more and in fewer words: nobody is asked about two that are word for word the same."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PERSIMCHAT_MODELS", str(models))
    talk = ["run", "Tea or coffee?", "-n", "2", "--messages", "2", "--model", "offline", "--quiet"]
    for side, words in (("a", "60"), ("b", "20")):
        assert main([*talk, "--out", side, "--set", f"utterance_words={words}"]) == 0
    return [next(Path(side).iterdir()) for side in "ab"]


def test_every_missing_score_has_a_reason_and_totals_add_up(
    runs: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    def said(*arguments: str) -> dict[str, Any]:
        capsys.readouterr()
        assert main(["evaluate", *arguments, *SHORT]) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    try:
        found = said("dimensions", *map(str, runs), "--only", "BEL,CRE")
        pairs = said("pairs", "--a", str(runs[0]), "--b", str(runs[1]), "-k", "1")
    finally:
        server.stop_all()
    judged = [row for run in runs for row in read_judgements(run)]
    answers = list(AnswerFile(Path("results/pairs") / PAIRS, "pair", PairAnswer).rows().values())
    assert (found["asked"], pairs["asked"], len(judged), len(answers)) == (4, 2, 4, 2)
    assert {row.missing for row in judged} <= REASONS
    assert [row for row in judged if (row.score is None) != bool(row.missing)] == []
    assert [row for row in answers if (row.score_a is None) != bool(row.missing)] == []
    missing = sum(sum(row["missing"].values()) for row in found["dimensions"])
    assert missing == sum(bool(row.missing) for row in judged)
    assert sum(pairs["answers_missing"].values()) == sum(bool(row.missing) for row in answers)
    calls = sum(row.calls for row in (*judged, *answers))
    assert calls <= MOST_CALLS
    valid = len([row for row in (*judged, *answers) if not row.missing])
    print(f"\nSmolLM2 as a judge: {valid} of {len(judged) + len(answers)} answers valid, {calls} calls")
