"""Two runs compared, as text: facts first, tables below."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.table import Table

from ...reports.diff import LONGEST_VALUE, Comparison, End
from ...reports.diff_charts import PrunedDifference, Standpoint, WordedWithout
from ...reports.diff_parting import MindDifference, Parting, Recall, Said
from ...reports.words import UNKNOWN, compact, count, spaced, whole, why_over
from ...runs.folder.lines import edited
from ...state.plain_text import shortened
from ...state.wording import listed
from .tables import Look, apart, facts, table

_MOST_THEMES = 3
_MOST_TURNS = 20


def compared(comparison: Comparison, look: Look) -> RenderableType:
    """The text that `persimchat diff` prints."""
    return Group(*apart([facts(look, _facts(comparison)), *_tables(comparison, look)])[:-1])


def _facts(comparison: Comparison) -> Iterator[tuple[str, str]]:
    yield "a", comparison.a
    yield "b", comparison.b
    for sentence in comparison.lineage:
        yield "past", sentence
    if comparison.equal:
        yield "result", "The two runs are equal: they have the same set-up, utterances, minds and end."
    place = comparison.parting
    if place is None:
        yield "utterances", f"all {comparison.shared:,} are the same"
    else:
        yield "shared", f"{count(comparison.shared, 'utterance')} from the start"
        yield "they part at", f"utterance {place.turn}: {_why(place)}"
        yield "a says", _said(place.a)
        yield "b says", _said(place.b)
        for run, done in (("a", place.interventions_a), ("b", place.interventions_b)):
            for deed in done:
                yield f"people in {run}", _deed(deed)
        if place.recall is not None:
            yield "recalled", _recalled(place.recall)
    if comparison.minds:
        first = comparison.minds[0].turn
        yield "minds", f"differ first {'at the awakening' if first == 0 else f'after utterance {first}'}"
        for mind in comparison.minds:
            yield "", _mind(mind)
    elif not comparison.equal:
        yield "minds", "none differs at the turns that both runs have"
    for note in comparison.notes:
        yield "note", note


def _why(place: Parting) -> str:
    match place.why:
        case "end":
            return f"{'a' if place.a is None else 'b'} was over"
        case "again":
            return "it was worded again (regenerate)"
        case "given":
            return "a branch replaced the words"
        case "chosen":
            return "a branch chose whom a host talks to"
        case "intervention":
            return "a person intervened"
        case "speaker":
            return "another speaker was chosen"
        case "audience":
            return "the same words, but other participants heard them"
        case "words":
            return "the same speaker said something else"


def _said(said: Said | None) -> str:
    if said is None:
        return "nothing more"
    heard = f" (whispered to {listed(said.heard_by)} only)" if said.heard_by is not None else ""
    given = edited(said.edited_by) or ("words given by a person" if said.given else "")
    return f"{said.speaker}{heard}{f' ({given})' if given else ''}: {said.text}"


_DEEDS: Final[dict[str, Callable[[dict[str, str]], str]]] = {
    "topic": lambda deed: f"new topic: {deed.get('topic', UNKNOWN)}",
    "floor": lambda deed: f"the floor was given to {_who(deed)}",
    "choose": lambda deed: f"a partner was chosen for {deed.get('host', 'a host')}: {deed.get('partner') or 'nobody'}",
    "stop": lambda _: "the conversation was stopped",
    "pause": lambda _: "the conversation was paused",
}
"""Interventions in words, by their names in the table interventions."""


def _deed(deed: Mapping[str, Any]) -> str:
    """An intervention in words; one of an unknown kind as it was recorded."""
    do = str(deed["do"])
    more = {key: compact(value) for key, value in deed.items() if key not in ("turn", "do")}
    if do == "say" and "text" in more:
        speaker, heard_by = more.get("speaker"), more.get("heard_by")
        to = f", for {heard_by} only" if heard_by else ""
        return f'{f"{speaker} was given the words" if speaker else "the moderator said"} "{more["text"]}"{to}'
    if do == "hand":
        return f"{_who(more)} {'raised' if deed.get('raised', True) else 'lowered'} a hand"
    if do == "answer":
        return _answered(deed, more)
    if do in _DEEDS:
        return _DEEDS[do](more)
    return f"{spaced(do)}{f': {compact(more)}' if more else ''}"


def _answered(deed: Mapping[str, Any], more: dict[str, str]) -> str:
    if deed.get("passes"):
        return f"{_who(more)} passed"
    if "need_to_talk" in more:
        return f"{_who(more)} gave a need to talk of {more['need_to_talk']}"
    return f'{_who(more)} answered "{more.get("text", more.get("choice", UNKNOWN))}"'


def _who(more: Mapping[str, str]) -> str:
    return more.get("agent", "a participant")


def _recalled(recall: Recall) -> str:
    if recall.same:
        return "the speaker recalled the same memories"
    if not recall.only_a and not recall.only_b:
        return "the speaker recalled the same memories in another order"
    only = [
        f"only in {run}: {'; '.join(themes[:_MOST_THEMES])}"
        + (f" and {len(themes) - _MOST_THEMES} more" if len(themes) > _MOST_THEMES else "")
        for run, themes in (("a", recall.only_a), ("b", recall.only_b))
        if themes
    ]
    return f"the speaker recalled other memories;  {'; '.join(only)}"


def _mind(mind: MindDifference) -> str:
    return f"{mind.agent}: {f'only in {mind.only_in}' if mind.only_in else ', '.join(map(spaced, mind.fields))}"


def _tables(comparison: Comparison, look: Look) -> Iterator[Table]:
    sides = ("what", "in a", "in b")
    if comparison.setup:
        setup = ([change.what, _value(change.a), _value(change.b)] for change in comparison.setup)
        yield table(look, "Setup", sides, setup)
    place = comparison.parting
    if place is not None and place.needs:
        needs = ([need.agent, whole(need.a), whole(need.b)] for need in place.needs)
        yield table(look, "Need to talk", ("agent", "a", "b"), needs)
    ends = zip(*(_end(end, comparison.calls_after) for end in (comparison.end_a, comparison.end_b)), strict=True)
    yield table(look, "Ends", sides, ([label, a, b] for (label, a), (_, b) in ends if (a, b) != (UNKNOWN, UNKNOWN)))
    columns = ("agent", "utterances\na", "utterances\nb", "words\na", "words\nb")
    rows = (
        [one.name, *map(whole, (one.utterances_a, one.utterances_b, one.words_a, one.words_b))]
        for one in comparison.participants
    )
    yield table(look, "Who spoke", columns, rows)
    if comparison.pruned:
        yield _left_out(comparison.pruned, look)
    yield from _story(comparison, look)


def _left_out(differences: Sequence[PrunedDifference], look: Look) -> Table:
    """What was left out of the prompts, where the runs differ in it."""

    def cells(one: WordedWithout | None) -> tuple[str, str, str]:
        if one is None:
            return UNKNOWN, UNKNOWN, UNKNOWN
        pieces, words = f"{one.removed:,} of {one.units:,}", f"{one.words_removed:,} of {one.words:,}"
        return f"{one.strength:g}", pieces, words

    pairs = [(one.turn, zip(cells(one.a), cells(one.b), strict=True)) for one in differences]
    rows = [[whole(turn), *(cell for pair in both for cell in pair)] for turn, both in pairs]
    title = (
        "Worded without" if len(rows) <= _MOST_TURNS else f"Worded without, the first {_MOST_TURNS} of {len(rows):,}"
    )
    columns = ("utterance", "λ a", "λ b", "pieces\na", "pieces\nb", "words\na", "words\nb")
    return table(look, title, columns, rows[:_MOST_TURNS])


def _story(comparison: Comparison, look: Look) -> Iterator[Table]:
    """Of stories: where the characters stand, from the last update that both share, and the ballots."""
    rounds = dict.fromkeys(one.round for one in comparison.updates)
    last = max(rounds, default=0)
    for number in rounds:
        own = [one for one in comparison.updates if one.round == number]
        title = "Where they stand " + (f"after round {number}" if number else "before the first round")
        if all(one.shared for one in own):
            both = ([one.name, *pair] for one in own for pair in _stands(one.a))
            yield table(look, f"{title}, the same in both", ("agent", "what", "in both"), both)
            continue
        rows = [
            [one.name, label, a, "the same" if a == b else b]
            for one in own
            for (label, a), (_, b) in zip(_stands(one.a), _stands(one.b), strict=True)
        ]
        title = "Where they stand at the end" if number == last else title
        yield table(look, title, ("agent", "what", "in a", "in b"), rows)
    if comparison.votes:
        same = "the same"
        cast = ([one.name, _BALLOTS[one.ballot], one.a, same if one.a == one.b else one.b] for one in comparison.votes)
        yield table(look, "Ballots", ("agent", "ballot", "in a", "in b"), cast)


_BALLOTS: Final = {"guess": "expects to win", "ballot": "open", "closed_ballot": "closed"}


def _stands(one: Standpoint | None) -> list[tuple[str, str]]:
    """A character's support, influence, beliefs and closeness in words."""
    if one is None:
        return [(label, UNKNOWN) for label in ("behind", "influence", "beliefs", "closeness")]
    near = ", ".join(f"{name} {score}" for name, score in one.closeness.items())
    return [
        ("behind", one.supports or "nobody"),
        ("influence", whole(one.influence)),
        ("beliefs", ", ".join(map(str, one.beliefs)) or UNKNOWN),
        ("closeness", near or UNKNOWN),
    ]


def _value(value: object) -> str:
    return UNKNOWN if value is None else shortened(compact(value), LONGEST_VALUE)


def _end(end: End, after: int | None) -> Iterable[tuple[str, str]]:
    since = "" if after is None else f" after utterance {after:,}"
    reason = end.stop_reason
    cost = UNKNOWN if end.cost_usd is None else f"${end.cost_usd:,.4f}" if end.cost_usd else "none"
    agreed = UNKNOWN if end.consensus is None else "yes" if end.consensus else "no"
    return [
        ("ending", why_over(reason)),
        ("detail", end.stop_detail or UNKNOWN),
        ("consensus", agreed),
        ("answer", UNKNOWN if end.answer is None else end.answer),
        ("utterances", whole(end.utterances)),
        ("words", whole(end.words)),
        (f"model calls{since}", whole(end.calls)),
        (f"tokens{since}", whole(end.tokens)),
        (f"cost{since}", cost),
    ]
