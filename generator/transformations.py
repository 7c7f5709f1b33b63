"""Grafana's transformations: what happens to an answer before it is drawn."""

from collections.abc import Iterable, Mapping, Sequence

from generator.fields import Json


def merged() -> Json:
    """One table of several instant answers, with a row for each label set."""
    return {"id": "merge", "options": {}}


def columns(
    hidden: Iterable[str] = (),
    renamed: Mapping[str, str] | None = None,
    order: Sequence[str] = (),
) -> Json:
    """Leaves columns out, renames them and puts them in order."""
    return {
        "id": "organize",
        "options": {
            "excludeByName": dict.fromkeys(hidden, True),
            "renameByName": dict(renamed or {}),
            "indexByName": {name: index for index, name in enumerate(order)},
        },
    }


def sorted_by(field: str, descending: bool = False) -> Json:
    return {"id": "sortBy", "options": {"fields": {}, "sort": [{"field": field, "desc": descending}]}}


def converted(types: Mapping[str, str]) -> Json:
    """Turns columns into another type (`number`, `time`), by column."""
    conversions = [{"targetField": field, "destinationType": to} for field, to in types.items()]
    return {"id": "convertFieldType", "options": {"conversions": conversions, "fields": {}}}


def calculated(name: str, left: str, operator: str, right: str) -> Json:
    """A new column from two others, or from one and a number written as text."""
    return {
        "id": "calculateField",
        "options": {
            "mode": "binary",
            "alias": name,
            "binary": {"left": left, "operator": operator, "right": right},
            "replaceFields": False,
        },
    }


def extracted(field: str, regex: str) -> Json:
    """New columns from the named groups of a regex over the text of `field`."""
    return {
        "id": "extractFields",
        "options": {"source": field, "format": "regexp", "regExp": f"/{regex}/", "replace": False},
    }


def partitioned(*fields: str) -> Json:
    """A frame for each combination of the fields' values, which become the frame's labels."""
    return {
        "id": "partitionByValues",
        "options": {"fields": list(fields), "keepFields": False, "naming": {"asLabels": True}},
    }
