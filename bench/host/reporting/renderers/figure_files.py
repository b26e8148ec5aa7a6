"""Writes a figure as PDF for a paper, as SVG and as PNG; the same figure gives the same bytes."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ...refusal import Refused

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: {ending: what is written into the file about itself; a date would change with every report}
METADATA: dict[str, dict[str, None]] = {
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}
DOTS_PER_INCH = 300
#: Digits of a place as a share of the figure: far finer than a dot.
PLACE_DIGITS = 9


def write(draw: Callable[[], Figure | None], folder: Path, name: str) -> list[Path]:
    """Draw, write the files and return their paths; none where there is nothing to draw."""
    with settings():
        figure = draw()
        if figure is None:
            return []
        paths = [folder / f"{name}.{ending}" for ending in METADATA]
        folder.mkdir(parents=True, exist_ok=True)
        # The layout takes most of the time, and is the same in every form.
        engine = figure.get_layout_engine()
        if engine is not None:
            engine.execute(figure)
            figure.set_layout_engine("none")
            _round_places(figure)
        for path, (ending, metadata) in zip(paths, METADATA.items(), strict=True):
            # In memory first: on a full disk, the writer of PDF raises an AttributeError in place of the OSError.
            drawn = io.BytesIO()
            figure.savefig(drawn, format=ending, dpi=DOTS_PER_INCH, metadata=metadata)
            path.write_bytes(drawn.getvalue())
    return paths


def _round_places(figure: Figure) -> None:
    """Round where the axes lie: the layout differs in the last digits from time to time, and SVG has hashes of them."""
    for axes in figure.axes:
        left, bottom, width, height = (round(float(one), PLACE_DIGITS) for one in axes.get_position(True).bounds)
        axes.set_position((left, bottom, width, height))


@contextmanager
def settings() -> Iterator[None]:
    """Set matplotlib to our settings, whatever a user has set, and back. Raises Refused where it cannot be used."""
    try:
        # matplotlib takes a third of a second to import, which only a report needs.
        import matplotlib
    except ValueError as error:
        # It reads MPLBACKEND, which figures that are written to files do not use.
        raise Refused(f"matplotlib does not start: {error}. Correct or unset the variable MPLBACKEND.") from None

    from ..figures.style import SETTINGS

    with matplotlib.rc_context(), warnings.catch_warnings():
        # A name may have letters that the font lacks; they show as boxes.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from font")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        yield
