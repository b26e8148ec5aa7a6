# /// script
# requires-python = ">=3.11"
# dependencies = ["nox"]
# ///
"""Defines the nox sessions: those of every project, and one per check of the code; ``-l`` lists them."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))
sys.path.append(str(ROOT / "tests" / "support"))

# Written so that any Python 3 can say why it is not enough.
if sys.version_info < (3, 11):
    running = "{}.{}".format(*sys.version_info)
    print(f"benchmatrix needs Python 3.11 or newer; this is {running}. Try: python3.11 noxfile.py …", file=sys.stderr)
    sys.exit(2)

from bench.host import system

system.verify()

if __name__ == "__main__":
    from bench.host.setup import run_nox

    run_nox(Path(__file__), sys.argv[1:])

import nox
from grid import Grid

from bench.host.sessions import define, python, run_host
from bench.host.study import suggestion

nox.needs_version = ">=2025.5"

#: Programs that measure the harness itself.
BENCHMARKS = ROOT / "benchmarks"
# The sessions that every project has; those below are for work on benchmatrix itself.
selected = define(__file__)


@nox.session(venv_backend="none", default=False)
def build(session: nox.Session) -> None:
    """Build the environments of the default study, as ``tests`` does; fails where one cannot be built."""
    run_host(session, "prepare", *selected)


@nox.session(venv_backend="none", default=False)
def tests(session: nox.Session) -> None:
    """Run the tests that do not take long, with the environments of the default study prepared before."""
    run_host(session, "prepare", *selected)
    # For the number of processes see tests/support/division.py; options that are given replace these.
    options = ["-n", "auto", "--durations", "10", "-m", "not long", *session.posargs]
    # Some containers forbid bytecode; without it, every process of every test would compile what it imports.
    variables = {"PYTHONDONTWRITEBYTECODE": None}
    session.run(python(session, "dev"), "-m", "pytest", *options, env=variables, external=True)


@nox.session(venv_backend="none", default=False)
def grid(session: nox.Session) -> None:
    """Run the long tests and those of environments outside the default study; check every workload in every mode.

    Names after ``--`` choose parts: ``default-study`` (the long tests, and every cell of the full study in the default
    environments), ``older-versions`` (every cell of the study of that name) and environments. With ``--remove``, the
    other environments are removed after their checks, and so is what the installer has cached of their packages: 50 GB
    of disk are enough then, in place of 60. More room is used to build environments ahead of their turn. With
    ``--minutes 70``, parts after the default study that would not be done by then are left out, and named at the end.
    """
    Grid(session, [*selected, "numpy"]).check()


@nox.session(venv_backend="none", default=False)
def lint(session: nox.Session) -> None:
    """Check the rules and the form of the code with ruff."""
    session.run(python(session, "dev"), "-m", "ruff", "check", *session.posargs, external=True)
    session.run(python(session, "dev"), "-m", "ruff", "format", "--check", external=True)


@nox.session(venv_backend="none", default=False)
def docs(session: nox.Session) -> None:
    """Build the documentation's site into .nox/site; a broken link is an error."""
    command = (python(session, "dev"), "-m", "mkdocs", "build", "--strict", "--quiet")
    session.run(*command, env={"NO_MKDOCS_2_WARNING": "1"}, external=True)


@nox.session(venv_backend="none", default=False)
def types(session: nox.Session) -> None:
    """Check the types of the host ring with mypy."""
    session.run(python(session, "dev"), "-m", "mypy", *session.posargs, external=True)


@nox.session(venv_backend="none", default=False)
def worker(session: nox.Session) -> None:
    """Run the worker ring's tests on the oldest Python that it supports, with NumPy alone."""
    answer = session.run(python(session, "host"), "-m", "bench.host.environments", external=True, silent=True)
    oldest = str(answer).strip().splitlines()[-1]
    ring = ["--confcutdir=tests/worker", "tests/worker"]  # the conftest above needs what only the host has
    session.run(oldest, "-m", "pytest", *ring, *session.posargs, external=True)


@nox.session(venv_backend="none", default=False)
def benchmarks(session: nox.Session) -> None:
    """Measure the harness itself: ``-- NAME`` runs benchmarks/NAME.py."""
    names = sorted(path.stem for path in BENCHMARKS.glob("*.py") if not path.stem.startswith("_"))
    if not session.posargs:
        session.error(f"name one of them, behind --: {' | '.join(names)}")
    if session.posargs[0] not in names:
        session.error(suggestion.unknown("benchmark", session.posargs[0], names).removesuffix("."))
    program = f"benchmarks.{session.posargs[0]}"
    session.run(python(session, "host"), "-m", program, *session.posargs[1:], external=True)
