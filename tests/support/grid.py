"""What ``nox -s grid`` does: checks every workload in every mode of every environment, in portions that fit a disk."""

from __future__ import annotations

import contextlib
import csv
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import grid_time
import nox
from nox.command import CommandFailed

from bench.host.sessions import python, run_host
from bench.host.study import suggestion

ROOT = Path(__file__).resolve().parents[2]
#: Environments outside the default study, in the portions in which they are built and checked. Tests of an environment
#: share a process, or those of one of its modes where it takes long, as in keras-torch: others are tested beside it.
#: keras-torch and lightning have the PyTorch of the default study, 6 GB each, which the installer's cache has.
#: torch-xla has another, 8 GB, and as much in the cache.
PORTIONS = (
    ("keras-torch", "lightning", "keras-jax", "flax", "haiku", "jax-grain", "jax-newest", "tf1", "theano"),
    ("torch-xla", "keras-tf", "keras2-tf", "tf2-session", "tflite"),
)  # fmt: skip
#: The other parts: the default environments, and a study of older versions, named like its file.
DEFAULT, OLDER = "default-study", "older-versions"
#: The environments of that study.
OLDER_ENVIRONMENTS = ("torch-1.12.1", "torch-2.0.1", "tensorflow-2.10.1", "jax-0.4.13", "jax-0.4.30")
#: The modes in which they divide training steps between two devices, which takes two threads.
OLDER_DIVIDED = "mirrored,pmap,shard-map"
#: The study of training in mixed precision, its environments, and its modes but ``compile``: ``compile-step`` has it.
MIXED = "mixed-precision"
MIXED_ENVIRONMENTS = ("torch2", "tf2", "jax")
MIXED_MODES = "eager,compile-step,function,xla,jit"
#: The option with which little of the disk is needed.
REMOVE = "--remove"
#: The minutes that the default study, each portion and the older versions take on two processors.
MINUTES = {DEFAULT: 39.0, OLDER: 7.0}
PORTION_MINUTES = (16.0, 7.0)
#: Where the disk has so much room, environments are built while those before them are checked. The largest portion
#: takes 22 GB, with the installer's cache.
ROOM_BYTES = 30e9
#: What the results say of a cell that need not be checked again; not every cell runs in every environment.
WITHOUT_FAULT = ("ok", "unsupported", "excluded")
#: What the settings say where PyTorch's compiler makes slow code, because something around it is wrong.
WITHOUT_VECTORS = "no vector instructions"


@dataclass(frozen=True)
class Study:
    """Cells of a study in ``studies/`` that are checked."""

    name: str
    environments: Sequence[str]
    modes: str = "*"
    workloads: str = "*"
    precisions: str = ""
    #: One: on a busy machine, two that wait for each other hide that time grows with work. And each processor checks a
    #: cell of its own.
    threads: int = 1

    @property
    def command(self) -> list[str]:
        """The command that checks them, without the workloads."""
        words = ["run", "--matrix", f"studies/{self.name}.toml", "--profile", "check", "--threads", str(self.threads)]
        words += ["--fresh", "--mode", self.modes, *(["--precision", self.precisions] if self.precisions else [])]
        return words + [word for environment in self.environments for word in ("--environment", environment)]


def _verify(session: nox.Session, words: Sequence[str], parts: Sequence[str]) -> None:
    """End the session for a word that names neither a part nor a test: without a part, all of them are checked."""
    for before, word in zip(("", *words), words, strict=False):
        known = word in parts or word.startswith("-") or (ROOT / word.partition("::")[0]).exists()
        # What follows an option may be its value.
        if not known and not before.startswith("-"):
            session.error(suggestion.unknown("part of the grid", word, parts).removesuffix("."))


class Grid:
    """The parts of the grid that a session of nox was asked for."""

    def __init__(self, session: nox.Session, default: Sequence[str]) -> None:
        """``default`` names the environments of the default study."""
        parts = (DEFAULT, *(name for portion in PORTIONS for name in portion), OLDER)
        try:
            minutes, words = grid_time.taken_from(session.posargs)
        except ValueError as error:
            session.error(str(error))
        _verify(session, words, parts)
        self._session = session
        self._default = default
        self._chosen = [word for word in words if word in parts] or parts
        #: What pytest is given.
        self._options = [word for word in words if word not in (*parts, REMOVE)]
        self._removes = REMOVE in words
        self._time = grid_time.TimeLeft(minutes)
        self._built: set[str] = set()
        #: The parts whose tests or checks failed.
        self._failed: list[str] = []

    def check(self) -> None:
        """Build, check and remove one portion after another; a part that fails keeps no other from its check."""
        chosen = [[name for name in portion if name in self._chosen] for portion in PORTIONS]
        portions = [(names, minutes) for names, minutes in zip(chosen, PORTION_MINUTES, strict=True) if names]
        builds = [*(names for names, _ in portions), *([OLDER_ENVIRONMENTS] if OLDER in self._chosen else [])]
        if DEFAULT in self._chosen:
            # Without it nothing would be known: it is never left out.
            self._time.begin(MINUTES[DEFAULT])
            self._build(self._default)
            # The environments of the other portions have their cells checked by the tests.
            full = Study("full", self._default)
            failed = self._check(full)
            # Some read what this check recorded. The others compute with two threads what it checked with one.
            with self._building(builds[:1]):
                self._test("long", ())
            self._check_again(full, failed)
            # Its rows in float32 are those of the full study.
            self._check_study(Study(MIXED, MIXED_ENVIRONMENTS, modes=MIXED_MODES, precisions="mixed-bfloat16"))
        for number, (names, minutes) in enumerate(portions):
            if not self._time.suffices_for(", ".join(names), minutes):
                continue
            self._build(names)
            with self._building(builds[number + 1 : number + 2]):
                self._test("grid", names)
            self._remove("matrix.toml", names)
        if OLDER in self._chosen and self._time.suffices_for(OLDER, MINUTES[OLDER]):
            self._build(OLDER_ENVIRONMENTS)
            self._check_study(Study(OLDER, OLDER_ENVIRONMENTS))
            self._check_study(Study(OLDER, OLDER_ENVIRONMENTS, modes=OLDER_DIVIDED, workloads="*-train", threads=2))
            self._remove(f"studies/{OLDER}.toml", OLDER_ENVIRONMENTS)
        for part in self._time.left_out:
            self._session.warn(f"not checked, because the machine is too slow for {grid_time.OPTION}: {part}")
        if self._failed:
            self._session.error(f"failed: {'; '.join(self._failed)}")

    @contextlib.contextmanager
    def _noting(self, part: str) -> Iterator[None]:
        """Note that a command of a part failed, and go on."""
        try:
            yield
        except CommandFailed:
            self._session.warn(f"{part} failed")
            self._failed.append(part)

    def _build(self, environments: Sequence[str]) -> None:
        missing = [name for name in environments if name not in self._built]
        if missing:
            study = ("--matrix", f"studies/{OLDER}.toml") if missing[0] in OLDER_ENVIRONMENTS else ()
            run_host(self._session, "prepare", *missing, *study)
            self._built.update(missing)

    @contextlib.contextmanager
    def _building(self, portions: Sequence[Sequence[str]]) -> Iterator[None]:
        """Build environments while tests run, where the disk has room: that needs the network and the disk most."""
        if not portions or shutil.disk_usage(ROOT).free < ROOM_BYTES:
            yield
            return
        with ThreadPoolExecutor(1) as pool:
            building = [pool.submit(self._build, names) for names in portions]
            yield
        for each in building:
            each.result()

    def _remove(self, study: str, environments: Sequence[str]) -> None:
        if self._removes:
            run_host(self._session, "remove", *environments, "--cached", "--matrix", study)

    def _test(self, marker: str, environments: Sequence[str]) -> None:
        """Run the tests that ``nox -s tests`` leaves out: those with a marker, in the named environments."""
        variables = {"PYTHONDONTWRITEBYTECODE": None, "BENCHMATRIX_GRID": " ".join(environments)}
        # The others take seconds to collect in each process.
        folder = ("tests/frameworks",) if environments else ()
        command = ("-m", "pytest", "-n", "auto", "--durations", "20", "-m", marker, *folder, *self._options)
        with self._noting(f"tests of {', '.join(environments) or DEFAULT}"):
            self._session.run(python(self._session, "dev"), *command, env=variables, external=True)

    def _check_study(self, study: Study) -> None:
        """Check cells of a study; what fails is checked a second time, alone: a disturbed cell may have failed."""
        self._check_again(study, self._check(study))

    def _check(self, study: Study) -> set[str]:
        """Check cells of a study; return the workloads of those that failed."""
        run_host(self._session, *study.command, "--workload", study.workloads, "--allow-failures")
        results = ROOT / "reports" / study.name / "trial"
        # A cell with slow code agrees with float64 all the same.
        details = results / "details.csv"
        if WITHOUT_VECTORS in details.read_text(encoding="utf-8"):
            self._session.error(f"code was generated for {WITHOUT_VECTORS}: see the settings in {details}")
        with (results / "results.csv").open(newline="", encoding="utf-8") as file:
            return {row["workload"] for row in csv.DictReader(file) if row["status"] not in WITHOUT_FAULT}

    def _check_again(self, study: Study, workloads: set[str]) -> None:
        """Check the workloads again, if there are any: a cell that is wrong fails again."""
        if not workloads:
            return
        with self._noting(f"study {study.name}"):
            run_host(self._session, *study.command, "--workload", ",".join(sorted(workloads)))
