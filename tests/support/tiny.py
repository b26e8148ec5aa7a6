"""Makes a framework of one line, as a wheel with its lock, so that an image is built without a network."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path

from bench.host.environments import locks
from bench.host.study.schema import Environment

REQUIREMENTS = ("tinyframe==1.0",)

#: A study of the one environment, ready for its name and its base.
STUDY = """
[study]
name = "tiny"
baseline = "{name}:eager"
default = ["{name}"]
profile = "check"
[environments."{name}"]
provider = "container"
framework = "numpy"
python = "3.11"
requirements = ["tinyframe==1.0"]
base = "{base}"
modes = ["eager"]
[workloads.gemm]
[profiles.check]
rounds = 1
samples = 2
sample_seconds = 0.001
sizes = ["check"]
"""


def make_wheel(folder: Path, value: int = 1) -> Path:
    """Write a wheel of ``tinyframe`` whose module says ``value``."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        "tinyframe.py": f"value = {value}\n",
        "tinyframe-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tinyframe\nVersion: 1.0\n",
        "tinyframe-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "tinyframe-1.0.dist-info/RECORD"
    lines = [f"{name},sha256={_digest(text)},{len(text)}" for name, text in files.items()]
    path = folder / "tinyframe-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
        wheel.writestr(record, "\n".join([*lines, f"{record},,"]) + "\n")
    return path


def write_lock(root: Path, wheel: Path, name: str) -> Path:
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    content = f"tinyframe==1.0 \\\n    --hash=sha256:{digest}"
    return locks.write(name, REQUIREMENTS, "3.11", content, root=root)


def environment(name: str, base: str) -> Environment:
    return Environment(
        name=name,
        framework="numpy",
        provider="container",
        python="3.11",
        requirements=REQUIREMENTS,
        modes=("eager",),
        base=base,
    )


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
