"""States the facts about Toy, which computes with NumPy."""

from __future__ import annotations

from bench.frameworks.facts import Facts, Mode

FACTS = Facts(
    product="Toy",
    distribution="numpy",
    import_name="numpy",
    modes=(Mode("eager"), Mode("planned", first_call_s=0.5)),
    variables={"TOY_THREADS": "{threads}"},
    variable_prefixes=("TOY_",),
    computes_with_numpy=True,
)
