"""Makes a small study of four environments, and the plans that options choose from it."""

from __future__ import annotations

import argparse
from typing import Any

from bench.cell import Cell
from bench.host.commands import study_options
from bench.host.study import study_file
from bench.host.study.plan import Plan
from bench.host.study.schema import Study
from bench.host.study.selection import Selection
from bench.registry import BUILT_IN

MLP_SIZES = list(BUILT_IN.specification("mlp-train").SIZES)
ENVIRONMENTS = {
    "old": ("torch", ["eager", "torchscript"]),
    "new": ("torch", ["eager", "compile"]),
    "tf": ("tensorflow", ["eager", "function"]),
    "jax": ("jax", ["eager", "jit"]),
}
ALL = Selection(environments=["*"])


def study(**changes: Any) -> Study:
    tables: dict[str, Any] = {
        "study": {
            "name": "example",
            "baseline": "old:eager",
            "default": ["old", "new"],
            "profile": "quick",
            "seed": 7,
            "threads": 3,
        },
        "environments": {
            name: {"framework": framework, "modes": modes, "provider": "existing", "interpreter": "python3"}
            for name, (framework, modes) in ENVIRONMENTS.items()
        },
        "workloads": {"transformer-encoder": {}, "mlp-train": {}},
        "profiles": {
            "quick": {"rounds": 3, "samples": 10, "sample_seconds": 0.01, "sizes": ["tiny"]},
            "long": {"rounds": 10, "samples": 20, "sample_seconds": 0.1, "sizes": ["small", "tiny"]},
        },
        "exclusions": [],
    }
    return study_file.parse({**tables, **changes})


def options(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    study_options.add_arguments(parser)
    return parser.parse_args(arguments)


def plan_of(*arguments: str, environments: tuple[str, ...] = ("old", "jax")) -> Plan:
    return study_options.plan(study(), options(*arguments), environments=environments)


def everything(plan: Plan) -> list[Cell]:
    return [*plan.cells, *(cell for cell, _ in plan.excluded)]


def reasons(plan: Plan) -> set[str]:
    return {reason for _, reason in plan.excluded}


def with_threads(threads: Any, workload: Any = None) -> Study:
    settings = {"name": "example", "baseline": "old:eager", "default": ["old"], "profile": "quick", "threads": threads}
    own = {} if workload is None else {"threads": workload}
    return study(study=settings, workloads={"transformer-encoder": {}, "mlp-train": own})


def rows(plan: Plan) -> dict[str, int]:
    return {cell.row: cell.threads for cell in plan.cells}
