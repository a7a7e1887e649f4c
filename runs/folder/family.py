"""Runs and their branches as trees: a branch stands under the run whose past it shares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from persimchat.runs.folder.listing import ListedRun


@dataclass(frozen=True)
class Tree:
    """A run with its branches.

    Attributes:
        run: the run.
        branches: made of it, in the order of the list from which the tree grew.
    """

    run: ListedRun
    branches: Sequence[Tree]

    def __iter__(self) -> Iterator[Tree]:
        """The tree itself, then its branches with theirs."""
        yield self
        for branch in self.branches:
            yield from branch


def origins(runs: Sequence[ListedRun]) -> dict[str, ListedRun]:
    """The origin of each branch by the branch's folder; of a branch whose origin is not among the runs, nothing.

    Folders that name each other as origin, which no run does by itself, have none.
    """
    known: dict[str, ListedRun] = {}
    for run in runs:
        if run.run not in known or Path(run.folder).name == run.run:  # a copy does not replace the run itself
            known[run.run] = run
    found = {run.folder: known[run.branch_of] for run in runs if run.branch_of in known}
    return {folder: origin for folder, origin in found.items() if not _circular(folder, found)}


def _circular(folder: str, found: dict[str, ListedRun]) -> bool:
    """Whether one comes back to a folder by going from origin to origin."""
    seen: set[str] = set()
    at = folder
    while at in found and at not in seen:
        seen.add(at)
        at = found[at].folder
    return at == folder


def trees(runs: Sequence[ListedRun]) -> list[Tree]:
    """The runs as trees, in their order; a branch without its origin among them is a tree of its own."""
    above = origins(runs)
    below: dict[str, list[ListedRun]] = {}
    for run in runs:
        if run.folder in above:
            below.setdefault(above[run.folder].folder, []).append(run)

    def grown(run: ListedRun) -> Tree:
        return Tree(run, [grown(branch) for branch in below.get(run.folder, ())])

    return [grown(run) for run in runs if run.folder not in above]


def family(folder: Path, runs: Sequence[ListedRun]) -> list[ListedRun]:
    """A run with all runs that share a past with it, the first made first; only itself if there are none.

    Times are whole seconds and clocks go back, so a branch may seem as old as its origin, or older; it comes after it.

    Args:
        folder: the run's.
        runs: of the same list.
    """
    whole = next((tree for tree in trees(runs) if any(Path(one.run.folder) == folder for one in tree)), None)
    found = [] if whole is None else sorted(_made(whole, "", 0))
    known = {run.folder: run for run in runs}
    return [known[place] for _, _, _, place in found]


def _made(tree: Tree, after: str, depth: int) -> Iterator[tuple[str, int, str, str]]:
    """By what the runs of a tree are put in order: not before their origins, then by depth and id; and their folders.

    Args:
        tree: the runs.
        after: when their origin was made; empty without one.
        depth: how many origins they have one above another.
    """
    since = max(after, tree.run.started)
    yield since, depth, tree.run.run, tree.run.folder
    for branch in tree.branches:
        yield from _made(branch, since, depth + 1)
