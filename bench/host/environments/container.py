"""Makes the image of an environment on this machine's engine, or uses one that still fits."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import project
from ..containers import image, labels, leftovers
from ..containers.context import Extras
from ..containers.engine import Engine, NoEngine, connect
from ..containers.engine_request import CommandFailed, run_command
from ..containers.isolation import PYTHON, Bounds
from ..containers.recipe import Recipe, default_base, dockerfile_path
from ..setup import Announce
from ..setup.staging import exclusive, write_whole
from ..study.environment import Environment
from . import cpu_builds, locks, outcome
from .interpreters import FACTS_PROGRAM
from .outcome import Impossible, Prepared, folder_of, ready

#: Raise it when the fields of an image's manifest change.
LAYOUT = 1
PINNED = re.compile(r"@(sha256:[0-9a-f]{64})$")


def prepare(environment: Environment, *, root: Path, announce: Announce, extras: Extras | None = None) -> Prepared:
    """Return the environment; build its image where there is none for its present files.

    Raises Impossible, LockError, image.BuildFailed, ToolFailed and OSError.
    """
    name = environment.name
    try:
        engine = connect()
    except NoEngine as error:
        return replace(outcome.unsupported(name, str(error)), manifest={"provider": "container", "engine": None})
    with exclusive(folder_of(root) / f"{name}.image", announce):
        wanted = (extras or Extras.of()).with_index(cpu_builds.source_of(environment))
        manifest = _ensure(engine, environment, root, announce, wanted)
    return ready(name, (PYTHON,), manifest)


def _ensure(engine: Engine, environment: Environment, root: Path, announce: Announce, extras: Extras) -> dict[str, Any]:
    """Return the manifest of the image, built first where it is missing."""
    name = environment.name
    leftovers.sweep(engine, root)
    lock = _lock(environment, root, announce)
    recipe = _recipe(engine, environment, lock, announce)
    note = folder_of(root) / f"{name}.image.json"
    found = image.inspect(engine, recipe.tag)
    build_s = 0.0
    if found is not None and not _is_ours(note, recipe, found):
        announce(f"{name}: {recipe.tag} is not the image that was built; building it again")
        found = None
    if found is None:
        start = time.monotonic()
        announce(f"{name}: building {recipe.tag} with {engine.product} {engine.version} on {recipe.base}")
        image.ensure_base(engine, recipe.base, announce)
        found = image.build(engine, recipe, root=root, extras=extras, announce=announce)
        build_s = round(time.monotonic() - start, 3)
        announce(f"{name}: ready after {build_s:.1f} s: {image.describe(found)}")
    manifest = _noted(note, found) or _describe(engine, environment, recipe, found, lock, root, build_s)
    manifest["engine"] = engine.describe()
    write_whole(note, json.dumps(manifest, indent=1) + "\n")
    return manifest


def _lock(environment: Environment, root: Path, announce: Announce) -> Path:
    if environment.python is None:
        raise Impossible(
            f'environment {environment.name!r} has no python; set it in its table, for example python = "3.11"'
        )
    name, source = cpu_builds.lock_name(environment), cpu_builds.source_of(environment)
    request = locks.LockRequest(name, environment.python, environment.requirements, source=source)
    return locks.present(request, root=root, announce=announce)


def _recipe(engine: Engine, environment: Environment, lock: Path, announce: Announce) -> Recipe:
    dockerfile = dockerfile_path(environment.dockerfile).read_text(encoding="utf-8")
    base = environment.base or default_base(dockerfile)
    pinned = PINNED.search(base)
    return Recipe(
        environment=environment.name,
        dockerfile=dockerfile,
        base=base,
        base_digest=pinned[1] if pinned else image.ensure_base(engine, base, announce),
        python=environment.python or "",
        lock=lock.read_bytes(),
        system_packages=environment.system_packages,
        platform=image.platform(engine),
    )


def _is_ours(note: Path, recipe: Recipe, found: dict[str, Any]) -> bool:
    """Return whether an image under the right tag is the one that was built: anybody can give an image a tag."""
    labelled = ((found.get("Config") or {}).get("Labels") or {}).get(labels.ENVIRONMENT) == recipe.environment
    try:
        stored = json.loads(note.read_bytes())["image"]
        return labelled and (stored["made_from"] != recipe.hashed or stored["id"] == found["Id"])
    except (OSError, ValueError, KeyError, TypeError):
        return labelled


def _noted(note: Path, found: dict[str, Any]) -> dict[str, Any] | None:
    """Return the stored manifest if it describes this image."""
    try:
        manifest = json.loads(note.read_bytes())
        same = (manifest["layout"], manifest["image"]["id"]) == (LAYOUT, found["Id"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return dict(manifest) if same else None


def _describe(
    engine: Engine,
    environment: Environment,
    recipe: Recipe,
    found: dict[str, Any],
    lock: Path,
    root: Path,
    build_s: float,
) -> dict[str, Any]:
    """Describe the image by what runs in it, in a container like a cell's; this also shows that containers run."""
    bounds = Bounds(read=[project.PACKAGE], gpu=environment.dockerfile == "cuda")
    program = project.PACKAGE / "host" / "environments" / FACTS_PROGRAM.name
    try:
        answer = json.loads(
            run_command(engine, str(found["Id"]), [PYTHON, "-I", str(program), "--packages"], root=root, bounds=bounds)
        )
    except (CommandFailed, ValueError) as error:
        if "device driver" in str(error) or "nvidia" in str(error).lower():
            raise Impossible(
                f"the engine cannot give containers a GPU; install NVIDIA's container toolkit: {error}"
            ) from None
        seen = f"{program.name} is missing in it" if "No such file" in str(error) else str(error)
        raise image.BuildFailed(
            f"the image was built, and a container of it does not run: {seen}. The engine must be on this machine, "
            "because cells are measured where the engine is"
        ) from None
    return {
        "layout": LAYOUT,
        "environment": environment.name,
        "framework": environment.framework,
        "provider": "container",
        "interpreter": {key: answer[key] for key in ("version", "implementation", "build", "compiler", "headers")},
        "requirements": list(environment.requirements),
        "lock": cpu_builds.lock_name(environment),
        "lock_hash": locks.lock_hash(lock),
        "packages": answer["packages"],
        "image": {
            "tag": recipe.tag,
            "id": str(found["Id"]),
            "made_from": recipe.hashed,
            "dockerfile": environment.dockerfile,
            "base": recipe.base,
            "base_digest": recipe.base_digest,
            "platform": recipe.platform,
        },
        "size_bytes": int(found.get("Size", 0)),
        "build_s": build_s,
    }
