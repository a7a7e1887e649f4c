"""Checks with one tiny request whether a model works, for `persimchat doctor`."""

from __future__ import annotations

import time

from persimchat.models import ladder
from persimchat.models.asking import judgement
from persimchat.models.exchange import Exchange
from persimchat.models.ladder import Rung
from persimchat.models.naming import parse_model_name
from persimchat.models.registry import ready_model
from persimchat.models.schemas import prompt_schema
from persimchat.prompts import render
from persimchat.state.judgement import Action
from persimchat.state.settings import Settings

_FORMS = {
    Rung.JSON_SCHEMA: "answers held to a JSON schema",
    Rung.TOOL_CALL: "answers as tool calls",
    Rung.JSON_MODE: "answers in JSON mode",
    Rung.TEXT: "answers as plain text, read as JSON",
}


async def check_model(name: str, settings: Settings) -> str:
    """Ask a model one tiny question.

    Returns:
        One line: the model, the form of answers that works, the seconds it took, and the command that says more.

    Raises:
        InputError: the name, key or file is wrong.
        ModelError: the model does not answer, or not usefully.
    """
    parsed = parse_model_name(name)
    if parsed.provider == "offline":
        await ready_model(name, settings)
        return f"{parsed.written}: built in, needs no server and no key"
    exchange = Exchange(settings, "", "", 0, parsed)
    started = time.perf_counter()
    await judgement(exchange, render("json_answer", schema=prompt_schema(Action)), Action)
    seconds = time.perf_counter() - started
    asked = "1 request" if exchange.tally.requests == 1 else f"{exchange.tally.requests} requests"
    form = _FORMS[ladder.rung(parsed)]
    return f"{parsed.written}: {form}, {asked} in {seconds:.1f} s; is it good enough? persimchat models try MODEL"
