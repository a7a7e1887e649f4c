"""What `persimchat show` prints: a run's summary as facts, and the tables below them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ...reports.pruning_figures import Lacking, left_out, percent, piece
from ...reports.stances import Holder, Stances
from ...reports.summary import SCORES, AgentSummary, Course, Summary, VerdictSummary, ending, mean
from ...reports.words import (
    UNKNOWN,
    came_out,
    corrections,
    cost,
    count,
    decimal,
    from_to,
    lineage,
    seconds,
    spaced,
    trend,
    whole,
    with_people,
)
from ...runs.events import Happened, Totals
from ...runs.folder.answers import InterviewAnswer, RecordedJudgement
from ...runs.folder.answers import interviews as by_interview
from ...runs.folder.lines import DISCLAIMER
from ...state.wording import listed, t
from .tables import Look, apart, facts, heading, table
from .text import mood, used

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
    moved = _stances(held, look)
    parts: list[RenderableType | None] = [
        _messages(summary, look),
        _minds(summary, look),
        _pruned(summary, look),
        _analysis(summary, look),
        _verdicts(summary, look),
        _standings(summary, look),
        *moved,
        look(t("report.after_whom")) if moved else None,
        _judgements(judged, look),
        _interviews(interviewed, look),
        _used("module", summary.usage_by_module, look),
        _used("agent", summary.usage_by_agent, look),
    ]
    top: list[RenderableType] = [heading(look, summary.topic), facts(look, _facts(summary)), Text("")]
    return Group(*top, *apart(parts), look(_TREND), look(DISCLAIMER))


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
    if summary.joined:
        yield "in one call", listed(summary.joined)
    if summary.modules:
        yield "own modules", listed(summary.modules)
    if summary.prompts:
        yield "own prompts", listed(summary.prompts)
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
            yield t("transcript.conditions").lower(), conclusion.conditional
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


# Tables


def _messages(summary: Summary, look: Look) -> Table:
    """Messages and response times of each speaker."""

    def row(agent: AgentSummary) -> list[str]:
        speech, length = agent.speech, agent.speech.length
        sent = [agent.name, whole(speech.utterances), *_figures(speech.response_time_s, seconds, "s")]
        return [*sent, whole(length.last_words), whole(length.last_tokens), decimal(length.mean_words)]

    length = ("last\nwords", "last\ntokens", "average\nwords")
    columns = ("agent", "sent", "last\nresponse", "average\nresponse", "trend", *length)
    return table(look, "Messages", columns, map(row, summary.agents))


def _figures(course: Course, worded: Callable[[float | None], str], unit: str) -> list[str]:
    return [worded(course.last), worded(course.mean), trend(course.trend, unit)]


def _minds(summary: Summary, look: Look) -> Table | None:
    """Need to talk, openness and emotions of each agent; None if the run has none of them."""
    known = [a for a in summary.agents if a.mean_need_to_talk is not None or a.emotion or a.answer is not None]
    if not known:
        return None
    debate = any(agent.first_openness is not None for agent in known)
    answers = any(agent.answer is not None for agent in known)

    def row(agent: AgentSummary) -> list[str]:
        openness = [from_to(agent.first_openness, agent.last_openness)] * debate
        answer = [agent.answer if agent.answer is not None else "–"] * answers
        feels = mood(agent.emotion) if agent.emotion else "–"
        return [agent.name, decimal(agent.mean_need_to_talk), *openness, feels, *answer]

    columns = ("agent", "average\nneed to talk", *["openness"] * debate, "feels at the end", *["last answer"] * answers)
    return table(look, "Minds", columns, map(row, known))


_PIECE: Final = 40
"""Characters of a piece of information in a table."""


def _pruned(summary: Summary, look: Look) -> Table | None:
    """What each agent's utterances were worded without, on average; None without pruning."""
    if not summary.pruned_by_agent:
        return None
    checked = any(one.mean_contradiction is not None for one in summary.pruned_by_agent)

    def row(one: Lacking) -> list[str]:
        often = "; ".join(f"{piece(of.text, _PIECE)} ({of.removed:,} of {of.prompts:,})" for of in one.most_often)
        return [
            one.agent,
            whole(one.utterances),
            percent(one.mean_share),
            f"{decimal(one.mean_removed)} of {decimal(one.mean_units)}",
            f"{decimal(one.mean_words_removed)} of {decimal(one.mean_words)}",
            *[decimal(one.mean_contradiction)] * checked,
            often or UNKNOWN,
        ]

    columns = ("agent", "utterances", "share of\nscores", "pieces", "words", *["contradiction"] * checked)
    title = "Worded without, an utterance on average"
    return table(look, title, (*columns, "left out most often"), map(row, summary.pruned_by_agent))


def _analysis(summary: Summary, look: Look) -> Table | None:
    """Averages and trends of the scores; None if no utterance was analysed."""
    if not summary.total.scored:
        return None

    def row(agent: AgentSummary) -> list[str]:
        courses: list[Course] = [getattr(agent.speech, name) for name in SCORES]
        return [agent.name, *("  ".join([decimal(c.mean), decimal(c.last), trend(c.trend)]) for c in courses)]

    return table(look, "Analysis, 0 to 10: average, last, trend", ("agent", *SCORES), map(row, summary.agents))


def _verdicts(summary: Summary, look: Look, most: int = 20) -> Table | None:
    """The judge's last verdicts; None if there are none."""
    if not summary.verdicts:
        return None

    def row(verdict: VerdictSummary) -> list[str]:
        said = "consensus" if verdict.consensus else "overruled" if verdict.overruled else "no consensus"
        agree = f"{verdict.agree} of {verdict.participants}"
        return [whole(verdict.turn), said, verdict.progress, agree, verdict.answer or verdict.overruled]

    shown = summary.verdicts[-most:]
    title = "Verdicts" if len(shown) == len(summary.verdicts) else f"Verdicts, the last {most}"
    columns = ("after\nutterance", "verdict", "debate is", "agree", "answer")
    return table(look, title, columns, map(row, shown))


def _standings(summary: Summary, look: Look) -> Table | None:
    """Where a story's characters stand at the end; None outside stories."""
    if not summary.standings:
        return None

    def row(one: Happened) -> list[str]:
        near = ", ".join(f"{other.partition(' ')[0]} {score}" for other, score in one.closeness.items())
        beliefs = ", ".join(map(str, one.beliefs)) or UNKNOWN
        return [one.speaker, beliefs, one.supports or "nobody", whole(one.influence or 0), near]

    columns = ("agent", "beliefs", "stands behind", "influence", "closeness to")
    return table(look, "Where they stand at the end", columns, map(row, summary.standings))


def _judgements(rows: Iterable[RecordedJudgement], look: Look) -> Table | None:
    """The scores that evaluators gave the conversation; None if there are none."""
    grouped: dict[tuple[str, str], list[RecordedJudgement]] = {}
    for row in rows:
        grouped.setdefault((row.dimension, row.judge), []).append(row)
    if not grouped:
        return None

    def cells(dimension: str, judge: str, own: Sequence[RecordedJudgement]) -> list[str]:
        scores = [row.score for row in own if row.score is not None]
        why = Counter(row.missing for row in own if row.missing)
        missing = ", ".join(f"{reason} {times}" for reason, times in why.items()) or "0"
        return [dimension, decimal(mean(scores)), " ".join(f"{score:g}" for score in scores) or "–", missing, judge]

    columns = ("dimension", "average", "scores", "missing", "judge")
    return table(look, "Judged after it was over", columns, (cells(*of, own) for of, own in grouped.items()))


def _interviews(rows: Iterable[InterviewAnswer], look: Look) -> Table | None:
    """The interviews that were held afterwards, and how many questions each had; None if there were none."""

    def cells(own: Sequence[InterviewAnswer]) -> list[str]:
        first, missing = own[0], sum(row.answer is None for row in own)
        asked = f"{len(own)} ({missing} without an answer)" if missing else str(len(own))
        return [str(first.interview), first.agent, str(first.turn), asked, first.judge]

    held = by_interview(rows)
    columns = ("interview", "with", "as at turn", "questions", "answered by")
    return table(look, "Interviews afterwards", columns, map(cells, held)) if held else None


def _stances(every: Iterable[Stances], look: Look) -> list[Table]:
    """Who began and ended with which position, by source; sources in which nobody moved are left out."""

    def cells(holder: Holder) -> list[str]:
        first, last = (UNKNOWN if held is None else held for held in (holder.first, holder.last))
        return [holder.agent, first, last, whole(holder.moves), decimal(holder.credit)]

    columns = ("agent", "began with", "ended with", "moves", "others moved\nafter them")
    moved = (one for one in every if one.moves)
    return [table(look, f"Who moved, by {one.where}", columns, map(cells, one.holders)) for one in moved]


def _used(what: str, rows: dict[str, Totals], look: Look) -> Table | None:
    """Tokens and cost by module or agent; None if nothing is recorded."""
    return usage(what, rows, look, f"Tokens and cost by {what}") if rows else None


def usage(what: str, rows: Mapping[str, Totals], look: Look, title: str) -> Table:
    """Calls, tokens and cost, a row for each module or agent."""
    cached = any(total.cached_tokens for total in rows.values())

    def cells(name: str, one: Totals) -> list[str]:
        tokens = [whole(one.input_tokens), *[whole(one.cached_tokens)] * cached, whole(one.output_tokens)]
        return [spaced(name) if what == "module" else name, whole(one.calls), *tokens, cost(one)]

    columns = (what, "calls", "tokens in", *["cached"] * cached, "tokens out", "cost")
    return table(look, title, columns, (cells(*row) for row in rows.items()))
