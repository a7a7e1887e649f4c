"""The figures of focus groups: questions of a guide, who spoke, and the page to print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fixtures import Refused
from group_runs import GUIDE, MODERATOR, write_group
from page_parts import Page
from pruned_lines import PIECES, heavy, pruned
from run_folders import (
    HOSTILE,
    PEOPLE,
    mind,
    put,
    utterance,
    write_events,
    write_run,
)

from persimchat.reports import pruning_figures as figures
from persimchat.reports.export_rows import rows_of
from persimchat.reports.guide import positions, sections, summary_of
from persimchat.reports.report import report_html, summary_page, write_summary
from persimchat.runs.folder.parts import MindRecord
from persimchat.runs.folder.reading import read_run


def test_a_conversation_falls_into_the_questions_of_its_guide(tmp_path: Path) -> None:
    parts = sections(read_run(write_group(tmp_path)))
    assert [(part.number, part.turns) for part in parts] == [(0, [1, 1]), (1, [2, 4]), (2, [5, 8])]
    voices = {voice.name: (voice.utterances, voice.words) for voice in parts[2].voices}
    assert voices == {PEOPLE[0]: (1, 10), PEOPLE[1]: (2, 12), PEOPLE[2]: (0, 0)}
    assert parts[2].silent == [PEOPLE[2]]


def test_shared_words_are_those_of_two_and_not_of_the_question(tmp_path: Path) -> None:
    first, second = sections(read_run(write_group(tmp_path)))[1:]
    assert [theme.name for theme in first.shared_words()] == ["drill"]
    assert [theme.name for theme in second.shared_words()] == ["deposit", "strangers"]
    quotes = second.shared_words()[0].quotes
    assert [(quote.turn, quote.speaker) for quote in quotes] == [(6, PEOPLE[1]), (7, PEOPLE[0])]
    assert quotes[0].words == "The deposit."


def test_whispers_are_nobodys_answer(tmp_path: Path) -> None:
    folder = write_group(tmp_path)
    write_events(folder, [("utterance", utterance(9, PEOPLE[2], "Deposit!", heard_by=[PEOPLE[0]]))])
    assert sections(read_run(folder))[-1].silent == [PEOPLE[2]]


def test_a_question_that_only_one_heard_is_no_section(tmp_path: Path) -> None:
    folder = write_group(tmp_path)
    write_events(folder, [("utterance", utterance(9, MODERATOR, "And now?", heard_by=[PEOPLE[0]], question=3))])
    record = read_run(folder)
    assert [part.number for part in sections(record)] == [0, 1, 2]
    assert {table for table, _ in rows_of(record)} >= {"questions"}


def test_people_answered_while_they_took_part(tmp_path: Path) -> None:
    folder = write_group(tmp_path, people=[PEOPLE[0]])
    asked = {"turn": 0, "do": "answer", "what": "position", "agent": PEOPLE[0], "poll": "likely", "when": "before"}
    damaged = [{**asked, "poll": ["likely"]}, {**asked, "position": None}, {"turn": 0, "do": "answer"}]
    lines = [{**asked, "position": "4"}, {**asked, "turn": 8, "when": "after", "position": "1"}, *damaged]
    put(folder, "intervention", lines)
    (one,) = positions(read_run(folder))
    assert [(stand.before, stand.after) for stand in one.stands] == [("4", "1"), (None, None), (None, None)]


def test_a_run_without_a_guide_has_no_summary(tmp_path: Path, refused: Refused) -> None:
    record = read_run(write_run(tmp_path, [utterance(1, PEOPLE[0])]))
    assert (sections(record), positions(record)) == ([], [])
    refused(lambda: summary_of(record), "guide")


def test_a_damaged_guide_is_named(tmp_path: Path, refused: Refused) -> None:
    folder = write_group(tmp_path, {**GUIDE, "questions": "none"})
    refused(lambda: summary_of(read_run(folder)), "scenario.guide")


def test_the_page_prints_alone_and_escapes_everything(tmp_path: Path, refused: Refused) -> None:
    guide = {
        **GUIDE,
        "stimulus": {"title": HOSTILE, "text": HOSTILE, "image": HOSTILE},
        "questions": [{"ask": HOSTILE}, {"ask": HOSTILE}, {"ask": HOSTILE}],
        "positions": [{"ask": HOSTILE}],
    }
    folder = write_group(tmp_path / "runs", guide)
    record = read_run(folder)
    text = summary_page(record, summary_of(record))
    page = Page(text)
    tags = {tag for tag, _ in page.elements}
    assert tags & {"script", "iframe", "object", "img", "form", "link rel=stylesheet"} == set()
    assert [name for _, attributes in page.elements for name in attributes if name.startswith("on")] == []
    assert "15129" not in text  # nothing of it is a template
    written = tmp_path / "summary.html"
    write_summary(record, summary_of(record), written)
    refused(lambda: write_summary(record, summary_of(record), written), str(written), "--force")


def test_the_page_says_what_it_shows(tmp_path: Path) -> None:
    record = read_run(write_group(tmp_path))
    page = summary_page(record, summary_of(record))
    for words in ("no evidence of what real people would say", "What would keep you from the app?", "“The deposit.”"):
        assert words in page
    assert "No model was asked for themes" in page
    assert f"Said nothing: {PEOPLE[2]}" in page
    assert MODERATOR in page


def test_the_report_has_it_too_and_others_have_not(tmp_path: Path) -> None:
    report = report_html(read_run(write_group(tmp_path / "group")))
    assert "What would keep you from the app?" in report
    assert 'href="#group"' in report
    assert 'href="#group"' not in report_html(read_run(write_run(tmp_path / "other")))


# What utterances were worded without, in figures: by agent, by turn, by block


INA, OLE = "Inés Quiroga", "Bo Říha"


def minds(*given: tuple[int, str, dict[str, Any]]) -> list[MindRecord]:
    silent = [mind(turn, "Cleo") for turn in range(4)]
    return [MindRecord.model_validate(one) for one in [*silent, *(mind(t, n, pruned=p) for t, n, p in given)]]


def two_of_one() -> list[figures.Wording]:
    return figures.wordings(
        minds(
            (3, INA, pruned(3, 0.2)),
            (1, INA, pruned(1)),
            (2, OLE, pruned(2, 1.0)),
        )
    )


def test_wordings_are_those_that_were_pruned_in_order_of_turns() -> None:
    assert [(one.agent, one.pruned.turn) for one in two_of_one()] == [
        (INA, 1),
        (OLE, 2),
        (INA, 3),
    ]


def test_a_record_that_stands_in_a_later_line_too_counts_once() -> None:
    assert len(figures.wordings(minds((1, INA, pruned(1)), (2, INA, pruned(1))))) == 1


def test_means_over_an_agents_utterances() -> None:
    found = figures.lacking(two_of_one(), INA)
    assert found is not None
    # λ = 0.6 takes the description (0.5) and a trait (0.1); λ = 0.2 the trait, a memory and the place.
    assert (found.utterances, found.mean_units, found.mean_removed) == (2, 5, 2.5)
    assert found.mean_share == pytest.approx((0.6 + 0.2) / 2)
    assert (found.mean_words, found.mean_words_removed) == (22, (8 + 11) / 2)


def test_what_was_left_out_most_often() -> None:
    found = figures.lacking(two_of_one(), INA)
    assert found is not None
    assert [(one.kind, one.removed, one.prompts) for one in found.most_often] == [
        ("trait", 2, 2),
        ("description", 1, 2),
        ("memory", 1, 2),
    ]


def test_a_piece_whose_words_change_stays_the_same_piece() -> None:
    other = [(*PIECES[1][:3], "- Trait: hasty", *PIECES[1][4:])]
    found = figures.wordings(
        minds(
            (1, INA, pruned(1, 1.0)),
            (2, INA, pruned(2, 1.0, other)),
            (3, OLE, pruned(3, 1.0)),
        )
    )
    often = figures.most_often(found, most=10)
    assert [(one.text, one.removed) for one in often if one.agent == INA][0] == ("- Trait: hasty", 2)
    assert {one.removed for one in often if one.agent == OLE} == {1}


def test_nobody_is_named_who_spoke_with_everything() -> None:
    assert figures.lacking([], INA) is None
    assert [one.agent for one in figures.by_agent(two_of_one(), [OLE, "Cleo", INA])] == [OLE, INA]


def test_by_block_in_the_order_of_the_prompt() -> None:
    found = figures.by_block(one.pruned for one in two_of_one() if one.agent == OLE)
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
    (found,) = figures.wordings(minds((1, INA, heavy(1))))
    assert figures.dominance(found.pruned) == (
        "one item (description) holds 93 % of the score; split the description into traits"
    )
    assert figures.warnings([found, found]) == [f"{INA}: {figures.dominance(found.pruned)}"]
    assert figures.dominance(two_of_one()[0].pruned) == ""


def test_a_heavy_memory_has_a_remedy_of_its_own() -> None:
    record = pruned(1, 0.6, [(*PIECES[2][:5], 8.0), (*PIECES[1][:5], 2.0)])
    (found,) = figures.wordings(minds((1, INA, record)))
    assert figures.dominance(found.pruned) == "one item (memory) holds 80 % of the score; split it or shorten it"


def test_without_scores_there_are_no_shares() -> None:
    whole = pruned(1, 0.0, share=None)
    whole["items"] = [{**item, "score": None} for item in whole["items"]]
    (found,) = figures.wordings(minds((1, INA, whole)))
    means = figures.lacking([found])
    assert means is not None
    assert means.mean_share is None
    assert figures.left_out(means).startswith("λ 0, whole blocks only: 0.0 of 5.0 pieces of information")
    assert (figures.dominance(found.pruned), {length for _, length in figures.bars(found.pruned)}) == ("", {0.0})


def test_bars_are_relative_to_the_greatest_score() -> None:
    assert [length for _, length in figures.bars(two_of_one()[0].pruned)] == pytest.approx([1, 0.2, 0.6, 0.1, 0.1])


def test_checks_of_what_was_said() -> None:
    checks = [{"scores": [7, 8, 6], "taken": False}, {"scores": [2, 3, 2], "comment": "None.", "taken": True}]
    spoken = figures.wordings(minds((1, INA, pruned(1, checks=checks)), (2, INA, pruned(2))))
    assert [figures.contradiction(one.pruned) for one in spoken] == [pytest.approx(7 / 3), None]
    means = figures.lacking(spoken, INA)
    assert means is not None
    assert means.mean_contradiction == pytest.approx(7 / 3)
    unusable = [{"scores": [], "taken": True}]
    (found,) = figures.wordings(minds((1, INA, pruned(1, checks=unusable))))
    assert figures.contradiction(found.pruned) is None
