"""Tests which workers share a parent: those of one environment in one round."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import odd_framework
import pytest
from processes import PATIENCE_S
from small_project import wait_for

from bench.host.executors import turns
from bench.host.executors.job import InstalledEnvironment
from bench.host.executors.parents import Parents
from bench.host.executors.starter import Starter
from bench.host.machine import processors
from bench.host.storage.compile_caches import CompileCaches
from bench.host.study.twin import original_cell, with_twin
from bench.host.workers.protocol import Ended, ask
from bench.registry import Registry

#: The first processor that the tests may use.
FIRST = min(processors.available())
PLAIN, SLOW = odd_framework.cell("plain"), odd_framework.cell("slow")


@pytest.fixture
def round_of(tmp_path):
    """Return the starter of a round; all share the parents that are kept."""
    with contextlib.closing(Parents()) as parents:

        def make(number: int, *, forked: bool = True, more: str = "", most_threads: int = 1) -> Starter:
            sources = {"odd": str(tmp_path / "source")}
            if not (tmp_path / "source").exists():
                odd_framework.make(tmp_path / "source", more=more)
            parents.begin(number)
            return Starter(
                tmp_path,
                tmp_path,
                {"odd": InstalledEnvironment((sys.executable,))},
                CompileCaches(tmp_path / "caches", "run", True, registry=Registry.of(sources)),
                parents=parents if forked else None,
                round_seed=turns.round_seed(1, number),
                most_threads=most_threads,
            )

        yield make


def started(starter: Starter, *cells):
    """Start a worker for each cell; return them after their imports."""
    starter.ready(cells, "r1", processors=[FIRST], timeout_s=PATIENCE_S)
    workers = [starter.start(cell, f"r1.{index}", processors=[], layout=3) for index, cell in enumerate(cells)]
    for worker, cell in zip(workers, cells, strict=True):
        ask(worker, PATIENCE_S, do="import", cell=original_cell(cell).to_json())
    return workers


def drawn(worker) -> tuple[bytes, tuple[str, ...]]:
    """Return the seed of a worker's hashes and the addresses of its libraries."""
    place = Path(f"/proc/{worker.process_id}")
    variables = environment_of(worker.process_id)
    code = tuple(line.split()[0] for line in (place / "maps").read_text().splitlines() if "numpy" in line)
    return variables[b"PYTHONHASHSEED"], code


def environment_of(process: int) -> dict[bytes, bytes]:
    """Return the variables with which a process started."""
    content = Path(f"/proc/{process}/environ").read_bytes()
    return dict(line.partition(b"=")[::2] for line in content.split(b"\0") if line)


def parent_of(worker) -> int:
    return int(Path(f"/proc/{worker.process_id}/stat").read_text().rpartition(")")[2].split()[1])


def test_all_cells_of_a_round_and_environment_share_a_parent_and_what_it_drew(round_of):
    starter = round_of(0)
    first, second = started(starter, PLAIN, SLOW)
    (third,) = started(starter, PLAIN)
    assert parent_of(first) == parent_of(second) == parent_of(third) != os.getpid()
    assert drawn(first) == drawn(second) == drawn(third)


@pytest.mark.parametrize(("more", "parents"), [("", [b"1", b"2"]), (", sets_threads=True", [b"2"])])
def test_workers_of_any_number_of_threads_share_a_parent_where_the_adapter_sets_it(round_of, more, parents):
    workers = started(round_of(0, more=more, most_threads=2), PLAIN, replace(PLAIN, threads=2))
    assert [told_threads(worker) for worker in workers] == ["1", "2"]
    found = sorted({parent_of(worker) for worker in workers})
    assert [environment_of(parent)[b"OMP_NUM_THREADS"] for parent in found] == parents


def told_threads(worker) -> str:
    """Return the number of threads that a worker's variables name."""
    return str(ask(worker, PATIENCE_S, do="finish")["settings"]["OMP_NUM_THREADS"])


def test_a_twin_has_a_parent_of_its_own_with_the_same_draw(round_of):
    twin = with_twin([PLAIN], PLAIN.column)[1]
    first, second = started(round_of(0), PLAIN, twin)
    assert parent_of(first) != parent_of(second)
    assert drawn(first) == drawn(second)


def test_two_rounds_have_other_parents_hashes_and_addresses(round_of):
    (first,) = started(round_of(0), PLAIN)
    before = parent_of(first), drawn(first)
    (second,) = started(round_of(1), PLAIN)
    after = parent_of(second), drawn(second)
    assert before[0] != after[0]
    assert before[1][0] != after[1][0]
    assert before[1][1] != after[1][1] != ()
    wait_for(lambda: not Path(f"/proc/{first.process_id}").exists())


@pytest.mark.usefixtures("no_oom_kills_beside")
def test_after_the_end_of_a_parent_the_next_row_has_another(round_of):
    starter = round_of(0)
    (first,) = started(starter, PLAIN)
    lost = parent_of(first)
    os.kill(lost, signal.SIGKILL)
    with pytest.raises(Ended, match="the process that it was forked from ended: killed by SIGKILL"):
        ask(first, PATIENCE_S, do="finish")
    (second,) = started(starter, PLAIN)
    assert parent_of(second) != lost


def test_a_framework_that_cannot_be_forked_and_a_run_without_forks_start_processes(round_of):
    for starter in (
        round_of(0, more=', not_forked="it starts threads when it is imported."'),
        round_of(0, forked=False),
    ):
        (worker,) = started(starter, PLAIN)
        assert parent_of(worker) == os.getpid()
        worker.close()


def test_a_parent_that_does_not_start_is_the_reason_of_its_cells(round_of):
    starter = round_of(0)
    starter.environments["odd"] = InstalledEnvironment(("/nowhere/python",))
    with pytest.raises(Ended, match="/nowhere/python does not start: No such file or directory"):
        started(starter, PLAIN)


def test_what_an_installation_compiles_once_is_compiled_before_any_cell_and_never_again(round_of, tmp_path):
    starter = round_of(0)
    warmed, same = odd_framework.cell("header"), odd_framework.cell("same")
    for number in range(2):
        starter.ready([warmed, same], "r1", processors=[FIRST], timeout_s=PATIENCE_S)
        starter.warm([PLAIN, warmed, warmed, same], f"r{number}", processors=[], timeout_s=PATIENCE_S)
    logs = sorted(path.name for path in (tmp_path / "logs").iterdir() if "warm-up" in path.name)
    assert logs == ["odd-header-warm-up-any-float32-cpu.r0.log"]
    assert (tmp_path / "logs" / logs[0]).read_text() == "warmed\n"


def test_a_warm_up_that_fails_is_left_to_the_cells(round_of, tmp_path):
    starter = round_of(0)
    lacking = odd_framework.cell("headless")
    starter.ready([lacking], "r1", processors=[FIRST], timeout_s=PATIENCE_S)
    starter.warm([lacking], "r1", processors=[], timeout_s=PATIENCE_S)
    assert not starter.caches.is_warm(lacking)
