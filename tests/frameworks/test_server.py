"""Tests the process that runs the tests' programs in an environment."""

from __future__ import annotations

import json

import environment
import pytest


def test_a_late_reply_is_not_taken_for_the_next_one(monkeypatch):
    server = environment.Server("numpy")
    try:
        monkeypatch.setattr(environment, "TIMEOUT_S", 0)
        with pytest.raises(AssertionError, match="no reply from agreement within 0 s"):
            server.request("agreement", {}, "eager", "{}")
        monkeypatch.undo()
        reference = {"gemm": environment.reference("gemm", "check")}
        assert list(server.request("agreement", {}, "eager", json.dumps(reference))) == ["gemm"]
    finally:
        server.close()
