"""Attacks with requests: what is wrong is not sent, and a worker does not do what it does not have."""

from __future__ import annotations

import inspect

import pytest

from bench.host.workers import messages, requests
from bench.host.workers.field_types import Malformed
from bench.worker.session import Session


@pytest.mark.parametrize("request_", [{"do": "turn"}, {"do": "turn", "samples": 0}, {"do": "move", "processors": []}])
def test_a_wrong_request_is_refused_before_it_is_sent(request_):
    with pytest.raises(Malformed, match="the message"):
        requests.encode(request_)


@pytest.mark.parametrize("samples", [True, 1.0, "1"])
def test_a_request_that_was_found_right_lets_no_similar_one_through(samples):
    assert requests.encode({"do": "turn", "samples": 1}) == requests.encode({"do": "turn", "samples": 1})
    with pytest.raises(Malformed, match="samples"):
        requests.encode({"do": "turn", "samples": samples})


@pytest.mark.parametrize("value", [float("nan"), {1}, b"x"])
def test_a_request_that_json_cannot_hold_is_refused_with_its_place(value):
    with pytest.raises(Malformed, match="sample_s"):
        requests.encode({"do": "calibrate", "sample_s": value})


def test_every_request_of_a_worker_has_rules_and_its_answer_has():
    asked = {name.removeprefix("do_") for name in dir(Session) if name.startswith("do_")}
    assert asked == set(requests.REQUESTS) == set(messages.ANSWERS)
    assert set(messages.ANSWERS.values()) <= set(messages.MESSAGES)
    for name in asked:
        required = {
            parameter.name
            for parameter in list(inspect.signature(getattr(Session, f"do_{name}")).parameters.values())[1:]
            if parameter.default is inspect.Parameter.empty
        }
        fields = requests.REQUESTS[name].model_fields
        assert required == {key for key, field in fields.items() if field.is_required()}, name


class Said:
    """Keeps what a session sends."""

    def __init__(self) -> None:
        self.sent: list[dict[str, object]] = []

    def send(self, **message: object) -> None:
        self.sent.append(message)


@pytest.mark.parametrize("request_", [{}, {"do": "explode"}, {"do": "turn", "samples": 1, "loudly": True}])
def test_a_worker_answers_a_request_that_it_does_not_have(request_):
    said = Said()
    session = Session(said, None, None)  # type: ignore[arg-type]
    with pytest.raises((KeyError, AttributeError, TypeError)):
        session.answer(request_)
    assert [message["event"] for message in said.sent] == ["ended"]
