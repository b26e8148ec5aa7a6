"""Tests that the same figure gives the same bytes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from bench.host.reporting.renderers import figure_files

ROOT = Path(__file__).resolve().parents[4]


class Trembling(ConstrainedLayoutEngine):
    """A layout whose last digits are others each time, as those of the real one are from time to time."""

    def __init__(self, by: float) -> None:
        super().__init__()
        self._by = by

    def execute(self, fig):
        super().execute(fig)
        for axes in fig.axes:
            left, bottom, width, height = axes.get_position(True).bounds
            axes._set_position((left, bottom, width + self._by, height - self._by))


def draw(by: float) -> Figure:
    figure = Figure(figsize=(3, 2), layout=Trembling(by))
    for axes in figure.subplots(1, 2):
        axes.set_title("step time")
        axes.plot([1, 2, 3], [2.0, 1.0, 4.0], clip_on=True)
    return figure


@pytest.mark.parametrize("ending", figure_files.METADATA)
def test_the_last_digits_of_a_layout_change_no_byte(tmp_path, ending):
    found = []
    for by in (0.0, 1e-13):
        figure_files.write(lambda by=by: draw(by), tmp_path / str(by), "plot")
        found.append((tmp_path / str(by) / f"plot.{ending}").read_bytes())
    assert found[0] == found[1]


@pytest.mark.parametrize("ending", figure_files.METADATA)
def test_a_full_disk_is_an_error_of_the_system_in_every_form(tmp_path, ending):
    (tmp_path / f"plot.{ending}").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left on device"):
        figure_files.write(lambda: draw(0.0), tmp_path, "plot")


def test_a_backend_that_matplotlib_lacks_is_refused_with_its_variable():
    program = "from bench.host.reporting.renderers import figure_files as f\nf.settings().__enter__()"
    variables = {"MPLBACKEND": "nonsense"}
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=variables, capture_output=True, text=True)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("bench.host.refusal.Refused: matplotlib does not start: ")
    assert last.endswith(". Correct or unset the variable MPLBACKEND.")
