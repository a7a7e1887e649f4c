"""What is said in debates beside reasons: where one stands, that one was moved, what one asks the others."""

from __future__ import annotations

from persimchat.models.offline.lexicon import deck, lines, read
from persimchat.models.offline.persona_facts import address
from persimchat.models.offline.positions import anchor
from persimchat.models.offline.scene import Scene
from persimchat.models.offline.words import normalised


def _phrase(scene: Scene, kind: str) -> str:
    keys = ("child", kind) if scene.facts.child else (kind,)
    return scene.decks.pick(f"debate {' '.join(keys)}", deck("debate", *keys), scene.step, scene.values)


def shift(scene: Scene) -> str:
    """That the speaker holds something else now, to the one who brought them to it where that is the last speaker."""
    if scene.stance.temper.adversarial or not scene.moved:
        return ""
    to_them = scene.values["theirs"] == scene.values["mine"] and scene.values["name"]
    return _phrase(scene, "concede" if to_them else "moved")


def stand(scene: Scene) -> str:
    """Where the speaker stands, in so many words: with everybody, near the last speaker, or on their own."""
    if scene.moved and scene.asked and not scene.stance.temper.adversarial:
        return _phrase(scene, "moved")
    if scene.agreed and not scene.stance.temper.adversarial:
        return _phrase(scene, "settled")
    if _out_of_reach(scene):
        return _phrase(scene, "firm" if scene.chance("firm") < 0.6 else "stance")
    near = scene.values["theirs"] not in ("", scene.values["mine"]) and not scene.facts.child
    return _phrase(scene, "near" if near and scene.chance("near") < 0.4 else "stance")


def _out_of_reach(scene: Scene) -> bool:
    """Whether most of the others stand farther away than the speaker listens."""
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
    """Whether the speaker says where they stand, `so_far` being what they are about to say."""
    if names_mine(scene, so_far) and not (scene.moved and scene.asked):
        return False
    # Whoever has not spoken for anything yet, or finds the others agreed, says it; else most of the time.
    return scene.stance.stated is None or scene.agreed or scene.moved or scene.chance("stand") < 0.6


def question(scene: Scene) -> str:
    """A question about the answer to somebody by name; "" where there is none to ask now."""
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
    """An answer to a question of `question`; "" where something else was asked."""
    for asked in read("debate")["questions"]:
        if asked["cue"] in scene.last_text.lower():
            kind = "same" if scene.values["theirs"] == scene.values["mine"] else "differ"
            return scene.decks.pick(f"reply {asked['cue']}", lines(asked[kind]), scene.step, scene.values)
    return ""
