"""Holds what programs say of themselves: settings that only an implementation can tell, such as layout."""

from __future__ import annotations


def given(**settings):
    """Return the settings that a program has; the others are None."""
    return {name: value for name, value in settings.items() if value is not None}
