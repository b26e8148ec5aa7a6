# /// script
# requires-python = ">=3.11"
# dependencies = ["nox"]
# ///
"""Defines the nox sessions: those of every project, and one per check of the code; ``-l`` lists them."""

import contextlib
import csv
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
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
#: Environments outside the default study, in the portions in which ``nox -s grid`` builds and checks them. Tests of an
#: environment share a process, or those of one of its modes where it takes long. The first two have the PyTorch of the
#: default study, 6 GB each, which the installer's cache has; the third has another, 8 GB, and as much in the cache.
PORTIONS = (
    ("keras-torch", "lightning"),
    ("torch-xla",),
    ("keras-tf", "keras2-tf", "keras-jax", "flax", "haiku", "tf1", "tf2-session", "tflite", "theano", "jax-grain"),
)
#: The other parts of ``nox -s grid``: the default environments, and a study of older versions, named like its file.
DEFAULT, OLDER = "default-study", "older-versions"
#: The environments of that study.
OLDER_ENVIRONMENTS = ("torch-1.12.1", "torch-2.0.1", "tensorflow-2.10.1", "jax-0.4.13", "jax-0.4.30")
#: The modes in which they divide training steps between two devices, which takes two threads.
OLDER_DIVIDED = "mirrored,pmap,shard-map"
#: The option with which little of the disk is needed.
REMOVE = "--remove"
#: Where the disk has so much room, environments are built while those before them are checked. The largest portion
#: takes 17 GB, with the installer's cache.
ROOM_BYTES = 30e9
#: What the results say of a cell that need not be checked again; not every cell runs in every environment.
WITHOUT_FAULT = ("ok", "unsupported", "excluded")
#: What the settings say where PyTorch's compiler makes slow code, because something around it is wrong.
WITHOUT_VECTORS = "no vector instructions"

# The sessions that every project has; those below are for work on benchmatrix itself.
selected = define(__file__)


@nox.session(venv_backend="none", default=False)
def build(session: nox.Session) -> None:
    """Build the environments of the default study, as ``tests`` does; fails where one cannot be built."""
    for environment in selected:
        run_host(session, "prepare", environment)


@nox.session(venv_backend="none", default=False)
def tests(session: nox.Session) -> None:
    """Run the tests that do not take long, with the environments of the default study prepared before."""
    for environment in selected:
        run_host(session, "prepare", environment)
    # For the number of processes see tests/support/division.py; options that are given replace these.
    divided = ["-n", "auto", "--durations", "10", "-m", "not long"]
    # Some containers forbid bytecode; without it, every process of every test would compile what it imports.
    written = {"PYTHONDONTWRITEBYTECODE": None}
    session.run(python(session, "dev"), "-m", "pytest", *divided, *session.posargs, env=written, external=True)


@nox.session(venv_backend="none", default=False)
def grid(session: nox.Session) -> None:
    """Run the long tests and those of environments outside the default study; check every workload in every mode.

    Names after ``--`` choose parts: ``default-study`` (the long tests, and every cell of the full study in the default
    environments), ``older-versions`` (every cell of the study of that name) and environments. With ``--remove``, the
    other environments are removed after their checks, and so is what the installer has cached of their packages: 36 GB
    of disk are enough then, in place of 60. More room is used to build environments ahead of their turn.
    """
    parts = (DEFAULT, *(name for portion in PORTIONS for name in portion), OLDER)
    chosen = [word for word in session.posargs if word in parts] or parts
    options = [word for word in session.posargs if word not in (*parts, REMOVE)]
    remove = REMOVE in session.posargs

    wanted = [[name for name in portion if name in chosen] for portion in PORTIONS]
    portions = [names for names in wanted if names]
    built: set[str] = set()
    older = f"studies/{OLDER}.toml"

    def prepare(names: Sequence[str]) -> None:
        for name in names:
            if name not in built:
                study = ("--matrix", older) if name in OLDER_ENVIRONMENTS else ()
                run_host(session, "prepare", name, *study)
                built.add(name)

    def done(study: str, *names: str) -> None:
        if remove:
            run_host(session, "remove", *names, "--cached", "--matrix", study)

    builds = [*portions, *([OLDER_ENVIRONMENTS] if OLDER in chosen else [])]
    if DEFAULT in chosen:
        environments = (*selected, "numpy")
        prepare(environments)
        with beside(prepare, builds[:1]):
            test_long(session, "long", (), options)
        # The environments of the other portions have their cells checked by the tests.
        check_study(session, "full", *environments)
    for number, names in enumerate(portions):
        prepare(names)
        with beside(prepare, builds[number + 1 : number + 2]):
            test_long(session, "grid", names, options)
        done("matrix.toml", *names)
    if OLDER in chosen:
        check_study(session, OLDER, *OLDER_ENVIRONMENTS)
        check_study(session, OLDER, *OLDER_ENVIRONMENTS, modes=OLDER_DIVIDED, workloads="*-train", threads=2)
        done(older, *OLDER_ENVIRONMENTS)


@contextlib.contextmanager
def beside(prepare: Callable[[Sequence[str]], None], portions: Sequence[Sequence[str]]) -> Iterator[None]:
    """Prepare environments while tests run, where the disk has room: that needs the network and the disk most."""
    if not portions or shutil.disk_usage(ROOT).free < ROOM_BYTES:
        yield
        return
    with ThreadPoolExecutor(1) as pool:
        building = [pool.submit(prepare, names) for names in portions]
        yield
    for each in building:
        each.result()


def test_long(session: nox.Session, marker: str, environments: Sequence[str], options: Sequence[str]) -> None:
    """Run the tests that ``nox -s tests`` leaves out: those with a marker, in the named environments of the grid."""
    wanted = {"PYTHONDONTWRITEBYTECODE": None, "BENCHMATRIX_GRID": " ".join(environments)}
    # The others take seconds to collect in each process.
    folder = ("tests/frameworks",) if environments else ()
    command = ("-m", "pytest", "-n", "auto", "-m", marker, *folder, *options)
    session.run(python(session, "dev"), *command, env=wanted, external=True)


def check_study(
    session: nox.Session, name: str, *environments: str, modes: str = "*", workloads: str = "*", threads: int = 1
) -> None:
    """Check cells of a study in ``studies/`` in some environments; what fails is checked a second time, alone."""
    # One thread: on a busy machine, two that wait for each other hide that time grows with work. And each processor
    # checks a cell of its own.
    command = ["run", "--matrix", f"studies/{name}.toml", "--profile", "check", "--threads", str(threads), "--fresh"]
    command += ["--mode", modes, *(word for environment in environments for word in ("--environment", environment))]
    run_host(session, *command, "--workload", workloads, "--allow-failures")
    results = ROOT / "reports" / name / "trial"
    # A cell that was disturbed may have failed; one that is wrong fails again.
    with (results / "results.csv").open(newline="", encoding="utf-8") as file:
        again = {row["workload"] for row in csv.DictReader(file) if row["status"] not in WITHOUT_FAULT}
    if again:
        run_host(session, *command, "--workload", ",".join(sorted(again)))
    # A cell with slow code agrees with float64 all the same.
    if WITHOUT_VECTORS in (results / "details.csv").read_text(encoding="utf-8"):
        session.error(f"code was generated for {WITHOUT_VECTORS}: see the settings in {results / 'details.csv'}")


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
