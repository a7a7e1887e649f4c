"""A run's summary as text: facts first, tables below."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from persimchat.app.views import run_tables as tables
from persimchat.app.views.run_tables import Look
from persimchat.app.views.text import used
from persimchat.runs.folder.interviews import InterviewAnswer
from persimchat.runs.folder.judgements import RecordedJudgement
from persimchat.runs.folder.lines import CONDITION, DISCLAIMER
from persimchat.runs.reports.pruning_figures import left_out
from persimchat.runs.reports.stance_summary import Stances
from persimchat.runs.reports.stances import AFTER_WHOM
from persimchat.runs.reports.summary import SCORES, Course, Summary
from persimchat.runs.reports.words import (
    came_out,
    corrections,
    count,
    decimal,
    ending,
    lineage,
    listed,
    seconds,
    spaced,
    trend,
    with_people,
)

_TREND = (
    "Trend: the slope of the least-squares line through the values in order, so the change from one utterance to the "
    "next."
)


def shown(
    summary: Summary,
    look: Look,
    judged: Sequence[RecordedJudgement] = (),
    held: Sequence[Stances] = (),
    interviewed: Sequence[InterviewAnswer] = (),
) -> RenderableType:
    """The text that `persimchat show` prints.

    Args:
        summary: the run in numbers.
        look: what standard output can show.
        judged: the judgements of evaluators.
        held: who held what, by source.
        interviewed: the answers of interviews.
    """
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    for label, words in _facts(summary):
        facts.add_row(look(label), look(words))
    moved = tables.stances(held, look)
    parts = [
        tables.messages(summary, look),
        tables.minds(summary, look),
        tables.pruned(summary, look),
        tables.analysis(summary, look),
        tables.verdicts(summary, look),
        tables.standings(summary, look),
        *moved,
        look(AFTER_WHOM) if moved else None,
        tables.judgements(judged, look),
        tables.interviews(interviewed, look),
        tables.usage("module", summary.usage_by_module, look),
        tables.usage("agent", summary.usage_by_agent, look),
    ]
    below = [item for part in parts if part is not None for item in (part, Text(""))]
    heading = look(summary.topic)
    heading.stylize("bold")
    return Group(heading, facts, Text(""), *below, look(_TREND), look(DISCLAIMER))


def _facts(summary: Summary) -> Iterator[tuple[str, str]]:
    """The facts in order: label and text."""
    total = summary.total
    yield "run", summary.run
    how = f"baseline {summary.baseline}" if summary.baseline is not None else summary.pattern
    model = [] if summary.model is None else [summary.model]
    seed = [] if summary.seed is None else [f"seed {summary.seed}"]
    yield "how", ", ".join([summary.mode, spaced(how), *model, *seed])
    yield "participants", listed(with_people(summary.participants, summary.people))
    if past := lineage(summary.branch, summary.resumed):
        yield "past", past
    if summary.ablation:
        yield "minds without", listed(summary.ablation)
    yield "ending", ending(summary)
    yield from _outcome(summary)
    for put in summary.questions:
        yield f"question {put.number}", f"{put.text} (utterance {put.turn})"
    conclusion = summary.conclusion
    if conclusion is not None:
        without = {"mad_judge": "decision", "reconcile": "weighted vote"}.get(conclusion.by, "majority")
        under = " under conditions" if conclusion.conditional else ""
        yield f"{'consensus' if conclusion.consensus else without}{under}", conclusion.answer
        if conclusion.conditional:
            yield CONDITION.lower(), conclusion.conditional
        by = f"; so says: {spaced(conclusion.by)}" if conclusion.by else ""
        who = f": {listed(conclusion.supporters)}" if conclusion.supporters else ""
        yield "held by", f"{len(conclusion.supporters)} of {len(summary.participants)}{who}{by}"
        if conclusion.reasoning:
            yield "because", conclusion.reasoning
        spoken = {agent.name: agent.speech.utterances for agent in summary.agents}
        for held in conclusion.positions:
            yield held.agent, f"{held.position} “{held.words}” ({count(spoken.get(held.agent, 0), 'message')})".strip()
    if summary.most_active:
        most = next(agent.speech.utterances for agent in summary.agents if agent.name == summary.most_active[0])
        yield "most active", f"{listed(summary.most_active)} ({count(most, 'message')})"
    if total.response_time_s.mean is not None:
        simulated = " (simulated)" if summary.simulated_times else ""
        yield f"response time{simulated}", _course(total.response_time_s, seconds, "s")
    if total.length.last_words is not None:
        tokens = "" if total.length.last_tokens is None else f", {count(total.length.last_tokens, 'token')}"
        average = decimal(total.length.mean_words)
        yield "last message", f"{count(total.length.last_words, 'word')}{tokens}; average {average} words"
    if total.scored:
        for name in SCORES:
            course: Course = getattr(total, name)
            yield name, _course(course, decimal)
        yield "analysed", f"{total.scored} of {count(total.utterances, 'message')}"
    best = summary.highest_coherence
    if best is not None:
        yield "highest coherence", f"{decimal(best.value)}, {best.speaker}, utterance {best.turn}"
    if summary.whispers:
        yield "whispers", count(summary.whispers, "utterance")
    if summary.pruned is not None:
        yield "left out", left_out(summary.pruned)
        for warning in summary.pruned.warnings:
            yield "note", warning
    if summary.interventions:
        yield "people did", _deeds(summary.interventions)
    if summary.silences:
        yield "silent", ", ".join(f"{name}: {count(n, 'turn')}" for name, n in summary.silences.items())
    if failed := came_out(summary.judgements, "failed"):
        yield "unusable answers", failed
    if moved := came_out(summary.judgements, "corrected"):
        yield "corrected answers", moved
    if total.corrections:
        yield "corrected wording", corrections(total.corrections)
    if summary.usage is not None:
        yield "used", used(summary.usage)
    for note in summary.notes:
        yield "note", note


def _outcome(summary: Summary) -> Iterator[tuple[str, str]]:
    """The facts on a story's vote."""
    outcome = summary.outcome
    if outcome is None:
        return
    yield ("winner" if len(outcome.winners) == 1 else "draw"), listed(outcome.winners) or "nobody"
    for label, ballots in (("open ballots", outcome.open), ("closed ballots", outcome.closed)):
        if ballots:
            yield label, ", ".join(f"{name} {number}" for name, number in ballots.items())
    if outcome.appointed:
        yield "second choice", f"{outcome.appointed}, of who decides"


_DEEDS: Final = {
    "say": ("line of the moderator", "lines of the moderator"),
    "words": ("line of a participant", "lines of participants"),
    "topic": ("new topic", "new topics"),
    "hand": ("raised hand", "raised hands"),
    "hand_lowered": ("lowered hand", "lowered hands"),
    "floor": ("time the floor was given", "times the floor was given"),
    "answer": ("answer", "answers"),
    "stop": ("end", "ends"),
}
"""Interventions in words, singular and plural."""


def _deeds(counts: Mapping[str, int]) -> str:
    """The interventions and how often each happened: "2 lines of the moderator, 1 new topic"."""
    worded = {name: _DEEDS.get(name, (spaced(name), spaced(name))) for name in counts}
    return ", ".join(f"{number:,} {worded[name][number != 1]}" for name, number in counts.items())


def _course(course: Course, worded: Callable[[float | None], str], unit: str = "") -> str:
    moving = "" if course.trend is None else f", trend {trend(course.trend, unit)} an utterance"
    return f"average {worded(course.mean)}, last {worded(course.last)}{moving}"
