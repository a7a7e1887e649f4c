"""Finding personas by name, slug or path."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from offenders import check_each

from persimchat.personas.catalogue import ORDER, find_persona, shipped
from persimchat.personas.scenario import default_participants


def test_everybody_is_found_by_name_slug_and_first_name() -> None:
    def check(slug: str, name: str) -> None:
        for wanted in (name, name.upper(), slug, name.split()[0]):
            assert find_persona(wanted).name == name

    check_each(zip(ORDER, (p.name for p in shipped()), strict=True), check)


def test_by_path_relative_to_base(write: Callable[..., Path]):
    path = write("people/bo.yaml", "name: Bo\ndescription: Bo is here.\n")
    assert find_persona("people/bo.yaml", path.parents[1]).name == "Bo"
    assert find_persona("bo.yaml", path.parent).name == "Bo"
    assert find_persona(str(path)).name == "Bo"


def test_errors(tmp_path: Path, refused: Callable[..., str]):
    refused(lambda: find_persona("Zeyneb"), "no shipped persona 'Zeyneb'", "Did you mean 'Zeynep Aydoğan'?")
    refused(lambda: find_persona("Xqwv"), "Choose one of", "陳志明", "Jarmila Dvořáčková")
    refused(lambda: find_persona("", where="--participants"), "--participants")
    refused(lambda: find_persona("nobody.yaml", tmp_path), "there is no such file", str(tmp_path / "nobody.yaml"))
    refused(
        lambda: find_persona("no.yaml", tmp_path, where="s.yaml:3"), "no persona file", "s.yaml:3", "Check the path"
    )
    for path in ("a" * 300 + ".yaml", "a\0.yaml"):
        refused(lambda path=path: find_persona(path, tmp_path, where="s.yaml:3"), "no persona file", "s.yaml:3")


def test_ambiguity_lists_everybody(monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]):
    jarmila = find_persona("Jarmila")
    twins = {"a": jarmila, "b": jarmila.model_copy(update={"name": "Jarmila Malá"})}
    monkeypatch.setattr("persimchat.personas.catalogue._shipped", lambda: twins)
    refused(lambda: find_persona("jarmila"), "may be Jarmila Dvořáčková or Jarmila Malá", "Write the full name")
    assert find_persona("mala").name == "Jarmila Malá"


def test_default_participants(refused: Callable[..., str]):
    assert default_participants() == default_participants(4) == shipped()[:4]
    assert len(default_participants(10)) == 10
    refused(lambda: default_participants(11), "11 participants", "10 personas", "Ask for 2 to 10")
    refused(lambda: default_participants(0), "0 participants")
