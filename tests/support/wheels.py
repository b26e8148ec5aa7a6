"""Makes wheels, their locks and scripts that play a tool, so that tests install packages without a network."""

from __future__ import annotations

import base64
import hashlib
import stat
import sys
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from bench.host.environments import locks
from bench.host.environments.locks import LockRequest

PYTHON = "{}.{}".format(*sys.version_info)
REPOSITORY = Path(__file__).resolve().parents[2]
MODULE = "tinyframe/__init__.py"


@dataclass(frozen=True)
class Wanted:
    """An environment as a study file describes one."""

    name: str = "tiny"
    framework: str = "tinyframe"
    provider: str = "venv"
    python: str | None = PYTHON
    requirements: tuple[str, ...] = ("tinyframe==1.0",)
    interpreter: str | None = sys.executable
    variables: dict[str, str] = field(default_factory=dict)
    driver: str | None = None
    allow_source: bool = False
    build_requirements: tuple[str, ...] = ()
    cpu_index: str | None = None
    lock: str | None = None
    preload: tuple[str, ...] = ()

    @property
    def lock_owner(self) -> str:
        return self.lock or self.name


def make_wheel(
    folder: Path,
    *,
    version: str = "1.0",
    tag: str = "py3-none-any",
    value: int = 1,
    name: str = "tinyframe",
    misstated: str = "/",
) -> Path:
    """Write a wheel, of ``tinyframe`` by default, whose one module says ``value``; a second one does not compile.

    Its RECORD has a wrong hash for the files whose names end with ``misstated``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        f"{name}/__init__.py": f"value = {value}\n",
        f"{name}/template.py": "this is {{ no }} Python\n",
        f"{name}-{version}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{name}-{version}.dist-info/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n",
    }
    record = f"{name}-{version}.dist-info/RECORD"
    listed = {file: text + "?" * file.endswith(misstated) for file, text in files.items()}
    digests = {file: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()) for file, text in listed.items()}
    lines = [f"{file},sha256={digests[file].rstrip(b'=').decode()},{len(text)}" for file, text in files.items()]
    path = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for file, text in {**files, record: "\n".join([*lines, f"{record},,"]) + "\n"}.items():
            # Without the time, so that equal files give equal wheels.
            described = zipfile.ZipInfo(file)
            described.external_attr = 0o644 << 16
            wheel.writestr(described, text)
    return path


def write_lock(root: Path, wheel: Path, wanted: Wanted) -> Path:
    """Write the lock that says ``wheel`` alone; any hash in it is right."""
    version = wheel.name.split("-")[1]
    content = f"tinyframe=={version} \\\n    --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}"
    assert wanted.python is not None
    return locks.write(LockRequest(wanted.name, wanted.python, wanted.requirements), content, root=root)


def make_script(path: Path, text: str) -> Path:
    """Write an executable shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path
