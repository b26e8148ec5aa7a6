"""Gives the settings of older records the words that the present program uses.

Where only the words changed, two runs would seem to differ in a setting that is the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: {setting: {words of earlier records: the present words}}
PRESENT: Mapping[str, Mapping[str, str]] = {
    # Until 2026-11-28 the words gave the reason, and not the kernels.
    "BLAS": {"(the processor is not Intel's)": "(kernels for any processor)"},
}


def in_present_words(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with every value in the present words."""
    found = dict(settings)
    for name, words in PRESENT.items():
        value = found.get(name)
        if isinstance(value, str):
            for old, new in words.items():
                value = value.replace(old, new)
            found[name] = value
    return found
