"""Tests that the facts name what a first call imports: a forked worker's first call counts these modules."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from environment import HERE, ROOT, interpreter, run

from bench.host.environments import variables
from bench.registry import BUILT_IN

pytestmark = pytest.mark.real

FACTS = BUILT_IN.facts("torch")
MODULES = sorted({module for mode in FACTS.modes for module in mode.preloads + mode.training_preloads})


def test_a_parent_keeps_what_the_compiler_looks_up_again():
    assert run("torch2", "kept_once") == {"header": [True, 0], "vector_instructions": [True, 0]}


@pytest.mark.parametrize(
    ("environment", "has_them"), [("torch1", False), pytest.param("torch2", True, marks=pytest.mark.long)]
)
def test_a_first_call_imports_what_the_facts_say(environment, has_them):
    # The workload without training comes first, as modules stay imported.
    asked = {"framework": "torch", "mode": "eager", "workloads": ["gemm", "mlp-train"], "modules": MODULES}
    done = subprocess.run(
        [*interpreter(environment), str(Path(HERE) / "first_imports.py"), json.dumps(asked)],
        env=variables.of_worker(1, FACTS, caches={}, own={"PYTHONPATH": str(ROOT)}),
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    expected = {"gemm": (), "mlp-train": FACTS.preloads("eager", training=True)} if has_them else {}
    found = {workload: tuple(modules) for workload, modules in json.loads(done.stdout).items()}
    assert found == {"gemm": (), "mlp-train": (), **expected}
