"""The file of an experiment: what is varied, over which tasks, what is measured and compared, within which limits."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    field_validator,
    model_validator,
)

from ..evaluation.published.paper import Paper, published
from ..reports.stances import SOURCES
from ..runs.folder.listing import EXPERIMENT
from ..state.document import Document, read_document
from ..state.errors import InputError, suggestion
from ..state.plain_text import is_visible, matching
from ..state.poll import FORMS, Poll
from ..state.scenario import Topic
from ..state.settings import PART, Settings
from ..state.validation_errors import input_error

PATCHED: Final = ("topic", "participants", "relationships", "social_goals", "rules", "story", "guide")
"""The fields of a scenario that an experiment may write out, or a variant may replace."""

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


KEPT_SCENARIO, KEPT_TASKS = "scenario.json", "tasks.json"
"""The copies of the files that an experiment names, in its folder."""
SHIPPED: Final = "shipped"
"""The tasks that come with PerSimChat, in place of a file of one's own."""


class BranchOf(_Part):
    """A kept run, as branches of which all cells begin."""

    run: str = Field(min_length=1, description="its folder, relative to the experiment's file; or its id")
    at: int | None = Field(
        default=None, ge=0, description="how many utterances the cells share with it; with choose, at least so many"
    )
    say: str | None = Field(default=None, description="the next utterance, as NAME: TEXT")
    choose: str | None = Field(
        default=None, description="of a story: whom a host talks to, as HOST=PARTNER or HOST=nobody"
    )


class Base(_Part):
    """The conversation from which all cells start."""

    branch: BranchOf | None = Field(default=None, description="a kept run that the cells continue differently")
    scenario: str | None = Field(default=None, description="a scenario file, relative to the experiment's own")
    topic: Topic | None = Field(default=None, description="what the conversations are about")
    participants: list[Any] | None = Field(default=None, description="who takes part, as in a scenario file")
    relationships: list[Any] = Field(default=[], description="between participants, as in a scenario file")
    social_goals: dict[str, Any] = Field(default={}, description="of participants, as in a scenario file")
    rules: list[Any] = Field(default=[], description="that all participants know")
    story: dict[str, Any] | None = Field(default=None, description="the section of a story, as in a scenario file")
    guide: dict[str, Any] | None = Field(default=None, description="the guide of a focus group, as in a scenario file")
    settings: dict[str, Any] = Field(default={}, description="settings of all cells")

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        written = sorted(self.model_fields_set.intersection(PATCHED))
        if self.branch is not None and (self.scenario is not None or written):
            other = "a scenario file" if self.scenario is not None else written[0]
            raise ValueError(f"a branch and {other} are both given; a branch has everything of its run")
        if self.scenario is not None and written:
            raise ValueError(f"a scenario file and {written[0]} are both given; leave one of them out")
        return self


class Task(_Part):
    """One topic of many, over which methods are compared."""

    id: Name
    topic: Topic
    category: str = Field(default="", max_length=100, description="the kind of topic, for tables")
    answer: str | None = Field(default=None, description="the reference answer, for the evaluator `correct`")
    settings: dict[str, Any] = Field(default={}, description="settings of its conversations, such as answer_format")
    scenario: dict[str, Any] = Field(
        default={}, description="what of the base's scenario it replaces, as in a variant: who takes part, for example"
    )

    @field_validator("scenario")
    @classmethod
    def _patched(cls, value: dict[str, Any]) -> dict[str, Any]:
        known = [name for name in PATCHED if name != "topic"]
        for name in value:
            if name not in known:
                raise ValueError(f"scenario={name!r} is nothing that a task replaces; write {', '.join(known)}")
        return value


class Tasks(_Part):
    """The tasks of an experiment: a file or a list, all of them or a sample."""

    file: str | None = Field(
        default=None, description="a file with the field `tasks`, relative to the experiment's own; or `shipped`"
    )
    list_: list[Task] | None = Field(default=None, alias="list", min_length=1, description="the tasks themselves")
    sample: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="how many tasks are drawn; all if unset"
    )
    rounds: int = Field(default=1, ge=1, le=1000, description="how often tasks are drawn anew")
    seed: int = Field(default=0, description="of the draws")
    draws: list[list[Name]] | None = Field(
        default=None, min_length=1, description="ids of the tasks of each round, where they are drawn elsewhere"
    )

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.file is None) == (self.list_ is None):
            raise ValueError("tasks need either a file or a list; give one of the two")
        if self.draws is not None and self.model_fields_set & {"sample", "rounds", "seed"}:
            raise ValueError("tasks with draws need no sample, rounds or seed; leave those out")
        return self


class _TaskFile(_Part):
    tasks: list[Task] = Field(min_length=1)


By = Annotated[str, Field(min_length=1)]
Repeats = Annotated[int, Field(ge=1, le=1000)]


class DimensionsBy(_Part):
    """Scores of a judge for each conversation by itself."""

    by: By = Field(description="the model that judges")
    only: list[str] | None = Field(default=None, description="keys of dimensions; all if unset")
    repeats: Repeats = Field(default=1, description="independent scores for each dimension")


class PairsBy(_Part):
    """A judge's verdicts on pairs of conversations, side by side."""

    by: By = Field(description="the model that judges")
    axis: str = Field(description="the axis whose levels are paired within a task")
    k: Repeats = Field(default=3, description="answers for each pair in each of the two orders")
    within: dict[str, Any] = Field(default={}, description="only cells with these levels of other axes")


Point = Literal["start", "end"] | Annotated[int, Field(ge=0, le=10_000_000)]
"""When a poll is put: before the first utterance, after the last, or after so many."""


class PollOf(_Part):
    """A question that is put in private to everybody in each conversation, after it is over."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,59}$")] = Field(
        description="its name in measures: letters, digits, _ and -"
    )
    ask: str = Field(description="the question")
    answer: str = Field(default="yesno", description="yesno, choice, number, or a scale such as scale:1-5")
    options: list[str] = Field(default=[], description="of a choice, in order")
    at: list[Point] = Field(
        default=["start", "end"], min_length=1, description="when: start, end, or numbers of utterances"
    )
    repeats: Repeats = Field(default=1, description="independent answers of each agent")
    by: str = Field(default="", description="the model that answers for everybody; each agent's own if unset")
    of: list[str] = Field(
        default=[],
        description="who is asked; everybody if unset, of whom those count who take part at every level of the axes",
    )
    without: list[str] = Field(default=[], description="who is not asked, such as a confederate")

    def asks(self, name: str) -> bool:
        """Whether somebody is asked, by the full name."""
        return bool(self.of) == any(matching(one, [name]) for one in self.of or self.without)

    @cached_property
    def poll(self) -> Poll:
        """The question with the form of its answer."""
        answer = "choice" if self.options and "answer" not in self.model_fields_set else self.answer
        given = {"ask": self.ask, "answer": answer, "options": self.options, "named": self.id, "by": self.by}
        return Poll.model_validate(given)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        try:
            _ = self.poll
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            field, said = ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")
            raise ValueError(f"{f'{field}: ' if field else ''}{said}; give a question, and as answer {FORMS}") from None
        if self.of and self.without:
            raise ValueError("of and without both say who is asked; leave one of them out")
        if len({*self.at}) < len(self.at):
            raise ValueError("at names a point twice; leave one of them out")
        return self


def _shipped() -> Document:
    with as_file(files("persimchat.experiments") / "tasks.yaml") as path:
        return read_document(path)


StoryPart = Literal["winners", "supporters", "guesses", "talks", "reciprocity", "ends", "entropy", "form"]
"""What can be measured in a story (`stories.py`)."""


class DiversityOf(_Part):
    """How different the repeated conversations of each case are (`diversity.py`)."""

    embedding: Literal["lexical", "minilm"] | None = Field(
        default=None, description="for sim; minilm if it is installed, else lexical. No server is asked"
    )
    tokens: Literal["words", "whitespace"] = Field(
        default="words", description="words without case and punctuation, or what stands between white space"
    )
    positions: bool = Field(default=False, description="whether the utterances at each position are measured, too")
    group: Annotated[int, Field(ge=2)] | None = Field(
        default=None,
        description="seeds that are measured together; all if unset. With more seeds, the reference is also compared "
        "with itself",
    )


class Measures(_Part):
    """What is measured in every conversation."""

    evaluators: list[str] = Field(default=[], description="arithmetic evaluators, by name")
    dimensions: DimensionsBy | None = Field(default=None, description="scores of a judge")
    pairs: PairsBy | None = Field(default=None, description="verdicts of a judge on two conversations of a task")
    polls: list[PollOf] = Field(default=[], description="questions put in private to everybody")
    stances: bool | list[Literal["verdicts", "answers", "polls", "supports"]] = Field(
        default=False, description="who moved: by all sources of positions, or by those that are named; arithmetic, too"
    )
    story: list[StoryPart] = Field(default=[], description="what is measured in stories, by name; arithmetic, too")
    attitude: str | None = Field(
        default=None, description="in stories, the axis whose level is the observed character, for T1 and T2"
    )
    diversity: DiversityOf | None = Field(
        default=None, description="how different repeated conversations are: true, or how; arithmetic, too"
    )
    settings: dict[str, Any] = Field(default={}, description="settings of the judges' requests, such as context_tokens")

    @field_validator("diversity", mode="before")
    @classmethod
    def _as_usual(cls, value: Any) -> Any:
        return {True: {}, False: None}[value] if isinstance(value, bool) else value

    @field_validator("polls")
    @classmethod
    def _told_apart(cls, polls: list[PollOf]) -> list[PollOf]:
        names = [poll.id for poll in polls]
        for number, name in enumerate(names):
            if name in SOURCES:
                raise ValueError(f"{name} cannot be a poll's id: it is a source of positions; choose another")
            if name in names[:number]:
                raise ValueError(f"two polls have the id {name}; give each its own")
        return polls


class Compare(_Part):
    """One comparison: all pairs of an axis's levels, or each level with a reference."""

    by: str = Field(description="the axis whose levels are compared")
    reference: Any = Field(default=None, description="the level with which the others are compared; all pairs if unset")
    within: dict[str, Any] = Field(default={}, description="only cells with these levels of other axes")


class Limits(_Part):
    """How much is done at a time, and how much may be spent."""

    cells: int = Field(default=4, ge=1, le=1000, description="conversations held at the same time")
    retries: int = Field(default=2, ge=0, le=20, description="how often a conversation that failed is resumed")
    budget_calls: Annotated[int, Field(ge=1)] | None = Field(default=None, description="calls of all cells together")
    budget_tokens: Annotated[int, Field(ge=1)] | None = Field(default=None, description="tokens of all cells together")
    budget_usd: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="US dollars of all cells together"
    )
    requests_per_second: dict[str, Annotated[float, Field(ge=0.001, le=100_000)]] = Field(
        default={}, description="by model: requests that all cells together start in a second"
    )
    slots: dict[str, Annotated[int, Field(ge=1, le=10_000)]] = Field(
        default={}, description="by model: requests that all cells together make at the same time"
    )


class Experiment(_Part):
    """Many conversations from one file: cells, measures and comparisons."""

    name: Name = Field(description="letters, digits, _ and -; also its folder's name")
    base: Base
    preset: Literal["thesis"] | None = Field(
        default=None, description="the settings of a paper's conversations; those of the base and the axes count more"
    )
    tasks: Tasks | None = Field(default=None, description="topics in place of the base's")
    grid: dict[str, Any] = Field(default={}, description="axes, each with its levels; every combination is a cell")
    exclude: list[dict[str, Any]] = Field(default=[], description="combinations of levels that are not held")
    measures: Measures = Measures()
    compare: list[Compare] = []
    limits: Limits = Limits()

    _document: Document | None = PrivateAttr(default=None)
    _folder: Path = PrivateAttr(default_factory=Path)

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read an experiment's file.

        Args:
            path: a YAML or JSON file with the fields of this class.

        Raises:
            InputError: naming file, line, field and remedy.
        """
        path = Path(path)
        document = read_document(path)
        try:
            found = cls.model_validate(document.data)
        except ValidationError as error:
            raise input_error(error, cls, document) from None
        for place, settings in (("base", found.base.settings), ("measures", found.measures.settings)):
            try:
                Settings.model_validate(settings, context=PART)
            except ValidationError as error:
                raise input_error(error, Settings, document, (place, "settings")) from None
        found._document, found._folder = document, path.parent
        return found

    @property
    def paper(self) -> Paper | None:
        """The paper whose settings are the preset."""
        return published(self.preset) if self.preset is not None else None

    @property
    def folder(self) -> Path:
        """The folder from which paths in the file count."""
        return self._folder

    def named(self, file: str, kept: str) -> Path:
        """A file that the experiment names: relative to its own file, or in an experiment's folder the copy there.

        Args:
            file: as the experiment names it.
            kept: the name of the copy.
        """
        return self.kept(kept) or self._folder / file

    def kept(self, name: str) -> Path | None:
        """The copy of a file in an experiment's folder, where this is one."""
        copy = self._folder / name
        return copy if (self._folder / EXPERIMENT).is_file() and copy.is_file() else None

    def where(self, *location: str | int) -> str:
        """A place in the file in words."""
        document = self._document or Document(self.model_dump(by_alias=True))
        return document.where(location)

    def text(self) -> bytes | None:
        """The file's own text; None where the experiment was made in code."""
        return Path(self._document.source).read_bytes() if self._document is not None else None

    def all_tasks(self) -> list[Task]:
        """All tasks, before any is drawn; none where the base's topic is the only one.

        Raises:
            InputError: the file of tasks is wrong, or two tasks have one id, or more are to be drawn than there are.
        """
        if self.tasks is None:
            return []
        found, document = self.tasks.list_, None
        if self.tasks.file is not None:
            own = self.tasks.file != SHIPPED
            document = read_document(self.named(self.tasks.file, KEPT_TASKS)) if own else _shipped()
            try:
                found = _TaskFile.model_validate(document.data).tasks
            except ValidationError as error:
                raise input_error(error, _TaskFile, document) from None
        tasks = found or []
        seen: set[str] = set()
        for number, task in enumerate(tasks):
            if task.id in seen:
                where = document.where(("tasks", number)) if document else self.where("tasks", "list", number)
                raise InputError(f"two tasks have the id {task.id!r}", where=where, remedy="Give each its own.")
            seen.add(task.id)
        if self.tasks.sample is not None and self.tasks.sample > len(tasks):
            raise InputError(
                f"{self.tasks.sample} tasks are to be drawn, and there are {len(tasks)}",
                where=self.where("tasks", "sample"),
                remedy=f"Draw at most {len(tasks)}.",
            )
        unknown = next((id_ for draw in self.tasks.draws or () for id_ in draw if id_ not in seen), None)
        if unknown is not None:
            where = self.where("tasks", "draws")
            raise InputError(f"there is no task {unknown!r}", where=where, remedy=suggestion(unknown, sorted(seen)))
        return tasks

    @field_validator("grid", mode="after")
    @classmethod
    def _levels(cls, grid: dict[str, Any]) -> dict[str, Any]:
        for name, levels in grid.items():
            if not isinstance(levels, list | Mapping) or not levels:
                raise ValueError(f"grid={name!r} has no levels; write a list of values, or labels with values")
            if not is_visible(name):
                raise ValueError("grid has an axis without a name; name it")
        return grid
