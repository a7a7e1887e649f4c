"""Shares in quotas: exact fractions, so that a third is exactly a third and sums are exact."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Final

from persimchat.state.errors import InputError
from persimchat.state.plain_text import quoted

ANY: Final = "any"
"""The value that leaves a characteristic open: the model decides it."""

_DECIMAL: Final = re.compile(r"(\d{1,9}(?:\.\d{1,12})?)\s*(%?)")
_RATIO: Final = re.compile(r"(\d{1,9})\s*/\s*0*([1-9]\d{0,8})")
_HOW: Final = "Write a part of one (0.25), a percentage (25%) or a fraction (1/4)."


def share_of(value: Any, where: str) -> Fraction:
    """A share as it is written: 0.25, 25% or 1/4.

    Args:
        value: a number or a text.
        where: the place in words, for the error.

    Raises:
        InputError: it is not a number from 0 to 1.
    """
    text = str(value).strip()
    decimal, ratio = _DECIMAL.fullmatch(text), _RATIO.fullmatch(text)
    share = Fraction(-1)
    if isinstance(value, float) or decimal:
        share = Fraction(decimal[1] if decimal else text) / (100 if decimal and decimal[2] else 1)
    elif ratio:
        share = Fraction(int(ratio[1]), int(ratio[2]))
    if isinstance(value, bool) or not 0 <= share <= 1:
        raise InputError(f"a share must be a number from 0 to 1, not {quoted(value, 40)}", where=where, remedy=_HOW)
    return share


def require_whole(shares: Iterable[Fraction], name: str, where: str, *, spare: str) -> None:
    """Refuse shares that do not sum to one.

    Args:
        shares: all shares of one division.
        name: what is divided, for the error.
        where: the place in words, for the error.
        spare: how to leave the rest open, with `{}` in place of the missing share.

    Raises:
        InputError: the sum is more or less than one; it says by how much.
    """
    total = sum(shares, Fraction())
    gap = shown(abs(total - 1))
    if total > 1:
        what, remedy = f"the shares of {name} sum to {shown(total)}, more than one", f"Take {gap} away."
        raise InputError(what, where=where, remedy=remedy)
    if total < 1:
        what = f"the shares of {name} sum to {shown(total)}, less than one"
        raise InputError(what, where=where, remedy=f"Add {gap}, or leave it open: {spare.replace('{}', gap)}.")


def shown(share: Fraction) -> str:
    """A share as a decimal number if that is exact in six digits, else as a fraction."""
    decimal = f"{float(share):.6f}".rstrip("0").rstrip(".")
    return decimal if Fraction(decimal) == share else f"{share.numerator}/{share.denominator}"
