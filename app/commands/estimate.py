"""`persimchat estimate`: the calls, tokens and cost of a conversation, before it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from persimchat.app.commands.options import JsonObject
from persimchat.app.commands.wanted import Wanted
from persimchat.app.output import is_unicode, on_terminal, say

if TYPE_CHECKING:
    from persimchat.runs.events import Totals
    from persimchat.runs.reports.estimate import Estimate
    from persimchat.state.settings import Settings

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
    from persimchat.app.commands.request import understood
    from persimchat.runs.reports.estimate import estimate as estimated

    people, settings = understood(wanted)
    whole = estimated(people, settings)
    # baselines and stories are held in whole rounds
    shorter = whole.utterances // 2 if settings.baseline is None and people.story is None else 0
    if people.guide is not None:  # as soon as the talk slows everywhere
        shorter = min(people.guide.shortest(len(people.participants)), whole.utterances)
        shorter = 0 if shorter == whole.utterances else shorter
    half = estimated(people, settings, utterances=shorter) if shorter else None
    if as_json:
        import json

        say(json.dumps(_as_data(whole, half, settings), ensure_ascii=False, indent=2))
        return
    _print(whole, half, settings, len(people.participants))


def _as_data(whole: Estimate, half: Estimate | None, settings: Settings) -> dict[str, Any]:
    def data(found: Estimate) -> dict[str, Any]:
        sums = {
            field: {n: t.model_dump() for n, t in found.by(field).items()} for field in ("module", "agent", "model")
        }
        return {"utterances": found.utterances, "total": found.total.model_dump(), **sums}

    return {
        "at_most": data(whole),
        "half": data(half) if half else None,
        "price_unknown": whole.unpriced(),
        "reaches": whole.exceeded(settings),
    }


def _print(whole: Estimate, half: Estimate | None, settings: Settings, participants: int) -> None:
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from persimchat.app.views.printing import print_all
    from persimchat.runs.reports.estimate import list_prices_as_of
    from persimchat.runs.reports.words import count

    lines = box.SIMPLE_HEAD if is_unicode() else box.ASCII2
    table = Table(box=lines if on_terminal() else None, show_edge=False, pad_edge=False, header_style="bold")
    table.add_column("module", overflow="fold")
    for column in ("calls", "tokens in", "tokens out", "cost"):
        table.add_column(column, justify="right", no_wrap=True)
    for name, sums in whole.by("module").items():
        table.add_row(Text(name), *_cells(sums))
    table.add_row("in all", *_cells(whole.total), style="bold")
    most = "at most " if settings.mode == "debate" else ""
    if half is not None:
        table.add_row(f"if it ends after {half.utterances}", *_cells(half.total))
    models = ", ".join(whole.by("model"))
    head = f"{participants} participants, {most}{count(whole.utterances, 'utterance')}; model: {models}"
    notes = [
        f"No price is known for {name}: tokens only. Give one with the setting prices." for name in whole.unpriced()
    ]
    notes += [
        f"{name}={getattr(settings, name):g} is reached before the message limit." for name in whole.exceeded(settings)
    ]
    if whole.total.cost_usd:
        notes.append(f"List prices as of {list_prices_as_of()}, where the setting prices has no others.")
    print_all(Group(Text(head), Text(""), table, *map(Text, ["", *notes] if notes else [])))


def _cells(sums: Totals) -> tuple[str, str, str, str]:
    from persimchat.runs.reports.words import cost, whole

    return whole(sums.calls), whole(sums.input_tokens), whole(sums.output_tokens), cost(sums)
