"""Measures how long it takes to rebuild the environments of the default study with warm caches, by us and by pip.

    nox -s benchmarks -- rebuild [ENVIRONMENT …]

Both build every environment from the same lock into an empty folder and compile its bytecode. The first builds, which
fill the caches, are not timed. Ours is timed before and after pip, to show whether the machine's speed changed.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tabulate import tabulate

from bench.host import environments
from bench.host.environments.interpreters import find
from bench.host.setup.installer import installer_environ
from bench.host.setup.tool import run_tool
from bench.host.study import study_file
from bench.host.study.environment import Environment

ROOT = Path(__file__).resolve().parents[1]
GOAL_S, GOAL_FACTOR = 15, 8


def main(names: list[str]) -> int:
    study = study_file.load(ROOT / "matrix.toml")
    chosen = [study.environments[name] for name in names or study.settings.default]
    state = ROOT / ".nox"
    state.mkdir(exist_ok=True)
    rows = []
    # In the checkout, so that files are cloned from the cache where its file system can, and copied elsewhere.
    with tempfile.TemporaryDirectory(dir=state, prefix="rebuild-") as folder:
        root = Path(folder)
        shutil.copytree(ROOT / "locks", root / "locks")
        for environment in chosen:
            rows.append([environment.name, *_compare(environment, root)])
            print(f"{environment.name}: {rows[-1][1]:.1f} s; pip {rows[-1][3]:.1f} s", file=sys.stderr, flush=True)
    totals = [sum(row[column] for row in rows) for column in (1, 2, 3)]
    rows.append(["all", *totals])
    for row in rows:
        row.append(row[3] / ((row[1] + row[2]) / 2))
    headers = ["environment", "ours / s", "ours again / s", "pip / s", "times faster"]
    print(tabulate(rows, headers, tablefmt="github", floatfmt=".1f"))
    print(f"\nGoals: all four under {GOAL_S} s, and {GOAL_FACTOR} times faster than pip.")
    return 0


def _compare(environment: Environment, root: Path) -> tuple[float, float, float]:
    """Return the seconds of our first and second build and of pip's, in the table's order."""
    _time(lambda: _ours(environment, root), root)
    first = _time(lambda: _ours(environment, root), root)
    _fill_pip_cache(environment, root)
    pip = _time(lambda: _pip(environment, root), root)
    return first, _time(lambda: _ours(environment, root), root), pip


def _time(build: Callable[[], None], root: Path) -> float:
    """Return the seconds of a build, whose environment is removed after it."""
    start = time.perf_counter()
    build()
    elapsed_s = time.perf_counter() - start
    shutil.rmtree(root / ".nox" / "environments")
    return elapsed_s


def _ours(environment: Environment, root: Path) -> None:
    prepared = environments.prepare(environment, root=root, announce=lambda text: None)
    if prepared.status != "ok":
        raise SystemExit(f"{environment.name}: {prepared.status}: {prepared.reason}")


def _pip(environment: Environment, root: Path) -> None:
    """Make a new environment and install the lock with its hashes by pip."""
    folder = root / ".nox" / "environments" / environment.name
    _run(_interpreter(environment), "-m", "venv", str(folder))
    _run(str(folder / "bin" / "python"), *_INSTALL, "-r", str(root / "locks" / f"{environment.name}.txt"))


def _fill_pip_cache(environment: Environment, root: Path) -> None:
    target = root / "downloaded"
    lock = str(root / "locks" / f"{environment.name}.txt")
    _run(_interpreter(environment), "-m", "pip", "download", *_INSTALL[3:], "--dest", str(target), "-r", lock)
    shutil.rmtree(target)


_INSTALL = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "--no-deps")


def _interpreter(environment: Environment) -> str:
    wanted = environment.python or ""
    return find(wanted, uv=None, root=ROOT, announce=lambda text: None, path=environment.interpreter).path


def _run(*command: str) -> None:
    run_tool(command, label="pip", announce=lambda text: None, environ=installer_environ(ROOT))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
