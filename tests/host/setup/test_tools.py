from __future__ import annotations

import os

import pytest
from simulated_clock import Clock
from wheels import make_script

from bench.host.setup import tool
from bench.host.setup.tool import ToolFailed, run_tool


def test_the_end_of_the_output_is_the_reason(tmp_path, announce):
    lines = "; ".join(f"echo line {number}" for number in range(100))
    script = make_script(tmp_path / "tool", f"{lines}; echo 'error: it broke' >&2; exit 3")
    with pytest.raises(ToolFailed, match=r"tool ended with status 3: line 89\n") as failure:
        run_tool([str(script)], label="x", announce=announce, environ=os.environ)
    assert failure.value.tail.endswith("error: it broke")
    assert failure.value.summary == "error: it broke"


def test_a_killed_tool_names_the_signal(tmp_path, announce):
    with pytest.raises(ToolFailed, match="killed by signal 9: it printed nothing"):
        run_tool([str(make_script(tmp_path / "tool", "kill -9 $$"))], label="x", announce=announce, environ={})


def test_a_missing_tool_is_a_failed_tool(tmp_path, announce):
    with pytest.raises(ToolFailed, match="No such file"):
        run_tool([str(tmp_path / "none")], label="x", announce=announce, environ={})


def test_a_slow_tool_gives_signs_of_life(tmp_path, said, announce, monkeypatch):
    monkeypatch.setattr(tool, "SIGN_OF_LIFE_S", 0.05)
    monkeypatch.setattr(tool, "time", clock := Clock())
    heard = tmp_path / "heard"
    script = make_script(tmp_path / "tool", f"for each in $(seq 1000); do [ -e {heard} ] && exit; sleep 0.05; done")

    def hear(text: str) -> None:
        announce(text)
        clock.sleep(15)
        if len(said) == 2:
            heard.touch()

    run_tool([str(script)], label="installing", announce=hear, environ=os.environ)
    assert said[:2] == ["installing, 0 s so far", "installing, 15 s so far"]


def test_an_interrupted_tool_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(tool, "SIGN_OF_LIFE_S", 0.05)
    script = make_script(tmp_path / "tool", f"echo $$ > {tmp_path}/pid; exec sleep 60")

    def interrupt(text: str) -> None:
        # The shell makes the file before it writes.
        if (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().endswith("\n"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_tool([str(script)], label="x", announce=interrupt, environ=os.environ)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
