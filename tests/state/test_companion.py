"""The one word for an emotional state."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.companion import HOSTILE, LABELS, Cause, Label, Talk, Tie, label_of
from persimchat.state.companion.clock import ago, for_clients, in_words, moved, time_in
from persimchat.state.companion.leaving import MOST_WORDS, is_goodbye
from persimchat.state.companion.sentences import LONGEST, SHORTEST, SentenceCutter
from persimchat.state.companion.trust import MOST_IN_A_TALK, appraised, bounds, start_of, walks_off, words_at
from persimchat.state.errors import InputError
from persimchat.state.minds.emotion import EMOTIONS

LEVELS = st.dictionaries(st.sampled_from(EMOTIONS), st.integers(0, 10))


@pytest.mark.parametrize(
    ("emotion", "before", "expected"),
    [
        ({}, "happy", "neutral"),
        ({"happiness": 3}, "happy", "neutral"),
        ({"happiness": 4}, "neutral", "happy"),
        ({"anger": 6, "sadness": 5}, "sad", "angry"),
        ({"anger": 6, "sadness": 6}, "angry", "angry"),
        ({"anger": 6, "sadness": 6}, "happy", "sad"),
        ({"fear": 9}, "sad", "fear"),
        ({"disgust": 4}, "fear", "disgust"),
        ({"surprise": 5, "disgust": 5}, "surprised", "surprised"),
    ],
)
def test_the_strongest_counts_and_ties_keep_the_last(
    emotion: Mapping[str, int], before: Label, expected: Label
) -> None:
    assert label_of(emotion, before, 3) == expected


@given(LEVELS, st.sampled_from(LABELS), st.integers(0, 10))
def test_it_is_neutral_exactly_at_or_below_the_floor(emotion: dict[str, int], before: Label, floor: int) -> None:
    assert (label_of(emotion, before, floor) == "neutral") == (max([0, *emotion.values()]) <= floor)


@given(LEVELS, st.sampled_from(LABELS), st.integers(0, 10))
def test_the_same_state_keeps_its_word(emotion: dict[str, int], before: Label, floor: int) -> None:
    once = label_of(emotion, before, floor)
    assert label_of(emotion, once, floor) == once


# Trust: one step up at most, at most three in a talk, and lower after hostility until the talk ends


CAUSES: tuple[Cause, ...] = get_args(Cause)
TRUST = st.integers(0, 10)
JUDGEMENTS = st.lists(st.tuples(st.sampled_from(CAUSES), st.integers(-9, 9)), max_size=20)
HOSTILITY = st.sampled_from(sorted(HOSTILE))


def tie(trust: int) -> Tie:
    talk = Talk(id="t", number=1, begun="2025-03-03T11:40:00", last="2025-03-03T11:40:00", trust=trust)
    return Tie(person="p", name="Petr", trust=trust, talk=talk)


def course(trust: int, judgements: list[tuple[Cause, int]]) -> list[Tie]:
    """The ties before and after each judgement of one talk."""
    found = [tie(trust)]
    for cause, change in judgements:
        found.append(appraised(found[-1], cause, change, wants_to_end=False))
    return found


def next_talk(before: Tie) -> Tie:
    """The tie when the next talk begins."""
    return before.model_copy(update={"talk": tie(before.trust).talk})


@given(TRUST, JUDGEMENTS)
def test_trust_stays_in_bounds_and_moves_by_one_up_and_three_down_at_most(
    trust: int, judgements: list[tuple[Cause, int]]
) -> None:
    for before, after in pairwise(course(trust, judgements)):
        assert 0 <= after.trust <= 10
        assert -3 <= after.trust - before.trust <= 1


@given(TRUST, JUDGEMENTS)
def test_trust_rises_by_at_most_three_in_a_talk(trust: int, judgements: list[tuple[Cause, int]]) -> None:
    assert max(after.trust for after in course(trust, judgements)) <= trust + MOST_IN_A_TALK


@given(TRUST, JUDGEMENTS, HOSTILITY, st.integers(-9, 9), JUDGEMENTS)
def test_after_hostility_trust_stays_below_its_former_level_until_the_talk_ends(
    trust: int, judgements: list[tuple[Cause, int]], cause: Cause, change: int, later: list[tuple[Cause, int]]
) -> None:
    before = course(trust, judgements)[-1]
    after = appraised(before, cause, change, wants_to_end=False)
    for judged in later:
        assert after.trust <= max(0, before.trust - 1)
        after = appraised(after, *judged, wants_to_end=False)
    assert after.trust <= max(0, before.trust - 1)


@given(TRUST, HOSTILITY)
def test_the_next_talk_begins_without_the_bound(trust: int, cause: Cause) -> None:
    insulted = appraised(tie(trust), cause, -1, wants_to_end=False)
    kind = [("kindness", 1)] * 5
    here, there = insulted, next_talk(insulted)
    for judged in kind:
        here = appraised(here, judged[0], judged[1], wants_to_end=False)
        there = appraised(there, judged[0], judged[1], wants_to_end=False)
    assert here.trust == max(0, trust - 1)
    assert there.trust == min(10, insulted.trust + MOST_IN_A_TALK)


@given(TRUST, JUDGEMENTS)
def test_a_change_of_0_without_hostility_changes_nothing(trust: int, judgements: list[tuple[Cause, int]]) -> None:
    before = course(trust, judgements)[-1]
    assert appraised(before, "none", 0, wants_to_end=False).trust == before.trust


@given(TRUST, st.sampled_from(CAUSES), st.integers(-3, 1), st.booleans())
def test_the_wish_to_end_stays_until_the_talk_is_over(trust: int, cause: Cause, change: int, wants: bool) -> None:
    first = appraised(tie(trust), cause, change, wants)
    second = appraised(first, "none", 0, wants_to_end=False)
    assert first.talk is not None and second.talk is not None
    assert first.talk.closing == second.talk.closing == wants


@given(TRUST, st.sampled_from(CAUSES), st.integers(-3, 1))
def test_it_walks_off_only_after_hostile_words_without_trust(trust: int, cause: Cause, change: int) -> None:
    after = appraised(tie(trust), cause, change, wants_to_end=False)
    assert walks_off(after) == (cause in HOSTILE and after.trust <= 1)
    assert not walks_off(appraised(after, "none", 0, wants_to_end=False))


def test_without_an_open_talk_nothing_changes() -> None:
    before = tie(5).model_copy(update={"talk": None})
    assert appraised(before, "insult", -3, wants_to_end=True) == before
    assert not walks_off(before)


def test_starts_and_bounds() -> None:
    assert [start_of(kind) for kind in ("acquaintance", "friend", "siblings", "rival", "enemy")] == [5, 7, 7, 3, 1]
    manners = [bounds(trust).manner for trust in range(11)]
    expected = ["curt"] * 2 + ["guarded"] * 2 + ["polite"] * 3 + ["warm"] * 2 + ["open"] * 2
    assert manners == expected
    assert [bounds(trust).begins for trust in (1, 3, 4, 6, 7, 10)] == ["never"] * 2 + ["reason"] * 2 + ["freely"] * 2


@given(TRUST, TRUST, st.integers(1, 1000))
def test_less_trust_never_means_more_words(one: int, other: int, words: int) -> None:
    less, more = sorted((one, other))
    assert 1 <= words_at(less, words) <= words_at(more, words) <= words
    assert words_at(0, words) <= 10


# Goodbyes in five languages, and messages that only look like one


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


@pytest.mark.proof
@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert is_goodbye(text) in (True, False)


# The sentence cutter: where it cuts, and that parts of any size give the same sentences


TEXTS = st.text(st.sampled_from("abcA.!?…。！\"“”«»' ,，\n1I")) | st.text()


def cut(text: str, size: int = 1) -> list[str]:
    cutter = SentenceCutter()
    found = [piece for at in range(0, len(text), size) for piece in cutter.add(text[at : at + size])]
    rest = cutter.rest()
    return [*found, rest] if rest else found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  \n ", []),
        ("The stove is lit. Sit down there.", ["The stove is lit.", "Sit down there."]),
        ("Late? It's early for a Monday. Sit by the stove.", ["Late? It's early for a Monday.", "Sit by the stove."]),
        ("The noon boat is late! Is it now? It is…", ["The noon boat is late!", "Is it now? It is…"]),
        ("Mr. Wrona sells the tea. He is chatty.", ["Mr. Wrona sells the tea.", "He is chatty."]),
        ("I know J. R. Brandvik well. She is dry.", ["I know J. R. Brandvik well.", "She is dry."]),
        ("You like it, and so do I. The tea is hot.", ["You like it, and so do I.", "The tea is hot."]),
        ("It costs 3.50 crowns here. Not 4. 5 is wrong.", ["It costs 3.50 crowns here.", "Not 4. 5 is wrong."]),
        ("The boat leaves at 11:50. Be there early.", ["The boat leaves at 11:50.", "Be there early."]),
        ("It came on the 3. March of last year.", ["It came on the 3. March of last year."]),
        ('She said "It is. Go home." and went. So did I.', ['She said "It is. Go home." and went.', "So did I."]),
        ("„Es ist spät. Geh heim.“ Das sagte sie mir.", ["„Es ist spät. Geh heim.“", "Das sagte sie mir."]),
        ("Nothing to see here\nAnother line of words", ["Nothing to see here", "Another line of words"]),
        ("Well… perhaps it comes later. Who knows it?", ["Well… perhaps it comes later.", "Who knows it?"]),
        (
            "船は遅れています、今日は寒い。座ってください、暖かいですよ。",
            ["船は遅れています、今日は寒い。", "座ってください、暖かいですよ。"],
        ),
        ("Is it the boat (or the horn)? It is the horn.", ["Is it the boat (or the horn)?", "It is the horn."]),
    ],
)  # fmt: skip
def test_where_it_cuts(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


def test_a_sentence_is_given_with_the_first_letter_of_the_next() -> None:
    cutter = SentenceCutter()
    assert cutter.add("The stove is lit. ") == []
    assert cutter.add("S") == ["The stove is lit."]
    assert cutter.rest() == "S"
    assert cutter.rest() == ""


def test_a_long_sentence_ends_at_a_comma() -> None:
    text = "the boat comes, " * 20
    pieces = cut(text)
    assert len(pieces) > 1
    assert all(piece.endswith(",") and len(piece) <= LONGEST for piece in pieces)


def test_a_quotation_without_end_does_not_hold_everything_together() -> None:
    assert len(cut('"' + "The boat is late today. " * 40)) > 4


def test_a_long_text_takes_little_time() -> None:
    assert cut("a" * 100_000) == ["a" * 100_000]


@given(TEXTS, st.integers(1, 7))
def test_the_sentences_do_not_depend_on_how_the_text_is_divided(text: str, size: int) -> None:
    assert cut(text, size) == cut(text, max(1, len(text)))


@given(TEXTS)
def test_nothing_is_lost_and_only_the_last_piece_is_short(text: str) -> None:
    pieces = cut(text)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(len(piece) >= SHORTEST for piece in pieces[:-1])


# The memory clock, times in words, and the formats of clients


NOON = "2025-03-03T12:00:00"
TIMES = st.datetimes(datetime(2, 1, 1), datetime(9000, 12, 31, 23, 59, 59))


def before(**span: float) -> str:
    return (datetime.fromisoformat(NOON) - timedelta(**span)).isoformat()


@pytest.mark.parametrize(
    ("last", "ticks"),
    [
        ("", 0),
        (NOON, 0),
        (before(minutes=59), 0),
        (before(hours=1), 1),
        (before(hours=49.5), 49),
        (before(hours=-5), 0),
    ],
)
def test_the_memory_clock_moves_by_full_hours_and_never_back(last: str, ticks: int) -> None:
    assert moved(7, last, NOON) == 7 + ticks


@pytest.mark.parametrize(
    ("then", "words"),
    [
        (before(seconds=59), "just now"),
        (before(hours=-1), "just now"),
        (before(seconds=60), "1 minute ago"),
        (before(minutes=12.9), "12 minutes ago"),
        (before(hours=1), "1 hour ago"),
        (before(hours=23.9), "23 hours ago"),
        (before(days=1), "1 day ago"),
        (before(days=3), "3 days ago"),
        (before(days=14), "2 weeks ago"),
        (before(days=61), "2 months ago"),
        (before(days=800), "2 years ago"),
    ],
)
def test_the_past_in_words(then: str, words: str) -> None:
    assert ago(then, NOON) == words


def test_a_time_in_words() -> None:
    assert in_words("2025-03-03T11:40:05") == ("Monday, 3 March 2025", "11:40")


@pytest.mark.parametrize(
    "text",
    [
        "March 03, 2025, 11:40:00",
        "march 3, 2025, 11:40",
        " Mar 3,2025,11:40:00 ",
        "2025-03-03T11:40:00",
        "2025-03-03 11:40",
        "2025-03-03T11:40:00.5+02:00",
        "20250303T114000",
    ],
)
def test_times_of_clients_are_read(text: str) -> None:
    assert time_in(text, where="field curr_time") == "2025-03-03T11:40:00"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "noon",
        "February 30, 2025, 11:40:00",
        "Mart 3, 2025, 11:40:00",
        "9001-01-01",
        "0001-01-01",
        "2025-03-03 25:00",
    ],
)
def test_what_is_no_time_is_refused_with_field_and_remedy(text: str) -> None:
    with pytest.raises(InputError, match="is not a time") as refused:
        time_in(text, where="field curr_time")
    assert refused.value.where == "field curr_time"
    assert "2025-03-03 11:40" in refused.value.remedy


@given(st.text())
def test_any_text_is_a_time_or_refused(text: str) -> None:
    with suppress(InputError):
        assert datetime.fromisoformat(time_in(text, where="field at"))


@given(TIMES)
def test_both_formats_read_back_equal(at: datetime) -> None:
    iso = at.replace(microsecond=0).isoformat()
    assert time_in(for_clients(iso), where="") == iso == time_in(iso, where="")


@given(TIMES, TIMES)
def test_words_never_fail(one: datetime, other: datetime) -> None:
    assert ago(one.isoformat(), other.isoformat())
    assert all(in_words(one.isoformat()))
