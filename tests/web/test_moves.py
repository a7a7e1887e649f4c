"""Who stands where, what they feel and who moves whom, up to a turn and not beyond it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from run_folders import EMOTIONS, PEOPLE, lines, mind, utterance, write_debate, write_run

from persimchat.app.web.board import Board, kept_board
from persimchat.app.web.insights.moves import Stirring, felt, stands, stirred, turned
from persimchat.runs.folder.reading import read_manifest
