"""States the facts about Lightning, a training loop for PyTorch."""

from __future__ import annotations

from ..facts import Facts, Mode
from ..torch.facts import FACTS as TORCH
from ..torch.facts import OPTIMIZER, inductor

FACTS = Facts(
    product="Lightning",
    distribution="lightning",
    import_name="lightning",
    modes=(
        Mode("fit", training_preloads=OPTIMIZER),
        inductor("fit-compile", "", first_call_s=1.0, compile_s=4.0),
    ),
    variables=TORCH.variables,
    trial_variables=TORCH.trial_variables,
    cache_variables=TORCH.cache_variables,
    caches_temporary_files=TORCH.caches_temporary_files,
    variable_prefixes=TORCH.variable_prefixes,
    companions=("torch",),
)
