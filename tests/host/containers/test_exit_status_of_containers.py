"""Tests the status and reason that an exited container gets."""

from __future__ import annotations

import pytest

from bench.host.containers.exit_status import exit_of

KILLED_FOR_MEMORY = "killed by the kernel for lack of memory"


@pytest.mark.parametrize(
    ("state", "kernel_killed", "status", "reason"),
    [
        ({"ExitCode": 137, "OOMKilled": True}, False, "out-of-memory", KILLED_FOR_MEMORY),
        ({"ExitCode": 0, "OOMKilled": True}, False, "out-of-memory", "a child process was " + KILLED_FOR_MEMORY),
        ({"ExitCode": 1, "OOMKilled": True}, False, "out-of-memory", "a child process was " + KILLED_FOR_MEMORY),
        ({"ExitCode": 137}, True, "out-of-memory", KILLED_FOR_MEMORY),
        ({"ExitCode": 137}, False, "failed", "killed by SIGKILL: end of log"),
        ({"ExitCode": 139}, True, "failed", "killed by SIGSEGV: end of log"),
        ({"ExitCode": 255}, False, "failed", "killed by signal 127: end of log"),
        ({"ExitCode": 3}, True, "failed", "the worker ended with exit code 3: end of log"),
        ({"ExitCode": 0}, False, "failed", "the worker ended with exit code 0: end of log"),
        (
            {"ExitCode": 128, "Error": "no such device"},
            False,
            "failed",
            "the engine ended the container: no such device",
        ),
        (None, False, "failed", "the container was removed from outside: end of log"),
    ],
)
def test_each_end_has_its_status_and_reason(state, kernel_killed, status, reason):
    found = exit_of(state, kernel_killed=kernel_killed, log_tail=": end of log")
    assert found.status == status
    assert found.reason.startswith(reason)


def test_bad_alloc_in_the_log_is_out_of_memory():
    assert exit_of({"ExitCode": 134}, kernel_killed=False, log_tail=": std::bad_alloc").status == "out-of-memory"
