"""An example of a study file as tables, ways to change and write it, and what is said of it."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from bench.host.study import study_file
from bench.host.study.claim import Claim
from bench.host.study.environment import Environment
from bench.host.study.location import StudyError
from bench.host.study.reader import NAMED_SECTIONS
from bench.host.study.schema import Exclusion, Indexes, Profile, Settings, WorkloadChoice
from bench.host.study.table import StudyTable

ROOT = Path(__file__).resolve().parents[2]

TABLES: dict[str, Any] = {
    "study": {"name": "example", "baseline": "old:eager", "default": ["old", "new"], "profile": "quick"},
    "environments": {
        "old": {
            "framework": "torch",
            "python": "3.11",
            "requirements": ["torch==1.13.1", "numpy<2"],
            "modes": ["eager", "torchscript"],
        },
        "new": {"framework": "jax", "python": "3.11", "requirements": ["jax==0.10.2"], "modes": ["eager", "jit"]},
        "there": {"framework": "numpy", "provider": "existing", "interpreter": "python3", "modes": ["eager"]},
    },
    "workloads": {"mlp-train": {}},
    "profiles": {"quick": {"rounds": 3, "samples": 10, "sample_seconds": 0.01, "sizes": ["tiny"]}},
    "indexes": {"torch_cpu": "wheels"},
    "exclusions": [{"environment": "old", "mode": "torch*", "reason": "not this one"}],
    "claims": {"jit": {"says": "jit is faster", "columns": ["new:*"], "against": ["old:*"], "factor": ">1"}},
}
MODELS: dict[str, type[StudyTable]] = {
    "study": Settings,
    "environments.new": Environment,
    "workloads.mlp-train": WorkloadChoice,
    "profiles.quick": Profile,
    "indexes": Indexes,
    "exclusions[0]": Exclusion,
    "claims.jit": Claim,
}


def changed(*path: str | int, value: Any) -> dict[str, Any]:
    """Copy the example with one value put in, or taken out where it is None."""
    tables = copy.deepcopy(TABLES)
    *parents, last = path
    table: Any = tables
    for key in parents:
        table = table[key]
    if value is None:
        del table[last]
    else:
        table[last] = value
    return tables


def toml(tables: dict[str, Any]) -> str:
    """Write the tables of a study as a file; JSON's strings, numbers and arrays are TOML's as well."""
    headed = [("[study]", tables["study"])]
    for section in NAMED_SECTIONS:
        headed += [(f"[{section}.{json.dumps(name)}]", table) for name, table in tables.get(section, {}).items()]
    headed += [("[indexes]", tables["indexes"])]
    headed += [("[[exclusions]]", table) for table in tables["exclusions"]]
    return "".join(f"{header}\n" + "".join(f"{k} = {toml_value(v)}\n" for k, v in t.items()) for header, t in headed)


def toml_value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml_value(inner)}" for key, inner in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


def errors_of(tables: dict[str, Any]) -> list[str]:
    with pytest.raises(StudyError) as caught:
        study_file.parse(tables)
    return list(caught.value.errors)


def table_at(tables: dict[str, Any], place: str) -> dict[str, Any]:
    table: Any = tables
    for key in place.replace("[0]", ".0").split("."):
        table = table[int(key)] if key.isdigit() else table[key]
    assert isinstance(table, dict)
    return table
