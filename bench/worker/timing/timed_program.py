"""Times the program of a cell: makes its stopwatch, calibrates it, and remembers what was so before the samples."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Sequence, Tuple

from ...frameworks import loaded
from .stopwatch import Stopwatch, looped
from .waiting import Waiting


def run_of(program: Any, adapter: Any, device: str) -> Tuple[Callable[[Sequence[Any]], Any], str]:
    """Return the ``run`` of a program that samples call, and after what they wait: "every step" or "every sample"."""
    if program.run is not None:
        return program.run, "every sample"
    # On a processor, steps that were only ordered may overlap; a GPU computes them in order.
    each = device == "cpu" and adapter.settings().get("dispatch") != "inline"
    return looped(program.step, adapter.synchronize, each), "every step" if each else "every sample"


class TimedProgram:
    """A program with its stopwatch."""

    def __init__(
        self, program: Any, batches: List[Any], adapter: Any, *, device: str, slowdown: float, sized_for: float
    ) -> None:
        """``slowdown`` is planted in the samples; see ``Stopwatch`` for ``sized_for``."""
        self._program = program
        self._get = adapter.get
        self._slowdown = slowdown
        self._step_ns = 0
        #: Whether the peak of the memory is that of the samples alone.
        self.peak_is_new = False
        self.waiting = Waiting(loaded.processors())
        run, self.synchronised = run_of(program, adapter, device)
        self.stopwatch = Stopwatch(
            run,
            batches,
            adapter.synchronize,
            reset=program.reset or (lambda: None),
            slowdown=slowdown,
            sized_for=sized_for,
            waited=self.waiting,
        )

    def calibrate(self, sample_ns: int) -> List[int]:
        """Find how many steps fill a sample; return the warm-up times in ns."""
        warmup_ns = self.stopwatch.calibrate(sample_ns, self._program.starts)
        self._step_ns = min(warmup_ns[-3:])
        return warmup_ns

    def verify_growth(self) -> None:
        """Check that time grows with work."""
        training, get = self._program.parameters, self._get

        def fetch(outputs: Dict[str, Any]) -> List[Any]:
            return [get(value) for value in ([outputs["loss"]] if training else outputs.values())]

        self.stopwatch.verify_growth(fetch, self._step_ns, self._program.starts)

    @property
    def planted(self) -> Dict[str, float]:
        """Return the setting that tells of a planted slowdown; empty where there is none."""
        return {"planted slowdown": self.stopwatch.planted} if self._slowdown else {}
