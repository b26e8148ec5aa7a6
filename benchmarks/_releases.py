"""Makes a tiny framework in twelve releases, of which those from one on compute more, and serves their wheels."""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import os
import threading
import zipfile
from collections.abc import Iterator, Sequence
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

RELEASES = 12
#: The operations of a step; a slowdown adds a share of them.
WORK = 100
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
requirements = ["numpy==2.4.6"]
modes = ["eager"]
[workloads.saxpy]
[profiles.brief]
rounds = 8
samples = 24
sample_seconds = 0.0004
sizes = ["tiny"]
timeout_s = 60
"""


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
