"""Builds, lists, exports and prunes the images of this project, and of no other."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING

from bench.record import OK

from ..counts import counted
from ..project import STATE
from ..refusal import Refused
from ..study import location
from ..study.suggestion import unknown
from . import announce, study_options

if TYPE_CHECKING:
    from ..study.environment import Environment


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=ACTIONS, help="what to do")
    parser.add_argument("names", nargs="*", metavar="NAME", help="environments; all containers of the study by default")
    location.add_argument(parser)
    parser.add_argument(
        "--to", type=location.path_option, metavar="FOLDER", help="where export writes to; .nox/images by default"
    )
    parser.add_argument(
        "--wheels", type=location.path_option, metavar="FOLDER", help="wheels of the lock to install from"
    )
    parser.add_argument(
        "--ca", type=location.path_option, metavar="FILE", help="certificate authorities of a company, in PEM"
    )
    parser.add_argument("--all", action="store_true", help="prune also what the study still needs")


def run(options: argparse.Namespace) -> int:
    from ..containers.engine import ENGINE_ERRORS, NoEngine, reason_of
    from ..storage.run_lock import exclusive

    for option, path in (("--wheels", options.wheels), ("--ca", options.ca)):
        if path is not None and not path.exists():
            raise Refused(f"{option}: {path} does not exist. Correct the path.")
    try:
        with exclusive(options.root):
            return ACTIONS[options.what](options)
    except NoEngine as error:
        raise Refused(str(error)) from None
    except ENGINE_ERRORS as error:
        announce(f"images {options.what}: {reason_of(error)}")
        return 1


def build(options: argparse.Namespace) -> int:
    """Build the missing images; return 1 where one cannot be built."""
    from .. import environments
    from ..containers.context import Extras
    from ..containers.engine import connect

    connect()
    extras = Extras.of(wheels=options.wheels, ca=options.ca)
    outcomes = [
        environments.prepare(each, root=options.root, announce=announce, extras=extras) for each in _chosen(options)
    ]
    for outcome in outcomes:
        if outcome.status == OK:
            announce(f"{outcome.name}: {outcome.manifest['image']['tag']}  {outcome.manifest['image']['id']}")
    return 0 if all(outcome.status == OK for outcome in outcomes) else 1


def show(options: argparse.Namespace) -> int:
    """List the images that this project built."""
    from ..containers import image
    from ..containers.engine import connect

    found = image.images(connect(), options.root)
    for each in found:
        announce(image.describe(each))
    if not found:
        announce("this project has built no images; build those of the study with: nox -s images -- build")
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
        outcome = environments.prepare(environment, root=options.root, announce=announce)
        if outcome.status != OK:
            code = 1
            continue
        path = (options.to or options.root / STATE / "images") / f"{environment.name}.oci.tar"
        try:
            write(engine, outcome.manifest["image"]["tag"], path)
        except ArchiveError as error:
            announce(f"{environment.name}: {error}")
            code = 1
        else:
            announce(f"{path}  (apptainer build {environment.name}.sif oci-archive:{path})")
    return code


def prune(options: argparse.Namespace) -> int:
    """Remove the images that the study no longer needs, and what interrupted runs left."""
    from .. import environments
    from ..containers import image, leftovers
    from ..containers.engine import connect

    engine = connect()
    count = leftovers.sweep(engine, options.root)
    if count:
        announce(f"removed {counted(count, 'container')}")
    outcomes = (environments.load_outcome(each.name, root=options.root) for each in _containers(options))
    needed = {outcome.manifest["image"]["id"] for outcome in outcomes if outcome and "image" in outcome.manifest}
    for each in image.images(engine, options.root):
        if options.all or each["Id"] not in needed:
            for tag in image.remove(engine, each):
                announce(f"removed {tag}")
    leftovers.drop_parts(engine, options.root)
    return 0


def _containers(options: argparse.Namespace) -> list[Environment]:
    study = study_options.read_study(options)
    return [each for each in study.environments.values() if each.provider == "container"]


def _chosen(options: argparse.Namespace) -> Iterable[Environment]:
    """List the named container environments, or all of the study. Raises StudyError."""
    known = {each.name: each for each in _containers(options)}
    if not known:
        raise Refused('the study has no container; give an environment provider = "container" in the study file')
    errors = [unknown("container", name, known) for name in options.names if name not in known]
    if errors:
        raise location.StudyError(errors)
    return [known[name] for name in dict.fromkeys(options.names)] or list(known.values())


ACTIONS = {"build": build, "list": show, "export": export, "prune": prune}
