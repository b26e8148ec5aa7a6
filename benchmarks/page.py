"""Measures the page of a large report in headless Chromium: its size, and the time to open, sort and choose.

    nox -s benchmarks -- page [cells …]

The results are those of 100 synthetic cells (``benchmarks/report.py``, 100 samples per cell), replicated under other
names. Opening is from the navigation to the painted page; sorting and choosing are from the click to the painted page.
Each is the median of five.
"""

from __future__ import annotations

import dataclasses
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks"), str(ROOT / "tests" / "support")]

from remote_browser import Browser  # noqa: E402
from report import write_study  # noqa: E402

from bench.host.reporting import report  # noqa: E402
from bench.host.reporting.outputs import page_html  # noqa: E402
from bench.host.storage import journal, manifest  # noqa: E402

SIZES = (100, 1_000, 10_000)
SAMPLES_PER_CELL = 100
TARGET_S, TARGET_BYTES = 1.0, 5_000_000
TIMES = 5

#: Does something, and returns the seconds until the browser has painted the result.
PAINTED = """(async () => {{
  const start = performance.now();
  {action};
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return (performance.now() - start) / 1000;
}})()"""
OPENED = """(async () => {
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() / 1000;
})()"""
SORT = "document.querySelectorAll('thead th button')[2].click()"
CHOOSE = "document.querySelector('.axis .chip').click()"


def make_page(folder: Path, cells: int) -> tuple[Path, float]:
    """Write the page of a report with about ``cells`` cells; return it, and the seconds that writing took."""
    write_study(folder, 110 * SAMPLES_PER_CELL)
    run = manifest.read(folder)
    assert run is not None
    made = report.make(journal.read(folder), run)
    results = made.analysis.results
    copies = [
        dataclasses.replace(result, cell=dataclasses.replace(result.cell, workload=f"{result.cell.workload}-{number}"))
        for number in range(cells // len(results))
        for result in results
    ]
    many = dataclasses.replace(made, analysis=dataclasses.replace(made.analysis, results=tuple(copies)))
    start = time.perf_counter()
    (page,) = page_html.write(many, folder)
    return page, time.perf_counter() - start


def watch(page: Path, profile: Path) -> list[float]:
    """Return the seconds to open the page, to sort its table, and to choose a workload, each the median of several."""
    command = shutil.which("chromium") or shutil.which("google-chrome")
    if command is None:
        raise SystemExit("There is no Chromium; install Debian's chromium.")
    browser = Browser(command, profile)
    browser.start_afresh()
    actions = (
        lambda: browser.open(page.as_uri()) or browser.value(OPENED),
        lambda: browser.value(PAINTED.format(action=SORT)),
        lambda: browser.value(PAINTED.format(action=CHOOSE)),
    )
    try:
        return [statistics.median(float(action()) for _ in range(TIMES)) for action in actions]
    finally:
        browser.close()


def main(arguments: list[str]) -> int:
    """Print the table; exit 1 where the largest page misses the targets."""
    print("| cells | MB | seconds to write | to open | to sort | to choose |")
    print("|------:|---:|-----------------:|--------:|--------:|----------:|")
    missed = False
    for cells in map(int, arguments or SIZES):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            page, writing_s = make_page(Path(name), cells)
            seconds = [writing_s, *watch(page, Path(name) / "profile")]
            size = page.stat().st_size
        times = " | ".join(f"{value:.2f}" for value in seconds)
        print(f"| {cells:,} | {size / 1e6:.2f} | {times} |", flush=True)
        missed = size >= TARGET_BYTES or max(seconds[1:]) >= TARGET_S
    print(
        f"\nTargets at 10,000 cells: under {TARGET_BYTES / 1e6:g} MB; opened and sorted in under {TARGET_S:g} s each."
    )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
