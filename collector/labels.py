"""Labels of series and targets: what they may be, and their text in /metrics."""

import re
from collections.abc import Mapping
from functools import lru_cache

from .errors import Refused
from .report import LABEL_NAME_LENGTH, LABEL_VALUE_LENGTH, LABELS_PER_SERIES

RUN_LABELS = ("project", "experiment_name")

_LABEL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_RESERVED = frozenset(("job", "instance", "le"))
_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", '"': '\\"'})


def escaped(value: str) -> str:
    """A label's value as it stands between quotes."""
    return value.translate(_ESCAPES) if "\\" in value or '"' in value or "\n" in value else value


def label_text(labels: Mapping[str, str]) -> str:
    """`a="1",b="2"`, sorted by name: the same text for the same labels."""
    if not labels:
        return ""
    if len(labels) == 1:
        [(name, value)] = labels.items()
        return f'{name}="{escaped(value)}"'
    return ",".join([f'{name}="{escaped(value)}"' for name, value in sorted(labels.items())])


def without_empty(labels: Mapping[str, str]) -> dict[str, str]:
    """The labels that have a value: to Prometheus an empty one is the same as none."""
    return {name: value for name, value in labels.items() if value}


@lru_cache(maxsize=4096)
def check_label_name(name: str) -> None:
    """Raises Refused for a name that no label of a series or target may have."""
    if not _LABEL_NAME.fullmatch(name) or len(name) > LABEL_NAME_LENGTH:
        raise Refused(
            400, "label", f"{name[:80]!r} is no label name: letters, digits and _, at most {LABEL_NAME_LENGTH}."
        )
    if name in _RESERVED or name.startswith("__"):
        raise Refused(400, "label", f"The label {name[:80]!r} is reserved for Prometheus; use another name.")


def check_labels(labels: Mapping[str, str]) -> None:
    """Raises Refused for labels that are too many, too long or reserved."""
    if len(labels) > LABELS_PER_SERIES:
        raise Refused(400, "label", f"There are {len(labels)} labels, more than {LABELS_PER_SERIES}; use fewer.")
    for name, value in labels.items():
        check_label_name(name)
        if len(value) > LABEL_VALUE_LENGTH:
            raise Refused(400, "label", f"The value of label {name} is longer than {LABEL_VALUE_LENGTH} characters.")
