"""Tests the further figures of the page in a browser."""

from __future__ import annotations

import re
from dataclasses import replace

from pages import page_of


def drawn(chromium, path, figure: str) -> str:
    text = chromium.dump(path, f"figure={figure}")
    return re.search(r'<section id="figures">(.*?)<section id="table">', text, re.DOTALL)[1]


def test_profiles_are_over_the_rows_of_one_number_of_threads_without_columns_in_few_rows(
    tmp_path, long_study, chromium
):
    long_study.records = [
        r for r in long_study.records if r.cell.column != "jax:jit" or r.cell.workload == "mlp-train"
    ] + [replace(r, cell=replace(r.cell, threads=1)) for r in long_study.records if r.cell.workload == "dispatch"]
    long_study.run["planned"] = []
    shown = drawn(chromium, page_of(long_study, tmp_path), "profile")
    assert re.search("<h3>([^<]*)", shown)[1] == "cpu, 2 threads: 3 rows"
    assert shown.count('class="course"') == 7


def test_a_failure_leaves_its_row_in_the_profiles(tmp_path, long_study, chromium):
    long_study.end("jax:jit", "dispatch", "failed", "import", "no module")
    shown = drawn(chromium, page_of(long_study, tmp_path), "profile")
    assert re.search("<h3>([^<]*)", shown)[1] == "3 rows"
    assert shown.count('class="course"') == 8
    assert not re.search(r"NaN|Infinity|undefined", shown)


def test_a_figure_that_the_run_cannot_have_is_not_offered(tmp_path, long_study, chromium):
    shown = drawn(chromium, page_of(long_study, tmp_path), "memory")
    assert not any(f'data-key="figure={figure}"' in shown for figure in ("scaling", "roofline"))
    long_study.records += [
        replace(r, cell=replace(r.cell, size="tiny")) for r in long_study.records if r.cell.workload == "mlp-train"
    ]
    long_study.run["peaks"] = {"torch1/cpu": {"flops_per_s": {"float32": 1e11}, "bandwidths": [[1e6, 1e11]]}}
    shown = drawn(chromium, page_of(long_study, tmp_path), "memory")
    assert all(f'data-key="figure={figure}"' in shown for figure in ("scaling", "roofline", "breakEven"))


def test_a_legend_names_only_columns_with_a_line(tmp_path, long_study, chromium):
    long_study.records = [r for r in long_study.records if r.cell.column != "jax:jit" or r.cell.workload == "mlp-train"]
    long_study.run["planned"] = []
    (legend,) = re.findall(
        r'<p class="legend">(.*?)</p>', drawn(chromium, page_of(long_study, tmp_path), "profile"), re.DOTALL
    )
    assert legend.count("<path") == 7
    assert "JAX 2.15 jit" not in legend


def test_the_roofline_has_a_roof_from_the_cache_above_that_from_memory(tmp_path, long_study, chromium):
    rates = {"flops_per_s": {"float32": 1e11}, "bandwidths": [[1e6, 1e11], [1e9, 2e10]]}
    long_study.run["peaks"] = {"torch1/cpu": rates}
    shown = drawn(chromium, page_of(long_study, tmp_path), "roofline")
    roofs = re.findall(r'<path class="course" d="M([^"]*)"([^>]*)>', shown)
    assert ["stroke-dasharray" in rest for _points, rest in roofs] == [False, True]
    left = [[float(part) for part in points.split("L")[0].split()] for points, _rest in roofs]
    assert left[0][0] == left[1][0]
    # Higher on the screen is less.
    assert left[0][1] < left[1][1]
    assert "solid with data in its fastest cache, dashed in its main memory" in shown


def test_no_name_of_a_column_is_cut_beside_its_samples(tmp_path, long_study, remote):
    long_study.records = [
        replace(r, cell=replace(r.cell, mode="torchscript-optimized")) if r.cell.mode == "torchscript" else r
        for r in long_study.records
    ]
    remote.open(page_of(long_study, tmp_path).as_uri() + "#figure=distributions")
    lefts = remote.value("[...document.querySelectorAll('#figures svg text')].map((one) => one.getBBox().x)")
    assert len(lefts) > 20
    assert min(lefts) >= 0
