"""Writes any value as JSON for people to read."""

from __future__ import annotations

import json
from typing import Any


def render(value: Any) -> str:
    """Write ``value`` over several lines; nothing is an empty object."""
    return json.dumps(value or {}, indent=2, ensure_ascii=False) + "\n"
