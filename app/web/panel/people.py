"""The part of the panel on the people: who stands where, what they feel, who moves whom; at its end what was used."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from nicegui import ui

from ....models.naming import OFFLINE
from ....reports.stances import Position, ledger
from ....reports.summary import SCORES, AgentSummary, Speech, agent_summary, highest_coherence, most_active, speech
from ....reports.words import module_name, seconds, whole
from ....runs.events import Totals
from ....runs.folder.parts import UNKNOWN
from ....state.minds.emotion import EMOTIONS
from ....state.plain_text import clean, one_line
from ....state.wording import listed
from ..board import Board
from ..context import Viewing
from ..shared.formats import cost, dollars, joined, names, number, short, tokens, trended
from ..shared.runs import Budget, budgets, limits_of
from ..widgets import (
    CALM,
    EMOTION_COLOURS,
    EMOTION_FACES,
    anew,
    avatar,
    bar,
    card,
    chip,
    colour,
    errors_shown,
    fill,
    plain_button,
    say_in,
)
from ..words import t

_MOST_FELT: Final = 2
"""The most emotions that are named for a person."""
_MOST_PAIRS: Final = 6
"""The most pairs in the card of who moves whom."""


# What is known at a turn: pure functions of a run's board


def latest(board: Board, turn: int, what: str) -> dict[str, int]:
    """The last need to talk or openness of each participant up to the end of a turn; who has none is left out."""
    found: dict[str, int] = {}
    for at in sorted(at for at in board.minds if at <= turn):
        values = {name: getattr(mind, what) for name, mind in board.minds[at].items()}
        found |= {name: value for name, value in values.items() if value is not None}
    return {name: found[name] for name in board.participants if name in found}


@dataclass(frozen=True)
class Stand:
    """Where a participant of a debate stands.

    Attributes:
        words: the position, as the judge worded it last; empty if there is none.
        answer: the position in the debate's form of answer; empty if it has none or is not clear.
    """

    words: str = ""
    answer: str = ""


def stands(board: Board, turn: int) -> dict[str, Stand]:
    """Where participants stand at a turn, by name, as the last verdict says, or their own answers in rounds."""
    found = {one.speaker: Stand(answer=one.answer) for one in board.utterances[:turn] if one.answer}
    for verdict in board.verdicts:
        if verdict.turn <= turn:
            found |= {one.agent: Stand(one.position, one.answer or "") for one in verdict.positions}
    return found


def turned(viewing: Viewing) -> list[Position]:
    """The rows of the ledger in which somebody changed sides, by what is known at the shown turn, in order of turns."""
    if viewing.manifest is None:
        return []
    rows = ledger(viewing.board.record(viewing.manifest, viewing.turn), ("verdicts", "answers"))
    return sorted((row for row in rows if row.moved), key=lambda row: row.turn)


def felt(board: Board, name: str, turn: int) -> list[tuple[str, int, int]] | None:
    """What somebody feels at a turn: the emotions above 0, the strongest first, with their changes since the last turn.

    None if it is not known.
    """
    known = [emotion for at, emotion in board.felt_by(name) if at <= turn]
    if not known:
        return None
    now, before = known[-1], known[-2:][0]
    levels = [(one, now.get(one, 0), now.get(one, 0) - before.get(one, 0)) for one in EMOTIONS if now.get(one, 0)]
    return sorted(levels, key=lambda one: -one[1])


@dataclass(frozen=True)
class Stirring:
    """How much somebody's words change what somebody else feels.

    Attributes:
        speaker: whose words.
        listener: whose feelings.
        points: the change of all six emotions together, for each message that was heard.
        messages: how many those are.
    """

    speaker: str
    listener: str
    points: float
    messages: int


def stirred(board: Board, turn: int) -> list[Stirring]:
    """After whose words whose feelings changed, up to a turn, the most first; pairs without a change are left out."""
    changes: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    last: dict[str, Mapping[str, int]] = {name: mind.emotion for name, mind in board.minds.get(0, {}).items()}
    for said in board.utterances[:turn]:
        for name, mind in board.minds.get(said.turn, {}).items():
            now, before = mind.emotion, last.get(name)
            last[name] = now or before or {}
            hears = said.heard_by is None or name in said.heard_by
            if now and before and hears and name != said.speaker:
                changes[said.speaker, name].append(sum(abs(now.get(one, 0) - before.get(one, 0)) for one in EMOTIONS))
    found = [Stirring(*pair, sum(points) / len(points), len(points)) for pair, points in changes.items() if any(points)]
    return sorted(found, key=lambda one: (-one.points, one.speaker, one.listener))


def drawn_from(viewing: Viewing) -> Hashable:
    """A value that changes when the part's data do; single words of an utterance in progress do not change it."""
    board, turn = viewing.board, viewing.turn
    minds, calls = len(board.minds.get(turn, ())), board.totals_at(turn).calls
    counts = (len(board.scores), len(board.left_out), len(board.verdicts), calls, len(board.participants))
    hands = tuple(sorted(board.hands)) if viewing.newest else ()
    return (turn, viewing.newest, minds, *counts, hands, board.status == "ended")


# The part


def people_part(viewing: Viewing) -> Callable[[], Awaitable[None]]:
    """Make the part; returns what draws it."""
    return _PeoplePart(viewing).draw


class _Person:
    """One participant: position, feelings, need to talk, and how much they have said."""

    def __init__(self, viewing: Viewing, name: str) -> None:
        board = viewing.board
        self._viewing, self._name, self._human = viewing, name, name in board.people
        self._at = 0
        of = colour(name, board.participants)
        with ui.row().classes("w-full items-start gap-2 no-wrap"):
            avatar(one_line(name), of, "30px", human=self._human)
            with ui.column().classes("gap-1 grow min-w-0"):
                with ui.row().classes("w-full items-center gap-2 no-wrap justify-between"):
                    look = plain_button(one_line(name), partial(viewing.look_at, name))
                    look.classes("who min-w-0").tooltip(t("insights.look"))
                    with ui.row().classes("items-center gap-2 no-wrap shrink-0") as self._need:
                        with ui.element("div").classes("flex w-12"):
                            self._level = bar(0, of)
                        self._wants = ui.label().classes("text-xs tabular-nums whitespace-nowrap").mark("need")
                self._position = ui.label().classes("text-sm words clamped").mark("stand")
                self._turned = plain_button("", lambda: viewing.go_to(self._at)).classes("go-turn").mark("turned")
                self._feels = ui.row().classes("items-center gap-1")
                self._said = ui.label().classes("text-xs muted tabular-nums break-words")

    def draw(self, agent: AgentSummary, stand: Stand | None, move: Position | None, need: int | None) -> None:
        """Show the person.

        Args:
            agent: how much they have said, and how it was scored.
            stand: the position; None if it is not known.
            move: when it changed last; None if it has not.
            need: to talk, 0–10; None if it is not known.
        """
        hand = self._viewing.newest and self._name in self._viewing.board.hands
        self._need.set_visibility(need is not None or self._human)
        fill(self._level, (need or 0) / 10)
        of_people = t("insights.hand") if hand else t("insights.person")
        self._wants.set_text(of_people if need is None else t("insights.need_of", value=need))
        words = joined([one_line(stand.answer), one_line(clean(stand.words))]) if stand is not None else ""
        say_in(self._position, words)
        self._turned.set_visibility(move is not None)
        if move is not None:
            self._at, after = move.turn, listed(list(move.credit))
            key = "insights.turned_after" if after else "insights.turned"
            self._turned.set_text(t(key, turn=move.turn, who=after))
        self._draw_feelings()
        scores = [(name, getattr(agent.speech, name).last) for name in SCORES]
        scored = [f"{t(f'insights.{name}')} {number(value)}" for name, value in scores if value is not None]
        self._said.set_text(joined([t("insights.messages_of", n=agent.speech.utterances), *scored]))

    def _draw_feelings(self) -> None:
        levels = felt(self._viewing.board, self._name, self._viewing.turn)
        self._feels.set_visibility(levels is not None)
        with anew(self._feels):
            if levels == []:
                ui.label(f"{CALM} {t('common.emotion_calm')}").classes("text-xs muted")
            for emotion, level, change in (levels or [])[:_MOST_FELT]:
                by = f" ({change:+d})".replace("-", "−") if change else ""
                text = f"{EMOTION_FACES[emotion]} {t(f'common.emotion_{emotion}')} {level}{by}"
                chip(text, EMOTION_COLOURS[emotion]).mark("feels")


class _PeoplePart:
    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        self._drawn: Hashable = None
        self._people: dict[str, _Person] = {}
        self._as_of = ui.label().classes("text-xs muted")
        debate = viewing.board.started is not None and viewing.board.started.mode == "debate"
        with card(t("insights.standing" if debate else "insights.everybody_now")):
            self._rows = ui.element("ul").classes("people plain w-full flex flex-col")
        with card(t("insights.moves")) as self._moves:
            self._moves.mark("moves")
            self._pairs = ui.element("ul").classes("plain w-full flex flex-col gap-2")
            ui.label(t("insights.moves_why")).classes("text-xs muted break-words")
        with card(t("insights.budget")) as self._budget:
            self._budgets = ui.column().classes("w-full gap-2")
        self._accounts = Accounts()

    async def draw(self) -> None:
        """Draw, if anything shown has changed."""
        viewing, board, turn = self._viewing, self._viewing.board, self._viewing.turn
        if viewing.manifest is None:
            with errors_shown():
                await viewing.read()
        now = drawn_from(viewing)
        if now == self._drawn:
            return
        self._drawn = now
        say_in(self._as_of, "" if viewing.newest else t("insights.as_of", turn=turn))
        held, needs = stands(board, turn), latest(board, turn, "need_to_talk")
        moves = {row.agent: row for row in turned(viewing)}
        found = figures(board, turn)
        for agent in found.agents:
            name = agent.name
            if name not in self._people:
                with self._rows, ui.element("li"):
                    self._people[name] = _Person(viewing, name)
            self._people[name].draw(agent, held.get(name), moves.get(name), needs.get(name))
        self._draw_moves(stirred(board, turn)[:_MOST_PAIRS])
        self._draw_budgets(budgets(limits_of(viewing.manifest), board.totals_at(turn)))
        self._accounts.draw(board, turn, found)

    def _draw_moves(self, found: Sequence[Stirring]) -> None:
        """After whose words whose feelings change most."""
        self._moves.set_visibility(bool(found))
        most = max((one.points for one in found), default=1.0)
        with anew(self._pairs):
            for one in found:
                with ui.element("li"), ui.row().classes("w-full items-center gap-2 no-wrap"):
                    who = t("insights.moves_pair", who=one_line(one.speaker), whom=one_line(one.listener))
                    ui.label(who).classes("text-xs break-words min-w-0 grow basis-0")
                    with ui.element("div").classes("flex w-16 shrink-0"):
                        bar(one.points / most, colour(one.speaker, self._viewing.board.participants))
                    ui.label(number(one.points)).classes("text-xs tabular-nums text-right w-6 shrink-0")

    def _draw_budgets(self, found: Sequence[Budget]) -> None:
        """What is left of the budgets; nothing if none is set."""
        self._budget.set_visibility(bool(found))
        with anew(self._budgets):
            for budget in found:
                shown = dollars if budget.name == "budget_usd" else partial(number, decimals=0)
                with ui.column().classes("w-full gap-1"):
                    with ui.row().classes("w-full justify-between"):
                        ui.label(t(f"insights.{budget.name}")).classes("text-sm")
                        limit, left = shown(budget.limit), shown(budget.left)
                        known = t("insights.budget_left", left=left, limit=limit)
                        told = known if budget.left is not None else t("insights.budget_unknown", limit=limit)
                        ui.label(told).classes("text-xs muted tabular-nums")
                    with ui.row().classes("w-full"):
                        bar((budget.left or 0) / budget.limit if budget.limit else 0, "var(--ring)")


# What a run has used, in one line; its other figures are folded away below


@dataclass(frozen=True)
class Figures:
    """The figures of a run at a turn; `reports/summary.py` does the arithmetic.

    Attributes:
        total: of all messages.
        agents: of each participant, in order of listing.
        last: figures of the last message, its scores included; None before the first.
        last_speaker: who made it; empty before the first.
        best: the highest coherence: value, speaker and message in words; None without analysis.
    """

    total: Speech
    agents: list[AgentSummary]
    last: Speech | None
    last_speaker: str
    best: tuple[float, str] | None


def figures(board: Board, turn: int) -> Figures:
    """The figures at the end of a turn."""
    said = board.utterances[:turn]
    scores = [one for at, one in sorted(board.scores.items()) if at <= turn and one.is_scored]

    def of(name: str) -> AgentSummary:
        own = [one for one in said if one.speaker == name]
        return agent_summary(name, own, [], [one for one in scores if one.speaker == name])

    last, best = said[-1:], highest_coherence(scores)
    return Figures(
        total=speech(said, scores),
        agents=[of(name) for name in board.participants],
        last=speech(last, [one for one in scores if one.turn == last[0].turn]) if last else None,
        last_speaker=last[0].speaker if last else "",
        best=None if best is None else (best.value, t("insights.best_of", name=one_line(best.speaker), turn=best.turn)),
    )


_FIGURES: Final = (
    *("messages", "response", "last", "active"),
    *("coherence_best", "coherence_mean", "sentiment_mean", "engagement_mean"),
    *("tokens", "cost", "failed", "corrected"),
)


class Accounts:
    """The line, and the figures; a figure that is not known is not shown."""

    def __init__(self) -> None:
        self._shown: dict[str, tuple[ui.element, ui.label, ui.label]] = {}
        with ui.column().classes("w-full gap-1 accounts"):
            self._line = ui.label().classes("text-xs muted tabular-nums break-words").mark("accounts")
            with ui.element("details").classes("w-full"):
                with ui.element("summary").classes("text-xs muted"):
                    ui.label(t("insights.figures"))
                with ui.element("dl").classes("figures"):
                    for name in _FIGURES:
                        self._figure(name)

    def _figure(self, name: str) -> None:
        with ui.element("div") as row:
            with ui.element("dt"):
                ui.label(t(f"insights.{name}")).classes("text-xs muted")
            with ui.element("dd"):
                value = ui.label().classes("text-sm tabular-nums break-words").mark(f"figure-{name}")
                more = ui.label().classes("text-xs muted break-words").mark(f"beside-{name}")
        self._shown[name] = (row, value, more)

    def draw(self, board: Board, turn: int, figures: Figures) -> None:
        """Show the figures at a turn."""
        totals, total = board.totals_at(turn), figures.total
        calls = t("insights.requests", n=totals.calls)
        used = [calls, tokens(totals.input_tokens + totals.output_tokens), cost(totals)] if totals.calls else []
        self._line.set_text(joined([t("insights.messages_of", n=total.utterances), *used]))
        for name, (value, more) in _worded(board, turn, figures, totals).items():
            row, shown, below = self._shown[name]
            row.set_visibility(bool(value))
            shown.set_text(value)
            say_in(below, more)


def _worded(board: Board, turn: int, figures: Figures, totals: Totals) -> dict[str, tuple[str, str]]:
    """Each figure in words, and what stands beside it; empty where it is not known."""
    total, limit = figures.total, board.started.max_messages if board.started is not None else None
    active = most_active(figures.agents)
    most = max((agent.speech.utterances for agent in figures.agents), default=0)
    found = {
        "messages": (whole(total.utterances), t("insights.of_limit", limit=whole(limit)) if limit else ""),
        "response": _response(board, total),
        "last": ("", ""),
        "active": (names(active, 2), t("insights.messages_of", n=most) if most else ""),
        "coherence_best": (number(figures.best[0]), figures.best[1]) if figures.best is not None else ("", ""),
    }
    if figures.last is not None:
        length = figures.last.length
        of = "" if length.last_tokens is None else t("insights.tokens_of", n=length.last_tokens)
        words = "" if length.last_words is None else t("insights.words", n=length.last_words)
        found["last"] = (words, joined([of, one_line(figures.last_speaker)]))
    for name in ("coherence", "sentiment", "engagement"):
        course = getattr(total, name)
        found[f"{name}_mean"] = (number(course.mean) if total.scored else "", trended(course.trend))
    unknown = (t("insights.unknown_words"), "")
    found |= {"tokens": unknown, "cost": unknown} if totals == UNKNOWN else _usage(totals)
    minds = [*(mind for minds in board.minds.values() for mind in minds.values()), *board.judge_minds]
    for name in ("failed", "corrected"):  # judgements of minds that were unusable or corrected, and of which modules
        counted = Counter(module for mind in minds if mind.turn <= turn for module in getattr(mind, name))
        which = joined(f"{module_name(key)} {whole(count)}" for key, count in sorted(counted.items()))
        found[name] = (whole(counted.total()) if counted else "", which)
    return found


def _usage(totals: Totals) -> dict[str, tuple[str, str]]:
    """The tokens and the cost in words."""
    used = whole(totals.input_tokens + totals.output_tokens)
    parts = t("insights.read_written", read=whole(totals.input_tokens), written=whole(totals.output_tokens))
    about = t("insights.estimated", value=used) if totals.estimated and totals.calls else used
    cached = t("insights.cached", n=totals.cached_tokens, shown=short(totals.cached_tokens))
    return {"tokens": (about, parts), "cost": (dollars(totals.cost_usd), cached if totals.cached_tokens else "")}


def _response(board: Board, total: Speech) -> tuple[str, str]:
    """The mean response time and its trend; the offline model's seconds are made up and left out."""
    models = board.started.models.values() if board.started is not None else ()
    mean = total.response_time_s.mean
    if mean is None or (models and all(model == OFFLINE for model in models)):
        return "", ""
    return seconds(mean), trended(total.response_time_s.trend, "s")
