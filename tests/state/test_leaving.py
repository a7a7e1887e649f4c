"""Goodbyes in five languages, and messages that only look like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.leaving import MOST_WORDS, is_goodbye


@pytest.mark.parametrize(
    "text",
    [
        "Goodbye!",
        "Good-bye, Oda.",
        "bye",
        "ok bye",
        "Thanks for the tea and the stories, bye!",
        "Thank you. I have to go now.",
        "I’ve got to go, the boat is here.",
        "I'm off.",
        "See you tomorrow at the ferry stage!",
        "We'll see you soon",
        "I just wanted to say goodbye.",
        "Are you cold? Never mind. Good night!",
        "Take care, Oda",
        "Sbohem.",
        "Tak ahoj!",
        "Už musím jít. Na shledanou!",
        "Díky za čaj, nashledanou",
        "Dobrou noc, Odo",
        "Mějte se hezky!",
        "Uvidíme se zítra.",
        "Auf Wiedersehen!",
        "Tschüß, bis morgen",
        "Danke, mach's gut!",
        "Ich muss jetzt los.",
        "¡Adiós!",
        "Bueno, hasta mañana.",
        "Tengo que irme ya",
        "Au revoir, madame.",
        "Merci beaucoup, à bientôt !",
        "Il faut que j'y aille",
    ],
)
def test_a_goodbye_is_known(text: str) -> None:
    assert is_goodbye(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Hello!",
        "Ahoj!",
        "Salut !",
        "Goodbye! Or is there another boat?",
        "How do you say goodbye in Czech?",
        "Goodbye is a sad word.",
        "She left and never said goodbye.",
        "Tell Tomasz goodbye from me.",
        "I have to go to the dentist tomorrow.",
        "I see you have a stove.",
        "It is nice to see you.",
        "You have a good boat.",
        "Do I have to go now?",
        "Take care of the stove.",
        "So long ago nobody remembers it.",
        "Zatím nic.",
        "Tak zatím nic nového.",
        "Me voy a comprar pan.",
        "Papa.",
        "It is later.",
        "You should go.",
        "You have to go now.",
        "Not yet. See you where?",
        "My sister is called Mira.",
        "word " * MOST_WORDS + "goodbye",
    ],
)
def test_what_is_no_goodbye_is_none(text: str) -> None:
    assert not is_goodbye(text)


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert is_goodbye(text) in (True, False)
