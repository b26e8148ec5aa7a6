"""Knows what a killed run or build leaves on an engine, and removes what is ours of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docker.errors

from . import labels, started_flag
from .engine import ENGINE_ERRORS, Engine, NoEngine, connect

ATTEMPTS = 5

Announce = Callable[[str], None]


def sweep(engine: Engine, root: Path) -> int:
    """Remove the containers and parts of images that this checkout left behind; return how many containers there were.

    To be called while no other run of this checkout is under way.
    """
    found = engine.api.containers(all=True, filters={"label": labels.selector(labels.CONTAINER, root)})
    gone = [removed(engine.api.remove_container, container["Id"]) for container in found]
    drop_parts(engine, root)
    if all(gone):
        started_flag.remove(root)
    return len(found)


def sweep_if_left(root: Path, announce: Announce) -> None:
    """Sweep where this checkout has started containers; an engine that does not answer keeps them for the next time."""
    if not started_flag.is_left(root):
        return
    try:
        count = sweep(connect(), root)
    except (NoEngine, *ENGINE_ERRORS):
        return
    if count:
        announce(f"removed {count} container{'' if count == 1 else 's'} that an interrupted run had left")


def drop_parts(engine: Engine, root: Path) -> None:
    """Remove what builds of this checkout left beside their images."""
    part = labels.selector(labels.PART, root)
    for container in engine.api.containers(all=True, filters={"label": part}):
        removed(engine.api.remove_container, container["Id"])
    for image in engine.api.images(filters={"dangling": True, "label": part}):
        removed(engine.api.remove_image, image["Id"])


def drop_container(engine: Engine, container: str) -> None:
    """Remove a container with all processes in it; one that cannot be removed now is swept later, by its label."""
    for _ in range(ATTEMPTS):
        try:
            engine.api.remove_container(container, v=True, force=True)
        except docker.errors.NotFound:
            return
        except docker.errors.APIError:
            # Engines refuse for a moment what is just coming to its end.
            time.sleep(0.2)
        except ENGINE_ERRORS:
            return
        else:
            return


def removed(action: Callable[..., Any], identity: str) -> bool:
    """Remove something by force and tell whether it is gone."""
    try:
        action(identity, force=True)
    except docker.errors.NotFound:
        return True
    except docker.errors.APIError:
        return False
    return True
