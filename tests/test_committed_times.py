"""Tests which committed run stands for a column, how columns are named, and that the committed page is up to date."""

from __future__ import annotations

import html
import os
import re
import sys
from pathlib import Path

import markdown
import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

import workload_times  # noqa: E402

from bench.cell import Cell  # noqa: E402
from bench.host.statistics.bootstrap import Estimate  # noqa: E402
from bench.host.storage import journal, manifest  # noqa: E402
from bench.host.storage.manifest import Manifest  # noqa: E402
from bench.record import MISMATCH, Record  # noqa: E402
from benchmarks import _committed_runs, _committed_tables, committed_times  # noqa: E402
from benchmarks._committed_lines import Column, Line, best, merit  # noqa: E402

JIT = Column("JAX {}", "0.10", "jit", "jax")
EAGER = JIT._replace(mode="eager")
ZEN5 = {"processor": "AMD EPYC", "processor_version": "family 26, model 2", "gpus": []}


def line(seconds=1e-3, *, column=JIT, **changed):
    """Make a line of a cell that took so many seconds; None for one without a time."""
    step = None if seconds is None else Estimate(seconds, seconds * 0.9, seconds * 1.1, 3)
    made = Line(
        "gemm", column, "small", "float32", "cpu", 1, "AMD EPYC Zen 5", "ok", "", "clean", 3, step, "a-run",
        "2026-11-26 09:21:33",
    )  # fmt: skip
    return made._replace(**changed)


def none(status, reason="", **changed):
    return line(None, status=status, reason=reason, quality="", processes=0, **changed)


def chosen(*lines):
    """Return the number of the line that stands for the column, in whatever order the lines are."""
    found = {lines.index(*best(given, lambda one: one.column).values()) for given in (lines, lines[::-1])}
    (number,) = found
    return number


def test_the_most_processes_go_before_the_newest_run():
    assert chosen(line(processes=3, started="2026-11-27"), line(processes=20, started="2026-11-21")) == 1
    assert chosen(line(started="2026-11-27"), line(started="2026-11-21")) == 0


def test_a_time_goes_before_a_disturbed_cell_of_more_processes():
    assert chosen(line(None, status="disturbed", quality="disturbed", processes=20), line(processes=1)) == 1


def test_what_was_measured_tells_more_than_what_a_study_left_out():
    lines = [none(status) for status in ("not measured", "excluded", "not run", "mismatch", "disturbed")]
    assert sorted(lines, key=merit) == lines
    newer = none("excluded", started="2027-01-01")
    assert chosen(none("failed"), newer) == 0


def test_each_condition_of_a_column_keeps_its_line():
    lines = [line(), line(threads=2), line(precision="bfloat16"), line(processor="Intel Xeon"), line(size="tiny")]
    found = best([*lines, line(processes=1)], lambda one: (one.column, one.conditions))
    assert list(found.values()) == lines


@pytest.mark.parametrize(("machine", "device", "name"), [
    (ZEN5, "cpu", "AMD EPYC Zen 5"),
    ({"processor": "AMD EPYC", "processor_version": "family 25, model 17"}, "cpu", "AMD EPYC Zen 4"),
    ({"processor": "AMD EPYC"}, "cpu", "AMD EPYC"),
    ({"processor": "Intel(R) Xeon(R) Processor", "processor_version": "family 6, model 167"}, "cpu",
     "Intel Xeon, model 167"),
    ({"processor": "Intel(R) Xeon(R) Processor", "gpus": [{"name": "NVIDIA H100 80GB HBM3"}]}, "gpu", "NVIDIA H100"),
])  # fmt: skip
def test_a_processor_has_a_short_name_with_its_generation(machine, device, name):
    assert _committed_runs.processor_of(machine, device) == name


HEADINGS = (
    "workload,size,precision,device,threads,environment,framework,version,mode,status,quality,processes,"
    "step_s,step_low_s,step_high_s"
)


def committed(folder, *rows, excluded=(), records=(), started="2026-11-26"):
    """Write a run with these lines of its results: environment, framework, version, mode, status, processes, time."""
    folder.mkdir(parents=True)
    lines = [HEADINGS]
    for workload, environment, framework, version, mode, status, processes, seconds in rows:
        times = f"{seconds},,{seconds}" if seconds else ",,"
        quality = "clean" if seconds else "disturbed" if status == "ok" else ""
        lines.append(
            f"{workload},small,float32,cpu,1,{environment},{framework},{version},{mode},{status},{quality},{processes},{times}"
        )
    (folder / "results.csv").write_text("\n".join(lines), encoding="utf-8")
    manifest.write(folder, Manifest(started=started, machine=ZEN5, excluded=tuple(excluded)))
    written = journal.Journal(folder)
    for record in records:
        written.append(record)


def cell(environment, framework, mode, workload="gemm"):
    return Cell(environment, framework, mode, workload, "small", "float32", "cpu", 1)


def test_a_run_is_read_with_its_reasons(tmp_path):
    wrong = Record(cell("jax", "jax", "jit", "stencil"), 0, 1, MISMATCH, "check", "is\nwrong")
    committed(
        tmp_path / "a" / "more",
        ("gemm", "jax", "jax", "0.10.2", "jit", "ok", 3, 0.25),
        ("conv2d", "jax", "jax", "0.10.2", "jit", "ok", 3, ""),
        ("stencil", "jax", "jax", "0.10.2", "jit", "mismatch", 0, ""),
        ("stencil", "jax", "jax", "", "eager", "not run", 0, ""),
        ("gemm", "jax", "jax", "", "pmap", "excluded", 0, ""),
        ("gemm", "keras-jax", "keras", "", "predict", "excluded", 0, ""),
        ("resnet18", "keras-jax", "keras", "", "predict", "excluded", 0, ""),
        ("resnet18", "keras-jax", "keras", "", "fit", "excluded", 0, ""),
        excluded=[
            (cell("jax", "jax", "pmap"), "see jit"),
            (cell("keras-jax", "keras", "predict"), "workload gemm has no keras implementation"),
            (cell("keras-jax", "keras", "predict", "resnet18"), "workload resnet18 has no keras implementation"),
            (cell("keras-jax", "keras", "fit", "resnet18"), "workload resnet18 has no keras implementation"),
        ],
        records=[wrong],
    )
    found = _committed_runs.load(tmp_path)
    assert [(one.column.text, one.status, one.reason) for one in found] == [
        ("JAX 0.10 jit", "ok", ""),
        ("JAX 0.10 jit", "disturbed", ""),
        ("JAX 0.10 jit", "mismatch", "is wrong"),
        ("JAX 0.10 eager", "not run", "not measured: the run ended before this cell"),
        ("JAX 0.10 pmap", "excluded", "see jit"),
        ("Keras on JAX predict", "excluded", "has no Keras implementation"),
        ("Keras on JAX predict", "not measured", "its program is newer than the runs"),
        ("Keras on JAX fit", "excluded", "for training: see predict"),
    ]
    assert found[0].step == Estimate(0.25, None, 0.25, 3)
    assert {(one.run, one.started, one.processor) for one in found} == {("a/more", "2026-11-26", "AMD EPYC Zen 5")}


def test_environments_of_one_version_are_one_column_and_releases_that_share_a_name_have_whole_versions(tmp_path):
    committed(
        tmp_path / "a",
        ("gemm", "torch2", "torch", "2.15.0+cu132", "eager", "ok", 3, 0.1),
        ("gemm", "torch-2.15.0", "torch", "2.15.0", "eager", "ok", 3, 0.1),
        ("gemm", "torch-xla", "torch", "2.9.0+cu128", "xla", "ok", 3, 0.1),
        ("gemm", "torch-2.9.1", "torch", "2.9.1", "eager", "ok", 3, 0.1),
        ("gemm", "jax-0.4.13", "jax", "0.4.13", "jit", "ok", 3, 0.1),
        ("gemm", "jax-0.4.30", "jax", "", "jit", "excluded", 0, ""),
    )
    assert [one.column.text for one in _committed_runs.load(tmp_path)] == [
        "PyTorch 2.15 eager",
        "PyTorch 2.15 eager",
        "PyTorch/XLA 2.9 xla",
        "PyTorch 2.9 eager",
        "JAX 0.4.13 jit",
        "JAX 0.4.30 jit",
    ]


def test_columns_are_ordered_by_framework_then_by_version_from_new_to_old_then_by_mode():
    torch = [Column("PyTorch {}", version, "eager", "torch") for version in ("2.15", "2.9", "1.13")]
    compiled = torch[0]._replace(mode="compile")
    expected = [torch[0], compiled, *torch[1:], EAGER, JIT]
    assert sorted([*expected[2:], *expected[:2]], key=lambda column: column.place) == expected


def test_a_release_stays_in_one_table_if_there_is_room():
    modes = ("eager", "jit", "jit-async", "jit-loop", "jit-aot", "pmap", "shard-map")
    columns = [*(JIT._replace(mode=mode) for mode in modes), *(JIT._replace(version=each) for each in ("0.7", "0.5"))]
    assert list(_committed_tables.divide(columns)) == [
        ("JAX 0.10, 1 of 2", tuple(columns[:4])),
        ("JAX 0.10, 2 of 2", tuple(columns[4:7])),
        ("JAX 0.7 and JAX 0.5", tuple(columns[7:])),
    ]


def test_a_place_has_the_time_under_usual_conditions_though_another_one_has_more_processes():
    lines = [
        line(2e-3),
        line(5e-3, processor="Intel Xeon", processes=20),
        line(column=EAGER),
        line(column=EAGER, workload="conv2d"),
    ]
    (part,) = _committed_tables.parts_of(lines)
    assert part.rows["gemm"][JIT] == lines[0]
    assert (part.title, part.others, part.timed) == ("JAX 0.10", ("float32", "1 thread", "AMD EPYC Zen 5"), 3)
    assert "gemm" in committed_times.page(lines)


def test_a_row_has_the_size_of_other_tables_unless_few_of_its_columns_have_it():
    old = [JIT._replace(version="0.5"), EAGER._replace(version="0.5"), JIT._replace(version="0.5", mode="jit-aot")]
    torch = [Column("PyTorch {}", "2.15", mode, "torch") for mode in ("eager", "compile", "torchscript", "functorch")]
    small = [line(column=column) for column in torch]
    tiny = [line(column=column, size="tiny") for column in old]

    def size_of_jax(*lines):
        *_, part = _committed_tables.parts_of([*small, *lines])
        return part.sizes["gemm"]

    assert size_of_jax(*tiny) == "tiny"
    assert size_of_jax(*tiny, line(column=old[0])) == "tiny"
    assert size_of_jax(*tiny, line(column=old[0]), line(column=old[1])) == "small"


def test_a_table_has_times_statuses_and_empty_places_with_what_letters_mean():
    lines = [
        line(1.234e-3, quality="noisy", run="larger/more"),
        line(9.87e-6, column=EAGER, threads=2),
        line(workload="conv2d"),
        none("unsupported", "no `kernel` | of a_b*", workload="conv2d", column=EAGER),
        none("excluded", "see jit", workload="stencil", column=EAGER),
        none("disturbed", workload="gather"),
        none("not measured", workload="scatter-add"),
    ]
    (part,) = _committed_tables.parts_of(lines)
    assert committed_times.table(part).replace("\u00a0", "_").splitlines() == [
        "float32, 1 thread, AMD EPYC Zen 5, where no letter says otherwise.",
        "",
        "|workload|eager|jit|",
        "|:-|-:|-:|",
        r"|[conv2d](../../bench/workloads/conv2d/page.md), small|unsupported<sup>a</sup>|[1.0_ms](a-run)|",
        "|[gather](../../bench/workloads/gather/page.md)||disturbed|",
        r"|[gemm](../../bench/workloads/gemm/page.md), small|[9.9_µs](a-run)<sup>b</sup>|[1.2_ms\~](larger/more)|",
        "",
        "Left out by their studies: [stencil](../../bench/workloads/stencil/page.md)<sup>c</sup>.",
        "",
        r"<sup>a</sup> no \`kernel\` \| of a_b\*<br>",
        "<sup>b</sup> 2 threads<br>",
        "<sup>c</sup> see jit",
    ]


def test_what_is_on_a_gpu_has_a_table_of_its_own():
    lines = [line(), line(device="gpu", processor="NVIDIA H100")]
    assert [part.title for part in _committed_tables.parts_of(lines)] == ["JAX 0.10", "JAX 0.10 on a GPU"]


def test_the_page_begins_with_the_number_of_pairs_that_have_a_time():
    lines = [
        line(),
        line(column=EAGER),
        line(threads=2),
        none("failed", workload="conv2d"),
        none("excluded", workload="gather"),
    ]
    text = committed_times.page(lines)
    assert text.splitlines()[2].startswith("**2 pairs of a workload and a column have a time.**")
    assert "2 other pairs have a reason: 1 failed and 1 excluded." in " ".join(text.split())
    assert "|[JAX 0.10](#jax-010)|`eager`, `jit`|3|2|" in text


def test_the_committed_page_is_what_the_program_writes(capsys):
    written = committed_times.PAGE.read_text(encoding="utf-8")
    assert committed_times.main([]) == 0
    made = capsys.readouterr().out
    assert made == written, "renew it with: nox -s benchmarks -- committed_times --write"


def test_the_page_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(committed_times, "PAGE", tmp_path / "times.md")
    monkeypatch.setattr(committed_times, "load", lambda: [line()])
    assert committed_times.main(["--write"]) == 0
    assert (tmp_path / "times.md").read_text(encoding="utf-8") == committed_times.page([line()])


def test_every_row_with_a_time_is_in_the_lines_of_the_committed_runs():
    found = _committed_runs.load()
    assert {one.run for one in found} >= {"default", "full-amd", "gpu-h100", "larger-sizes/intel/attention"}
    assert all(one.column.version for one in found)
    measured = {one.column.text for one in found if one.workload == "resnet18-train" and one.step is not None}
    assert "Keras 3.15 on PyTorch fit" in measured
    reasons = {
        (one.status, one.reason) for one in found if one.status in ("excluded", "unsupported", "mismatch", "failed")
    }
    assert all(reason for _, reason in reasons)


def test_a_section_has_one_line_for_each_column_under_the_same_conditions_in_their_order():
    lines = [
        line(3e-3, size="tiny", run="default"),
        line(2e-3, run="default", processes=20, quality="noisy"),
        line(5e-3, run="full-amd"),
        line(1e-3, column=EAGER, run="full-amd"),
        none("disturbed", threads=2, run="full-amd")._replace(quality="disturbed"),
        none("mismatch", "a|b", precision="float16", run="full-amd"),
        none("excluded", "see jit", column=JIT._replace(mode="pmap"), run="full-amd"),
        none("excluded", "see jit", column=JIT._replace(mode="shard-map"), run="full-amd"),
        line(workload="conv2d"),
    ]
    text = workload_times.section("gemm", lines)
    table = [row.strip() for row in text.splitlines() if row.startswith(("    |", "???"))]
    run = "[{0}](../../../reports/reference/{0}/README.md)".format
    assert text.splitlines()[2].startswith("2 columns have a time in a [committed run]")
    rule, heading = workload_times.RULE, workload_times.HEADING.format(unit="time (ms)")
    assert table == [
        '??? times "tiny: 1 column with a time"',
        heading,
        rule,
        f"| JAX 0.10 jit | 3.00 | [2.70, 3.30] | float32 | 1 | AMD EPYC Zen 5 | 3 |  | {run('default')} |",
        '???+ times "small: 2 columns with a time"',
        heading,
        rule,
        f"| JAX 0.10 eager | 1.00 | [0.90, 1.10] | float32 | 1 | AMD EPYC Zen 5 | 3 |  | {run('full-amd')} |",
        f"| JAX 0.10 jit | 2.00 | [1.80, 2.20] | float32 | 1 | AMD EPYC Zen 5 | 20 | noisy | {run('default')} |",
        f"| JAX 0.10 jit | – |  | float32 | 2 | AMD EPYC Zen 5 | 0 | disturbed | {run('full-amd')} |",
        '??? times "Without a time"',
        "| status | why | at | columns | runs |",
        "|---|---|---|---|---|",
        f"| excluded | see jit |  | JAX 0.10 pmap and shard-map | {run('full-amd')} |",
        f"| mismatch | a\\|b | small, float16 | JAX 0.10 jit | {run('full-amd')} |",
    ]


def test_names_on_the_site_show_as_they_are():
    hostile = "a|b *c* _d_ `e` [f](g) <h> &amp; \\i"
    page = markdown.markdown(f"| x |\n|---|\n| {workload_times.escape(hostile)} |", extensions=["tables"])
    assert html.unescape(page.partition("<td>")[2].partition("</td>")[0]) == hostile


def test_a_run_without_a_page_leads_to_its_table():
    assert workload_times.run(line(run="torch-xla/stencil")).endswith("/torch-xla/stencil/table.md)")


def test_the_links_of_a_section_lead_to_the_repository_from_the_site():
    site = ROOT / ".nox" / "site" / "workloads"
    linked = set(re.findall(r"\]\(([^)]+)\)", workload_times.section("lenet-train")))
    assert len(linked) > 10
    assert [to for to in linked if not Path(os.path.normpath(site / to)).exists()] == []
