from __future__ import annotations

from dataclasses import replace

import pytest

from bench.host.reporting import report


def ranked(study) -> dict[str, list[str]]:
    table = report.make(study.records, study.manifest).ranking
    return {row[0].text: [entry.text for entry in row[1:]] for row in table.groups[0].rows}


def standings(study) -> dict[str, float]:
    return {column: float(row[0]) for column, row in ranked(study).items()}


def remark(study, start: str) -> str:
    made = report.make(study.records, study.manifest)
    table = made.ranking or made.summary
    return next(remark for remark in table.remarks if remark.startswith(start))


def test_columns_stand_in_the_order_of_their_geometric_means(long_study):
    rows = ranked(long_study)
    assert list(rows) == [
        "JAX 2.15 jit",
        "PyTorch 2.15 compile",
        "TensorFlow 2.15 xla",
        "PyTorch 1.13 torchscript",
        "PyTorch 1.13 eager",
        "PyTorch 2.15 eager",
        "TensorFlow 2.15 eager",
        "JAX 2.15 eager",
    ]
    assert rows["PyTorch 1.13 eager"][:4] == ["1", "", "5", "5"]
    assert float(rows["PyTorch 2.15 compile"][0]) == pytest.approx(0.71, abs=0.01)


def test_all_cells_of_a_sitting_are_ranked_by_the_same_turns(long_study):
    """A machine that is slow for half of each sitting, which one cell alone takes for a warm-up, favours none."""
    before = standings(long_study)
    long_study.change(sample_ns=lambda r: [round(ns * (1.5 if i < 6 else 1)) for i, ns in enumerate(r.sample_ns)])
    long_study.change("jax:jit", warmup_ns=lambda r: [3 * r.sample_ns[-1] // r.sample_steps[-1]] * 8)
    after = standings(long_study)
    assert after == {column: pytest.approx(ratio, rel=0.05) for column, ratio in before.items()}


def test_profiles_count_the_rows_within_a_factor_of_the_best(long_study):
    """The best is jax:jit at 0.55; 0.71 is 1.29 times, 1.9 is 3.5 times, 3.1 is 5.6 times that."""
    rows = ranked(long_study)
    assert rows["JAX 2.15 jit"][4:] == ["100%"] * 6
    assert rows["PyTorch 2.15 compile"][4:] == ["0%", "0%", "100%", "100%", "100%", "100%"]
    assert rows["TensorFlow 2.15 eager"][4:] == ["0%", "0%", "0%", "0%", "100%", "100%"]
    assert rows["JAX 2.15 eager"][4:] == ["0%", "0%", "0%", "0%", "0%", "100%"]


def test_a_cell_that_other_programs_disturbed_is_not_ranked_and_no_failure(long_study, monkeypatch):
    """A disturbed time counts nowhere: its column is not ranked, and has no profile where two rows of three remain."""
    long_study.change("jax:jit", "mlp-train", other_load=0.9, sample_ns=lambda r: [1000 * ns for ns in r.sample_ns])
    rows = ranked(long_study)
    assert rows["JAX 2.15 jit"] == ["–", "", "–", "–", *["–"] * 6]
    assert "Profiles: over 3 rows in which all with a profile were tried." in remark(long_study, "On cpu")
    assert "Not ranked, as too few rows would remain in common: JAX 2.15 jit." in remark(long_study, "On cpu")
    # With enough rows in common, the reason is named.
    for module in ("ranking", "speed_ups"):
        monkeypatch.setattr(f"bench.host.analysis.{module}.FEWEST_ROWS", 2)
    assert "Left out: mlp-train (JAX 2.15 jit: disturbed)." in remark(long_study, "On cpu")


def test_a_failure_takes_for_ever_and_its_column_is_not_ranked(long_study):
    """With three rows in all, a column that fails in one would leave too few in common."""
    long_study.end("jax:jit", "mlp-train", "timeout", "build", "300 s passed")
    rows = ranked(long_study)
    assert rows["JAX 2.15 jit"] == ["–", "", "–", "–", *["67%"] * 6]
    assert rows["PyTorch 2.15 compile"][2] == "1"
    assert "Not ranked, as too few rows would remain in common: JAX 2.15 jit." in remark(long_study, "On cpu")


def test_a_column_in_few_rows_takes_no_row_from_the_others(long_study):
    """A mode for training only would leave the ranking to its few rows, and contradict the means of the speed-ups."""
    sizes = ["small", *(f"s{number}" for number in range(4))]
    long_study.records = [
        replace(r, cell=replace(r.cell, size=size))
        for size in sizes
        for r in long_study.records
        if r.cell.column != "jax:jit" or (r.cell.workload == "mlp-train" and size != "s0")
    ]
    long_study.run["planned"] = []
    assert ranked(long_study)["JAX 2.15 jit"][2] == "–"
    assert "ranked on 15 rows that all have in common" in remark(long_study, "On cpu")


def test_rows_that_are_left_out_are_named_with_the_reason(long_study):
    long_study.records += [
        replace(r, cell=replace(r.cell, size="tiny"))
        for r in long_study.records
        if (r.cell.column, r.cell.workload) != ("jax:jit", "dispatch")
    ]
    long_study.end("jax:jit", "mlp-train", "timeout", "build", "300 s passed")
    text = remark(long_study, "On cpu")
    assert "ranked on 4 rows that all have in common (dispatch, small, catdog-cnn-train, small, " in text
    assert "Left out: mlp-train, small (JAX 2.15 jit: timeout); dispatch, tiny (JAX 2.15 jit: not planned)." in text
    assert "Profiles: over 5 rows" in text


def test_a_cell_that_the_study_excluded_is_no_failure(long_study):
    long_study.exclude("jax:jit", "mlp-train", "the published study did not use it")
    assert ranked(long_study)["JAX 2.15 jit"][4:] == ["–"] * 6
    assert "Profiles: over 3 rows in which all with a profile were tried." in remark(long_study, "On cpu")


def test_where_no_row_has_every_column_profiles_are_of_those_that_most_rows_have(long_study):
    """As in a wide study, in which some mode is excluded from each row."""
    for column, workload in (("jax:jit", "mlp-train"), ("jax:eager", "dispatch"), ("tf2:eager", "catdog-cnn-train")):
        long_study.exclude(column, workload, "it has no such part")
    rows = ranked(long_study)
    assert rows["JAX 2.15 jit"][4:] == ["–"] * 6
    # It is the best of the one row without JAX's `jit`, which is still the best of the others.
    assert rows["PyTorch 2.15 compile"][4:] == ["33%", "33%", *["100%"] * 4]
    assert "Profiles: over 3 rows" in remark(long_study, "On cpu")


def test_refused_comparisons_do_not_rank(long_study):
    long_study.run["strict"] = True
    rows = ranked(long_study)
    assert [name for name, row in rows.items() if row[2] != "–"] == ["PyTorch 1.13 torchscript", "PyTorch 1.13 eager"]


def test_each_track_of_threads_is_ranked_by_itself(long_study):
    tracks = [
        replace(r, cell=replace(r.cell, threads=threads, threads_named=True))
        for threads in (1, 2)
        for r in long_study.records
    ]
    long_study.records, long_study.run["planned"] = tracks, []
    assert [group.heading.text for group in report.make(long_study.records, long_study.manifest).ranking.groups] == [
        "cpu, 1 thread",
        "cpu, 2 threads",
    ]


def test_a_workload_with_another_number_of_threads_is_ranked_apart_as_it_is_averaged_apart(long_study):
    """Else the ranking could put another column first than the means of the speed-ups do."""
    long_study.records = [
        replace(r, cell=replace(r.cell, size=size, threads=1 if r.cell.workload == "dispatch" else 2))
        for size in ("small", "medium")
        for r in long_study.records
        if r.cell.workload != "dispatch" or size == "small"
    ]
    long_study.run["planned"] = []
    made = report.make(long_study.records, long_study.manifest)
    assert [group.heading.text for group in made.ranking.groups] == ["cpu, 2 threads"]
    assert any(remark.startswith("No ranking for cpu, 1 thread: ") for remark in made.ranking.remarks)
    (track,) = made.speed_ups.tracks
    ratios = {place.column: place.standing.ratio.value for place in made.rankings}
    assert sorted(ratios, key=ratios.get) == sorted(track.means, key=track.means.get, reverse=True)


def test_too_few_rows_are_the_reason_for_no_ranking(long_study):
    long_study.records = [r for r in long_study.records if r.cell.workload != "dispatch"]
    text = remark(long_study, "No ranking")
    assert text == (
        "No ranking for cpu, 2 threads: a ranking needs 2 columns with 3 rows in common; 8 columns with 2 rows in "
        "common have a result."
    )
    assert report.make(long_study.records, long_study.manifest).rankings == ()


def test_a_baseline_without_a_result_is_the_reason_for_no_ranking(long_study):
    for workload in ("dispatch", "mlp-train", "catdog-cnn-train"):
        long_study.end("torch1:eager", workload, "failed", "import", "boom")
    assert remark(long_study, "No ranking") == (
        "No ranking for cpu, 2 threads: the baseline PyTorch 1.13 eager has no result."
    )


def test_the_headline_says_when_the_next_column_may_be_the_fastest_as_well(long_study):
    def headline() -> str:
        sentences = report.make(long_study.records, long_study.manifest).main.sentences
        return next(told for told in sentences if told.startswith("Fastest on average: JAX 2.15 jit"))

    assert "too close" not in headline()
    own = {(r.round, r.cell.workload): r for r in long_study.records if r.cell.column == "jax:jit"}
    long_study.change("torch2:compile", sample_ns=lambda r: own[r.round, r.cell.workload].sample_ns)
    long_study.change("torch2:compile", sample_steps=lambda r: own[r.round, r.cell.workload].sample_steps)
    # A third of the processes a little slower, the others a little faster: on average as fast.
    long_study.change(
        "torch2:compile", sample_ns=lambda r: [round(ns * (1.006, 0.998, 0.999)[r.round % 3]) for ns in r.sample_ns]
    )
    assert "PyTorch 2.15 compile" in headline()
    assert headline().endswith(" (unclear: 3 rows).")
