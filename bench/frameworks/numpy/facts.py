"""States the facts about NumPy."""

from __future__ import annotations

from ..facts import Facts, Mode

FACTS = Facts(
    product="NumPy",
    distribution="numpy",
    import_name="numpy",
    modes=(Mode("eager", validated=True),),
    computes_with_numpy=True,
)
