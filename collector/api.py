"""The HTTP API."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route

from .answers import json_answer, refusal
from .body import BodyReader
from .errors import Refused
from .exposition import content_type, render
from .guard import Guard
from .logs import fields
from .overview import runs, set_gauges
from .plan import Plan
from .register import check_room, count, discovery, plan_by_hand, plan_removal, registered
from .settings import Settings
from .targets import Registration, check_job_name, parse_registration
from .telemetry import Telemetry
from .writer import Writer

_log = logging.getLogger("collector.api")
Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]
Handler = Callable[[Request], Awaitable[Response]]


class Api:
    """The calls, each a method that takes the request and returns the answer."""

    def __init__(self, settings: Settings, writer: Writer, telemetry: Telemetry) -> None:
        self._settings = settings
        self._writer = writer
        self._telemetry = telemetry
        self._bodies = BodyReader(settings.max_report_bytes, settings.max_waiting_bytes)

    def app(self, lifespan: Lifespan | None = None) -> FastAPI:
        """The application. Its calls take and give raw bodies, so there is no schema to show."""
        middleware = [Middleware(Guard, token=self._settings.token, telemetry=self._telemetry)]
        app = FastAPI(openapi_url=None, middleware=middleware, lifespan=lifespan)
        app.router.routes.extend(self._routes())
        app.add_exception_handler(Refused, self._refuse)
        app.add_exception_handler(HTTPException, _http_error)
        app.add_exception_handler(Exception, _fault)
        return app

    def _routes(self) -> list[Route]:
        targets = "/api/v1/prometheus/targets"
        calls: list[tuple[str, str, Handler]] = [
            ("GET", "/healthz", self.healthz),
            ("GET", "/metrics", self.metrics),
            ("GET", "/api/v1/services", self.services),
            ("GET", "/api/v1/runs", self.runs),
            ("POST", "/api/v1/events", self.events),
            ("POST", targets, self.add_targets),
            ("GET", targets, self.list_targets),
            ("DELETE", targets, self.remove_target),
            ("GET", "/api/v1/prometheus/sd", self.discovery),
        ]
        return [Route(path, handler, methods=[method]) for method, path, handler in calls]

    async def healthz(self, request: Request) -> Response:
        return json_answer({"status": "ok"})

    async def services(self, request: Request) -> Response:
        settings = self._settings
        ports = {
            "otlp_port": settings.otlp_port if settings.otlp_endpoint else None,
            "prometheus_port": settings.prometheus_port,
            "grafana_port": settings.grafana_port,
        }
        return json_answer({"status": "ok", **ports})

    async def events(self, request: Request) -> Response:
        with self._telemetry.handling_seconds.time():
            body = await self._bodies.read(request)
            encoding = request.headers.get("content-encoding", "")
            answer = await asyncio.wrap_future(self._writer.inbox.submit(body, encoding))
        return json_answer({"status": "ok", "acknowledged": answer.acknowledged, "full": answer.full})

    async def metrics(self, request: Request) -> Response:
        wanted = content_type(request.headers.get("accept", ""))
        with self._telemetry.scrape_seconds.time():
            page = await asyncio.to_thread(self._metrics, wanted)
        return Response(page, headers={"Content-Type": wanted})

    def _metrics(self, wanted: str) -> bytes:
        set_gauges(self._telemetry, self._writer)
        return render(self._writer.model, self._telemetry, wanted)

    async def runs(self, request: Request) -> Response:
        return json_answer({"status": "ok", **await asyncio.to_thread(runs, self._writer.model)})

    async def add_targets(self, request: Request) -> Response:
        body = await self._bodies.read(request)
        registration = parse_registration(body, self._settings.target_networks)
        number = await self._in_writer(partial(self._add, registration))
        job_name, added = registration.job_name, len(registration.targets)
        _log.info("scrape targets registered", extra=fields(job_name=job_name, registered=added, target_count=number))
        return json_answer({"status": "ok", "job_name": job_name, "target_count": number, "registered": added})

    def _add(self, registration: Registration) -> int:
        connection = self._writer.connection
        check_room(connection, len(registration.targets), self._settings.max_targets)
        plan = Plan()
        plan_by_hand(plan, registration)
        self._writer.carry_out(plan)
        return count(connection, registration.job_name)

    async def list_targets(self, request: Request) -> Response:
        targets = await self._in_writer(lambda: registered(self._writer.connection))
        job_name = request.query_params.get("job_name")
        found = [
            {"job_name": one.job_name, "target": one.target, "labels": one.labels, "by_hand": one.by_hand}
            for one in targets
            if job_name in (None, one.job_name)
        ]
        return json_answer({"status": "ok", "target_count": len(found), "targets": found})

    async def remove_target(self, request: Request) -> Response:
        job_name = check_job_name(request.query_params.get("job_name"))
        target = request.query_params.get("target")
        if not target:
            raise Refused(400, "target", "Name what to remove: ?job_name=…&target=host:port.")
        before, after = await self._in_writer(partial(self._remove, job_name, target))
        if before == after:
            raise Refused(404, "target", f"There is no target {target[:120]!r} of job {job_name!r}.")
        return json_answer({"status": "ok", "job_name": job_name, "target_count": after})

    def _remove(self, job_name: str, target: str) -> tuple[int, int]:
        before = count(self._writer.connection, job_name)
        plan = Plan()
        plan_removal(plan, job_name, target)
        self._writer.carry_out(plan)
        return before, count(self._writer.connection, job_name)

    async def discovery(self, request: Request) -> Response:
        targets = await self._in_writer(lambda: registered(self._writer.connection))
        return json_answer(discovery(targets))

    async def _in_writer(self, do: Callable[[], Any]) -> Any:
        return await asyncio.wrap_future(self._writer.ask(do))

    async def _refuse(self, request: Request, error: Exception) -> Response:
        if not isinstance(error, Refused):
            raise error
        self._telemetry.refused(error.reason)
        if request.scope["path"] == "/api/v1/events":
            self._telemetry.report("refused")
        answer = refusal(error)
        if error.reason in ("slow", "too_large", "busy"):
            answer.headers["Connection"] = "close"  # some of the body may be unread
        return answer


async def _http_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    sentence = {404: f"There is no {request.scope['path'][:200]}.", 405: f"{request.method} is not for this path."}
    content = {"status": "error", "reason": sentence.get(error.status_code, str(error.detail))}
    return json_answer(content, error.status_code, dict(error.headers or {}))


async def _fault(request: Request, error: Exception) -> Response:
    _log.error("a request failed", exc_info=error)
    return json_answer({"status": "error", "reason": "The collector failed on this request; see its log."}, 500)
