"""What utterances were worded without, in figures: by agent, by turn, by block."""

from __future__ import annotations

from typing import Any

import pytest
from pruned_lines import PIECES, pruned
from run_folders import mind

from persimchat.runs.folder.mind_record import MindRecord
from persimchat.runs.reports import pruning_figures as figures

A, B = "Inés Quiroga", "Bo Říha"


def minds(*given: tuple[int, str, dict[str, Any]]) -> list[MindRecord]:
    silent = [mind(turn, "Cleo") for turn in range(4)]
    return [MindRecord.model_validate(one) for one in [*silent, *(mind(t, n, pruned=p) for t, n, p in given)]]


def two_of_one() -> list[figures.Wording]:
    return figures.wordings(minds((3, A, pruned(3, 0.2)), (1, A, pruned(1)), (2, B, pruned(2, 1.0))))


def test_wordings_are_those_that_were_pruned_in_order_of_turns() -> None:
    assert [(one.agent, one.pruned.turn) for one in two_of_one()] == [(A, 1), (B, 2), (A, 3)]


def test_a_record_that_stands_in_a_later_line_too_counts_once() -> None:
    assert len(figures.wordings(minds((1, A, pruned(1)), (2, A, pruned(1))))) == 1


def test_means_over_an_agents_utterances() -> None:
    found = figures.lacking(two_of_one(), A)
    assert found is not None
    # λ = 0.6 takes the description (0.5) and a trait (0.1); λ = 0.2 the trait, a memory and the place.
    assert (found.utterances, found.mean_units, found.mean_removed) == (2, 5, 2.5)
    assert found.mean_share == pytest.approx((0.6 + 0.2) / 2)
    assert (found.mean_words, found.mean_words_removed) == (22, (8 + 11) / 2)


def test_what_was_left_out_most_often() -> None:
    found = figures.lacking(two_of_one(), A)
    assert found is not None
    assert [(one.kind, one.removed, one.prompts) for one in found.most_often] == [
        ("trait", 2, 2),
        ("description", 1, 2),
        ("memory", 1, 2),
    ]


def test_a_piece_whose_words_change_stays_the_same_piece() -> None:
    other = [(*PIECES[1][:3], "- Trait: hasty", *PIECES[1][4:])]
    found = figures.wordings(minds((1, A, pruned(1, 1.0)), (2, A, pruned(2, 1.0, other)), (3, B, pruned(3, 1.0))))
    often = figures.most_often(found, most=10)
    assert [(one.text, one.removed) for one in often if one.agent == A][0] == ("- Trait: hasty", 2)
    assert {one.removed for one in often if one.agent == B} == {1}


def test_nobody_is_named_who_spoke_with_everything() -> None:
    assert figures.lacking([], A) is None
    assert [one.agent for one in figures.by_agent(two_of_one(), [B, "Cleo", A])] == [B, A]


def test_by_block_in_the_order_of_the_prompt() -> None:
    found = figures.by_block(one.pruned for one in two_of_one() if one.agent == B)
    assert [(one.block, one.units, one.removed, one.words, one.words_removed) for one in found] == [
        ("basic_information", 2, 2, 8, 8),
        ("memories", 2, 2, 10, 10),
        ("environment", 1, 1, 4, 4),
    ]


@pytest.mark.parametrize(
    ("removed", "units", "words"),
    [
        (9, 52, "without 9 of 52 pieces of information"),
        (0, 5, "with all of 5 pieces of information"),
        (0, 1, "with 1 piece of information"),
        (0, 0, "with nothing that could be left out"),
    ],
)
def test_one_sentence(removed: int, units: int, words: str) -> None:
    assert figures.without(removed, units) == words


def test_the_sentence_holds_no_control_characters() -> None:
    (found,) = figures.wordings(minds((1, "Bo\x1b[2J\nRed", pruned(1))))
    assert figures.sentence(found) == "Bo Red spoke without 2 of 5 pieces of information"


def test_one_piece_that_holds_nearly_all() -> None:
    first, *others = PIECES
    heavy = pruned(1, 0.6, [(*first[:5], 9.3), *((*piece[:5], 0.175) for piece in others)])
    (found,) = figures.wordings(minds((1, A, heavy)))
    assert figures.dominance(found.pruned) == (
        "one item (description) holds 93 % of the score; split the description into traits"
    )
    assert figures.warnings([found, found]) == [f"{A}: {figures.dominance(found.pruned)}"]
    assert figures.dominance(two_of_one()[0].pruned) == ""


def test_a_heavy_memory_has_a_remedy_of_its_own() -> None:
    heavy = pruned(1, 0.6, [(*PIECES[2][:5], 8.0), (*PIECES[1][:5], 2.0)])
    (found,) = figures.wordings(minds((1, A, heavy)))
    assert figures.dominance(found.pruned) == "one item (memory) holds 80 % of the score; split it or shorten it"


def test_without_scores_there_are_no_shares() -> None:
    whole = pruned(1, 0.0, share=None)
    whole["items"] = [{**item, "score": None} for item in whole["items"]]
    (found,) = figures.wordings(minds((1, A, whole)))
    means = figures.lacking([found])
    assert means is not None
    assert means.mean_share is None
    assert figures.left_out(means).startswith("λ 0, whole blocks only: 0.0 of 5.0 pieces of information")
    assert (figures.dominance(found.pruned), {length for _, length in figures.bars(found.pruned)}) == ("", {0.0})


def test_bars_are_relative_to_the_greatest_score() -> None:
    assert [length for _, length in figures.bars(two_of_one()[0].pruned)] == pytest.approx([1, 0.2, 0.6, 0.1, 0.1])


def test_checks_of_what_was_said() -> None:
    checks = [{"scores": [7, 8, 6], "taken": False}, {"scores": [2, 3, 2], "comment": "None.", "taken": True}]
    spoken = figures.wordings(minds((1, A, pruned(1, checks=checks)), (2, A, pruned(2))))
    assert [figures.contradiction(one.pruned) for one in spoken] == [pytest.approx(7 / 3), None]
    means = figures.lacking(spoken, A)
    assert means is not None
    assert means.mean_contradiction == pytest.approx(7 / 3)
    unusable = [{"scores": [], "taken": True}]
    (found,) = figures.wordings(minds((1, A, pruned(1, checks=unusable))))
    assert figures.contradiction(found.pruned) is None
