"""Log lines as logfmt or JSON on stderr: `log.warning("what happened", extra=fields(source=…))`."""

import json
import logging
import sys
import time
from typing import Any

_FIELDS = "collector_fields"


def fields(**values: Any) -> dict[str, Any]:
    """What a log call takes as `extra`, to stand in the line as fields of their own."""
    return {_FIELDS: values}


class _Formatter(logging.Formatter):
    def _entries(self, record: logging.LogRecord) -> dict[str, Any]:
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        entries: dict[str, Any] = {
            "time": f"{moment}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "msg": record.getMessage(),
        }
        entries.update(getattr(record, _FIELDS, {}))
        if record.exc_info:
            entries["trace"] = self.formatException(record.exc_info)
        return entries


class LogfmtFormatter(_Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return " ".join(f"{key}={_quoted(value)}" for key, value in self._entries(record).items())


class JsonFormatter(_Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(self._entries(record), default=str, ensure_ascii=False)


def _quoted(value: Any) -> str:
    text = str(value)
    plain = text and text.isprintable() and not any(char in ' ="\\' for char in text)
    return text if plain else json.dumps(text, ensure_ascii=False)


def configure(form: str, level: str) -> None:
    """Sends every logger's lines to stderr in the form `logfmt` or `json`."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else LogfmtFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    # The exporter's library logs each attempt; `sender` says once that it fails, and why.
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
