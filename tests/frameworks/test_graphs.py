"""Tests that a step of several calls keeps the outputs of CUDA graphs, tensors that are overwritten as graphs do."""

from __future__ import annotations

import pytest

from bench.frameworks.torch import graphs


class Buffer:
    """What a graph writes every output to."""

    def __init__(self, is_cuda: bool) -> None:
        self.is_cuda = is_cuda
        self.value = 0

    def clone(self) -> Buffer:
        copy = Buffer(self.is_cuda)
        copy.value = self.value
        return copy


def replayed(buffer: Buffer, mode: str) -> list[int]:
    def graph(value: int) -> Buffer:
        buffer.value = value
        return buffer

    call = graphs.kept(graph, mode)
    outputs = [call(value) for value in (1, 2, 3)]
    return [output.value for output in outputs]


@pytest.mark.parametrize("mode", graphs.MODES)
def test_every_output_of_a_graph_is_kept(mode):
    assert replayed(Buffer(is_cuda=True), mode) == [1, 2, 3]


def test_nothing_is_copied_where_no_graph_is_recorded():
    assert replayed(Buffer(is_cuda=True), "compile") == [3, 3, 3]
    assert replayed(Buffer(is_cuda=False), "compile-max-autotune") == [3, 3, 3]
