"""Builds, lists and removes images on the engine."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docker.errors

from ..setup import Announce
from . import labels
from .context import Extras, build_arguments, write_context
from .engine import ENGINE_ERRORS, Engine, reason_of
from .leftovers import drop_parts, try_remove
from .recipe import Recipe

#: Seconds between two lines of progress.
PROGRESS_S = 15.0
#: A build fails when the engine sends nothing for so long: installing gigabytes over a slow line takes long.
SILENCE_S = 3600
TAIL_LINES = 12


class BuildFailed(Exception):
    """An image cannot be pulled or built; the message gives the reason."""


def inspect(engine: Engine, name: str) -> dict[str, Any] | None:
    """Return the engine's description of an image, None where it has no image of that name."""
    try:
        return dict(engine.api.inspect_image(name))  # type: ignore[no-untyped-call]  # the stubs lack it
    except docker.errors.ImageNotFound:
        return None


def ensure_base(engine: Engine, name: str, announce: Announce) -> str:
    """Return the digest of a base image, pulled first where it is missing. Raises BuildFailed."""
    found = inspect(engine, name)
    if found is None:
        announce(f"pulling {name}")
        try:
            engine.api.pull(name)
        except ENGINE_ERRORS as error:
            raise BuildFailed(
                f"the base image {name} cannot be pulled: {reason_of(error)}. Set base in the environment's table to "
                "an image that this machine can pull, or make one: docker/make-base"
            ) from None
        found = inspect(engine, name)
    if found is None:
        raise BuildFailed(f"the base image {name} was pulled, but the engine does not list it")
    return str(found["Id"])


def platform(engine: Engine) -> str:
    """Return the platform that the engine builds for: ``linux/amd64``."""
    version = engine.api.version()
    return f"{version.get('Os', 'linux')}/{version.get('Arch', 'amd64')}"


def build(engine: Engine, recipe: Recipe, *, root: Path, extras: Extras, announce: Announce) -> dict[str, Any]:
    """Build the image and return the engine's description of it. Raises BuildFailed."""
    checkout = labels.checkout(root)
    arguments = {
        **build_arguments(index=extras.index),
        "BASE": recipe.base,
        "PYTHON": recipe.python,
        "PART": checkout,
        "IMAGE": checkout,
        "ENVIRONMENT": recipe.environment,
    }
    if recipe.system_packages:
        arguments["SYSTEM_PACKAGES"] = " ".join(recipe.system_packages)
    api = engine.api
    with tempfile.TemporaryFile() as context:
        write_context(context, dockerfile=recipe.dockerfile, lock=recipe.lock, extras=extras)
        context.seek(0)
        try:
            output = api.build(
                fileobj=context,
                custom_context=True,
                tag=recipe.tag,
                buildargs=arguments,
                rm=True,
                forcerm=True,
                decode=True,
                timeout=SILENCE_S,
            )
            _follow(output, recipe, announce)
        except ENGINE_ERRORS as error:
            raise BuildFailed(f"the engine could not build the image: {reason_of(error)}") from None
        finally:
            drop_parts(engine, root)
    found = inspect(engine, recipe.tag)
    if found is None:
        raise BuildFailed(f"the engine built {recipe.tag}, but does not list it")
    return found


def _follow(output: Iterator[dict[str, Any]], recipe: Recipe, announce: Announce) -> None:
    """Read the output of a build to its end. Raises BuildFailed with the last lines of it."""
    tail: list[str] = []
    step, last = "", time.monotonic()
    for message in output:
        lines = [line for line in str(message.get("stream", "")).splitlines() if line.strip()]
        tail = [*tail, *lines][-TAIL_LINES:]
        step = next((line for line in reversed(lines) if line.startswith(("Step ", "STEP "))), step)
        if "error" in message:
            context = " | ".join(line.strip() for line in tail)
            raise BuildFailed(f"the image could not be built: {message['error']}: {context}")
        if time.monotonic() - last > PROGRESS_S:
            last = time.monotonic()
            announce(f"{recipe.environment}: building its image: {step[:100]}")


def images(engine: Engine, root: Path) -> list[dict[str, Any]]:
    """List the finished images that this checkout built, the newest first."""
    found = engine.api.images(filters={"label": labels.selector(labels.IMAGE, root)})
    return sorted((dict(image) for image in found), key=lambda image: -int(image.get("Created", 0)))


def remove(engine: Engine, image: dict[str, Any]) -> list[str]:
    """Remove an image with all its tags, and return the tags removed."""
    tags = [str(tag) for tag in image.get("RepoTags") or ()] or [str(image["Id"])]
    return [tag for tag in tags if try_remove(engine.api.remove_image, tag)]


def describe(image: dict[str, Any]) -> str:
    """Describe an image in one line: tag, digest and size."""
    tags = ", ".join(image.get("RepoTags") or ("<none>",))
    return f"{tags}  {str(image['Id'])[:19]}  {int(image.get('Size', 0)) / 1e9:.2f} GB"
