"""Who stands where, what they feel and who moves whom, up to a turn and not beyond it."""

from __future__ import annotations
