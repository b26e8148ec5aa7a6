"""Divides the tests among processes; sets hypothesis for machines that are shared: a slow minute is no failure."""

from __future__ import annotations

from hypothesis import settings

pytest_plugins = ["division"]

settings.register_profile("shared", deadline=None)
settings.load_profile("shared")
