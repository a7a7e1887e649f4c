"""Taking leave: a last word on a position or on something to take along, and a goodbye; no reasons or questions."""

from __future__ import annotations

from collections.abc import Sequence

from persimchat.models.offline.gists import known_gist
from persimchat.models.offline.grammar import filled, for_register, slots
from persimchat.models.offline.lexicon import deck, read, word_pattern
from persimchat.models.offline.persona_facts import address
from persimchat.models.offline.randomness import permutation
from persimchat.models.offline.scene import Scene
from persimchat.models.offline.words import count


def leave_taking(scene: Scene, answer: str, variant: int) -> list[str]:
    """The sentences with which a speaker takes leave.

    Args:
        scene: of the speaker.
        answer: their answer to a question; may be empty.
        variant: number of the draft.
    """
    goodbye = _own_goodbye(scene, variant) if scene.chance("own goodbye") < 0.6 else ""
    goodbye = goodbye or _drawn(scene, "goodbye", variant)
    takes = _takes(scene, variant)
    stands = _drawn(scene, _words(scene), variant)
    # Most state their position; some only say what they take along.
    words = [takes] if takes and not answer and scene.chance("last word") < 0.35 else [stands]
    if takes and takes not in words and count(" ".join((answer, *words, goodbye, takes))) <= 1.15 * scene.target:
        words.append(takes)
    return [part for part in (answer, *words, goodbye) if part]


def took_leave(text: str) -> bool:
    """Whether words say goodbye."""
    return bool(word_pattern("leaving").search(text))


def _words(scene: Scene) -> str:
    if scene.facts.child or not scene.others_hold:
        return "words"
    held = list(scene.others_hold.values())
    same = held.count(scene.stance.mine)
    if same == len(held) and same > 1:
        return scene.choose("near or not", ("near", "words"))
    return scene.choose("far or not", ("far", "words", "words")) if same < len(held) / 2 else "words"


def _takes(scene: Scene, variant: int) -> str:
    """What the speaker takes along: something that another speaker brought up lately."""
    everyone = (scene.prompt.name, *scene.prompt.present)
    heard = [
        (address(said.speaker, everyone), gist)
        for said in reversed(scene.prompt.recent)
        if said.speaker != scene.prompt.name
        and not scene.prompt.leads(said.speaker)
        and not said.whispered
        and (gist := known_gist(said.words, scene.topic))
    ]
    if not heard:
        return ""
    name, gist = heard[int(scene.chance("takes") * len(heard))]
    return _drawn(scene, "takes", variant, name=name, gist=gist)


def _own_goodbye(scene: Scene, variant: int) -> str:
    """A goodbye that fits the speaker's work, age or temper; "" for a child, who has a deck of its own."""
    facts = scene.facts
    if facts.child:
        return ""
    life: list[str] = []
    if facts.teen:
        life += deck("leave", "teen")
    elif not facts.retired:
        life += [line for domain in facts.domains[:1] for line in deck("leave", "occupations", domain)]
    if facts.age is not None and facts.age >= 70:
        life += deck("leave", "old")
    groups = [g for g in read("leave")["tempers"] if g in facts.groups - {"adversarial"}]
    groups += ["adversarial"] if scene.stance.temper.adversarial else []
    temper = [line for group in groups for line in deck("leave", "tempers", group)]
    if scene.register == "formal":
        temper = []
    own = life if life and (not temper or scene.chance("life or temper") < 0.5) else temper
    return _first_fresh(scene, own, permutation(len(own), "own", scene.decks.seed, facts.name), variant)


def _drawn(scene: Scene, kind: str, variant: int, **values: str) -> str:
    """A phrase of a kind. Each speaker has a stretch of each deck of their own, so no two use the same."""
    keys = ("child", kind) if scene.facts.child else (kind,)
    phrases = deck("leave", *keys)
    everyone = sorted((scene.prompt.name, *scene.prompt.present))
    start = everyone.index(scene.prompt.name) * len(phrases) // len(everyone)
    shuffled = permutation(len(phrases), "leave", kind, scene.decks.seed, scene.topic.text)
    return _first_fresh(scene, phrases, shuffled[start:] + shuffled[:start], variant, **values)


def _first_fresh(scene: Scene, phrases: Sequence[str], order: Sequence[int], variant: int, **values: str) -> str:
    """The first phrase that fits register and slots and was not said lately; "" if there is none."""
    known = {**scene.values, **values}
    turned = [phrases[i] for i in order]
    if scene.register == "formal":
        turned.sort(key=lambda phrase: not phrase.startswith("f|"))
    suited = [p for phrase in turned if (p := for_register(phrase, scene.register)) is not None]
    suited = [p for p in suited if all(known.get(s) for s in slots(p))]
    fresh = [p for p in suited if scene.decks.fresh(p)]
    return filled(fresh[variant % len(fresh)] if variant < 2 else fresh[0], known) if fresh else ""
