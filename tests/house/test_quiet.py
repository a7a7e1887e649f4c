"""Tests reach nothing but loopback, and nothing of a developer's own environment reaches them."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from pytest_socket import SocketConnectBlockedError


@pytest.mark.filterwarnings("ignore:A test tried to use socket")
@pytest.mark.parametrize("address", ["192.0.2.1", "2001:db8::1"])
def test_the_network_is_closed(address: str):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as client, pytest.raises(SocketConnectBlockedError):
        client.connect((address, 80))


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_loopback_is_open(name: str):
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        client.connect((name, server.getsockname()[1]))


def test_no_key_and_no_setting_is_inherited():
    inherited = [name for name in os.environ if name.startswith(("PERSIMCHAT_", "OPENAI_", "AZURE_"))]
    assert inherited == []
    assert os.environ["ANONYMIZED_TELEMETRY"] == "False"
    assert os.environ["LANGSMITH_TRACING"] == "false"


def test_shared_data_is_documented(shared: Path):
    assert (shared / "data/README.md").is_file()
