"""What the graph refuses as input, and that input opens no files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from persimchat.graph.conversation import graph
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings

ADA = {"name": "Ada Lind", "description": "A baker."}
SETTINGS = Settings(model="offline", max_messages=1)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "no topic"),
        ({"topic": "  "}, "topic is empty"),
        ({"topic": "Tea?", "participants": [ADA]}, "two participants"),
        ({"topic": "Tea?", "participants": [ADA, ADA]}, "two participants are called"),
        ({"topic": "Tea?", "participants": [ADA, "Nobody Known"]}, "no persona 'Nobody Known'"),
        ({"topic": "Tea?", "participants": [ADA, {"name": "Bo", "descripton": "x"}]}, "description"),
        ({"topic": "Tea?", "participants": [ADA, 7]}, "int"),
        ({"topic": "Tea?", "participants": 3}, "not int"),
        ({"topic": "Tea?", "relationships": [{"from": "A", "to": "B", "type": "friend"}]}, "A"),
    ],
)
def test_bad_input_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        graph.invoke(given, context=SETTINGS)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", ["path", "include", "persona"])
def test_input_opens_no_files(tmp_path: Path, key: str) -> None:
    file = tmp_path / "secret.yaml"
    file.write_text("name: Secret\ndescription: Nobody may read this.\n")
    entry: Any = {
        "path": str(file),
        "include": {"name": "Bo", "description": "x", "include": [str(file)]},
        "persona": {"persona": str(file)},
    }[key]
    with pytest.raises(InputError) as caught:
        graph.invoke({"topic": "Tea?", "participants": [ADA, entry]}, context=SETTINGS)
    assert "Nobody may read" not in str(caught.value)


def test_participants_may_be_first_names_of_shipped_personas() -> None:
    output = graph.invoke({"topic": "Tea?", "participants": ["Zeynep", "lukasz"]}, context=SETTINGS)
    assert output["messages"][-1].name in ("Zeynep Aydoğan", "Łukasz Żórawski")
