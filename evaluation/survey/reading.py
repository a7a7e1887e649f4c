"""Reads what raters answered; whatever is wrong is refused with its line, and then nothing is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Final

from persimchat.evaluation.csv_rows import read_rows
from persimchat.evaluation.survey.key import Key
from persimchat.evaluation.survey.making import ITEMS
from persimchat.evaluation.survey.scale import scale
from persimchat.state.errors import InputError
from persimchat.state.normalise import is_visible
from persimchat.state.plain_text import quoted

_NEEDED, _OPTIONAL = ("rater", "item", "rating"), ("comment",)
_SHOWN: Final = 60


@dataclass(frozen=True)
class Rating:
    """A rater's rating of an item."""

    rater: str
    item: str
    rating: int


@dataclass(frozen=True)
class Comment:
    """What a rater wrote: on an item, or as the answer to an open question."""

    rater: str
    item: str
    text: str


@dataclass(frozen=True)
class Answers:
    """What raters answered.

    Attributes:
        raters: their pseudonyms, in order of appearance.
        ratings: in order of the file.
        comments: in order of the file.
    """

    raters: Sequence[str]
    ratings: Sequence[Rating]
    comments: Sequence[Comment]


def check_items(folder: Path, key: Key) -> None:
    """Refuse a key that does not belong to the excerpts beside it; without excerpts there is nothing to compare.

    Raises:
        InputError: it does not, or the excerpts cannot be read.
    """
    path = folder / ITEMS
    if not path.exists():
        return
    rows = read_rows(path, ["item"], what="excerpts", remedy="Take the file from a backup.")
    if [row["item"] for _, row in rows] != [item.item for item in key.items]:
        raise InputError(
            f"the key is of another survey than {ITEMS}",
            where=str(folder),
            remedy="Put the key of this survey there, or give the folder of the survey that was answered.",
        )


def read_answers(path: Path, key: Key) -> Answers:
    """The answers in a table with the columns rater, item, rating and, if there are any, comment.

    An empty rating is one that a rater did not give. Open questions have answers in `comment` alone.

    Raises:
        InputError: the file cannot be read; or a line has no rater, one that seems to be a real name, an unknown item,
            one that this rater has rated before, or a rating that is not on the scale.
    """
    remedy = "Write one line for each rater and item: rater,item,rating,comment"
    rows = read_rows(path, _NEEDED, what="answers", remedy=remedy, optional=_OPTIONAL)
    items, questions = {item.item for item in key.items}, {question.id for question in scale().open}
    if rows and not any(row["item"] in items for _, row in rows):
        raise InputError(
            "these are answers to another survey: none of their items is in it",
            where=str(path),
            remedy="Give the folder of the survey that was answered.",
        )
    raters: dict[str, None] = {}
    ratings: list[Rating] = []
    comments: list[Comment] = []
    answered: dict[tuple[str, str], str] = {}
    for where, row in rows:
        rater, item = row["rater"], row["item"]
        _check_rater(rater, where)
        if item not in items | questions:
            raise InputError(
                f"there is no item {quoted(item, _SHOWN)} in this survey", where=where, remedy=f"See {ITEMS}."
            )
        if (rater, item) in answered:
            raise InputError(
                f"rater {quoted(rater, _SHOWN)} has answered item {item} before",
                where=where,
                remedy=f"Keep one of the two lines; the other is {answered[rater, item].rpartition(', ')[2]}.",
            )
        answered[rater, item] = where
        raters[rater] = None
        if row["rating"]:
            if item in questions:
                raise InputError(
                    f"{item} is an open question, which has no rating",
                    where=where,
                    remedy="Put the answer into the column comment.",
                )
            ratings.append(Rating(rater, item, _rating(row["rating"], where)))
        if is_visible(row.get("comment", "")):
            comments.append(Comment(rater, item, row["comment"]))
    if not ratings:
        raise InputError("there is no rating in it", where=str(path), remedy=remedy)
    return Answers(list(raters), ratings, comments)


def _check_rater(rater: str, where: str) -> None:
    if not is_visible(rater) or len(rater) > _SHOWN:
        what = "there is no rater" if not is_visible(rater) else f"the rater has more than {_SHOWN} characters"
        raise InputError(what, where=where, remedy="Give each rater a pseudonym, for example R01.")
    what = "an e-mail address" if "@" in rater else "a real name" if seems_a_name(rater) else ""
    if what:
        # The name itself is not repeated: errors are copied into reports.
        raise InputError(
            f"the rater looks like {what}",
            where=where,
            remedy="Give raters pseudonyms, for example R01; keep who is who elsewhere, or nowhere.",
        )


def seems_a_name(rater: str) -> bool:
    """Whether it is words of letters alone: two long ones ("Jana Nováková", "novak.jan"), or an initial and one."""
    words = re.split(r"[\s,.]+", rater.strip(" .,"))
    if len(words) < 2 or not all(re.sub("['’-]", "", word).isalpha() for word in words):
        return False
    return sum(len(word) > 1 for word in words) > 1 or "." in rater


def _rating(text: str, where: str) -> int:
    """A rating; "7.0" is 7, as some programs write it.

    Raises:
        InputError: it is no whole number of the scale.
    """
    asked = scale()
    try:
        value = Decimal(text.replace(",", "."))
        if asked.least <= value <= asked.most and value == int(value):
            return int(value)
    except InvalidOperation:  # no number; or one that cannot be compared
        pass
    raise InputError(
        f"{quoted(text, _SHOWN)} is no rating",
        where=where,
        remedy=f"Give a whole number from {asked.least} to {asked.most}, or leave it empty.",
    )
