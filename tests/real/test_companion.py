"""A companion with a real language model, SmolLM2-135M (`make long`): three exchanges in two talks.

Nothing is asked of what it says. Words must come, both talks must be kept, the world must open again, and the shares
of valid answers are printed.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from companion_worlds import kept_in

from persimchat.app.cli import main
from persimchat.models.local.files import Stored
from persimchat.runs.companion.folder import read_place, read_world

pytestmark = [pytest.mark.real, pytest.mark.long, pytest.mark.timeout(360)]

TALKS = ("My sister is called Mira.\n", "What is my sister called?\nGoodbye!\n")
AGENT = "Jarmila"
"""Without a place, an agent plans no day: that would be a call or two more."""
MOST_CALLS = 25
SHORT = ["--set", "timeout_s=240", "--set", "answer_tokens=200", "--set", "utterance_words=15", "--seed", "1"]


def test_a_companion_speaks_and_keeps_both_talks(
    tmp_path: Path,
    models: Path,
    smollm2: Stored,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PERSIMCHAT_MODELS", str(models))
    talk = [
        sys.executable,
        "-m",
        "persimchat",
        "companion",
        "talk",
        AGENT,
        "--person",
        "Petr",
        "--world",
        "w",
        "--model",
        "smollm2",
        *SHORT,
    ]
    for words in TALKS:
        done = subprocess.run(talk, input=words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    said, calls = kept_in(Path("w"), "exchange"), kept_in(Path("w"), "asked_model")
    assert [one["said"] for one in said] == "".join(TALKS).splitlines()
    assert all(one["utterance"] for one in said) and said[-1]["end"]
    assert len({one["talk"] for one in said}) == 2
    assert 0 < len(calls) <= MOST_CALLS
    assert read_world(Path("w")).world and read_place(Path("w")).agents
    assert main(["companion", "export", "--agent", AGENT, "--person", "Petr", "--world", "w"]) == 0
    assert "My sister is called Mira." in capsys.readouterr().out
    asked = Counter(one["module"] for one in calls)
    firsts = Counter((one["module"], one["turn"], one.get("part", "")) for one in calls)
    again = Counter(module for (module, _, _), number in firsts.items() if number > 1)
    shares = ", ".join(f"{name} {asked[name]} calls, {again[name]} asked again" for name in asked)
    with capsys.disabled():
        print("\n" + "\n".join(f"{one['said']!r} -> {one['utterance']!r}" for one in said))
        print(f"SmolLM2 as a companion: {shares}; trust {[one['trust'] for one in said]}, {len(calls)} calls")
