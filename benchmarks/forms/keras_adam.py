"""Forms of the epsilon that Keras' Adam adds on PyTorch: one array for all variables, or a list of one for each."""

from __future__ import annotations

from bench.frameworks.keras import programs

FORMS = {
    "one array": {"bench.frameworks.keras.programs:CompiledAdam": programs.Adam},
    "a list, op by op, too": {"bench.frameworks.keras.programs:Adam": programs.CompiledAdam},
}
