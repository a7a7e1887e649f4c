"""The offline model's arithmetic in stories, without words and without the graph: it gives stories different courses.

Five main characters, four others, three rounds, beliefs of 60 and 10, over 40 seeds: the shape of the ferry company.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from persimchat.graph.routing import draw
from persimchat.models.offline.randomness import generator
from persimchat.models.offline.story import arithmetic
from persimchat.personas.scenario import load_scenario
from persimchat.state.settlement import Outcome, settled
from persimchat.state.standing import in_order, influence, moved, strongest, supported
from persimchat.state.story import Story

ROUNDS = 3
SEEDS = range(40)


@cache
def ferries() -> Story:
    root = Path(__file__).resolve().parents[3]
    story = load_scenario(root / "examples" / "stories" / "ferries.yaml").story
    assert story is not None
    return story


@dataclass
class Course:
    """What came of one seed."""

    beliefs: dict[str, list[dict[str, Any]]]
    closeness: dict[str, dict[str, int]]
    supports: list[dict[str, str]] = field(default_factory=list)
    changes: list[int] = field(default_factory=list)
    outcome: Outcome | None = None


@cache
def course(seed: int) -> Course:
    """A story without words: everybody speaks for what it is after, others for whom they support."""
    story = ferries()
    names = list(story.characters)
    owners = {one.name: one.owner for one in story.resources}
    found = Course(
        {n: [{"score": b.score, "for": b.favours or ""} for b in story.characters[n].beliefs] for n in names},
        {n: {other: 10 for other in names if other != n} for n in names},
    )
    like = {n: {other: arithmetic.affinity(seed, n, other) for other in names if other != n} for n in names}
    behind = dict.fromkeys(names, "")
    for name in names:
        for other in found.closeness[name]:
            change = arithmetic.first_impression(like[name][other], generator(seed, "first", name, other))
            found.changes.append(change)
            found.closeness[name][other] = moved(10, change)

    def wants(name: str) -> list[str]:
        own = found.beliefs[name]
        return [own[place]["for"] for place in strongest(own)]

    def speaks_for(name: str) -> str:
        return next((whom for whom in wants(name) if whom), "") or behind[name]

    for round_ in range(1, ROUNDS + 1):
        weights = influence(story.resources, owners, behind)
        most = max(weights.values())
        felt: dict[str, dict[str, int]] = {name: {} for name in names}
        for stage in ("private", "confidential"):
            for host in in_order(story.mains, weights, draw(seed, round_, "order")):
                appeal = {
                    other: arithmetic.appeal(
                        weights[other] / most, found.closeness[host][other], other == "Aino Koskela",
                        other in felt[host], generator(seed, "choice", host, round_, stage, other),
                    )
                    for other in names if other != host
                }  # fmt: skip
                partner = max(appeal, key=lambda name, of=appeal: of[name])
                answer = generator(seed, "reply", partner, host, round_, stage)
                differs = bool(speaks_for(partner)) and speaks_for(partner) != speaks_for(host)
                warm = {host: arithmetic.warmth(like[partner][host], differs, answer), partner: 1}
                for one, other in ((host, partner), (partner, host)):
                    felt[one][other] = arithmetic.tone(
                        like[one][other], warm[one], generator(seed, "tone", one, other, round_, stage)
                    )
        said = {name: speaks_for(name) for name in names}
        before = {name: dict(near) for name, near in found.closeness.items()}
        for name in names:
            chance, mine = generator(seed, "review", name, round_), wants(name)
            for other in found.closeness[name]:
                backs = 0 if not said[other] or not mine else 1 if said[other] in mine else -1
                change = arithmetic.nearer(like[name][other], felt[name].get(other), backs, chance)
                found.changes.append(change)
                found.closeness[name][other] = moved(found.closeness[name][other], change)
            own = found.beliefs[name]
            near = before[name]
            heard = [float(sum(near[o] + 1 for o in near if said[o] == b["for"] and b["for"])) for b in own]
            best = strongest(own)
            character = {"Mirja Aalto": (False, True)}.get(name, (False, False))
            moves = arithmetic.belief_changes(
                heard, [place in best for place in range(len(own))], arithmetic.sway(*character), chance
            )
            found.changes += moves
            for one, change in zip(own, moves, strict=True):
                one["score"] = moved(one["score"], change)
        behind = {n: supported(story, n, found.beliefs[n], found.closeness[n], behind[n]) for n in names}
        found.supports.append(dict(behind))
    mains = story.mains
    openly, closed = {}, {}
    for name in mains:
        scores = {
            one: found.closeness[name].get(one, 0) + sum(b["score"] for b in found.beliefs[name] if b["for"] == one)
            for one in mains
        }
        openly[name] = arithmetic.open_choice(name, mains, wants(name), scores, decides=name == mains[0]) or ""
        others = {one: float(score) for one, score in scores.items() if one != name}
        closed[name] = arithmetic.ballot(others, generator(seed, "closed", name), 3.0)
    found.outcome = settled(openly, closed, mains, decider=mains[0])
    return found


def test_every_change_and_every_value_is_within_its_bounds() -> None:
    for seed in SEEDS:
        found = course(seed)
        assert all(-10 <= change <= 10 for change in found.changes)
        values = [one["score"] for own in found.beliefs.values() for one in own]
        values += [score for near in found.closeness.values() for score in near.values()]
        assert all(0 <= value <= 100 for value in values)


def test_different_characters_win_and_none_of_them_nearly_always() -> None:
    outcomes = [found.outcome for seed in SEEDS if (found := course(seed)).outcome is not None]
    wins = Counter(one["winners"][0] for one in outcomes if len(one["winners"]) == 1)
    assert len(wins) >= 3, wins
    assert max(wins.values()) <= 0.7 * len(SEEDS), wins


def test_others_take_sides_by_the_second_round_and_somebody_changes_sides() -> None:
    second = [course(seed).supports[1] for seed in SEEDS]
    mains = set(ferries().mains)
    backed = sum(any(main for name, main in one.items() if name not in mains) for one in second)
    assert backed >= 0.6 * len(SEEDS), backed
    changes = sum(
        bool(first[name]) and bool(then[name]) and first[name] != then[name]
        for seed in SEEDS
        for first, then in zip(course(seed).supports, course(seed).supports[1:], strict=False)
        for name in first
    )
    assert changes >= 1


def test_fewer_than_a_quarter_of_the_last_beliefs_are_at_an_end() -> None:
    last = [one["score"] for seed in SEEDS for own in course(seed).beliefs.values() for one in own]
    assert sum(score in (0, 100) for score in last) < 0.25 * len(last)


@given(st.integers(0, 10_000), st.lists(st.floats(0, 900), min_size=1, max_size=6), st.floats(0, 6))
def test_changes_of_beliefs_stay_within_ten(seed: int, weights: list[float], swayed: float) -> None:
    own = [place == 0 for place in range(len(weights))]
    changes = arithmetic.belief_changes(weights, own, swayed, generator(seed))
    assert len(changes) == len(weights)
    assert all(isinstance(change, int) and -10 <= change <= 10 for change in changes)


def test_a_decider_keeps_things_only_while_it_is_after_nobody() -> None:
    mains, scores = ["D", "A", "B"], {"D": 0.0, "A": 20.0, "B": 30.0}
    assert arithmetic.open_choice("D", mains, [""], scores, decides=True) == "D"
    assert arithmetic.open_choice("D", mains, ["A"], scores, decides=True) == "A"
    assert arithmetic.open_choice("D", mains, ["A", "B"], scores, decides=True) == "B"
    assert arithmetic.open_choice("A", mains, ["A", "B"], scores, decides=False) == "A"
    assert arithmetic.open_choice("C", mains, ["A"], scores, decides=False) is None
