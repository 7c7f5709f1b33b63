"""Connections that send no request, or half of one."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from collector import protocol

REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def application(scope: Any, receive: Any, send: Any) -> None:
    await asyncio.sleep(0.5)  # longer than a head may take
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


def with_connection(do: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]) -> None:
    async def run() -> None:
        config = uvicorn.Config(application, log_config=None, lifespan="off")
        config.load()
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: protocol.Protocol(config, ServerState(), {}), "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        try:
            await asyncio.wait_for(do(reader, writer), 10)
        finally:
            writer.close()
            await asyncio.sleep(0.05)
            server.close()

    asyncio.run(run())


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.2)


@pytest.mark.parametrize("sent", [b"", REQUEST[:-2]])
def test_a_connection_without_a_whole_head_is_closed(sent: bytes) -> None:
    async def do(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(sent)
        assert await reader.read() == b""

    with_connection(do)


def test_a_request_may_take_longer_and_the_next_half_head_may_not() -> None:
    async def do(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(2):
            writer.write(REQUEST)
            assert b"200" in await reader.readuntil(b"ok")
            await asyncio.sleep(0.3)
        writer.write(REQUEST[:5])
        assert await reader.read() == b""

    with_connection(do)
