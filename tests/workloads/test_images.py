"""Tests that archives list every image that was left out, and that invalid archives are refused."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from bench.workloads import images


def content(count: int = 3, side: int = 50) -> dict[str, np.ndarray]:
    """Make the arrays of a valid archive."""
    return {
        "images": np.zeros((count, side, side), np.uint8),
        "labels": np.zeros(count, np.uint8),
        "unreadable": np.array([], dtype=str),
    }


def test_an_archive_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = str(tmp_path / "animals.npz")
    np.savez(path, **content())
    archive = images.read_archive(path, 50)
    assert archive.images.shape == (3, 50, 50)
    assert archive.unreadable.shape == (0,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"images": np.zeros((3, 49, 50), np.uint8)}, r"expected \(images, 50, 50\)"),
        ({"images": np.zeros((3, 50, 50), np.float32)}, "of uint8"),
        ({"images": np.zeros((0, 50, 50), np.uint8), "labels": np.zeros(0, np.uint8)}, r"expected \(images, 50, 50\)"),
        ({"labels": np.zeros(2, np.uint8)}, "labels are not one of"),
        ({"labels": np.full(3, 2, np.uint8)}, "labels are not one of"),
        ({"labels": np.zeros(3)}, "labels are not one of"),
        # An array of objects could only be read with pickle.
        ({"images": np.array([None])}, "not a readable archive"),
    ],
)
def test_another_content_is_refused_with_the_remedy(tmp_path: Path, change: dict, message: str) -> None:
    path = str(tmp_path / "animals.npz")
    np.savez(path, **{**content(), **change})
    with pytest.raises(ValueError, match=message) as refused:
        images.read_archive(path, 50)
    assert path in str(refused.value)
    assert images.REMEDY in str(refused.value)


def test_a_file_that_is_no_archive_is_refused_with_the_remedy(tmp_path: Path) -> None:
    whole, cut, text, single = (tmp_path / name for name in ("whole.npz", "cut.npz", "text.npz", "single.npy"))
    np.savez(whole, **content())
    cut.write_bytes(whole.read_bytes()[:-100])
    text.write_text("cats and dogs", encoding="utf-8")
    np.save(single, np.zeros(3))
    missing = tmp_path / "missing.npz"
    incomplete = tmp_path / "incomplete.npz"
    np.savez(incomplete, images=np.zeros((1, 50, 50), np.uint8))
    for path in (cut, text, single, missing, incomplete, tmp_path):
        with pytest.raises(ValueError, match="Make one with") as refused:
            images.read_archive(str(path), 50)
        assert str(path) in str(refused.value)


def touch(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")


def test_subfolders_in_any_case_give_the_labels(tmp_path: Path) -> None:
    touch(tmp_path, "Cat/1.jpg", "Cat/0.jpg", "DOG/7.jpg", "readme.txt")
    found, others = images.photographs(str(tmp_path))
    assert [(Path(path).name, label) for path, label in found] == [("0.jpg", 0), ("1.jpg", 0), ("7.jpg", 1)]
    assert others == []


def test_names_give_the_labels_and_other_names_are_kept(tmp_path: Path) -> None:
    touch(tmp_path, "cat.0.jpg", "dog.0.jpg", "Dog.1.jpg", "horse.0.jpg")
    found, others = images.photographs(str(tmp_path))
    assert {Path(path).name: label for path, label in found} == {"cat.0.jpg": 0, "dog.0.jpg": 1, "Dog.1.jpg": 1}
    assert others == ["horse.0.jpg"]


def photograph(path: Path, value: int) -> None:
    """Write a PGM image of one shade of grey, which needs no library."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"P5 4 3 255\n" + bytes([value]) * 12)


def test_an_archive_of_a_folder_lists_unreadable_files(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    pytest.importorskip("PIL")
    photograph(tmp_path / "animals" / "Cat" / "0.pgm", 40)
    photograph(tmp_path / "animals" / "Dog" / "0.pgm", 90)
    touch(tmp_path / "animals", "Dog/11702.jpg")
    path = str(tmp_path / "animals.npz")
    assert images.main([str(tmp_path / "animals"), path]) == 0
    archive = images.read_archive(path, 50)
    assert archive.labels.tolist() == [0, 1]
    assert [np.unique(image).tolist() for image in archive.images] == [[40], [90]]
    assert len(archive.unreadable) == 1
    assert "11702.jpg" in archive.unreadable[0]
    printed = capsys.readouterr().out
    assert "left out: " + archive.unreadable[0] in printed
    assert "2 images, 1 left out" in printed


def test_pipes_and_links_out_of_the_folder_are_left_out_and_others_are_followed(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    folder, outside = tmp_path / "photographs", tmp_path / "private.png"
    for animal in ("Cat", "Dog"):
        (folder / animal).mkdir(parents=True)
        image.new("L", (60, 60)).save(folder / animal / "1.png")
    image.new("L", (60, 60)).save(outside)
    (folder / "Cat" / "2.png").symlink_to("../Dog/1.png")
    (folder / "Cat" / "3.png").symlink_to(outside)
    (folder / "Cat" / "4.png").symlink_to("../../private.png")
    os.mkfifo(folder / "Dog" / "5.png")
    (tmp_path / "linked").symlink_to(folder)
    for given in (folder, tmp_path / "linked"):
        archive = images.collected(str(given), 50)
        assert archive.labels.tolist() == [0, 0, 1]
        assert archive.unreadable.tolist() == [
            "Cat/3.png: a link that leads out of the folder; copy the file into it",
            "Cat/4.png: a link that leads out of the folder; copy the file into it",
            "Dog/5.png: not a file",
        ]


def test_progress_is_reported_before_each_photograph(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    photograph(tmp_path / "cat.0.pgm", 40)
    photograph(tmp_path / "dog.0.pgm", 90)
    reported: list[tuple[int, int]] = []
    images.collected(str(tmp_path), 50, lambda done, total: reported.append((done, total)))
    assert reported == [(0, 2), (1, 2)]


def test_a_folder_without_dogs_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    pytest.importorskip("PIL")
    photograph(tmp_path / "cat.0.pgm", 40)
    with pytest.raises(SystemExit):
        images.main([str(tmp_path), str(tmp_path / "animals.npz")])
    assert "no readable image of a dog" in capsys.readouterr().err
    assert not (tmp_path / "animals.npz").exists()


def test_without_pillow_the_error_names_the_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(SystemExit):
        images.main([str(tmp_path), str(tmp_path / "animals.npz")])
    assert "pip install pillow" in capsys.readouterr().err
