"""A built dashboard as bytes: the same dashboard gives the same bytes, always and everywhere."""

import json
from typing import Any


def to_bytes(dashboard: dict[str, Any]) -> bytes:
    """The dashboard as UTF-8 JSON with sorted keys, so that a diff shows only what changed."""
    text = json.dumps(dashboard, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()
