"""What is configurable, from the environment and from `init`'s `config`; the environment wins."""

import os
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar
from urllib.parse import SplitResult, urlsplit

from rl_insight import faults
from rl_insight.metrics import MAX_SERIES
from rl_insight.names import identifier, shown

NAMESPACE = "rl_insight_monitor"
MAX_NAMESPACE = 40
INTERVAL = 2.0

URL_VARIABLE = "RL_INSIGHT_SERVER_URL"

T = TypeVar("T")


class Settings(NamedTuple):
    """Where reports go, every how many seconds, and under which prefix metrics are exposed."""

    url: SplitResult
    token: str
    interval: float
    namespace: str
    max_series: int

    def __repr__(self) -> str:
        """Without the token, which belongs in no log."""
        return f"Settings({self.url.geturl()!r}, interval={self.interval}, namespace={self.namespace!r})"


def read(config: object) -> Settings | None:
    """The settings; None, with one error logged, where no usable server URL is given."""
    if config is not None and not isinstance(config, Mapping):
        faults.warn("bad_config", f"ignores init's config: it must be a mapping, not {shown(config)}")
    raw = os.environ.get(URL_VARIABLE) or _configured(config, "server", "url")
    if not raw:
        faults.error(
            "no_url", f'is off: set {URL_VARIABLE}, or config["server"]["url"], to the server, like http://host:18080'
        )
        return None
    try:
        url = _url(raw)
    except ValueError as reason:
        faults.error("bad_url", f"is off: the server URL {reason}")
        return None
    return Settings(
        url,
        _value("RL_INSIGHT_TOKEN", config, ("server", "token"), _token, ""),
        _value("RL_INSIGHT_INTERVAL", config, ("interval",), _interval, INTERVAL),
        _value("RL_INSIGHT_NAMESPACE", config, ("namespace",), _namespace, NAMESPACE),
        _value("RL_INSIGHT_MAX_SERIES", config, ("max_series",), _max_series, MAX_SERIES),
    )


def _value(variable: str, config: object, path: tuple[str, ...], parse: Callable[[object], T], default: T) -> T:
    raw = os.environ.get(variable) or _configured(config, *path)
    if raw is None or raw == "":
        return default
    try:
        return parse(raw)
    except (TypeError, ValueError) as reason:
        faults.warn(variable, f"goes on with the default, as {variable} or config's {'.'.join(path)} {reason}")
        return default


def _configured(config: object, *path: str) -> object:
    value = config
    try:
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
    except Exception as error:  # OmegaConf raises its own for what it cannot resolve
        faults.warn("bad_config", f"ignores config's {'.'.join(path)}: reading it raised {type(error).__name__}")
        return None
    return value


def _url(raw: object) -> SplitResult:
    """The URL in parts. Raises ValueError, whose text never holds a password."""
    if not isinstance(raw, str):
        raise ValueError(f"must be a string, not {shown(raw)}")
    if "@" in raw:
        raise ValueError("must not hold a user or password: use RL_INSIGHT_TOKEN")
    wanted = f"must be like http://host:18080, not {shown(raw)}"
    try:
        url = urlsplit(raw.strip())
        port = url.port
    except ValueError as error:
        raise ValueError(wanted) from error
    if url.scheme not in ("http", "https") or not url.hostname or port == 0 or url.query or url.fragment:
        raise ValueError(wanted)
    if not raw.isascii() or any(char.isspace() or not char.isprintable() for char in raw.strip()):
        raise ValueError(wanted)
    return url


def _token(raw: object) -> str:
    if not isinstance(raw, str) or not raw.isascii() or not raw.isprintable():
        raise ValueError("is no printable ASCII string")
    return raw.strip()


def _interval(raw: object) -> float:
    seconds = _number(raw)
    if not 0.1 <= seconds <= 60.0:
        raise ValueError("is not between 0.1 and 60 seconds")
    return seconds


def _namespace(raw: object) -> str:
    if not isinstance(raw, str) or len(raw) > MAX_NAMESPACE:
        raise ValueError(f"is no string of at most {MAX_NAMESPACE} characters")
    name = identifier(raw.strip())
    return f"_{name}" if name[:1].isdigit() else name


def _max_series(raw: object) -> int:
    number = _number(raw)
    if not 1 <= number <= 1_000_000 or number != int(number):
        raise ValueError("is no whole number between 1 and 1,000,000")
    return int(number)


def _number(raw: object) -> float:
    try:
        return float(raw)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise ValueError("is no number") from error
