"""Generates the JSON Schema by which editors complete and check a study file, and keeps it beside that file.

It names the frameworks, modes and workloads that the study can use, so that it is written anew when they change.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

from bench.registry import BUILT_IN, Registry

from ..setup.staging import write_whole
from . import sources
from .schema import Study
from .session_names import NAME_PATTERN

NAME = "matrix.schema.json"
#: The first line by which a study file names the schema beside it.
REFERENCE = f"#:schema ./{NAME}"


def schema(registry: Registry = BUILT_IN) -> dict[str, Any]:
    """Return the JSON Schema of a study file, with the workloads and modes of ``registry``."""
    generated = Study.model_json_schema(by_alias=True)
    definitions = generated["$defs"]
    generated["title"] = "benchmatrix study"
    _name_the_workloads(registry, generated["properties"]["workloads"], definitions["WorkloadChoice"])
    _name_the_modes(registry, definitions["Environment"])
    for section in ("environments", "profiles", "claims"):
        generated["properties"][section]["propertyNames"] = {"pattern": NAME_PATTERN}
    complete: dict[str, Any] = _without_null(generated)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **complete}


def text(registry: Registry = BUILT_IN) -> str:
    """Return the schema as it is written."""
    return json.dumps(schema(registry), indent=2) + "\n"


def write(study_file: Path, registry: Registry = BUILT_IN) -> Path:
    """Write the schema beside a study file, and return its path."""
    path = study_file.with_name(NAME)
    write_whole(path, text(registry))
    return path


def renew(study_file: Path, registry: Registry) -> None:
    """Write the schema where a study file names it and it is missing or no longer right.

    Editors only lose their help where it cannot be written, so that is no error.
    """
    with contextlib.suppress(OSError, UnicodeDecodeError):
        with study_file.open(encoding="utf-8") as lines:
            named = lines.readline().rstrip() == REFERENCE
        path = study_file.with_name(NAME)
        if named and not (path.is_file() and path.read_text(encoding="utf-8") == text(registry)):
            write(study_file, registry)


def _name_the_workloads(registry: Registry, section: dict[str, Any], choice: dict[str, Any]) -> None:
    """Give each workload its own key, so that editors offer them with what they compute and the sizes they have."""
    section["additionalProperties"] = False
    section["properties"] = {}
    for name in registry.workloads:
        if any(sources.problems_of(registry, name)):
            continue  # No workload of the study, or it would have been refused.
        specification = registry.specification(name)
        properties = dict(choice["properties"])
        for key, known in (("sizes", specification.SIZES), ("precisions", specification.PRECISIONS)):
            listing = {"type": "array", "minItems": 1, "items": {"type": "string", "enum": list(known)}}
            properties[key] = {**listing, "description": choice["properties"][key]["description"]}
        summary = (specification.__doc__ or "").strip().partition("\n")[0]
        section["properties"][name] = {**choice, "properties": properties, "title": name, "description": summary}


def _name_the_modes(registry: Registry, environment: dict[str, Any]) -> None:
    environment["properties"]["framework"]["enum"] = list(registry.frameworks)
    environment["properties"]["modes"]["items"]["enum"] = list(registry.mode_names)
    environment["allOf"] = [_modes_of(name, registry.facts(name).mode_names) for name in registry.frameworks]


def _modes_of(framework: str, modes: tuple[str, ...]) -> dict[str, Any]:
    return {
        "if": {"properties": {"framework": {"const": framework}}, "required": ["framework"]},
        "then": {"properties": {"modes": {"items": {"enum": list(modes)}}}},
    }


def _without_null(node: Any) -> Any:
    """Remove null from types and defaults: TOML has none, a key is absent instead."""
    if isinstance(node, list):
        return [_without_null(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {key: _without_null(value) for key, value in node.items() if not (key == "default" and value is None)}
    if {"type": "null"} in kept.get("anyOf", ()):
        choices = [choice for choice in kept.pop("anyOf") if choice != {"type": "null"}]
        kept = {**(choices[0] if len(choices) == 1 else {"anyOf": choices}), **kept}
    return kept
