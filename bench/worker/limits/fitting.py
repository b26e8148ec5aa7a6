"""Builds a workload with a batch of any length and tries whether its steps fit under a memory cap."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional

import numpy as np

from ...cell import Cell
from ...program import Unsupported
from . import memory
from .peaks import normal

#: The keys of a size that hold the batch's length.
BATCH_FIELDS = ("batch", "rows")
#: At most this many items are drawn and then repeated, as drawing takes longer than a step.
MOST_DRAWN = 64
#: A product of matrices of this order makes every framework start its threads.
THREADED_ORDER = 512


def enlarged(workload: str, size: Dict[str, int], items: int) -> Dict[str, int]:
    """Return ``size`` with a batch of ``items``. Raises Unsupported where the workload has no batch."""
    for field in BATCH_FIELDS:
        if field in size:
            return dict(size, **{field: items})
    raise Unsupported("workload {} has no batch that could be made larger".format(workload))


class Cap:
    """A limit on the memory that a cell may use beyond the import: of the GPU, or of the process."""

    def __init__(self, cap_bytes: int, adapter: Any, cell: Cell) -> None:
        """Limit the GPU's allocator at once; on a processor, note how much memory is in use before the cell.

        Raises Unsupported where the framework cannot limit its GPU memory.
        """
        self.bytes = cap_bytes
        self._on_gpu = cell.device == "gpu"
        if self._on_gpu:
            adapter.limit_memory(cap_bytes)
            return
        # Start all threads now, so that their stacks do not count as the cell's memory.
        square = adapter.put(normal(THREADED_ORDER**2).reshape(THREADED_ORDER, THREADED_ORDER))
        adapter.synchronize({"out": adapter.multiply(square, square)})
        memory.give_back()
        self._from_bytes = memory.data_bytes()

    def enforce(self) -> None:
        """Make allocations beyond the limit fail from now on."""
        if not self._on_gpu:
            memory.limit_bytes(self._from_bytes + self.bytes)


class Batch:
    """The input of one step, with a batch of any length."""

    def __init__(self, specification: Any, workload: str, size: Dict[str, int], items: int, seed: int) -> None:
        self._specification = specification
        self._seed = seed
        self._items = items
        self.size = enlarged(workload, size, items)
        self._drawn_size = enlarged(workload, size, min(items, MOST_DRAWN))
        one, two = (specification.batch(enlarged(workload, size, n), np.random.RandomState(seed)) for n in (1, 2))
        #: The bytes of each array with one item, and whether it grows with the batch; a vector of weights does not.
        self._arrays = [(array.nbytes, array.shape != longer.shape) for array, longer in zip(one, two)]

    def input_bytes(self) -> int:
        """Return the size of the input without drawing it."""
        return sum(size * self._items if grows else size for size, grows in self._arrays)

    def try_steps(
        self,
        adapter: Any,
        build: Callable[..., Any],
        transform: Any,
        enter: Callable[[str], None],
        cap: Optional[Cap] = None,
    ) -> None:
        """Build the program and run the steps that show whether it fits; outputs are not checked.

        ``enter`` announces a stage. The cap takes effect after the input has been placed. Raises MemoryError where the
        input alone exceeds it.
        """
        if cap is not None and self.input_bytes() > cap.bytes:
            raise MemoryError("the input alone takes {} bytes".format(self.input_bytes()))
        random = np.random.RandomState(self._seed)
        parameters = self._specification.parameters(self.size, random)
        parameters = {name: adapter.put(array) for name, array in parameters.items()}
        drawn = self._specification.batch(self._drawn_size, random)
        batch = tuple(
            adapter.put(np.resize(array, (self._items, *array.shape[1:])) if grows else array)
            for array, (_, grows) in zip(drawn, self._arrays)
        )
        memory.forget_peak()
        if cap is not None:
            cap.enforce()
        program = build(self.size, parameters, batch, transform)
        enter("first-call")
        # The first training step allocates the optimizer's state; only the second needs all memory at once.
        for _ in range(2 if self._specification.TRAINING else 1):
            adapter.synchronize(program.step(*batch))
