"""Scrape targets as they come from the network or a file: what is one, and what is refused and why."""

import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from .errors import Refused
from .labels import check_labels

DEFAULT_JOB = "trainer_metrics"
_JOB_NAME = re.compile(r"[A-Za-z0-9_.:/-]{1,128}")
_HOST_NAME = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9_-]{1,63}(?<!-))*\.?")
_NUMBERS = re.compile(r"[0-9.]+")
_PORT = re.compile(r"[0-9]{1,5}", re.ASCII)


@dataclass(frozen=True, slots=True)
class ScrapeTarget:
    """`host:port` and the labels that its series get."""

    target: str
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Registration:
    """What one call registers under one job name."""

    job_name: str
    targets: Sequence[ScrapeTarget]


def parse_registration(body: bytes, networks: Sequence[str] = ()) -> Registration:
    """The registration in a JSON body; raises Refused with the reason for anything else."""
    try:
        data = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _refused(f"The body is not JSON: {error}.") from None
    if not isinstance(data, dict):
        raise _refused("The body must be a JSON object with targets.")
    return read_registration(data, networks)


def read_registration(data: Mapping[str, Any], networks: Sequence[str] = ()) -> Registration:
    """The registration in `{"job_name": …, "labels": {…}, "targets": […]}`. Raises Refused."""
    unknown = sorted(set(data) - {"job_name", "labels", "targets"})
    if unknown:
        raise _refused(f"The field {unknown[0]!r} is not known; there are job_name, labels and targets.")
    raw = data.get("targets")
    if not isinstance(raw, list) or not raw:
        raise _refused("targets must be a list with at least one target.")
    job_name = check_job_name(data.get("job_name") or DEFAULT_JOB)
    shared = _labels(data.get("labels"))
    return Registration(job_name, [_one(item, shared, networks) for item in raw])


def check_job_name(name: Any) -> str:
    """The name of a scrape job; raises Refused if it cannot be one."""
    if not isinstance(name, str) or not _JOB_NAME.fullmatch(name):
        raise _refused(f"job_name {str(name)[:80]!r} must be 1 to 128 letters, digits or any of _ . : / -.")
    return name


def check_target(target: str, labels: Mapping[str, str], networks: Sequence[str] = ()) -> None:
    """Raises Refused if a target or its labels cannot be scraped or must not be."""
    host = _host(target)
    if networks:
        _check_network(target, host, networks)
    check_labels(labels)


def _one(item: Any, shared: Mapping[str, str], networks: Sequence[str]) -> ScrapeTarget:
    if isinstance(item, str):
        item = {"target": item}
    if not isinstance(item, dict) or not isinstance(item.get("target"), str) or set(item) - {"target", "labels"}:
        raise _refused('Each target must be "host:port" or {"target": "host:port", "labels": {…}}.')
    labels = {**shared, **_labels(item.get("labels"))}
    check_target(item["target"], labels, networks)
    return ScrapeTarget(item["target"], labels)


def _labels(raw: Any) -> dict[str, str]:
    if raw is None:
        return {}
    if not isinstance(raw, dict) or not all(isinstance(key, str) for key in raw):
        raise _refused("labels must be an object of names and values.")
    if any(isinstance(value, (dict, list)) or value is None for value in raw.values()):
        raise _refused("The value of a label must be text.")
    labels = {key: str(value) for key, value in raw.items()}
    check_labels(labels)
    return labels


def _host(target: str) -> str:
    shown = target[:120]
    if "://" in target or "/" in target:
        raise _refused(f"{shown!r} is a URL or a path; give host:port, and Prometheus adds /metrics.")
    host, colon, port = target.rpartition(":")
    if not colon or not port or (":" in host and not host.startswith("[")):
        raise _refused(f"{shown!r} has no port; give host:port, or [address]:port for IPv6.")
    if not _PORT.fullmatch(port) or not 1 <= int(port) <= 65535:
        raise _refused(f"The port of {shown!r} must be a number from 1 to 65535.")
    if host.startswith("[") and host.endswith("]") and _is_v6(host[1:-1]):
        return host[1:-1]
    if not _HOST_NAME.fullmatch(host) or len(host) > 253 or (_NUMBERS.fullmatch(host) and not _is_v4(host)):
        raise _refused(f"{shown!r} does not begin with a host name or an address.")
    return host


def _is_v4(text: str) -> bool:
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return True


def _is_v6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return "%" not in text


def _check_network(target: str, host: str, networks: Iterable[str]) -> None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        raise _refused(f"{target!r} names a host, but targets are held to networks here; give its address.") from None
    if not any(address in ipaddress.ip_network(network) for network in networks):
        raise _refused(f"{target!r} is outside the networks that targets are held to.")


def _refused(sentence: str) -> Refused:
    return Refused(400, "target", sentence)
