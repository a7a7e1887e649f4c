"""Which hosts are this machine, and which get the user's own key."""

from __future__ import annotations

import ipaddress
import os
from typing import Final
from urllib.parse import urlsplit

KEY_HOSTS: Final = "PERSIMCHAT_KEY_HOSTS"
"""Environment variable: the hosts beside this machine that get the key in PERSIMCHAT_API_KEY."""


def is_this_machine(url: str | None) -> bool:
    """Whether an address is a loopback one."""
    host = (urlsplit(url).hostname if url else None) or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def may_have_own_key(url: str | None) -> bool:
    """Whether a server gets the key in PERSIMCHAT_API_KEY: one of this machine, or a host in PERSIMCHAT_KEY_HOSTS.

    That variable is a list of host names with commas between them, each with or without a port.
    """
    try:
        if is_this_machine(url):
            return True
        parts = urlsplit(url or "")
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme.lower() == "https" else 80)
    except ValueError:
        return False
    named = {entry.strip().lower() for entry in os.environ.get(KEY_HOSTS, "").split(",") if entry.strip()}
    return bool(host) and bool({host, f"{host}:{port}"} & named)
