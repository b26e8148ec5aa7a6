"""Sets hypothesis for machines that are shared: a slow minute is no failure."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("shared", deadline=None)
settings.load_profile("shared")
