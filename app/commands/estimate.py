"""`persimchat estimate`: the calls, tokens and cost of a conversation, before it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .option_groups import Wanted
from .options import JsonObject

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ...reports.estimate import Estimate
    from ...state.settings import Settings
    from ..views.tables import Look

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat estimate "Tea or coffee?" --model openai:gpt-4o-mini
  persimchat estimate "Tea or coffee?" -n 8 --messages 40 --analysis
  persimchat estimate "Tea or coffee?" --mode debate --judge persona
  persimchat estimate --scenario examples/family.yaml --json
  persimchat estimate examples/stories/ferries.yaml

\b
[bold]How accurate it is[/bold]
  calls are counted as the conversation makes them; tokens are within 20 % of
  a run with the offline model. Models that write more, or think aloud, use
  more tokens

\b
[bold]Exit codes[/bold]
  0 done, 2 bad input
"""


def estimate(
    wanted: Wanted,
    as_json: JsonObject = False,
) -> None:
    """Estimate the calls, tokens and cost of a conversation before you run it.

    It takes the options of run and debate, asks no model, and writes nothing.
    """
    # What a run needs takes a second to load; --help and a wrong option should not wait for it.
    from ...reports.estimate import estimate as estimated
    from .request import understood

    people, settings = understood(wanted)
    whole = estimated(people, settings)
    # baselines and stories are held in whole rounds
    shorter = whole.utterances // 2 if settings.baseline is None and people.story is None else 0
    if people.guide is not None:  # as soon as the talk slows everywhere
        shorter = min(people.guide.shortest(len(people.participants)), whole.utterances)
        shorter = 0 if shorter == whole.utterances else shorter
    half = estimated(people, settings, utterances=shorter) if shorter else None
    from ..views.tables import finish

    finish(
        as_json,
        lambda: _as_data(whole, half, settings),
        lambda look: _shown(whole, half, settings, len(people.participants), look),
    )


def _as_data(whole: Estimate, half: Estimate | None, settings: Settings) -> dict[str, Any]:
    def data(found: Estimate) -> dict[str, Any]:
        sums = {
            field: {n: t.model_dump() for n, t in found.by(field).items()} for field in ("module", "agent", "model")
        }
        total = {**found.total.model_dump(), "least_usd": found.least_usd}
        return {"utterances": found.utterances, "total": total, **sums}

    return {
        "at_most": data(whole),
        "half": data(half) if half else None,
        "price_unknown": whole.unpriced(),
        "reaches": whole.exceeded(settings),
    }


def _shown(whole: Estimate, half: Estimate | None, settings: Settings, participants: int, look: Look) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    from ...models.usage import PRICES_AS_OF
    from ...reports.words import count
    from ..views.show_view import usage
    from ..views.text import cost

    rows = {**whole.by("module"), "in all": whole.total}
    if half is not None:
        rows[f"if it ends after {half.utterances}"] = half.total
    most = "at most " if settings.mode == "debate" else ""
    models = ", ".join(whole.by("model"))
    head = f"{participants} participants, {most}{count(whole.utterances, 'utterance')}; model: {models}"
    notes = [
        f"No price is known for {name}: tokens only. Give one with the setting prices." for name in whole.unpriced()
    ]
    notes += [
        f"{name}={getattr(settings, name):g} is reached before the message limit." for name in whole.exceeded(settings)
    ]
    if whole.total.cached_tokens:
        least = cost(whole.total.model_copy(update={"cost_usd": whole.least_usd}))
        notes.append(f"cached: what may come from the provider's cache; with all of it: {least}. The costs count none.")
    if whole.total.cost_usd:
        notes.append(f"List prices as of {PRICES_AS_OF}, where the setting prices has no others.")
    return Group(look(head), Text(""), usage("module", rows, look, ""), *map(look, ["", *notes] if notes else []))
