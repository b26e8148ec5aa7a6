"""Bisects releases of a tiny framework with a slowdown planted in one of them, and counts where it is found.

    nox -s benchmarks -- bisections [--slowdowns 5,2,0] [--bisections 20] [--minutes 40] [--folder FOLDER]

The framework has twelve releases, each a wheel that an index on this machine serves; from release k on, a step computes
that many percent more. Each bisection has a k of its own and runs the command's code: locks, environments with NumPy,
worker processes, pairs that take turns. Environments are kept between bisections, pairs are not; counted are the
environments that a bisection used. Kinds of bisections take turns, so that an interrupted benchmark has some of each.
The figures to reach: found at k in 20 of 20 at 5 %, in 19 of 20 at 2 %, 0 of 20 found without a slowdown, and at most
2 log2(12) + 1 environments in the median.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import functools
import hashlib
import io
import math
import os
import statistics
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
from tabulate import tabulate

from bench.host.__main__ import parser
from bench.host.commands import bisect
from bench.host.measuring.bisection_run import Bisected
from bench.host.statistics.bisection import Change, NoChange
from bench.host.study import options as study_options

RELEASES = 12
#: The operations of a step; a slowdown adds a share of them.
WORK = 100
NUMPY = "numpy==2.4.6"
SOURCE = '''"""A tiny framework: it computes a step as often as its release says."""

WORK = {work}


def saxpy(scale, left, right):
    for _ in range(WORK):
        result = scale * left + right
    return {{"sum": result}}
'''
FACTS = """
from bench.frameworks.facts import Facts, Mode
FACTS = Facts(
    product="Tiny", distribution="tinyreleases", import_name="tinyreleases", modes=(Mode("eager"),),
    computes_with_numpy=True,
)
"""
ADAPTER = "from bench.frameworks.numpy.adapter import Adapter\n"
SPECIFICATION = '''"""Specifies saxpy: a vector scaled by a parameter, and another one added to it."""
import numpy as np

ITEM = "element"
SIZES = {"tiny": {"length": 1024}}
PRECISIONS = ("float32",)
TRAINING = False


def parameters(size, random):
    return {"scale": random.standard_normal(1).astype(np.float32)}


def batch(size, random, source=None):
    return tuple(random.standard_normal(size["length"]).astype(np.float32) for _ in range(2))


def reference(size, parameters, batch):
    return {"sum": parameters["scale"] * batch[0] + batch[1]}


def items(size):
    return size["length"]


def useful_flops(size):
    return 2.0 * size["length"]


def compulsory_bytes(size, itemsize):
    return 3.0 * itemsize * size["length"]
'''
IMPLEMENTATION = """
import tinyreleases
from bench.frameworks.numpy.adapter import inference


def build(size, parameters, batch, transform):
    return inference(lambda parameters, *batch: tinyreleases.saxpy(parameters["scale"], *batch), parameters, transform)
"""
STUDY = """
[study]
name = "{name}"
baseline = "tiny-{first}:eager"
default = ["tiny"]
profile = "brief"
seed = {seed}
threads = 1
paths = ["./plugin"]
[environments.tiny]
framework = "tiny"
python = "3.11"
versions = {versions}
requirements = ["{numpy}"]
modes = ["eager"]
[workloads.saxpy]
[profiles.brief]
rounds = 8
samples = 24
sample_seconds = 0.0004
sizes = ["tiny"]
timeout_s = 60
"""


@dataclass(frozen=True)
class Trial:
    """One bisection: what was planted, and what was found."""

    percent: int
    #: The first slow release; None without a slowdown.
    planted: int | None
    #: ``at k``, ``elsewhere``, ``left open`` or ``none``.
    outcome: str
    environments: int
    pairs: int
    seconds: float


def version(number: int, percent: int) -> str:
    """Name a release; a slow one is a build of its own, so that both can be kept."""
    return f"1.{number}.post{percent}" if percent else f"1.{number}"


def write_wheel(folder: Path, name: str, work: int) -> None:
    """Write the wheel of one release."""
    info = f"tinyreleases-{name}.dist-info"
    files = {
        "tinyreleases.py": SOURCE.format(work=work),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: tinyreleases\nVersion: {name}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    digests = {file: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()) for file, text in files.items()}
    lines = [f"{file},sha256={digests[file].rstrip(b'=').decode()},{len(text)}" for file, text in files.items()]
    with zipfile.ZipFile(folder / f"tinyreleases-{name}-py3-none-any.whl", "w") as wheel:
        for file, text in {**files, f"{info}/RECORD": "\n".join([*lines, f"{info}/RECORD,,"]) + "\n"}.items():
            wheel.writestr(file, text)


@contextlib.contextmanager
def served(folder: Path, percents: Sequence[int]) -> Iterator[None]:
    """Serve the wheels of all releases beside the usual index while the context lasts."""
    pages = folder / "index" / "tinyreleases"
    pages.mkdir(parents=True, exist_ok=True)
    for percent in {0, *percents}:
        for number in range(RELEASES):
            write_wheel(pages, version(number, percent), WORK + WORK * percent // 100)
    links = (
        f'<a href="{wheel.name}#sha256={hashlib.sha256(wheel.read_bytes()).hexdigest()}">{wheel.name}</a>'
        for wheel in sorted(pages.glob("*.whl"))
    )
    (pages / "index.html").write_text(f"<!DOCTYPE html><html><body>{''.join(links)}</body></html>")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(pages.parent))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        os.environ["UV_INDEX"] = f"http://127.0.0.1:{server.server_port}/"
        try:
            yield
        finally:
            del os.environ["UV_INDEX"]
            server.shutdown()


def write_plugin(folder: Path) -> None:
    """Write the framework's facts, its adapter and its one workload."""
    files = {
        "frameworks/tiny/facts.py": FACTS,
        "frameworks/tiny/adapter.py": ADAPTER,
        "workloads/saxpy/__init__.py": SPECIFICATION,
        "workloads/saxpy/tiny.py": IMPLEMENTATION,
    }
    for name, text in files.items():
        path = folder / "plugin" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def trial(project: Path, number: int, percent: int, planted: int | None) -> Trial:
    """Bisect once, as ``nox -s bisect`` does, in a study of its own, so that no pair is used twice."""
    versions = [version(n, 0 if planted is None or n < planted else percent) for n in range(RELEASES)]
    study = STUDY.format(name=f"trial-{number}", first=versions[0], seed=number + 1, versions=versions, numpy=NUMPY)
    (project / "matrix.toml").write_text(study)
    given = ["bisect", "tiny", "--no-attribution", "--matrix", str(project / "matrix.toml")]
    options = parser(given).parse_args(given, argparse.Namespace(root=project))
    start = time.monotonic()
    with contextlib.redirect_stdout(io.StringIO()):
        read = study_options.read_study(options)
        plan, cells = bisect.releases(read, options)
        found = bisect.measure(read, plan, cells, options)
    used = {name for key in found.pairs for name in key}
    pairs = sum(map(len, found.pairs.values()))
    return Trial(percent, planted, outcome(found, versions, planted), len(used), pairs, time.monotonic() - start)


def outcome(found: Bisected, versions: Sequence[str], planted: int | None) -> str:
    if found.unavailable:
        raise SystemExit(f"not measured: {dict(found.unavailable)}")
    if isinstance(found.end, NoChange):
        return "none" if found.end.settled else "left open"
    if not isinstance(found.end, Change):
        return "left open"
    at = planted is not None and found.releases[found.end.release] == f"tiny-{versions[planted]}"
    return "at k" if at else "elsewhere"


def summary(trials: Sequence[Trial]) -> str:
    """Make the table: a row per slowdown."""
    rows = []
    for percent in dict.fromkeys(one.percent for one in trials):
        own = [one for one in trials if one.percent == percent]
        counts = [sum(one.outcome == kind for one in own) for kind in ("at k", "elsewhere", "left open", "none")]
        most = max(one.environments for one in own)
        medians = [
            statistics.median(getattr(one, name) for one in own) for name in ("environments", "pairs", "seconds")
        ]
        rows.append((f"{percent} %", len(own), *counts, medians[0], most, medians[1], f"{medians[2]:.0f}"))
    titles = ("slowdown", "bisections", "at k", "elsewhere", "left open", "none", "environments", "most", "pairs", "s")
    limit = 2.0 * math.log2(RELEASES) + 1.0
    return f"{tabulate(rows, titles)}\n\nenvironments, pairs, s: medians; at most {limit:.1f} environments are the goal"


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    given.add_argument("--slowdowns", default="5,2,0", help="percent, separated by commas; 0 plants none")
    given.add_argument("--bisections", type=int, default=20, help="of each slowdown")
    given.add_argument("--minutes", type=float, default=math.inf, help="no bisection begins after so many")
    given.add_argument("--folder", type=Path, help="keep the project there; a temporary folder by default")
    options = given.parse_args()
    percents = [int(text) for text in options.slowdowns.split(",")]
    end = time.monotonic() + 60.0 * options.minutes
    random = np.random.default_rng(1)
    # Each release as often as any other.
    places = [random.permutation(np.arange(options.bisections) % (RELEASES - 1)) + 1 for _ in percents]
    trials: list[Trial] = []
    with contextlib.ExitStack() as stack:
        project = options.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        project.mkdir(parents=True, exist_ok=True)
        write_plugin(project)
        stack.enter_context(served(project, percents))
        for number in range(options.bisections * len(percents)):
            turn, kind = divmod(number, len(percents))
            if time.monotonic() > end:
                break
            percent = percents[kind]
            trials.append(trial(project, number, percent, int(places[kind][turn]) if percent else None))
            print(trials[-1], file=sys.stderr, flush=True)
    print(summary(trials))


if __name__ == "__main__":
    main()
