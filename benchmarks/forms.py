"""Compares forms of our programs: the present one, and others that replace some of its functions.

    nox -s benchmarks -- forms FILE ENVIRONMENT:MODE:WORKLOAD:SIZE … [--forms NAME,…] [--turns N] [--threads N]
                               [--precision NAME] [--steps N] [--wall] [--matrix FILE]

``benchmarks/forms/FILE.py`` holds the forms, ``FORMS = {name: {"module:function": its replacement}}``. A name without
a colon is an environment variable, such as ``MALLOC_MMAP_MAX_``. Each form has a process of its own, and is compared
with float64 at the size ``check`` first. One that differs is not timed. The processes take turns, sample by sample,
forwards and backwards. On one thread, processor time counts, or elapsed time with ``--wall``. A ratio compares a form
with the present form in the same turn; below 1 the form is faster. Page faults are those of a step. Environments must
have been built.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from tabulate import tabulate

from bench.host.study import study_file

from ._environments import ROOT, answer, interpreter_of, variables_of

PROGRAM = Path(__file__).resolve().parent / "_form.py"
FOLDER = Path(__file__).resolve().parent / "forms"
STUDY = ROOT / "studies" / "full.toml"
PRESENT = "present"
TURNS = 9
#: Forms that are compared with float64 at the same time.
CHECKS = 2
TIMEOUT_S = 900
READ_VARIABLES = """
import json, runpy, sys
forms = runpy.run_path(sys.argv[1])["FORMS"]
print(json.dumps({name: {key: form[key] for key in form if ":" not in key} for name, form in forms.items()}))
"""


class Form:
    """A process that has built a form of a program."""

    def __init__(self, command: list[str], made: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            command, env=made, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def answer(self) -> str:
        """Return the next line; raise SystemExit where the process has ended without one."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        if not line:
            raise SystemExit(f"{' '.join(self._process.args)}: no answer\n{self._process.communicate()[1]}")
        return line

    def sample(self) -> tuple[float, float]:
        """Return the seconds and page faults of a step."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        step_s, faults = map(float, self.answer().split())
        return step_s, faults

    def close(self) -> None:
        self._process.communicate()


def compare(cell: str, path: Path, options: argparse.Namespace) -> list[list[str]]:
    """Return the rows of a cell: a form, its agreement, median and quartiles of its ratio to the present one."""
    environment, mode, workload, size = cell.split(":")
    interpreter = interpreter_of(environment)
    declared = study_file.load(options.matrix).environments[environment]
    given = forms_of(path, interpreter, declared.variables)
    names = options.forms.split(",") if options.forms else list(given)
    framework = str(declared.framework)
    made = variables_of(interpreter, framework, options.threads, declared.variables)
    clock = "perf_counter" if options.wall or options.threads > 1 else "process_time"

    def command(size: str, form: str) -> list[str]:
        asked = [framework, mode, workload, size, options.precision, str(path), form, str(options.steps), clock]
        return [*interpreter, str(PROGRAM), *asked]

    makes = {name: {**made, **given.get(name, {})} for name in (PRESENT, *names)}
    with ThreadPoolExecutor(CHECKS) as pool:
        # Each prints the worst share of the allowed error, or how it differs.
        checked = pool.map(lambda name: answer(command("check", name), makes[name], TIMEOUT_S), makes)
        found = dict(zip(makes, checked, strict=True))
    running = {name: Form(command(size, name), makes[name]) for name, said in found.items() if is_number(said)}
    measured = take_turns(running, options.turns)
    return [[cell, name, said, *summary(measured, name)] for name, said in found.items()]


def take_turns(running: dict[str, Form], turns: int) -> dict[str, np.ndarray]:
    """Return the seconds and page faults of a step, for each form and turn."""
    measured: dict[str, list[tuple[float, float]]] = {name: [] for name in running}
    for form in running.values():
        form.answer()
    for turn in range(turns):
        for name in list(running)[:: 1 if turn % 2 else -1]:
            measured[name].append(running[name].sample())
    for form in running.values():
        form.close()
    return {name: np.array(samples) for name, samples in measured.items()}


def summary(measured: dict[str, np.ndarray], name: str) -> list[str]:
    if name not in measured:
        return ["-", "-", "-", "-"]
    step_s, faults = measured[name].T
    low, middle, high = np.quantile(step_s / measured[PRESENT][:, 0], [0.25, 0.5, 0.75])
    return [f"{np.median(step_s) * 1e6:.1f}", f"{middle:.3f}", f"{low:.3f} to {high:.3f}", f"{np.median(faults):.0f}"]


def is_number(text: str) -> bool:
    return text.replace(".", "").replace("e-", "").isdigit()


def forms_of(path: Path, command: tuple[str, ...], own: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the environment variables of each form of a file, which only the cell's environment can import.

    ``own`` are those of the environment: what Keras computes with is one of them.
    """
    asked = [*command, "-c", READ_VARIABLES, str(path)]
    made = {**os.environ, **own}
    done = subprocess.run(asked, cwd=ROOT, env=made, capture_output=True, text=True, check=True)
    found: dict[str, dict[str, str]] = json.loads(done.stdout.splitlines()[-1])
    return found


def main(arguments: list[str]) -> int:
    """Print the table of all cells."""
    parser = argparse.ArgumentParser("nox -s benchmarks -- forms")
    parser.add_argument("file", choices=sorted(path.stem for path in FOLDER.glob("*.py")))
    parser.add_argument("cells", nargs="+", metavar="ENVIRONMENT:MODE:WORKLOAD:SIZE")
    parser.add_argument("--forms", help="names; without it, all of the file")
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--steps", type=int, default=0, help="steps of a sample; without it, as many as last 0.1 s")
    parser.add_argument("--wall", action="store_true", help="elapsed time on one thread, too: on a quiet machine")
    parser.add_argument("--matrix", type=Path, default=STUDY, help="the study that has the environments")
    options = parser.parse_args(arguments)
    path = FOLDER / f"{options.file}.py"
    rows = []
    for cell in options.cells:
        found = compare(cell, path, options)
        rows += found
        for row in found:
            print(*row, sep="  ", file=sys.stderr, flush=True)
    headers = ["cell", "form", "share of allowed error", "median / µs", "to present", "middle half", "page faults"]
    print(tabulate(rows, headers, "github", disable_numparse=True))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
