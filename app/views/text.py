"""A run's figures, emotions and endings in words, for terminals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...reports.words import count, why_over
from ...runs.events import Concluded, Stopped, Totals
from ...runs.folder.lines import conclusion_heading
from ...state.minds.emotion import dominant
from ...state.plain_text import one_line
from ...state.settings import BASELINES
from ...state.wording import t

GLYPHS: Final[dict[str, str]] = {
    "happiness": ":)",
    "sadness": ":(",
    "anger": ">:(",
    "fear": "D:",
    "disgust": ":S",
    "surprise": ":o",
    "calm": ":|",
}
"""A small face for each emotion, in characters that every terminal has."""

_BY_PEOPLE: Final = ("person", "moderator")
"""Sources of an ending whose details say more than "stopped"."""


def mood(emotion: Mapping[str, int]) -> str:
    """The strongest emotion as a glyph and words, such as ":) happiness 6"; ":| calm" if all are 0."""
    name = dominant(emotion)
    level = emotion.get(name, 0)
    return f"{GLYPHS[name]} {name}" + (f" {level}" if level else "")


def cost(totals: Totals) -> str:
    """The cost in words."""
    if totals.cost_usd is None:
        return "cost unknown"
    return f"${totals.cost_usd:,.4f}" if totals.cost_usd else "no cost"


def tokens(totals: Totals) -> str:
    """The number of tokens, as in "about 1,234 tokens"."""
    return ("about " if totals.estimated else "") + count(totals.input_tokens + totals.output_tokens, "token")


def used(totals: Totals) -> str:
    """Calls, tokens and cost on one line."""
    estimated = " (estimated)" if totals.estimated else ""
    cached = f" ({totals.cached_tokens:,} cached)" if totals.cached_tokens else ""
    return (
        f"{count(totals.calls, 'model call')}, {count(totals.input_tokens, 'token')} in{cached}, "
        f"{totals.output_tokens:,} out{estimated}, {cost(totals)}"
    )


def ending(stopped: Stopped) -> str:
    """Why and after how many utterances a run ended, on one line."""
    if stopped.source in BASELINES:  # in the method's words: its rounds are over, not the message limit reached
        return one_line(stopped.detail).rstrip(".")
    why = why_over(stopped.reason)
    if stopped.reason == "stopped" and stopped.source in _BY_PEOPLE and stopped.detail:
        words = one_line(stopped.detail).rstrip(".")
        why = words[:1].lower() + words[1:]
    return t("report.over", why=why, n=stopped.turn)


def unscored(number: int) -> str:
    """A note on utterances that could not be scored; empty if all were scored."""
    return f"Not scored: {count(number, 'utterance')}; the table scores says why." if number else ""


def concluded(conclusion: Concluded) -> tuple[str, str, str]:
    """A debate's conclusion in words: a heading, the answer, and who holds it."""
    held = ", ".join(one_line(name) for name in conclusion.supporters)
    heading = conclusion_heading(conclusion.consensus, conclusion.by, conditional=bool(conclusion.conditional))
    answer = one_line(conclusion.answer)
    if conclusion.conditional:
        answer += f"; {t('transcript.conditions').lower()}: {one_line(conclusion.conditional)}"
    return heading, answer, f"held by {held}" if held else ""


def models_in_words(models: Mapping[str, str]) -> str:
    """The model of each agent; one name if it is the same for all."""
    names = set(models.values())
    if len(names) == 1:
        return one_line(names.pop())
    return "; ".join(f"{one_line(agent)}: {one_line(model)}" for agent, model in models.items())
