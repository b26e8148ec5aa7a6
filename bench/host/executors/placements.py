"""Draws anew, in every round, in which pages of memory the libraries of environments lie.

Of six installations of the same packages, one step was up to 2.2 % faster or slower in one than in another, in every
process and run, until their pages had been read again (``docs/method.md``). A twin does not show that: it uses the same
installation. So it is one more thing that a round draws.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from pathlib import Path

import numpy as np

from ..machine import page_cache
from .job import InstalledEnvironment

#: Libraries whose code runs on GPUs, or controls them: processors compute with none of it.
GPU_CODE = re.compile(r"nvidia/|triton/|cuda|cudnn|cublas|cusparse|cupti|nccl|nvrtc|rocm|amdhip|hipblas|miopen")


class Placements:
    """Which environments the present round has placed."""

    def __init__(self) -> None:
        self._round: Hashable = None
        self._placed: set[str] = set()

    def draw(
        self, round: Hashable, environments: Mapping[str, InstalledEnvironment], seed: int, *, gpu: bool = False
    ) -> None:
        """Place the libraries of those environments that this round has not placed yet.

        Those of ``GPU_CODE`` only where a ``gpu`` is measured: of 9 GB they are 6, and reading them takes 8 s.
        Environments in containers stay where they are: their files belong to the engine.
        """
        if round != self._round:
            self._round, self._placed = round, set()
        new = {name: one for name, one in environments.items() if name not in self._placed}
        self._placed.update(new)
        folders = dict.fromkeys(filter(None, map(installed_in, new.values())))
        files = [
            file
            for folder in folders
            for file in page_cache.libraries(folder)
            if gpu or not GPU_CODE.search(file.relative_to(folder).as_posix())
        ]
        page_cache.place_anew(files, np.random.default_rng((seed, len(self._placed))))


def installed_in(environment: InstalledEnvironment) -> Path | None:
    """Return the folder of a virtual environment, None for another kind."""
    if environment.in_container or not environment.command:
        return None
    folder = Path(environment.command[0]).parent.parent
    return folder if (folder / "pyvenv.cfg").is_file() else None
