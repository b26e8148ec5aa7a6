"""Tests what a browser shows of the page: the answer, charts, tables and cells."""

from __future__ import annotations

import re
from dataclasses import replace

import browser
import pytest
from pages import data_of, page_of

from bench.host.reporting import report
from bench.host.reporting.outputs import page_html
from bench.host.storage import worker_logs

pytestmark = pytest.mark.browser


def panel_of(text: str, name: str) -> str:
    """Return what the page has in the panel of a row."""
    found = re.search(rf'<section class="panel" aria-label="{name}">(.*?)</section>', text, re.DOTALL)
    assert found is not None
    return found[1]


def test_the_page_shows_the_answer_the_chart_and_the_table(tmp_path, long_study, chromium):
    path = page_of(long_study, tmp_path)
    text = chromium.dump(path)
    assert 'data-ready="yes"' in text
    # Three workloads, an environment, a setting with two values.
    assert len(re.findall('<tr[^>]*><th scope="row">', text)) == 3 + 1 + 2
    shown = browser.shown(text)
    assert data_of(path)["answer"][0] in shown
    assert "Speed-ups are over PyTorch 1.13 eager." in shown
    assert "PyTorch 1.13" in shown
    assert shown.count("geometric mean") == 2  # of the chart and of the table


@pytest.mark.parametrize("ratios", ["speedup", "ratio"])
def test_the_means_have_the_intervals_of_the_ranking(tmp_path, long_study, chromium, ratios):
    """Without them, a mean over a few rows looked as firm as a time."""
    long_study.run["study"]["ratios"] = ratios
    made = report.make(long_study.records, long_study.manifest)
    text = chromium.dump(page_of(long_study, tmp_path))
    panel = re.search(r'<section class="panel mean".*?</section>', text, re.DOTALL)
    assert panel is not None
    means = made.ranked.means(made.speed_ups.tracks[0])
    known = [column for column, mean in means.items() if mean.low is not None and column != "torch1:eager"]
    assert len(known) > 2
    said = re.findall(r"([\d.]+) times as (?:fast|long) \[([\d.]+), ([\d.]+)\]", panel[0])
    assert said
    assert panel[0].count('class="whisker"') == len(known)
    assert all(float(low) <= float(value) <= float(high) for value, low, high in said)


def test_the_means_are_those_of_the_tables_although_a_column_has_few_rows(tmp_path, long_study, chromium):
    few = ("torch1:torchscript", "mlp-train")
    long_study.records = [r for r in long_study.records if r.cell.column != few[0] or r.cell.workload == few[1]]
    table = report.make(long_study.records, long_study.manifest).main
    expected = [entry.text for entry in table.groups[0].rows[-1][1:]]
    assert expected.count("") == 2, "of the baseline, and of the column that was measured in one row of three"
    text = chromium.dump(page_of(long_study, tmp_path))
    footer = re.search(r"<tfoot>.*?</tfoot>", text, re.DOTALL)
    assert footer is not None
    assert sorted(re.findall(r"<span>([^<]*)", footer[0])) == sorted(filter(None, expected))
    assert "over 3 complete rows" in browser.shown(text)


def test_what_is_certainly_different_does_not_look_like_one_as_in_the_tables(tmp_path, long_study, chromium):
    column, workload = "torch1:torchscript", "mlp-train"
    found = report.make(long_study.records, long_study.manifest).speed_ups
    cell = next(row.cells[column] for row in found.rows if row.cells[column].result.cell.workload == workload)
    long_study.slow(column, workload, found.shown(cell.speed_up.value) / 1.03)
    table = report.make(long_study.records, long_study.manifest).main
    shown = [entry.text for row in table.groups[0].rows for entry in row]
    assert [text for text in shown if text.startswith("1.0")] == ["1.03*"]
    text = chromium.dump(page_of(long_study, tmp_path))
    assert len(re.findall(r">1\.03<", text)) == 2, "in the chart and in the table"


def test_a_small_speed_up_has_the_digits_of_the_tables_and_lies_within_its_interval(tmp_path, long_study, chromium):
    for workload in ("dispatch", "mlp-train", "catdog-cnn-train"):
        long_study.slow("torch1:torchscript", workload, 200.0)
    table = report.make(long_study.records, long_study.manifest).main
    expected = [row[2].text.rstrip("*≈~^") for row in table.groups[0].rows]
    assert all(re.fullmatch(r"0\.00\d\d", text) for text in expected)
    text = chromium.dump(page_of(long_study, tmp_path))
    assert set(expected) <= set(re.findall(r">(0\.00\d\d)<", text))
    said = re.findall(r": ([\d.]+) times as fast \[([\d.]+), ([\d.]+)\]", text)
    assert len(said) > 10
    assert all(float(low) <= float(value) <= float(high) for value, low, high in said)


def test_the_chart_leaves_out_what_the_study_excludes_and_heads_many_modes_by_their_version(
    tmp_path, long_study, chromium
):
    long_study.exclude("torch2:eager", "dispatch", "the published study did not use it")
    few = panel_of(chromium.dump(page_of(long_study, tmp_path)), "dispatch")
    assert re.findall(r'<span class="label"[^>]*>PyTorch 2.15 ([^<]*)', few) == ["compile"]
    assert "excluded" not in few
    long_study.records += [
        replace(r, cell=replace(r.cell, mode=f"{r.cell.mode}-again"))
        for r in long_study.records
        if r.cell.framework == "torch"
    ]
    many = panel_of(chromium.dump(page_of(long_study, tmp_path)), "dispatch")
    assert re.findall(r'class="release">([^<]*)', many)[:2] == ["PyTorch 1.13", "PyTorch 2.15"]
    assert re.findall(r'<span class="label"[^>]*title="PyTorch 2.15 compile-again"[^>]*>([^<]*)', many) == [
        "compile-again"
    ]


def test_panels_with_few_bars_name_them_as_those_with_many(tmp_path, long_study, chromium):
    """Beside a panel whose versions head their modes, another one named each bar in full."""
    long_study.records += [
        replace(r, cell=replace(r.cell, mode=f"{r.cell.mode}-again"))
        for r in long_study.records
        if r.cell.framework == "torch" and r.cell.workload != "mlp-train"
    ]
    text = chromium.dump(page_of(long_study, tmp_path))
    assert panel_of(text, "dispatch").count('class="label"') > 8 >= panel_of(text, "mlp-train").count('class="label"')
    assert 'class="release">PyTorch 2.15<' in panel_of(text, "mlp-train")


def test_rows_of_other_numbers_of_threads_are_not_part_of_the_mean(tmp_path, long_study, chromium):
    before = chromium.dump(page_of(long_study, tmp_path))
    long_study.records += [
        replace(r, cell=replace(r.cell, threads=1, workload=f"{r.cell.workload}-1"))
        for r in long_study.records
        if r.cell.workload != "dispatch" and (r.cell.column != "jax:jit" or r.round % 2)
    ]
    after = chromium.dump(page_of(long_study, tmp_path))
    means = [re.search(r"<tfoot>.*?</tfoot>", text, re.DOTALL)[0] for text in (before, after)]
    assert "geometric mean, 2 threads" in means[1]
    assert re.findall(r"<span>([^<]*)", means[0]) == re.findall(r"<span>([^<]*)", means[1])


@pytest.mark.parametrize(
    ("figure", "panels", "says"),
    [
        ("breakEven", 3, "made up for a slower start"),
        ("distributions", 3, "Every dot is a sample"),
        ("scaling", 1, "Time per step at each size"),
        ("memory", 3, "Peak memory of the steps"),
        ("profile", 1, "4 rows"),
        ("roofline", 1, "cpu / float32 / 2 threads"),
    ],
)
def test_a_further_figure_is_drawn_when_it_is_asked_for(tmp_path, long_study, chromium, figure, panels, says):
    if figure in ("scaling", "profile"):
        long_study.records += [
            replace(r, cell=replace(r.cell, size="tiny"), sample_ns=[max(1, ns // 3) for ns in r.sample_ns])
            for r in long_study.records
            if r.cell.workload == "mlp-train"
        ]
    rates = {"flops_per_s": {"float32": 1e11}, "bandwidths": [[1e6, 1e11], [1e9, 2e10]]}
    long_study.run["peaks"] = {"torch1/cpu": rates}
    path = page_of(long_study, tmp_path)
    before, after = (
        re.search(r'<section id="figures">(.*?)<section id="table">', chromium.dump(path, address), re.DOTALL)[1]
        for address in ("", f"figure={figure}")
    )
    assert "panel" not in before
    assert len(re.findall(r'<section class="panel"', after)) == panels
    assert says in browser.shown(after)
    if figure != "memory":
        assert not re.search(r"NaN|Infinity|undefined", after)
        assert "JAX 2.15 jit" in browser.shown(after)


def test_the_settings_that_differ_are_shown(tmp_path, long_study, chromium):
    shown = browser.shown(chromium.dump(page_of(long_study, tmp_path)))
    assert "Settings that differ" in shown
    assert "AVX512" in shown


def test_a_column_whose_settings_may_matter_is_marked_as_on_the_screen_and_the_legend_names_them(
    tmp_path, long_study, chromium
):
    path = page_of(long_study, tmp_path)
    made = report.make(long_study.records, long_study.manifest)
    explained = made.speed_ups.explained
    assert explained
    assert {one["id"]: tuple(one["differing"]) for one in data_of(path)["columns"] if one["differing"]} == explained
    names = ", ".join(dict.fromkeys(name for own in explained.values() for name in own))
    text = chromium.dump(path)
    headings = re.search(r"<thead>.*?</thead>", text, re.DOTALL)[0]
    assert len(re.findall('title="settings that may matter differ: [^"]+">°', headings)) == len(explained)
    assert f"° settings that may matter differ: {names}" in browser.shown(text)
    # Times are of each column alone, and only the study's baseline was looked at.
    for address in ("show=times", "baseline=jax%3Ajit"):
        assert "°" not in browser.shown(chromium.dump(path, address))


def test_a_run_with_one_column_shows_its_times(tmp_path, long_study, chromium):
    long_study.records = [one for one in long_study.records if one.cell.column == "torch1:eager"]
    text = chromium.dump(page_of(long_study, tmp_path))
    shown = browser.shown(text)
    assert "Median time per step." in shown
    for absent in ("Nothing to show", "geometric mean", "speed-ups", "faster"):
        assert absent not in shown
    assert "<tfoot>" not in text
    assert 'id="baseline"' not in text


def test_a_cell_opens_with_its_samples_settings_and_command(tmp_path, long_study, chromium):
    text = chromium.dump(page_of(long_study, tmp_path), "cell=1%2Ftorch2%3Acompile")
    assert re.search(r"<dialog[^>]* open", text)
    assert text.count('class="dots"') == 10
    shown = browser.shown(text)
    command = "nox -s bench-torch2 -- --workload mlp-train --mode compile --size small --precision float32"
    assert f"{command} --device cpu --threads 2 --profile quick" in shown
    assert "instruction set AVX512" in shown


@pytest.mark.parametrize(
    ("file", "option"),
    [
        ("", ""),
        ("matrix.toml", ""),
        ("studies/full.toml", " --matrix studies/full.toml"),
        ("a b.toml", " --matrix 'a b.toml'"),
    ],
)
def test_the_command_of_a_cell_names_the_study_file_that_nox_would_not_take(
    tmp_path, long_study, chromium, file, option
):
    long_study.run["study"]["file"] = file
    text = chromium.dump(page_of(long_study, tmp_path), "cell=1%2Ftorch2%3Acompile")
    command = re.search(r'<div class="command"><code[^>]*>(.*?)</code>', text)
    assert command is not None
    assert browser.shown(command[1]).strip().endswith(f"--threads 2 --profile quick{option}")


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (None, "Every time was withheld: other programs were computing."),
        ("torch1:eager", "Every speed-up was withheld: other programs were computing."),
    ],
)
def test_an_empty_chart_says_that_other_programs_were_computing(tmp_path, long_study, column, said, chromium):
    long_study.change(column, other_load=0.9)
    shown = browser.shown(chromium.dump(page_of(long_study, tmp_path)))
    assert said in shown
    assert "Nothing to show" not in shown


def test_an_excluded_cell_has_its_reason_and_the_legend_explains_the_mark(tmp_path, long_study, chromium):
    reason = "the published study did not use it"
    long_study.exclude("torch2:eager", "dispatch", reason)
    text = chromium.dump(page_of(long_study, tmp_path))
    assert re.search(
        rf'<button[^>]*title="{reason}"[^>]*aria-label="excluded: {reason}"[^>]*data-key="0/torch2:eager">·', text
    )
    assert "· excluded: the study leaves this cell out; select it for the reason" in browser.shown(text)


@pytest.mark.parametrize("column", ["jax:jit", "torch1:eager"])
def test_a_disturbed_time_is_withheld_from_table_and_mean(tmp_path, long_study, column, chromium):
    long_study.change(column, "dispatch", other_load=0.9)
    text = chromium.dump(page_of(long_study, tmp_path))
    entry = re.search(r'<td class="muted"><button[^>]*data-key="0/jax:jit">(.*?)<', text)
    assert entry is not None
    assert entry[1] == "-"
    # The two rows that are left are too few for a mean; the other columns have all three.
    footer = "".join(re.findall(r"<tfoot>.*?</tfoot>", text, re.DOTALL))
    means = re.findall(r"<td[^>]*><span>([^<]+)", footer)
    assert len(means) == (6 if column == "jax:jit" else 0)
    assert "withheld: other programs were computing" in browser.shown(text)


@pytest.mark.parametrize(("withheld", "means"), [(1, 7), (2, 0)])
def test_a_mean_needs_two_thirds_of_all_rows_also_where_the_baseline_is_withheld(
    tmp_path, long_study, withheld, means, chromium
):
    """Rows without any speed-up did not count among all rows, so the page had a mean of half of them."""
    further = [f"further-{number}" for number in range(withheld)]
    long_study.records += [
        replace(r, cell=replace(r.cell, workload=name), other_load=0.9 if r.cell.column == "torch1:eager" else 0.0)
        for name in further
        for r in long_study.records
        if r.cell.workload == "dispatch"
    ]
    footer = "".join(re.findall(r"<tfoot>.*?</tfoot>", chromium.dump(page_of(long_study, tmp_path)), re.DOTALL))
    assert len(re.findall(r"<td[^>]*><span>([^<]+)", footer)) == means


def test_a_run_without_its_baseline_shows_times(tmp_path, long_study, chromium):
    long_study.run["study"]["baseline"] = "absent:eager"
    shown = browser.shown(chromium.dump(page_of(long_study, tmp_path)))
    assert "No baseline was measured" in shown
    assert "Median time per step." in shown


def test_a_cell_that_failed_opens_with_its_reason(tmp_path, short_study, chromium):
    shown = browser.shown(chromium.dump(page_of(short_study, tmp_path), "cell=1%2Ftf2%3Axla"))
    assert "loss errs by 3.1e-2; 1e-5 is allowed" in shown


def test_a_cell_that_failed_opens_with_the_end_of_its_log(tmp_path, short_study, chromium):
    record = next(
        one for one in short_study.records if one.cell.column == "tf2:xla" and one.cell.workload == "mlp-train"
    )
    log = worker_logs.path_of(tmp_path, record.cell, worker_logs.label_of(record.round, record.attempt))
    log.parent.mkdir()
    log.write_text("</script><b>first</b>\nlast line of the worker\n")
    made = report.make(short_study.records, short_study.manifest, folder=tmp_path)
    (page,) = page_html.write(made, tmp_path)
    shown = browser.shown(chromium.dump(page, "cell=1%2Ftf2%3Axla"))
    assert "last line of the worker" in shown
    assert log.name in shown
    assert "<b>first" not in page.read_text()
