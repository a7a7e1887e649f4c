"""Every shipped example loads and says what it shows."""

from __future__ import annotations

from pathlib import Path

from offenders import check_each

from persimchat.personas.catalogue import shipped
from persimchat.personas.scenario import load_scenario
from persimchat.state.configuration import load_settings
from persimchat.state.knowledge import knowledge_level

EXAMPLES = [
    path
    for path in sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.yaml"))
    if path.stem != "quotas"  # for `persimchat personas generate`; see test_quotas.py
]


def test_example() -> None:
    def check(path: Path) -> None:
        lines = path.read_text(encoding="utf-8").splitlines()
        assert lines[0].startswith("# ") and len(lines[0]) > 20
        scenario = load_scenario(path)
        assert len(scenario.participants) >= 3
        settings = load_settings(scenario=scenario.settings, environment={})
        if scenario.guide is None:  # which gives the limit
            assert settings.max_messages == scenario.settings["max_messages"]
        assert all("," not in goal or " " in goal for p in scenario.participants for goal in p.social_goals)

    check_each(EXAMPLES, check)


def test_what_the_examples_show():
    by_name = {path.stem: load_scenario(path) for path in EXAMPLES}
    assert set(by_name) >= {"ice_cream", "adversarial", "family", "focus_group", "tavern", "debate"}
    ice = by_name["ice_cream"]
    assert [p.name for p in ice.participants] == ["Alena Nováková", "David Procházka", "Eva Horáková", "Lukáš Jelínek"]
    assert knowledge_level(ice.participants[3]) == 2
    family = by_name["family"]
    ties = [tie.seen_by("Nela Vrbová") for tie in family.relationships]
    (nela,) = [tie for tie in ties if tie and tie["to"] == "Květa Vrbová"]
    assert (nela["type"], nela["side"]) == ("grandparent_grandchild", "to")
    assert {r.type for r in by_name["adversarial"].relationships} >= {"rival", "annoyed"}
    used = {p.name for scenario in by_name.values() for p in scenario.participants} & {p.name for p in shipped()}
    assert len(used) >= 6
    guide = by_name["focus_group"].guide
    assert guide is not None
    assert guide.moderator == "Mira Solheim"
    assert guide.shown_with == 2
