from __future__ import annotations

from dataclasses import replace

from study_reports import name_of, report_of

from bench.host.reporting.page import cells


def costs(study):
    return report_of(study).costs


def row(study, column: str, workload: str):
    table = costs(study)
    group = next(group for group in table.groups if group.heading.text.startswith(workload))
    found = next(row for row in group.rows if row[0].text == name_of(study, column))
    return dict(zip(table.titles(group), found, strict=True))


def test_start_memory_and_break_even_stand_in_one_row(long_study):
    found = row(long_study, "torch2:compile", "catdog-cnn-train")
    assert found["cold call (s)"].text == "11.3"
    assert found["import (s)"].text == "1.20"
    assert found["memory (MiB)"].text == "150"
    assert 110 < int(found["break-even (steps)"].text) < 160


def test_columns_of_a_gpu_are_shown_for_a_gpu_alone(long_study):
    assert "reserved" not in [column.title for column in costs(long_study).columns]
    memory = {"allocated_peak_bytes": 2**30, "reserved_peak_bytes": 2**31, "nvml_peak_bytes": 2**32}
    long_study.run["planned"] = []
    long_study.records = [replace(r, cell=replace(r.cell, device="gpu"), memory=memory) for r in long_study.records]
    found = row(long_study, "jax:jit", "mlp-train")
    assert [found[f"{name} (MiB)"].text for name in ("memory", "reserved", "by driver")] == ["1024", "2048", "4096"]


def test_the_energy_of_a_step_is_shown_with_what_it_takes_beyond_rest(long_study):
    assert "energy" not in [column.title for column in costs(long_study).columns]
    energy = {"counter": "NVML", "watts": 300.0, "idle_watts": 100.0, "steps": 1000, "seconds": 10.0}
    long_study.records = [replace(record, energy=energy) for record in long_study.records]
    assert row(long_study, "jax:jit", "mlp-train")["energy (J)"].text == "3.00 (2.00)"
    assert "Energy: of the device in one step" in costs(long_study).caption
    long_study.records = [replace(record, energy={**energy, "idle_watts": None}) for record in long_study.records]
    assert row(long_study, "jax:jit", "mlp-train")["energy (J)"].text == "3.00"


def test_the_largest_batch_is_shown_or_its_absence_explained(long_study):
    fits, fails = (long_study.find(column, "mlp-train") for column in ("jax:jit", "jax:eager"))
    known = {"item": "row", "cap_bytes": 2**31, "attempts": []}
    long_study.run["largest_batch"] = {
        fits.name: {**known, "items": 4096, "status": "ok", "reason": None},
        fails.name: {**known, "items": 0, "status": "timeout", "reason": "no answer in 300 s"},
    }
    assert row(long_study, "jax:jit", "mlp-train")["largest batch (rows)"].text == "4096"
    (note,) = row(long_study, "jax:eager", "mlp-train")["largest batch (rows)"].notes
    assert note == "no largest batch: timeout: no answer in 300 s"
    assert (
        "Largest batch: the most items of one step that fit into 2048 MiB, to within 2%." in costs(long_study).remarks
    )


def test_what_else_than_memory_limits_a_batch_is_told(long_study):
    cell = long_study.find("jax:jit", "mlp-train")
    known = {"item": "row", "cap_bytes": 2**31, "attempts": [], "items": 63, "status": "ok"}
    long_study.run["largest_batch"] = {cell.name: {**known, "reason": "64 ended with timeout: no answer in 300 s"}}
    (note,) = row(long_study, "jax:jit", "mlp-train")["largest batch (rows)"].notes
    assert note == "larger batches: 64 ended with timeout: no answer in 300 s"


def test_a_single_first_call_is_told_as_such(long_study):
    """A cache is empty for one process only."""
    long_study.change("torch2:compile", first_call_cache=lambda r: "cold" if r.round == 0 else "warm")
    found = row(long_study, "torch2:compile", "mlp-train")
    assert found["cold call (s)"].notes == ("from a single process",)
    assert found["warm call (s)"].notes == ()


def test_what_was_never_started_is_left_out(short_study):
    table = costs(short_study)
    names = {group.heading.text.split(",")[0]: [row[0].text for row in group.rows] for group in table.groups}
    assert "PyTorch 1.13 torchscript" not in names["catdog-cnn-train"]
    assert "JAX 2.15 jit" not in names["catdog-cnn-train"]
    assert "PyTorch 2.15 compile" in names["dispatch"]


def test_there_are_no_costs_of_nothing(short_study):
    short_study.records = []
    assert costs(short_study) is None


def test_the_page_and_the_table_give_the_same_import_and_the_note_what_it_shared(long_study):
    long_study.change(import_s=lambda r: 1.0 + r.round, import_alone=lambda r: r.round < 2)
    shared = "import at the same time"
    assert row(long_study, "jax:jit", "mlp-train")["import (s)"].text == "1.50"
    assert not any(shared in remark for remark in costs(long_study).remarks)
    (result,) = (
        one
        for one in report_of(long_study).analysis.results
        if (one.cell.column, one.cell.workload) == ("jax:jit", "mlp-train")
    )
    written = cells.write(result, (), 0, 0, cells.Pool(), cells.Pool(), cells.FEWEST_POINTS)
    assert written[cells.FIELDS.index("import")] == 1.5e9
    long_study.change(import_alone=False)
    assert any(shared in remark for remark in costs(long_study).remarks)
