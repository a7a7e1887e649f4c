"""Derives the scene of a prompt: the situation of its speaker."""

from __future__ import annotations

import re
from collections.abc import Sequence

from persimchat.models.offline.gists import gist_of
from persimchat.models.offline.grammar import Decks
from persimchat.models.offline.lexicon import read
from persimchat.models.offline.opinion import Stance, stance
from persimchat.models.offline.persona_facts import Facts, address, facts_of
from persimchat.models.offline.positions import nearest, position_in
from persimchat.models.offline.prompt import Prompt, Said
from persimchat.models.offline.randomness import generator
from persimchat.models.offline.scene import Scene
from persimchat.models.offline.timeline import last_places, timeline
from persimchat.models.offline.topics import Topic, topic_of
from persimchat.models.offline.words import normalised


def _register(prompt: Prompt, facts: Facts) -> str:
    if any(re.search(r"\b(formal|polite)ly\b|\bformal (language|speech)", r, re.I) for r in prompt.rules):
        return "formal"
    return "neutral" if facts.formal and prompt.register == "casual" else prompt.register


def _target(prompt: Prompt, facts: Facts) -> int:
    words, rules = prompt.words, " ".join(prompt.rules)
    limit = re.search(r"(?:at most|no more than|maximum(?: of)?|up to|under) (\d+) words", rules, re.IGNORECASE)
    if limit:
        words = min(words, int(limit.group(1)))
    factor = 0.8 if facts.brief or facts.child else 1.0
    # Anger and grief shorten utterances even if they are not expressed.
    if max(prompt.emotions.get("anger", 0), prompt.emotions.get("disgust", 0)) >= 6:
        factor *= 0.65
    elif prompt.emotions.get("sadness", 0) >= 6:
        factor *= 0.8
    return max(3, round(words * factor))


def _mood(prompt: Prompt, seed: int) -> str:
    """The emotion that the words express: a strong one, and not every time."""
    if not prompt.emotions:
        return ""
    name = max(prompt.emotions, key=lambda e: prompt.emotions[e])
    level = prompt.emotions[name]
    threshold = 8 if name == "happiness" else 5
    draw = generator(seed, prompt.topic, prompt.name, prompt.turn, "mood").random()
    return name if level >= threshold and draw < (level - threshold + 2) / (12 if name == "happiness" else 8) else ""


def scene_of(prompt: Prompt, seed: int, *, ahead: int = 0) -> Scene:
    """The scene of a prompt for an utterance.

    Args:
        prompt: as read.
        seed: of the model.
        ahead: number of places in all decks that are left to simultaneous speakers.
    """
    facts = facts_of(prompt)
    topic = topic_of(prompt)
    held = stance(prompt, topic, seed)
    everyone = (prompt.name, *prompt.present)
    others = [said for said in prompt.recent if said.speaker != prompt.name]
    last = others[-1] if others and prompt.recent[-1].speaker != prompt.name else None
    heard = prompt.heard
    if last is None and not prompt.recent and heard and not heard.own:
        last = Said(heard.speaker, heard.words, whispered=heard.whispered)
    mood = _mood(prompt, seed)
    values = _values(prompt, facts, topic, held, last, others)
    register = _register(prompt, facts)
    again = (*prompt.avoid, *prompt.later)
    lately = (*(said.words for said in prompt.recent), *again)
    led = last is not None and prompt.leads(last.speaker)
    asked = last is not None and bool(values["name"]) and _asks(last.words, prompt.name, everyone)
    # The next speaker answers a moderator's question.
    asked = asked or (led and last is not None and "?" in last.words)
    opening = not prompt.recent and prompt.turn == 0 and last is None
    closing = prompt.closing and not opening
    step = prompt.turn + ahead + 7 * len(again)
    draw = generator(seed, prompt.topic, prompt.name, step, "asks").random()
    no_questions = any(re.search(r"\b(no|not|don't|never)\b.*\bquestions?\b", r, re.I) for r in prompt.rules)
    # The longer a discussion, the fewer questions.
    rounds = prompt.turn / len(everyone) if prompt.form is None else 0.0
    eager = (0.5 if "curious" in facts.groups else 0.3) * max(0.1, min(1.0, 1.5 - rounds / 10))
    asks = draw < eager and not no_questions and mood != "anger"
    return Scene(
        prompt=prompt,
        facts=facts,
        topic=topic,
        stance=held,
        decks=Decks(seed, prompt.topic, register, " | ".join(map(normalised, lately))),
        values=values,
        register=register,
        target=_target(prompt, facts),
        turn=step,
        step=step,
        spoken_before=_spoken(prompt),
        opening=opening,
        closing=closing,
        asked=asked,
        reaction=_reaction(topic, held, values, asked=asked),
        led=led,
        confided=last is not None and last.whispered,
        moved=held.earlier != held.mine and _spoken(prompt) > (0 if held.aloud else 1),
        others_hold={
            name: nearest(told.place, len(topic.positions))
            for name, told in last_places(timeline(prompt, topic)).items()
            if name != prompt.name
        },
        mood="" if opening or closing else mood,
        short=mood == "anger",
        asks=asks and not asked,
        other_spoke=any(address(s.speaker, everyone) == values["other"] for s in prompt.recent),
        last_text=last.words if last else "",
        said_lately=lately,
        remembered=" | ".join(normalised(m.theme) for m in prompt.memories if m.kind == "perception"),
    )


def _spoken(prompt: Prompt) -> int:
    if prompt.spoken is not None:
        return prompt.spoken
    return max(sum(s.speaker == prompt.name for s in prompt.recent), prompt.turn // (len(prompt.present) + 1))


def _asks(text: str, name: str, everyone: tuple[str, ...]) -> bool:
    """Whether words ask a participant by name: in the question itself, or anywhere if the words end with a question."""
    spoken = address(name, everyone)
    if not spoken or "?" not in text:
        return False
    called = re.compile(rf"(?<!\w){re.escape(spoken)}(?!\w)", re.IGNORECASE)
    sentences = re.split(r"(?<=[.!?])\s+", text.strip())
    others = [a for n in everyone if n != name and (a := address(n, everyone))]
    if sentences[-1].endswith("?") and called.search(text) and not any(o in sentences[-1] for o in others):
        return True
    return any(s.endswith("?") and called.search(s) for s in sentences)


def _reaction(topic: Topic, held: Stance, values: dict[str, str], *, asked: bool) -> str:
    if asked:
        return "answer"
    if not values["theirs"]:
        return "build"
    if held.temper.adversarial:
        return "build" if values["theirs"] == values["mine"] else "disagree"
    if held.earlier != held.mine and values["theirs"] == topic.positions[held.mine]:
        return "concede"
    return "agree" if values["theirs"] == values["mine"] else "disagree"


def _called(prompt: Prompt, name: str, everyone: tuple[str, ...]) -> str:
    """How to address the last speaker: as one addresses one's mother or grandfather, else by name."""
    relation = prompt.relation_to(name)
    if relation and relation.role in ("parent", "grandparent"):
        noted = re.findall(r"\w+", relation.note.casefold())
        kin = next((called for word, called in read("speech")["kin"].items() if word in noted), "")
        if kin:
            return str(kin)
    return address(name, everyone)


def _values(
    prompt: Prompt,
    facts: Facts,
    topic: Topic,
    held: Stance,
    last: Said | None,
    others: Sequence[Said],
) -> dict[str, str]:
    everyone = (prompt.name, *prompt.present)
    key = (prompt.topic, prompt.name, prompt.turn)
    n = len(topic.positions)
    rivals = [i for i in range(n) if i != held.mine]
    theirs = position_in(last.words, topic) if last and not prompt.leads(last.speaker) else None
    rival = theirs if theirs is not None and theirs != held.mine else generator("rival", *key).choice(rivals)
    if held.earlier != held.mine:
        rival = held.earlier
    open_ = (said for said in reversed(others) if not said.whispered and not prompt.leads(said.speaker))
    third = next((said for said in open_ if last and said.speaker != last.speaker), None)
    gist3 = gist_of(third.words, topic) if third else ""
    gist = gist_of(last.words, topic) if last else ""
    recent = [said.speaker for said in prompt.recent]
    # Asks the participants who have been silent longest first, and never the last speaker.
    others_here = [p for p in prompt.present if not prompt.leads(p)]
    askable = [p for p in others_here if not last or p != last.speaker] or others_here
    silent = sorted(askable, key=lambda p: recent[::-1].index(p) if p in recent else 99, reverse=True)
    pool = silent[: max(1, (len(silent) + 1) // 2)]
    other = generator("other", *key).choice(pool) if pool else ""
    return {
        "name": _called(prompt, last.speaker, everyone) if last else "",
        "third": address(third.speaker, everyone) if third and gist3 and gist3 != gist else "",
        "other": address(other, everyone) if other else "",
        "mine": topic.positions[held.mine],
        "theirs": topic.positions[theirs] if theirs is not None else "",
        "rival": topic.positions[rival],
        "gist": gist,
        "gist3": gist3,
        "head": topic.head,
        "both": "both" if n == 2 else "all of them",
        "job": facts.as_noun,
        "place": facts.place,
        "pastime": facts.pastime,
    }
