"""Tests which of the machine's processes is one in a container."""

from __future__ import annotations

from bench.host.containers.process_ids import outside


def process(proc, number, numbers, children=()):
    folder = proc / str(number)
    (folder / "task" / str(number)).mkdir(parents=True)
    (folder / "status").write_text(f"Name:\tx\nNSpid:\t{numbers}\n")
    (folder / "task" / str(number) / "children").write_text(" ".join(map(str, children)))


def test_a_process_in_a_container_is_found_by_its_number_there(tmp_path):
    process(tmp_path, 100, "100\t1", children=(101, 105))
    process(tmp_path, 101, "101\t7", children=(103,))
    process(tmp_path, 103, "103\t12")
    process(tmp_path, 12, "12")
    assert outside(100, 12, tmp_path) == 103
    assert outside(100, 1, tmp_path) == 100
    assert outside(100, 13, tmp_path) is None


def test_a_kernel_that_tells_no_numbers_gives_none(tmp_path):
    assert outside(100, 12, tmp_path) is None
