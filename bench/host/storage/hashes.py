"""Hashes values: what a run or a kept measurement is about, in a few letters."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def hashed(value: Any) -> str:
    """Return 16 hexadecimal digits for a value of JSON; the order of keys does not count, and a path is its text."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]
