"""Limits the description of a run to what a report of a part of it shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..storage.manifest import Manifest
from .results import EXCLUDED, Result


def limit(manifest: Manifest, results: Iterable[Result]) -> Manifest:
    """Keep the environments of ``results`` and their measured rows; the description of a whole run stays as it is.

    Verdicts depend on when the hidden rows stopped, so results are computed before.
    """
    if not manifest.hidden_cells:
        return manifest
    cells = [result.cell for result in results]
    environments = {cell.environment for cell in cells}
    # Of a row, a part may show only cells that the study excludes; what was measured of it is hidden.
    rows = {result.cell.row for result in results if result.status != EXCLUDED}
    return replace(
        manifest,
        stopped={row: stop for row, stop in manifest.stopped.items() if row in rows},
        environments={name: facts for name, facts in manifest.environments.items() if name in environments},
        changed_environments={
            name: files for name, files in manifest.changed_environments.items() if name in environments
        },
    )
