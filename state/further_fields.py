"""The settings of the group "More", one field each, as in state/setting_fields.py, whose fields they follow."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from persimchat.state.companion_settings import CompanionSettings
from persimchat.state.setting import About
from persimchat.state.setting_fields import IN_ROUNDS, PROMPT_ORDER, Baseline, MainFields
from persimchat.state.setting_values import Module, Prices, RetrievalWeights, Temperature


class SettingFields(MainFields):
    """The fields of `Settings`."""

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
    companion: Annotated[CompanionSettings, About(group="advanced")] = Field(
        default=CompanionSettings(),
        exclude_if=lambda value: value == CompanionSettings(),
        description="how a companion, one agent in a talk with one person, keeps its talks and its memory "
        "(docs/companion.md)",
    )
