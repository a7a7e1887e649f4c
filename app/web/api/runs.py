"""Routes: a new conversation; runs, what they have recorded, their controls and files, and what comes afterwards."""

from __future__ import annotations

import asyncio
import io
import tempfile
import zipfile
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import Depends, Query, Request, Response
from fastapi.responses import HTMLResponse

from ....models.naming import default_model_name
from ....personas.catalogue import is_path, shipped
from ....personas.names import with_full_names
from ....personas.scenario import default_participants, make_scenario
from ....reports.diff_parting import Alternatives, alternatives
from ....reports.estimate import estimate
from ....reports.export import export_runs
from ....reports.guide import summary_of
from ....reports.report import report_html, summary_page
from ....reports.story_course import StoryCourse
from ....reports.tables import Form
from ....runs.control import Control
from ....runs.events import Judged, MindChanged, MindRecord, StopReason, Uttered
from ....runs.folder.answers import MOST_TAGS, InterviewAnswer, labels
from ....runs.folder.listing import deletable, delete_run, matching
from ....runs.folder.reading import past_events, read_interviews, read_labels, read_run
from ....runs.folder.run_folder import write_labels
from ....runs.run.at_turn import foreseen_at
from ....runs.run.replay import PastCall, past_calls, recorded_calls
from ....runs.run.resume_input import settings_of
from ....state.configuration import load_settings
from ....state.errors import InputError, MachineError
from ....state.minds.pruning import Fill, Pruned, Pruning
from ....state.persona import Persona
from ....state.plain_text import folded, visible_form
from ....state.scenario import Scenario
from ....state.settings import Mode, Settings
from ..board import Board
from ..chat.interview import begun
from ..context import WebContext
from ..live_runs import LiveRun, refuse_prompts
from ..personas.library import Library
from ..shared.runs import Scored, asked_about, open_record, read_plan
from . import models
from .bodies import CONFLICT, HTML, NO_RUN, TOO_LONG, ConflictError, MissingError, giving, refusing, router
from .models import RunInfo, Turn


def _web(request: Request) -> WebContext:
    found: WebContext = request.app.state.web
    return found


Web = Annotated[WebContext, Depends(_web)]


# A new conversation

setting_up = router("/api", "setting up")
list_of_runs = router("/api/runs", "runs")


async def understood(web: WebContext, wanted: models.Conversation) -> tuple[Scenario, Settings]:
    """The scenario and the settings that a request asks for; raises InputError if they are wrong."""
    own = list((await asyncio.to_thread(Library(web.library).personas)).values())
    given = {name: value for name, value in wanted if name not in ("topic", "participants")}
    refuse_prompts(given.get("settings") or {})
    people = [_participant(one, own) for one in wanted.participants] or list(default_participants())
    scenario = make_scenario(wanted.topic, people, **given)
    settings = load_settings(None, scenario=scenario.settings)
    return scenario, with_full_names(settings, [persona.name for persona in scenario.participants])


def _participant(given: str | Persona, own: list[Persona]) -> Any:
    """A persona of the library by name, or what `make_scenario` finds; never a file of the server."""
    if isinstance(given, Persona):
        return given
    alike = [persona for persona in own if folded(persona.name) == folded(given)]
    found = [persona for persona in alike if visible_form(persona.name) == visible_form(given)] or alike
    if len({persona.name for persona in found}) > 1:
        names = " or ".join(ascii(persona.name) for persona in found)
        raise InputError(f"{given!r} may be {names}", where="participants", remedy="Write the full name.")
    if not found and is_path(given):
        remedy = "Give the name of a persona, or the persona itself."
        raise InputError(f"{given!r} is a path", where="participants", remedy=remedy)
    return found[-1] if found else given


@setting_up.get("/personas")
async def personas(web: Web) -> list[models.PersonaInfo]:
    """Personas that can take part by name: the library's, then the shipped ones."""
    own = await asyncio.to_thread(Library(web.library).personas)
    everybody = [*((persona, True) for persona in own.values()), *((persona, False) for persona in shipped())]
    return [models.PersonaInfo(persona=persona, own=own) for persona, own in everybody]


@setting_up.get("/settings")
async def settings_schema() -> dict[str, Any]:
    """The JSON schema of the settings: names, bounds, defaults and meanings."""
    return Settings.model_json_schema()


@setting_up.post("/estimate")
async def estimated(web: Web, wanted: models.Conversation) -> models.EstimateInfo:
    """Estimate calls, tokens and cost of a conversation without starting it."""
    scenario, settings = await understood(web, wanted)
    settings = settings.model_copy(update={"model": default_model_name(settings.model)[0]})
    found = await asyncio.to_thread(estimate, scenario, settings)
    exceeded, unpriced = found.exceeded(settings), found.unpriced()
    return models.EstimateInfo(utterances=found.utterances, totals=found.total, exceeded=exceeded, unpriced=unpriced)


@list_of_runs.post("", status_code=201)
async def start_run(web: Web, wanted: models.Conversation) -> RunInfo:
    """Begin a run. It runs by itself; follow it by its events."""
    return _live_info(await web.runs.start(*await understood(web, wanted)))


@list_of_runs.get("")
async def list_runs(
    web: Web,
    text: Annotated[str, Query(max_length=1000, description="words in id, name, tags, topic, people or model")] = "",
    mode: Mode | None = None,
    ended: StopReason | Literal["unfinished"] | None = None,
    tag: Annotated[list[str], Query(max_length=MOST_TAGS, description="a tag that it has; all of several")] = [],  # noqa: B006
) -> list[models.ListedInfo]:
    """The runs, the latest first."""
    found = matching((await web.runs.runs()).runs, text=text, mode=mode, ended=ended, tags=tag)
    return [models.ListedInfo.model_validate({**run.model_dump(), "run": Path(run.folder).name}) for run in found]


# A run, what it has recorded, and its files

one_run = router("/api/runs/{run}", "runs", NO_RUN)
downloads = router("/api/runs/{run}", "downloads", NO_RUN)


def check_run(web: WebContext, run: str) -> Path:
    """The folder of a run; raises MissingError if there is none."""
    try:
        return web.runs.folder(run)
    except InputError as error:
        raise MissingError(error.what, where=run, remedy="See /api/runs for the list of runs.") from None


async def _folder(web: Web, run: str) -> Path:
    return check_run(web, run)


async def _board(web: Web, run: str) -> Board:
    if web.runs.get(run) is None:
        check_run(web, run)
    return await web.runs.board(run)


Folder = Annotated[Path, Depends(_folder)]
OfBoard = Annotated[Board, Depends(_board)]
Number = Annotated[int, Query(ge=1, le=10_000_000, description="number of the utterance")]


def info(run: str, board: Board) -> RunInfo:
    """A run in short."""
    started, stopped = board.started, board.stopped
    return RunInfo(
        run=run,
        status=board.status,
        active=board.elsewhere or board.status in ("running", "paused", "asked"),
        mode=started.mode if started else "discussion",
        baseline=started.baseline if started else None,
        topic=started.topic if started else "",
        participants=board.participants,
        people=board.people,
        utterances=board.turn,
        max_messages=started.max_messages if started else 0,
        asked=board.asked,
        reason=stopped.reason if stopped else None,
        detail=stopped.detail if stopped else "",
        error=board.error,
        totals=board.totals_at(board.turn),
    )


def _live_info(live: LiveRun) -> RunInfo:
    return info(live.run, live.board)


@one_run.get("")
async def look(run: str, board: OfBoard) -> RunInfo:
    """A run in short."""
    return info(run, board)


@one_run.get("/utterances")
async def utterances(board: OfBoard, after: Turn = 0) -> list[Uttered]:
    """The utterances after a turn."""
    return board.utterances[after:]


@one_run.get("/verdicts")
async def verdicts(board: OfBoard) -> list[Judged]:
    """The judge's verdicts, in order."""
    return board.verdicts


@one_run.get("/minds/{turn}")
async def minds(folder: Folder, turn: Turn) -> list[MindRecord]:
    """All minds at the end of a turn (0 before the first utterance); empty if there are none."""

    def found() -> list[MindRecord]:
        told = (event for event in past_events(read_run(folder), upto=turn) if isinstance(event, MindChanged))
        return [event.record for event in told if event.record.turn == turn]

    return await asyncio.to_thread(found)


@one_run.get("/pruning", responses={**CONFLICT, **TOO_LONG})
async def pruning(
    web: Web,
    folder: Folder,
    turn: Number,
    strength: Annotated[float, Query(alias="lambda", ge=0, le=1, allow_inf_nan=False, description="λ")],
    method: Annotated[Scored, Query(description="what scores the pieces of information")] = "attention",
    fill: Annotated[Fill, Query(description="what becomes of a piece that would pass the share")] = "skip",
) -> Pruned:
    """What would be left out of the prompt of a past utterance; no model is asked, and nothing changes.

    Blocks that the run leaves out whole (`pruning.remove`) are left out here, too. For `attention`, the scorer is
    always smollm2.
    """
    record = await asyncio.to_thread(open_record, folder)
    remove = settings_of(record.manifest, {}).pruning.remove
    wanted = Pruning.model_validate({"lambda": strength, "method": method, "fill": fill, "remove": remove})
    return await web.forecasts.one(lambda: foreseen_at(record, turn, wanted))


@one_run.get("/calls", responses={**CONFLICT, **TOO_LONG})
async def calls(
    web: Web,
    folder: Folder,
    turn: Number,
    prompts: Annotated[bool, Query(description="whether to make their prompts again")] = True,
) -> list[PastCall]:
    """The requests that made an utterance's words, and those with which it was heard; no model is asked."""
    await asyncio.to_thread(open_record, folder)
    if not prompts:
        return await asyncio.to_thread(recorded_calls, folder, turn)
    return await web.forecasts.one(lambda: past_calls(folder, turn))


@one_run.get("/story", responses=refusing(404, "There is no such run, or it is no story."))
async def story(
    run: str,
    board: OfBoard,
    folder: Folder,
    seen_by: Annotated[
        str | None, Query(alias="as", max_length=300, description="a character: what it knows, and no word more")
    ] = None,
    turn: Annotated[Turn | None, Query(description="up to and with this utterance; left out: so far")] = None,
) -> StoryCourse:
    """The course of a story: round, stage, rooms, where its characters stand, owners, ballots, outcome."""
    plan = await asyncio.to_thread(read_plan, folder)
    if plan is None:
        raise MissingError("the run is no story", where=run, remedy="Choose a run whose mode is story.")
    eyes = None if seen_by is None else plan.character(seen_by, where="as")
    return plan.course(board, seen_by=eyes, turn=turn)


ReportLanguage = Annotated[
    Literal["en", "cs", "de"] | None, Query(description="of the headings; by default, that of the run, else English")
]


def _page(text: str) -> HTMLResponse:
    """A page that runs nothing, loads nothing and stands in no other page."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
    return HTMLResponse(text, headers={"content-security-policy": policy})


@downloads.get("/report", response_class=Response, responses=HTML)
async def report(folder: Folder, language: ReportLanguage = None) -> HTMLResponse:
    """The report of a run so far: one page without scripts."""
    return _page(await asyncio.to_thread(lambda: report_html(read_run(folder), language)))


@downloads.get("/export", response_class=Response, responses=giving("application/zip", format="binary"))
async def export(
    run: str,
    folder: Folder,
    format: Annotated[Form, Query(description="of the tables")] = "csv",
    eyes: Annotated[
        str | None, Query(max_length=300, description="a participant: only what they may have seen")
    ] = None,
) -> Response:
    """The run as tables with a codebook, and its transcript, in one ZIP file."""
    try:
        packed = await asyncio.to_thread(_packed, folder, format, eyes)
    except OSError as error:
        raise MachineError.caused_by(error, "the tables cannot be made", tempfile.gettempdir()) from error
    name = f"{run}-{format}.zip".encode("ascii", "replace").decode().replace("?", "_").replace('"', "_")
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(packed, media_type="application/zip", headers=headers)


def _packed(folder: Path, form: str, eyes: str | None) -> bytes:
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "tables"
        export_runs([folder], out, form, bom=form == "csv", eyes=eyes)
        files = sorted(out.iterdir())
        if eyes is None and (folder / "transcript.md").is_file():
            files.append(folder / "transcript.md")
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in files:
                archive.write(file, file.name)
        return packed.getvalue()


@downloads.get("/summary.html", response_class=Response, responses=HTML)
async def summary_to_print(folder: Folder, language: ReportLanguage = None) -> HTMLResponse:
    """The summary as one page to print, without scripts; nothing is asked."""

    def printed() -> str:
        record = read_run(folder)
        return summary_page(record, summary_of(record), language)

    return _page(await asyncio.to_thread(printed))


@downloads.get("/summary")
async def summary(folder: Folder) -> dict[str, Any]:
    """Who said what about each question, themes with quotes, positions before and after; nothing is asked."""
    return await asyncio.to_thread(lambda: summary_of(read_run(folder)).data())


# What changes a run, or begins another one from it; and what is asked and noted afterwards

going_on = router("/api/runs/{run}", "going on", NO_RUN, CONFLICT)
afterwards = router("/api/runs/{run}", "afterwards", NO_RUN)


async def _own(web: Web, run: str, folder: Folder) -> Path:
    """The folder of a run that may be changed; raises ConflictError if it is a cell of an experiment."""
    if web.runs.experiment_of(run):
        raise ConflictError("the run is a cell of an experiment", where=run, remedy="Read it, or begin another run.")
    return folder


async def _over(web: Web, run: str, folder: Annotated[Path, Depends(_own)]) -> Path:
    """The folder of such a run that is not going on; raises ConflictError if it is."""
    await web.runs.closed(run)
    if web.runs.going_on(run):
        raise ConflictError("the run is still running", where=run, remedy="Wait until it is over, or stop it.")
    return folder


Own = Annotated[Path, Depends(_own)]
Over = Annotated[Path, Depends(_over)]


@one_run.delete("", responses=CONFLICT)
async def delete(web: Web, run: str, folder: Over) -> dict[Literal["kept"], str]:
    """Delete a run and its memories; `kept` says what could not be deleted, if anything."""
    found = await asyncio.to_thread(deletable, folder)
    kept = await delete_run(found)
    web.runs.forget(run)
    return {"kept": " ".join(part for part in (found.kept, kept) if part)}


@going_on.post("/control", status_code=202)
async def control(web: Web, run: str, intervention: models.Intervention) -> models.Accepted:
    """Control an active run: speak, answer, pass, pause, continue, stop, set the pace, change the topic."""
    live = web.runs.going_on(run)
    if live is None:
        if web.runs.get(run) is None:
            check_run(web, run)
        raise ConflictError("the run is not running", where=run, remedy="Resume it, or branch it.")
    if intervention.do in ("answer", "pass") and live.control.asked is None:
        raise ConflictError("nobody is being asked just now", remedy="Use `say` to speak without being asked.")
    _do(live.control, intervention)
    return models.Accepted()


def _do(control: Control, wanted: models.Intervention) -> None:
    match wanted:
        case models.Say():
            control.say(wanted.text, speaker=wanted.speaker, heard_by=wanted.heard_by)
        case models.Topic():
            control.change_topic(wanted.topic)
        case models.Hand():
            control.raise_hand(wanted.agent, raised=wanted.raised)
        case models.Floor():
            control.give_floor(wanted.agent)
        case models.Pace():
            control.pace(wanted.seconds)
        case models.Answer():
            given = wanted.model_dump(exclude={"do", "heard_by"}, exclude_none=True)
            if len(given) != 1:
                raise InputError(
                    "the answer needs one of these: words, a number, a choice, a position",
                    where="text, need_to_talk, choice, position",
                    remedy="Give exactly one.",
                )
            control.answer(given | ({"heard_by": wanted.heard_by} if wanted.heard_by and "text" in given else {}))
        case models.Plain(do="pass"):
            control.pass_turn()
        case models.Plain():
            getattr(control, wanted.do)()


@going_on.post("/resume", status_code=202)
async def resume(web: Web, run: str, folder: Over, changes: models.Changes) -> RunInfo:
    """Resume a run that was stopped, has failed or was killed, or that reached a limit."""
    resumed = await web.runs.resume(run, changes.settings)
    return info(resumed.run, await web.runs.board(resumed.run))


@going_on.post("/branch", status_code=201)
async def branch(web: Web, run: str, folder: Own, wanted: models.Branch) -> RunInfo:
    """Begin a run that shares this one's past up to a turn."""
    say = (wanted.say.speaker, wanted.say.text) if wanted.say else None
    choose = (wanted.choose.host, wanted.choose.partner) if wanted.choose else None
    return _live_info(await web.runs.branch(run, wanted.turn, say=say, choose=choose, changes=wanted.settings))


@going_on.post("/regenerate", status_code=201)
async def regenerate(web: Web, run: str, folder: Own, wanted: models.Regeneration) -> RunInfo:
    """Begin a run in which the speaker words an utterance again."""
    return _live_info(await web.runs.regenerate(run, wanted.turn, wanted.settings))


@downloads.post("/summary", responses=CONFLICT)
async def ask_for_summary(folder: Own, wanted: models.Asking) -> dict[str, Any]:
    """Ask everybody for their positions, and a model for themes; what was asked before is not asked again."""
    notes = await asked_about(folder, **wanted.model_dump())
    return {**await summary(folder), "notes": notes}


@afterwards.get("/interviews")
async def interviews(folder: Folder) -> list[InterviewAnswer]:
    """The questions and answers of all interviews, in order."""
    return await asyncio.to_thread(read_interviews, folder)


@afterwards.post("/interviews", status_code=201, responses=CONFLICT)
async def interview(web: Web, run: str, folder: Over, wanted: models.InterviewQuestion) -> InterviewAnswer:
    """Ask an agent a question, as it was at the end or at a turn; nothing of it enters the run."""
    more = wanted.model_dump(include={"turn", "by", "settings", "with_people"})
    held = await begun(web, run, wanted.agent, going_on=wanted.interview, **more)
    answer = await held.ask(wanted.question)
    if answer is None:
        raise ConflictError(held.exhausted, where=run, remedy="Set a higher budget.")
    return answer


@afterwards.get("/labels")
async def look_at_labels(folder: Folder) -> models.NewLabels:
    """A run's name and tags."""
    return models.NewLabels(**dict(await asyncio.to_thread(read_labels, folder)))


@afterwards.put("/labels", responses=CONFLICT)
async def label(folder: Own, wanted: models.NewLabels) -> models.NewLabels:
    """Replace a run's name and tags; empty ones take them away. Nothing else in its folder changes."""
    given = labels(wanted.name, wanted.tags)
    await asyncio.to_thread(write_labels, folder, given)
    return models.NewLabels(**dict(given))


@afterwards.get("/alternatives")
async def other_lines(web: Web, folder: Folder) -> list[Alternatives]:
    """The lines in whose place runs of the same family said something else, after the same past."""
    return await asyncio.to_thread(alternatives, folder, (await web.runs.runs()).runs)
