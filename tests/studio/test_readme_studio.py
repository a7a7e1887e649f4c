"""The script of docs/studio.md works against LangGraph's server as it is."""

from __future__ import annotations

import pytest
from documents import BLOCKS, NOT_RUN
from studio.serving import Server

pytestmark = pytest.mark.proof


def test_the_script_runs(server: Server, capsys: pytest.CaptureFixture[str]):
    (script,) = (block for block in BLOCKS if block.document == "docs/studio.md" and block.language == "python")
    assert (script.document, script.first) in NOT_RUN
    assert "http://127.0.0.1:2024" in script.text
    text = script.text.replace("http://127.0.0.1:2024", server.url)
    exec(compile(text, script.where, "exec"), {"__name__": "__main__"})
    printed = capsys.readouterr().out
    assert "What about cocoa?" in printed
    assert printed.endswith("3 messages in the fork\n")
