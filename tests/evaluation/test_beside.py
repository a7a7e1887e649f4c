"""Published values beside one's own: the ones that belong there, printed in one way, with what differed."""

from __future__ import annotations

from persimchat.evaluation.published.beside import Own, in_words, nearest, what_differed
from persimchat.evaluation.published.paper import published
from persimchat.state.settings import Settings

THESIS = published("thesis")
OWN = Own(models=["m"], judges=["j"], tasks=12, messages=[10], preset=True, changed=["utterance_words 20"])


def test_the_preset_is_made_of_settings():
    given = Settings.model_validate(THESIS.preset.settings)
    assert (given.cognition, given.listeners, given.closing, given.utterance_words) == ("full", "all", "off", 42)
    assert [word for word in ("prompt_order", "strict_answers") if word not in str(THESIS.preset.differs)] == []


def test_values_are_printed_with_their_tables():
    rows = THESIS.find("BEL", "need_to_talk", "Base")
    assert in_words(rows).startswith("8.53 ± 0.94 (Table 6.3), 8.67 ± 0.88 (Table B.2, with personas converted")
    assert in_words([]) == ""
    longest, shortest, other = nearest(rows, [20]), nearest(rows, [10]), nearest(rows, [7])
    assert longest and shortest and other
    assert (longest.table, shortest.table, other.table) == ("B.3", "6.3", "6.3")
    assert nearest([], [10]) is None


def test_pairs_are_found_in_both_directions():
    base, nopr = ("need_to_talk", "Base"), ("need_to_talk", "NoPR")
    assert in_words(THESIS.find_pair(base, nopr)) == "43 / 20 / 37 % (Table 6.8)"
    assert in_words(THESIS.find_pair(nopr, base)) == "37 / 20 / 43 % (Table 6.8)"
    found = THESIS.find_pair(("group_chat", None), ("single_agent", "anything"))
    assert [(row.win, row.loss) for row in found] == [(51.11, 40.0)]
    assert THESIS.find_pair(base, ("need_to_talk", "mine")) == []


def test_one_sentence_says_what_differed():
    rows = THESIS.find("BEL", "need_to_talk", "Base")[:1]
    told = what_differed(THESIS, rows, OWN)
    assert "models gpt-4o-2024-08-06, here m; judge gpt-4-turbo-2024-04-09, here j" in told
    assert "30 tasks of 10 messages, here 12 of 10 messages; settings that the file changed: utterance_words 20" in told
    assert "prompt_order" in told and "\n" not in told
    assert what_differed(THESIS, [], OWN) == ""
