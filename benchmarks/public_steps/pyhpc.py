"""Runs the kernels of pyhpc-benchmarks, the original of three workloads, out of a checkout of its repository.

https://github.com/dionhaefner/pyhpc-benchmarks (Unlicense). Nothing of it is here. The equation of state computes point
by point, and has our batch. The others have axes in another order (columns, rows and levels) and borders of their own.
Their grids have as many points as ours, and numbers of the same ranges, but their outputs cannot be compared with ours.
"""

from __future__ import annotations

import ast
import importlib.util
from contextlib import nullcontext
from pathlib import Path
from unittest import mock

import numpy as np

#: {workload: (folder and beginning of the file, function)}
KERNELS = {
    "equation-of-state": ("equation_of_state/eos", "gsw_dHdT"),
    "isoneutral-mixing": ("isoneutral_mixing/isoneutral", "isoneutral_diffusion_pre"),
    "turbulent-kinetic-energy": ("turbulent_kinetic_energy/tke", "integrate_tke"),
}
#: Those with inputs of their own.
UNCOMPARED = ("isoneutral-mixing", "turbulent-kinetic-energy")
#: Outputs have the layout of the batch.
OUTPUTS = {}
FILES = {"torch": "pytorch", "jax": "jax", "tensorflow": "tensorflow"}
#: Ranges of what is not between 0.1 and 1.
RANGES = {
    "salt": (30, 40), "temp": (-2, 30), "K_iso": (500, 1500), "zt": (-5000, -10),
    **dict.fromkeys(("dxt", "dxu", "dyt", "dyu"), (5e4, 1.5e5)),
    **dict.fromkeys(("dzt", "dzw", "mxl"), (50, 150)),
}  # fmt: skip
#: {what a name begins with: its axes, of x, y, z and the three levels of time t or the pair and pair of slopes ij}
AXES = {
    "dx": "x", "dy": "y", "dz": "z", "cos": "y", "zt": "z", "kbot": "xy", "forc_tke": "xy", "salt": "xyzt",
    "temp": "xyzt", "Ai": "xyzij", "u": "xyzt", "v": "xyzt", "w": "xyzt", "tke": "xyzt", "dtke": "xyzt",
}  # fmt: skip


def runs(framework, workload, size, mode, batch, put, checkout):
    """Return ``{"pyhpc": run}``; empty where the repository has no such kernel, or no checkout is given."""
    if workload not in KERNELS or not checkout:
        return {}
    beginning, name = KERNELS[workload]
    path = Path(checkout) / "benchmarks" / f"{beginning}_{FILES[framework]}.py"
    if not path.exists():
        return {}
    inputs = [put(array) for array in drawn(arguments(path, name), size)] if workload in UNCOMPARED else batch
    return {"pyhpc": LOOPS[framework](path, name, mode, inputs)}


def arguments(path, name):
    """Return the names of a function's arguments; what is scripted has none to ask for."""
    (found,) = (node for node in ast.parse(path.read_text()).body if getattr(node, "name", None) == name)
    return [argument.arg for argument in found.args.args]


def drawn(names, size):
    random = np.random.RandomState(0)
    lengths = {"x": size["width"], "y": size["height"], "z": size["levels"], "t": 3, "i": 2, "j": 2}
    found = []
    for name in names:
        axes = next((axes for start, axes in sorted(AXES.items(), reverse=True) if name.startswith(start)), "xyz")
        shape = [lengths[axis] for axis in axes]
        array = random.uniform(*RANGES.get(name, (0.1, 1.0)), shape).astype(np.float32)
        if name.startswith("mask"):
            array = (array < 0.8).astype(np.float32)
        found.append(random.randint(1, size["levels"], shape) if name == "kbot" else array)
    return found


def loaded(path):
    spec = importlib.util.spec_from_file_location("pyhpc_" + path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def with_torch(path, name, mode, inputs):
    """Run the kernel scripted, as it comes; in other modes as the function that is scripted there."""
    import torch
    from kernels_torch import looped
    from transforms_torch import inferring

    if mode == "torchscript":
        function = getattr(loaded(path), name)
    else:
        with mock.patch.object(torch.jit, "script", lambda function: function):
            function = inferring(getattr(loaded(path), name), mode, tuple(inputs))
    return looped(lambda *batch: function(*inputs), differentiates=False, mode=mode)


def with_jax(path, name, mode, inputs):
    """Run the kernel under jax.jit, as it comes; with ``jit-aot`` its executable, with ``eager`` without jax.jit."""
    import jax
    from transforms_jax import jitted

    with mock.patch.object(jax, "jit", lambda function, **options: function) if mode == "eager" else nullcontext():
        function = getattr(loaded(path), name)
    if mode != "jit":
        function = jitted(function, mode, inputs)

    def run(batches):
        for _ in batches:
            outputs = function(*inputs)
            if mode == "jit-async":
                # As ours: steps of inference do not wait for each other by themselves.
                for value in outputs if isinstance(outputs, tuple) else (outputs,):
                    value.block_until_ready()
        return {"outputs": outputs}

    return run


def with_tensorflow(path, name, mode, inputs):
    from kernels_tensorflow import looped
    from with_tensorflow import traced

    function = traced(getattr(loaded(path), name), mode, inputs)
    return looped(lambda *batch: function(*inputs))


LOOPS = {"torch": with_torch, "jax": with_jax, "tensorflow": with_tensorflow}
