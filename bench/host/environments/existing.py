"""Makes an environment of an interpreter that is already there."""

from __future__ import annotations

import os
import shutil
from typing import Any

from bench.registry import BUILT_IN, Registry

from ..study.environment import Environment
from . import variables
from .interpreters import Rejected, ask
from .outcome import Impossible, Prepared, ready


def prepare(environment: Environment, registry: Registry = BUILT_IN) -> Prepared:
    """Describe the interpreter, named by path or command, as an environment. Raises Impossible."""
    named = environment.interpreter
    if named is None:
        raise Impossible(
            f"environment {environment.name!r} names no interpreter; set interpreter in its table, "
            f"or give --interpreter {environment.name}=PATH"
        )
    found = shutil.which(os.path.expanduser(named))
    if found is None:
        raise Impossible(
            f"the interpreter {named!r} does not exist or cannot be executed; "
            f"give another one: --interpreter {environment.name}=PATH"
        )
    # Workers start in another folder.
    path = os.path.abspath(found)
    try:
        answer = ask(
            path,
            "--packages",
            *dict.fromkeys((registry.facts(environment.framework).import_name, "numpy")),
            isolated=False,
            environ={**os.environ, **environment.variables},
        )
    except Rejected as reason:
        raise Impossible(f"the interpreter {named!r} cannot be used: {reason}") from None
    missing = answer["missing"]
    if isinstance(missing, list) and missing:
        raise Impossible(f"the interpreter {named!r} (Python {answer['version']}) has no {' and no '.join(missing)}")
    manifest: dict[str, Any] = {
        "environment": environment.name,
        "framework": environment.framework,
        "provider": "existing",
        "interpreter": {
            "path": path,
            **{key: answer[key] for key in ("executable", "version", "implementation", "build", "compiler", "headers")},
        },
        "packages": answer["packages"],
        "variables": variables.of_module_system(),
    }
    return ready(environment.name, (path,), manifest)
