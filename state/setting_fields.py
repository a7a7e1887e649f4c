"""All settings, one field each: type, bounds, default, description, and metadata (`About`).

Their order is that of the command line, of the page and of docs/settings.md.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from persimchat.state.answer_format import AnswerFormat
from persimchat.state.setting import About
from persimchat.state.setting_values import Choice, Listeners, Module, Prices, RetrievalWeights, Temperature

DEBATE_MESSAGES: Final = 60
DISCUSSION_MESSAGES: Final = 10
STORY_MESSAGES: Final = 100_000
"""Default message limits; that of a story is none, because its stages say how many utterances it has."""


def _message_limit(known: dict[str, Any]) -> int:
    return {"debate": DEBATE_MESSAGES, "story": STORY_MESSAGES}.get(str(known.get("mode")), DISCUSSION_MESSAGES)


def _closing(known: dict[str, Any]) -> Literal["off", "near_limit"]:
    return "off" if known.get("mode") in ("debate", "story") else "near_limit"


def _cognition(known: dict[str, Any]) -> Literal["full", "strategist"]:
    return "strategist" if known.get("mode") == "story" else "full"


Mode = Literal["discussion", "debate", "story"]
MODES: Final[tuple[Mode, ...]] = get_args(Mode)
"""Kinds of conversation."""

Cognition = Literal["full", "compact", "lean", "strategist"]
Baseline = Literal["single_agent", "group_chat", "mad", "mad_judge", "reconcile"]
BASELINES: Final[tuple[Baseline, ...]] = get_args(Baseline)
"""Simpler methods of the literature, which hold a conversation without minds."""

IN_ROUNDS: Final[tuple[Baseline, ...]] = ("mad", "mad_judge", "reconcile")
"""Baselines that are debates in rounds of answers."""

_DEBATES: Final = {"mode": ("debate",)}

MOST_BUDGET: Final = 10**15
"""The greatest budget of calls or tokens."""

PROMPT_ORDER: Final = "bnrmpec"
"""The blocks of an utterance's prompt, a letter each, in the order of Chu et al. (table 5)."""


class SettingFields(BaseModel):
    """The fields of `Settings`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # The conversation
    mode: Annotated[Mode, About(group="conversation", option="KIND", changes="never")] = Field(
        default="discussion",
        description="free discussion, group debate until a judge finds consensus, or story in stages (the mode of a "
        "scenario with a section story)",
    )
    max_messages: Annotated[int, About(group="conversation", option="N", also=("--messages",), changes="resume")] = (
        Field(
            default_factory=_message_limit,
            ge=1,
            le=100_000,
            description="the message limit: the number of utterances at which the conversation ends",
            json_schema_extra={"default": DISCUSSION_MESSAGES},
        )
    )
    pattern: Annotated[
        Literal["need_to_talk", "round_robin", "selector"], About(group="conversation", option="NAME")
    ] = Field(
        default="need_to_talk",
        description="who speaks next: by need to talk, in turn, or named by a model that does not take part",
    )
    selection: Annotated[
        Literal["argmax", "softmax"],
        About(group="conversation", option="NAME", only_if={"pattern": ("need_to_talk",)}),
    ] = Field(
        default="argmax",
        description="the next speaker has the greatest need to talk (argmax), or is drawn at random, a greater need "
        "with greater odds (softmax)",
    )
    selection_temperature: Annotated[
        float,
        About(
            group="conversation",
            option="T",
            only_if={"pattern": ("need_to_talk",), "selection": ("softmax",)},
            formerly=("temperature",),
        ),
    ] = Field(
        default=1.0,
        ge=0.01,
        le=100,
        description="temperature of the draw: low prefers the greatest need to talk, high makes all equally likely; "
        "odds are proportional to exp(need/selection_temperature)",
    )
    allow_repeated_speaker: Annotated[
        bool,
        About(
            group="conversation",
            option="",
            only_if={"pattern": ("need_to_talk", "selector")},
            formerly=("allow_repetition",),
        ),
    ] = Field(default=False, description="a participant may speak twice in a row")

    # The judge
    judge: Annotated[
        Literal["sliding_window", "persona"],
        About(group="judge", option="KIND", only_if=_DEBATES, changes="never"),
    ] = Field(
        default="sliding_window",
        description="a judge that sees the last utterances, or one with a mind and memories of its own",
    )
    judge_window: Annotated[
        int,
        About(
            group="judge",
            option="N",
            only_if={**_DEBATES, "judge": ("sliding_window",)},
            formerly=("window_size", "window"),
        ),
    ] = Field(default=10, ge=1, le=1000, description="number of last utterances that the judge sees")
    judge_every: Annotated[int, About(group="judge", option="N", only_if=_DEBATES)] = Field(
        default=1,
        ge=1,
        le=1000,
        description="the judge is asked after every utterance (1), every second one (2), and so on",
    )
    answer_format: Annotated[
        AnswerFormat,
        About(group="judge", option="FORM", only_if=_DEBATES, changes="never", formerly=("answer",)),
    ] = Field(default="free", description="form of the answer: free text, yes or no, one of the choices, or a number")
    choices: Annotated[
        list[Choice],
        About(
            group="judge",
            option="'A,B'",
            help="the answers to choose from, separated by commas, or by semicolons where one has a comma",
            only_if={**_DEBATES, "answer_format": ("choice",)},
            changes="never",
        ),
    ] = Field(
        default_factory=list,
        max_length=50,
        description="the answers to choose from, each on one line and without a semicolon",
    )

    # Models
    model: Annotated[
        str | None,
        About(
            group="model",
            option="MODEL",
            usual="PERSIMCHAT_MODEL; else OpenAI with OPENAI_API_KEY; else offline",
            changes="resume",
        ),
    ] = Field(
        default=None,
        description="language model: offline, openai:<model>, azure:<deployment>, ollama:<model>, "
        "<model>@http://host:port/v1, smollm2, hf:<owner>/<repo>/<file.gguf>, llamacpp:<file.gguf>, or a name that "
        "LangChain's init_chat_model knows",
    )
    embedding: Annotated[str, About(group="model", option="MODEL", changes="never")] = Field(
        default="lexical",
        description="embedding model, which compares memories: lexical, minilm, openai:<model>, "
        "<model>@http://host:port/v1",
    )
    model_temperature: Annotated[float | None, About(group="model", changes="resume")] = Field(
        default=None, ge=0, le=2, description="sampling temperature of the model; if unset, the model's own"
    )

    # The mind
    cognition: Annotated[Cognition, About(group="agents", option="HOW")] = Field(
        default_factory=_cognition,
        description="how often a mind asks its model: full (each module in its own call: 6 calls per utterance and "
        "agent), compact (perception in one call, appraisal in another: 3), lean (both in one call: 2); strategist "
        "(stories only, their default: it takes stock, chooses, sums up, reviews; others also hear and think there)",
        json_schema_extra={"default": "full"},
    )
    listeners: Annotated[Listeners | Literal["all"], About(group="agents", option="WHO")] = Field(
        default="all",
        description="which agents ask their model about an utterance: all, or (a number) its speaker and so many "
        "others, whom it concerns most; the rest remember its words without a model",
    )
    planning_and_reflection: Annotated[bool, About(group="agents")] = Field(
        default=True, description="agents reflect or plan while another participant speaks"
    )
    memory_filtering: Annotated[bool, About(group="agents")] = Field(
        default=False, description="the model decides which memories are kept in long-term memory"
    )
    emotional_retrieval: Annotated[bool, About(group="agents")] = Field(
        default=True, description="score memories by similarity of emotional state"
    )
    stm_retrieval: Annotated[bool, About(group="agents")] = Field(
        default=True, description="score memories by similarity to the memory in short-term memory"
    )
    relationships: Annotated[bool, About(group="agents")] = Field(
        default=True, description="agents are told their relationships when they speak"
    )
    social_goals: Annotated[bool, About(group="agents", changes="never")] = Field(
        default=True, description="agents have their social goals in memory and plans"
    )

    # Speaking
    speech_register: Annotated[Literal["casual", "neutral", "formal"], About(group="speaking")] = Field(
        default="casual", description="register of the utterances"
    )
    utterance_words: Annotated[int, About(group="speaking")] = Field(
        default=25, ge=3, le=1000, description="target length of an utterance in words; longer ones are not cut"
    )
    closing: Annotated[Literal["off", "near_limit", "on"], About(group="speaking", option="WHEN")] = Field(
        default_factory=_closing,
        description="when agents learn that the end is near and say goodbye: never (off), near the message limit "
        "(near_limit), or also when no participant needs to talk any more (on)",
        json_schema_extra={"default": "near_limit"},
    )
    closing_need: Annotated[int, About(group="speaking", only_if={"closing": ("on",)})] = Field(
        default=2,
        ge=0,
        le=10,
        description="close after two utterances in a row with every need to talk at most this",
    )
    human_turns: Annotated[Literal["hand", "addressed", "need"], About(group="speaking", changes="resume")] = Field(
        default="addressed",
        description="when people speak: after they raise a hand (hand), also when an utterance addresses them by name "
        "(addressed), or by the need to talk that they are asked for after every utterance (need)",
    )
    analysis: Annotated[bool, About(group="speaking", option="")] = Field(
        default=False, description="a model scores every utterance's coherence, sentiment and engagement"
    )

    # Limits
    budget_calls: Annotated[
        int | None, About(group="limits", option="N", usual="no limit", changes="resume", shapes=False)
    ] = Field(
        default=None,
        ge=1,
        le=MOST_BUDGET,
        description="limit on model calls; the conversation ends before it makes more",
    )
    budget_tokens: Annotated[
        int | None, About(group="limits", option="N", usual="no limit", changes="resume", shapes=False)
    ] = Field(
        default=None,
        ge=1,
        le=MOST_BUDGET,
        description="limit on tokens, read and written together; the conversation ends before a call that may exceed "
        "it",
    )
    budget_usd: Annotated[
        float | None, About(group="limits", option="X", usual="no limit", changes="resume", shapes=False)
    ] = Field(
        default=None,
        ge=1e-9,
        le=1e12,
        description="limit on cost in US dollars; the conversation ends before a call that may exceed it; every "
        "model's price must be known",
    )
    seed: Annotated[int, About(group="limits", option="N")] = Field(
        default=0, ge=0, le=2**63 - 1, description="seed of all random choices"
    )

    # More: methods to compare with, recall, prompts, repetition, how models are asked, where things are kept
    baseline: Annotated[Baseline | None, About(group="advanced", option="NAME", changes="never")] = Field(
        default=None,
        description="hold the conversation by a simpler method of the literature, for comparison: single_agent (one "
        "model writes the whole discussion), group_chat (a model names each speaker, personas speak without minds), "
        "mad, mad_judge or reconcile (debates in rounds of answers)",
    )
    rounds: Annotated[
        int,
        About(
            group="advanced",
            option="N",
            only_if={"baseline": IN_ROUNDS},
            or_if={"mode": ("story",)},
            changes="resume",
        ),
    ] = Field(
        default=3, ge=1, le=100, description="greatest number of rounds of answers; of a story, the number of rounds"
    )
    weights: Annotated[RetrievalWeights, About(group="advanced")] = Field(
        default=RetrievalWeights(), description="weights of the retrieval score's parts"
    )
    ltm_capacity: Annotated[int, About(group="advanced")] = Field(
        default=100, ge=10, le=100_000, description="greatest number of memories alive in long-term memory"
    )
    memory_tokens: Annotated[int, About(group="advanced", changes="resume")] = Field(
        default=400,
        ge=50,
        le=100_000,
        description="limit on tokens (estimated) of recalled memories in one prompt; the best come first",
    )
    recent_utterances: Annotated[int, About(group="advanced", changes="resume")] = Field(
        default=6, ge=1, le=100, description="number of last utterances that a prompt gives word by word"
    )
    prompt_order: Annotated[str, About(group="advanced")] = Field(
        default=PROMPT_ORDER,
        description="order of the blocks in an utterance's prompt, each letter once: b who I am, n need to talk and "
        "emotions, r relationships, m memories, p plan and identity, e environment, c last utterances",
    )
    repetition_check: Annotated[bool, About(group="advanced")] = Field(
        default=True, description="ask a model once more if its utterance nearly repeats an earlier one"
    )
    repetition_overlap: Annotated[float, About(group="advanced")] = Field(
        default=0.45,
        ge=0.01,
        le=1,
        description="an utterance is a near-repetition if at least this share of its runs of four words is in an "
        "earlier one",
    )
    repetition_similarity: Annotated[float, About(group="advanced")] = Field(
        default=0.9,
        ge=0.01,
        le=1,
        description="an utterance is a near-repetition if the cosine of its embedding with that of an earlier one is "
        "at least this; the default suits the lexical embedding",
    )
    repetition_window: Annotated[int, About(group="advanced")] = Field(
        default=50, ge=1, le=1000, description="number of last utterances with which a new one is compared"
    )
    strict_answers: Annotated[bool, About(group="advanced")] = Field(
        default=False,
        description="a judgement of a mind that is invalid twice ends the run with an error; without this, the mind "
        "stays as it was, and an answer that nearly fits is corrected",
    )
    agent_models: Annotated[dict[str, str], About(group="advanced", changes="resume")] = Field(
        default_factory=dict, description="agents with another model, as name: model"
    )
    module_models: Annotated[dict[Module, str], About(group="advanced", changes="resume")] = Field(
        default_factory=dict, description="modules with another model, as module: model; overrides agent_models"
    )
    module_temperatures: Annotated[dict[Module, Temperature], About(group="advanced", changes="resume")] = Field(
        default_factory=dict,
        exclude_if=lambda value: not value,
        description="modules with a sampling temperature of their own, as module: 0 to 2; overrides model_temperature",
    )
    concurrent: Annotated[bool, About(group="advanced", changes="resume", shapes=False)] = Field(
        default=True, description="call the agents' models at the same time, not one after another"
    )
    max_concurrency: Annotated[int, About(group="advanced", changes="resume", shapes=False)] = Field(
        default=32, ge=1, le=1000, description="greatest number of model calls at the same time"
    )
    requests_per_second: Annotated[float | None, About(group="advanced", changes="resume", shapes=False)] = Field(
        default=None, ge=0.001, le=100_000, description="limit on model calls per second; none if unset"
    )
    answer_tokens: Annotated[int | None, About(group="advanced", changes="resume")] = Field(
        default=None,
        ge=16,
        le=1_000_000,
        description="limit on tokens of one answer, thinking included; if unset, it depends on the module and on "
        "utterance_words",
    )
    context_tokens: Annotated[int | None, About(group="advanced", changes="resume")] = Field(
        default=None,
        ge=256,
        le=100_000_000,
        description="limit on tokens of prompt and answer together; a smaller context that the model's server reports "
        "overrides it; if unset, the reported context, or 8192 if none is reported",
    )
    timeout_s: Annotated[float, About(group="advanced", changes="resume", shapes=False)] = Field(
        default=120, ge=0.001, le=3600, description="time limit of one model call, in seconds"
    )
    local_slots: Annotated[int | None, About(group="advanced", changes="resume", shapes=False)] = Field(
        default=None,
        ge=1,
        le=64,
        description="for a model file on this machine: requests that its server answers at the same time; if unset, "
        "max_concurrency, but at most 4",
    )
    local_context: Annotated[int, About(group="advanced", changes="resume")] = Field(
        default=8192,
        ge=512,
        le=1_000_000,
        description="for a model file on this machine: tokens of context, which its slots share; more tokens take more "
        "memory",
    )
    prices: Annotated[dict[str, Prices], About(group="advanced", changes="resume", shapes=False)] = Field(
        default_factory=dict,
        description="prices of models, as model: US dollars per million tokens (input, output, and optionally "
        "cached input); they override the known list prices",
    )
    store: Annotated[str, About(group="advanced", shapes=False)] = Field(
        default="run",
        description="where Chroma keeps memories: run (the run's folder; without one, as ephemeral), ephemeral (this "
        "process only), a folder, or http://host:port",
    )
    checkpoints: Annotated[str, About(group="advanced", changes="resume", shapes=False)] = Field(
        default="run",
        description="where LangGraph keeps checkpoints, from which a run can be resumed: run (the run's folder; "
        "without one, nowhere), memory (this process only), or postgresql://…",
    )
