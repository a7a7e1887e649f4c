"""The alternatives that a topic itself names: "X or Y?", "Should we build a playground?"."""

from __future__ import annotations

import re
from typing import Final

from persimchat.models.offline.lexicon import word_list
from persimchat.models.offline.words import gerund

_WORD: Final = re.compile(r"^[\w'’+#-]+$")
_LEAD: Final = re.compile(
    r"^(?:.*?\b(?:better|best|prefer|choose|pick|favou?rite|rather have|between|is it|are you for|tastier|nicer|"
    r"healthier|worse|stronger|smarter|versus)\b(?: for \w+)?[,:]?\s+|.*[:,]\s+)",
    re.IGNORECASE,
)
_SHOULD: Final = re.compile(
    r"^(?:so,? )?should (?:we|i|you|they|one|people|our \w+|the \w+|\w+s) (?:all |really |finally )?(?P<rest>[^?.!]+)",
    re.IGNORECASE,
)
_THAN: Final = re.compile(r"^(?:is|are) (?P<a>[^?]+?) (?:really )?(?:better|worse|nicer|\w+ier) than (?P<b>[^?]+)", re.I)
_VERBS: Final = ("be", "have", "go", "do", "get", "take", "eat", "live", "work", "stay", "buy", "build", "spend", "save")


def _clean(phrase: str, *, most: int = 5) -> str:
    """A short, plain noun phrase, or "" where it is not one."""
    words = phrase.strip(" ?!.,;:\"'“”").split()
    while words and words[0].lower() in ("or", "and", "to", "is", "are", "either", "rather", "for", "of"):
        words = words[1:]
    if not 1 <= len(words) <= most or not all(_WORD.match(w) for w in words):
        return ""
    if words[0].lower() in word_list("not_options") or words[-1].lower() in word_list("not_options"):
        return ""
    first = words[0]
    if first.istitle() and first.lower() in ("the", "a", "an", "my", "our", "your", "this", "some"):
        words[0] = first.lower()
    return " ".join(_turned(w) for w in words)


def _turned(word: str) -> str:
    return {"my": "our", "your": "our", "me": "us", "i": "we"}.get(word.lower(), word)


def _acting(rest: str) -> str:
    """A verb phrase as a noun phrase: "build a playground" to "building a playground"."""
    verb, _, remainder = rest.strip().partition(" ")
    if not re.fullmatch(r"[A-Za-z]{2,}", verb) or verb.lower() in word_list("not_options"):
        return ""
    cleaned = _clean(remainder, most=7) if remainder else ""
    if remainder and not cleaned:
        return ""
    return f"{gerund(verb.lower())} {cleaned}".strip()


def named_options(text: str) -> tuple[str, ...]:
    """Two to four alternatives as noun phrases, in the order in which the topic names them.

    Empty where the topic names none, or names them in words that could not be put into other sentences safely.
    """
    sentences = re.split(r"(?<=[.!?])\s+", text)
    question = next((s for s in sentences if "?" in s), sentences[0])
    should = _SHOULD.match(question)
    if should:
        first, *rest = re.split(r",? or ", should["rest"])
        label = _acting(first.rstrip(", "))
        if not rest:
            return (label, "leaving things as they are") if label else ()
        return _alternatives(label, rest)
    than = _THAN.match(question)
    if than:
        pair = (_clean(than["a"]), _clean(than["b"]))
        return pair if all(pair) else ()
    if re.search(r"\b(or|vs\.?|versus|oder|nebo|ou)\b", question, re.IGNORECASE):
        body = _LEAD.sub("", question) if re.search(r"\b(or|versus|vs)\b", _LEAD.sub("", question)) else question
        first, *rest = re.split(r"\s*(?:,? or |,? vs\.? |,? versus |,? oder |,? nebo |,? ou |, )", body)
        if re.match(r"to \w", first):
            return _alternatives(_acting(first[3:]), [r.removeprefix("to ") for r in rest])
        cleaned = tuple(_clean(part) for part in (first, *rest))
        if 2 <= len(cleaned) <= 4 and all(cleaned) and len({c.casefold() for c in cleaned}) == len(cleaned):
            return cleaned
    return ()


def _alternatives(label: str, rest: list[str]) -> tuple[str, ...]:
    """The first alternative is a gerund phrase; the others are verb phrases too, or nouns that share its verb."""
    if not label:
        return ()
    verb = label.split()[0]
    options = [label]
    for part in rest:
        bare = part.strip(" ?!.,")
        noun = bare.split()[0].lower() in ("a", "an", "the", "our", "some", "more", "fewer") if bare else False
        options.append(f"{verb} {_clean(bare)}" if noun and _clean(bare) else _acting(bare))
    return tuple(options) if all(options) and len(options) <= 4 else ()
