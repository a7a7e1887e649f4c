"""One mind on the page at a turn, and how it is read: its record, its tree of insights, its last plan."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nicegui import ui
from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction
from run_folders import (
    EMOTIONS,
    HOSTILE,
    MARKER,
    PEOPLE,
    manifest,
    mind,
    put,
    recalled,
    utterance,
    write_events,
    write_run,
    write_steered,
)
from web.conftest import begin

from persimchat.app.web.context import Viewing, WebContext
from persimchat.app.web.panel.mind import mind_part, parts_of
from persimchat.app.web.panel.mind_reading import DEPTH, MindFile, Node, Tree, felt, look
from persimchat.runs.events import RecalledMemory
from persimchat.runs.folder.parts import MindRecord
from persimchat.runs.log import Log
from persimchat.state.errors import InputError

EVA, BO, LI = PEOPLE
SHOWN: dict[str, Any] = {
    "percept": {"theme": "Tea came up", "keywords": ["kettle", "leaf"], "importance": 8},
    "focal_points": ["What do I know of kettles?"],
    "need_reasoning": "I must say something.",
    "openness": 3,
    "openness_reasoning": "Not yet.",
    "did": "reflect",
    "action": "plan",
    "plan": {"theme": "Praise the kettle", "identity": "I am a kettle man.", "react": False, "reaction": "I wait."},
}


def write(out: Path, **about: Any) -> Path:
    minds = [mind(turn, name, need_reasoning=f"{name} at {turn}") for turn in range(4) for name in PEOPLE]
    insight = {"id": "i1", "kind": "reflection", "turn": 1, "theme": "Kettles matter", "evidence": ["m1"]}
    feelings = {"happiness": 4, "anger": 0}
    minds.append(mind(2, BO, recalled=[recalled("The old kettle")], insights=[insight], emotion=feelings, **SHOWN))
    minds.append(mind(3, BO, focal_points=["Later question?"], recalled=[recalled("Later memory", "m9")]))
    return write_run(out, None, minds, **about)


async def show(user: User, web: WebContext, folder: Path, agent: str, turn: int) -> Viewing:
    """Draw the part alone on a page, as the panel does."""
    viewing = Viewing(web, folder.name, await web.runs.board(folder.name), turn)
    viewing.look_at(agent)

    @ui.page("/mind")
    async def _page() -> None:
        draw = mind_part(viewing)
        await draw()
        ui.timer(0.05, draw)

    await user.open("/mind")
    return viewing


def enabled(user: User, name: str) -> bool:
    (button,) = (one for one in user.find(kind=ui.button).elements if one.props.get("aria-label") == name)
    return button.props["aria-disabled"] != "true"


def press(user: User, name: str) -> None:
    (button,) = (one for one in user.find(kind=ui.button).elements if one.props.get("aria-label") == name)
    UserInteraction(user, {button}, None).click()


@pytest.mark.proof
async def test_everything_of_a_mind(user: User, web: WebContext):
    await show(user, web, write(web.runs.out), BO, 2)
    for text in (
        *("After message 2 of 3", "Tea came up", "kettle", "Importance 8 of 10", "What do I know of kettles?"),
        *(
            "I must say something.",
            "5 of 10",
            "3 of 10",
            "Not yet.",
            f"{BO} reflected",
            f"Unless {BO} speaks, planning comes next.",
        ),
        *("Tea was praised", "Praise the kettle", "I am a kettle man.", f"Why {BO} will not react", "The old kettle"),
        *(
            "Kettles matter",
            "supported by 1 memory",
            "5 memories in long-term memory",
            "2.50",
            "short-term relevance",
        ),
    ):
        await user.should_see(text)
    await user.should_see("+3")  # happiness, from 1
    await user.should_see("−1")  # anger, from 1
    for text in ("Later question?", "Later memory", f"{EVA} at 2"):
        await user.should_not_see(text)


@pytest.mark.proof
async def test_who_was_not_asked_remembers_the_words(user: User, web: WebContext):
    minds = [mind(turn, name, listened=name == EVA) for turn in range(1, 4) for name in PEOPLE]
    folder = write_run(web.runs.out, None, minds)
    await show(user, web, folder, BO, 2)
    await user.should_see(marker="mind-not-asked")
    await show(user, web, folder, EVA, 2)
    await user.should_not_see(marker="mind-not-asked")


@pytest.mark.proof
async def test_from_turn_to_turn_and_from_mind_to_mind(user: User, web: WebContext):
    await show(user, web, write(web.runs.out), BO, 2)
    press(user, "Next message")
    await user.should_see("Later question?")
    await user.should_see("Praise the kettle")  # the plan holds
    assert not enabled(user, "Next message")
    for turn in (2, 1, 0):
        press(user, "Previous message")
        await user.should_see(f"After message {turn} of 3" if turn else "Before the first message")
    await user.should_see(f"{BO} at 0")
    await user.should_not_see("Praise the kettle")
    assert not enabled(user, "Previous message")
    (who,) = user.find(kind=ui.select).elements
    who.set_value(0)
    await user.should_see(f"{EVA} at 0")


@pytest.mark.proof
async def test_the_part_follows_the_slider(user: User, web: WebContext):
    viewing = await show(user, web, write(web.runs.out), BO, 2)
    await user.should_see("After message 2 of 3")
    await user.should_not_see("Later question?")
    viewing.go_to(1)
    await user.should_see("After message 1 of 3")
    await user.should_not_see("Praise the kettle")
    viewing.go_to(None)
    await user.should_see("Later question?")
    press(user, "Previous message")
    await user.should_see("After message 2 of 3")
    assert viewing.turn == 2  # the whole page went back


@pytest.mark.proof
async def test_the_last_speaker_is_shown_unless_somebody_was_chosen(user: User, web: WebContext):
    viewing = await show(user, web, write(web.runs.out), BO, 3)
    viewing.mind_of = None
    for turn in (1, 2, 3):
        viewing.go_to(turn)
        speaker = viewing.board.utterances[turn - 1].speaker
        await user.should_see(f"After message {turn} of 3")
        (who,) = user.find(kind=ui.select).elements
        assert who.options[who.value] == speaker
    viewing.look_at(BO, 1)
    assert (viewing.part, viewing.mind_of, viewing.turn) == ("mind", BO, 1)


@pytest.mark.proof
async def test_whispers_that_it_did_not_hear_are_not_shown(user: User, web: WebContext):
    await show(user, web, write_steered(web.runs.out), EVA, 2)
    await user.should_see(f"{EVA} perceived nothing")
    await user.should_not_see(MARKER)


@pytest.mark.proof
async def test_a_person_has_no_mind_to_look_into(user: User, web: WebContext):
    folder = write_steered(web.runs.out)
    put(folder, "mind", [mind(turn, EVA) for turn in range(7)])
    await show(user, web, folder, LI, 3)
    await user.should_see("A person takes this part.")


@pytest.mark.proof
async def test_baselines_have_no_minds(user: User, web: WebContext):
    settings = manifest()["settings"] | {"baseline": "mad", "mode": "debate"}
    await show(user, web, write_run(web.runs.out, None, [], settings=settings), EVA, 1)
    await user.should_see("It uses no minds")


@pytest.mark.proof
async def test_hostile_words_are_text(user: User, web: WebContext):
    minds = [mind(1, EVA, need_reasoning=HOSTILE, recalled=[recalled(HOSTILE)], focal_points=[HOSTILE])]
    await show(user, web, write_run(web.runs.out, [utterance(1, EVA)], minds), EVA, 1)
    await user.should_see("<img src=x onerror=alert(2)>")
    await user.should_not_see(kind=ui.html)
    await user.should_not_see("\u202e")


@pytest.mark.proof
async def test_the_judge_has_a_mind(user: User, web: WebContext):
    live = await begin(web, messages=4, mode="debate", judge="persona")
    await live.ended()
    await show(user, web, web.runs.folder(live.run), "Judge", 3)
    (who,) = user.find(kind=ui.select).elements
    assert who.value == -1
    assert list(who.options.values())[-1] == "Judge"
    await user.should_see("After message 3 of")
    await user.should_see("Heard and perceived")
    await user.should_not_see("Need to talk")


@pytest.mark.proof
async def test_the_mind_has_its_owners_name_and_the_plan_its_age(user: User, web: WebContext):
    viewing = await show(user, web, write(web.runs.out), BO, 2)
    for at, age in ((2, "Made during this message."), (3, "Made during message 2, 1 message ago.")):
        viewing.go_to(at)
        await user.should_see(age)
    viewing.go_to(0)
    await user.should_see(f"{BO} has made no plan so far.")
    texts = [one.text for one in user.find(kind=ui.label).elements]
    assert not [text for text in texts if re.search(r"\b(it|its)\b", text, re.IGNORECASE)]


PARTS = st.floats(-0.5, 3)


def write_minds(folder: Path, rows: list[dict[str, Any]]) -> MindFile:
    folder.mkdir(parents=True, exist_ok=True)
    write_events(folder, [("mind", row) for row in rows])
    return MindFile(folder)


def insight(key: str, turn: int, *evidence: str) -> dict[str, Any]:
    about = {"kind": "reflection", "theme": f"Insight {key}", "keywords": ["tea"], "importance": 5, "emotion": [0] * 6}
    return {"id": key, "turn": turn, "depth": 1, "evidence": list(evidence), **about}


def test_every_mind_is_found_as_it_was_written(tmp_path: Path):
    names = ['Eva "the\\ one"', ":x", "李雷"]
    rows = [mind(turn, name, need_reasoning=f"{name} {turn}") for turn in range(5) for name in names]
    file = write_minds(tmp_path, rows)
    assert file.agents() == names
    for row in rows:
        found = file.read(row["agent"], row["turn"])
        assert found is not None
        assert found.need_reasoning == row["need_reasoning"]
    assert file.read("Eva", 2) is None
    assert file.read(":x", 9) is None
    before = file.before(":x", 3)
    assert before is not None
    assert before.turn == 2
    assert file.before(":x", 0) is None


def test_a_log_that_grows_is_read_as_far_as_it_is_written(tmp_path: Path):
    file = write_minds(tmp_path, [mind(0, "Eva"), mind(1, "Eva")])
    assert file.read("Eva", 1) is not None
    assert file.read("Eva", 2) is None
    write_minds(tmp_path, [mind(2, "Eva")])
    assert file.read("Eva", 2) is not None


def test_a_damaged_mind_is_named(tmp_path: Path):
    file = write_minds(tmp_path, [mind(0, "Eva"), mind(1, "Eva", need_to_talk=11)])
    with pytest.raises(InputError, match=r"run.sqlite, event 2, field record.need_to_talk"):
        file.read("Eva", 1)


def test_plan_and_insights_stay_until_there_are_newer_ones(tmp_path: Path):
    rows = [
        mind(0, "Eva"),
        mind(1, "Eva", plan={"theme": "First plan", "goals": ["rest"]}),
        mind(2, "Eva", insights=[insight("i1", 1)]),
        mind(3, "Eva", need_reasoning='it says "plan": null and "insights": []'),
        mind(4, "Eva", plan={"theme": "Second plan"}, insights=[insight("i2", 3)]),
    ]
    file = write_minds(tmp_path, rows)
    seen = [look(file, "Eva", turn) for turn in range(5)]
    assert [one.plan.theme if one and one.plan else "" for one in seen] == ["", *["First plan"] * 3, "Second plan"]
    assert [one.planned for one in seen if one] == [0, 1, 1, 1, 4]
    assert [one.reflected for one in seen if one] == [0, 0, 2, 2, 4]
    assert [one.reflections for one in seen if one] == [[], [], [], [], [2]]
    assert look(file, "Eva", 5) is None
    assert look(file, "Bo", 1) is None


def themes(nodes: list[Node]) -> list[Any]:
    return [(node.memory.theme if node.memory else None, themes(node.rests_on)) for node in nodes]


def test_the_tree_goes_down_to_what_was_heard(tmp_path: Path):
    heard = {"id": "p1", "kind": "perception", "turn": 1, "theme": "Heard", "keywords": []}
    rows = [
        mind(1, "Eva", recalled=[recalled("Recalled", "m1")], short_term_memory=heard),
        mind(2, "Eva", insights=[insight("i1", 1, "p1", "m1", "lost")], short_term_memory=None),
        mind(3, "Eva", recalled=[recalled("Insight i1", "i1") | {"kind": "reflection", "turn": 1}]),
        mind(4, "Eva", insights=[insight("i2", 3, "i1"), insight("i3", 3, "i1", "i2")]),
    ]
    file = write_minds(tmp_path, rows)
    last = look(file, "Eva", 4)
    assert last is not None
    below = [("Heard", []), ("Recalled", []), (None, [])]
    assert themes(last.tree) == [
        ("Insight i2", [("Insight i1", below)]),
        ("Insight i3", [("Insight i1", []), ("Insight i2", [])]),
    ]
    assert all(node.elsewhere for node in last.tree[1].rests_on)


@given(st.lists(st.lists(st.integers(0, 14), max_size=4), min_size=1, max_size=15))
def test_any_tree_ends(evidence: list[list[int]]):
    """Whatever insights say that they rest on, also each other in a circle."""

    class Kept(MindFile):
        def read(self, agent: str, turn: int) -> MindRecord | None:
            if not 1 <= turn <= len(evidence):
                return None
            drawn = [insight(f"i{turn - 1}", turn - 1, *(f"i{n}" for n in evidence[turn - 1]))]
            row = mind(turn, agent, insights=drawn)
            row["recalled"] = [recalled(f"{n}", f"i{n}") | {"kind": "reflection", "turn": n} for n in range(15)]
            return MindRecord.model_validate(row)

        def before(self, agent: str, turn: int) -> MindRecord | None:
            return self.read(agent, turn - 1)

    file = Kept(Path("nowhere"))
    newest = file.read("Eva", len(evidence))
    assert newest is not None

    def depth(node: Node) -> int:
        return 1 + max(map(depth, node.rests_on), default=0)

    grown = Tree(file, "Eva").of(newest)
    assert all(depth(node) <= DEPTH + 1 for node in grown)


@given(*[PARTS] * 5, st.floats(0, 8))
def test_the_parts_of_a_score_fill_no_more_than_the_bar(a: float, b: float, c: float, d: float, e: float, most: float):
    parts = {"recency": a, "importance": b, "relevance": c, "emotional": d, "stm_relevance": e}
    memory = RecalledMemory.model_validate(recalled("Tea") | parts | {"score": sum(parts.values())})
    shares = parts_of(memory, most)
    assert all(share >= 0 for share in shares.values())
    assert sum(shares.values()) <= 1 + 1e-9
    known = [(parts[name], share) for name, share in shares.items() if parts[name] > 0.01]
    assert all(abs(x * other - y * share) < 1e-9 for x, share in known for y, other in known)


LEVELS = st.one_of(st.just({}), st.fixed_dictionaries(dict.fromkeys(EMOTIONS, st.integers(0, 10))))


@given(LEVELS, st.one_of(st.none(), LEVELS))
def test_changes_of_emotions_add_up(now: dict[str, int], before: dict[str, int] | None):
    earlier = None if before is None else MindRecord.model_validate(mind(0, "Eva", emotion=before))
    found = felt(MindRecord.model_validate(mind(1, "Eva", emotion=now)), earlier)
    assert [name for name, _, _ in found] == (list(EMOTIONS) if now else [])
    for name, level, change in found:
        assert level == now[name]
        assert change is None if not before else before[name] + (change or 0) == level


@pytest.mark.long
@pytest.mark.proof
def test_a_look_into_a_run_of_two_thousand_turns_reads_little(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    many = [recalled(f"Memory {n} of some length, as they are", f"m{n}") for n in range(30)]
    whole = mind(7, "Eva", recalled=many, plan={"theme": "A plan"})
    minds = write_minds(
        tmp_path, [{**whole, "turn": turn, "agent": name} for turn in range(2001) for name in ("Eva", "Bo", "Li")]
    )
    assert look(minds, "Bo", 1000) is not None
    read, rows = 0, Log.rows

    def counted(log: Log, query: str, *values: Any) -> list[tuple[Any, ...]]:
        nonlocal read
        found = rows(log, query, *values)
        read += len(found)
        return found

    monkeypatch.setattr(Log, "rows", counted)
    for turn in range(900, 1000):
        assert look(minds, "Li", turn) is not None
    assert 100 <= read <= 100 * 1000  # at most one a turn before, of her alone
