"""States the facts about Theano, whose graphs are compiled to C."""

from __future__ import annotations

from ..facts import Facts, Mode

FACTS = Facts(
    product="Theano",
    distribution="theano",
    import_name="theano",
    modes=(Mode("function", part="step", first_call_s=3.2, compile_s=10.5, caches_on_disk=True),),
    # Theano keeps compiled code in the home folder, unless one variable with all of its options says otherwise.
    cache_variables={"HOME": "theano"},
    variable_prefixes=("THEANO_", "OPENBLAS_"),
    # NumPy's BLAS computes the products.
    computes_with_numpy=True,
)
