"""Makes an environment of ``tinyframe``, the framework of ``wheels``, in a container: its table, study and lock."""

from __future__ import annotations

from pathlib import Path

import wheels
from wheels import Wanted

from bench.host.study.environment import Environment

REQUIREMENTS = ("tinyframe==1.0",)

#: A study of the one environment, ready for its name and its base.
STUDY = """
[study]
name = "tiny"
baseline = "{name}:eager"
default = ["{name}"]
profile = "check"
[environments."{name}"]
provider = "container"
framework = "numpy"
python = "3.11"
requirements = ["tinyframe==1.0"]
base = "{base}"
modes = ["eager"]
[workloads.gemm]
[profiles.check]
rounds = 1
samples = 2
sample_seconds = 0.001
sizes = ["check"]
"""


def write_lock(root: Path, wheel: Path, name: str) -> Path:
    """Write the lock of the environment ``name``, which says ``wheel`` alone."""
    return wheels.write_lock(root, wheel, Wanted(name=name, python="3.11", requirements=REQUIREMENTS))


def environment(name: str, base: str) -> Environment:
    return Environment(
        name=name,
        framework="numpy",
        provider="container",
        python="3.11",
        requirements=REQUIREMENTS,
        modes=("eager",),
        base=base,
    )
