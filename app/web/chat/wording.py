"""What happens in a conversation in the words of the page, and figures in short."""

from __future__ import annotations

from collections.abc import Mapping

from persimchat.app.web.words import number, t
from persimchat.runs.events import Judged, Silenced, Stopped, TopicChanged, Totals
from persimchat.state.emotion import EMOTIONS
from persimchat.state.plain_text import one_line
from persimchat.state.repetition import CORRECTIONS
from persimchat.state.settings import BASELINES


def short(value: float) -> str:
    """A large number in short: 950, 12.4 k, 3.1 M."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if value >= size:
            return f"{number(value / size, 1)} {unit}"
    return number(value)


def seconds(value: float) -> str:
    """Seconds with one decimal, two where it takes less than one."""
    return f"{number(value, 1 if value >= 1 else 2)} s"


def tokens(count: float) -> str:
    """A number of tokens in short."""
    return t("chat.tokens", n=count, shown=short(count))


def dollars(value: float, digits: int) -> str:
    """US dollars as the page's language writes them."""
    return t("insights.dollars", value=number(value, digits))


def cost(totals: Totals) -> str:
    """What was paid, in US dollars."""
    if totals.cost_usd is None:
        return t("chat.cost_unknown")
    if not totals.cost_usd:
        return t("chat.cost_none")
    return dollars(totals.cost_usd, 4 if totals.cost_usd < 1 else 2)


def dominant(emotion: Mapping[str, int]) -> str:
    """The strongest emotion, the first among equals; "calm" where none is felt."""
    strongest = max(EMOTIONS, key=lambda name: emotion.get(name, 0))
    return strongest if emotion.get(strongest, 0) > 0 else "calm"


def listed(names: list[str]) -> str:
    """Names in a row: "A", "A and B", "A, B and C"."""
    shown = [one_line(name) for name in names]
    if len(shown) < 2:
        return "".join(shown)
    return t("chat.and", many=", ".join(shown[:-1]), last=shown[-1])


def aside(line: Silenced | TopicChanged | Judged) -> str:
    """What stands between utterances, in a line."""
    match line:
        case TopicChanged():
            return t("chat.topic_is_now", topic=one_line(line.topic))
        case Silenced():
            who = one_line(line.agent)
            if line.why == "passed":
                return t("chat.passes", who=who)
            return t(f"chat.silent_{line.step}", who=who, why=one_line(line.why))
        case Judged():
            return verdict(line)


def verdict(line: Judged) -> str:
    """What the judge has seen, in a line."""
    if line.consensus:
        return t("chat.judge_agreed", answer=one_line(line.answer))
    if line.overruled:
        return t("chat.judge_overruled", why=one_line(line.overruled))
    agree = sum(position.agrees for position in line.positions)
    progress = line.progress if line.progress in ("progressing", "circling") else "open"
    return t(f"chat.judge_{progress}", n=agree, of=len(line.positions))


def corrected(corrections: list[str]) -> str:
    """What was put right in an utterance; empty where nothing was."""
    return " · ".join(t(f"chat.corrected_{name}") if name in CORRECTIONS else one_line(name) for name in corrections)


def ended(stopped: Stopped) -> str:
    """Why a run is over, in a sentence."""
    if stopped.source in BASELINES:
        return t("chat.ended_baseline")
    if stopped.reason == "stopped" and stopped.source in ("user", "moderator", "person"):
        return t(f"chat.stopped_by_{stopped.source}")
    return t(f"chat.ended_{stopped.reason}")
