"""Holds the manifest of a run under way, and stores every change at once: a run that is killed keeps what it holds."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..storage import manifest


@dataclass
class OpenManifest:
    """The manifest in the folder of a run."""

    folder: Path
    now: manifest.Manifest

    def update(self, **changes: Any) -> None:
        """Change and store it. Raises Refused where the file cannot be written."""
        self.now = replace(self.now, **changes)
        manifest.write(self.folder, self.now)

    def spend(self, **seconds: float) -> None:
        """Add seconds, which are stored with the next change; see ``Manifest.spend``."""
        self.now = self.now.spend(**seconds)

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """Count the time in which the host only waits for workers."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.spend(waited_for_workers=time.monotonic() - began)
