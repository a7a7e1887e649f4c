"""Those who judge, ask and lead: a debate's judge, answers in rounds, scores, the next speaker, polls, moderators.

The judge reads positions as the rest of this model does (`positions.py`), from the utterances in its prompt or, if it
has a mind of its own, from its memories. Consensus requires that all participants have spoken, that all last spoke for
the same answer, and that nobody's openness is low.

Answers in rounds follow from the same opinions as all else: each participant starts at an opinion of their own, and
the answers of the last round within their confidence bound move it. This model cannot know the right answer: if the
task asks for a number, a choice or a yes or no, it says that it is guessing.

Scores are coherence, sentiment and engagement, 0–10 with one decimal. They count visible features: content words shared
with the topic and the last utterances, names, words of agreement and of hostility, the speaker's emotions, questions,
reasons, examples from life. It is a rough measure, cheap and repeatable, not a reader's judgement.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from .material import (
    capitalised,
    content_words,
    count,
    deck,
    filled,
    generator,
    listed,
    overlap,
    permutation,
    read,
    short_name,
    slots,
    spoken_to,
    word_pattern,
)
from .minds import Hearing
from .positions import (
    Stance,
    anchor,
    kept,
    known_gist,
    nearest,
    place_in,
    position_in,
    starting_opinion,
    temper_of,
    timeline,
    updated,
    utterances_known,
)
from .prompt import NUMBER, Answer, Answered, AnswerForm, Member, Prompt, Said, plain
from .topics import Topic, topic_of
from .utterance import Scene, reasons, shift, stand

BY_LOT: Final = "This answer is drawn by lot: the offline model has no opinions of its own."
_MOST: Final = 100
"""The highest number that it draws where any number is an answer."""
_SET_PHRASES: Final = "The offline model answers in set phrases: it has no views of its own."
_PERSONAL: Final = re.compile(r"\b(I|I'(?:m|ve|d|ll)|my|me|we|our)\b")
READY: Final = 6
"""The least openness at which a participant counts as accepting the common answer."""
_NEW: Final = 0.3
"""If fewer of the later utterances than this share bring a new reason, the conversation is circling."""
_WORDS: Final = 40
"""Length of the reasons in words: more than an utterance, since they hold all words of a round."""
_APART: Final = 5
"""Places in the decks between two simultaneous answers, so that they do not use the same phrases."""


class _Held(NamedTuple):
    """The position of a participant.

    Attributes:
        label: its words in a sentence.
        answer: in the form of the debate's answer; the label if any text is allowed.
        before: the label of their earlier position, empty if it is the same or there is none.
    """

    label: str
    answer: str
    before: str = ""


class _Group:
    """What the participants of a judge's prompt hold: the position that each last spoke for."""

    def __init__(self, prompt: Prompt) -> None:
        self.members = prompt.need(prompt.group, "group")
        prompt.need(prompt.topic, "environment")
        self.prompt, self.topic = prompt, topic_of(prompt)
        held: dict[str, _Held] = {}
        for told in timeline(prompt, self.topic):
            label, answer = _named_in(told.text, told.place, self.topic)
            earlier = held.get(told.speaker, _Held(label, answer))
            held[told.speaker] = _Held(label, answer, earlier.before if earlier.label == label else earlier.label)
        self.held = {name: own for name, own in held.items() if name in prompt.participants}
        """By name, in the order of their first words for one; participants without a position are left out."""
        self.holders: dict[str, list[str]] = {}
        """Who holds an answer, in the group's order."""
        for name in (member.name for member in self.members if member.name in self.held):
            self.holders.setdefault(self.held[name].answer, []).append(name)

    def called(self, answer: str) -> str:
        """An answer within a sentence: a yes or no unchanged, any other as its holders call it."""
        return answer if self.topic.kind == "polar" else self.held[self.holders[answer][0]].label

    def conditions(self, answer: str) -> Answer:
        """The conditions of a yes or no; empty if nobody holds it under conditions.

        Agents of this model say that they have conditions, but never which. Other answers include their conditions.
        """
        holders = self.holders[answer] if self.topic.kind == "polar" else []
        under = [short_name(name) for name in holders if is_conditional(self.held[name].label)]
        names = f" ({listed(under)})" if len(under) < len(holders) else ""
        return {"conditional": f"nobody named them{names}"} if under else {}

    def holds(self, answers: Sequence[str]) -> str:
        """The holders of each answer: "Eva and Bob for tea, Cleo for a yes with conditions"."""
        found: dict[str, list[str]] = {}
        for answer in answers:
            for name in self.holders[answer]:
                label = self.held[name].label
                found.setdefault(label if is_conditional(label) else self.called(answer), []).append(short_name(name))
        return ", ".join(_said("holds", names=listed(names), answer=label) for label, names in found.items())

    def worded(self, answer: str, kind: str) -> str:
        """An answer in the required form; if any text is allowed, a sentence with its holders' reasons."""
        if self.topic.answers:
            return answer
        told = [text for _, who, text in utterances_known(self.prompt) if who in self.holders.get(answer, ())]
        gists = [gist for text in told if (gist := known_gist(text, self.topic))]
        # "On tea or coffee, the group settles on tea" would repeat itself.
        head = "" if answer in self.topic.head else self.topic.head
        values = {"head": head, "answer": answer, "point": listed(list(dict.fromkeys(gists))[-2:])}
        phrases = deck("debate", "judge", kind if gists else f"{kind}_plain")
        usable = [phrase for phrase in phrases if all(values[slot] for slot in slots(phrase))]
        return filled(generator(self.prompt.seed, "answer", self.topic.text).choice(usable), values)


def _said(kind: str, **values: str) -> str:
    return filled(read("debate")["judge"][kind], values)


def _named_in(text: str, place: float, topic: Topic) -> tuple[str, str]:
    """The position of words on the line of opinions as it is called in a sentence and as an answer."""
    index = nearest(place, len(topic.positions))
    label, answer = topic.positions[index], (topic.answers or topic.positions)[index]
    named = NUMBER.findall(text) if topic.kind == "number" and label not in text else []
    return (named[-1], named[-1].replace(",", "")) if named else (label, answer)


def is_conditional(position: str) -> bool:
    """Whether a position has conditions ("a yes with conditions")."""
    return re.search(r"\bconditions?\b", position) is not None


def judge(prompt: Prompt) -> Answer:
    """`Verdict`."""
    group = _Group(prompt)
    held, most = group.held, max(group.holders, key=lambda answer: len(group.holders[answer]), default="")
    unknown = [m for m in group.members if m.name not in held]
    reluctant = [m for m in group.members if m.openness is not None and m.openness < READY]
    agreed = len(group.holders) == 1 and not unknown
    consensus = agreed and not reluctant
    conditions = group.conditions(most) if consensus else {}
    reasoning = _said("nothing")
    if held:
        kind = "silent" if unknown else "differ" if not agreed else "reluctant" if reluctant else "consensus"
        values = {
            "holds": group.holds(list(dict.fromkeys(own.answer for own in held.values()))),
            "answer": group.called(next(iter(held.values())).answer),
            "names": listed([short_name(m.name) for m in unknown or reluctant]),
        }
        draw = generator(prompt.seed, "verdict", group.topic.text, prompt.turn)
        reasoning = filled(draw.choice(deck("debate", "judge", "conditional" if conditions else kind)), values)

    def position(member: Member) -> Answer:
        if (own := held.get(member.name)) is None:
            said = _said("unknown" if member.utterances else "quiet")
            return {"agent": member.name, "position": said, "agrees": False}
        said = _said("came" if own.before else "position", answer=own.label, before=own.before)
        agrees = own.answer == most and (consensus or member not in reluctant)
        answer = {"answer": own.answer} if group.topic.answers else {}
        return {"agent": member.name, "position": said, **answer, "agrees": agrees}

    return {
        "reasoning": capitalised(reasoning)[:1000],
        "consensus": consensus,
        "answer": group.worded(most, "answer") if consensus else None,
        **conditions,
        "positions": [position(m) for m in group.members],
        "progress": progress(prompt, group.topic),
    }


def majority(prompt: Prompt) -> Answer:
    """`Majority`: the answer with the most holders; of equally many, the one whose holders are more open.

    If no words show a position, it is one drawn at random, called a guess.
    """
    group = _Group(prompt)
    topic, holders = group.topic, group.holders
    if not holders:
        index = generator(prompt.seed, "guess", topic.text).randrange(len(topic.positions))
        return {
            "reasoning": _said("majority_none", answer=topic.positions[index]),
            "answer": group.worded((topic.answers or topic.positions)[index], "guess"),
            "supporters": [max(group.members, key=lambda m: (m.utterances, m.openness or 0)).name],
        }
    open_to = {m.name: m.openness if m.openness is not None else 5 for m in group.members}
    ranked = sorted(holders, key=lambda a: (-len(holders[a]), -sum(open_to[n] for n in holders[a]) / len(holders[a])))
    best, sizes = ranked[0], [len(holders[answer]) for answer in ranked]
    tied = sizes[0] in sizes[1:]
    kind = "most" if 2 * sizes[0] > len(group.members) else "tie" if tied else "many"
    reasoning = _said("majority_tie" if tied else "majority", holds=group.holds(ranked), answer=group.called(best))
    return {
        "reasoning": capitalised(reasoning)[:1000],
        "answer": group.worded(best, kind),
        **group.conditions(best),
        "supporters": holders[best],
    }


def progress(prompt: Prompt, topic: Topic) -> str:
    """Whether the debate is "progressing" (a position changed, or its later half has new reasons) or "circling"."""
    said = [text for _, _, text in utterances_known(prompt)]
    half = len(said) // 2
    held = {(told.speaker, nearest(told.place, len(topic.positions))) for told in timeline(prompt, topic)}
    if half < 2 or len(held) > len({speaker for speaker, _ in held}):
        return "progressing"
    earlier = {word.casefold() for text in said[:half] for word in content_words(text, 60)}
    new = sum(_is_reason(text, earlier, topic) for text in said[half:])
    return "progressing" if new >= _NEW * (len(said) - half) else "circling"


def _is_reason(text: str, earlier: set[str], topic: Topic) -> bool:
    """Whether words bring a reason on the topic, or, if they are not from the phrase material, anything new."""
    own = [p.gist for p in topic.points[: topic.tiers[0] + topic.tiers[1]]]
    gist = known_gist(text, topic) or next((g for g in own if g and f"brought up {g}" in text), "")
    if gist:
        return gist in own and not earlier.issuperset(word.casefold() for word in content_words(gist))
    words = content_words(text, 60)
    return 2 * sum(word.casefold() not in earlier for word in words) > len(words)


def answering(prompt: Prompt) -> Answer:
    """An answer in rounds: `reasoning`, `answer` and, if the task asks for it, `confidence`."""
    prompt.need(prompt.topic, "environment")
    prompt = replace(prompt, form=prompt.form or AnswerForm())
    topic = topic_of(prompt)
    held = _stance(prompt, topic)
    others = [a for a in prompt.answers if not a.own]
    same = sum(_index(a, topic) == held.mine for a in others) / len(others) if others else 0.5
    sure = 0.35 + 0.3 * same + 0.15 * generator(prompt.seed, "sure", prompt.name, topic.text).random()
    answer: Answer = {"reasoning": _reasoning(prompt, held, topic), "answer": _answer(held.mine, topic)}
    if topic.answers and is_conditional(topic.positions[held.mine]):
        answer["conditional"] = topic.positions[held.mine]
    if prompt.values.get("confident"):
        answer["confidence"] = round(min(sure, 0.6) if topic.answers else sure, 2)
    return answer


def solving(prompt: Prompt) -> Answer:
    """An answer to a question with a right one, which this model does not know: it guesses, and says so."""
    prompt.need(prompt.topic, "scene")
    topic = topic_of(prompt)
    guess = generator(prompt.seed, "solving", topic.text).randrange(len(topic.answers))
    return {"reasoning": "This is a guess: no model has worked on it.", "answer": topic.answers[guess]}


def _answer(index: int, topic: Topic) -> str:
    """A position as an answer: in the required form, else in a sentence that is the same for all participants."""
    plain = filled(deck("debate", "answer")[0], {"answer": topic.positions[index]})
    return topic.answers[index] if topic.answers else plain


def _index(answered: Answered, topic: Topic) -> int | None:
    """The position of an answer of the last round; None if it cannot be determined."""
    found = topic.answers.index(answered.answer) if answered.answer in topic.answers else None
    if topic.kind == "polar":
        # A bare yes or no fits two positions; the reasons decide.
        told = position_in(answered.text, topic)
        found = told if told is not None and topic.answers[told] == answered.answer else found
    place = place_in(answered.answer, topic) if found is None else None
    return found if place is None else nearest(place, len(topic.positions))


def _stance(prompt: Prompt, topic: Topic) -> Stance:
    """A participant's opinion after the last round: their own answer, moved by the others' answers."""
    temper, opinion = temper_of(prompt.traits, prompt.goals), starting_opinion(prompt, topic)
    answers = topic.answers or topic.positions
    n = len(answers)
    given = [(a.own, i) for a in prompt.answers if (i := _index(a, topic)) is not None]
    own = next((index for is_own, index in given if is_own), None)
    opinion = opinion if own is None else kept(opinion, own, n)
    before = nearest(opinion, n)
    for index in (index for is_own, index in given if not is_own):
        opinion = updated(opinion, anchor(index, n), temper)
    mine = nearest(opinion, n)
    if opposes := plain(prompt.values.get("opposes") or ""):  # the nearest position with another answer
        told = position_in(opposes, topic)
        refused = opposes if opposes in topic.answers else answers[told] if told is not None else ""
        free = [i for i, answer in enumerate(answers) if answer != refused]
        mine = min(free, key=lambda i: (i != mine, abs(anchor(i, n) - opinion)), default=mine)
    return Stance(opinion, mine, before, own, temper)


def _reasoning(prompt: Prompt, held: Stance, topic: Topic) -> str:
    """A participant's words to the others: the reasons of their answer, and that it is a guess if it can be no more."""
    others = [Said(a.speaker, a.text) for a in prompt.answers if not a.own]
    own = [Said(a.speaker, a.text) for a in prompt.answers if a.own]
    rank = sorted(prompt.participants).index(prompt.name)
    # All participants of a round speak at once, each to a different one of the others.
    first = rank % len(others) if others else 0
    shown = replace(prompt, recent=(*own, *others[first:], *others[:first]), register="neutral", words=_WORDS)
    scene = Scene(shown, ahead=_APART * rank)
    mine = topic.positions[held.mine]
    if scene.values["rival"] == mine:
        scene.values["rival"] = next((p for i, p in enumerate(topic.positions) if i != held.mine), mine)
    scene.stance, scene.values["mine"] = held, mine
    scene.asked = scene.opening = scene.asks = scene.short = False
    scene.mood = ""
    guesses = bool(topic.answers) and held.stated is None
    hunch = scene.decks.pick("hunch", deck("debate", "hunch"), rank, scene.values) if guesses else ""
    return reasons(scene, hunch, shift(scene) or stand(scene))


def mad_judge(prompt: Prompt) -> Answer:
    """`MADVerdict`: decides if both sides give the same answer; after the last round, for the one with more reasons."""
    answers = prompt.need(prompt.answers, "answers")
    topic = topic_of(replace(prompt, form=prompt.form or AnswerForm()))
    sides = {side: [a for a in answers if a.side == side] for side in ("affirmative", "negative")}
    first, second = (sides["affirmative"] or answers[:1])[-1], (sides["negative"] or answers)[-1]
    one, other = (_given(answered, topic).rstrip(".") or "nothing" for answered in (first, second))
    # Of a side's case count its words, and those that give reasons more.
    weights = [
        sum(count(a.text) + 5 * len(word_pattern("reasoned").findall(a.text)) for a in given)
        for given in sides.values()
    ]
    affirmed = one == other or weights[0] >= weights[1]
    best = first if affirmed else second
    decided = one == other or prompt.values.get("last", False)
    kind = "mad_judge" if one == other else "mad_judge_last" if decided else "mad_judge_open"
    values = {"answer": one if affirmed else other, "other": other if affirmed else one}
    draw = generator(prompt.seed, "mad judge", topic.text, prompt.turn)
    return {
        "reasoning": capitalised(filled(draw.choice(deck("debate", kind)), values)),
        "decided": decided,
        "side": ("affirmative" if affirmed else "negative") if decided else None,
        "answer": _given(best, topic) if decided else None,
    }


def _given(answered: Answered, topic: Topic) -> str:
    """An answer in the debate's own words if it is one of the debate's answers, else as given."""
    index = _index(answered, topic)
    return answered.answer if index is None or topic.answers else _answer(index, topic)


def inconsistency(prompt: Prompt) -> Answer:
    """`Inconsistency`: high if the words are for another position than the identity or a goal that was left out.

    Nothing else that the model says can contradict what was left out of its prompt.
    """
    heard = prompt.need(prompt.heard, "wording")
    topic = topic_of(prompt)
    draw = generator(prompt.seed, "inconsistency", prompt.topic, heard.speaker, heard.text)
    said = position_in(heard.text, topic)
    known = (position_in(text, topic) for text in (prompt.identity, *prompt.goals))
    other = next((position for position in known if position not in (None, said)), None)
    if said is None or other is None:
        return {"comment": "Nothing in the words contradicts what is known.", "score": draw.randint(1, 3)}
    comment = f"{short_name(heard.speaker)} speaks for {topic.positions[said]}, but is for {topic.positions[other]}."
    return {"comment": comment, "score": draw.randint(7, 9)}


# Scores, the next speaker, polls, interviews, and the moderator of a focus group


def analysis(prompt: Prompt) -> Answer:
    """`Score` of the last utterance."""
    prompt.need(prompt.heard, "heard")
    a = Hearing(prompt)
    coherence, why = _coherence(a, prompt)
    sentiment, engagement = _sentiment(a, prompt), _engagement(a, prompt)
    scores = {"coherence": coherence, "sentiment": sentiment, "engagement": engagement}
    tone = "warmly" if sentiment >= 6.5 else "sharply" if sentiment <= 3.5 else "evenly"
    depth = "with much of themselves in it" if engagement >= 6.5 else "briefly" if engagement <= 3.5 else "to the point"
    return {
        "reasoning": f"{short_name(a.heard.speaker)} {why}, {tone} and {depth}.",
        **{name: round(max(0.0, min(10.0, value)), 1) for name, value in scores.items()},
    }


def _stems(text: str) -> set[str]:
    return {word.casefold()[:6] for word in content_words(text, 60)}


def _coherence(a: Hearing, prompt: Prompt) -> tuple[float, str]:
    """Coherence, from the overlap with the topic and the last utterances, and its reason in words."""
    text, topic, words = a.heard.text, a.topic, _stems(a.heard.text)
    on_topic = len(words & _stems(" ".join((topic.text, topic.head, *topic.positions)))) / max(1, min(4, len(words)))
    on_topic = max(on_topic, 0.7 * bool(known_gist(text, topic)), 0.8 * (position_in(text, topic) is not None))
    value = 3.2 + 3.4 * min(1.0, on_topic)
    why = "speaks to the topic" if on_topic >= 0.4 else "strays from the topic"
    if not prompt.recent:
        return value + 1.2, why
    last, before = prompt.recent[-1], [said.text for said in prompt.recent]
    shared = len(words & _stems(" ".join(before[-3:]))) / max(1, len(words))
    to_last = last.speaker in spoken_to(text, a.heard.speaker, prompt.participants)
    value += 1.6 * to_last + 3.0 * min(0.5, shared) - 0.8 * (last.text.rstrip().endswith("?") and not to_last)
    repeated = max(overlap(text, other) for other in before)
    if repeated > 0.3:
        return value - 4.0 * repeated, "says again what was said"
    return value, f"answers {short_name(last.speaker)}" if to_last else why


def _sentiment(a: Hearing, prompt: Prompt) -> float:
    """Sentiment, from words of agreement, kindness, contradiction and hostility, and the speaker's emotions."""
    mine = position_in(a.heard.text, a.topic)
    theirs = position_in(prompt.recent[-1].text, a.topic) if prompt.recent else None
    sides = 0.0 if mine is None or theirs is None else 0.7 if mine == theirs else -0.5
    felt, words = {"happiness": 3, **a.heard.emotion}, a.heard.text

    def counted(pattern: str, most: int) -> int:
        return min(most, len(word_pattern(pattern).findall(words)))

    weights = {"happiness": 0.5, "anger": -0.32, "disgust": -0.25, "sadness": -0.18, "fear": -0.15}
    value = 3.5 + sides + sum(weight * felt.get(one, 0) for one, weight in weights.items())
    value += 0.9 * counted("agreeing", 1) + 0.7 * counted("kindly", 2) + 0.4 * min(2, words.count("!"))
    return value - 1.0 * counted("contradicting", 1) - 2.2 * counted("hostile", 1) - 0.35 * counted("bitter", 3)


def _engagement(a: Hearing, prompt: Prompt) -> float:
    """Engagement, from length, questions, reasons, people addressed, a stated position, and stories from life."""
    words = a.heard.text
    value = 1.6 + 2.6 * min(1.0, count(words) / 30)
    value += 0.9 * a.questions + 0.45 * min(3, len(_PERSONAL.findall(words)))
    value += 0.4 * min(2, len(word_pattern("reasoned").findall(words)))
    value += 0.9 * bool(spoken_to(words, a.heard.speaker, prompt.participants))
    value += 0.8 * (position_in(words, a.topic) is not None)
    return value + 0.15 * max(0, max(a.heard.emotion.values(), default=0) - 4)


def selector(prompt: Prompt) -> Answer:
    """The selector's answer: `reasoning` and `speaker`."""
    group = {member.name: member for member in prompt.need(prompt.group, "group")}
    able = [name for name in plain(prompt.values.get("candidates", ())) if name in group] or list(group)
    last = prompt.recent[-1] if prompt.recent else None
    called_on = spoken_to(last.text, last.speaker, prompt.participants) if last else []
    called = [name for name in able if name in called_on]
    if last and called:
        did = "asked" if "?" in last.text else "spoke to"
        return {"reasoning": f"{short_name(last.speaker)} {did} {short_name(called[0])}.", "speaker": called[0]}
    waits = {name: (group[name].last_spoke, group[name].utterances) for name in able}  # the smaller, the more overdue
    longest = [name for name in able if waits[name] == min(waits.values())]
    chosen = generator(prompt.seed, "selector", prompt.topic, prompt.turn).choice(longest)
    since = group[chosen].last_spoke
    why = f"has been silent since turn {since}" if since else "has not spoken yet"
    return {"reasoning": f"{short_name(chosen)} {why}.", "speaker": chosen}


def poll(prompt: Prompt) -> Answer:
    """`PollReply`, drawn by lot."""
    possible = plain(prompt.values.get("possible")) or tuple(map(str, range(_MOST + 1)))
    key = (prompt.name, prompt.turn, prompt.values.get("question", ""))
    return {"reasoning": BY_LOT, "answer": generator(prompt.seed, "poll", *key, *possible).choice(possible)}


def interview(prompt: Prompt) -> Answer:
    """`InterviewReply`: one thing that the prompt shows: what the agent said last, remembers or means to do."""
    own = [said.text for said in prompt.recent if said.speaker == prompt.name]
    known = [f"What I said last was: {words}" for words in own[-1:]]
    known += [f"What has stayed with me: {memory.theme}" for memory in prompt.memories if memory.theme]
    known += [f"What I meant to do: {prompt.plan}"] if prompt.plan else []
    known = known or [f"I am {prompt.name}, and there is nothing of it that I remember."]
    key = (prompt.name, prompt.turn, prompt.values.get("question", ""))
    return {"answer": f"{generator(prompt.seed, 'interview', *key).choice(known)} {_SET_PHRASES}"}


def moderated(prompt: Prompt) -> str:
    """The moderator's next words: the question that is due behind a few words of passage, or a reply without a view."""
    puts = prompt.items.text("puts")
    kind = ("next" if prompt.asked else "first") if puts else "reply"
    phrases = deck("speech", "moderating", kind)
    # Earlier words that must not be said again are further steps in the deck.
    step = prompt.turn + len(prompt.avoid) + len(prompt.later)
    order = permutation(len(phrases), "moderating", kind, prompt.seed, prompt.topic)
    return f"{phrases[order[step % len(phrases)]]} {puts}".strip()
