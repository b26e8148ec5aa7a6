"""Tests the exit codes of runs and reports, on records that were made by hand."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace

import pytest

from bench.host.analysis.gate import Gate, Judged
from bench.host.analysis.run_analysis import analyse
from bench.host.commands import exit_codes
from bench.host.reporting.words.language import Language, writing_in
from bench.host.statistics.bootstrap import Estimate
from bench.host.storage import worker_logs


def options(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    exit_codes.add_arguments(parser)
    return parser.parse_args(arguments)


def code(study, *arguments: str, records=None) -> int:
    return exit_codes.exit_code(options(*arguments), study.records if records is None else records, study.manifest)


def only_ok(study):
    return [record for record in study.records if record.status in ("ok", "unsupported")]


def test_a_run_in_which_every_cell_was_measured_exits_with_0(long_study, capsys):
    assert code(long_study, records=only_ok(long_study)) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("status", ["failed", "mismatch", "timeout", "out-of-memory"])
def test_one_cell_without_a_result_exits_with_1_and_is_named_with_its_reason(long_study, capsys, status):
    records = only_ok(long_study)
    bad = replace(records[0], status=status, stage="check", reason="worst at [7, 1]", round=99)
    assert code(long_study, records=[*records, bad]) == 1
    assert f"{bad.cell.name}: {status} in check: worst at [7, 1]" in capsys.readouterr().err


def test_names_of_a_stored_run_steer_no_terminal(long_study, capsys):
    cell = replace(only_ok(long_study)[0].cell, mode="\x1b[2J", workload="\u202egemm")
    bad = replace(only_ok(long_study)[0], cell=cell, status="failed", stage="import", reason="x")
    assert code(long_study, records=[bad]) == 1
    assert not {"\x1b", "\u202e"} & set(capsys.readouterr().err)


@pytest.mark.parametrize("text", ["ImportError: no library\n", ""])
def test_a_failure_names_its_log_where_something_is_in_it(long_study, capsys, tmp_path, text):
    bad = replace(only_ok(long_study)[0], status="failed", stage="import", reason="x", round=99)
    log = worker_logs.path_of(tmp_path, bad.cell, worker_logs.label_of(bad.round, bad.attempt))
    log.parent.mkdir()
    log.write_text(text)
    assert exit_codes.exit_code(options(), [bad], long_study.manifest, tmp_path) == 1
    assert (f"log: {os.path.relpath(log)}" in capsys.readouterr().err) == bool(text)


def test_a_trial_says_how_many_cells_are_correct(long_study, capsys):
    records = only_ok(long_study)[:1]
    profile = long_study.manifest.profile.model_copy(update={"trial": True})
    bad = replace(records[0], cell=replace(records[0].cell, mode="other"), status="mismatch", stage="check", reason="x")
    manifest = replace(long_study.manifest, profile=profile)
    exit_codes.exit_code(options(), [*records, bad], manifest)
    assert "1 of 2 cells agree with float64. The times" in capsys.readouterr().out
    missing = replace(bad, cell=replace(bad.cell, mode="absent"), status="unsupported")
    exit_codes.exit_code(options(), [*records, bad, missing], manifest)
    assert "1 of 2 cells agree with float64; 1 unsupported here. The times" in capsys.readouterr().out


def test_a_cell_that_failed_and_was_measured_later_did_not_fail(long_study):
    records = only_ok(long_study)
    bad = replace(records[0], status="failed", reason="x")
    assert code(long_study, records=[bad, *records]) == 0


def test_failures_may_be_allowed_as_long_as_something_was_measured(long_study):
    records = only_ok(long_study)
    bad = replace(records[0], status="failed", reason="x", round=99)
    assert code(long_study, "--allow-failures", records=[*records, bad]) == 0
    assert code(long_study, "--allow-failures", records=[bad]) == 1


def test_what_this_machine_does_not_support_is_no_failure_where_something_was_measured(long_study, capsys):
    measured = next(record for record in long_study.records if record.status == "ok")
    cell = replace(measured.cell, mode="other")
    missing = replace(measured, cell=cell, status="unsupported", stage="import", reason="no GPU")
    assert code(long_study, records=[measured, missing]) == 0
    assert capsys.readouterr().err == ""
    assert code(long_study, records=[missing]) == 1
    assert code(long_study, "--allow-failures", records=[missing]) == 1
    assert f"{cell.name}: unsupported in import: no GPU" in capsys.readouterr().err


def test_a_slowdown_beyond_the_limit_exits_with_3_and_says_how_much(long_study, capsys):
    assert code(long_study, "--fail-if", "slower:5%", records=only_ok(long_study)) == 3
    said = capsys.readouterr().err
    assert "Slower by more than 5 %: tf2:eager mlp-train" in said
    assert "times the baseline's time [" in said


@pytest.mark.parametrize(
    ("value", "low", "high", "said"),
    [
        (1.9378, 1.5111, 2.3722, "takes 1.9 times the baseline's time [1.5, 2.4]"),
        (1.0678, 1.0581, 1.0744, "takes 1.068 times the baseline's time [1.058, 1.074]"),
        (43.78, 38.2, 48.9, "takes 44 times the baseline's time [38, 49]"),
        (137.849, 136.1, 139.2, "takes 137.8 times the baseline's time [136.1, 139.2]"),
        (1.4378, None, None, "takes 1.44 times the baseline's time"),
    ],
)
def test_the_gate_shows_a_ratio_with_the_digits_of_the_tables(long_study, monkeypatch, capsys, value, low, high, said):
    one = next(result for result in analyse(only_ok(long_study), long_study.manifest).results if result.ratio)
    shown = replace(one.ratio, estimate=Estimate(value, low, high, 9))
    slow = replace(one, comparison=replace(one.comparison, ratio=shown))
    monkeypatch.setattr(Gate, "judge", lambda _self, _analysis, _baseline: Judged((slow,), (), (), 1))
    with writing_in(Language("pt_BR", decimal_sign=",")):
        assert code(long_study, "--fail-if", "slower:5%", records=only_ok(long_study)) == 3
    assert capsys.readouterr().err == f"Slower by more than 5 %: {one.cell.name} {said}\n"


def test_no_slowdown_beyond_the_limit_exits_with_0(long_study):
    assert code(long_study, "--fail-if", "slower:1000%", records=only_ok(long_study)) == 0


def test_too_few_rounds_for_a_verdict_do_not_pass_the_gate(short_study, capsys):
    assert code(short_study, "--fail-if", "slower:1000%", records=only_ok(short_study)) == 3
    assert "--profile standard" in capsys.readouterr().err


def test_where_others_disturbed_a_run_the_gate_says_so_in_place_of_asking_for_rounds(short_study, capsys):
    short_study.change(other_load=0.9)
    assert code(short_study, "--fail-if", "slower:1000%", records=only_ok(short_study)) == 3
    said = capsys.readouterr().err
    assert "--wait 10m" in said
    assert "More rounds" not in said


@pytest.mark.parametrize(("disturbed", "said"), [("mlp-train", "--wait 10m"), ("dispatch", "More rounds")])
def test_the_gate_blames_other_programs_only_for_what_they_disturbed(short_study, monkeypatch, capsys, disturbed, said):
    short_study.change(None, disturbed, other_load=0.9)
    analysis = analyse(only_ok(short_study), short_study.manifest)
    one = next(each for each in analysis.results if each.ratio and each.cell.workload == "mlp-train")
    monkeypatch.setattr(Gate, "judge", lambda _self, _analysis, _baseline: Judged((), (one,), (), 1))
    assert code(short_study, "--fail-if", "slower:5%", records=only_ok(short_study)) == 3
    assert said in capsys.readouterr().err


def test_a_run_that_ended_before_its_first_cell_exits_with_1_and_passes_no_gate(long_study, capsys):
    assert code(long_study, records=[]) == 1
    assert code(long_study, "--fail-if", "slower:1000%", records=[]) == 3
    assert "Nothing was compared" in capsys.readouterr().err


def test_a_run_of_the_baseline_alone_passes_no_gate(long_study):
    baseline = [r for r in only_ok(long_study) if r.cell.column == long_study.manifest.study.baseline]
    assert code(long_study, records=baseline) == 0
    assert code(long_study, "--fail-if", "slower:1000%", records=baseline) == 3


@pytest.mark.parametrize("text", ["slower", "slower:5", "faster:5%", "slower:-5%", "slower:%", "", "slower:1e9%"])
def test_a_malformed_gate_is_refused(capsys, text):
    with pytest.raises(SystemExit) as raised:
        options("--fail-if", text)
    assert raised.value.code == 2
    assert "slower:5%" in capsys.readouterr().err
