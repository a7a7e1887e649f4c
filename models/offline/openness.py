"""Debates: an agent's openness to consensus, and its words besides reasons.

Openness follows from the same bounded confidence as the opinions (`opinion.py`): an agent does not accept a position
outside its bound, and accepts one within it the more readily the nearer it is. The coefficients are this model's own
and were set by hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from persimchat.models.offline.appraisal import Appraisal, appraise
from persimchat.models.offline.lexicon import deck, lines, read
from persimchat.models.offline.opinion import Stance
from persimchat.models.offline.persona_facts import address
from persimchat.models.offline.positions import anchor, nearest
from persimchat.models.offline.prompt import Prompt
from persimchat.models.offline.randomness import generator
from persimchat.models.offline.scene import Scene
from persimchat.models.offline.timeline import last_places, timeline
from persimchat.models.offline.words import normalised, short_name


def _phrase(scene: Scene, kind: str) -> str:
    keys = ("child", kind) if scene.facts.child else (kind,)
    return scene.decks.pick(f"debate {' '.join(keys)}", deck("debate", *keys), scene.step, scene.values)


def shift(scene: Scene) -> str:
    """The speaker's words on a change of position, addressed to the last speaker if their words caused it."""
    if scene.stance.temper.adversarial or not scene.moved:
        return ""
    to_them = scene.values["theirs"] == scene.values["mine"] and scene.values["name"]
    return _phrase(scene, "concede" if to_them else "moved")


def stand(scene: Scene) -> str:
    """The speaker's position relative to the others: with all, near the last speaker, or alone."""
    if scene.moved and scene.asked and not scene.stance.temper.adversarial:
        return _phrase(scene, "moved")
    if scene.agreed and not scene.stance.temper.adversarial:
        return _phrase(scene, "settled")
    if _out_of_reach(scene):
        return _phrase(scene, "firm" if scene.chance("firm") < 0.6 else "stance")
    near = scene.values["theirs"] not in ("", scene.values["mine"]) and not scene.facts.child
    return _phrase(scene, "near" if near and scene.chance("near") < 0.4 else "stance")


def _out_of_reach(scene: Scene) -> bool:
    """Whether the positions of most others are outside the speaker's confidence bound."""
    if scene.stance.temper.adversarial:
        return True
    n = len(scene.topic.positions)
    opinion, bound = scene.stance.opinion, scene.stance.temper.confidence_bound
    far = [abs(anchor(held, n) - opinion) > bound for held in scene.others_hold.values()]
    return bool(far) and sum(far) > len(far) / 2


def names_mine(scene: Scene, text: str) -> bool:
    """Whether a text names the speaker's position."""
    return f" {normalised(scene.values['mine'])} " in f" {normalised(text)} "


def wants_to_stand(scene: Scene, so_far: str) -> bool:
    """Whether the speaker adds their position to `so_far`, the words that they are about to say."""
    if names_mine(scene, so_far) and not (scene.moved and scene.asked):
        return False
    # A speaker who has not stated a position yet, or finds the others agreed, states it; else most of the time.
    return scene.stance.stated is None or scene.agreed or scene.moved or scene.chance("stand") < 0.6


def question(scene: Scene) -> str:
    """A question about the answer to a named participant; "" if there is none to ask now."""
    everyone = (scene.prompt.name, *scene.prompt.present)
    last = scene.prompt.recent[-1].speaker if scene.prompt.recent else ""
    others = [n for n in scene.prompt.present if n != last and address(n, everyone)]
    far = [n for n in others if scene.others_hold.get(n, scene.stance.mine) != scene.stance.mine]
    if not others:
        return ""
    other = scene.choose("whom", far or others)
    spoke = any(said.speaker == other for said in scene.prompt.recent) or other in scene.others_hold
    asks = [
        q["ask"]
        for q in read("debate")["questions"]
        if not (q.get("far") and other not in far) and q.get("who") != ("silent" if spoke else "spoke")
    ]
    return scene.decks.pick("debate ask", asks, scene.step, {**scene.values, "other": address(other, everyone)})


def reply(scene: Scene) -> str:
    """An answer to a question of `question`; "" if the question was another one."""
    for asked in read("debate")["questions"]:
        if asked["cue"] in scene.last_text.lower():
            kind = "same" if scene.values["theirs"] == scene.values["mine"] else "differ"
            return scene.decks.pick(f"reply {asked['cue']}", lines(asked[kind]), scene.step, scene.values)
    return ""


@dataclass(frozen=True)
class Heading:
    """The group's leading position: the one that most of the others spoke for, and their number."""

    position: int
    holders: int
    others: int


def heading(held: Mapping[str, int], mine: Stance, positions: int) -> Heading | None:
    """The group's leading position from one member's view; None if no other member has spoken for one.

    Args:
        held: the others' positions, by name.
        mine: the member's own stance; of positions with equally many holders, the nearest to it counts.
        positions: how many there are.
    """
    counts = Counter(held.values())
    if not counts:
        return None
    best = max(counts, key=lambda p: (counts[p], -abs(anchor(p, positions) - mine.opinion)))
    return Heading(best, counts[best], len(held))


def openness_to(group: Heading | None, mine: Stance, positions: int) -> float:
    """Openness from 0 to 10, before mood and chance.

    If the agent holds the group's position: 8 to 10. If that is within its bound: 4 to 7, more the nearer it is and the
    more hold it. If it is outside the bound: 3 or less.
    """
    temper = mine.temper
    if temper.adversarial:
        return 0.0
    if group is None:
        return 3.0 + 6.0 * temper.confidence_bound
    share = group.holders / group.others
    if group.position == mine.mine:
        return 8.0 + 2.0 * share
    distance = abs(anchor(group.position, positions) - mine.opinion)
    if distance <= temper.confidence_bound:
        return 4.0 + 2.0 * (1.0 - distance / temper.confidence_bound) + share
    return max(0.0, 3.0 - 4.0 * (distance - temper.confidence_bound))


def openness(prompt: Prompt, seed: int) -> tuple[int, str]:
    """The openness of a prompt's agent to a common answer, 0–10, and the reason (one sentence)."""
    a = appraise(prompt, seed)
    n = len(a.topic.positions)
    held = {
        name: nearest(told.place, n)
        for name, told in last_places(timeline(prompt, a.topic)).items()
        if name != prompt.name
    }
    group = heading(held, a.stance, n)
    score = openness_to(group, a.stance, n)
    if not a.stance.temper.adversarial:
        # The fewer participants have spoken, the less certain is the group's position; one utterance changes nobody.
        known = len(held) / max(1, len(prompt.present))
        score = known * score + (1 - known) * openness_to(None, a.stance, n)
        if prompt.openness is not None and a.stance.mine == a.stance.earlier:
            score = 0.6 * score + 0.4 * prompt.openness
        score += _mood(prompt, a)
        score += 0.8 * (generator(seed, "openness", prompt.name, prompt.topic, prompt.turn).random() - 0.5)
    return max(0, min(10, round(score))), _reason(prompt, a, group, held)


def _mood(prompt: Prompt, a: Appraisal) -> float:
    upset = max(prompt.emotions.get("anger", 0), prompt.emotions.get("disgust", 0))
    glad = prompt.emotions.get("happiness", 0)
    return 0.15 * max(0, glad - 3) - 0.35 * max(0, upset - 2) + 0.4 * a.valence * (a.agreement > 0)


def _reason(prompt: Prompt, a: Appraisal, group: Heading | None, held: Mapping[str, int]) -> str:
    me, mine = short_name(prompt.name), a.topic.positions[a.stance.mine]
    if a.stance.temper.adversarial:
        return f"{me} is here to hold out for {mine} and wants no common answer."
    if group is None:
        return f"{me} leans towards {mine} and has not heard yet what the others hold."
    theirs, who = a.topic.positions[group.position], _who(group, held)
    if group.position == a.stance.mine:
        came = a.stance.earlier != a.stance.mine
        return f"{me} {'has come round to' if came else 'holds'} {mine}, and so {who}."
    distance = abs(anchor(group.position, len(a.topic.positions)) - a.stance.opinion)
    if distance <= a.stance.temper.confidence_bound:
        return f"{me} prefers {mine}, but {theirs}, which {_hold(who)}, is near enough to be thought about."
    return f"{me} stands by {mine}, and {theirs}, which {_hold(who)}, is too far from it."


def _who(group: Heading, held: Mapping[str, int]) -> str:
    holders: Sequence[str] = [short_name(name) for name, position in held.items() if position == group.position]
    if group.holders == 1:
        return f"does {holders[0]}"
    return "do all the others" if group.holders == group.others else "do most of the others"


def _hold(who: str) -> str:
    verb, _, people = who.partition(" ")
    return f"{people} {'holds' if verb == 'does' else 'hold'}"
