"""Attacks with messages of a worker: whatever it sends is a message or ends the worker with a reason."""

from __future__ import annotations

import json
import random
import time

import pytest
from worker_messages import GOOD, TURN, Line

from bench.host.workers import messages
from bench.host.workers.field_types import Malformed
from bench.host.workers.protocol import Ended, ask, receive
from bench.record import STAGES, STATUSES

FUZZED = 500
#: A message that takes as many seconds of the processor hangs.
HANG_S = 5.0
JUNK = (None, True, -1, 0, 1, 1 << 70, 1.5, float("nan"), float("inf"), "", "\x1b[31m", "x" * 200_000, [], {}, [[]])


def bent(source: random.Random) -> bytes:
    """Make a message and damage it: a value, a key, or its bytes."""
    message = json.loads(json.dumps(source.choice(list(GOOD.values()))))
    table = message
    key = source.choice(list(table))
    while isinstance(table[key], dict) and table[key] and source.random() < 0.6:
        table = table[key]
        key = source.choice(list(table))
    way = source.randrange(4)
    if way == 0:
        del table[key]
    elif way == 1:
        table[key] = source.choice(JUNK)
    elif way == 2 and isinstance(table[key], list):
        table[key] = table[key] * source.choice((0, 2)) + [source.choice(JUNK)]
    else:
        text = bytearray(json.dumps(message).encode())
        text[source.randrange(len(text))] = source.randrange(256)
        return bytes(text).replace(b"\n", b"") + b"\n"
    return json.dumps(message).encode() + b"\n"


def test_the_good_messages_are_good():
    for message in GOOD.values():
        assert messages.parse(json.dumps(message).encode()) == message


@pytest.mark.parametrize("seed", range(5))
def test_a_damaged_message_is_a_message_or_ends_the_worker_with_a_reason(seed):
    source = random.Random(seed)
    for _ in range(FUZZED // 5):
        line = bent(source)
        began = time.process_time()
        ended, answer = outcome(Line(line))
        assert time.process_time() - began < HANG_S
        if ended is not None:
            assert ended.status in STATUSES
            assert ended.stage in STAGES
            assert 0 < len(ended.reason) <= messages.LONGEST_REASON + 2
        else:
            # What was let through can be written as a part of a record.
            assert json.loads(json.dumps(answer, allow_nan=False)) == answer


def outcome(worker: Line) -> tuple[Ended | None, dict[str, object]]:
    try:
        return None, receive(worker, 1.0)
    except Ended as ended:
        return ended, {}


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b'{"event":' * 50_000,
        b'{"event": "turn", "sample_ns": [' + b"9" * 5000 + b"]}",
        b'{"event": ["turn"]}',
        b'{"event": "ended", "status": "excellent", "stage": "build", "reason": "so"}',
        b'{"event": "ended", "status": "ok", "stage": "build", "reason": "so"}',
        b'{"event": "stage", "stage": "\\u001b[31mred"}',
        b'{"event": "stage", "stage": ["build"]}',
        b"x" * (messages.LONGEST_MESSAGE_BYTES + 1),
        b'{"event": "imported", "import_s": NaN, "versions": {}}',
        b'{"event": "imported", "import_s": 1e999, "versions": {}}',
    ],
)
def test_nonsense_ends_the_worker_and_says_so(line):
    worker = Line(line + b"\n")
    with pytest.raises(Ended, match="the worker sent") as caught:
        receive(worker, 1.0)
    assert (caught.value.status, worker.killed) == ("failed", True)
    assert len(caught.value.reason) < 600


def test_an_answer_to_another_request_ends_the_worker_in_its_stage():
    class Asked(Line):
        def send(self, **request):
            assert request == {"do": "calibrate", "sample_s": 0.1}

        def receive(self, timeout_s):
            return receive(self, timeout_s)

    worker = Asked(*(json.dumps(GOOD[name]).encode() + b"\n" for name in ("stage", "turn")))
    with pytest.raises(Ended, match="the worker sent") as caught:
        ask(worker, 1.0, do="calibrate", sample_s=0.1)
    assert (caught.value.status, caught.value.stage, worker.killed) == ("failed", "build", True)


@pytest.mark.parametrize("message", [GOOD["stage"], {"event": "started"}], ids=["stage", "started"])
def test_a_worker_cannot_live_for_ever_by_announcing_stages_or_its_start(message):
    with pytest.raises(Ended, match="more than 100 stages"):
        receive(Line(*[json.dumps(message).encode() + b"\n"] * 1000), 1.0)


def test_a_stage_that_was_found_right_lets_no_similar_one_through():
    line = b'{"event": "stage", "stage": "measure"}\n'
    messages.parse(line)["stage"] = "changed by who got it"
    assert messages.parse(line) == {"event": "stage", "stage": "measure"}
    with pytest.raises(Malformed):
        messages.parse(line.replace(b"measure", b"measured"))


def test_a_long_reason_is_cut():
    ended = json.dumps({**GOOD["ended"], "reason": "x" * 1_000_000}).encode() + b"\n"
    with pytest.raises(Ended) as caught:
        receive(Line(ended), 1.0)
    assert len(caught.value.reason) < 5000


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sample_ns": [1]}, "no clock can time"),
        ({"sample_steps": [1 << 20]}, "no clock can time"),
        ({"sample_ns": [-10_000]}, "greater than or equal"),
        ({"sample_ns": [True]}, "integer"),
        ({"sample_ns": [1e9]}, "integer"),
        ({"sample_ns": ["10000"]}, "integer"),
        ({"sample_ns": [10_000, 10_000]}, "different lengths"),
        ({"sample_ns": [], "sample_steps": [], "sample_cpu_ns": []}, "at least 1"),
        ({"sample_wait_ns": [0, 0]}, "different lengths"),
        ({"sample_steps": [0]}, "greater than or equal"),
        ({"sample_ns": [1 << 62]}, "less than"),
        ({"sample_ns": None}, "list"),
    ],
)
def test_forged_samples_are_refused(change, words):
    with pytest.raises(Malformed, match=words):
        messages.parse(json.dumps({**TURN, **change}).encode())
