"""Decides whether an environment installs a framework's build for processors alone, and from where.

Such builds are in an index of their own, see ``bench.host.study.cpu_packages``. Where the study file or a variable
names it, or a folder with such wheels, an environment gets a lock of its own, with hashes, too. The lock that everybody
else uses stays as it is.
"""

from __future__ import annotations

from ..machine import facts
from ..study.environment import Environment

#: What the name of such a lock ends with.
SUFFIX = "cpu"


def source_of(environment: Environment) -> str | None:
    """Return the index or folder with the CPU builds for an environment; None where it installs the usual ones."""
    return None if environment.cpu_index is None or facts.gpus() else environment.cpu_index


def lock_name(environment: Environment) -> str:
    """Return the name of the lock that an environment is made from on this machine."""
    name = environment.lock_owner
    return name if source_of(environment) is None else f"{name}.{SUFFIX}"
