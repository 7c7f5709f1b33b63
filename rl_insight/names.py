"""Names, labels and texts as Prometheus and JSON take them, within limits. Not on the hot path."""

from collections.abc import Callable, Mapping

from rl_insight.faults import Refused

MAX_NAME = 200
MAX_LABELS = 32
MAX_LABEL_NAME = 100
MAX_LABEL_VALUE = 1000
MAX_HELP = 1000

RESERVED_LABELS = frozenset({"job", "instance", "le"})
"""Labels that Prometheus or the collector sets; so are all that start with two underscores."""

LabelSet = tuple[tuple[str, str], ...]
"""Label names and values, sorted by name, none of them empty."""


def text(value: object) -> str:
    """The value as a string that UTF-8 can carry. Raises what the value's own `__str__` raises."""
    # A member of a string enumeration is the string it equals, as dictionaries see it.
    string = str.__str__(value) if isinstance(value, str) else str(value)
    if string.isascii():
        return string
    return string.encode("utf-8", "replace").decode("utf-8")


def identifier(string: str) -> str:
    """The string with `_` for every character that may not stand in a Prometheus name."""
    # A colon may stand in one, but belongs to the names of recording rules.
    return "".join(char if char.isascii() and (char.isalnum() or char == "_") else "_" for char in string)


def metric_name(name: object) -> str:
    """The name of a metric before its namespace. Raises Refused for what no name can be made of."""
    if not isinstance(name, str) or not name.strip():
        raise Refused("bad_name", f"a metric's name must be a string that is not empty, not {shown(name)}")
    if len(name) > MAX_NAME:
        raise Refused("bad_name", f"the metric name {shown(name)} is longer than {MAX_NAME} characters")
    return identifier(name)


def label_set(labels: Mapping[str, object], refuse: Callable[[Refused], None]) -> LabelSet:
    """A caller's labels as they are exposed; reserved ones are left out and go to `refuse`.

    Raises Refused where a label is over a limit.
    """
    if len(labels) > MAX_LABELS:
        raise Refused("bad_label", f"a series has {len(labels)} labels and may have {MAX_LABELS}")
    exposed: dict[str, str] = {}
    for given, value in labels.items():
        name = _label_name(given)
        if name in RESERVED_LABELS or name.startswith("__"):
            refuse(Refused("reserved_label", f"the label {name!r} is reserved, and the series goes without it"))
        elif string := _label_value(name, value):  # to Prometheus an empty label is none
            exposed[name] = string
    return tuple(sorted(exposed.items()))


def _label_name(given: str) -> str:
    if not given.strip() or len(given) > MAX_LABEL_NAME:
        raise Refused("bad_label", f"a label's name has 1 to {MAX_LABEL_NAME} characters, unlike {shown(given)}")
    name = identifier(given)
    return f"_{name}" if name[0].isdigit() else name


def _label_value(name: str, value: object) -> str:
    string = text(value)
    if len(string) > MAX_LABEL_VALUE:
        raise Refused("bad_label", f"the value of label {name!r} is longer than {MAX_LABEL_VALUE} characters")
    return string


def row_name(name: object, what: str) -> str:
    """The name of a state, a lane or a span. Raises Refused where it is empty or too long."""
    string = text(name)
    if not string.strip() or len(string) > MAX_NAME:
        raise Refused("bad_name", f"the name of a {what} has 1 to {MAX_NAME} characters, unlike {shown(name)}")
    return string


def non_finite(number: float) -> str:
    """How reports write the numbers that JSON lacks."""
    if number != number:
        return "NaN"
    return "+Inf" if number > 0 else "-Inf"


def shown(value: object) -> str:
    """The value as a log line shows it: its start, or its type where it is no string."""
    if not isinstance(value, str):
        return f"a {type(value).__name__}"
    return repr(value if len(value) <= 60 else value[:57] + "...")
