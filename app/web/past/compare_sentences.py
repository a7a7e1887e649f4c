"""Where two runs part, in sentences of the page's language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from persimchat.app.web.words import t
from persimchat.runs.diff import Comparison
from persimchat.runs.diff_parting import Parting
from persimchat.runs.reading import Record
from persimchat.runs.report_words import compact, spaced

_MOST_THEMES: Final = 3


def sentences(comparison: Comparison, a: Record, b: Record) -> Iterator[str]:
    """Whose branch they are, what they share, where and why they part, what differs in their minds."""
    called = {a.path.name: "A", b.path.name: "B"}
    for name, record in (("A", a), ("B", b)):
        branch = record.manifest.branch
        if branch is not None:
            yield t("past.branch_of", run=name, of=called.get(branch.of, branch.of), turn=branch.turn)
    place = comparison.parting
    if comparison.equal:
        yield t("past.equal")
    elif place is None:
        yield t("past.all_shared", n=comparison.shared)
    else:
        yield t("past.shared", n=comparison.shared) if comparison.shared else t("past.shared_none")
    if place is not None:
        yield t(f"past.why_{place.why}", turn=place.turn, over="A" if place.a is None else "B")
        yield from _done(place)
        yield from _recalled(place)
    if comparison.minds:
        first, who = comparison.minds[0].turn, ", ".join(mind.agent for mind in comparison.minds)
        yield t("past.minds_part", turn=first, who=who) if first else t("past.minds_awakening", who=who)


def _done(place: Parting) -> Iterator[str]:
    for run, deeds in (("A", place.interventions_a), ("B", place.interventions_b)):
        for deed in deeds:
            yield t("past.deed", run=run, deed=_deed(deed))


def _deed(deed: Mapping[str, Any]) -> str:
    """What somebody did, by the names of control.jsonl; what is not known here as it was recorded."""
    more = {key: compact(value) for key, value in deed.items() if key not in ("turn", "do")}
    do, who = str(deed["do"]), more.get("speaker") or more.get("agent") or t("past.deed_moderator")
    if do in ("say", "answer") and "text" in more:
        return t("past.deed_say", who=who, text=more["text"])
    if do == "topic" and "topic" in more:
        return t("past.deed_topic", topic=more["topic"])
    if do == "floor":
        return t("past.deed_floor", who=who)
    return spaced(do) + (f" ({compact(more)})" if more else "")


def _recalled(place: Parting) -> Iterator[str]:
    recall = place.recall
    if recall is None:
        return
    if not recall.only_a and not recall.only_b:
        yield t("past.recall_same")
    for run, themes in (("A", recall.only_a), ("B", recall.only_b)):
        if themes:
            more = " …" if len(themes) > _MOST_THEMES else ""
            yield t("past.recall_only", run=run, themes="; ".join(themes[:_MOST_THEMES]) + more)
