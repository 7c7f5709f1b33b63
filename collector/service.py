"""The collector as a whole: what starts and stops in which order."""

import asyncio
import fcntl
import gc
import ipaddress
import logging
import resource
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

import uvicorn
from fastapi import FastAPI

from .api import Api
from .errors import ConfigError
from .logs import fields
from .protocol import Protocol
from .register_file import RegisterFile
from .sender import Sender
from .settings import Settings
from .telemetry import Telemetry
from .writer import Writer

_KEEP_ALIVE_SECONDS = 75
"""Clients report every few seconds over one connection; this outlives their longest pause."""

_REQUESTS_SECONDS = 5
_log = logging.getLogger("collector")


class Service:
    """The writer, the sender and the HTTP API over one data folder."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic, tick: bool = True) -> None:
        """Opens the data folder. Raises ConfigError if it cannot be used."""
        self.settings = settings
        self.telemetry = Telemetry()
        self._lock = _lock(settings.data_dir)
        try:
            self.writer = Writer(settings, self.telemetry, clock, tick)
        except BaseException:
            self._lock.close()
            raise
        self._register = RegisterFile(settings.register, self.telemetry, clock)
        self.writer.after_commit.append(self._sync_register)
        self.writer.at_stop = lambda: self._register.sync(self.writer.connection, at_once=True)
        self._sender = Sender(self.writer, settings, self.telemetry) if settings.otlp_endpoint else None
        self.telemetry.set_now(exporter_ok=1)
        self.app = Api(settings, self.writer, self.telemetry).app(self._lifespan)

    def start(self) -> None:
        self.writer.start()
        self.writer.inbox.call(self._sync_register).result()
        if self._sender is not None:
            self._sender.start()

    def stop(self) -> None:
        """Stores what was accepted, sends what waits for a bounded time, and closes the data folder."""
        if self._sender is not None:
            self._sender.stop(self.settings.stop_seconds)
        self.writer.stop()
        self._lock.close()

    def _sync_register(self) -> None:
        self._register.sync(self.writer.connection)

    @asynccontextmanager
    async def _lifespan(self, app: FastAPI) -> AsyncIterator[None]:
        await asyncio.to_thread(self.start)
        yield
        await asyncio.to_thread(self.stop)


def serve(settings: Settings) -> int:
    """Runs the collector until SIGTERM or SIGINT; returns the exit code. Raises ConfigError."""
    _allow_many_connections()
    _collect_garbage_seldom()
    listener = _listen(settings.host, settings.port)
    service = Service(settings)
    server = uvicorn.Server(
        uvicorn.Config(
            service.app,
            http=Protocol,  # on h11, which bounds the size of headers, which the faster httptools does not
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            lifespan="on",
            limit_concurrency=settings.max_connections,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=_REQUESTS_SECONDS,
        )
    )
    died = False

    def stop_at_once() -> None:
        nonlocal died
        died = server.should_exit = True

    def stop(*_: object) -> None:
        server.should_exit = True

    service.writer.on_death = stop_at_once
    for number in (signal.SIGTERM, signal.SIGINT):
        # For a signal that comes before uvicorn listens for it, and because uvicorn raises it again at the end.
        signal.signal(number, stop)
    host, port = listener.getsockname()[:2]
    _say_hello(settings, host, port)
    server.run(sockets=[listener])
    if died or not server.started:
        return 1
    _log.info("the collector has stopped")
    return 0


def _say_hello(settings: Settings, host: str, port: int) -> None:
    _log.info("the collector listens", extra=fields(host=host, port=port, data_dir=settings.data_dir))
    if not settings.token and not _is_loopback(host):
        _log.warning("anyone who reaches this address can report and register targets; set RL_INSIGHT_TOKEN")
    if not settings.otlp_endpoint:
        _log.info("no OTLP endpoint is configured; spans are not kept")


def _is_loopback(host: str) -> bool:
    return ipaddress.ip_address(host.partition("%")[0]).is_loopback


def _listen(host: str, port: int) -> socket.socket:
    try:
        [family, kind, protocol, _, address] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if address[0] == "::":
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)  # IPv4 too
        listener.bind(address)
    except OSError as error:
        raise ConfigError(f"Cannot listen on {host} port {port}: {error.strerror}; choose another --port.") from None
    listener.set_inheritable(True)
    return listener


def _lock(folder: Path) -> IO[str]:
    """Holds the data folder for this process alone."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = (folder / "collector.lock").open("w")
    except OSError as error:
        raise ConfigError(f"The folder {folder} cannot be used: {error.strerror}; choose another data_dir.") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        held = f"Another collector uses {folder}; stop it, or choose another data_dir."
        raise ConfigError(
            held if isinstance(error, BlockingIOError) else f"The folder {folder} cannot be locked: {error.strerror}."
        ) from None
    return lock


def _collect_garbage_seldom() -> None:
    # Decoding a report makes thousands of objects, none of them in cycles, and each full pass of the
    # collector of cycles would walk all series: at the default thresholds that is a third of the work.
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


def _allow_many_connections() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and (hard == resource.RLIM_INFINITY or soft < hard):
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (min(hard, 65_536) if hard != resource.RLIM_INFINITY else 65_536, hard)
        )
