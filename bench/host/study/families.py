"""Makes an environment for each version that a table lists: its name, its Python and what is installed.

    [environments.torch]
    framework = "torch"
    versions = ["1.13.1", "2.5.1"]

gives the environments torch-1.13.1 and torch-2.5.1. What a version needs beside itself is in the framework's facts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from packaging.version import Version

from bench.frameworks.facts import Facts, Release
from bench.registry import Registry

from .environment import Environment
from .family_names import MOST_ENVIRONMENTS, MOST_VERSIONS, member, order, sorted_versions
from .session_names import is_valid

#: What stands for the version in a requirement.
VERSION = "{version}"
#: Keys that versions can stand for.
MADE = ("python", "requirements")

Values = Mapping[str, Any]


def members(name: str, values: Values, registry: Registry) -> dict[str, dict[str, Any]]:
    """Return {name: values} of the environments of a table, oldest version first; one that lists none is itself."""
    versions = sorted_versions(values.get("versions"))[:MOST_VERSIONS]
    if "versions" not in values or values["versions"] == []:
        # All of them are wrong (a table without the key has an empty tuple), and they decide what else is needed.
        return {name: {key: value for key, value in values.items() if value or key not in MADE}}
    # A mistake that is reported is the reason for the others.
    if not versions or values.get("provider") == "existing" or values.get("lock"):
        return {name: dict(values)}
    facts = registry.facts(values["framework"]) if "framework" in values else None
    pythons = {} if facts is None else chosen_pythons(versions, facts)
    found = {}
    for version in versions:
        made = {**values, "name": member(name, version), "family": name, "version": version}
        if not values.get("python"):
            made.pop("python", None)
            made.update({"python": pythons[version]} if version in pythons else {})
        release = None if facts is None else release_of(version, facts)
        # Where all has wheels, no code need run; a table's own requirements may have none.
        if values.get("allow_source") and release is not None and not values.get("requirements"):
            made["allow_source"] = release.source
        if facts is None:
            made.pop("requirements", None)
        elif "requirements" in values:
            made["requirements"] = requirements(version, values["requirements"], facts)
        found[made["name"]] = made
    return found


def environments(environment: Environment, registry: Registry) -> list[Environment]:
    """Return the environments of a table that was read."""
    values = {key: getattr(environment, key) for key in Environment.model_fields}
    return [
        environment
        if "version" not in made
        else environment.model_copy(
            update={key: made[key] for key in ("name", "allow_source", *MADE)} | {"versions": ()}
        ).in_family(made["family"], made["version"])
        for made in members(environment.name, values, registry).values()
    ]


def requirements(version: str, given: Sequence[str], facts: Facts) -> tuple[str, ...]:
    """Return what is installed for a version: the framework, what its table gives, and what this version needs.

    The table can name the framework's package itself: ``tensorflow[and-cuda]=={version}``.
    """
    own = [text.replace(VERSION, version) for text in given]
    named = any(VERSION in text for text in given)
    package = [] if named else [f"{facts.package or facts.distribution}=={version}"]
    release = release_of(version, facts)
    needed = [] if release is None else [text.replace(VERSION, version) for text in release.requirements]
    return tuple(dict.fromkeys([*package, *own, *needed]))


def release_of(version: str, facts: Facts) -> Release | None:
    """Return what is known about installing a version; what is known of the oldest holds for older ones, too."""
    known = sorted(facts.releases, key=lambda one: order(one.since))
    return next((one for one in reversed(known) if order(one.since) <= order(version)), next(iter(known), None))


def chosen_pythons(versions: Sequence[str], facts: Facts) -> dict[str, str]:
    """Choose a Python for each version: of those that it supports, the one that most of the others support, too.

    The interpreter's speed is part of the time of every operation. Of several such, the newest is chosen. A version
    that shares none with the others gets the one that is nearest to theirs.
    """
    supported = {version: python_minors(release_of(version, facts)) for version in versions}
    shared = Counter(minor for minors in supported.values() for minor in minors)
    return {
        version: f"3.{max(minors, key=lambda minor: (shared[minor], -_distance(minor, shared, minors), minor))}"
        for version, minors in supported.items()
        if minors
    }


def _distance(minor: int, shared: Mapping[int, int], own: range) -> int:
    """Return how many minor versions lie between a Python and those that other versions support; 0 without others."""
    if shared[minor] > 1:
        return 0
    return min((abs(minor - other) for other in shared if other not in own), default=0)


def python_minors(release: Release | None) -> range:
    """Return the minor versions of Python 3 with which a release installs."""
    if release is None:
        return range(0)
    oldest, newest = (int(python.removeprefix("3.")) for python in release.pythons)
    return range(oldest, newest + 1)


def problems(name: str, values: Values, tables: Mapping[str, Values], registry: Registry) -> Iterator[str]:
    """Give what is wrong with the versions of a table; ``tables`` are those of the file, before they were expanded."""
    versions = values.get("versions") or ()
    if not versions:
        return
    if len(versions) > MOST_VERSIONS:
        yield f"versions: {len(versions)} versions; a family has at most {MOST_VERSIONS}."
    first: dict[Any, str] = {}
    for version in versions:
        other = first.setdefault(order(version), version)
        if other != version:
            yield f"versions: {other!r} and {version!r} are the same version; remove one."
        made = member(name, version)
        if made in tables:
            yield f"versions: the table [environments.{made!r}] exists, too; remove it, or {version!r}."
        if not is_valid(made) and is_valid(name):
            yield f"versions: {made!r} is too long for the name of an environment; shorten the name of the table."
    if values.get("lock"):
        yield "versions: every version has a lock of its own; remove lock, or name one version in a table of its own."
    if values.get("python") is None and "framework" in values and "python" in values:
        facts = registry.facts(values["framework"])
        if not facts.releases and values.get("provider") != "existing":
            yield (
                f"versions: which Python the versions of {facts.product} support is not known; "
                'give for example python = "3.11".'
            )


def count_problem(tables: Mapping[str, Any]) -> str | None:
    """Say that a study has too many environments; None where it has not."""
    count = len(tables)
    return None if count <= MOST_ENVIRONMENTS else f"{count:,} environments; a study has at most {MOST_ENVIRONMENTS:,}."


def missing_mode(environment: Environment, mode: str, registry: Registry) -> str | None:
    """Say that the version of a family's member is older than a mode; None where it has the mode."""
    facts = registry.facts(environment.framework)
    first = facts.mode(mode).first_version
    if environment.version is None or not first or Version(environment.version) >= Version(first):
        return None
    return f"mode {mode!r} needs {facts.product} {first}"
