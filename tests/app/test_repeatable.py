"""The same seed gives the same conversation, byte for byte; another seed gives another one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
ARGUMENTS = ("run", "Should our town close its centre to cars?", "-n", "4", "--messages", "4", "--model", "offline")


@pytest.mark.proof
def test_seeds(finished: Run, only_run: Callable[[Path], Path], tmp_path: Path):
    kept = {}
    for name, seed in (("first", "5"), ("again", "5"), ("other", "6")):
        done = finished(*ARGUMENTS, "--seed", seed, "--selection", "softmax", "--out", name, "--quiet")
        assert done.code == 0, done.err
        run = only_run(tmp_path / name)
        kept[name] = [(run / file).read_bytes() for file in ("transcript.jsonl", "minds.jsonl")]
    assert kept["first"] == kept["again"]
    assert kept["first"][0] != kept["other"][0]
    assert kept["first"][1] != kept["other"][1]
