"""Decides what environment variables a worker gets; any other one could change how it computes."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Mapping

from bench.frameworks.facts import Facts

#: Variables of the host that a worker needs to find its libraries and devices.
INHERITED = (
    "PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH",
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES", "CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "ROCM_PATH",
)  # fmt: skip
#: Variables of a module system by which its Python finds packages and libraries, and frameworks their compiler.
MODULE_SYSTEM = ("PYTHONPATH", "LD_LIBRARY_PATH", "CC", "CXX", "CPATH", "LIBRARY_PATH")
#: Libraries below the frameworks that read their number of threads from <name>_NUM_THREADS.
THREADED = ("OMP", "MKL", "OPENBLAS", "NUMEXPR", "BLIS")
#: Bytes by which the stack is moved at most: a page.
MOST_ROOM = 4096


def of_process(threads: int, inherited: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables of every process that computes: a short list of inherited ones, and thread numbers."""
    made = {name: inherited[name] for name in INHERITED if name in inherited}
    return {**made, **{f"{name}_NUM_THREADS": str(threads) for name in THREADED}}


def of_threads(threads: int, facts: Facts) -> dict[str, str]:
    """Return the variables that say how many threads a worker has."""
    return {
        **of_process(threads, {}),
        **{name: value.format(threads=threads) for name, value in facts.variables.items()},
    }


def of_worker(
    threads: int,
    facts: Facts,
    *,
    layout: int | None = None,
    caches: Mapping[str, str] | None = None,
    own: Mapping[str, str] | None = None,
    interpreter: str = "",
    inherited: Mapping[str, str] = os.environ,
) -> dict[str, str]:
    """Return the variables of a worker of the framework that ``facts`` describe.

    ``layout`` is the seed of its memory layout, ``caches`` lead to its compilation cache, and ``own`` is what its
    environment sets, which goes before all others. ``interpreter`` is the path of one whose programs it finds first.
    """
    return {
        **of_process(threads, activated(interpreter, inherited)),
        **of_threads(threads, facts),
        **of_layout(layout),
        # NumPy would ask for huge pages for parts of the heap in which arrays of the framework come to lie, of 4 MiB
        # and more.
        **({} if facts.computes_with_numpy else {"NUMPY_MADVISE_HUGEPAGE": "0"}),
        **(caches or {}),
        **(own or {}),
    }


def activated(interpreter: str, inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the inherited variables with an interpreter's folder in PATH, first, as after ``activate``.

    PyTorch 2.0 tries vector instructions in a program called ``python``. Where that is an interpreter without PyTorch,
    it generates code without any. A folder that is in PATH stays where it is: in ``/usr/bin`` lie other compilers.
    """
    folder, path = os.path.dirname(interpreter), inherited.get("PATH", "")
    if not folder or folder in path.split(os.pathsep):
        return dict(inherited)
    return {**inherited, "PATH": os.pathsep.join(filter(None, (folder, path)))}


def of_module_system() -> dict[str, str]:
    """Return the variables that a worker of an interpreter that was there already gets, too."""
    return {name: os.environ[name] for name in MODULE_SYSTEM if os.environ.get(name)}


def of_gpus(device: str, count: int, inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that show a worker on GPUs as many as its mode divides a step between.

    Some frameworks open all that they see, and their memory would be that of the cell. CUDA numbers the fastest GPU
    first; the driver, nvidia-smi and container engines number GPUs by their places on the bus. So CUDA does that, too,
    unless the user has chosen an order.
    """
    if device == "cpu":
        return {}
    visible = inherited.get("CUDA_VISIBLE_DEVICES")
    names = visible.split(",") if visible is not None else map(str, range(count))
    return {
        "CUDA_VISIBLE_DEVICES": ",".join(itertools.islice(names, count)),
        "CUDA_DEVICE_ORDER": inherited.get("CUDA_DEVICE_ORDER", "PCI_BUS_ID"),
    }


def of_layout(layout: int | None) -> dict[str, str]:
    """Return the variables that are part of a memory layout, the same for all processes of one row round.

    The seed of Python's hashes: the order of sets, and where dictionaries look, decide what is allocated. And one that
    only takes room, since variables lie above the stack and so move it (Mytkowicz et al. 2009).
    """
    if layout is None:
        return {}
    return {"PYTHONHASHSEED": str(layout % 2**32), "BENCHMATRIX_ROOM": "." * random.Random(layout).randrange(MOST_ROOM)}
