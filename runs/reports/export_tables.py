"""The tables of an export: one model per table, one field per column.

A column's description, unit and range are here and nowhere else: `codebook.py` writes the codebook from them.
Numbers of utterances are called turns, as everywhere.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from persimchat.runs.folder.stored import Count, Points, Seconds, Share, Spoken, Turn
from persimchat.runs.reports.export_columns import Finite, JsonObject, Row, column
from persimchat.runs.reports.export_guide import TABLES as GUIDE_TABLES
from persimchat.runs.reports.export_interviews import TABLES as INTERVIEW_TABLES
from persimchat.runs.reports.export_pruning import TABLES as PRUNING_TABLES
from persimchat.runs.reports.export_story import TABLES as STORY_TABLES
from persimchat.state.emotion import Level

_LEVEL: Final = "0 is none, 10 the most"


def _emotion(name: str) -> Any:
    return column(f"how strongly the agent felt {name}; {_LEVEL}", "level")


class RunRow(Row):
    """One row per run: how it went, its result, and what it used."""

    participants: list[str] = column("names of those who took part, in order of listing")
    people: list[str] = column("the participants who are people, not agents")
    started: str | None = column("when it began, ISO 8601", "time")
    ended: str | None = column("when it ended, ISO 8601; empty if it is running or was killed", "time")
    stop_reason: str | None = column(
        "why it ended: message_limit, consensus, closed, guide, budget, stopped, error; empty if no ending is recorded"
    )
    stop_source: str | None = column("which rule ended it, such as message_limit, closing, judge, a baseline, user")
    stop_detail: str | None = column("the rule's explanation, or the error")
    utterances: Count | None = column("utterances made", "utterances")
    consensus: bool | None = column("debates: whether all participants agreed at the end")
    answer: str | None = column("debates: the common answer, or without consensus the majority's position")
    conditional: str | None = column("debates: the conditions under which the answer holds; empty: there are none")
    standings: JsonObject | None = column(
        "debates whose answer holds under conditions: all positions and last words, by name"
    )
    supporters: list[str] | None = column("debates: who holds the answer")
    concluded_by: str | None = column("debates: who found the answer, the judge or a baseline")
    calls: Count | None = column("requests to models; empty while the run is running", "requests")
    input_tokens: Count | None = column("tokens read by models", "tokens")
    output_tokens: Count | None = column("tokens written by models", "tokens")
    cached_tokens: Count | None = column("of the tokens read, those that servers took from their caches", "tokens")
    tokens_estimated: bool | None = column("whether some token counts are estimates")
    cost_usd: Seconds | None = column("what the requests cost; empty if a price is not known", "USD")
    judgements: Count | None = column(
        "judgements of minds that models were asked for; empty if not known", "judgements"
    )
    judgements_first_try: Count | None = column("of these, judgements that were right at the first try", "judgements")
    judgements_corrected: Count | None = column("of these, judgements that were corrected", "judgements")
    judgements_failed: Count | None = column("of these, judgements that were unusable twice", "judgements")
    prompt_hash: str | None = column("hash of all prompt templates: equal where the prompts were equal")
    persimchat_version: str | None = column("version of PerSimChat that made the run")
    branch_of: str | None = column(
        "a branch: the run with which it shares its first utterances; empty if it is not a branch"
    )
    branch_turn: Turn | None = column("a branch: number of shared utterances", "utterances")
    resumed: Count = column("how often it was resumed", "times")
    settings: JsonObject | None = column("all settings, by name")
    notes: list[str] | None = column("what is missing or was ignored in the run's folder")


class UtteranceRow(Row):
    """One row per utterance."""

    turn: Turn = column("the utterance's number; the first is 1", "utterances")
    speaker: str = column("name of the speaker: an agent, a person, or the moderator, who is not a participant")
    text: str | None = column("what was said")
    words: Count = column("length of the text, in words between white space", "words")
    addressees: list[str] = column("agents addressed by name; none means the whole group")
    heard_by: list[str] | None = column("a whisper: who heard it besides the speaker; empty: all did")
    given: bool = column("whether a person wrote the words, not a model")
    edited_by: str | None = column("what replaced the speaker's own words: branch, or moderator; empty: nothing did")
    question: Spoken | None = column(
        "focus groups: the number of the guide's question that it puts, from 1; empty: it puts none", "number"
    )
    need_to_talk: Level | None = column(f"the speaker's need to talk when it was chosen; {_LEVEL}", "level")
    needs_to_talk: dict[str, Level] | None = column(
        f"need to talk of all participants when the speaker was chosen, by name; {_LEVEL}", "level"
    )
    happiness: Level | None = _emotion("happiness")
    sadness: Level | None = _emotion("sadness")
    anger: Level | None = _emotion("anger")
    fear: Level | None = _emotion("fear")
    disgust: Level | None = _emotion("disgust")
    surprise: Level | None = _emotion("surprise")
    response_time_s: Seconds | None = column(
        "time until the utterance was complete; the offline model makes it up", "seconds"
    )
    input_tokens: Count | None = column("tokens read by the call that worded it", "tokens")
    output_tokens: Count | None = column("tokens written by the call that worded it", "tokens")
    corrections: list[str] = column("faults of the first wording, and what was done about them; none in most rows")
    answer: str | None = column("debate baselines: the speaker's answer")
    conditional: str | None = column("debate baselines: the conditions of the speaker's answer; empty: there are none")
    confidence: Share | None = column("debate baselines: how sure the speaker is of the answer", "share")


class MindRow(Row):
    """One row per agent and turn: its mind after it has heard that utterance; turn 0 is its awakening."""

    turn: Turn = column("utterances so far; 0 before the first", "utterances")
    agent: str = column("the agent whose mind it is")
    role: str = column("participant, or judge if the judge of a debate has a mind of its own")
    did: str | None = column("what it did while the utterance was made: speak, reflect, plan; empty for nothing")
    action: str | None = column("what it will do while the next one is made, unless it speaks: reflect or plan")
    need_to_talk: Level | None = column(f"need to talk; {_LEVEL}; empty for a judge, who never speaks", "level")
    need_reasoning: str | None = column("why, in the model's words")
    openness: Level | None = column(f"debates: openness to consensus; {_LEVEL}", "level")
    openness_reasoning: str | None = column("why, in the model's words")
    happiness: Level | None = _emotion("happiness")
    sadness: Level | None = _emotion("sadness")
    anger: Level | None = _emotion("anger")
    fear: Level | None = _emotion("fear")
    disgust: Level | None = _emotion("disgust")
    surprise: Level | None = _emotion("surprise")
    percept_theme: str | None = column("what it took from the utterance; empty at turn 0")
    percept_keywords: list[str] | None = column("keywords that it took from the utterance")
    percept_importance: Level | None = column(f"how important the utterance is to it; {_LEVEL}", "level")
    focal_points: list[str] | None = column("the questions that directed its recall, in order")
    recalled: Count = column("memories recalled; each has its row in the table memories", "memories")
    short_term_memory: str | None = column("theme of the one memory in short-term memory")
    long_term_memories: Count | None = column("memories alive in long-term memory", "memories")
    plan: str | None = column("the plan made during this turn; empty if there is none")
    insights: list[str] | None = column("the insights drawn during this turn; none if it did not reflect")
    listened: bool | None = column(
        "listeners=K: whether its model was asked about the utterance; false: it remembers the words; empty: all were"
    )
    failed: list[str] = column(
        "modules whose answers were unusable twice, so that this part of the mind stayed as it was"
    )
    corrected: list[str] = column("modules in whose answers a number or a list was corrected")


class MemoryRow(Row):
    """One row per memory that an agent recalled at a turn; score = recency + … + stm_relevance, each weighted."""

    turn: Turn = column("utterances so far when it was recalled", "utterances")
    agent: str = column("who recalled it")
    role: str = column("participant, or judge if the judge of a debate has a mind of its own")
    rank: int = column("its place among the memories recalled at this turn; 1 is the best", "place")
    memory: str = column("the memory's id, the same each time it is recalled in this run")
    kind: str = column("where it comes from: profile, topic, social_goals, perception, reflection, plan, event (given)")
    made: Turn = column("utterances so far when the memory was made", "utterances")
    theme: str | None = column("what is remembered")
    focal_point: Count = column(
        "index, from 0, of the question in minds.focal_points for which it scored best", "index"
    )
    score: Finite = column("retrieval score: the sum of the five components", "score")
    recency: Finite = column("component: how recently it was recalled; 0 to the component's weight", "score")
    importance: Finite = column("component: how important it is to the agent; 0 to the component's weight", "score")
    relevance: Finite = column("component: similarity to the focal point; 0 to the component's weight", "score")
    emotional: Finite = column("component: similarity of emotional state; 0 to the component's weight", "score")
    stm_relevance: Finite = column("component: similarity to short-term memory; 0 to the component's weight", "score")


class VerdictRow(Row):
    """One row per verdict of a debate's judge."""

    turn: Turn = column("the utterance after which the judge was asked", "utterances")
    consensus: bool = column("whether the judge found consensus")
    answer: str | None = column("the answer agreed on; empty without consensus")
    conditional: str | None = column("the conditions under which they agree; empty: there are none")
    progress: str | None = column("whether the debate is progressing or circling")
    agree: Count = column(
        "participants who agree with the answer, or, without consensus, with the majority", "participants"
    )
    positions: Count = column("participants whose position is recorded; each has a row in positions", "participants")
    reasoning: str | None = column("why, in the judge's words")
    overruled: str | None = column(
        "why a verdict of consensus was not accepted; empty if it was, or if there was no consensus"
    )


class PositionRow(Row):
    """One row per participant and verdict: the position, as the judge sees it."""

    turn: Turn = column("the utterance after which the judge was asked", "utterances")
    agent: str = column("the participant")
    position: str | None = column("what it holds")
    answer: str | None = column(
        "the same in the debate's form of answer; empty: any text is an answer, or it is unclear"
    )
    agrees: bool = column("whether the participant agrees with the answer, or, without consensus, with the majority")


class ScoreRow(Row):
    """One row per utterance that was scored."""

    turn: Turn = column("the utterance's number", "utterances")
    speaker: str = column("who made it")
    coherence: Points = column("0 is beside the point, 10 follows from what was said and from the topic", "points")
    sentiment: Points = column("0 is hostile or despairing, 5 neutral, 10 warm or delighted", "points")
    engagement: Points = column("0 is absent, 10 deeply involved", "points")
    reasoning: str | None = column("why, in the model's words")


class CallRow(Row):
    """One row per request to a model; if a run kept no requests, one sum per module, agent and model.

    Calls, tokens and cost add up correctly in both cases. A run that kept no requests has rows only if it has ended.
    """

    kind: Literal["request", "sum"] = column("request: one request; sum: all requests of a module, agent and model")
    turn: Turn | None = column("request: utterances so far", "utterances")
    module: str = column("the cognitive module that asked")
    agent: str | None = column("the agent for which it was made; empty if there is none")
    called_model: str = column("the model; it may differ from the run's main model")
    n: Count | None = column(
        "request: its number within one exchange: 0, then 1 and so on if it failed or its answer was unusable",
        "number",
    )
    calls: Count = column("requests made, also repeated and failed ones; 1 for a request", "requests")
    seconds: Seconds | None = column("request: duration", "seconds")
    input_tokens: Count = column("tokens read", "tokens")
    output_tokens: Count = column("tokens written", "tokens")
    cached_tokens: Count = column("of the tokens read, those that the server took from its cache", "tokens")
    estimated: bool = column("whether some of these token counts are estimates")
    cost_usd: Seconds | None = column("cost; empty if the model's price is not known", "USD")
    failed: str | None = column("request: why there was no usable answer; empty if there was one")


class SilenceRow(Row):
    """One row per silence: the agent's model failed, or the person passed."""

    turn: Turn = column("number of the utterance that the participant did not hear or did not make", "utterances")
    agent: str = column("who was silent")
    step: str | None = column("what the participant did not do: awaken, hear, think or speak; or a step of a story")
    why: str | None = column("the model's error; passed for a person who passed")


class JudgementRow(Row):
    """One row per answer of an evaluator about the conversation, asked after it was over."""

    measure: str = column("kind of question: dimension")
    dimension: str = column("key of the dimension, such as BEL; docs/evaluation.md defines them")
    evaluator: str = column("the model that judged")
    repeat: int = column("number of the independent answer; the first is 1", "number")
    score: Finite | None = column("0 to 10, for REL −5 to 5; empty if it is missing", "points")
    missing: str | None = column("why there is no score: unparseable, refused or too long; empty if there is one")
    reasoning: str | None = column("why, in the model's words")
    request: str = column("digest of the question: equal for equal conversations and wording")
    calls: Count = column("requests made", "requests")
    input_tokens: Count = column("tokens read", "tokens")
    output_tokens: Count = column("tokens written", "tokens")
    cost_usd: Seconds | None = column("cost; empty if the model's price is not known", "USD")


class StanceRow(Row):
    """One row per observation of a participant's position: the ledger of positions (docs/positions.md)."""

    source: str = column("where it comes from: verdicts, answers, polls or supports")
    poll: str | None = column("polls: the poll's id")
    agent: str = column("the participant")
    turn: Turn = column(
        "number of the utterance that shows it; polls, supports: utterances so far when the agent was as it was seen",
        "utterances",
    )
    stance: str | None = column("what the participant held; empty if it is not clear")
    before: str | None = column("its last clear stance before; empty if there is none")
    moved: bool | None = column("whether the two differ; empty if there are not two")
    candidates: list[Turn] = column(
        "a move: utterances of others that were heard since the last clear observation, and whose speakers then held "
        "the new stance",
        "utterances",
    )
    credit: dict[str, Share] = column(
        "a move: 1 shared equally among the candidates, by speaker; it says after whom, not because of whom", "share"
    )
    recalled: list[Turn] | None = column("a move: candidates among the memories recalled just before", "utterances")
    toward_majority: bool | None = column(
        "a move: whether it led to what most of the others held then; empty if no stance was held by most"
    )
    openness: Level | None = column(f"openness to consensus just before; {_LEVEL}", "level")


class PollRow(Row):
    """One row per answer to a poll: a question put to an agent in private, afterwards, as it was at a turn."""

    poll: str = column("the poll's id")
    question: str = column("what was asked")
    form: str = column("the form of the answer: yesno, choice, number, or scale:LOW-HIGH")
    turn: Turn = column("utterances so far when the agent was as it was asked", "utterances")
    agent: str = column("who answered")
    repeat: int = column("number of the independent answer; the first is 1", "number")
    answer: str | None = column("the answer; empty if it is missing")
    missing: str | None = column("why there is no answer: unparseable, refused or too long; empty if there is one")
    reasoning: str | None = column("why, in the model's words")
    answered_by: str = column("the model that answered; the offline model answers by lot")
    request: str = column("digest of the question: equal for equal minds and wording")
    calls: Count = column("requests made", "requests")
    input_tokens: Count = column("tokens read", "tokens")
    output_tokens: Count = column("tokens written", "tokens")
    cost_usd: Seconds | None = column("cost; empty if the model's price is not known", "USD")


class InterventionRow(Row):
    """One row per intervention of a person, the moderator or a program."""

    turn: Turn = column("utterances so far when it took effect", "utterances")
    do: str = column("kind of intervention, such as say, topic, hand, floor, answer, pause, stop")
    agent: str | None = column(
        "who spoke, raised a hand, got the floor or had a partner chosen; empty for the moderator"
    )
    text: str | None = column("the words, or the new topic")
    heard_by: list[str] | None = column("a whisper: who heard it besides the speaker; empty: all did")
    details: JsonObject | None = column("other recorded fields, by name")


TABLES: Final[dict[str, type[Row]]] = {
    "runs": RunRow,
    "utterances": UtteranceRow,
    "minds": MindRow,
    "memories": MemoryRow,
    "verdicts": VerdictRow,
    "positions": PositionRow,
    "scores": ScoreRow,
    "calls": CallRow,
    "silences": SilenceRow,
    "interventions": InterventionRow,
    "judgements": JudgementRow,
    "stances": StanceRow,
    "polls": PollRow,
    **INTERVIEW_TABLES,
    **GUIDE_TABLES,
    **PRUNING_TABLES,
    **STORY_TABLES,
}
"""All tables by name, in the order in which they are explained."""

RARE: Final = (
    "silences",
    "interventions",
    "judgements",
    "stances",
    "polls",
    *INTERVIEW_TABLES,
    *GUIDE_TABLES,
    *PRUNING_TABLES,
    *STORY_TABLES,
)
"""Tables that are written only if they have rows; most runs have none."""
