"""Names are found whatever their case and diacritics, and ambiguity is never guessed away."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.personas.names import folded, full_name, matching, with_full_names
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings

NAMES = ["Eva Horáková", "Eva Malá", "Łukasz Żórawski", "陳志明", "Đỗ Thị Hà", "Ana-María Núñez"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("lukasz", ["Łukasz Żórawski"]),
        ("ŁUKASZ ŻÓRAWSKI", ["Łukasz Żórawski"]),
        ("zorawski", ["Łukasz Żórawski"]),
        ("eva", ["Eva Horáková", "Eva Malá"]),
        ("eva mala", ["Eva Malá"]),
        ("陳志明", ["陳志明"]),
        ("do thi ha", ["Đỗ Thị Hà"]),
        ("Thị Hà", ["Đỗ Thị Hà"]),
        ("ana_maria nunez", ["Ana-María Núñez"]),
        ("maria", ["Ana-María Núñez"]),
        ("lu", []),
        ("", []),
        ("  ", []),
    ],
)
def test_matching(wanted: str, found: list[str]):
    assert matching(wanted, NAMES) == found


def test_a_whole_name_goes_before_a_part_of_another():
    assert matching("Eva", ["Eva Malá", "Eva"]) == ["Eva"]
    assert matching("Élan", ["Elan", "Élan"]) == ["Élan"], "exact spelling decides between names alike but for marks"


def test_full_name_errors():
    with pytest.raises(InputError, match=r"'eva' may be Eva Horáková or Eva Malá \(here\)\. Write the full name\."):
        full_name("eva", NAMES, what="participant", where="here")
    with pytest.raises(InputError, match=r"no participant 'Lukas' \(here\)\. Did you mean 'Łukasz Żórawski'\?"):
        full_name("Lukas", NAMES, what="participant", where="here")


@given(st.text(max_size=40))
def test_folding_is_settled(text: str):
    once = folded(text)
    assert folded(once) == once or folded(folded(once)) == folded(once)
    assert "  " not in once


def test_agent_models_by_full_name():
    settings = with_full_names(Settings(agent_models={"łukasz": "offline"}), NAMES)
    assert settings.agent_models == {"Łukasz Żórawski": "offline"}
    with pytest.raises(InputError, match=r"agent_models\.Karel"):
        with_full_names(Settings(agent_models={"Karel": "offline"}), NAMES)
    plain = Settings()
    assert with_full_names(plain, NAMES) is plain
