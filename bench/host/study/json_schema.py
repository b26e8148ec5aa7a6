"""Generates the JSON Schema by which editors complete and check a study file; that of our own registry is committed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench.registry import BUILT_IN, Registry

from .schema import Study
from .values import NAME_PATTERN

SCHEMA_PATH = Path(__file__).with_name("matrix.schema.json")


def schema(registry: Registry = BUILT_IN) -> dict[str, Any]:
    """Return the JSON Schema of a study file, with the workloads and modes of ``registry``."""
    generated = Study.model_json_schema(by_alias=True)
    definitions = generated["$defs"]
    generated["title"] = "benchmatrix study"
    _name_the_workloads(registry, generated["properties"]["workloads"], definitions["WorkloadChoice"])
    _name_the_modes(registry, definitions["Environment"])
    for section in ("environments", "profiles"):
        generated["properties"][section]["propertyNames"] = {"pattern": NAME_PATTERN}
    complete: dict[str, Any] = _without_null(generated)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **complete}


def text(registry: Registry = BUILT_IN) -> str:
    """Return the schema as it is written and, for our own registry, committed."""
    return json.dumps(schema(registry), indent=2) + "\n"


def write(path: Path = SCHEMA_PATH, registry: Registry = BUILT_IN) -> Path:
    """Write the schema where study files refer to it, and return that path."""
    path.write_text(text(registry), encoding="utf-8")
    return path


def _name_the_workloads(registry: Registry, section: dict[str, Any], choice: dict[str, Any]) -> None:
    """Give each workload its own key, so that editors offer them with what they compute and the sizes they have."""
    section["additionalProperties"] = False
    section["properties"] = {}
    for name in registry.workloads:
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
        (only,) = (choice for choice in kept.pop("anyOf") if choice != {"type": "null"})
        kept = {**only, **kept}
    return kept
