"""Whether somebody takes leave, found without a model: English, Czech, German, Spanish and French (design, 1.4)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from persimchat.state.normalise import folded

MOST_WORDS: Final = 20
"""A message with more words takes no leave."""
_MOST_BEHIND: Final = 6
"""The most words behind a goodbye in its part of the sentence: "see you at the stage tomorrow"."""


def _phrases(*languages: str) -> list[list[str]]:
    """Phrases separated by commas, as words, the longest first."""
    found = [phrase.split() for language in languages for phrase in language.split(",")]
    return sorted(found, key=len, reverse=True)


def _words(*languages: str) -> frozenset[str]:
    """Words separated by spaces."""
    return frozenset(word for language in languages for word in language.split())


# All without diacritics and apostrophes. Words that greet as well (ahoj, salut, servus, buenas noches) are not among
# them, unless another word makes their meaning clear.
_GOODBYES: Final = _phrases(
    "goodbye, good bye, bye, byebye, see you, see ya, cya, good night, goodnight, talk to you, until next time",
    "till tomorrow, until tomorrow, till next time, catch you later, have a nice day, have a good day, ttyl",
    "have a good one, have a nice evening, have a good evening, have a great day, have a good weekend",
    "na shledanou, nashledanou, na videnou, sbohem, dobrou noc, mej se, mejte se, tak ahoj, tak cau, ahoj zitra",
    "cau zitra, zatim ahoj, zatim cau, uvidime se, hezky den, hezky vecer, hezky zbytek, loucim se",
    "auf wiedersehen, wiedersehen, auf wiederhoren, tschuss, tschau, bis bald, bis morgen, bis spater, bis dann",
    "bis zum nachsten mal, bis nachste woche, gute nacht, mach s gut, machs gut, machen sie s gut, leb wohl",
    "lebe wohl, lebewohl, schonen tag, schonen abend, schones wochenende",
    "adios, hasta luego, hasta manana, hasta pronto, hasta la vista, hasta la proxima, hasta otra, nos vemos, chao",
    "cuidate, que descanses, que te vaya bien, que tengas un buen dia",
    "au revoir, a bientot, a demain, a plus tard, a la prochaine, a tout a l heure, bonne nuit, bonne journee",
    "bonne soiree, adieu, prends soin de toi",
)
"""Begin a part of a sentence, or stand behind thanks."""
_DEPARTURES: Final = _phrases(
    "have to go, must go, got to go, gotta go, need to go, should go, have to leave, must leave, have to run, m off",
    "m leaving, am leaving, be going, better go, farewell, take care, so long, talk later, laters, ciao",
    "musim jit, musim uz jit, uz musim jit, uz musim, musim bezet, uz pujdu, pujdu uz, zatim, dobrou, pa pa, pa",
    "muss gehen, muss jetzt gehen, muss los, muss jetzt los, muss weg, gehe jetzt, muss jetzt weg",
    "tengo que irme, me tengo que ir, tengo que ir, debo irme, me voy, ya me voy, me despido",
    "dois y aller, dois partir, m en vais, faut que j y aille, faut que je parte, dois filer, a plus, tchao",
)
"""As those, with nothing behind but one of `_CLOSING`: "I have to go now", not "I have to go to the dentist"."""
_LEADING: Final = _words(
    "ok okay well so then thanks thank and but anyway alright all right oh i ll we ve d will now it is s time was",
    "just wanted want to say let me think had very much a lot really afraid sorry no yes",
    "tak a no dobre diky dekuji jo ale nic ja uz ted my",
    "also na gut dann danke und ja nun aber ich jetzt vielen dank",
    "bueno pues vale gracias y ya muchas pero yo ahora",
    "bon bien alors merci et allez ben oui je il beaucoup mais",
)
"""Words that may stand before a goodbye."""
_CLOSING: Final = _words(
    "now home then soon again already sorry bed to sleep back everybody all there friend",
    "uz ted domu spat jetzt nach hause schlafen ya ahora a casa dormir maintenant rentrer",
)
_NO_GOODBYE: Final = _words("is was means meant are were to in je znamena ist war heisst es significa est")
"""Behind a goodbye: it is only spoken of."""
_NOT_BEFORE: Final = frozenset(("i", "we", "me", "to"))
"""Before "see" and "have" of a goodbye: it is none ("I see you have a boat")."""
_THANKS: Final = frozenset(("thank", "thanks", "diky", "dekuji", "dik", "danke", "gracias", "merci"))
_PARTS: Final = re.compile(r"[.,;:!?¡¿…\n()–—\"“”„«»]+|\s-\s")


def is_goodbye(text: str) -> bool:
    """Whether a message takes leave: it is short, has words of goodbye, and no question follows them."""
    if len(text.split()) > MOST_WORDS:
        return False
    ends = [(found.start(), found.end()) for found in _PARTS.finditer(text)]
    starts = [0, *(end for _, end in ends)]
    for start, end in zip(starts, [*(begin for begin, _ in ends), len(text)], strict=True):
        words = re.sub(r"['’`]", " ", folded(text[start:end])).split()
        if _takes_leave(words) and "?" not in text[end:]:
            return True
    return False


def _takes_leave(words: Sequence[str]) -> bool:
    """Whether one part of a sentence takes leave."""
    for at in range(len(words)):
        if not (set(words[:at]) <= _LEADING or words[0] in _THANKS):
            return False
        if (behind := _behind(words, at, _GOODBYES)) is not None:
            told = words[at] in ("see", "have") and words[max(0, at - 1)] in _NOT_BEFORE
            return not told and len(behind) <= _MOST_BEHIND and not set(behind[:1]) & _NO_GOODBYE
        if (behind := _behind(words, at, _DEPARTURES)) is not None and set(behind) <= _CLOSING:
            return True
    return False


def _behind(words: Sequence[str], at: int, phrases: Sequence[Sequence[str]]) -> Sequence[str] | None:
    """The words behind a phrase that begins at this place; None if none does."""
    phrase = next((phrase for phrase in phrases if list(words[at : at + len(phrase)]) == phrase), None)
    return None if phrase is None else words[at + len(phrase) :]
