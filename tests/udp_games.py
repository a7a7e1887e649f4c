"""A game's end of the UDP protocol: asks, and waits for answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

PATIENCE_S = 60


class UdpGame(asyncio.DatagramProtocol):
    """A socket on loopback that is connected with a server."""

    def __init__(self) -> None:
        self.answers: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.sizes: list[int] = []
        self._transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def datagram_received(self, datagram: bytes, _: Any) -> None:
        self.sizes.append(len(datagram))
        self.answers.put_nowait(json.loads(datagram))

    def send(self, datagram: bytes) -> None:
        self._transport.sendto(datagram)

    def tell(self, kind: str, data: Any, **more: Any) -> None:
        self.send(json.dumps({"type": kind, "data": data, **more}).encode())

    async def hear(self, within_s: float = PATIENCE_S) -> dict[str, Any]:
        return await asyncio.wait_for(self.answers.get(), within_s)

    async def ask(self, kind: str, data: Any, **more: Any) -> dict[str, Any]:
        self.tell(kind, data, **more)
        return await self.hear()


@asynccontextmanager
async def a_game(address: tuple[str, int]) -> AsyncIterator[UdpGame]:
    """A game that talks with the server at this address."""
    loop = asyncio.get_running_loop()
    transport, game = await loop.create_datagram_endpoint(UdpGame, remote_addr=address)
    try:
        yield game
    finally:
        transport.close()
