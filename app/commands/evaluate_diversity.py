"""`persimchat evaluate diversity`: how different repeated runs of one set-up are, under one setting or another."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from persimchat.app.commands.options import OUT, JsonObject, Runs, RunsIn
from persimchat.app.output import is_unicode, on_terminal, say
from persimchat.state.errors import InputError

if TYPE_CHECKING:
    from persimchat.evaluation.diversity.cases import Chosen
    from persimchat.evaluation.diversity.measuring import Diversity

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat evaluate diversity conversations/2026*
  persimchat evaluate diversity results/lambda/runs/* --embedding minilm --out results/diversity
  persimchat evaluate diversity conversations/2026* --positions --json

\b
[bold]Cases and settings[/bold]
  Runs of one scenario are a case. Settings that differ between its runs stand
  side by side; seeds only repeat. Give at least two runs of each, and equally
  many: dist-N falls with the amount of text.

\b
[bold]Exit codes[/bold]
  0 done   2 bad input, or nothing to compare   3 a server's embedding failed
"""


def diversity(
    wanted: Runs,
    embedding: Annotated[
        str | None,
        typer.Option(
            "--embedding",
            metavar="NAME",
            help="For sim: lexical, minilm, openai:<model>, or <model>@http://host:port/v1. [dim]default: minilm if "
            "installed, else lexical[/dim]",
            show_default=False,
        ),
    ] = None,
    tokens: Annotated[
        Literal["words", "whitespace"],
        typer.Option(
            "--tokens",
            metavar="KIND",
            help="words: without case and punctuation; whitespace: to compare with other implementations.",
        ),
    ] = "words",
    positions: Annotated[
        bool, typer.Option("--positions", metavar="", help="Also the first utterances, the second ones, and so on.")
    ] = False,
    group: Annotated[
        int | None,
        typer.Option(
            "--group",
            metavar="N",
            min=2,
            help="Measure N runs at a time, by seed. The reference, also beside itself, then has other seeds.",
        ),
    ] = None,
    runs: RunsIn = OUT,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Also write diversity.csv and diversity_settings.csv there.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonObject = False,
) -> None:
    """Show how different repeated conversations are: words, meanings, and what pruning adds.

    No model is asked; an embedding of a server is. Whispers and words of people and the moderator do not count.
    """
    from persimchat.app.commands.finding import find_run
    from persimchat.evaluation.diversity.cases import choose
    from persimchat.evaluation.diversity.measuring import Options, measure
    from persimchat.evaluation.diversity.vectors import best_embedding
    from persimchat.models.registry import close_models
    from persimchat.state.configuration import load_settings

    chosen = choose([find_run(name, runs) for name in wanted])
    options = Options(best_embedding() if embedding is None else embedding, tokens, positions, group)

    async def measured() -> Diversity:
        try:
            return await measure(chosen.cases, options, load_settings())
        finally:
            await close_models()

    found = asyncio.run(measured())
    if group is not None and all(one.value is None for one in found.values):
        raise InputError("no setting has a whole group", where="--group", remedy="Give more runs, or a smaller group.")
    written: list[Path] = []
    if out is not None:
        from persimchat.evaluation.tables import write_diversity

        written = write_diversity(out, found)
    if as_json:
        say(json.dumps(_data(chosen, found), ensure_ascii=False, indent=2))
        return
    from persimchat.app.views.diversity_view import shown
    from persimchat.app.views.printing import print_all
    from persimchat.app.views.run_tables import Look

    print_all(shown(chosen, found, Look(terminal=on_terminal(), unicode=is_unicode())))
    for path in written:
        say(str(path))


def _data(chosen: Chosen, found: Diversity) -> dict[str, Any]:
    from persimchat.app.views.evaluate_view import as_data
    from persimchat.evaluation.diversity.measuring import MEASURES

    return {
        "embedding": found.embedding,
        "tokens": found.options.tokens,
        "group": found.options.group,
        "measures": {name: MEASURES[name] for name in found.measures},
        "cases": {
            case: {setting: [one.run for one in each] for setting, each in by_setting.items()}
            for case, by_setting in found.cases.sets.items()
        },
        "values": [asdict(one) for one in found.values],
        "settings": [
            {
                "setting": one.setting,
                "measure": one.measure,
                "unit": one.unit,
                "who": one.who,
                **as_data(one.estimate),
                "against": one.against,
                "difference": None if one.difference is None else as_data(one.difference),
            }
            for one in found.means
        ],
        "left_out": {"runs": chosen.left_out, "utterances": chosen.apart},
        "notes": list(found.notes),
    }
