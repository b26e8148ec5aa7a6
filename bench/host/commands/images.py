"""Knows the command ``images``: build, list, export and prune the images of this checkout, and no other's."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path

from bench.record import OK

from ..storage.run_lock import Refused, exclusive
from ..study import study_file
from ..study.options import STUDY_FILE
from ..study.schema import Environment
from ..study.suggestion import unknown

ACTIONS = ("build", "list", "export", "prune")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=ACTIONS, help="what to do")
    parser.add_argument("names", nargs="*", metavar="NAME", help="environments; all containers of the study by default")
    parser.add_argument("--matrix", type=Path, default=STUDY_FILE, metavar="FILE", help="the study file")
    parser.add_argument("--to", type=Path, metavar="FOLDER", help="where export writes to; .nox/images by default")
    parser.add_argument("--wheels", type=Path, metavar="FOLDER", help="wheels of the lock to install from")
    parser.add_argument("--ca", type=Path, metavar="FILE", help="certificate authorities of a company, in PEM")
    parser.add_argument("--all", action="store_true", help="prune also what the study still needs")


def run(options: argparse.Namespace) -> int:
    """Do what the command line says with the images of this checkout; return the exit code."""
    from ..containers.engine import ENGINE_ERRORS, NoEngine, reason_of

    actions: dict[str, Callable[[argparse.Namespace], int]] = {
        "build": build,
        "list": show,
        "export": export,
        "prune": prune,
    }
    for path in (options.wheels, options.ca):
        if path is not None and not path.exists():
            raise Refused(f"{path} does not exist")
    try:
        with exclusive(options.root):
            return actions[options.what](options)
    except NoEngine as error:
        raise Refused(str(error)) from None
    except ENGINE_ERRORS as error:
        _say(f"images {options.what}: {reason_of(error)}")
        return 1


def build(options: argparse.Namespace) -> int:
    """Build the images that are missing; those that cannot be built are told, and make the exit code 1."""
    from .. import environments
    from ..containers.context import Extras
    from ..containers.engine import connect

    connect()
    extras = Extras.of(wheels=options.wheels, ca=options.ca)
    outcomes = [
        environments.prepare(each, root=options.root, announce=_say, extras=extras) for each in _chosen(options)
    ]
    for outcome in outcomes:
        if outcome.status == OK:
            _say(f"{outcome.name}: {outcome.manifest['image']['tag']}  {outcome.manifest['image']['id']}")
    return 0 if all(outcome.status == OK for outcome in outcomes) else 1


def show(options: argparse.Namespace) -> int:
    """List the images that this checkout built."""
    from ..containers import image
    from ..containers.engine import connect

    found = image.images(connect(), options.root)
    for each in found:
        _say(image.describe(each))
    if not found:
        _say("this checkout has built no images; build those of the study with: nox -s images -- build")
    return 0


def export(options: argparse.Namespace) -> int:
    """Write the images as OCI archives, built first where they are missing."""
    from .. import environments
    from ..containers.archive import ArchiveError
    from ..containers.archive import export as write
    from ..containers.engine import connect

    engine = connect()
    code = 0
    for environment in _chosen(options):
        outcome = environments.prepare(environment, root=options.root, announce=_say)
        if outcome.status != OK:
            code = 1
            continue
        path = (options.to or options.root / ".nox" / "images") / f"{environment.name}.oci.tar"
        try:
            write(engine, outcome.manifest["image"]["tag"], path)
        except ArchiveError as error:
            _say(f"{environment.name}: {error}")
            code = 1
        else:
            _say(f"{path}  (apptainer build {environment.name}.sif oci-archive:{path})")
    return code


def prune(options: argparse.Namespace) -> int:
    """Remove what this checkout built and the study no longer needs: images, and whatever interrupted runs left."""
    from .. import environments
    from ..containers import image, leftovers
    from ..containers.engine import connect

    engine = connect()
    count = leftovers.sweep(engine, options.root)
    if count:
        _say(f"removed {count} containers")
    outcomes = (environments.load_outcome(each.name, root=options.root) for each in _containers(options))
    needed = {outcome.manifest["image"]["id"] for outcome in outcomes if outcome and "image" in outcome.manifest}
    for each in image.images(engine, options.root):
        if options.all or each["Id"] not in needed:
            for tag in image.remove(engine, each):
                _say(f"removed {tag}")
    leftovers.drop_parts(engine, options.root)
    return 0


def _containers(options: argparse.Namespace) -> list[Environment]:
    study = study_file.load(options.matrix)
    return [each for each in study.environments.values() if each.provider == "container"]


def _chosen(options: argparse.Namespace) -> Iterable[Environment]:
    """List the named container environments, or all of the study. Raises MatrixError."""
    known = {each.name: each for each in _containers(options)}
    errors = [unknown("container", name, known) for name in options.names if name not in known]
    if errors:
        raise study_file.MatrixError(errors)
    if not known:
        raise Refused('the study has no container; give an environment provider = "container" in the study file')
    return [known[name] for name in dict.fromkeys(options.names)] or list(known.values())


def _say(text: str) -> None:
    print(text, flush=True)
