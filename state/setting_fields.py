"""Every setting, a field each: its type, bounds, default, meaning, and what `About` says of its use.

In order of listing, on the command line, on the page and in docs/settings.md.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from persimchat.state.answer_format import AnswerFormat
from persimchat.state.setting import About
from persimchat.state.setting_values import Choice, Listeners, Module, Prices, RetrievalWeights

DEBATE_MESSAGES: Final = 60
DISCUSSION_MESSAGES: Final = 10
"""Message limits where none is set."""


def _message_limit(known: dict[str, Any]) -> int:
    return DEBATE_MESSAGES if known.get("mode") == "debate" else DISCUSSION_MESSAGES


def _closing(known: dict[str, Any]) -> Literal["off", "near_limit"]:
    return "off" if known.get("mode") == "debate" else "near_limit"


Mode = Literal["discussion", "debate"]
MODES: Final[tuple[Mode, ...]] = get_args(Mode)
"""Kinds of conversation."""

Baseline = Literal["single_agent", "mad", "mad_judge", "reconcile"]
BASELINES: Final[tuple[Baseline, ...]] = get_args(Baseline)
"""Methods of the literature that hold a conversation in place of minds."""

_IN_ROUNDS: Final = tuple(baseline for baseline in BASELINES if baseline != "single_agent")
_DEBATES: Final = {"mode": ("debate",)}

MOST_BUDGET: Final = 10**15
"""Calls or tokens to which a budget may be set."""

PROMPT_ORDER: Final = "bnrmpec"
"""The blocks of an utterance's prompt, a letter each, in the order of Chu et al. (table 5)."""


class SettingFields(BaseModel):
    """The fields of `Settings`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # The conversation
    mode: Annotated[Mode, About(group="conversation", option="KIND", changes="never")] = Field(
        default="discussion", description="free discussion, or group debate until a judge finds consensus"
    )
    max_messages: Annotated[int, About(group="conversation", option="N", also=("--messages",), changes="resume")] = (
        Field(
            default_factory=_message_limit,
            ge=1,
            le=100_000,
            description="the message limit: utterances in all",
            json_schema_extra={"default": DISCUSSION_MESSAGES},
        )
    )
    pattern: Annotated[
        Literal["need_to_talk", "round_robin", "selector"], About(group="conversation", option="NAME")
    ] = Field(
        default="need_to_talk",
        description="who speaks next: by need to talk, in turn, or named by a model that takes no part",
    )
    selection: Annotated[
        Literal["argmax", "softmax"],
        About(group="conversation", option="NAME", only_if={"pattern": ("need_to_talk",)}),
    ] = Field(default="argmax", description="the greatest need to talk speaks, or one is drawn by softmax")
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
        description="of the draw: low prefers the greatest need, high makes all alike; p is proportional to "
        "exp(need/selection_temperature)",
    )
    allow_repeated_speaker: Annotated[
        bool,
        About(
            group="conversation",
            option="",
            only_if={"pattern": ("need_to_talk", "selector")},
            formerly=("allow_repetition",),
        ),
    ] = Field(default=False, description="may one agent speak twice in a row")

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
    ] = Field(default=10, ge=1, le=1000, description="utterances that the judge sees")
    judge_every: Annotated[int, About(group="judge", option="N", only_if=_DEBATES)] = Field(
        default=1, ge=1, le=1000, description="the judge is asked after every so many utterances"
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
        description="how memories are compared: lexical, minilm, openai:<model>, <model>@http://host:port/v1",
    )
    model_temperature: Annotated[float | None, About(group="model", changes="resume")] = Field(
        default=None, ge=0, le=2, description="sampling temperature given to the model; the model's own where not set"
    )

    # The mind
    cognition: Annotated[Literal["full", "compact", "lean"], About(group="agents", option="HOW")] = Field(
        default="full",
        description="how much a mind asks its model: full (every module by itself: 6 calls an utterance and agent), "
        "compact (what is heard in one call, what it does to one in another: 3), lean (both in one call: 2)",
    )
    listeners: Annotated[Listeners | Literal["all"], About(group="agents", option="WHO")] = Field(
        default="all",
        description="whose model is asked about an utterance that they hear: all, or its speaker and so many whom it "
        "concerns most; the others remember its words without a model",
    )
    planning_and_reflection: Annotated[bool, About(group="agents")] = Field(
        default=True, description="agents reflect or plan while another speaks"
    )
    memory_filtering: Annotated[bool, About(group="agents")] = Field(
        default=False, description="the model decides what is kept in long-term memory"
    )
    emotional_retrieval: Annotated[bool, About(group="agents")] = Field(
        default=True, description="score memories by similarity of emotional state"
    )
    stm_retrieval: Annotated[bool, About(group="agents")] = Field(
        default=True, description="recall what resembles the memory in short-term memory"
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
        default=25, ge=3, le=1000, description="target length in words; a reminder, not a cut"
    )
    closing: Annotated[Literal["off", "near_limit", "on"], About(group="speaking", option="WHEN")] = Field(
        default_factory=_closing,
        description="agents are told when the end is near and take leave: never, near the message limit, or (on) also "
        "when nobody needs to talk any more",
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
        description="people take their turn with a raised hand only, also when they are spoken to by name, or they are "
        "asked for their need to talk after every utterance",
    )
    analysis: Annotated[bool, About(group="speaking", option="")] = Field(
        default=False, description="a model scores every utterance's coherence, sentiment and engagement"
    )

    # Limits
    budget_calls: Annotated[int | None, About(group="limits", option="N", usual="no limit", changes="resume")] = Field(
        default=None, ge=1, le=MOST_BUDGET, description="the conversation makes no more calls than these, and ends"
    )
    budget_tokens: Annotated[int | None, About(group="limits", option="N", usual="no limit", changes="resume")] = Field(
        default=None,
        ge=1,
        le=MOST_BUDGET,
        description="no call is begun that would need more tokens, read and written together",
    )
    budget_usd: Annotated[float | None, About(group="limits", option="X", usual="no limit", changes="resume")] = Field(
        default=None, ge=1e-9, le=1e12, description="the same for cost; every model's price has to be known"
    )
    seed: Annotated[int, About(group="limits", option="N")] = Field(
        default=0, ge=0, le=2**63 - 1, description="all randomness comes from it"
    )

    # More: methods to compare with, recall, prompts, repetition, how models are asked, where things are kept
    baseline: Annotated[Baseline | None, About(group="advanced", option="NAME", changes="never")] = Field(
        default=None,
        description="a method of the literature in place of the conversation of minds, to compare with: single_agent "
        "(one model writes the whole discussion), mad, mad_judge and reconcile (debates of answers in rounds)",
    )
    rounds: Annotated[int, About(group="advanced", option="N", only_if={"baseline": _IN_ROUNDS}, changes="resume")] = (
        Field(default=3, ge=1, le=100, description="rounds of answers at most")
    )
    weights: Annotated[RetrievalWeights, About(group="advanced")] = Field(
        default=RetrievalWeights(), description="of the retrieval score's components"
    )
    ltm_capacity: Annotated[int, About(group="advanced")] = Field(
        default=100, ge=10, le=100_000, description="memories alive in long-term memory"
    )
    memory_tokens: Annotated[int, About(group="advanced", changes="resume")] = Field(
        default=400, ge=50, le=100_000, description="tokens (estimated) of recalled memories in one prompt, best first"
    )
    recent_utterances: Annotated[int, About(group="advanced", changes="resume")] = Field(
        default=6, ge=1, le=100, description="last utterances given word by word"
    )
    prompt_order: Annotated[str, About(group="advanced")] = Field(
        default=PROMPT_ORDER,
        description="order of the blocks in an utterance's prompt, each letter once: b who I am, n need to talk and "
        "emotions, r relationships, m memories, p plan and identity, e environment, c last utterances",
    )
    repetition_check: Annotated[bool, About(group="advanced")] = Field(
        default=True, description="an utterance that nearly repeats an earlier one is asked for once more"
    )
    repetition_overlap: Annotated[float, About(group="advanced")] = Field(
        default=0.45, ge=0.01, le=1, description="near-repetition: this share of its runs of four words was said before"
    )
    repetition_similarity: Annotated[float, About(group="advanced")] = Field(
        default=0.9,
        ge=0.01,
        le=1,
        description="near-repetition: cosine of its embedding with that of an earlier one; for the lexical embedding",
    )
    repetition_window: Annotated[int, About(group="advanced")] = Field(
        default=50, ge=1, le=1000, description="last utterances with which a new one is compared"
    )
    strict_answers: Annotated[bool, About(group="advanced")] = Field(
        default=False,
        description="a mind's judgement that is wrong twice is an error; else things stay as they were, and what "
        "nearly fits is put right",
    )
    agent_models: Annotated[dict[str, str], About(group="advanced", changes="resume")] = Field(
        default_factory=dict, description="agent's name: model, where it differs"
    )
    module_models: Annotated[dict[Module, str], About(group="advanced", changes="resume")] = Field(
        default_factory=dict, description="module: model, where it differs; overrides the agent's"
    )
    concurrent: Annotated[bool, About(group="advanced", changes="resume")] = Field(
        default=True, description="agents' models are called at the same time, else one by one"
    )
    max_concurrency: Annotated[int, About(group="advanced", changes="resume")] = Field(
        default=32, ge=1, le=1000, description="model calls under way at the same time"
    )
    requests_per_second: Annotated[float | None, About(group="advanced", changes="resume")] = Field(
        default=None, ge=0.001, le=100_000, description="rate limit of model calls; none if unset"
    )
    answer_tokens: Annotated[int | None, About(group="advanced", changes="resume")] = Field(
        default=None,
        ge=16,
        le=1_000_000,
        description="tokens that one answer may have, thinking included; if unset, by module and `utterance_words`",
    )
    context_tokens: Annotated[int | None, About(group="advanced", changes="resume")] = Field(
        default=None,
        ge=256,
        le=100_000_000,
        description="tokens of prompt and answer together, where the model's server tells no smaller context; if unset "
        "and none is told, 8192",
    )
    timeout_s: Annotated[float, About(group="advanced", changes="resume")] = Field(
        default=120, ge=0.001, le=3600, description="seconds that one model call may take"
    )
    local_slots: Annotated[int | None, About(group="advanced", changes="resume")] = Field(
        default=None,
        ge=1,
        le=64,
        description="a model file on this machine: requests that it works at together; else max_concurrency, at most 4",
    )
    local_context: Annotated[int, About(group="advanced", changes="resume")] = Field(
        default=8192,
        ge=512,
        le=1_000_000,
        description="a model file on this machine: tokens of context, shared by its slots; each takes memory",
    )
    prices: Annotated[dict[str, Prices], About(group="advanced", changes="resume")] = Field(
        default_factory=dict,
        description="model: USD per million tokens (input, output, and if known input from a cache), beside the known "
        "ones",
    )
    store: Annotated[str, About(group="advanced")] = Field(
        default="run",
        description="where Chroma keeps memories: run (the run's folder; without one, ephemeral), ephemeral, a folder, "
        "or http://host:port",
    )
    checkpoints: Annotated[str, About(group="advanced", changes="resume")] = Field(
        default="run",
        description="where LangGraph keeps checkpoints, from which a run is resumed: run (the run's folder; without "
        "one, nowhere), memory, or postgresql://…",
    )
