"""Every setting of a simulation, in one frozen, validated model; also the graph's context schema.

Values come from defaults < scenario < YAML file < environment (`PERSIMCHAT_<NAME>`) < arguments;
`state/configuration.py` reads them. Source of the defaults: thesis 5.3 and the specification.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationInfo, field_validator, model_validator

from persimchat.state.answer_format import AnswerFormat

Weight = Annotated[float, Field(ge=0, le=100)]
Choice = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300, pattern=r"^[^;\x00-\x1f\x7f]+$")
]
Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]

Module = Literal[
    "perception",
    "focal_points",
    "memory_filtering",
    "need_to_talk",
    "openness",
    "action",
    "emotion",
    "reflection",
    "planning",
    "natural_language",
    "judge",
    "selector",
    "analysis",
    "answering",
    "script",
]
"""A module that asks a model, by the name used in settings, accounting and traces.

The last five belong to no agent's mind: the judge of debates, the selector of speakers, the analysis of utterances, the
answers of the debate baselines, and the script that the single_agent baseline writes.
"""

MODULES: Final[tuple[Module, ...]] = get_args(Module)
"""All of them."""

OUTSIDE: Final[tuple[Module, ...]] = ("judge", "selector", "analysis", "answering", "script")
"""Those that are no part of an agent's mind."""

DEBATE_MESSAGES: Final = 60
DISCUSSION_MESSAGES: Final = 10
"""Message limits where none is set."""


def _message_limit(known: dict[str, Any]) -> int:
    return DEBATE_MESSAGES if known.get("mode") == "debate" else DISCUSSION_MESSAGES


def _closing(known: dict[str, Any]) -> Literal["off", "near_limit"]:
    return "off" if known.get("mode") == "debate" else "near_limit"


Baseline = Literal["single_agent", "mad", "mad_judge", "reconcile"]
BASELINES: Final[tuple[Baseline, ...]] = get_args(Baseline)
"""Methods of the literature that hold a conversation in place of minds."""

BUDGETS: Final = ("budget_calls", "budget_tokens", "budget_usd")
"""Settings that limit what a conversation may use."""


class RetrievalWeights(BaseModel):
    """Weights of the five components of a memory's retrieval score (thesis, equation 5.1)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    recency: Weight = 1.0
    importance: Weight = 1.0
    relevance: Weight = 1.0
    emotional: Weight = 1.0
    stm_relevance: Weight = 1.0


PART: Final = "part of the settings"
"""Validation context (pydantic) for one of several sources: whether settings fit together is asked of them all."""


class Settings(BaseModel):
    """How a simulation runs. Who takes part and what about is its `Scenario`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # The conversation
    mode: Literal["discussion", "debate"] = Field(
        default="discussion", description="free discussion, or group debate until a judge finds consensus"
    )
    max_messages: int = Field(
        default_factory=_message_limit,
        ge=1,
        le=100_000,
        description="the message limit: utterances in all; 60 in debates",
        json_schema_extra={"default": DISCUSSION_MESSAGES},
    )
    pattern: Literal["need_to_talk", "round_robin", "selector"] = Field(
        default="need_to_talk",
        description="who speaks next: by need to talk, in turn, or named by a model that takes no part",
    )
    baseline: Baseline | None = Field(
        default=None,
        description="a method of the literature in place of the conversation of minds, to compare with: single_agent "
        "(one model writes the whole discussion), mad, mad_judge and reconcile (debates of answers in rounds)",
    )
    rounds: int = Field(default=3, ge=1, le=100, description="mad, mad_judge and reconcile: rounds of answers at most")
    closing: Literal["off", "near_limit", "on"] = Field(
        default_factory=_closing,
        description="agents are told when the end is near and take leave: never, near the message limit, or (on) also "
        "when nobody needs to talk any more; off in debates",
        json_schema_extra={"default": "near_limit"},
    )
    closing_need: int = Field(
        default=2, ge=0, le=10, description="closing=on: it is time to close when no need to talk is above this, twice"
    )
    selection: Literal["argmax", "softmax"] = Field(
        default="argmax", description="need_to_talk only: the greatest need speaks, or one is drawn by softmax"
    )
    temperature: float = Field(
        default=1.0, ge=0.01, le=100, description="softmax only: p is proportional to exp(need/temperature)"
    )
    allow_repetition: bool = Field(default=False, description="may one agent speak twice in a row")
    budget_calls: int | None = Field(
        default=None, ge=1, description="the conversation makes no more calls than these, and ends"
    )
    budget_tokens: int | None = Field(
        default=None, ge=1, description="no call is begun that would need more tokens, read and written together"
    )
    budget_usd: float | None = Field(
        default=None, gt=0, allow_inf_nan=False, description="the same for cost; every model's price has to be known"
    )
    human_turns: Literal["hand", "addressed", "need"] = Field(
        default="addressed",
        description="people take their turn with a raised hand only, also when they are spoken to by name, or they are "
        "asked for their need to talk after every utterance",
    )
    seed: int = Field(default=0, ge=0, le=2**63 - 1, description="all randomness comes from it")

    # The mind
    planning_and_reflection: bool = Field(default=True, description="agents reflect or plan while another speaks")
    memory_filtering: bool = Field(default=False, description="the model decides what is kept in long-term memory")
    emotional_retrieval: bool = Field(default=True, description="recall what was felt alike")
    stm_retrieval: bool = Field(default=True, description="recall what resembles the memory in short-term memory")
    relationships: bool = Field(default=True, description="agents are told their relationships when they speak")
    social_goals: bool = Field(default=True, description="agents have their social goals in memory and plans")
    weights: RetrievalWeights = Field(default=RetrievalWeights(), description="of the retrieval score's components")
    ltm_capacity: int = Field(default=100, ge=10, le=100_000, description="memories alive in long-term memory")
    memory_tokens: int = Field(
        default=400, ge=50, le=100_000, description="tokens (estimated) of recalled memories in one prompt, best first"
    )

    # Speaking
    speech_register: Literal["casual", "neutral", "formal"] = Field(
        default="casual", description="register of the utterances"
    )
    utterance_words: int = Field(default=25, ge=3, le=1000, description="target length in words; a reminder, not a cut")
    recent_utterances: int = Field(default=6, ge=1, le=100, description="last utterances given word by word")

    repetition_check: bool = Field(
        default=True, description="an utterance that nearly repeats an earlier one is asked for once more"
    )
    repetition_overlap: float = Field(
        default=0.45, gt=0, le=1, description="near-repetition: this share of its runs of four words was said before"
    )
    repetition_similarity: float = Field(
        default=0.9,
        gt=0,
        le=1,
        description="near-repetition: cosine of its embedding with that of an earlier one; for the lexical embedding",
    )
    repetition_window: int = Field(
        default=50, ge=1, le=1000, description="last utterances with which a new one is compared"
    )

    # The judge (debates)
    judge: Literal["sliding_window", "persona"] = Field(
        default="sliding_window",
        description="debates: a judge that sees the last utterances, or one with a mind and memories of its own",
    )
    window_size: int = Field(default=10, ge=1, le=1000, description="sliding_window: utterances that the judge sees")
    judge_every: int = Field(
        default=1, ge=1, le=1000, description="debates: the judge is asked after every so many utterances"
    )
    answer_format: AnswerFormat = Field(
        default="free", description="debates: form of the answer: free text, yes or no, one of the choices, or a number"
    )
    choices: list[Choice] = Field(
        default_factory=list,
        max_length=50,
        description="answer_format=choice: the answers to choose from, each on one line and without a semicolon",
    )

    # Analysis
    analysis: bool = Field(
        default=False, description="a model scores every utterance's coherence, sentiment and engagement"
    )

    # Models
    model: str | None = Field(
        default=None,
        description="language model: offline, openai:<model>, azure:<deployment>, ollama:<model>, "
        "<model>@http://host:port/v1, llamacpp:<file.gguf>, or a name that LangChain's init_chat_model knows",
    )
    agent_models: dict[str, str] = Field(default_factory=dict, description="agent's name: model, where it differs")
    module_models: dict[Module, str] = Field(
        default_factory=dict, description="module: model, where it differs; goes before the agent's"
    )
    model_temperature: float | None = Field(
        default=None, ge=0, le=2, description="sampling temperature given to the model; the model's own where not set"
    )
    embedding: str = Field(
        default="lexical", description="embedding: lexical, minilm, openai:<model>, <model>@http://host:port/v1"
    )
    concurrent: bool = Field(default=True, description="agents' models are called at the same time, else one by one")
    max_concurrency: int = Field(default=32, ge=1, le=1000, description="model calls under way at the same time")
    requests_per_second: float | None = Field(
        default=None, gt=0, allow_inf_nan=False, description="rate limit of model calls; none if unset"
    )
    timeout_s: float = Field(default=120, gt=0, le=3600, description="seconds that one model call may take")
    prices: dict[str, tuple[Price, Price]] = Field(
        default_factory=dict, description="model: USD per million tokens (input, output), beside the known ones"
    )

    # Memory
    store: str = Field(
        default="run",
        description="where Chroma keeps memories: run (the run's folder; without one, ephemeral), ephemeral, a folder, "
        "or http://host:port",
    )
    checkpoints: str = Field(
        default="run",
        description="where LangGraph keeps checkpoints, from which a run is resumed: run (the run's folder; without "
        "one, nowhere), memory, or postgresql://…",
    )

    @field_validator("closing", mode="before")
    @classmethod
    def _yaml_switch(cls, value: Any) -> Any:
        """YAML reads a bare `on` and `off` as true and false."""
        return {True: "on", False: "off"}[value] if isinstance(value, bool) else value

    @model_validator(mode="after")
    def _consistent(self, info: ValidationInfo) -> Settings:
        """Refuse settings that contradict each other, once all of them are known."""
        if info.context == PART:
            return self
        if self.answer_format == "choice":
            different = {choice.casefold() for choice in self.choices}
            if len(different) < 2 or len(different) < len(self.choices):
                raise ValueError("answer_format=choice needs two or more different choices; give them (--choices A,B)")
        elif self.choices:
            raise ValueError(
                f"choices go with answer_format=choice, not with {self.answer_format}; leave one of them out"
            )
        if self.baseline in ("mad", "mad_judge", "reconcile") and self.mode != "debate":
            raise ValueError(f"baseline={self.baseline} is a debate; set mode=debate, or use `persimchat debate`")
        if self.baseline is not None:
            unheeded = {"pattern": "need_to_talk", "judge": "sliding_window", **dict.fromkeys(BUDGETS)}
            for name, unset in unheeded.items():
                if getattr(self, name) != unset:
                    raise ValueError(f"baseline={self.baseline} does not heed {name}; leave one of them out")
        if self.baseline == "single_agent" and self.mode != "discussion":
            raise ValueError("baseline=single_agent is a discussion; set mode=discussion, or use `persimchat run`")
        return self

    def model_for(self, agent: str, module: str) -> str | None:
        """The model's name for one agent's module: the module's, else the agent's, else the common one."""
        return (
            {str(k): v for k, v in self.module_models.items()}.get(module) or self.agent_models.get(agent) or self.model
        )

    def of_judge(self) -> Settings:
        """The same settings for the persona judge's mind, all of which asks `module_models.judge` where that is set."""
        if "judge" not in self.module_models:
            return self.model_copy(update={"agent_models": {}})
        return self.model_copy(update={"model": self.module_models["judge"], "agent_models": {}, "module_models": {}})
