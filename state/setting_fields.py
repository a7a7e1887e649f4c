"""The settings that most people look for, one field each: type, bounds, default, description, and metadata (`About`).

Their order is that of the command line, of the page and of docs/settings.md; those of state/further_fields.py follow.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from persimchat.state.answer_format import AnswerFormat
from persimchat.state.pruning import Pruning
from persimchat.state.setting import About
from persimchat.state.setting_values import Choice, Listeners

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

Cognition = Literal["full", "compact", "lean", "fixed", "strategist"]
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


class MainFields(BaseModel):
    """The first fields of `Settings`."""

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
        description="who speaks next: by need to talk, in turn, or named by a model that does not take part; if unset, "
        "in turn with cognition=fixed",
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
    model_top_p: Annotated[float | None, About(group="model", changes="resume")] = Field(
        default=None,
        gt=0,
        le=1,
        exclude_if=lambda value: value is None,
        description="nucleus sampling: the model draws from its likeliest tokens, whose probabilities add up to this; "
        "if unset, the model's own",
    )

    # The mind
    cognition: Annotated[Cognition, About(group="agents", option="HOW")] = Field(
        default_factory=_cognition,
        description="how often a mind asks its model: full (each module in its own call: 6 calls per utterance and "
        "agent), compact (perception in one call, appraisal in another: 3), lean (both in one call: 2), fixed (never: "
        "minds stay as they are before the first utterance, and only the speaker's model is asked); strategist "
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

    pruning: Annotated[Pruning, About(group="speaking", changes="branch")] = Field(
        default=Pruning(),
        exclude_if=lambda value: value == Pruning(),
        description="how much of an utterance's prompt is left out, so that repeated runs differ more (λ, "
        "pruning.lambda); the rest is left as it is at 0",
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
