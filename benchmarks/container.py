"""Measures the cost of containers: the times of cells in a container and in a venv with the same lock, and its start.

    nox -s benchmarks -- container [--environment jax] [--mode jit] [--base IMAGE] [--rounds 12] [--interpreter PATH]

A study measures GEMM and the MLP in venv and container, in turns on the same processors. Then follow the start of a
cell's container, a second preparation of an unchanged image, one after a change under bench/, and a count of what is
left on the engine. ``--base`` names a base image where the Dockerfile's cannot be pulled (docker/make-base),
``--interpreter`` an interpreter for the venv of the same version as the image's.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from tabulate import tabulate

from bench.host import environments, project
from bench.host.analysis.container_costs import container_costs
from bench.host.analysis.run_analysis import analyse
from bench.host.containers import image
from bench.host.containers.engine import Engine, connect
from bench.host.containers.labels import CONTAINER, PART, selector
from bench.host.environments import Prepared
from bench.host.executors.job import InstalledEnvironment
from bench.host.executors.launch import Launch
from bench.host.machine.processors import chosen
from bench.host.measuring.study_run import StudyRun
from bench.host.storage.compile_caches import CompileCaches
from bench.host.storage.manifest import read as read_manifest
from bench.host.study import selection, study_file
from bench.host.study.environment import Environment

ROOT = Path(__file__).resolve().parents[1]
GOALS = {"ratio": "equivalent within 2 %", "start": 0.5, "again": 1.0}
STARTS = 15

STUDY = """
[study]
name = "container-cost"
baseline = "{name}:{mode}"
default = ["{name}", "{name}-container"]
profile = "cost"
seed = 1
threads = 1
[environments.{name}]
framework = "{framework}"
python = "{python}"
requirements = {requirements}
modes = ["{mode}"]
{interpreter}
[environments.{name}-container]
provider = "container"
framework = "{framework}"
lock = "{name}"
modes = ["{mode}"]
{base}
[workloads.gemm]
[workloads.mlp-train]
[profiles.cost]
rounds = {rounds}
most_rounds = {most}
peaks = false
samples = 30
sample_seconds = 0.02
sizes = ["{size}"]
compile_cache = "kept"
"""


def main(arguments: list[str]) -> int:
    options = _options(arguments)
    engine = connect()
    with tempfile.TemporaryDirectory(dir=ROOT / ".nox", prefix="container-") as folder:
        root = Path(folder)
        shutil.copytree(ROOT / "bench", root / "bench", ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("docker", "locks"):
            shutil.copytree(ROOT / name, root / name)
        # The copy is what containers mount: a part of it is changed below.
        project.PACKAGE = root / "bench"
        study = study_file.load(_write_study(options, root))
        prepared = {name: _prepare(study.environments[name], root) for name in study.environments}
        container = prepared[f"{options.environment}-container"]
        rows = [*_speeds(study, prepared, container, root), *_costs(study, prepared, root)]
        for each in image.images(engine, root):
            image.remove(engine, each)
        rows.append(_leftovers(engine, root))
    print(tabulate(rows, ["what", "measured", "goal"], tablefmt="github"))
    return 0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="nox -s benchmarks -- container", allow_abbrev=False)
    parser.add_argument("--environment", default="jax", help="a venv of matrix.toml")
    parser.add_argument("--mode", default="jit")
    parser.add_argument("--size", default="small")
    parser.add_argument("--base", help="a base image, where the Dockerfile's cannot be pulled")
    parser.add_argument("--interpreter", help="the interpreter of the venv")
    parser.add_argument("--rounds", type=int, default=12)
    return parser.parse_args(arguments)


def _write_study(options: argparse.Namespace, root: Path) -> Path:
    venv = study_file.load(ROOT / "matrix.toml").environments[options.environment]
    path = root / "study.toml"
    text = STUDY.format(
        name=venv.name,
        mode=options.mode,
        framework=venv.framework,
        python=venv.python,
        requirements=list(venv.requirements),
        interpreter=f'interpreter = "{options.interpreter}"' if options.interpreter else "",
        base=f'base = "{options.base}"' if options.base else "",
        rounds=options.rounds,
        most=max(40, options.rounds),
        size=options.size,
    )
    path.write_text(text, encoding="utf-8")
    return path


def _prepare(environment: Environment, root: Path) -> Prepared:
    prepared = environments.prepare(environment, root=root, announce=_say)
    if prepared.status != "ok":
        raise SystemExit(f"{prepared.name}: {prepared.status}: {prepared.reason}")
    return prepared


def _speeds(
    study: study_file.Study, prepared: dict[str, Prepared], container: Prepared, root: Path
) -> list[list[object]]:
    """Time the preparation of an image and the start of a cell."""
    wanted = study.environments[container.name]
    rows: list[list[object]] = []
    again_s = _time(lambda: _prepare(wanted, root))
    rows.append(["second preparation of an unchanged image", f"{again_s:.2f} s", f"{GOALS['again']} s"])
    with (root / "bench" / "worker" / "__init__.py").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    changed_s = _time(lambda: _prepare(wanted, root))
    same = _prepare(wanted, root).manifest["image"]["id"] == container.manifest["image"]["id"]
    rows.append(
        [
            "preparation after a change under bench/",
            f"{changed_s:.2f} s, {'the same' if same else 'ANOTHER'} image",
            "the same",
        ]
    )
    for name, each in prepared.items():
        started, answered = zip(*(_start_s(each, root, study) for _ in range(STARTS)), strict=True)
        text = f"{_spread(started)}; until its first message {_spread(answered)}"
        rows.append([f"start of a cell, {name}", text, f"{GOALS['start']} s" if each is container else "–"])
    return rows


def _spread(times_s: Sequence[float]) -> str:
    return f"{statistics.median(times_s):.2f} s (longest {max(times_s):.2f})"


def _start_s(prepared: Prepared, root: Path, study: study_file.Study) -> tuple[float, float]:
    """Time a worker until its process or container has started, and until its first message."""
    plan = selection.select(study, selection.Selection(environments=[prepared.name], threads=1))
    caches = CompileCaches(root / ".nox" / "compile-caches", "starts", False, {})
    launch = Launch(
        InstalledEnvironment(prepared.command, prepared.manifest),
        plan.cells[0],
        root=root,
        caches=caches,
        log=root / "log",
        processors=chosen(1),
    )
    start = time.perf_counter()
    worker = launch.worker()
    started_s = time.perf_counter() - start
    try:
        worker.line(time.monotonic() + 60)  # type: ignore[attr-defined]  # both kinds of worker have it
        return started_s, time.perf_counter() - start
    finally:
        worker.close()


def _costs(study: study_file.Study, prepared: dict[str, Prepared], root: Path) -> list[list[object]]:
    """Measure the cells and compare each pair."""
    plan = selection.select(study, selection.Selection())
    records = StudyRun(root, study, plan, prepared, Console(stderr=True)).measure(fresh=True)
    manifest = read_manifest(root / "reports" / study.settings.name)
    assert manifest is not None
    rows: list[list[object]] = []
    for cost in container_costs(analyse(records, manifest), manifest):
        measured = cost.container.reason or "no pair"
        if cost.comparison is not None:
            ratio, verdict = cost.comparison.ratio, cost.comparison.verdict
            low, high = ratio.deciding or (float("nan"), float("nan"))
            called = verdict.value if verdict else "no verdict"
            measured = f"{ratio.estimate.value:.4f} [{low:.4f}, {high:.4f}], {called}"
        rows.append([f"container over venv, {cost.container.cell.row}", measured, GOALS["ratio"]])
    return rows


def _leftovers(engine: Engine, root: Path) -> list[object]:
    labelled = {label: {"label": selector(label, root)} for label in (CONTAINER, PART)}
    api = engine.api
    found = [
        *api.containers(all=True, filters=labelled[CONTAINER]),
        *api.containers(all=True, filters=labelled[PART]),
        *api.images(filters={"dangling": True, **labelled[PART]}),
        *image.images(engine, root),
        *api.networks(filters=labelled[CONTAINER]),
        *(api.volumes(filters=labelled[CONTAINER])["Volumes"] or []),
    ]
    return ["containers, images, networks and volumes left", len(found), 0]


def _time(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
