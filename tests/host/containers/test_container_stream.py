"""Tests that messages and log are separated without loss, whatever pieces the engine's frames arrive in."""

from __future__ import annotations

import io
import socket
import struct

from hypothesis import given
from hypothesis import strategies as st

from bench.host.containers.stream import LOG, MESSAGES, PIECE_BYTES, Frames, Stream


def frame(output: int, data: bytes) -> bytes:
    return struct.pack(">BxxxL", output, len(data)) + data


@given(
    frames=st.lists(st.tuples(st.sampled_from([MESSAGES, LOG]), st.binary(max_size=40)), max_size=8),
    cuts=st.lists(st.integers(1, 17), min_size=1),
)
def test_frames_come_out_whole_however_they_are_cut(frames, cuts):
    sent = b"".join(frame(output, data) for output, data in frames)
    reader, received, at, turn = Frames(), {MESSAGES: b"", LOG: b""}, 0, 0
    while at < len(sent):
        step = cuts[turn % len(cuts)]
        for output, part in reader.feed(sent[at : at + step]):
            received[output] += part
        at, turn = at + step, turn + 1
    for output in (MESSAGES, LOG):
        assert received[output] == b"".join(data for kind, data in frames if kind == output)


def test_the_log_goes_to_its_file_and_messages_come_back(tmp_path):
    host, engine = socket.socketpair()
    stream = Stream(host, tmp_path / "logs" / "a.log")
    engine.sendall(frame(LOG, b"warming up\n") + frame(MESSAGES, b'{"event": '))
    assert stream.read(5) == b'{"event": '
    engine.sendall(frame(LOG, b"warm\n"))
    assert stream.read(0.05) is None
    engine.close()
    assert stream.read(5) == b""
    stream.send(b"lost\n")
    stream.close()
    assert (tmp_path / "logs" / "a.log").read_bytes() == b"warming up\nwarm\n"


class Answer(io.BytesIO):
    """What the SDK keeps with a socket; as in Python 3.13, its end needs the file around the socket."""

    def __init__(self, file):
        super().__init__()
        self.file = file

    def close(self):
        if not self.closed:
            self.file.flush()
        super().close()


def test_the_answer_of_the_engine_is_closed_before_its_socket(tmp_path):
    host, engine = socket.socketpair()
    attached = socket.SocketIO(host, "rw")
    answer = attached._response = Answer(attached)
    stream = Stream(attached, tmp_path / "a.log")
    stream.close()
    assert answer.closed
    assert attached.closed
    assert engine.recv(1) == b""
    engine.close()


def test_the_end_of_the_input_is_seen_inside(tmp_path):
    host, engine = socket.socketpair()
    stream = Stream(host, tmp_path / "a.log")
    stream.send(b"hello\n")
    stream.end_input()
    assert engine.makefile("rb").read() == b"hello\n"
    engine.close()
    assert stream.drain(5)
    stream.close()


def test_a_message_that_has_arrived_is_read_without_time_left_and_a_long_log_ends_no_later(tmp_path):
    host, engine = socket.socketpair()
    stream = Stream(host, tmp_path / "a.log")
    engine.sendall(frame(MESSAGES, b"in time\n"))
    assert stream.read(0) == b"in time\n"
    engine.sendall(frame(LOG, b"warm\n") * 8000)
    assert stream.read(0) is None
    assert engine.send(frame(LOG, b"warm\n")) > 0
    assert (tmp_path / "a.log").stat().st_size <= PIECE_BYTES
    stream.close()
    engine.close()
