"""Knows how a workload is made larger: its batch of any length, so that the largest one that fits can be looked for."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional

import numpy as np

from ...cell import Cell
from ...program import Unsupported
from . import memory
from .peaks import normal

#: The parameters of a size that count what is processed side by side.
BATCH_FIELDS = ("batch", "rows")
#: This much of a batch is drawn and then repeated, as drawing would take longer than the step.
MOST_DRAWN = 64
#: Order of a product that makes every framework start its threads.
THREADED_ORDER = 512


def enlarged(workload: str, size: Dict[str, int], items: int) -> Dict[str, int]:
    """Return ``size`` with a batch of ``items``; raises Unsupported where the workload has none."""
    for field in BATCH_FIELDS:
        if field in size:
            return dict(size, **{field: items})
    raise Unsupported("workload {} has no batch that could be made larger".format(workload))


class Cap:
    """What a cell may use, import not included: of the GPU's memory, or of the process's own."""

    def __init__(self, cap_bytes: int, adapter: Any, cell: Cell) -> None:
        """Limit a GPU's allocator at once, as it must be; note where a processor's memory is to be counted from.

        Raises Unsupported where the framework cannot be kept to a part of the GPU's memory.
        """
        self.bytes = cap_bytes
        self._on_gpu = cell.device == "gpu"
        if self._on_gpu:
            adapter.limit_memory(cap_bytes)
            return
        # Threads' stacks are not what the cell needs, so all threads start now.
        square = adapter.put(normal(THREADED_ORDER**2).reshape(THREADED_ORDER, THREADED_ORDER))
        adapter.synchronize({"out": adapter.multiply(square, square)})
        memory.give_back()
        self._from_bytes = memory.data_bytes()

    def enforce(self) -> None:
        """From now on, let what goes beyond fail."""
        if not self._on_gpu:
            memory.limit_bytes(self._from_bytes + self.bytes)


class Batch:
    """One step's input of any length, for a workload at one of its sizes."""

    def __init__(self, specification: Any, workload: str, size: Dict[str, int], items: int, seed: int) -> None:
        self._specification = specification
        self._seed = seed
        self._items = items
        self.size = enlarged(workload, size, items)
        self._drawn_size = enlarged(workload, size, min(items, MOST_DRAWN))
        self._one = enlarged(workload, size, 1)

    def input_bytes(self) -> int:
        """Tell how large the input is without drawing it."""
        drawn = self._specification.batch(self._one, np.random.RandomState(self._seed))
        return self._items * sum(array.nbytes for array in drawn)

    def try_steps(
        self,
        adapter: Any,
        build: Callable[..., Any],
        transform: Any,
        enter: Callable[[str], None],
        cap: Optional[Cap] = None,
    ) -> None:
        """Build the program and make the steps that show whether it fits; nothing is checked.

        ``enter`` announces a stage. Raises MemoryError where the input alone is too much for the cap, which is in force
        once the input is in place.
        """
        if cap is not None and self.input_bytes() > cap.bytes:
            raise MemoryError("the input alone takes {} bytes".format(self.input_bytes()))
        random = np.random.RandomState(self._seed)
        parameters = self._specification.parameters(self.size, random)
        parameters = {name: adapter.put(array) for name, array in parameters.items()}
        drawn = self._specification.batch(self._drawn_size, random)
        batch = tuple(adapter.put(np.resize(array, (self._items, *array.shape[1:]))) for array in drawn)
        memory.forget_peak()
        if cap is not None:
            cap.enforce()
        program = build(self.size, parameters, batch, transform)
        enter("first-call")
        # A training step makes the optimizer's state; the next one needs room beside it.
        for _ in range(2 if self._specification.TRAINING else 1):
            adapter.synchronize(program.step(*batch))
