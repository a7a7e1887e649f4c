"""A short phrase for a topic that no theme knows, one that fits after "about"."""

from __future__ import annotations

import re
from typing import Final

_PLAIN: Final = re.compile(r"^[\w'’+#-]+(?: [\w'’+#-]+)*$")
_CUT: Final = re.compile(
    r"\s*(?:[,;:.?!]|\b(?:that|which|who|when|where|while|by|because|using|without|and how|and why|and what|"
    r"such as|for me|please)\b).*$",
    re.IGNORECASE | re.DOTALL,
)
_TURNED: Final = {"my": "our", "your": "our", "me": "us", "i": "we", "mine": "ours", "myself": "ourselves"}


def _phrase(text: str, most: int) -> str:
    """The beginning of a text up to its first clause boundary, if it is short and plain."""
    words = [_TURNED.get(w.lower(), w) for w in _CUT.sub("", text.strip()).split()]
    phrase = " ".join(words)
    return phrase if 1 <= len(words) <= most and _PLAIN.match(phrase) else ""


def extracted_head(text: str, kind: str) -> str:
    """A phrase for the topic, or "" where none can be taken out of it safely.

    Args:
        text: the topic on one line.
        kind: how it is put (`topics.kind_of`).
    """
    sentences = re.split(r"(?<=[.!?])\s+", text)
    sentence = next((s for s in sentences if "?" in s), sentences[0]).strip()
    for pattern, form, most in (
        (r"what if (?P<x>.+)", "what if {x}", 14),
        (r"(?:how (?:can|do|could|should|might|to) ?(?:i|we|you|one|people)?) (?P<x>\w.+)", "how to {x}", 8),
        (
            r"how many (?P<x>[\w-]+(?: [\w-]+){0,2}?) (?:are|is|do|does|would|can|could|have|has|fit|live|will) .+",
            "the number of {x}",
            4,
        ),
        (r"should (?P<s>we|they|people|schools|children|parents) (?P<x>.+)", "whether {s} should {x}", 9),
        (r"(?:what|which|who) (?:is|are|was|were|would be) (?P<x>(?:the|our|your|some) .+)", "{x}", 7),
        (r"(?:can you |could you )?(?:please )?(?:explain|describe|discuss|define|compare) (?P<x>.+)", "{x}", 7),
        (r"(?:can you help me |help me |please )?(?:write|draft|compose|create) an? (?P<x>.+)", "the {x}", 6),
        (r"what (?:is|are) (?P<x>[\w -]+)\?*", "{x}", 4),
        (
            r"(?:what|which) (?P<x>[\w-]+(?: [\w-]+)?) (?:should|shall|would|will|can|could|do|does|must|is|are) .+",
            "the choice of {x}",
            2,
        ),
    ):
        found = re.fullmatch(pattern, sentence.rstrip(" ?!."), re.IGNORECASE)
        if found:
            parts = {k: _phrase(v, most) for k, v in found.groupdict().items()}
            return form.format(**parts) if all(parts.values()) else ""
    if "?" not in text and kind == "open" and len(sentence.split()) <= 6:
        # A heading such as "The future of work"; any other first word keeps its case, for it may be a name.
        phrase = _phrase(sentence, 6)
        first = phrase.partition(" ")[0]
        lowered = first.lower() in ("the", "a", "an", "our", "how", "why", "what") or first.endswith(("ing", "s"))
        return phrase[:1].lower() + phrase[1:] if lowered and first.istitle() else phrase
    return ""
