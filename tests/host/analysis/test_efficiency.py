from __future__ import annotations

import pytest

from bench.host.reporting import report

PEAKS = {
    "torch1/cpu": {
        "flops_per_s": {"float32": 1e11},
        "bandwidths": [[1e5, 4e9], [4e6, 1e9]],
        "reasons": {"float16": "no kernel"},
    },
    "jax/cpu": {"flops_per_s": {"float32": 2e11}, "bandwidths": []},
    "tf2/cpu": {"reason": "failed: boom"},
}


def costs(study, column: str, workload: str) -> dict[str, str]:
    table = report.make(study.records, study.manifest).costs
    group = next(group for group in table.groups if group.heading.text.startswith(workload))
    row = next(row for row in group.rows if row[0].text == column)
    return {title: entry.text for title, entry in zip(table.titles(group), row, strict=True)}


def test_rates_are_shares_of_the_best_that_any_framework_reached(long_study):
    long_study.run["peaks"] = PEAKS
    made = report.make(long_study.records, long_study.manifest)
    found = next(r for r in made.analysis.results if r.cell == long_study.find("torch1:eager", "mlp-train"))
    assert found.achieved.flops_per_s == pytest.approx(1e8 / found.step.value)
    assert found.achieved.flops_share == pytest.approx(1e8 / found.step.value / 2e11)
    assert found.achieved.bytes_share == pytest.approx(1e6 / found.step.value / 1e9)
    row = costs(long_study, "PyTorch 1.13 eager", "mlp-train")
    assert row["FLOP/s (10⁹)"].endswith(f" ({found.achieved.flops_share:.0%})")
    assert any("200·10⁹ FLOP/s in float32 on cpu" in remark for remark in made.costs.remarks)
    assert any(
        "Not measured: float16 with torch1 (no kernel); peaks with tf2 (failed: boom)." in r for r in made.costs.remarks
    )
    assert any("4.00·10⁹ B/s at most and 1.00·10⁹ B/s with 4.00·10⁶ B" in remark for remark in made.costs.remarks)


def test_without_peaks_there_are_rates_and_no_shares(long_study):
    assert "%" not in costs(long_study, "PyTorch 1.13 eager", "mlp-train")["FLOP/s (10⁹)"]
    remarks = report.make(long_study.records, long_study.manifest).costs.remarks
    assert any("The peaks of the machine were not measured." in remark for remark in remarks)
