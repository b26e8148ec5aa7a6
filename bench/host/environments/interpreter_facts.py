"""Describes the interpreter that runs it, by path, in any Python from 3.7, with the standard library alone.

It writes one JSON object to standard output. After the option ``--packages [MODULE …]`` that also lists the
interpreter's packages, and which of the named modules cannot be found.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import sys
import sysconfig
from typing import Any, Dict


def describe_interpreter() -> Dict[str, Any]:
    headers = sysconfig.get_paths().get("include") or ""
    named = os.path.join(sys.base_prefix, "bin", "python{}.{}".format(*sys.version_info))
    return {
        "executable": sys.executable,
        # A virtual environment's interpreter is a link, which is removed with it; this is the interpreter behind it.
        "base": getattr(sys, "_base_executable", None) or named,
        "version": platform.python_version(),
        "implementation": platform.python_implementation(),
        "build": " ".join(platform.python_build()),
        "compiler": platform.python_compiler(),
        "bits": 64 if sys.maxsize > 2**32 else 32,
        "machine": platform.machine(),
        "headers": os.path.isfile(os.path.join(headers, "Python.h")),
        "venv": importlib.util.find_spec("venv") is not None,
        "debug": hasattr(sys, "gettotalrefcount"),
        "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        "bytecode": importlib.util.MAGIC_NUMBER.hex(),
        "cache_tag": sys.implementation.cache_tag,
        "site_packages": sysconfig.get_paths()["purelib"],
    }


def list_packages() -> Dict[str, str]:
    """Return {name: version} of what can be imported; Python 3.7 has no importlib.metadata."""
    packages: Dict[str, str] = {}
    for folder in filter(os.path.isdir, sys.path):
        for entry in sorted(os.listdir(folder)):
            if entry.endswith((".dist-info", ".egg-info")):
                stated = read_metadata(os.path.join(folder, entry))
                if "name" in stated and "version" in stated:
                    packages.setdefault(stated["name"], stated["version"])
    return packages


def read_metadata(place: str) -> Dict[str, str]:
    """Return the headers, by lower-case name, of the file that describes a package; empty where there is none."""
    headers: Dict[str, str] = {}
    for path in (os.path.join(place, "METADATA"), os.path.join(place, "PKG-INFO"), place):
        if os.path.isfile(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                for line in file:
                    if not line.strip():
                        break
                    name, _, value = line.partition(":")
                    headers.setdefault(name.lower(), value.strip())
            break
    return headers


if __name__ == "__main__":
    answer = describe_interpreter()
    if "--packages" in sys.argv:
        answer["packages"] = dict(sorted(list_packages().items(), key=lambda item: item[0].lower()))
        modules = sys.argv[sys.argv.index("--packages") + 1 :]
        answer["missing"] = [name for name in modules if importlib.util.find_spec(name) is None]
    json.dump(answer, sys.stdout)
