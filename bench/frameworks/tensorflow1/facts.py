"""States the facts about TensorFlow as its first version was used: a graph is built, and a session runs it."""

from __future__ import annotations

from ..facts import Facts, Mode
from ..tensorflow.facts import FACTS as TENSORFLOW

FACTS = Facts(
    product="TensorFlow graphs",
    distribution="tensorflow",
    import_name="tensorflow",
    modes=(Mode("session", part="step", first_call_s=0.4),),
    variables=TENSORFLOW.variables,
    variable_prefixes=TENSORFLOW.variable_prefixes,
)
