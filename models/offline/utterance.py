"""Words an utterance by its speaker's situation: a reaction, a point or a story from life, and a continuation.

In debates it states positions and asks for them. Who takes leave has a last word on a position or on something to take
along, and a goodbye; no reasons or questions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from .material import (
    Decks,
    capitalised,
    content_words,
    count,
    deck,
    filled,
    generator,
    lines,
    normalised,
    permutation,
    read,
    slots,
    spoken,
    turned,
)
from .persona_facts import Facts, address, facts_of, life_lines
from .positions import anchor, gist_of, known_gist, others_hold, position_in, stance
from .prompt import Prompt, Said
from .topics import Point, topic_of

_BLOCK: Final = 5
"""Of every five utterances, two tell a story from life, or one if the topic is a task or a debate; in an order drawn
per conversation."""
_CHOICE: Final = 2
"""Number of points from which a speaker chooses: enough to find a fitting one, few enough to last a conversation."""
_CHILD_FIRST: Final = 3
"""Number of a child's sentences that are on the topic itself: the first ones."""


class Scene:
    """The situation that determines an utterance.

    Attributes:
        prompt: as read.
        facts: of the speaker.
        topic: analysed.
        stance: of the speaker.
        decks: the conversation's phrases.
        values: values for the slots; "" if there is none.
        target: length in words.
        step: the place in all decks: utterances so far, moved on if the same prompt is repeated.
        debate: the conversation seeks one answer.
        spoken_before: the speaker's utterances so far.
        points_before: points made in the turns before this one.
        opening: nobody has spoken yet.
        closing: the end is near, so these are the speaker's last words.
        asked: the last utterance asks this speaker something.
        reaction: to the last speaker: agree, disagree, concede, build or answer.
        led: the last utterance is the moderator's, who takes no part.
        confided: the last utterance was whispered.
        moved: the speaker's position has changed since they last spoke.
        others_hold: the positions that the others last spoke for, by name.
        mood: an emotion strong enough to be expressed now; empty otherwise.
        short: the utterance has no optional parts.
        asks: the utterance ends with a question to a participant.
        last_text: the last utterance of another speaker; empty if there is none.
        remembered: the themes of memories of earlier utterances, normalised.
    """

    def __init__(self, prompt: Prompt, *, ahead: int = 0) -> None:
        """The scene of a prompt for an utterance; `ahead` places in all decks are left to simultaneous speakers."""
        self.prompt, self.facts, self.topic = prompt, facts_of(prompt), topic_of(prompt)
        self.stance = stance(prompt, self.topic)
        self.everyone = (prompt.name, *prompt.present)
        others = [said for said in prompt.recent if said.speaker != prompt.name]
        last = others[-1] if others and prompt.recent[-1].speaker != prompt.name else None
        if last is None and not prompt.recent and prompt.heard and not prompt.heard.own:
            last = prompt.heard
        again = (*prompt.avoid, *prompt.later)
        lately = (*(said.text for said in prompt.recent), *again)
        self.decks = Decks(prompt.seed, prompt.topic, self._register(), " | ".join(map(normalised, lately)))
        self.values = self._values(last, others)
        self.target = _target(prompt, self.facts)
        self.step, self.debate = prompt.turn + ahead + 7 * len(again), prompt.form is not None
        self.points_before = sum(not self._is_life(turn) for turn in range(self.step))
        told = max(len(prompt.recent) - len(others), prompt.turn // len(self.everyone))
        self.spoken_before = told if prompt.spoken is None else prompt.spoken
        self.opening = not prompt.recent and prompt.turn == 0 and last is None
        self.closing = prompt.closing and not self.opening
        self.led = last is not None and prompt.leads(last.speaker)
        self.confided = last is not None and bool(last.whispered)
        self.last_text = last.text if last else ""
        # The next speaker answers a moderator's question.
        self.asked = (self.led and "?" in self.last_text) or (
            bool(self.values["name"]) and _asks(self.last_text, prompt.name, self.everyone)
        )
        self.reaction = self._reaction()
        self.moved = self.stance.earlier != self.stance.mine and self.spoken_before > (0 if self.stance.aloud else 1)
        self.others_hold = others_hold(prompt, self.topic)
        mood = _mood(prompt)
        self.mood, self.short = "" if self.opening or self.closing else mood, mood == "anger"
        self.asks = not self.asked and not self.short and self._is_eager_to_ask()
        self.remembered = " | ".join(normalised(m.theme) for m in prompt.memories if m.kind == "perception")

    def _register(self) -> str:
        if _rules_say(self.prompt, r"\b(formal|polite)ly\b|\bformal (language|speech)"):
            return "formal"
        return "neutral" if self.facts.formal and self.prompt.register == "casual" else self.prompt.register

    def _is_eager_to_ask(self) -> bool:
        """Whether the speaker would ask something now: the longer a discussion, the fewer questions."""
        prompt = self.prompt
        rounds = prompt.turn / len(self.everyone) if prompt.form is None else 0.0
        eager = (0.5 if "curious" in self.facts.groups else 0.3) * max(0.1, min(1.0, 1.5 - rounds / 10))
        draw = generator(prompt.seed, prompt.topic, prompt.name, self.step, "asks").random()
        return draw < eager and not _rules_say(prompt, r"\b(no|not|don't|never)\b.*\bquestions?\b")

    def _reaction(self) -> str:
        theirs, mine = self.values["theirs"], self.values["mine"]
        if self.asked:
            return "answer"
        if not theirs or (self.stance.temper.adversarial and theirs == mine):
            return "build"
        if theirs != mine:
            return "disagree"
        return "agree" if self.stance.earlier == self.stance.mine else "concede"

    def _values(self, last: Said | None, others: Sequence[Said]) -> dict[str, str]:
        prompt, topic, held = self.prompt, self.topic, self.stance
        key = (prompt.topic, prompt.name, prompt.turn)
        theirs = position_in(last.text, topic) if last and not prompt.leads(last.speaker) else None
        rivals = [i for i in range(len(topic.positions)) if i != held.mine]
        rival = theirs if theirs is not None and theirs != held.mine else generator("rival", *key).choice(rivals)
        rival = held.earlier if held.earlier != held.mine else rival
        open_ = (said for said in reversed(others) if not said.whispered and not prompt.leads(said.speaker))
        third = next((said for said in open_ if last and said.speaker != last.speaker), None)
        gist3 = gist_of(third.text, topic) if third else ""
        gist = gist_of(last.text, topic) if last else ""
        recent = [said.speaker for said in reversed(prompt.recent)]
        # Asks the participants who have been silent longest first, and never the last speaker.
        others_here = [p for p in prompt.present if not prompt.leads(p)]
        askable = [p for p in others_here if not last or p != last.speaker] or others_here
        silent = sorted(askable, key=lambda p: recent.index(p) if p in recent else 99, reverse=True)
        other = generator("other", *key).choice(silent[: (len(silent) + 1) // 2]) if silent else ""
        return {
            "name": self._called(last.speaker) if last else "",
            "third": address(third.speaker, self.everyone) if third and gist3 and gist3 != gist else "",
            "other": address(other, self.everyone),
            "mine": topic.positions[held.mine],
            "theirs": topic.positions[theirs] if theirs is not None else "",
            "rival": topic.positions[rival],
            "gist": gist,
            "gist3": gist3,
            "head": topic.head,
            "both": "both" if len(topic.positions) == 2 else "all of them",
            **self.facts.slots,
        }

    def _called(self, name: str) -> str:
        """How to address the last speaker: as one addresses one's mother or grandfather, else by name."""
        relation, kin = self.prompt.relation_to(name), ""
        if relation and relation.role in ("parent", "grandparent"):
            noted = re.findall(r"\w+", relation.note.casefold())
            kin = next((called for word, called in read("speech")["kin"].items() if word in noted), "")
        return kin or address(name, self.everyone)

    def chance(self, about: str) -> float:
        """A number from 0 to 1 for one decision of this utterance."""
        return generator(self.decks.seed, self.topic.text, self.facts.name, self.step, about).random()

    def choose(self, about: str, choices: Sequence[str]) -> str:
        """One of several options for one decision of this utterance."""
        return choices[int(self.chance(about) * len(choices))]

    def usable(self, point: Point) -> bool:
        """Whether all slots of a point can be filled."""
        return all(self.values.get(s) for s in slots(point.text))

    def untold(self, gist: str) -> bool:
        """Whether no memory says that this was brought up."""
        return not gist or normalised(gist) not in self.remembered

    def recalls(self, sentence: str) -> bool:
        """Whether the standout words of a remembered utterance include most words of a sentence."""
        words = {word.casefold() for word in content_words(sentence, 20)}
        least = min(max(2, round(0.6 * len(words))), 4)
        percepts = (m for m in self.prompt.memories if m.kind == "perception")
        return any(len(words.intersection(k.casefold() for k in m.keywords)) >= least for m in percepts)

    @property
    def agreed(self) -> bool:
        """Whether nearly all others are known to hold the speaker's position, and none another."""
        enough = len(self.others_hold) >= 0.75 * len(self.prompt.present) > 0
        return enough and set(self.others_hold.values()) == {self.stance.mine}

    @property
    def tells_life(self) -> bool:
        """Whether this turn of the conversation is one for a story from life; the first is none."""
        return self._is_life(self.step) and not self.opening

    def say(self, deck: str, phrases: Sequence[str], **values: str) -> str:
        """The current phrase of a deck, filled; "" if there is none."""
        return self.decks.pick(deck, phrases, self.step, {**self.values, **values})

    def _is_life(self, turn: int) -> bool:
        block, place = divmod(turn, _BLOCK)
        lives = 1 if self.topic.is_task or self.debate else 2
        return permutation(_BLOCK, self.decks.seed, self.topic.text, "life", block)[place] < lives


def _rules_say(prompt: Prompt, pattern: str) -> bool:
    return any(re.search(pattern, rule, re.IGNORECASE) for rule in prompt.rules)


def _target(prompt: Prompt, facts: Facts) -> int:
    words, rules = prompt.words, " ".join(prompt.rules)
    limit = re.search(r"(?:at most|no more than|maximum(?: of)?|up to|under) (\d+) words", rules, re.IGNORECASE)
    words = min(words, int(limit.group(1))) if limit else words
    factor = 0.8 if facts.brief or facts.child else 1.0
    # Anger and grief shorten utterances even if they are not expressed.
    if max(prompt.emotions.get("anger", 0), prompt.emotions.get("disgust", 0)) >= 6:
        factor *= 0.65
    elif prompt.emotions.get("sadness", 0) >= 6:
        factor *= 0.8
    return max(3, round(words * factor))


def _mood(prompt: Prompt) -> str:
    """The emotion that the words express: a strong one, and not every time."""
    name = max(prompt.emotions, key=lambda e: prompt.emotions[e], default="")
    level, threshold = prompt.emotions.get(name, 0), 8 if name == "happiness" else 5
    draw = generator(prompt.seed, prompt.topic, prompt.name, prompt.turn, "mood").random()
    return name if level >= threshold and draw < (level - threshold + 2) / (12 if name == "happiness" else 8) else ""


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


def points_in_order(scene: Scene) -> list[Point]:
    """The points on the topic in the conversation's own order: specific ones before general ones.

    The first few are reserved for the first speaker, because later speakers cannot know which of them was used.
    """
    ordered: list[Point] = []
    for tier, size in enumerate(scene.topic.tiers):
        order, begin = permutation(size, "points", tier, scene.decks.seed, scene.topic.text), len(ordered)
        ordered += [scene.topic.points[begin + i] for i in order]
    kept = min(3, max(1, scene.topic.tiers[0] // 3))
    return ordered[:kept] if scene.opening else ordered[kept:]


def point_for(scene: Scene) -> Point:
    """The next point: of the next two in the deck, the one that fits the speaker's position better."""
    ordered = points_in_order(scene)
    due = turned(ordered, _CHOICE * scene.points_before)
    fresh = [p for p in due if scene.usable(p) and scene.decks.fresh(p.text)] or ordered
    fresh = [p for p in fresh if scene.untold(p.gist)] or fresh
    # The first speaker states their own view; later speakers take the next point.
    return min(fresh if scene.opening else fresh[:_CHOICE], key=lambda p: foreignness(scene, p))


def foreignness(scene: Scene, point: Point) -> int:
    """0 for a point that supports the speaker's position, 1 for one that supports none, 2 for another position."""
    return 1 if point.tag == "-" else 0 if int(point.tag) == scene.stance.mine else 2


def _say(scene: Scene, kind: str, file: str, **values: str) -> str:
    """A phrase of a kind; children have decks of their own."""
    keys = ("child", kind) if scene.facts.child else (kind,)
    label = {"speech": kind, "leave": f"leave {kind}", "debate": f"debate {' '.join(keys)}"}[file]
    return scene.say(label, deck(file, *keys), **values)


def worded(scene: Scene) -> str:
    """The speaker's next utterance: never empty, without their name in front, of about the requested length."""
    if scene.closing:
        return spoken(_leave_taking(scene, _reaction(scene) if scene.asked else ""), scene.decks.register)
    body, clause, follows = _body(scene)
    if scene.opening and count(body) < scene.target:
        clause = body if scene.facts.child else clause
        parts = [_say(scene, "opening", "speech", clause=clause) if clause else body]
    else:
        # Delight replaces a reaction, and so does haste.
        owed = scene.asked or (scene.debate and scene.moved)
        start = _reaction(scene) if owed or scene.mood != "happiness" else ""
        parts = [start if owed or count(f"{start} {body}") <= 1.4 * scene.target else "", body]
    if scene.mood:
        parts.insert(0, scene.say("mood" + scene.mood, deck("speech", "moods", scene.mood)))
    if scene.debate:
        parts = _with_stand(scene, parts)
    for extra in _extras(scene, follows=follows):
        length = count(" ".join(p for p in parts if p))
        if length >= 0.85 * scene.target:
            break
        if extra not in parts and length + count(extra) <= scene.target * 1.4:
            parts.append(extra)
    return spoken([p for p in parts if p] or [body], scene.decks.register)


def reasons(scene: Scene, first: str, last: str) -> str:
    """A reaction to the last speaker and reasons, between a first and a last sentence."""
    body, _, _ = _body(scene)
    parts = [_reaction(scene) if scene.last_text and not scene.moved else "", first, body]
    more = [text for text in _further(scene) if text not in parts]
    parts += more[:1] if count(" ".join(parts)) < 0.7 * scene.target else []
    # A speaker who has named their answer in their reasons need not repeat it at the end.
    settled = _names_mine(scene, " ".join(parts)) and not scene.moved
    return spoken(parts if settled else [*parts, last], scene.decks.register)


def _with_stand(scene: Scene, parts: list[str]) -> list[str]:
    """The parts of an utterance in a debate, with the speaker's position; drops other parts if there is no room."""
    named = _names_mine(scene, " ".join(parts)) and not (scene.moved and scene.asked)
    # A speaker who has not stated a position yet, or finds the others agreed, states it; else most of the time.
    due = scene.stance.stated is None or scene.agreed or scene.moved or scene.chance("stand") < 0.6
    if named or not due:
        return parts
    stands = stand(scene)
    if scene.agreed and len(parts) > 1 and scene.chance("enough said") < 0.5:
        return [*parts[:-1], stands]
    while len(parts) > 1 and not scene.asked and count(" ".join((*parts, stands))) > 1.25 * scene.target:
        parts = parts[1:]
    return [*parts, stands]


def _reaction(scene: Scene) -> str:
    """The reaction to the last speaker; "" now and then, because people do not always react."""
    values, child = scene.values, scene.facts.child
    if scene.debate and not scene.asked and (shifted := shift(scene)):
        return shifted
    if scene.led:  # an answer to the moderator's question, or words that follow their lead; never reveals a whisper
        unasked = "follow" if not scene.confided else "confided" if values["gist"] else "aside"
        kind = "answer" if scene.asked else unasked
        return scene.say(f"moderator {kind}", deck("speech", "moderator", kind))
    if not values["name"] or (scene.confided and not scene.asked):
        return ""
    if scene.asked and scene.debate and not child and (replied := _reply(scene)):
        return replied
    if scene.asked and not child:
        for question in (*read("speech")["questions"], *read("speech")["questions_child"]):
            heard = question["cue"] in scene.last_text.lower()
            if heard and (found := scene.say("answers" + question["cue"], lines(question["answers"]))):
                return found
    if not child and not scene.asked and not scene.agreed and values["third"] and scene.chance("refer") < 0.2:
        return scene.say("refer", deck("speech", "refer"))
    if not scene.asked and scene.chance("plain") < 0.18:
        return ""
    return _say(scene, scene.reaction, "speech")


def _body(scene: Scene) -> tuple[str, str, bool]:
    """The words; their bare clause, if they are one; whether the speaker's position follows."""
    if scene.facts.child:
        return _child_body(scene), "", not scene.topic.is_task
    if scene.tells_life:
        told = _life(scene, scene.spoken_before)
        return told if count(told) > scene.target else _led(scene, told), "", True
    point = point_for(scene)
    clause = filled(point.text, scene.values)
    plain = count(clause) > scene.target
    worded = f"{capitalised(clause)}{'' if clause.endswith('?') else '.'}" if plain else _framed(scene, point, clause)
    return worded, clause, foreignness(scene, point) < 2


def _life(scene: Scene, start: int) -> str:
    """A story from the speaker's life that was not told lately, from a place in their list on."""
    told = life_lines(scene.facts, scene.decks.seed, scene.topic.text)
    order = [[part.strip() for part in line.split("|")] for line in turned(told, start)]
    sentences = [(filled(sentence, scene.values), "".join(rest[-1:])) for sentence, *rest in order]
    new = (s for s, gist in sentences if normalised(s) not in scene.decks.said and scene.untold(gist))
    return next(new, sentences[0][0])


def _led(scene: Scene, sentence: str) -> str:
    """A story from life, mostly with words that introduce it."""
    if scene.asked or scene.chance("lead") < 0.35:
        return sentence
    lead = scene.say("lead", deck("speech", "lead"))
    first = sentence.partition(" ")[0]
    return f"{lead} {sentence if first.partition(chr(39))[0] == 'I' else sentence[0].lower() + sentence[1:]}"


def _child_body(scene: Scene, ahead: int = 0) -> str:
    """A story from a child's life, or a sentence on the topic: specific ones before general ones."""
    key, about = (scene.decks.seed, scene.topic.text), scene.topic.child
    own = min(_CHILD_FIRST, len(about))
    first = permutation(own, "child", *key, scene.facts.name)
    rest = permutation(len(about) - own, "child rest", *key, scene.facts.name)
    pool = [*(about[i] for i in first), *(about[own + i] for i in rest)]
    if scene.tells_life:
        pool = [*life_lines(scene.facts, *key)]
    due = turned(pool, scene.spoken_before + ahead)
    sentences = [filled(line.partition("|")[0].strip(), scene.values) for line in due]
    unsaid = [s for s in sentences if normalised(s) not in scene.decks.said]
    return next((s for s in unsaid if not scene.recalls(s)), unsaid[0] if unsaid else sentences[0])


def _framed(scene: Scene, point: Point, clause: str) -> str:
    if clause.endswith("?"):
        return capitalised(clause)
    first_person = clause.startswith(("I ", "I'd", "I'm", "I've", "if ", "let's"))
    frames = "point_i" if first_person else "point"
    if foreignness(scene, point) == 2 and not first_person:
        frames = "grant"
    return capitalised(scene.say(frames, deck("speech", frames), clause=clause))


def _extras(scene: Scene, *, follows: bool) -> list[str]:
    """Possible continuations, in order of preference: a conclusion, a question to a participant, a remark, a point."""
    child = scene.facts.child
    if scene.short:
        return []
    tie = _say(scene, "tie", "speech")
    question = _question(scene)
    remark = _remark(scene)
    link = scene.say("link", deck("speech", "link")) if not child else remark
    # Omits a conclusion that the last speaker has just drawn, or that does not follow.
    names_mine = normalised(scene.values["mine"]) in normalised(scene.last_text)
    wants_tie = follows and not scene.debate and scene.chance("tie") < (0.25 if names_mine else 0.6)
    start = scene.chance("extras")
    if scene.asks:
        extras = [question, tie if wants_tie else remark]
    elif scene.tells_life and not child:
        extras = [tie if wants_tie else link, remark]
    else:
        extras = [tie, remark] if wants_tie and start < 0.6 else [remark, tie if wants_tie else ""]
    extras += _further(scene) if scene.target > 34 else []
    return [e for e in extras if e]


def _further(scene: Scene) -> list[str]:
    """More for a long utterance: further points and stories from life."""
    if scene.facts.child:
        return list(dict.fromkeys(_child_body(scene, 63 + 14 * i) for i in range(6)))
    ordered = [p for p in points_in_order(scene) if scene.usable(p) and scene.decks.fresh(p.text)]
    start, wanted = _CHOICE * scene.points_before + 21, min(len(ordered) - 1, scene.target // 14)
    rest = [ordered[(start + _CHOICE * i) % len(ordered)] for i in range(wanted)] if ordered else []
    used = point_for(scene)
    texts = [capitalised(filled(p.text, scene.values)) + "." for p in rest if p is not used]
    # From the far end of the list, so that the speaker's next story is still new.
    return list(dict.fromkeys([_life(scene, -2 - 2 * scene.spoken_before), *texts]))


def _question(scene: Scene) -> str:
    """A question to a participant; "" if there is none to ask."""
    if not scene.values["other"]:
        return ""
    child = scene.facts.child
    if scene.debate and not child and scene.chance("about the answer") < 0.6:
        return _asks_for_answer(scene)
    # Some questions suit only participants who have spoken, some only those who have not; some only talks or tasks.
    spoke = any(address(said.speaker, scene.everyone) == scene.values["other"] for said in scene.prompt.recent)
    unfit = {"silent" if spoke else "spoke", "talk" if scene.topic.is_task else "task"}
    questions = read("speech")["questions_child" if child else "questions"]
    asks = [q["ask"] for q in questions if unfit.isdisjoint((q.get("who"), q.get("only")))]
    return scene.say("child ask" if child else "ask", asks)


def _remark(scene: Scene) -> str:
    if scene.facts.child:
        return scene.say("child remark", deck("speech", "child", "remarks"))
    own = scene.facts.groups - {"learned"} | ({"learned"} if (scene.prompt.knowledge or 0) >= 4 else set())
    kinds = sorted((kind for kind in read("speech")["remarks"] if kind in own), key="learned".__eq__)
    kind = kinds[scene.spoken_before % len(kinds)] if kinds else "plain"
    return scene.say("remark" + kind, deck("speech", "remarks", kind))


def _leave_taking(scene: Scene, answer: str) -> list[str]:
    """The sentences with which a speaker takes leave, behind their answer to a question (may be empty)."""
    own = _own_goodbyes(scene) if scene.chance("own goodbye") < 0.6 else []
    goodbye = scene.say(f"leave {scene.facts.name}", own) or _say(scene, "goodbye", "leave")
    kind = "words"
    if scene.others_hold and not scene.facts.child:
        same = list(scene.others_hold.values()).count(scene.stance.mine)
        if 1 < same == len(scene.others_hold):
            kind = scene.choose("near or not", ("near", "words"))
        elif same < len(scene.others_hold) / 2:
            kind = scene.choose("far or not", ("far", "words", "words"))
    # Something to take along: what another speaker brought up lately.
    heard = [
        (address(said.speaker, scene.everyone), gist)
        for said in reversed(scene.prompt.recent)
        if not (said.speaker == scene.prompt.name or scene.prompt.leads(said.speaker) or said.whispered)
        and (gist := known_gist(said.text, scene.topic))
    ]
    name, gist = heard[int(scene.chance("takes") * len(heard))] if heard else ("", "")
    takes = _say(scene, "takes", "leave", name=name, gist=gist)
    # Most state their position; some only say what they take along.
    words = [takes] if takes and not answer and scene.chance("last word") < 0.35 else [_say(scene, kind, "leave")]
    if takes and takes not in words and count(" ".join((answer, *words, goodbye, takes))) <= 1.15 * scene.target:
        words.append(takes)
    return [part for part in (answer, *words, goodbye) if part]


def _own_goodbyes(scene: Scene) -> Sequence[str]:
    """Goodbyes that fit the speaker's work, age or temper; none for a child, who has a deck of its own."""
    facts = scene.facts
    if facts.child:
        return ()
    work = [line for domain in facts.domains[:1] for line in deck("leave", "occupations", domain)]
    life = [*deck("leave", "teen")] if facts.teen else [] if facts.retired else work
    life += deck("leave", "old") if facts.age is not None and facts.age >= 70 else ()
    groups = [g for g in read("leave")["tempers"] if g in facts.groups and scene.decks.register != "formal"]
    temper = [line for group in groups for line in deck("leave", "tempers", group)]
    return life if life and (not temper or scene.chance("life or temper") < 0.5) else temper


def shift(scene: Scene) -> str:
    """The speaker's words on a change of position, addressed to the last speaker if their words caused it."""
    if scene.stance.temper.adversarial or not scene.moved:
        return ""
    to_them = scene.values["theirs"] == scene.values["mine"] and scene.values["name"]
    return _say(scene, "concede" if to_them else "moved", "debate")


def stand(scene: Scene) -> str:
    """The speaker's position relative to the others: with all, near the last speaker, or alone."""
    adversarial = scene.stance.temper.adversarial
    n, opinion, bound = len(scene.topic.positions), scene.stance.opinion, scene.stance.temper.confidence_bound
    far = [abs(anchor(held, n) - opinion) > bound for held in scene.others_hold.values()]
    kind = "stance"
    if scene.moved and scene.asked and not adversarial:
        kind = "moved"
    elif scene.agreed and not adversarial:
        kind = "settled"
    elif adversarial or sum(far) > len(far) / 2:  # the positions of most others are out of reach
        kind = "firm" if scene.chance("firm") < 0.6 else kind
    elif scene.values["theirs"] not in ("", scene.values["mine"]) and not scene.facts.child:
        kind = "near" if scene.chance("near") < 0.4 else kind
    return _say(scene, kind, "debate")


def _names_mine(scene: Scene, text: str) -> bool:
    """Whether a text names the speaker's position."""
    return f" {normalised(scene.values['mine'])} " in f" {normalised(text)} "


def _asks_for_answer(scene: Scene) -> str:
    """A question about the answer to a named participant; "" if there is none to ask now."""
    last = scene.prompt.recent[-1].speaker if scene.prompt.recent else ""
    others = [n for n in scene.prompt.present if n != last and address(n, scene.everyone)]
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
    return scene.say("debate ask", asks, other=address(other, scene.everyone))


def _reply(scene: Scene) -> str:
    """An answer to a question of `question`; "" if the question was another one."""
    for asked in read("debate")["questions"]:
        if asked["cue"] in scene.last_text.lower():
            kind = "same" if scene.values["theirs"] == scene.values["mine"] else "differ"
            return scene.say(f"reply {asked['cue']}", lines(asked[kind]))
    return ""
