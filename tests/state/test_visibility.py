"""Who hears what."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.visibility import heard_by, is_heard, is_public, last_heard

NAMES = ["Eva", "Bo", "Cleo", "Eva Nová"]
names = st.sampled_from(NAMES)
utterance = st.builds(
    lambda speaker, hearers, silent: {"speaker": speaker} | ({} if silent else {"heard_by": hearers}),
    names,
    st.none() | st.lists(names, max_size=3),
    st.booleans(),
)
said = st.lists(utterance, max_size=12)


@given(utterance)
def test_a_whisper_reaches_its_hearers_its_speaker_and_nobody_else(one: dict[str, Any]):
    hearers = {name for name in NAMES if is_heard(one, name)}
    if is_public(one):
        assert hearers == set(NAMES)
        assert is_heard(one, "")
    else:
        assert hearers == {*one["heard_by"], one["speaker"]}
        assert not is_heard(one, ""), "onlookers hear no whisper"


def test_part_of_a_name_hears_nothing():
    assert not is_heard({"speaker": "Bo", "heard_by": ["Eva Nová"]}, "Eva")
    assert not is_heard({"speaker": "Bo", "heard_by": ["Eva"]}, "Eva Nová")


@given(said, names | st.just(""), st.integers(0, 15))
def test_the_last_are_the_end_of_all(utterances: list[dict[str, Any]], name: str, count: int):
    everything = heard_by(utterances, name)
    assert all(is_heard(one, name) for one in everything)
    assert len(everything) == sum(is_heard(one, name) for one in utterances)
    assert last_heard(reversed(utterances), name, count) == (everything[-count:] if count else [])
