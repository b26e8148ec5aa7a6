# /// script
# requires-python = ">=3.11"
# dependencies = ["nox"]
# ///
"""The sessions: one per environment of the study, one that measures, and one per gate; ``-l`` lists them."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

# Written so that any Python 3 can say why it is not enough.
if sys.version_info < (3, 11):
    running = "{}.{}".format(*sys.version_info)
    print(f"benchmatrix needs Python 3.11 or newer; this is {running}. Try: python3.11 noxfile.py …", file=sys.stderr)
    sys.exit(2)

if __name__ == "__main__":
    from bench.host.setup import run_nox

    run_nox(Path(__file__), sys.argv[1:])

import os
import tomllib
from collections.abc import Callable
from typing import Any, NoReturn

import nox
from nox.command import CommandFailed

from bench.host.setup import SetupError, ensure

nox.needs_version = ">=2025.5"

BENCHMARKS = ROOT / "benchmarks"
#: What a shell expects of a command that was called wrongly.
EXIT_MISUSE = 2


def matrix_argument() -> list[str]:
    """Return ``--matrix FILE`` where the environment variable names a study and the command line does not."""
    named = os.environ.get("BENCHMATRIX_MATRIX")
    return ["--matrix", named] if named and not any(text.split("=")[0] == "--matrix" for text in posargs()) else []


def posargs() -> list[str]:
    return sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []


def matrix_path() -> Path | None:
    """Return the study file that this invocation is about; None where none is named and the default one is missing."""
    given = [*posargs(), *matrix_argument()]
    for number, text in enumerate(given):
        option, _, value = text.partition("=")
        if option == "--matrix":
            return ROOT / (value or (given[number + 1] if number + 1 < len(given) else ""))
    default = ROOT / "matrix.toml"
    return default if default.exists() else None


def read_matrix(path: Path | None) -> dict[str, Any]:
    """Read the study file as far as sessions depend on it; the host ring checks it in full."""
    if path is None:
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        refuse(f"{path}: the study file cannot be read: {error}. Name another with: -- --matrix FILE")
    except tomllib.TOMLDecodeError as error:
        refuse(f"{path}: this is not TOML: {error}")


def refuse(explanation: str) -> NoReturn:
    print(f"benchmatrix: {explanation}", file=sys.stderr)
    raise SystemExit(EXIT_MISUSE)


def python(session: nox.Session, name: str) -> str:
    """Return the Python of the host environment ``name``, made on demand."""
    try:
        return str(ensure(name, ROOT))
    except SetupError as error:
        session.error(str(error))


def host(session: nox.Session, *arguments: str) -> None:
    """Run the host ring; what it refuses as misuse ends the whole invocation with its exit code."""
    command = [python(session, "host"), "-m", "bench.host", *arguments]
    try:
        # Ctrl-C reaches the host too, which needs a moment to write the table of what it has.
        session.run(*command, external=True, interrupt_timeout=60, terminate_timeout=10)
    except CommandFailed as failed:
        # An older nox does not tell the code.
        if getattr(failed, "return_code", None) == EXIT_MISUSE:
            raise SystemExit(EXIT_MISUSE) from None
        raise


def bench_session(environment: str) -> Callable[[nox.Session], None]:
    def bench(session: nox.Session) -> None:
        host(session, "prepare", environment, *matrix_argument(), *session.posargs)
        queued.append(environment)
        session.notify("measure", session.posargs)

    bench.__doc__ = f"Prepare the environment {environment} and measure it with the others that are named."
    return bench


matrix = read_matrix(matrix_path())
tables = matrix.get("environments")
environments = list(tables) if isinstance(tables, dict) else []
queued: list[str] = []

for name in environments:
    nox.session(name=f"bench-{name}", venv_backend="none")(bench_session(name))

study = matrix.get("study")
default = study.get("default") if isinstance(study, dict) else None
chosen = [name for name in default if name in environments] if isinstance(default, list) else []
selected = chosen or environments
nox.options.sessions = [f"bench-{name}" for name in selected]


@nox.session(venv_backend="none", default=False)
def measure(session: nox.Session) -> None:
    """Measure the environments that this invocation prepared; queued by the bench sessions, once."""
    named = [text for environment in queued for text in ("--environment", environment)]
    host(session, "run", *named, *matrix_argument(), *session.posargs)


@nox.session(venv_backend="none", default=False)
def report(session: nox.Session) -> None:
    """Redo the report from the records alone."""
    host(session, "report", *matrix_argument(), *session.posargs)


@nox.session(venv_backend="none", default=False)
def validate(session: nox.Session) -> None:
    """Prove the method here: identical cells must not differ, planted slowdowns must be found (an hour or more)."""
    host(session, "validate", *matrix_argument(), *session.posargs)


@nox.session(venv_backend="none", default=False)
def tests(session: nox.Session) -> None:
    """Run the tests, with the environments of the default study prepared before."""
    for environment in selected:
        host(session, "prepare", environment, *matrix_argument())
    session.run(python(session, "dev"), "-m", "pytest", *session.posargs, external=True)


@nox.session(venv_backend="none", default=False)
def lint(session: nox.Session) -> None:
    """Check the rules and the form of the code with ruff."""
    session.run(python(session, "dev"), "-m", "ruff", "check", *session.posargs, external=True)
    session.run(python(session, "dev"), "-m", "ruff", "format", "--check", external=True)


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
def images(session: nox.Session) -> None:
    """Handle the images of container environments: ``-- build | list | export | prune [NAME …]``."""
    host(session, "images", *session.posargs, *matrix_argument())


@nox.session(venv_backend="none", default=False)
def lock(session: nox.Session) -> None:
    """Renew the locks; ``-- NAME …`` renews those alone."""
    host(session, "lock", *matrix_argument(), *session.posargs)


@nox.session(venv_backend="none", default=False)
def schema(session: nox.Session) -> None:
    """Write the JSON Schema of study files."""
    host(session, "schema", *session.posargs)


@nox.session(venv_backend="none", default=False)
def benchmarks(session: nox.Session) -> None:
    """Measure the harness itself: ``-- NAME`` runs benchmarks/NAME.py."""
    names = sorted(path.stem for path in BENCHMARKS.glob("*.py") if not path.stem.startswith("_"))
    if not session.posargs or session.posargs[0] not in names:
        session.error(f"name one of them: nox -s benchmarks -- {' | '.join(names)}")
    program = f"benchmarks.{session.posargs[0]}"
    session.run(python(session, "host"), "-m", program, *session.posargs[1:], external=True)
