"""What is wrong with judges of an experiment is said before the first call, on one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from persimchat.experiments import Experiment, run_experiment
from persimchat.experiments.api import prepare

Make = Callable[..., Experiment]
NOBODY = "m@http://127.0.0.1:9/v1"
REFUSED: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({"measures": {"dimensions": {"by": "offline"}}}, ("offline model cannot judge", "measures.dimensions.by", "by:")),
    ({"measures": {"pairs": {"by": "offline", "axis": "method"}}}, ("measures.pairs.by",)),
    ({"measures": {"dimensions": {"by": "nobody:"}}}, ("nobody",)),
    ({"measures": {"dimensions": {"by": NOBODY, "only": ["BEI"]}}}, ("'BEI'", "measures.dimensions.only", "'BEL'")),
    ({"measures": {"dimensions": {"by": NOBODY, "only": []}}}, ("no dimension", "measures.dimensions.only")),
    ({"measures": {"dimensions": {"by": NOBODY, "repeats": 0}}}, ("repeats", "1")),
    ({"measures": {"dimensions": {"judge": NOBODY}}}, ("judge",)),
    ({"measures": {"pairs": {"by": NOBODY, "axis": "model"}}}, ("'model' is no axis", "The grid has: method, seed")),
    ({"measures": {"pairs": {"by": NOBODY, "axis": "method", "within": {"seed": 9}}}}, ("no level 9", "0, 1")),
    (
        {"measures": {"pairs": {"by": NOBODY, "axis": "method"}}, "grid": {"method": ["group_chat"]}},
        ("one level", "measures.pairs.axis"),
    ),
    (
        {
            "measures": {"pairs": {"by": NOBODY, "axis": "wording"}},
            "grid": {"wording": {"asked": "", "softer": "What if?"}},
        },
        ("other topics", "Pair by another axis"),
    ),
    (
        {"measures": {"dimensions": {"by": NOBODY}}, "limits": {"budget_usd": 1}},
        ("price of", "is not known", "measures.dimensions.by", "prices"),
    ),
    (
        {"measures": {"dimensions": {"by": NOBODY}, "settings": {"budget_calls": 5}}},
        ("budget_calls", "limits: {budget_calls"),
    ),
    ({"measures": {"dimensions": {"by": NOBODY}, "settings": {"contxt": 5}}}, ("contxt", "measures.settings")),
    ({"preset": "thesys"}, ("preset", "thesis")),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "words"), REFUSED)
def test_what_is_wrong_is_refused(
    make: Make, tmp_path: Path, refused: Callable[..., str], fields: dict[str, Any], words: tuple[str, ...]
):
    refused(lambda: prepare(make(**fields), tmp_path / "out"), *words)
    assert not (tmp_path / "out").exists()


def test_a_judge_without_a_key_is_refused_before_the_first_call(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]
):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    wanted = make(measures={"dimensions": {"by": "openai:gpt-4o"}})
    refused(lambda: run_experiment(wanted, tmp_path / "out"), "OPENAI_API_KEY")
    assert not (tmp_path / "out").exists()
