"""Holds a cell whose framework this process has imported: its adapter, its facts, and the program that it builds."""

from __future__ import annotations

import os
import time
from typing import Any, Callable, Dict, Mapping, NoReturn, Tuple

from ..cell import Cell
from ..frameworks.extension import ExtendedAdapter
from ..frameworks.facts import Facts
from ..program import Program, Transform, Unsupported
from ..registry import Registry
from . import family
from .checking.returned import kind_of
from .imported import Imported
from .limits import memory, peaks

#: Seconds in which the processes that compiled end, also where others need the processors.
COMPILERS_END_S = 30.0
#: Announces a stage.
Enter = Callable[[str], None]


class LiveCell:
    """One cell, from its import to the end of the process."""

    def __init__(self, cell: Cell, registry: Registry, imported: Imported) -> None:
        """Import framework and implementation, and make the adapter; raises what they raise."""
        self.cell = cell
        self.imported = imported
        self._registry = registry
        module = imported.adapter(registry, cell.framework)
        start = time.perf_counter()
        self.build = registry.implementation(cell.workload, cell.framework)
        own_s = time.perf_counter() - start
        #: Seconds of the imports; None where those of the framework are not known.
        self.import_s = None if imported.seconds is None else imported.seconds + own_s
        self.adapter = adapter_of(cell, registry, module)
        self.baseline = memory.Baseline()
        #: Made by ``first_call``, and closed by ``close`` also where its first step fails.
        self.program: Any = None

    def note_baseline(self) -> None:
        """Note the memory in use now. In a process of its own, preloaded modules are part of the first call."""
        self.baseline.note(self.imported.preloaded_bytes(self.preloads))

    @property
    def facts(self) -> Facts:
        return self._registry.facts(self.cell.framework)

    @property
    def preloads(self) -> Tuple[str, ...]:
        """List the modules that the cell imports in its first call, unless this process's parent has."""
        training = bool(self._registry.specification(self.cell.workload).TRAINING)
        return self.facts.preloads(self.cell.mode, training=training)

    @property
    def computes_in(self) -> str:
        """Return the precision of the products: the cell's, or the lower one that the mode has."""
        return self.facts.mode(self.cell.mode).computes_in or self.cell.precision

    def specified(self) -> Tuple[Any, Dict[str, int]]:
        """Return the specification of the cell's workload and its size; raises Unsupported for another precision."""
        specification = self._registry.specification(self.cell.workload)
        if self.cell.precision not in specification.PRECISIONS:
            raise Unsupported("workload {} is not specified for {}".format(self.cell.workload, self.cell.precision))
        return specification, specification.SIZES[self.cell.size]

    def transform(self) -> Transform:
        return Transform.of(self.facts.mode(self.cell.mode), self.adapter.transform, self.cell.precision)

    def first_call(
        self, size: Dict[str, int], parameters: Dict[str, Any], batch: Any, enter: Enter
    ) -> Tuple[Any, float]:
        """Build the program and make its first step; return it and the seconds of both, compilation included."""
        enter("build")
        trains = bool(self._registry.specification(self.cell.workload).TRAINING)
        start = time.perf_counter()
        program = self.build(size, parameters, batch, self.transform())
        if not isinstance(program, Program):
            self._refuse("build returned {}; it returns a bench.program.Program".format(kind_of(program)))
        self.program = program
        missing = [name for name in ("parameters", "reset") if trains and getattr(program, name) is None]
        if missing:
            self._refuse("the workload trains, and the program has no {}".format(" and no ".join(missing)))
        enter("first-call")
        outputs = program.step(*batch)
        if not isinstance(outputs, Mapping):
            self._refuse("a step returned {}; it returns {{name: array}}".format(kind_of(outputs)))
        self.adapter.synchronize(outputs)
        return program, time.perf_counter() - start + self.imported.preloaded_s(self.preloads)

    def _refuse(self, reason: str) -> NoReturn:
        raise TypeError("{}: {}".format(self._registry.file_of(self.cell.workload, self.cell.framework), reason))

    def forget_peak(self) -> bool:
        """Let the peaks of memory begin anew, on the device, too; return False where the kernel does not allow it."""
        forget = getattr(self.adapter, "forget_peak", None)
        if forget is not None:
            forget()
        return self.baseline.forget_peak()

    def settle(self) -> None:
        """End what the framework used for compiling: nothing but the program may compute while samples are timed."""
        settle = getattr(self.adapter, "settle", None)
        if settle is not None:
            settle()
            # A pool's processes become children of this one when the pool ends, and end a moment later.
            compiling = family.lasting(os.getpid(), COMPILERS_END_S, self.program.processes)
            if compiling:
                raise RuntimeError("processes that compiled still run: {}".format(compiling))

    def compilation(self) -> Dict[str, Any]:
        return dict(getattr(self.adapter, "compilation", dict)())

    def work(self, specification: Any, size: Dict[str, int]) -> Dict[str, Any]:
        """Return what one step computes."""
        itemsize = peaks.ITEMSIZE[self.computes_in]
        return {
            "useful_flops": float(specification.useful_flops(size)),
            "flops_divisor": float(getattr(specification, "FLOPS_DIVISOR", 1.0)),
            "compulsory_bytes": float(specification.compulsory_bytes(size, itemsize)),
            "items": specification.items(size),
            "item": specification.ITEM,
        }

    def close(self) -> None:
        """End what the program started."""
        if self.program is not None and self.program.close is not None:
            self.program.close()
        self.program = None


def adapter_of(cell: Cell, registry: Registry, module: Any) -> Any:
    """Make the adapter of a cell, whose mode may be another source's."""
    extension = registry.extension(cell.framework, cell.mode)
    if extension is None:
        return module.Adapter(cell.mode, cell.device, cell.precision, cell.threads)
    plain = registry.facts(cell.framework).modes[0].name
    return ExtendedAdapter(module.Adapter(plain, cell.device, cell.precision, cell.threads), extension, cell.mode)
