"""The rows of an experiment's tables: one model a table, from which the codebook writes itself."""

from __future__ import annotations

from typing import Any, cast

from pydantic import BaseModel, ConfigDict, create_model

from persimchat.runs.reports import export_tables
from persimchat.runs.reports.export_columns import Row as ExportedRow
from persimchat.runs.reports.export_columns import column


class Row(BaseModel):
    """A row of a table; the axes of the experiment come after the cell."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


class CellRow(Row):
    """One row per cell: how its conversation went and what it used."""

    cell: str = column("the cell's id, which is its run folder's name")
    task: str | None = column("the id of its task; empty if the base's topic is the only one")
    category: str | None = column("the category of its task")
    round: int = column("the draw of tasks to which it belongs", "round")
    topic: str = column("what was talked about")
    not_varied: str | None = column(
        "axes whose levels make no difference here, with these levels: the conversation was held once for all of them, "
        "and its columns of these axes are empty"
    )
    status: str = column("planned, begun, done, budget (stopped by its budget), failed, or held by another process")
    stale: str | None = column("why the run is not what it would be if it were held now; empty if it is")
    why: str | None = column("why it failed")
    tries: int = column("how often it was begun or resumed", "times")
    stop_reason: str | None = column("why the conversation ended")
    utterances: int | None = column("utterances made", "utterances")
    words: float | None = column("mean length of an utterance, in words between white space", "words")
    judgements: int | None = column("judgements of minds that models were asked for", "judgements")
    corrected: int | None = column("of these, judgements that were corrected", "judgements")
    failed: int | None = column("of these, judgements that were unusable twice", "judgements")
    calls: int | None = column("requests to models", "requests")
    input_tokens: int | None = column("tokens read by models", "tokens")
    output_tokens: int | None = column("tokens written by models", "tokens")
    cost_usd: float | None = column("what the requests cost; empty if a price is not known", "USD")
    seconds: float | None = column("from its beginning to its end, interruptions included", "seconds")


class MeasureRow(Row):
    """One row per value of a measure; a missing value is empty and says why."""

    cell: str = column("the cell's id")
    task: str | None = column("the id of its task")
    round: int = column("the draw of tasks", "round")
    measure: str = column("the measure's name")
    unit: str = column("what it is a value of: the run, or in stories a candidate, result, round, …")
    who: str | None = column("which of them; empty for the run")
    value: float | None = column("the value; empty if it is missing, never 0")
    missing: str | None = column("why it is missing; not asked: a budget was used up first")
    judge: str | None = column("the model that was asked; empty if the measure is arithmetic")
    repeat: int | None = column("number of the judge's independent answer", "number")


class GroupRow(Row):
    """One row per measure and group: the conversations with the same levels of all axes but those of the task."""

    measure: str = column("the measure's name")
    n: int = column("conversations with a value", "conversations")
    missing: int = column("conversations whose value is missing", "conversations")
    not_applicable: int = column("conversations to which the measure does not apply", "conversations")
    tasks: int = column("tasks with a value: the unit of the interval", "tasks")
    mean: float | None = column("mean over conversations")
    sd: float | None = column("standard deviation over conversations (n − 1)")
    low: float | None = column("lower bound of the 95 % interval (t) of the mean over tasks")
    high: float | None = column("upper bound of that interval")
    published: float | None = column("the published mean of the same measure, method and variant")
    published_sd: float | None = column("its standard deviation")
    published_table: str | None = column("the table of the paper; other tasks, model and judge: see the report")


class PartRow(Row):
    """One row per measure of a story, group and part: a candidate, result, round, character, pair or measure."""

    measure: str = column("the measure's name")
    unit: str = column("what the part is; the result of a vote without one winner is a part, too")
    who: str = column("which one; of a pair, first who chose the other")
    n: int = column("conversations with a value", "conversations")
    total: float = column("sum of the values; of wins their number")
    mean: float | None = column("mean over tasks; of wins their share of conversations")
    low: float | None = column("lower bound of its 95 % interval; empty if there is none")
    high: float | None = column("upper bound of its 95 % interval; empty if there is none")
    method: str = column("how the interval is made: Wilson where all values are 0 or 1, else t over tasks")


class DiversityRow(Row):
    """One row per measure of diversity, case and setting: the conversations that differ in the seed alone."""

    case: str = column("the case: task, round, and the levels of axes that make another scenario; else the topic")
    setting: str = column("the levels of the axes that are compared within a case")
    task: str | None = column("the id of its task")
    round: int = column("the draw of tasks", "round")
    measure: str = column("the measure's name")
    unit: str = column("what it is a value of: the case, or a position in its dialogues")
    who: str | None = column("which position, from 1; empty for the case")
    dialogues: int = column("conversations on which it rests", "conversations")
    value: float | None = column("the value; empty if it is missing, never 0")
    missing: str | None = column("why it is missing")
    embedding: str = column("the embedding of sim and max_sim; lexical knows words, not meanings")


class DiversityMeanRow(Row):
    """One row per measure of diversity and setting: the mean over cases, and the difference from another setting."""

    setting: str = column("the levels of the axes that are compared within a case")
    measure: str = column("the measure's name")
    unit: str = column("what it is a value of: the case, or a position in its dialogues")
    who: str | None = column("which position, from 1; empty for the case")
    cases: int = column("cases with a value: the unit of the interval", "cases")
    missing: int = column("cases without a value", "cases")
    mean: float | None = column("mean over cases")
    low: float | None = column("lower bound of its 95 % interval (bootstrap over cases); empty with one case")
    high: float | None = column("upper bound of that interval")
    reference: str | None = column("the setting with which it is compared: the same without pruning, or the first one")
    both: int | None = column("cases with values of both settings", "cases")
    difference: float | None = column("mean of this setting minus the reference over these cases")
    difference_low: float | None = column("lower bound of its 95 % interval (bootstrap over cases)")
    difference_high: float | None = column("upper bound of that interval")
    method: str = column("how the intervals are made")


class ComparisonRow(Row):
    """One row per measure and pair of levels: the mean difference over tasks, a minus b."""

    measure: str = column("the measure's name")
    by: str = column("the axis that is compared")
    a: str = column("the first level")
    b: str = column("the second level")
    within: str | None = column("the levels of other axes to which it is limited, as JSON")
    tasks: int = column("tasks with values on both sides: the unit of analysis", "tasks")
    left_out: int = column("tasks that lack a value on one side", "tasks")
    mean_a: float | None = column("mean of the first level over tasks")
    sd_a: float | None = column("its standard deviation over tasks (n − 1)")
    mean_b: float | None = column("mean of the second level over tasks")
    sd_b: float | None = column("its standard deviation over tasks (n − 1)")
    difference: float | None = column("mean of a minus b over tasks")
    low: float | None = column("lower bound of its 95 % interval (t); empty if there is none")
    high: float | None = column("upper bound of its 95 % interval (t); empty if there is none")
    effect: float | None = column("rank-biserial correlation, −1 to 1; empty if there is no difference at all")
    test: str = column("the test")
    method: str = column("how p is computed")
    p: float | None = column("two-sided p")
    p_holm: float | None = column("p adjusted by Holm for all pairs compared in this measure")
    published_a: float | None = column("the published mean of the first level, if one paper's table has both")
    published_b: float | None = column("the published mean of the second level")
    published_table: str | None = column("the table of the paper; other tasks, model and judge: see the report")
    note: str | None = column("what a reader must know of interval and test")


class PairRow(Row):
    """One row per pair of conversations that a judge compares: equal in everything but one axis."""

    task: str | None = column("the id of its task")
    round: int = column("the draw of tasks", "round")
    a: str = column("the level of the first conversation")
    b: str = column("the level of the second")
    cell_a: str = column("the first conversation's cell")
    cell_b: str = column("the second's")
    verdict: str | None = column("win, tie or loss of the first; empty if it is missing")
    missing: str | None = column("why there is no verdict: no answer, one order only, or not complete")
    score_a: float | None = column("mean score of the first, both orders weighing the same; 1 to 10", "points")
    score_b: float | None = column("that of the second", "points")
    a_first: str | None = column("the verdict of the answers with the first shown first")
    b_first: str | None = column("that of the answers with the second shown first")
    position: float | None = column("half the difference between the orders; above 0: what is first is favoured")
    conflict: bool | None = column("whether the verdict changes with the order")
    bpde: float | None = column("entropy of the single verdicts, 0 to ln 3: how undecided the judge is", "nats")
    answers: int = column("valid answers", "answers")
    answers_missing: str | None = column("answers that are missing, with their reasons")
    judge: str = column("the model that was asked")


class ContestRow(Row):
    """One row per two levels of the axis by which conversations are paired: who won how often."""

    by: str = column("the axis")
    a: str = column("the first level")
    b: str = column("the second level")
    pairs: int = column("pairs of conversations", "pairs")
    wins: int = column("pairs that the first won", "pairs")
    ties: int = column("pairs that were tied", "pairs")
    losses: int = column("pairs that the first lost", "pairs")
    missing: str | None = column("pairs without a verdict, with their reasons")
    tasks: int = column("tasks with a verdict: the unit of intervals and tests", "tasks")
    win_rate: float | None = column("wins and half of the ties as a share, mean over tasks", "share")
    low: float | None = column("lower bound of its 95 % interval (t)", "share")
    high: float | None = column("upper bound of that interval", "share")
    p: float | None = column("two-sided p of the exact sign test over tasks; ties do not count")
    p_holm: float | None = column("p adjusted by Holm for all pairs of levels")
    position: float | None = column("the judge's favour for what is shown first, mean over tasks", "points")
    position_low: float | None = column("lower bound of its 95 % interval (t)", "points")
    position_high: float | None = column("upper bound of that interval", "points")
    position_p: float | None = column("two-sided p of that favour (Wilcoxon)")
    conflicts: float | None = column("share of pairs whose verdict changes with the order", "share")
    length: float | None = column("Spearman's correlation of score difference and difference in words an utterance")
    published_win: float | None = column("published wins of the first", "percent")
    published_tie: float | None = column("published ties", "percent")
    published_loss: float | None = column("published losses of the first", "percent")
    published_table: str | None = column("the table of the paper; other tasks, model and judge: see the report")


class FlipRow(Row):
    """One row per answer and axis that should not matter: how often the axis changes the answer."""

    question: str = column("what is answered: consensus, conclusion, or a poll")
    axis: str = column("the axis that is changed")
    pairs: int = column("pairs of conversations that are equal in all but the axis", "pairs")
    flipped: int = column("of these, pairs whose answers differ", "pairs")
    rate: float | None = column("their share", "share")
    floor: float | None = column("the same share for seeds; empty if there is one seed", "share")
    excess: float | None = column("rate minus floor: what is the axis's own", "share")
    low: float | None = column("lower bound of its 95 % interval (t)", "share")
    high: float | None = column("upper bound of that interval", "share")
    units: int = column("tasks on which the interval rests; seeds if there is one task", "units")
    levels: int = column("levels with an answer", "levels")
    alike: int = column("levels whose most frequent answer is that of the first level", "levels")


class ContrastRow(Row):
    """One row per comparison and level of an axis that should not matter: the difference at this level."""

    measure: str = column("the measure's name")
    by: str = column("the axis that is compared")
    a: str = column("the first level")
    b: str = column("the second level")
    within: str | None = column("the levels of other axes to which it is limited, as JSON")
    axis: str = column("the axis that is changed")
    level: str = column("its level")
    tasks: int = column("tasks with values on both sides at this level", "tasks")
    difference: float | None = column("mean of a minus b at this level")
    low: float | None = column("lower bound of its 95 % interval (t); empty if there is none")
    high: float | None = column("upper bound of its 95 % interval (t); empty if there is none")
    ruling: str = column("of the comparison over this axis: survives, reversed, undecided")


class _OfConversation(Row):
    """What a row has that comes from one conversation."""

    cell: str = column("the cell's id")
    task: str | None = column("the id of its task")
    round: int = column("the draw of tasks", "round")


def _as_exported(model: type[ExportedRow], **more: Any) -> Any:
    """A table of a run's export, with the cell in place of the columns about the run."""
    own = {name: field for name, field in model.model_fields.items() if name not in ExportedRow.model_fields}
    fields = {**more, **{name: (field.annotation, field) for name, field in own.items()}}
    return create_model(model.__name__, __base__=_OfConversation, __doc__=model.__doc__ or "", **cast(Any, fields))


PollRow: type[Row] = _as_exported(
    export_tables.PollRow, at=(str, column("the points of the poll at which it was put: start, end, or a number"))
)
StanceRow: type[Row] = _as_exported(export_tables.StanceRow)
