"""Names the baselines that are no column: they say for each cell anew what it is compared with.

A column is ``environment:mode``, so no column has such a name.
"""

from __future__ import annotations

#: The fastest cell of the row; and the same framework and mode at the version before.
BEST, PREVIOUS = "best", "previous"
CHOSEN = (BEST, PREVIOUS)

#: What is shown of a comparison: how many times as fast a cell is, or how many times as long it takes.
SPEED_UP, RATIO = "speedup", "ratio"
RATIOS = (SPEED_UP, RATIO)
