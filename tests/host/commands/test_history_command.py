"""The command that compares versions: which run it reads, what it refuses, and which files it leaves."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import pytest
from releases import VERSIONS, Releases

from bench.host.__main__ import main
from bench.host.commands import report_versions
from bench.host.storage import journal, manifest
from bench.host.study.twin import SUFFIX

MATRIX = f"""
[study]
name = "versions"
baseline = "torch-1.9.0:eager"
default = ["torch"]
profile = "quick"

[environments.torch]
framework = "torch"
versions = {json.dumps(VERSIONS)}
modes = ["eager"]

[environments.jax]
framework = "jax"
versions = ["0.5.3", "0.10.2"]
modes = ["jit"]

[workloads.gemm]
[workloads.mlp-train]

[profiles.quick]
rounds = 3
samples = 8
sample_seconds = 0.025
sizes = ["small"]
"""
PLANTED = {"gemm": (1.0, 1.0, 1.05, 1.0), "mlp-train": (1.0, 0.8, 0.8, 0.8)}


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "matrix.toml").write_text(MATRIX)
    return tmp_path


@pytest.fixture
def folder(root):
    """The folder of a run of the family torch."""
    run = Releases(PLANTED)
    place = root / "reports" / "versions"
    place.mkdir(parents=True)
    manifest.write(place, run.manifest)
    lines = (json.dumps(record.to_json()) for record in run.records)
    (place / journal.RECORDS).write_text("\n".join(lines) + "\n")
    return place


def history(root, *arguments):
    return main(["history", *arguments], root)


def rows(folder):
    with (folder / "versions.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_run_of_the_study_is_read_and_its_versions_are_compared(root, folder, capsys):
    assert history(root, "torch") == 0
    assert "slower" in capsys.readouterr().out
    slower = [row["version"] for row in rows(folder) if (row["quantity"], row["verdict"]) == ("step_s", "slower")]
    assert set(slower) == {"1.11.0"}
    assert (folder / "figures" / "versions-gemm.png").exists()


def test_the_gate_judges_a_stored_run_too(root, folder, capsys):
    """It was read, and ignored."""
    said = []
    for command in (["history", "torch"], ["report"]):
        assert main([*command, "--fail-if", "slower:5%"], root) == 3
        said.append(capsys.readouterr().err)
    assert "torch-1.11.0:eager gemm" in said[0]
    assert said[0] == said[1]


def test_the_gate_of_a_stored_run_judges_by_the_baseline_that_is_given(root, folder, capsys):
    """It judged by that of the run, and said so of neither option."""
    assert (
        history(root, "torch", "--workload", "gemm", "--baseline", "torch-1.11.0:eager", "--fail-if", "slower:3%") == 0
    )
    capsys.readouterr()
    assert history(root, "torch", "--against", "1.11.0", "--fail-if", "slower:3%") == 2
    assert "--baseline COLUMN" in capsys.readouterr().err


def test_a_baseline_that_would_be_ignored_or_is_no_column_of_the_part_is_refused_before_anything_is_written(
    root, folder, capsys
):
    for options in (["--baseline", "torch-1.11.0:eager"], ["--baseline", "jax:jit", "--fail-if", "slower:3%"]):
        assert history(root, "torch", *options) == 2
        said = capsys.readouterr()
        assert "--baseline" in said.err
        assert said.out == ""


def test_damaged_lines_are_told_on_stderr_as_by_other_commands(root, folder, capsys):
    path = folder / journal.RECORDS
    path.write_text("nonsense\n" + path.read_text())
    assert history(root, "torch") == 0
    said, run = capsys.readouterr(), Releases(PLANTED).manifest.run
    assert said.err == f"{run}: 1 damaged line was left out (records.jsonl:1).\n"
    assert "records.jsonl" not in said.out
    assert main(["show", str(folder)], root) == 0
    assert capsys.readouterr().err == said.err


def test_where_the_files_are_is_said(root, folder, capsys):
    history(root)
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("Files in reports/versions: versions.md, versions.tex, versions.csv, figures/versions-gemm,")


def test_where_the_files_are_fits_a_terminal(root, folder, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    history(root, "--workload", "gemm")
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 60


def test_a_part_can_be_chosen_as_in_a_run(root, folder):
    assert history(root, "torch", "--workload", "g*") == 0
    assert {row["workload"] for row in rows(folder)} == {"gemm", ""}
    assert {path.name for path in (folder / "figures").iterdir()} == {
        f"versions-gemm.{e}" for e in ("pdf", "svg", "png")
    }
    assert history(root, "torch-1.9.0", "torch-1.11.0") == 0
    assert {row["version"] for row in rows(folder)} == {"1.9.0", "1.11.0"}


def test_a_part_keeps_the_noise_floor_of_a_twin_that_it_does_not_show(root, folder):
    """Two versions alone were certainly apart that the whole run could not tell from noise."""
    run = Releases(PLANTED)
    own = [record for record in run.records if record.cell.environment == "torch-1.9.0"]
    twins = [replace(r, cell=replace(r.cell, environment=r.cell.environment + SUFFIX)) for r in own]
    twins = [replace(r, sample_ns=[round(1.08 * ns) for ns in r.sample_ns]) for r in twins]
    manifest.write(folder, replace(run.manifest, planned=(*run.manifest.planned, *{r.cell: 0 for r in twins})))
    lines = (json.dumps(record.to_json()) for record in (*run.records, *twins))
    (folder / journal.RECORDS).write_text("\n".join(lines) + "\n")
    for families in (["torch"], ["torch-1.10.0", "torch-1.11.0"]):
        assert history(root, *families, "--workload", "gemm") == 0
        steps = [row for row in rows(folder) if (row["quantity"], row["version"]) == ("step_s", "1.11.0")]
        assert {row["verdict"] for row in steps} == {"unclear"}
        assert "Noise floor" in (folder / "versions.md").read_text()


def test_a_folder_with_records_is_a_run_as_in_other_commands(root, folder, capsys):
    elsewhere = root / "kept" / "torch"
    elsewhere.parent.mkdir()
    folder.rename(elsewhere)
    for name in ("kept/torch", str(elsewhere)):
        assert history(root, "--run", name) == 0
        assert "Files in kept/torch: versions.md" in capsys.readouterr().out
    assert main(["report", "--run", "kept/torch"], root) == 0


def test_a_report_compares_the_versions_too_and_keeps_a_comparison_that_is_there(root, folder, capsys):
    assert main(["report", str(folder)], root) == 0
    assert "Files in reports/versions: versions.md, versions.tex" in capsys.readouterr().out
    assert "than 1.9.0" in (folder / "versions.md").read_text()
    assert history(root, "--against", "1.11.0") == 0
    capsys.readouterr()
    assert main(["report", str(folder)], root) == 0
    assert "versions.md" not in capsys.readouterr().out
    assert "than 1.11.0" in (folder / "versions.md").read_text()


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["torch-1.13.1", "torch-2.0.1"], True),
        (["torch-1.13.1", "jax-0.4.30", "numpy"], False),
        (["torch1", "torch2", "torch2-mkl", "torch1-mkl"], False),
        ([], False),
    ],
)
def test_environments_are_a_family_by_their_names(names, found):
    assert bool(report_versions.families_of(names)) == found


def test_the_version_that_all_are_compared_with_can_be_chosen(root, folder, capsys):
    assert history(root, "--against", "1.11.0") == 0
    assert "eager against 1.11.0" in " ".join(capsys.readouterr().out.split())
    assert "than 1.11.0" in (folder / "versions.md").read_text()
    assert {r["other_version"] for r in rows(folder) if r["against"] == "baseline"} == {"1.11.0"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["torhc"], "unknown environment 'torhc'; did you mean 'torch'? Known: torch, jax, torch-1.9.0"),
        (["--against", "1.12"], "--against: unknown version '1.12'"),
        (["jax"], "has no workload in two versions of jax; it has "),
        (["torch-1.9.0"], "has no workload in two versions of torch-1.9.0; it has "),
        (["--run", "nobody"], "nobody"),
        (["--run", "reports/version"], "reports/version holds no run; did you mean"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_the_remedy(root, folder, arguments, said, capsys):
    assert history(root, *arguments) == 2
    assert said in capsys.readouterr().err
    assert not (folder / "versions.csv").exists()


@pytest.mark.parametrize("table", ["other", "torch"])
def test_names_are_those_of_the_run_where_the_study_file_means_something_else(root, folder, table, capsys):
    """A name of a run of another study was unknown, or the one environment of this study that has it."""
    text = MATRIX.replace(f"versions = {json.dumps(VERSIONS)}", 'python = "3.11"\nrequirements = ["torch==2.0.0"]')
    text = text.replace("environments.torch]", f"environments.{table}]").replace('["torch"]', f'["{table}"]')
    (root / "matrix.toml").write_text(text.replace("torch-1.9.0:", f"{table}:"))
    for names, versions in ((["torch"], VERSIONS), (["torch-1.9.0", "torch-1.11.0"], ("1.9.0", "1.11.0"))):
        assert history(root, *names, "--run", "reports/versions", "--workload", "gemm") == 0, capsys.readouterr().err
        assert {row["version"] for row in rows(folder)} == set(versions)


@pytest.mark.parametrize("command", ["history", "claims", "report", "show"])
def test_a_damaged_description_is_not_called_a_missing_run(root, folder, command, capsys):
    """The remedy was to measure again, which moves the damaged run away."""
    (root / "matrix.toml").write_text(f'{MATRIX}[claims.other]\nsays = "It is."\nunsettled = "No run can tell."\n')
    (folder / "run.json").write_text('{"schema": 2, "run": 7')
    assert main([command], root) == 2
    said = capsys.readouterr().err
    assert "run.json is damaged: it does not describe a run: is not a whole object of JSON. Restore it" in said


def test_without_a_run_the_option_that_measures_is_named(root, capsys):
    assert history(root, "torch") == 2
    assert "Measure first: add --measure to the same command." in capsys.readouterr().err


def test_measuring_takes_the_options_of_a_run_and_can_be_looked_at_before(root, capsys):
    assert history(root, "torch", "--measure", "--dry-run", "--workload", "gemm") == 0
    said = capsys.readouterr().out
    for version in VERSIONS:
        assert f"torch-{version}" in said
    assert "mlp-train" not in said
    assert "jax" not in said


@pytest.mark.long
def test_a_version_without_a_lock_costs_the_others_nothing(root, capfd, monkeypatch):
    """No index can be reached here, so that no lock can be made: each version has its reason, and no traceback."""
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(root / "cache"))
    # A build for its own sake failed, and a session of nox that needs it ends.
    assert main(["prepare", "torch"], root) == 1
    said = capfd.readouterr().out
    for version in VERSIONS:
        assert f"torch-{version}: failed: locks/torch-{version}.txt cannot be made" in said
    assert {path.name for path in (root / ".nox" / "environments").glob("*.outcome.json")} == {
        f"torch-{version}.outcome.json" for version in VERSIONS
    }
    assert f"Could not be built: torch-{VERSIONS[0]}, " in said
