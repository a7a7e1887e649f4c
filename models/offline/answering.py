"""Answers of debates in rounds (baselines mad, mad_judge, reconcile), and the judge between two sides.

Answers follow from the same opinions as all else in this model: each participant starts at an opinion of their own, and
the answers of the last round within their confidence bound move it. This model cannot know the right answer: if the
task asks for a number, a choice or a yes or no, it says that it is guessing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from persimchat.models.offline import openness as debating
from persimchat.models.offline.answer_form import AnswerForm
from persimchat.models.offline.grammar import capitalised, filled
from persimchat.models.offline.judging import is_conditional
from persimchat.models.offline.lexicon import deck, word_pattern
from persimchat.models.offline.opinion import Stance, kept, starting_opinion, temper_of, updated
from persimchat.models.offline.positions import anchor, nearest, place_in, position_in
from persimchat.models.offline.prompt import Answered, Prompt, Said
from persimchat.models.offline.randomness import generator
from persimchat.models.offline.situation import scene_of
from persimchat.models.offline.topics import Topic, topic_of
from persimchat.models.offline.utterance import reasons
from persimchat.models.offline.words import count

_WORDS: Final = 40
"""Length of the reasons in words: more than an utterance, since they hold all words of a round."""
_APART: Final = 5
"""Places in the decks between two simultaneous answers, so that they do not use the same phrases."""


def answering(prompt: Prompt, seed: int) -> dict[str, Any]:
    """An answer in rounds: `reasoning`, `answer` and, if the task asks for it, `confidence`."""
    prompt.need_section(prompt.topic, "environment")
    prompt = replace(prompt, form=prompt.form or AnswerForm())
    topic = topic_of(prompt)
    held = _stance(prompt, topic, seed)
    others = [a for a in prompt.answers if not a.own]
    same = sum(_index(a, topic) == held.mine for a in others) / len(others) if others else 0.5
    sure = 0.35 + 0.3 * same + 0.15 * generator(seed, "sure", prompt.name, topic.text).random()
    answer: dict[str, Any] = {"reasoning": _reasoning(prompt, held, topic, seed), "answer": _answer(held.mine, topic)}
    if topic.answers and is_conditional(topic.positions[held.mine]):
        answer["conditional"] = topic.positions[held.mine]
    if prompt.confident:
        answer["confidence"] = round(min(sure, 0.6) if topic.answers else sure, 2)
    return answer


def solving(prompt: Prompt, seed: int) -> dict[str, Any]:
    """An answer to a question with a right one, which this model does not know: it guesses, and says so."""
    prompt.need_section(prompt.topic, "scene")
    topic = topic_of(prompt)
    guess = generator(seed, "solving", topic.text).randrange(len(topic.answers))
    return {"reasoning": "This is a guess: no model has worked on it.", "answer": topic.answers[guess]}


def _answer(index: int, topic: Topic) -> str:
    """A position as an answer: in the required form, else in a sentence that is the same for all participants."""
    if topic.answers:
        return topic.answers[index]
    return filled(deck("debate", "answer")[0], {"answer": topic.positions[index]})


def _index(answered: Answered, topic: Topic) -> int | None:
    """The position of an answer of the last round; None if it cannot be determined."""
    if answered.answer in topic.answers and topic.kind != "polar":
        return topic.answers.index(answered.answer)
    # A bare yes or no fits two positions; the reasons decide.
    told = position_in(answered.reasons, topic) if topic.kind == "polar" else position_in(answered.answer, topic)
    if told is not None and (topic.kind != "polar" or topic.answers[told] == answered.answer):
        return told
    if topic.kind == "polar" and answered.answer in topic.answers:
        return topic.answers.index(answered.answer)
    place = place_in(answered.answer, topic)
    return None if place is None else nearest(place, len(topic.positions))


def _stance(prompt: Prompt, topic: Topic, seed: int) -> Stance:
    """A participant's opinion after the last round: their own answer, moved by the others' answers."""
    temper = temper_of(prompt.traits, prompt.goals)
    n = len(topic.positions)
    opinion = starting_opinion(prompt, topic, seed)
    own = next((i for a in prompt.answers if a.own and (i := _index(a, topic)) is not None), None)
    if own is not None:
        opinion = kept(opinion, own, n)
    before = nearest(opinion, n)
    for other in prompt.answers:
        index = None if other.own else _index(other, topic)
        if index is not None:
            opinion = updated(opinion, anchor(index, n), temper)
    mine = nearest(opinion, n)
    if prompt.opposes:
        mine = _another(prompt.opposes, mine, opinion, topic)
    return Stance(opinion, mine, before, own, temper)


def _another(theirs: str, mine: int, opinion: float, topic: Topic) -> int:
    """The participant's own position if its answer differs from theirs, else the nearest one whose answer does."""
    refused = _answer_in(theirs, topic)
    answers = topic.answers or topic.positions
    free = [i for i, answer in enumerate(answers) if answer != refused]
    return min(free, key=lambda i: (i != mine, abs(anchor(i, len(answers)) - opinion))) if free else mine


def _answer_in(text: str, topic: Topic) -> str:
    """The answer in a side's words; "" if none can be determined."""
    if text.strip() in topic.answers:
        return text.strip()
    index = position_in(text, topic)
    return (topic.answers or topic.positions)[index] if index is not None else ""


def _reasoning(prompt: Prompt, held: Stance, topic: Topic, seed: int) -> str:
    """A participant's words to the others: the reasons of their answer, and that it is a guess if it can be no more."""
    others = [Said(a.speaker, a.reasons) for a in prompt.answers if not a.own]
    own = [Said(a.speaker, a.reasons) for a in prompt.answers if a.own]
    rank = sorted(prompt.participants).index(prompt.name)
    # All participants of a round speak at once, each to a different one of the others.
    spoken_to = others[rank % len(others) :] + others[: rank % len(others)] if others else []
    shown = replace(prompt, recent=(*own, *spoken_to), register="neutral", words=_WORDS)
    scene = scene_of(shown, seed, ahead=_APART * rank)
    rival = next((i for i in range(len(topic.positions)) if i != held.mine), held.mine)
    values = {**scene.values, "mine": topic.positions[held.mine]}
    if values["rival"] == values["mine"]:
        values["rival"] = topic.positions[rival]
    scene = replace(scene, stance=held, values=values, asked=False, opening=False, asks=False, mood="", short=False)
    guesses = bool(topic.answers) and held.stated is None
    hunch = scene.decks.pick("hunch", deck("debate", "hunch"), rank, values) if guesses else ""
    stand = debating.shift(scene) or debating.stand(scene)
    return reasons(scene, hunch, stand)


def mad_judge(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`Decision`: once both sides give the same answer; after the last round, for the side that gave more reasons."""
    prompt.need_section(prompt.answers, "answers")
    prompt = replace(prompt, form=prompt.form or AnswerForm())
    topic = topic_of(prompt)
    sides = {side: [a for a in prompt.answers if a.side == side] for side in ("affirmative", "negative")}
    said = {side: answers[-1] for side, answers in sides.items() if answers}
    weights = {side: sum(_weight(a) for a in answers) for side, answers in sides.items()}
    first, second = said.get("affirmative", prompt.answers[0]), said.get("negative", prompt.answers[-1])
    one, other = _given(first, topic), _given(second, topic)
    agreed = one == other
    draw = generator(seed, "mad judge", topic.text, prompt.turn)
    side = "affirmative" if agreed or weights["affirmative"] >= weights["negative"] else "negative"
    best, beaten = (one, other) if side == "affirmative" else (other, one)
    kind = "mad_judge" if agreed else "mad_judge_last" if prompt.last_round else "mad_judge_open"
    values = {"answer": best.rstrip(".") or "nothing", "other": beaten.rstrip(".") or "nothing"}
    decided = agreed or prompt.last_round
    return {
        "reasoning": capitalised(filled(draw.choice(deck("debate", kind)), values)),
        "decided": decided,
        "side": side if decided else None,
        "answer": best if decided else None,
    }


def _given(answered: Answered, topic: Topic) -> str:
    """An answer in the debate's own words if it is one of the debate's answers, else as given."""
    index = _index(answered, topic)
    return answered.answer if index is None or topic.answers else _answer(index, topic)


def _weight(answered: Answered) -> float:
    """The size of a side's case: words, and words that give reasons."""
    return count(answered.reasons) + 5 * len(word_pattern("reasoned").findall(answered.reasons))
