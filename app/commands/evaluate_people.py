"""`persimchat evaluate people`: answers to a poll beside those of real people."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from persimchat.app.commands.options import OUT, JsonObject, Runs, RunsIn
from persimchat.app.output import is_unicode, on_terminal, say
from persimchat.state.errors import InputError

if TYPE_CHECKING:
    from persimchat.evaluation.people import Likeness
    from persimchat.runs.folder.polls import PollAnswer
    from persimchat.state.poll import Poll

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat evaluate people conversations/2026* --poll cars --human survey.csv
  persimchat evaluate people latest --poll cars --poll tea --human survey.csv --at start
  persimchat evaluate people results/poll --poll cars --human survey.csv

\b
[bold]People's file[/bold]
  CSV with option and count, or with option, share and n; question (the poll's
  name) and group are optional.

\b
[bold]Exit codes[/bold]
  0 done   2 bad input
"""


def people(
    wanted: Runs,
    polls: Annotated[list[str], typer.Option("--poll", metavar="ID", help="The poll; may be repeated.")],
    human: Annotated[Path, typer.Option("--human", metavar="FILE", help="What people answered (CSV).")],
    at: Annotated[
        str, typer.Option("--at", metavar="TURN", help="Answers as of: start, end (each run's last), or a number.")
    ] = "end",
    missing_as: Annotated[
        str, typer.Option("--missing-as", metavar="OPTION", help="Count a missing answer as this one, not at all.")
    ] = "",
    ordered: Annotated[
        bool, typer.Option("--ordered", metavar="", help="The options of a choice have an order, as they are listed.")
    ] = False,
    runs: RunsIn = OUT,
    as_json: JsonObject = False,
) -> None:
    """Compare what agents answered to a poll with what people answered.

    Each distance stands beside its floor: what samples of this size have by chance. A small distance is no evidence
    that agents are like people.
    """
    from persimchat.app.commands.finding import find_run
    from persimchat.evaluation.people import likeness, read_people, together
    from persimchat.evaluation.statistics.library import stats

    stats()
    folders = [find_run(name, runs) for name in wanted]
    asked, clusters = _answers(folders, polls, at)
    given = read_people(human, [asked[name] for name in polls])
    found = [likeness(one, clusters[one.poll.id], missing_as=missing_as, ordered=ordered) for one in given]
    over = together(found) if len(found) > 1 else None
    if as_json:
        data = {"questions": [_data(one) for one in found], "together": asdict(over) if over else None}
        say(json.dumps(data, ensure_ascii=False, indent=2))
        return
    from persimchat.app.views.people_view import shown
    from persimchat.app.views.printing import print_all
    from persimchat.app.views.run_tables import Look

    print_all(shown(found, over, Look(terminal=on_terminal(), unicode=is_unicode())))


def _answers(
    folders: Sequence[Path], polls: Sequence[str], at: str
) -> tuple[dict[str, Poll], Mapping[str, list[list[PollAnswer]]]]:
    """The polls by id, and for each the answers by run, or by agent where there is no run."""
    from persimchat.evaluation.polls import END, START
    from persimchat.runs.folder.polls import read_polls
    from persimchat.runs.folder.run_folder import MANIFEST

    if at not in (START, END) and not (at.isascii() and at.isdigit()):
        raise InputError(f"{at!r} is no turn", where="--at", remedy="Name start, end or a number of utterances.")
    if len(set(folders)) < len(folders):
        raise InputError("a run is given twice", remedy="Leave one of them out.")
    asked: dict[str, Poll] = {}
    clusters: dict[str, list[list[PollAnswer]]] = {name: [] for name in polls}
    for folder in folders:
        rows = read_polls(folder)
        for name in clusters:
            own = [row for row in rows if row.poll == name]
            turns = {row.turn for row in own}
            turn = 0 if at == START else max(turns, default=0) if at == END else int(at)
            own = [row for row in own if row.turn == turn]
            if not own:
                known = ", ".join(dict.fromkeys(row.poll for row in rows)) or "none"
                raise InputError(
                    f"there are no answers to the poll {name} at turn {turn}",
                    where=str(folder),
                    remedy=f"Its polls: {known}. Ask with: persimchat poll.",
                )
            poll = asked.setdefault(name, own[0].question)
            if (poll.ask, poll.answer, poll.options) != (
                own[0].question.ask,
                own[0].question.answer,
                own[0].question.options,
            ):
                raise InputError(
                    f"the poll {name} asks something else here", where=str(folder), remedy="Leave this run out."
                )
            agents = dict.fromkeys(row.agent for row in own)
            apart = [[row for row in own if row.agent == agent] for agent in agents]
            clusters[name] += [own] if (folder / MANIFEST).exists() else apart
    return asked, clusters


def _data(one: Likeness) -> dict[str, Any]:
    from persimchat.app.views.evaluate_view import as_data

    return {
        "poll": one.people.poll.id,
        "group": one.people.group,
        "options": one.options,
        "simulated": one.counts,
        "people": one.human,
        "people_n": one.people.n,
        "n": one.n,
        "runs": one.runs,
        "missing": one.missing,
        "distances": [
            {"name": a.name, **as_data(a.estimate), "floor": asdict(a.floor) if a.floor else None, "hidden": a.hidden}
            for a in one.apart
        ],
        "mean_difference": one.mean_difference,
        "variance_ratio": one.variance_ratio,
        "notes": one.notes,
    }
