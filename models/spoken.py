"""The words in a model's answer: without thinking, left-overs of chat templates, wrappers and notes about itself.

Judgements are found in anything (`answers.find_object`). Words are taken as they are, and go into the transcript, every
other mind and every later prompt; so what surrounds them is removed here, whole and while they stream. Nothing of this
is applied to what people say.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

UNWRAPPED: Final = "persimchat_unwrapped"
"""Says in a message's `additional_kwargs` that something around its words was left out while they streamed."""

_THINKING: Final = (
    r"(?:think|thinking|reasoning|thoughts?|scratchpad|reflection|cot|inner_monologue"
    r"|(?:reasoning|thinking|thought)_process)"
)
_TAG: Final = re.compile(rf"<(/?)({_THINKING})\b[^<>]*>", re.IGNORECASE)
_BEGINS: Final = (
    r"\[(?:THINK|THINKING|REASONING|THOUGHT)\]",
    r"◁think▷",
    r"<seed:think>",
    r"<unused94>(?:thought\b)?",
    r"<\|(?:START_THINKING|begin_of_thought|start_of_thought|thinking|think|start_think|inner_prefix)\|>",
    r"<\|channel\|>\s*(?:analysis|commentary)\b[^<]*<\|message\|>",
)
_ENDS: Final = (
    r"\[/(?:THINK|THINKING|REASONING|THOUGHT)\]",
    r"◁/think▷",
    r"</seed:think>",
    r"<unused95>",
    r"<\|(?:END_THINKING|end_of_thought|/thinking|/think|end_think|inner_suffix)\|>",
    r"(?:<\|(?:end|return)\|>)?\s*(?:<\|start\|>\s*assistant\s*)?<\|channel\|>\s*final\b[^<]*<\|message\|>",
)
"""How models mark their thinking, apart from tags: Mistral, Kimi, Seed, Gemma, Cohere and others, OpenAI's harmony."""
_BEGIN: Final = re.compile("|".join(_BEGINS))
_END: Final = re.compile("|".join(_ENDS))
_BARE: Final = re.compile(r"\s*(?:assistant\s*)?analysis(?=[A-Z])")
_BARE_END: Final = re.compile(r"assistant\s?final\s*")
"""Harmony whose marks were taken away: "analysisWe need …assistantfinalGood morning."."""

_HEADED: Final = re.compile(
    r"\A\W{0,4}(?:thoughts?|thinking|reasoning|thought process|here(?:'s| is) my thought process)\W{0,2}:.*?"
    r"^\W{0,4}(?:(?:final )?(?:answer|response|reply)|utterance|here(?:'s| is) my response)\W{0,2}:\W{0,3}",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
"""Thinking and words under headings ("Thought: …", then "Answer: …")."""

_OVER: Final = re.compile(
    r"<\|(?:im_end|eot_id|eom_id|end|return|end_of_turn|endoftext|END_OF_TURN_TOKEN)\|>|<end_of_turn>|<eos>"
    r"|<｜(?:end▁of▁sentence|User)｜>|</s>(?=\s*(?:\[INST\]|<s>|<\|))"
)
"""The end of a turn in a chat template: what follows is another one's."""
_MARK: Final = (
    r"(?:<\|start_header_id\|>\s*\w{0,12}\s*<\|end_header_id\|>|<\|im_start\|>\w{0,12}\n|<start_of_turn>\w{0,12}\n"
    r"|<[|｜][^|｜<>\n]{1,40}[|｜]>|</?s>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>|<(?:bos|eos|pad)>)"
)
_FIRST_MARKS: Final = re.compile(rf"\A(?:\s*{_MARK}(?:\s*(?:assistant|model)\b(?=\s*(?:\n|<\||:)))?)+\s*")
_LAST_MARKS: Final = re.compile(rf"(?:\s*{_MARK})+\s*\Z")
_HEADING: Final = re.compile(r"\A#{1,6}\s*(?:response|answer|reply|output|utterance)\s*:?\s*\n+", re.IGNORECASE)
_FENCE: Final = re.compile(r"\A```\w*\n(?P<words>[^`]*?)\n?```\Z")
_ELEMENT: Final = re.compile(r"\A<(?P<tag>[A-Za-z][\w-]{0,30})>(?P<words>.*)</(?P=tag)>\Z", re.DOTALL)
_NOTE: Final = re.compile(
    r"(?:\s+[*_(\[]{1,3}\s*(?:word|character|token) ?count"
    r"|(?:\n\s*|(?<=[.!?…。！？\"”])\s+)[*_(\[]{1,3}\s*(?:words|note|length))"
    r"\b[^\n]{0,200}?[*_)\]]{1,3}\s*\Z",
    re.IGNORECASE,
)
_SAID: Final = ("utterance", "text", "words", "message", "response", "reply", "speech", "content", "answer", "say")
_WRAPPED: Final = 4
"""The most wrappers around each other."""


def without_thinking(text: str) -> str:
    """The text of a reasoning model without its thinking, in any notation that is known.

    Some chat templates write only the closing mark. Thinking without a closing mark was cut off and contains no answer.
    """
    if _BARE.match(text) is not None:
        final = _BARE_END.search(text)
        text = text[final.end() :] if final is not None else ""
    text = _HEADED.sub("", text, count=1)
    text = _END.sub("</think>", _BEGIN.sub("<think>", text))
    tags = list(_TAG.finditer(text))
    closings = {tag[2].lower(): tag.start() for tag in tags if tag[1]}
    parts: list[str] = []
    end, inside, opened = 0, "", False
    for tag in tags:
        name = tag[2].lower()
        if inside:
            if tag[1] and name == inside:
                inside, end = "", tag.end()
        elif tag[1]:  # closed without having been opened: all before it was thinking
            parts, end, opened = [], tag.end(), False
        elif not opened:
            parts.append(text[end : tag.start()])
            if closings.get(name, -1) > tag.start():
                inside = name
            else:
                opened = True
        elif closings.get(name, -1) > tag.start():
            inside = name
    return "".join(parts if opened else [*parts, text[end:]]).strip()


def shows_thinking(text: str) -> bool:
    """Whether a text has marks of thinking."""
    return _BARE.match(text) is not None or any(pattern.search(text) for pattern in (_TAG, _BEGIN, _END))


def spoken_words(text: str) -> str:
    """The words that an agent says, in a model's answer.

    Without thinking; without what a chat template leaves, and what follows the end of the turn; out of a JSON object, a
    tag or a code fence around all of it; without a heading in front ("### Response:") and a note about the answer
    behind ("(Word count: 9)").
    """
    words = _unmarked(without_thinking(text))
    for _ in range(_WRAPPED):
        opened = _NOTE.sub("", _HEADING.sub("", _opened(words))).strip()
        if opened == words or not opened:
            break
        words = _unmarked(opened)
    return words


def _unmarked(text: str) -> str:
    """The text without marks of chat templates at either end, up to the end of the turn."""
    text = _FIRST_MARKS.sub("", text)
    over = _OVER.search(text)
    if over is not None and text[: over.start()].strip():
        text = text[: over.start()]
    return _LAST_MARKS.sub("", text).strip()


def _opened(text: str) -> str:
    """What is in the one wrapper around all of a text; the text if there is none."""
    for pattern in (_FENCE, _ELEMENT):
        if (found := pattern.match(text)) is not None:
            return found["words"].strip()
    if text[:1] == "{" and text[-1:] == "}":
        try:
            value: Any = json.loads(text)
        except (ValueError, RecursionError):
            return text
        texts = {str(name).lower(): part for name, part in value.items() if isinstance(part, str)}
        chosen = next((texts[name] for name in _SAID if name in texts), None)
        return chosen or (next(iter(texts.values())) if len(value) == len(texts) == 1 else text)
    return text


class StreamedWords:
    """The words of a stream as they come, without thinking and without marks of chat templates.

    What may be the beginning of a mark is held until it is known. What only the whole answer shows (a wrapper, a note,
    a closing mark alone) is passed on; `spoken_words` removes it from the whole.

    Attributes:
        removed: what was left out since it was last looked at.
    """

    def __init__(self) -> None:
        self.removed = ""
        self._held, self._begun, self._over = "", False, False
        self._until: tuple[re.Pattern[str], ...] = ()  # what ends the thinking; empty outside

    def take(self, piece: str) -> str:
        """The words that are known after a piece."""
        self._held += piece
        passed = ""
        while self._held:
            if self._over:
                self._leave_out(len(self._held))
            elif self._until:
                ended = _first(self._held, *self._until)
                if ended is None:
                    self._leave_out(max(0, len(self._held) - _LONGEST_MARK))
                    break
                self._leave_out(ended.end())
                self._until, self._held = (), self._held.lstrip()
            elif not self._begun and _may_be_bare(self._held):
                break
            elif not self._begun and (bare := _BARE.match(self._held)) is not None:
                self._leave_out(bare.end())
                self._until = (_BARE_END,)
            else:
                mark = _first(self._held, _BEGIN, _OPENING, _END, _OVER, _ANY_MARK)
                known = _PARTIAL.search(self._held, max(0, len(self._held) - _LONGEST_MARK))
                end = mark.start() if mark is not None else known.start() if known is not None else len(self._held)
                passed, self._held = passed + self._held[:end], self._held[end:]
                self._begun = self._begun or bool(passed.strip())
                if mark is None or (_PARTIAL.fullmatch(self._held) and len(self._held) < _LONGEST_MARK):
                    break
                self._leave_out(len(mark[0]))
                if _BEGIN.fullmatch(mark[0]) or _OPENING.fullmatch(mark[0]):
                    self._until = (_END, _CLOSING)
                self._over = self._begun and _OVER.fullmatch(mark[0]) is not None
        return passed

    def rest(self) -> str:
        """What was held, once the stream is over."""
        if self._until or self._over:
            self._leave_out(len(self._held))
        rest, self._held = self._held, ""
        return rest

    def _leave_out(self, length: int) -> None:
        self.removed, self._held = self.removed + self._held[:length], self._held[length:]


_OPENING: Final = re.compile(rf"<{_THINKING}\b[^<>]*>", re.IGNORECASE)
_CLOSING: Final = re.compile(rf"</{_THINKING}\b[^<>]*>", re.IGNORECASE)
_ANY_MARK: Final = re.compile(_MARK)
_LONGEST_MARK: Final = 120
_PARTIAL: Final = re.compile(
    r"(?:<(?:[|｜][^|｜<>\n]{0,40}[|｜]?|/?[A-Za-z][^<>\n]{0,60}|/|<?/?S?Y?S?>?)?"
    r"|(?:<\|(?:end|return)\|>)?\s*(?:<\|start\|>\s*\w{0,12}\s*)?<\|channel\|>[^<]{0,60}(?:<(?:\|\w{0,8}\|?)?)?"
    r"|<\|(?:start|start_header_id)\|>\s*\w{0,12}\s*(?:<(?:\|\w{0,16}\|?)?)?"
    r"|(?:<\|im_start\|>|<start_of_turn>)\w{0,12}|\[/?[A-Z]{0,9}|◁/?[a-z]{0,5})\Z"
)
"""What may become a mark once more of the text has come."""


def _may_be_bare(text: str) -> bool:
    """Whether a text may become the beginning of thinking in harmony without its marks."""
    begun = "".join(text.split())
    return any(whole.startswith(begun) for whole in ("analysis", "assistantanalysis"))


def _first(text: str, *patterns: re.Pattern[str]) -> re.Match[str] | None:
    """The match that begins first; of those that begin at one place, the longest."""
    found = [match for pattern in patterns if (match := pattern.search(text)) is not None]
    return min(found, key=lambda match: (match.start(), -match.end()), default=None)
