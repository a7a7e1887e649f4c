"""The alternatives that a topic itself names: "X or Y?", "Should we build a playground?"."""

from __future__ import annotations

import re
from typing import Final

from persimchat.models.offline.lexicon import word_list
from persimchat.models.offline.words import gerund

_WORD: Final = re.compile(r"^[\w'’+#-]+$")
_OR: Final = re.compile(r",? (?:or|vs\.?|versus|oder|nebo|ou|oppure) ", re.IGNORECASE)
_LEAD: Final = re.compile(
    # Greedy: the alternatives begin after the last of these words.
    r"^.*(?:\b(?:better|best|prefer|choose|pick|favou?rite|rather have|between|is it|are you for|tastier|nicer|"
    r"healthier|worse|stronger|smarter|besser|lieber)\b|:)(?: for \w+)?[,:]?\s+",
    re.IGNORECASE,
)
_SHOULD: Final = re.compile(
    r"^(?:so,? )?(?:should (?:we|i|you|they|one|people|our \w+|the \w+|\w+s)|would you rather)"
    r" (?:all |really |finally )?(?P<rest>[^?.!]+)",
    re.IGNORECASE,
)
_THAN: Final = re.compile(r"^(?:is|are) (?P<a>[^?]+?) (?:really )?(?:better|worse|\w+ier) than (?P<b>[^?]+)", re.I)
_NOUN: Final = r"(?:an?|the|our|more|new) [\w' -]{2,32}?"
_NOUNS: Final = re.compile(rf"\b({_NOUN})(?:, ({_NOUN}))?,? or ({_NOUN})(?=[.,;:?!]|$| (?:in|for|on|at|with)\b)", re.I)
_ARTICLES: Final = ("a", "an", "the", "our", "some", "more", "fewer", "less")
UNCHANGED: Final = "leaving things alone"
"""The alternative to a proposal that names none."""


def _clean(phrase: str, most: int = 5) -> str:
    """A short, plain noun phrase, or "" where it is not one."""
    words = phrase.strip(" ?!.,;:\"'“”").split()
    while words and words[0].lower() in ("or", "and", "to", "is", "are", "either", "rather", "for", "of"):
        words = words[1:]
    if not 1 <= len(words) <= most or not all(_WORD.match(w) for w in words):
        return ""
    if {words[0].lower(), words[-1].lower()} & word_list("not_options"):
        return ""
    if words[0].lower() in (*_ARTICLES, "my", "your", "this"):
        words[0] = words[0].lower()
    return " ".join({"my": "our", "your": "our", "me": "us", "i": "we"}.get(w.lower(), w) for w in words)


def _acting(rest: str) -> str:
    """A verb phrase as a noun phrase: "build a playground" to "building a playground"."""
    verb, _, remainder = rest.strip(" ?!.,").partition(" ")
    if not re.fullmatch(r"[A-Za-z]{2,}", verb) or verb.lower() in word_list("not_options") - {"be", "do", "have"}:
        return ""
    cleaned = _clean(remainder, 7) if remainder else ""
    return f"{gerund(verb.lower())} {cleaned}".strip() if cleaned or not remainder else ""


def named_options(text: str) -> tuple[str, ...]:
    """Two to four alternatives as noun phrases, in the order in which the topic names them.

    Empty where the topic names none, or names them in words that could not be put into other sentences safely.
    """
    sentences = re.split(r"(?<=[.!?])\s+", text)
    question = next((s for s in sentences if "?" in s), sentences[0]).strip()
    should = _SHOULD.match(question)
    if should:
        first, *rest = _OR.split(should["rest"])
        label = _acting(first.rstrip(", "))
        if not rest:
            return (label, UNCHANGED) if label and "rather" not in question.lower()[:18] else ()
        return _acts(label, rest)
    than = _THAN.match(question)
    if than:
        return _checked((_clean(than["a"]), _clean(than["b"])))
    if _OR.search(question):
        first, *rest = _OR.split(question)
        first = _LEAD.sub("", first)
        if re.match(r"to \w", first):
            return _acts(_acting(first[3:]), [r.removeprefix("to ") for r in rest])
        begun = first.split(", ")
        if len(begun) > 1 and len(begun[0].split()) > 4:
            begun = begun[1:]
        found = _checked(tuple(_clean(part) for part in (*begun, *rest)))
        if found:
            return found
    nouns = _NOUNS.search(text)
    return _checked(tuple(_clean(n) for n in nouns.groups() if n)) if nouns else ()


def _checked(options: tuple[str, ...]) -> tuple[str, ...]:
    """The alternatives if all can be used; a capital that only the sentence's beginning gave goes."""
    if not 2 <= len(options) <= 4 or not all(options) or len({o.casefold() for o in options}) < len(options):
        return ()
    if options[0][0].isupper() and all(o[0].islower() for o in options[1:]):
        options = (options[0][0].lower() + options[0][1:], *options[1:])
    return options


def _acts(label: str, rest: list[str]) -> tuple[str, ...]:
    """The first alternative is a gerund phrase; the others are verb phrases too, or nouns that share its verb."""
    if not label:
        return ()
    verb, _, thing = label.partition(" ")
    options = [label]
    for part in rest:
        first = part.strip(" ?!.,").partition(" ")[0].lower()
        shares = bool(thing) and (first in _ARTICLES or first not in word_list("verbs"))
        noun = _clean(part) if shares else ""
        options.append(f"{verb} {noun}" if noun else "" if shares else _acting(part))
    return _checked(tuple(options))
