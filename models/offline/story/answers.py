"""The answers of the judging tasks of a story: one function per task returns its schema's fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from persimchat.models.offline.lexicon import word_pattern
from persimchat.models.offline.prompt import Prompt
from persimchat.models.offline.randomness import generator
from persimchat.models.offline.story import arithmetic
from persimchat.models.offline.story.breakouts import kept_of_room
from persimchat.models.offline.story.phrases import offered_in, phrases, short, warmth_of
from persimchat.models.offline.story.told import Held, Told, favoured_in, speaks_for
from persimchat.models.offline.words import content_words, listed

_STRONG: Final = (1.0, 0.6, 0.3)
"""The weights of those whom a stocktaking names as strong, in its order."""
_FURTHEST: Final = -1_000.0


def _told(prompt: Prompt) -> Told:
    prompt.need_section(prompt.name, "basic_information")
    assert prompt.story is not None  # the task is one of a story
    return prompt.story


def _liking(prompt: Prompt, seed: int, other: str) -> float:
    relation = prompt.relation_to(other)
    return arithmetic.affinity(seed, prompt.name, other, relation.valence if relation else 0)


def _aim(held: Held) -> str:
    return held.text.rstrip(".")


def stocktaking(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`Stock`: who is strong, whom one met last, what one is after."""
    told = _told(prompt)
    draw = generator(seed, "stock", prompt.name, told.round, told.stage)
    weights: dict[str, int] = {}
    for one in told.resources:
        if one.owner and one.owner != prompt.name:
            weights[one.owner] = weights.get(one.owner, 0) + one.influence
    strong = [name for name in sorted(weights, key=lambda name: (-weights[name], name)) if weights[name]][:3]
    met = [one.others[0] for one in told.happened if one.do == "summary" and one.others]
    backed = next((one for one in reversed(told.happened) if one.do == "words" and one.who != prompt.name), None)
    parts = []
    if strong:
        parts.append(f"{listed(strong)} {'has' if len(strong) == 1 else 'have'} weight here.")
    if met:
        parts.append(f"I have just talked with {met[-1]}.")
    if backed is not None and (whom := favoured_in(backed.text, backed.who, [prompt.name, *prompt.present])):
        parts.append(f"{short(backed.who)} spoke for {short(whom) if whom != backed.who else 'themselves'}.")
    aim = f"I am after this: {_aim(told.aims[0])}." if told.aims else "I have no aim of my own and watch the others."
    if not told.aims and told.supports:
        aim = f"I stand behind {told.supports}."
    topics = {name: [topic for one in told.resources if one.owner == name for topic in one.topics] for name in strong}
    steps = []
    for name in strong or prompt.present[:1]:
        own = topics.get(name) or list(phrases("topics"))
        phrase = draw.choice([one for one in phrases("steps") if one not in steps])
        steps.append(phrase.format(other=short(name), topic=draw.choice(own)))
    return {"summary": " ".join([*parts, aim])[:690], "next_steps": steps}


def choice(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`Choice`: the candidate who appeals most, by weight, closeness, power to decide, and novelty."""
    told = _told(prompt)
    prompt.need_section(told.candidates, "candidates")
    strong, _, rest = told.stock.partition(" weight here.")
    named = sorted((strong.find(name), name) for name in told.candidates if rest and name in strong)
    weights = dict(zip((name for _, name in named), _STRONG, strict=False))
    closeness = {name: told.closeness.get(name, 0) for name in told.candidates}

    def parts(name: str) -> dict[str, float]:
        draw = generator(seed, "choice", prompt.name, told.round, told.stage, name, told.stock)
        met = f"talked with {name}" in told.stock
        whole = arithmetic.appeal(weights.get(name, 0.0), closeness[name], name == told.decider, met, draw)
        return {
            "whole": whole, "weight": weights.get(name, 0.0), "near": 0.8 * closeness[name] / 100,
            "decides": 0.6 * (name == told.decider),
        }  # fmt: skip

    found = {name: parts(name) for name in told.candidates}
    partner = max(found, key=lambda name: found[name]["whole"])
    why = max(("weight", "near", "decides"), key=lambda part: found[partner][part])
    reasons = {
        "weight": f"{short(partner)} has something to give.",
        "near": f"{short(partner)} is near to me.",
        "decides": f"In the end {short(partner)} decides.",
    }
    topics = list(phrases("topics"))
    generator(seed, "plan", prompt.name, told.round, told.stage, partner).shuffle(topics)
    noted = [step.partition(" about ")[2].rstrip(".") for step in told.steps if short(partner) in step.split()]
    count = max(1, int(told.words.get("exchanges", 1)))
    reason = reasons[why] if found[partner][why] else f"I have not heard enough from {short(partner)}."
    plan = [topic for topic in noted if topic] or topics
    return {"reasoning": reason, "partner": partner, "plan": (plan * count)[:count]}


def summary(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`Summary`: for whom the other spoke, what came of it, and how the talk was felt, in set phrases."""
    told = _told(prompt)
    if told.room:
        return kept_of_room(prompt)
    words = " ".join(said.words for said in prompt.recent if said.speaker == told.other)
    hosts = bool(prompt.recent) and prompt.recent[0].speaker == prompt.name
    warm = warmth_of(words)
    met_with = warm if warm is not None else int(offered_in(words))
    draw = generator(seed, "tone", prompt.name, told.other, words)
    felt = arithmetic.tone(_liking(prompt, seed, told.other), met_with, draw)
    whom = favoured_in(words, told.other, [prompt.name, *prompt.present])
    shown = {"": "nobody", told.other: "themselves", prompt.name: "me"}.get(whom, short(whom))
    came = {-1: "turned me down", 0: "left it open", 1: "agreed with me"}[met_with] if hosts else (
        "made me an offer" if offered_in(words) else "wanted to have me along"
    )  # fmt: skip
    felt_as = phrases("tones")[felt + arithmetic.TONES]
    other = short(told.other)
    return {
        "reasoning": f"I wanted {other} at my side." if hosts else f"{other} wanted me at their side.",
        "theme": f"{other} spoke for {shown} and {came}; {felt_as}.",
        "keywords": content_words(words, 4) if words else [other],
        "importance": max(0, min(10, 5 + abs(felt) + (whom == prompt.name))),
    }


def _felt_in(text: str) -> int | None:
    """The tone in a summary's set phrase; None if it has none."""
    found = [place for place, phrase in enumerate(phrases("tones")) if phrase in text]
    return found[0] - arithmetic.TONES if found else None


def review(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`Review`: closeness moves with the tone of talks and with who spoke for what one wants; beliefs with the rest."""
    told = _told(prompt)
    everybody = [prompt.name, *prompt.present]
    draw = generator(seed, "review", prompt.name, told.round, told.happened)
    if told.words.get("first"):
        near = {other: arithmetic.first_impression(_liking(prompt, seed, other), draw) for other in told.closeness}
        return {"reasoning": "I go by what I know of them.", "closeness": near}
    best = max((held.score for held in told.beliefs), default=0)
    wanted = [held for held in told.beliefs if held.score == best]
    heard: dict[str, str] = {}
    felt: dict[str, int] = {}
    for one in told.happened:
        who = one.others[0] if one.do == "summary" and one.others else one.who if one.do == "words" else ""
        if who and who != prompt.name:
            heard[who] = f"{heard.get(who, '')} {one.text}"
        if one.do == "summary" and (tone := _felt_in(one.text)) is not None:
            felt[who] = tone

    def backs(other: str) -> int:
        words = heard.get(other, "")
        for_me = any(speaks_for(words, other, held, everybody) for held in wanted)
        return 1 if for_me else -1 if favoured_in(words, other, everybody) and wanted else 0

    near = {
        other: arithmetic.nearer(_liking(prompt, seed, other), felt.get(other), backs(other), draw)
        if other in heard
        else 0
        for other in told.closeness
    }
    weights = [
        sum(told.closeness.get(who, 0) + 1 for who, words in heard.items() if speaks_for(words, who, held, everybody))
        for held in told.beliefs
    ]
    character = " ".join(prompt.traits)
    swayed = arithmetic.sway(
        bool(word_pattern("stubborn").search(character)), bool(word_pattern("open_minded").search(character))
    )
    changes = arithmetic.belief_changes(weights, [held in wanted for held in told.beliefs], swayed, draw)
    served = sum(backs(other) > 0 for other in heard)
    why = f"{served} spoke for what I want." if served else "Nobody spoke for what I want."
    own = {str(number): change for number, change in enumerate(changes, start=1)}
    return {"reasoning": why, "closeness": near, **({"beliefs": own} if own else {})}


def ballot(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`Ballot`: oneself or whom one has come to want; closed, the best of the others; a guess, by what was said."""
    told = _told(prompt)
    prompt.need_section(told.candidates, "candidates")
    kind = str(told.words.get("kind"))
    draw = generator(seed, "ballot", kind, prompt.name, told.happened)
    scores = _scores(prompt, told)
    if kind == "guess":
        said = [
            favoured_in(one.text, one.who, [prompt.name, *prompt.present]) for one in told.happened if one.do == "words"
        ]
        counted: Mapping[str, float] = {name: 4.0 * said.count(name) for name in told.candidates}
        found = arithmetic.ballot(counted, draw, 3.0)
        return {"reasoning": f"Most spoke for {short(found)}.", "choice": found}
    if kind == "closed":
        found = arithmetic.ballot(scores, draw, 3.0)
        return {"reasoning": f"If not I, then {short(found)}.", "choice": found}
    best = max((held.score for held in told.beliefs), default=0)
    aims = [held.favours for held in told.beliefs if held.score == best]
    decides = prompt.name == told.decider
    chosen = arithmetic.open_choice(prompt.name, told.candidates, aims, scores, decides=decides)
    found = chosen or arithmetic.ballot(scores, draw, 0.0 if max(scores.values()) > 0 else 1.0)
    why = "I still want it myself." if found == prompt.name else f"I have come to want {short(found)}."
    return {"reasoning": why, "choice": found}


def _scores(prompt: Prompt, told: Told) -> dict[str, float]:
    """How much the voter wants each candidate: the beliefs that favour it, and closeness; an outcome, by its words."""
    scores: dict[str, float] = {}
    for name in told.candidates:
        if name in told.closeness or name == prompt.name:
            beliefs = sum(held.score for held in told.beliefs if held.favours == name)
            scores[name] = beliefs + told.closeness.get(name, 0) if name != prompt.name else beliefs
        else:
            scores[name] = float(sum(held.score for held in told.beliefs if _outcome_in(held.text, told) == name))
    return scores


def _outcome_in(text: str, told: Told) -> str:
    """The longest candidate that a belief's words have."""
    found = [name for name in told.candidates if name.casefold() in text.casefold()]
    return max(found, key=len, default="")


def _asked_for(answer: dict[str, Any], told: Told) -> dict[str, Any]:
    """The answer as its prompt asks for it: without what the story's minds go without."""
    ablation = told.words.get("ablation", ())
    gone = {"next_steps", "plan"} if "planning" in ablation else set()
    if told.words.get("sentence", "reasoning") != "reasoning" or "thinking" in ablation:
        gone.add("reasoning")
    kept = {name: value for name, value in answer.items() if name not in gone}
    return {**kept, "afterthought": answer["reasoning"]} if told.words.get("sentence") == "afterthought" else kept


def _task(answered: Callable[[Prompt, int], dict[str, Any]]) -> Callable[[Prompt, int], dict[str, Any]]:
    return lambda prompt, seed: _asked_for(answered(prompt, seed), _told(prompt))


TASKS: Final[dict[str, Callable[[Prompt, int], dict[str, Any]]]] = {
    task.__name__: _task(task) for task in (stocktaking, choice, summary, review, ballot)
}
"""Every judging task of a story by the name of its template."""
