"""Where settings come from: defaults, then a YAML file, then the environment, then flags; the last one wins."""

import ipaddress
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from .errors import ConfigError
from .settings import ABOUT, TYPES, About, Settings

PREFIX = "RL_INSIGHT_COLLECTOR_"
"""An environment variable is this and a setting's name in capitals."""

TOKEN_VARIABLE = "RL_INSIGHT_TOKEN"  # noqa: S105  the variable's name, which the client reads too
CONFIG_VARIABLE = f"{PREFIX}CONFIG"

Raw = str | list[str] | None


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings, and for each one where its value came from."""

    settings: Settings
    origins: Mapping[str, str]

    def lines(self) -> Iterator[str]:
        """One line a setting; secrets are not shown."""
        for name, about in ABOUT.items():
            value = getattr(self.settings, name)
            hidden = "(set, not shown)" if value else "(not set)"
            shown = hidden if about.secret else _shown(value)
            yield f"{name}: {shown}  # {self.origins[name]}"


def load(
    config: Path | None = None,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, str | None] | None = None,
) -> Loaded:
    """The settings that result. Flags that are None were not given.

    Raises ConfigError, which names the file and line, variable or flag, for what cannot be used.
    """
    environment = environment or {}
    values: dict[str, Any] = {}
    origins = dict.fromkeys(ABOUT, "default")
    path = config or (Path(environment[CONFIG_VARIABLE]) if environment.get(CONFIG_VARIABLE) else None)
    layers = [*([_from_file(path)] if path else []), _from_environment(environment), _from_flags(flags or {})]
    for layer in layers:
        for name, (raw, origin) in layer.items():
            values[name] = _value(name, raw, origin)
            origins[name] = origin
    settings = replace(Settings(), **values)
    return Loaded(_absolute(settings), origins)


def _absolute(settings: Settings) -> Settings:
    file = settings.targets_file
    return replace(
        settings,
        data_dir=settings.data_dir.expanduser().absolute(),
        targets_file=file.expanduser().absolute() if file else None,
    )


def _from_environment(environment: Mapping[str, str]) -> dict[str, tuple[Raw, str]]:
    found: dict[str, tuple[Raw, str]] = {}
    for variable, raw in environment.items():
        if variable == TOKEN_VARIABLE:
            found["token"] = (raw, f"environment {variable}")
        elif variable.startswith(PREFIX) and variable != CONFIG_VARIABLE:
            name = variable.removeprefix(PREFIX).lower()
            _check_name(name, f"environment variable {variable}")
            found[name] = (raw, f"environment {variable}")
    return found


def _from_flags(flags: Mapping[str, str | None]) -> dict[str, tuple[Raw, str]]:
    given = {name: raw for name, raw in flags.items() if raw is not None}
    return {name: (raw, f"flag --{name.replace('_', '-')}") for name, raw in given.items()}


def _from_file(path: Path) -> dict[str, tuple[Raw, str]]:
    try:
        root = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}; name another file with --config.") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not YAML: {' '.join(str(error).split())}.") from None
    if root is None:
        return {}
    if not isinstance(root, yaml.MappingNode):
        raise ConfigError(f"{path} must hold `setting: value` lines.")
    found: dict[str, tuple[Raw, str]] = {}
    for key, node in root.value:
        origin = f"{path}:{key.start_mark.line + 1}"
        name = key.value if isinstance(key, yaml.ScalarNode) else "(not a name)"
        _check_name(name, origin)
        if name in found:
            raise ConfigError(f"{origin}: {name} is set twice; keep one.")
        found[name] = (_raw(node, name, origin), origin)
    return found


def _raw(node: yaml.Node, name: str, origin: str) -> Raw:
    if isinstance(node, yaml.ScalarNode):
        return None if node.tag == "tag:yaml.org,2002:null" else str(node.value)
    if isinstance(node, yaml.SequenceNode) and all(isinstance(item, yaml.ScalarNode) for item in node.value):
        return [str(item.value) for item in node.value]
    raise ConfigError(f"{origin}: {name} must be a plain value or a list of them.")


def _check_name(name: str, origin: str) -> None:
    if name not in ABOUT:
        raise ConfigError(f"{origin}: there is no setting {name!r}; there are {', '.join(ABOUT)}.")


def _value(name: str, raw: Raw, origin: str) -> Any:
    about, kind = ABOUT[name], TYPES[name]
    if isinstance(kind, types.UnionType):
        if raw is None or (isinstance(raw, str) and raw.lower() in ("", "null", "none", "off")):
            return None
        kind = next(one for one in typing.get_args(kind) if one is not type(None))
    try:
        value = _READERS[kind](raw)
    except (ValueError, TypeError):
        shown = "what is given" if about.secret else repr(raw)
        raise ConfigError(f"{origin}: {name} must be {_WANTED[kind]}, not {shown}.") from None
    _check_bounds(name, value, about, origin)
    return value


def _check_bounds(name: str, value: Any, about: About, origin: str) -> None:
    if about.choices and value not in about.choices:
        raise ConfigError(f"{origin}: {name} must be one of {', '.join(about.choices)}, not {value!r}.")
    if about.starts and value and not value.startswith(about.starts):
        raise ConfigError(f"{origin}: {name} must begin with {' or '.join(about.starts)}, unlike {value!r}.")
    if about.low is not None and not value >= about.low:
        raise ConfigError(f"{origin}: {name} must be at least {about.low}, not {value}.")
    if about.high is not None and not value <= about.high:
        raise ConfigError(f"{origin}: {name} must be at most {about.high}, not {value}.")


def _text(raw: Raw) -> str:
    if isinstance(raw, list):
        raise TypeError
    return raw or ""


def _number(raw: Raw) -> float:
    return float(_text(raw))


def _whole(raw: Raw) -> int:
    return int(_text(raw).replace("_", ""))


def _path(raw: Raw) -> Path:
    text = _text(raw)
    if not text:
        raise ValueError
    return Path(text)


def _networks(raw: Raw) -> tuple[str, ...]:
    parts = raw if isinstance(raw, list) else _text(raw).split(",")
    return tuple(str(ipaddress.ip_network(part.strip())) for part in parts if part.strip())


_READERS: dict[Any, Callable[[Raw], Any]] = {
    str: _text,
    int: _whole,
    float: _number,
    Path: _path,
    tuple[str, ...]: _networks,
}
_WANTED: dict[Any, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    Path: "a path",
    tuple[str, ...]: "networks such as 10.0.0.0/8",
}


def _shown(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, tuple):
        return f"[{', '.join(value)}]"
    return '""' if value == "" else str(value)
