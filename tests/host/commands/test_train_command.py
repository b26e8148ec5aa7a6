"""Tests training to a result from end to end: real workers, small data, planted mistakes, and words for people."""

from __future__ import annotations

import csv
import struct
import sys
from pathlib import Path

import learning_project
import numpy as np
import pytest
from PIL import Image

from bench.host.__main__ import main
from bench.host.analysis.training import analyse
from bench.host.storage import training_records
from bench.record import FAILED, MISMATCH, UNSUPPORTED

BRIEF = ("--epochs", "2", "--seeds", "2")


def train(folder: Path, *arguments: str) -> int:
    return main(["train", "--matrix", str(folder / "matrix.toml"), *arguments], root=folder)


def read(folder: Path):
    found = training_records.read(folder / "reports" / "marks" / "training")
    assert found is not None
    return found


def trained_row(folder: Path):
    (row,) = analyse(*read(folder))
    return {("nudged " if one.nudged else "") + one.cell.environment: one for one in row.cells}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Train the same program in two environments."""
    folder = learning_project.write(tmp_path_factory.mktemp("project"))
    assert train(folder, *BRIEF, "--time-to", "60%") == 0
    return folder


def test_the_same_weights_and_batches_give_the_same_result(project):
    row = trained_row(project)
    assert row["other"].apart == 0.0
    assert row["other"].largest_difference == 0.0
    one, other = row["one"].runs, row["other"].runs
    assert [run.seed for run in one] == [1, 2]
    assert [epoch.accuracy for run in one for epoch in run.epochs] == [e.accuracy for run in other for e in run.epochs]
    assert row["one"].accuracy.value > 0.6


def test_seeds_give_other_results_and_the_changed_weights_nearly_the_same(project):
    row = trained_row(project)
    first, second = row["one"].runs
    assert first.epochs[0].cross_entropy != second.epochs[0].cross_entropy
    assert 0 < row["nudged one"].apart < 1e-4


def test_the_files_have_every_epoch_and_the_columns_of_the_published_table(project):
    folder = project / "reports" / "marks" / "training"
    rows = list(csv.DictReader((folder / "training.csv").read_text().splitlines()))
    assert list(rows[0])[1:8] == [
        "framework",
        "accuracy",
        "loss",
        "mean_execution_s",
        "training_epochs",
        "training_images",
        "validation_images",
    ]
    assert (rows[0]["training_epochs"], rows[0]["training_images"], rows[0]["validation_images"]) == ("2", "42", "18")
    assert len(list(csv.DictReader((folder / "epochs.csv").read_text().splitlines()))) == 2 * 2 * 3
    assert "a verdict needs" not in (folder / "training.md").read_text()
    assert "classify the same number of images correctly" in (folder / "training.md").read_text()


def test_what_is_done_is_not_done_again_and_other_trainings_are_kept(project, capsys):
    before = read(project)
    assert train(project, *BRIEF, "--time-to", "60%") == 0
    assert "Continuing: 6 trainings are done" in capsys.readouterr().out
    assert read(project) == before
    assert train(project, "--epochs", "1", "--seeds", "1") == 0
    assert read(project)[0].epochs == 1
    (kept,) = (project / "reports" / "marks" / "training" / "history").iterdir()
    assert training_records.read(kept) == before
    assert train(project, *BRIEF, "--time-to", "60%", "--fresh") == 0


def test_a_run_of_the_study_leaves_trainings_where_they_are(project):
    from bench.host.storage import archive

    names = {path.name for path in archive.files_of(project / "reports" / "marks")}
    assert training_records.folder_of(project, "marks").is_dir()
    assert "training" not in names


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Train programs with mistakes beside the right one."""
    folder = learning_project.write(
        tmp_path_factory.mktemp("planted"),
        rate="rate",
        late="late rate",
        labels="labels",
        silent="silent",
        diverged="diverged",
    )
    assert train(folder, "--epochs", "1", "--seeds", "1") == 1
    return folder


def test_a_wrong_learning_rate_is_found_before_anything_is_trained(planted):
    failed = trained_row(planted)["rate"].failed
    assert (failed.status, failed.stage) == (MISMATCH, "check")
    assert not trained_row(planted)["rate"].runs


def test_mistakes_that_begin_later_put_the_parameters_apart(planted):
    row = trained_row(planted)
    assert row["nudged one"].apart < 1e-4
    assert row["late"].apart > 0.01
    assert row["labels"].apart > 0.5


def test_other_endings_have_a_status_and_a_reason(planted):
    row = trained_row(planted)
    assert row["silent"].failed.status == UNSUPPORTED
    assert "gives no logits" in row["silent"].failed.reason
    assert row["diverged"].failed.status == FAILED
    assert "the training has diverged" in row["diverged"].failed.reason


def test_what_cannot_be_trained_is_refused_in_words(tmp_path, capsys):
    learning_project.write(tmp_path)
    for arguments, said in {
        ("--workload", "gemm"): "it has no examples to learn from. Workloads of this study with examples: marks-train",
        ("--workload", "marks-train", "--data", str(tmp_path / "none")): "does not exist. Correct the path",
        ("--workload", "marks-train", "--data", str(tmp_path)): "no marks.txt in this folder",
        ("--data", str(tmp_path)): "it is for one workload",
        ("--budget", "10m", "--strict"): "--budget, --strict: a training has no use for it",
        ("--validation", "0.1%", "--workload", "marks-train"): "Give more images",
    }.items():
        assert train(tmp_path, *arguments) == 2
        assert said in capsys.readouterr().err
    for arguments in (("--epochs", "0"), ("--seeds", "x"), ("--validation", "130%"), ("--time-to", "0")):
        with pytest.raises(SystemExit):
            train(tmp_path, *arguments)
    assert not (tmp_path / "reports").exists()


def idx(magic: int, *shape: int) -> bytes:
    return struct.pack(f">{1 + len(shape)}I", magic, *shape) + bytes(int(np.prod(shape)))


def test_data_of_the_real_workloads_are_refused_in_words(tmp_path, capsys):
    learning_project.write(tmp_path)
    study = tmp_path / "matrix.toml"
    torch = learning_project.ENVIRONMENT.format(name="torch", python=sys.executable, planted="").replace(
        "numpy", "torch"
    )
    study.write_text(study.read_text() + torch + "[workloads.lenet-train]\n[workloads.catdog-cnn-train]\n")
    mnist, empty, few = (tmp_path / name for name in ("mnist", "empty", "few"))
    for folder in (mnist, empty, few / "Cat", few / "Dog"):
        folder.mkdir(parents=True)
    (mnist / "train-images-idx3-ubyte").write_bytes(idx(0x00000D03, 2, 28, 28))
    (mnist / "train-labels-idx1-ubyte").write_bytes(idx(0x00000801, 2))
    for animal in ("Cat", "Dog"):
        Image.new("L", (60, 60)).save(few / animal / "1.png")
    for workload, data, said in (
        ("lenet-train", mnist, "IDX type 0x0d"),
        ("lenet-train", empty, "no file train-images-idx3-ubyte"),
        ("catdog-cnn-train", empty, "no readable image of a cat or a dog"),
        ("catdog-cnn-train", few, "a batch has 32"),
    ):
        assert train(tmp_path, "--environment", "torch", "--workload", workload, "--data", str(data)) == 2
        assert said in capsys.readouterr().err
    assert train(tmp_path, "--environment", "torch", "--workload", "catdog-cnn-train") == 2
    assert "it brings no images: name their folder with --data" in capsys.readouterr().err
    assert train(tmp_path, "--workload", "catdog-cnn-train") == 2
    assert "workload catdog-cnn-train has no numpy implementation" in capsys.readouterr().err


def test_a_dry_run_says_what_would_be_trained(tmp_path, capsys):
    learning_project.write(tmp_path)
    assert train(tmp_path, "--dry-run", "--seeds", "4") == 0
    said = capsys.readouterr().out
    assert said.splitlines() == [
        "To train: marks-train/small/float32/cpu: one:eager, other:eager",
        "4 seeds, 10 epochs: 12 trainings; the baseline is trained twice for each row and seed, to show the effect of "
        "rounding",
    ]
    assert "unsupported" not in said
    assert train(tmp_path, "--dry-run", "--interpreter", "one=/nope") == 0
    assert "1 cell of one will be unsupported: the interpreter '/nope' does not exist" in capsys.readouterr().out
    assert not (tmp_path / "reports").exists()


def test_a_training_says_first_what_it_trains_and_tells_damaged_lines_on_stderr(tmp_path, capsys):
    learning_project.write(tmp_path)
    chosen = ("--epochs", "1", "--seeds", "1", "--environment", "one")
    assert train(tmp_path, *chosen) == 0
    assert capsys.readouterr().out.splitlines()[:2] == [
        "To train: marks-train/small/float32/cpu: one:eager",
        "1 seed, 1 epoch: 2 trainings; the baseline is trained twice for each row and seed, to show the effect of "
        "rounding",
    ]
    path = tmp_path / "reports" / "marks" / "training" / training_records.FILE
    path.write_text(f"{path.read_text()}nonsense\n")
    assert train(tmp_path, *chosen) == 0
    said = capsys.readouterr()
    assert said.err == "The training of marks: 1 damaged line was left out (training.jsonl:4).\n"
    assert "damaged" not in said.out


def test_a_continued_training_shows_the_time_to_the_accuracy_that_is_asked_for_now(tmp_path, capsys):
    learning_project.write(tmp_path)
    assert train(tmp_path, "--epochs", "1", "--seeds", "1", "--environment", "one") == 0
    assert "time to" not in " ".join(capsys.readouterr().out.split())
    assert train(tmp_path, "--epochs", "1", "--seeds", "1", "--environment", "one", "--time-to", "50%") == 0
    said = capsys.readouterr().out
    assert "Continuing: 2 trainings are done" in said
    assert "50%" in said


def test_a_training_that_is_refused_leaves_the_tables_of_the_one_before(tmp_path, capsys):
    learning_project.write(tmp_path)
    chosen = ("--epochs", "1", "--seeds", "1", "--environment", "one", "--workload", "marks-train")
    assert train(tmp_path, *chosen, "--time-to", "50%") == 0
    tables = {path: path.read_bytes() for path in (tmp_path / "reports").rglob("*.*") if path.is_file()}
    capsys.readouterr()
    assert train(tmp_path, *chosen, "--data", str(tmp_path)) == 2
    said = capsys.readouterr()
    assert "no marks.txt in this folder" in said.err
    assert "Files in" not in said.out
    assert {path: path.read_bytes() for path in (tmp_path / "reports").rglob("*.*") if path.is_file()} == tables


def test_the_files_are_named_at_the_end(tmp_path, capsys):
    learning_project.write(tmp_path)
    assert train(tmp_path, "--epochs", "1", "--seeds", "1", "--environment", "one") == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "Files in reports/marks/training: training.md, training.tex, training.csv, epochs.csv"
