"""A focus group's moderator: puts a question of the guide in other words, and hands a question back to the group."""

from __future__ import annotations

from persimchat.models.offline.lexicon import deck
from persimchat.models.offline.prompt import Prompt
from persimchat.models.offline.randomness import permutation


def moderated(prompt: Prompt, seed: int) -> str:
    """The moderator's next words: the question that is due behind a few words of passage, or a reply without a view."""
    kind = ("next" if prompt.asked else "first") if prompt.puts else "reply"
    phrases = deck("speech", "moderating", kind)
    # Earlier words that must not be said again are further steps in the deck.
    step = prompt.turn + len(prompt.avoid) + len(prompt.later)
    phrase = phrases[permutation(len(phrases), "moderating", kind, seed, prompt.topic)[step % len(phrases)]]
    return f"{phrase} {prompt.puts}".strip()
