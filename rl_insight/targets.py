"""The scrape targets that a process has registered: endpoints of engines and exporters."""

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import TypedDict

from rl_insight.faults import Refused
from rl_insight.names import LabelSet, label_set, shown

DEFAULT_JOB = "trainer_metrics"
MAX_JOB_NAME = 128
MAX_SIZE = 1_000_000
"""Characters that all targets and their labels may have, as they travel in one report."""


class Target(TypedDict):
    target: str
    labels: dict[str, str]


class Job(TypedDict):
    """Targets of one Prometheus job, as a report carries them."""

    job_name: str
    targets: list[Target]


class Targets:
    """The targets of one source; `version` changes whenever they do."""

    __slots__ = ("_labels", "_lock", "_refuse", "_size", "version")

    def __init__(self, lock: threading.RLock, refuse: Callable[[Refused], None]) -> None:
        self._lock = lock
        self._refuse = refuse
        self._labels: dict[tuple[str, str], LabelSet] = {}
        self._size = 0
        self.version = 0

    def register(self, addresses: Iterable[object], job_name: object, labels: object) -> None:
        """Adds targets, or gives those that are there new labels; bad ones are refused one by one.

        Raises Refused where the job's name is none or the labels are not one mapping, or none, for each address.
        """
        job = DEFAULT_JOB if job_name is None else _job(job_name)
        listed = [addresses] if isinstance(addresses, str) else list(addresses)
        for address, given in zip(listed, _label_list(labels, len(listed)), strict=True):
            try:
                self._add(job, target(address), label_set(given, self._refuse))
            except Refused as refused:
                self._refuse(refused)

    def jobs(self) -> list[Job]:
        """All that is registered."""
        with self._lock:
            registered = list(self._labels.items())
        jobs: dict[str, Job] = {}
        for (job, address), labels in registered:
            entry = jobs.setdefault(job, {"job_name": job, "targets": []})
            entry["targets"].append({"target": address, "labels": dict(labels)})
        return list(jobs.values())

    def _add(self, job: str, address: str, labels: LabelSet) -> None:
        key = (job, address)
        with self._lock:
            known = self._labels.get(key)
            if known == labels:
                return
            size = self._size + _size(key, labels) - (_size(key, known) if known is not None else 0)
            if size > MAX_SIZE:
                raise Refused(
                    "target_limit", f"this process has registered {len(self._labels)} targets, as many as fit"
                )
            self._labels[key] = labels
            self._size = size
            self.version += 1


def _size(key: tuple[str, str], labels: LabelSet) -> int:
    return sum(map(len, key)) + sum(len(name) + len(value) for name, value in labels)


def _job(name: object) -> str:
    if isinstance(name, str) and 0 < len(name) <= MAX_JOB_NAME and all(map(_may_stand_in_a_job, name)):
        return name
    raise Refused(
        "bad_target", f"a job's name has 1 to {MAX_JOB_NAME} letters, digits or _ . : / -, unlike {shown(name)}"
    )


def _may_stand_in_a_job(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char in "_.:/-")


def _label_list(labels: object, length: int) -> list[Mapping[str, object]]:
    if labels is None:
        return [{}] * length
    if isinstance(labels, Mapping):
        return [labels] * length
    listed = list(labels) if isinstance(labels, Iterable) and not isinstance(labels, str) else None
    if listed is None or len(listed) != length or not all(x is None or isinstance(x, Mapping) for x in listed):
        raise Refused("bad_target", f"the labels of {length} targets must be as many mappings, not {shown(labels)}")
    return [given or {} for given in listed]


def target(address: object) -> str:
    """The address, if it is `host:port` or `[v6]:port`. Raises Refused for anything else."""
    if isinstance(address, str):
        host, _, port = address.rpartition(":")
        if _is_host(host) and port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65536:
            return address
    raise Refused("bad_target", f"a target is host:port or [v6]:port with a port from 1 to 65535, not {shown(address)}")


def _is_host(host: str) -> bool:
    if len(host) > 255 or not host.isascii():
        return False
    if host.startswith("[") and host.endswith("]"):
        address = host[1:-1]
        return ":" in address and all(char in "0123456789abcdefABCDEF:." for char in address)
    return bool(host) and all(char.isalnum() or char in "-._" for char in host)
