"""Tests that a folder of photographs becomes an archive once, and that other data pass as they are."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from bench.host.storage import input_data
from bench.host.storage.input_data import DataError, resolve
from bench.registry import BUILT_IN
from bench.workloads import images

CATDOG = "catdog-cnn-train"


def photograph(path: Path, value: int) -> None:
    """Write a PGM image of one shade of grey, which needs no library to write."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"P5 4 3 255\n" + bytes([value]) * 12)


class Place:
    """A folder of photographs and one for archives."""

    def __init__(self, root: Path) -> None:
        self.photographs, self.archives = root / "my pets", root / "archives"
        self.announced: list[str] = []
        photograph(self.photographs / "Cat" / "0.pgm", 40)
        photograph(self.photographs / "Dog" / "0.pgm", 90)

    def resolve(self, path: Path | None = None) -> str:
        found = resolve(CATDOG, path or self.photographs, folder=self.archives, announce=self.announced.append)
        assert found is not None
        return found


@pytest.fixture
def place(tmp_path):
    pytest.importorskip("PIL")
    return Place(tmp_path)


def test_a_folder_becomes_an_archive_that_the_specification_reads(place):
    source, described = BUILT_IN.specification(CATDOG).source(place.resolve())
    assert source.images.mean(axis=(1, 2)).tolist() == [40, 90]
    assert source.labels.tolist() == [0, 1]
    assert "2 images, 0 left out" in described
    assert place.announced == []


def test_names_give_the_labels_where_there_are_no_subfolders(place, tmp_path):
    photograph(tmp_path / "flat" / "cat.0.pgm", 10)
    photograph(tmp_path / "flat" / "dog.0.pgm", 20)
    assert images.read_archive(place.resolve(tmp_path / "flat"), 50).labels.tolist() == [0, 1]


def test_an_archive_is_made_once_and_stands_alone(place, monkeypatch):
    first = place.resolve()
    assert [str(path) for path in place.archives.iterdir()] == [first]
    assert re.fullmatch(r"my-pets-[0-9a-f]{16}\.npz", Path(first).name)
    monkeypatch.setattr(BUILT_IN.specification(CATDOG), "write_archive", None)
    assert place.resolve() == first


@pytest.mark.parametrize("change", ["size", "time", "name", "more"])
def test_a_changed_folder_is_converted_again(place, change):
    first, cat = place.resolve(), place.photographs / "Cat" / "0.pgm"
    before = cat.stat()
    if change == "size":
        cat.write_bytes(b"P5 4 4 255\n" + bytes(16))
        os.utime(cat, ns=(before.st_atime_ns, before.st_mtime_ns))
    elif change == "time":
        os.utime(cat, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    elif change == "name":
        cat.rename(cat.with_name("1.pgm"))
    else:
        photograph(cat.with_name("1.pgm"), 50)
    second = place.resolve()
    assert second != first
    assert len(images.read_archive(second, 50).images) == (3 if change == "more" else 2)


def test_what_cannot_be_read_is_announced_and_kept_with_its_reason(place):
    (place.photographs / "Dog" / "11702.jpg").write_bytes(b"")
    (place.photographs / "Cat" / "666.jpg").symlink_to("nowhere.jpg")
    archive = images.read_archive(place.resolve(), 50)
    assert [line.split(":")[0] for line in archive.unreadable] == ["Cat/666.jpg", "Dog/11702.jpg"]
    assert place.announced == [f"{place.photographs}: left out {line}" for line in archive.unreadable]


def test_many_unreadable_files_are_counted(place):
    for number in range(input_data.NAMED + 3):
        (place.photographs / "Dog" / f"{number}.jpg").write_bytes(b"")
    path = place.resolve()
    assert len(place.announced) == input_data.NAMED + 1
    assert place.announced[-1] == f"{place.photographs}: left out 3 more, which {path} lists under 'unreadable'"
    assert len(images.read_archive(path, 50).unreadable) == input_data.NAMED + 3


def test_a_long_conversion_says_how_far_it_is():
    now, said = [0.0], []
    progress = input_data._Progress(Path("pets"), said.append, clock=lambda: now[0])
    for done, seconds in enumerate((0.0, 1.9, 2.0, 11.9, 12.0)):
        now[0] = seconds
        progress(1000 * done, 5000)
    assert said == [f"pets: converting its files, once: {done} of 5,000" for done in ("2,000", "4,000")]


def test_a_folder_without_usable_images_is_an_error_that_leaves_nothing(place):
    for path in place.photographs.glob("Dog/*"):
        path.write_bytes(b"")
    with pytest.raises(DataError, match=r"no readable image of a dog\. It needs subfolders Cat and Dog") as refused:
        place.resolve()
    assert str(place.photographs) in str(refused.value)
    assert list(place.archives.iterdir()) == []


def test_an_interrupted_conversion_leaves_nothing(place, monkeypatch):
    def interrupted(folder, path, progress):
        Path(path).write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(BUILT_IN.specification(CATDOG), "write_archive", interrupted)
    with pytest.raises(KeyboardInterrupt):
        place.resolve()
    assert list(place.archives.iterdir()) == []


@pytest.mark.parametrize("workload", [CATDOG, "lenet-train"])
def test_a_path_that_does_not_exist_is_an_error(tmp_path, workload):
    with pytest.raises(DataError, match=rf"'{workload}': data .*missing does not exist\. Correct the path"):
        resolve(workload, tmp_path / "missing", folder=tmp_path, announce=print)


def test_other_data_pass_as_they_are(tmp_path):
    archive, archives = tmp_path / "pets.npz", tmp_path / "archives"
    archive.touch()
    for workload, path in ((CATDOG, None), (CATDOG, archive), ("lenet-train", tmp_path), ("gemm", None)):
        found = resolve(workload, path, folder=archives, announce=print)
        assert found == (None if path is None else str(path))
    assert not archives.exists()
