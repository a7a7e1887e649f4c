"""scipy comes with an extra, and a statistic that needs it says so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from persimchat.evaluation.statistics import library
from persimchat.evaluation.statistics.intervals import mean_over_tasks
from persimchat.evaluation.statistics.verdicts import verdict
from persimchat.state.errors import MissingExtraError


@pytest.fixture
def without_scipy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    library.stats.cache_clear()
    library.distance.cache_clear()

    def missing(name: str) -> object:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name.partition(".")[0])

    monkeypatch.setattr(library, "import_module", missing)
    yield
    library.stats.cache_clear()
    library.distance.cache_clear()


@pytest.mark.usefixtures("without_scipy")
def test_a_missing_scipy_is_named_with_its_remedy():
    for call in (library.stats, library.distance, lambda: mean_over_tasks([1, 2])):
        with pytest.raises(MissingExtraError, match=r"pip install 'persimchat\[evaluation\]'"):
            call()


@pytest.mark.usefixtures("without_scipy")
def test_what_is_mere_arithmetic_needs_no_scipy():
    assert verdict([(2, 1)], [(2, 1)]).outcome == "win"
    assert mean_over_tasks([1]).value == 1


def test_another_missing_module_is_no_missing_extra(monkeypatch: pytest.MonkeyPatch):
    library.stats.cache_clear()

    def missing(name: str) -> object:
        raise ModuleNotFoundError("No module named 'numpy.core'", name="numpy.core")

    monkeypatch.setattr(library, "import_module", missing)
    with pytest.raises(ModuleNotFoundError, match="numpy"):
        library.stats()
    library.stats.cache_clear()
