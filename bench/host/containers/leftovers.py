"""Removes the containers and image parts that killed runs and builds of this checkout left on an engine."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docker.errors

from ..counts import counted
from ..setup import Announce
from . import labels, started_flag
from .engine import ENGINE_ERRORS, Engine, NoEngine, connect

ATTEMPTS = 5


def sweep(engine: Engine, root: Path) -> int:
    """Remove this checkout's containers and parts of images; return how many containers there were.

    Call it only while no other run of this checkout is under way.
    """
    found = engine.api.containers(all=True, filters={"label": labels.selector(labels.CONTAINER, root)})
    gone = [try_remove(engine.api.remove_container, container["Id"]) for container in found]
    drop_parts(engine, root)
    if all(gone):
        started_flag.remove(root)
    return len(found)


def sweep_if_started(root: Path, announce: Announce) -> None:
    """Sweep if this checkout has started containers; without an engine the sweep waits for the next call."""
    if not started_flag.exists(root):
        return
    try:
        count = sweep(connect(), root)
    except (NoEngine, *ENGINE_ERRORS):
        return
    if count:
        announce(f"removed {counted(count, 'container')} of an interrupted run")


def drop_parts(engine: Engine, root: Path) -> None:
    """Remove intermediate containers and images of this checkout's builds."""
    part = labels.selector(labels.PART, root)
    for container in engine.api.containers(all=True, filters={"label": part}):
        try_remove(engine.api.remove_container, container["Id"])
    for image in engine.api.images(filters={"dangling": True, "label": part}):
        try_remove(engine.api.remove_image, image["Id"])


def drop_container(engine: Engine, container: str) -> None:
    """Remove a container with all processes in it; a later sweep removes one that cannot be removed now."""
    for _ in range(ATTEMPTS):
        try:
            engine.api.remove_container(container, v=True, force=True)
        except docker.errors.NotFound:
            return
        except docker.errors.APIError:
            # Engines refuse for a moment to remove a container that is just exiting.
            time.sleep(0.2)
        except ENGINE_ERRORS:
            return
        else:
            return


def try_remove(action: Callable[..., Any], identity: str) -> bool:
    """Remove an image or a container by force; return whether it is gone."""
    try:
        action(identity, force=True)
    except docker.errors.NotFound:
        return True
    except docker.errors.APIError:
        return False
    return True
