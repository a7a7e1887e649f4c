"""How near the estimate of a run is to the run: both side by side, with the offline model.

Run: `python benchmarks/estimate.py [--only TEXT]`. Every conversation is held with the real graph; the offline model
answers. It reports no tokens, so both sides count them the same way, from the texts' lengths. The price is assumed.
Exits with 1 if any figure is more than 20 % off.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

import persimchat
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.reports.estimate import Estimate, estimate
from persimchat.runs.events import Totals
from persimchat.runs.folder.parts import totals, totals_by
from persimchat.state.settings import Settings

TOPIC = "Should our town close its centre to cars?"
PRICE = (1.0, 4.0)
ALLOWED = 0.2
FIELDS = ("calls", "input_tokens", "output_tokens", "cost_usd")

CASES: dict[str, tuple[int, dict[str, Any]]] = {
    "discussion, 3, 5 utterances": (3, {"max_messages": 5}),
    "discussion, 3, 20": (3, {"max_messages": 20}),
    "discussion, 3, 40": (3, {"max_messages": 40}),
    "discussion, 8, 5": (8, {"max_messages": 5}),
    "discussion, 8, 40": (8, {"max_messages": 40}),
    "no planning, 3, 20": (3, {"max_messages": 20, "planning_and_reflection": False}),
    "memory filtering, 3, 20": (3, {"max_messages": 20, "memory_filtering": True}),
    "analysis, 3, 20": (3, {"max_messages": 20, "analysis": True}),
    "selector, 3, 20": (3, {"max_messages": 20, "pattern": "selector"}),
    "group chat, 3, 20": (3, {"baseline": "group_chat", "max_messages": 20}),
    "debate, 3, 5": (3, {"mode": "debate", "max_messages": 5}),
    "debate, 3, 20": (3, {"mode": "debate", "max_messages": 20}),
    "debate, 8, 16": (8, {"mode": "debate", "max_messages": 16}),
    "persona judge, 3, 20": (3, {"mode": "debate", "max_messages": 20, "judge": "persona"}),
    "all at once, 8, 12": (
        8,
        {"mode": "debate", "max_messages": 12, "judge": "persona", "memory_filtering": True, "analysis": True,
         "pattern": "selector"},
    ),
}  # fmt: skip
"""Name: participants, settings."""


def measure(case: str) -> tuple[Estimate, dict[str, Totals], Totals]:
    """Estimate and hold one conversation; the estimate is for the number of utterances made.

    Returns:
        The estimate; the run's figures by module; and in all.
    """
    participants, options = CASES[case]
    scenario = make_scenario(TOPIC, default_participants(participants))
    settings = Settings(model="offline", prices={"offline": PRICE}, **options)
    result = persimchat.simulate(scenario, settings=settings)
    foreseen = estimate(scenario, settings, utterances=len(result.utterances))
    return foreseen, totals_by(result.usage, "module"), totals(result.usage)


def differences(foreseen: Totals, used: Totals) -> Iterator[tuple[str, float, float, float]]:
    """Field, foreseen, used, and by what share of the run's figure the estimate is off."""
    for field in FIELDS:
        before, after = getattr(foreseen, field) or 0.0, getattr(used, field) or 0.0
        yield field, before, after, (before - after) / after if after else 0.0


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only the cases whose name contains this")
    parser.add_argument("--modules", action="store_true", help="also by module")
    given = parser.parse_args()
    worst = 0.0
    for case in CASES:
        if given.only not in case:
            continue
        foreseen, by_module, used = measure(case)
        parts: dict[str, tuple[Totals, Totals]] = {"in all": (foreseen.total, used)}
        if given.modules:
            known = foreseen.by("module")
            parts |= {
                name: (known.get(name, Totals()), by_module.get(name, Totals()))
                for name in sorted({*known, *by_module})
            }
        print(f"{case} ({foreseen.utterances} made)")
        for name, (before, after) in parts.items():
            found = list(differences(before, after))
            print(
                "  " + f"{name:18s}" + "  ".join(f"{f} {b:,.6g}/{a:,.6g} {d:+.1%}" for f, b, a, d in found), flush=True
            )
            if name == "in all":
                worst = max(worst, *(abs(d) for *_, d in found))
    print(f"greatest difference in all: {worst:.1%} (allowed {ALLOWED:.0%})")
    return int(worst > ALLOWED)


if __name__ == "__main__":
    sys.exit(main())
