"""Every setting of a simulation, in one frozen, validated model; also the graph's context schema.

Values come from defaults < scenario < YAML file < environment (`PERSIMCHAT_<NAME>`) < arguments;
`state/configuration.py` reads them. Source of the defaults: thesis 5.3 and the specification.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

Weight = Annotated[float, Field(ge=0, le=100)]
Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]

Module = Literal[
    "perception",
    "focal_points",
    "memory_filtering",
    "need_to_talk",
    "action",
    "emotion",
    "reflection",
    "planning",
    "natural_language",
]
"""A cognitive module that asks a model, by the name used in settings, accounting and traces."""

MODULES: Final[tuple[Module, ...]] = get_args(Module)
"""All of them."""


class RetrievalWeights(BaseModel):
    """Weights of the five components of a memory's retrieval score (thesis, equation 5.1)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    recency: Weight = 1.0
    importance: Weight = 1.0
    relevance: Weight = 1.0
    emotional: Weight = 1.0
    stm_relevance: Weight = 1.0


class Settings(BaseModel):
    """How a simulation runs. Who takes part and what about is its `Scenario`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # The conversation
    mode: Literal["discussion", "debate"] = Field(
        default="discussion", description="free discussion, or group debate until a judge finds consensus"
    )
    max_messages: int = Field(default=10, ge=1, le=100_000, description="the message limit: utterances in all")
    pattern: Literal["need_to_talk", "round_robin", "selector"] = Field(
        default="need_to_talk", description="who speaks next: by need to talk, in turn, or named by an outside model"
    )
    selection: Literal["argmax", "softmax"] = Field(
        default="argmax", description="need_to_talk only: the greatest need speaks, or one is drawn by softmax"
    )
    temperature: float = Field(
        default=1.0, ge=0.01, le=100, description="softmax only: p is proportional to exp(need/temperature)"
    )
    allow_repetition: bool = Field(default=False, description="may one agent speak twice in a row")
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

    # The judge (debates)
    judge: Literal["sliding_window", "persona"] = Field(default="sliding_window", description="debates: kind of judge")
    window_size: int = Field(default=10, ge=1, le=1000, description="debates: utterances that the judge sees")

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
        default="ephemeral", description="where Chroma keeps memories: ephemeral, a folder, or http://host:port"
    )

    @model_validator(mode="after")
    def _available(self) -> Settings:
        """Refuse what this version does not do, instead of ignoring it."""
        for name, value, offered in (
            ("mode", self.mode != "debate", "discussion"),
            ("pattern", self.pattern != "selector", "need_to_talk or round_robin"),
            ("analysis", not self.analysis, "false"),
        ):
            if not value:
                raise ValueError(f"{name}={getattr(self, name)} is not in this version; use {offered}")
        return self

    def model_for(self, agent: str, module: str) -> str | None:
        """The model's name for one agent's module: the module's, else the agent's, else the common one."""
        return (
            {str(k): v for k, v in self.module_models.items()}.get(module) or self.agent_models.get(agent) or self.model
        )
