"""What the documents on traces and evaluation show works, and the numbers in them are so."""

from __future__ import annotations

import re
from pathlib import Path

from persimchat import evaluation
from persimchat.runs.run.tracing import turns_in_a_trace


def test_the_table_names_every_evaluator(root: Path) -> None:
    text = (root / "docs/evaluation.md").read_text("utf-8")
    text = text[text.index("## Evaluators") : text.index("## With LangSmith")]
    names = re.findall(r"^\| `(\w+)` \|", text, re.M)
    known = [*evaluation.UTTERANCE_EVALUATORS, *evaluation.CONVERSATION_EVALUATORS]
    assert names == [evaluator.__name__ for evaluator in known]


def test_the_turns_of_a_trace(root: Path) -> None:
    text = " ".join((root / "docs/langsmith.md").read_text("utf-8").split())
    assert f"{turns_in_a_trace(4)} turns for four, {turns_in_a_trace(10)} for ten" in text
    assert f"`conversation from turn {turns_in_a_trace(4)}`" in text  # the first trace has the awakening, too


def test_the_table_names_every_statistic(root: Path) -> None:
    text = (root / "docs/evaluation.md").read_text("utf-8")
    rows = text[text.index("| question | function |") : text.index("They are in `intervals`")]
    functions = set()
    for module in re.findall(r"`(\w+)`", text[text.index("They are in `intervals`") :].partition(". ")[0]):
        path = root / f"evaluation/statistics/{module}.py"
        functions |= set(re.findall(r"^def ([a-z]\w+)\(", path.read_text("utf-8"), re.M))
    helpers = {"resampled", "signed_ranks", "entropy", "krippendorff_with_interval"}
    assert set(re.findall(r"`(\w+)`", rows)) == functions - helpers
