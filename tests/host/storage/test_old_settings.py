"""Tests that settings of older records are read in the present words."""

from __future__ import annotations

from bench.host.analysis.run_comparison import compare_runs
from bench.host.analysis.summaries import load, summarise
from bench.host.storage import run_summary
from bench.host.storage.old_settings import in_present_words
from bench.host.storage.record_schema import record_of

OLD, PRESENT = "mkl 2024.2 (the processor is not Intel's)", "mkl 2024.2 (kernels for any processor)"


def test_a_record_is_read_in_the_present_words(long_study):
    values = {**long_study.records[0].to_json(), "settings": {"threads": 2, "BLAS": OLD}}
    assert record_of(values, "records.jsonl:1").settings == {"threads": 2, "BLAS": PRESENT}
    assert values["settings"]["BLAS"] == OLD


def test_a_file_of_a_series_is_read_in_the_present_words(long_study, tmp_path):
    long_study.change("torch1:eager", settings={"threads": 2, "BLAS": PRESENT})
    path = run_summary.write(tmp_path, summarise(long_study.records, long_study.manifest))
    assert PRESENT in path.read_text()
    path.write_text(path.read_text().replace(PRESENT, OLD))
    found = run_summary.read(path)
    assert {found.facts.settings_of(one).get("BLAS") for one in found.cells} == {PRESENT, None}


def test_only_new_words_are_no_change_between_two_runs(long_study, tmp_path):
    """`compare` said that MKL's kernels had changed, where they were the same."""
    folders = [tmp_path / "before", tmp_path / "after"]
    for folder, words in zip(folders, (OLD, PRESENT), strict=True):
        folder.mkdir()
        long_study.change("torch1:eager", settings={"threads": 2, "BLAS": words})
        long_study.store(folder)
    before, after = map(load, folders)
    assert compare_runs(before, after, lambda cell: True).changed == ()


def test_other_settings_and_words_stay_as_they_are():
    kept = {"BLAS": "openblas (SkylakeX)", "note": OLD, "threads": 2}
    assert in_present_words(kept) == kept
    assert in_present_words({}) == {}
    assert in_present_words({"BLAS": 3}) == {"BLAS": 3}
