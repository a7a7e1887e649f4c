"""Every block of the documents is known to some test, and what is left out is left out on purpose.

test_readme_commands.py runs the commands and scripts, test_readme_data.py reads the data.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from documents import BLOCKS, COMMANDS, GOES_ON, NOT_RUN, OUTPUT, SCRIPTS, STANDS_FOR, TESTED_ELSEWHERE, blocks_in
from run_files import read_records

import persimchat

TYPED = [(block, command) for block in BLOCKS if block.language in COMMANDS for command in block.commands]


def test_every_block_says_what_it_is():
    known = {*COMMANDS, *OUTPUT, *TESTED_ELSEWHERE, *SCRIPTS, "yaml", "json"}
    assert [f"{block.where}: {block.language!r}" for block in BLOCKS if block.language not in known] == []


def test_what_is_left_out_is_still_there():
    typed = {(block.document, command) for block, command in TYPED}
    typed |= {(block.document, block.first) for block in BLOCKS if block.language in SCRIPTS}
    assert [entry for entry in NOT_RUN if entry not in typed] == []


def test_what_is_replaced_is_still_there():
    words = {document: "".join(b.text for b in BLOCKS if b.document == document) for document, _ in STANDS_FOR}
    assert [entry for entry in STANDS_FOR if entry[1] not in words[entry[0]]] == []


def test_scripts_that_go_on_are_several():
    assert [name for name in GOES_ON if sum(b.document == name and b.language in SCRIPTS for b in BLOCKS) < 2] == []


def test_readme_shows_the_commands_that_matter():
    typed = [command for block, command in TYPED if block.document == "README.md"]
    assert "make run" in typed
    assert "make test" in typed


def test_make_targets_exist(root: Path):
    targets = set(re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    used = {word for _, c in TYPED if c.startswith("make ") for word in c.split()[1:] if re.fullmatch("[a-z-]+", word)}
    assert used
    assert used - targets == set()


def test_what_pip_is_to_install_is_declared(root: Path):
    """An extra of ours, or a package that one of our extras needs."""
    extras = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    known = {f"persimchat[{name}]" for name in extras}
    known |= {re.split("[<>=]", package)[0] for packages in extras.values() for package in packages}
    wanted = [(b.where, c.removeprefix("pip install").strip(" '")) for b, c in TYPED if c.startswith("pip install")]
    assert wanted
    assert [entry for entry in wanted if entry[1] not in known] == []


@pytest.mark.proof
def test_the_conversation_shown_is_word_for_word(root: Path, tmp_path: Path):
    readme = (root / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"^> \*\*(.+?):\*\* (.+)$", readme, re.MULTILINE)
    topic = "Should our town close its centre to cars?"
    held = persimchat.simulate(topic, 4, model="offline", max_messages=8, out=tmp_path)
    assert shown == [(said.speaker, said.text) for said in held.utterances]
    (mind,) = (json.loads(block.text) for block in blocks_in(readme) if block.language == "json")
    lines = read_records(Path(held.folder) / "minds.jsonl")
    (real,) = (line for line in lines if (line["turn"], line["agent"]) == (mind["turn"], mind["agent"]))
    assert holds(real, mind)


HALF_A_HUNDREDTH = 0.005 + 1e-9


def holds(real: Any, shown: Any) -> bool:
    """Whether what is shown, shortened, is in what really is: entries may be missing, numbers be rounded."""
    if isinstance(shown, dict):
        return isinstance(real, dict) and all(key in real and holds(real[key], part) for key, part in shown.items())
    if isinstance(shown, list):
        return isinstance(real, list) and all(any(holds(entry, part) for entry in real) for part in shown)
    return bool(abs(real - shown) <= HALF_A_HUNDREDTH if isinstance(shown, float) else real == shown)


def test_blocks_are_read_rightly():
    text = (
        "```sh\n# set up\nmake run\npersimchat run \\\n  x\n```\n\n- a list\n\n"
        "  ```console\n  $ a b\n  out\n  ```\n\n```\nbare\n```\n"
    )
    first, second, third = blocks_in(text)
    assert first.commands == ["make run", "persimchat run x"]
    assert (second.line, second.commands) == (10, ["a b"])
    assert (third.language, third.first) == ("", "bare")


def test_what_is_shown_may_be_shortened_and_not_changed():
    real = {"a": 1.226, "b": [{"c": 2, "d": 3}, {"c": 4}]}
    assert holds(real, {"a": 1.23, "b": [{"c": 4}]})
    assert not holds(real, {"a": 1.24})
    assert not holds(real, {"b": [{"c": 5}]})
    assert not holds(real, {"e": 1})
