# /// script
# requires-python = ">=3.11"
# dependencies = ["nox"]
# ///
"""Defines the nox sessions: those of every project, and one per check of the code; ``-l`` lists them."""

import csv
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

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

from bench.host.sessions import define, python, run_host

nox.needs_version = ">=2025.5"

BENCHMARKS = ROOT / "benchmarks"
GRID = (
    "keras-tf",
    "keras2-tf",
    "keras-jax",
    "keras-torch",
    "flax",
    "haiku",
    "lightning",
    "tf1",
    "tf2-session",
    "tflite",
    "theano",
    "torch-xla",
    "jax-grain",
    "numpy",
)
#: A study of older versions, which ``nox -s grid`` checks, too: its name, and the name of its file.
OLDER = "older-versions"
#: What the results say of a cell that need not be checked again; not every cell runs in every environment.
WITHOUT_FAULT = ("ok", "unsupported", "excluded")

# The sessions that every project has; those below are for work on benchmatrix itself.
selected = define(__file__)


@nox.session(venv_backend="none", default=False)
def tests(session: nox.Session) -> None:
    """Run the tests that do not take long, with the environments of the default study prepared before."""
    for environment in selected:
        run_host(session, "prepare", environment)
    # A process per processor, see tests/support/division.py; options that are given replace these.
    divided = ["-n", "auto", "--durations", "10", "-m", "not long"]
    # Some containers forbid bytecode; without it, every process of every test would compile what it imports.
    written = {"PYTHONDONTWRITEBYTECODE": None}
    session.run(python(session, "dev"), "-m", "pytest", *divided, *session.posargs, env=written, external=True)


@nox.session(venv_backend="none", default=False)
def grid(session: nox.Session) -> None:
    """Run the long tests and those of environments outside the default study; check every workload in every mode.

    Names of such environments after ``--`` choose some of them, and ``older-versions`` the study of that name; all of
    them need 50 GB. The long tests and the full study of the default environments are always part of it.
    """
    names = (*GRID, OLDER)
    chosen = [word for word in session.posargs if word in names] or names
    options = [word for word in session.posargs if word not in names]
    environments = [name for name in chosen if name != OLDER]
    for environment in (*selected, *environments):
        run_host(session, "prepare", environment)
    wanted = {"PYTHONDONTWRITEBYTECODE": None, "BENCHMATRIX_GRID": " ".join(environments)}
    session.run(
        python(session, "dev"), "-m", "pytest", "-n", "auto", "-m", "grid or long", *options, env=wanted, external=True
    )
    # The tests check the workloads of the others.
    named = [*selected, *(["numpy"] if "numpy" in chosen else [])]
    check_study(session, "full", *(word for environment in named for word in ("--environment", environment)))
    if OLDER in chosen:
        check_study(session, OLDER)


def check_study(session: nox.Session, name: str, *options: str) -> None:
    """Check every cell of a study in ``studies/``; what fails is checked a second time, alone."""
    # One thread: on a busy machine, two that wait for each other hide that time grows with work. And each processor
    # checks a cell of its own.
    command = ("run", "--matrix", f"studies/{name}.toml", "--profile", "check", "--threads", "1", "--fresh", *options)
    run_host(session, *command, "--allow-failures")
    # A cell that was disturbed may have failed; one that is wrong fails again.
    with (ROOT / "reports" / name / "trial" / "results.csv").open(newline="", encoding="utf-8") as file:
        again = {row["workload"] for row in csv.DictReader(file) if row["status"] not in WITHOUT_FAULT}
    if again:
        run_host(session, *command, *(word for workload in sorted(again) for word in ("--workload", workload)))


@nox.session(venv_backend="none", default=False)
def lint(session: nox.Session) -> None:
    """Check the rules and the form of the code with ruff."""
    session.run(python(session, "dev"), "-m", "ruff", "check", *session.posargs, external=True)
    session.run(python(session, "dev"), "-m", "ruff", "format", "--check", external=True)


@nox.session(venv_backend="none", default=False)
def docs(session: nox.Session) -> None:
    """Build the documentation's site into .nox/site; a broken link is an error."""
    session.run(
        python(session, "dev"),
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--quiet",
        env={"NO_MKDOCS_2_WARNING": "1"},
        external=True,
    )


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
    if not session.posargs or session.posargs[0] not in names:
        session.error(f"name one of them: nox -s benchmarks -- {' | '.join(names)}")
    program = f"benchmarks.{session.posargs[0]}"
    session.run(python(session, "host"), "-m", program, *session.posargs[1:], external=True)
