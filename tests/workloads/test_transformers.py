"""Tests the transformer specifications: gradients, causality, independence of the sequences and counted work."""

from __future__ import annotations

from types import ModuleType

import finite_differences
import numpy as np
import pytest

from bench.differentiation import loss_and_gradients
from bench.registry import BUILT_IN

encoder = BUILT_IN.specification("transformer-encoder")
train = BUILT_IN.specification("transformer-train")
SPECIFICATIONS = pytest.mark.parametrize("specification", [encoder, train], ids=["encoder", "train"])
MINIATURE = {"batch": 2, "sequence": 3, "width": 4, "heads": 2, "layers": 2, "vocabulary": 5}


def drawn(specification: ModuleType, size: dict, dtype: type = np.float64) -> tuple[dict, tuple]:
    parameters, _, batch = finite_differences.drawn(specification, size, 11, dtype)
    return parameters, batch


def differentiated(size: dict, parameters: dict, batch: tuple) -> tuple:
    """Return the loss of transformer-train and its gradients."""
    loss, _, gradients = loss_and_gradients(train.loss, size, parameters, {}, batch)
    return loss, gradients


def test_gradients_agree_with_finite_differences() -> None:
    found = finite_differences.specification_disagreement(train, MINIATURE)
    assert max(found.values()) < 1e-6, found


def test_no_gradient_of_a_parameter_vanishes() -> None:
    """Adam steps by the sign of a gradient, so for a zero gradient rounding errors would decide the step."""
    size = train.SIZES["check"]
    _, gradients = differentiated(size, *drawn(train, size))
    for name, gradient in gradients.items():
        assert np.median(np.abs(gradient)) > 1e-6, name


def test_a_later_token_does_not_change_earlier_logits() -> None:
    size = train.SIZES["check"]
    parameters, (tokens, _) = drawn(train, size)
    before = train.predict(size, parameters, tokens)
    changed = tokens.copy()
    changed[0, 5] = (changed[0, 5] + 1) % size["vocabulary"]
    after = train.predict(size, parameters, changed)
    np.testing.assert_array_equal(after[0, :5], before[0, :5])
    np.testing.assert_array_equal(after[1], before[1])
    assert (np.abs(after[0, 5:] - before[0, 5:]).max(axis=-1) > 1e-3).all()


def test_the_encoder_sees_every_position_of_its_own_sequence_only() -> None:
    size = encoder.SIZES["check"]
    parameters, (states,) = drawn(encoder, size)
    before = encoder.reference(size, parameters, (states.astype(np.float64),))["hidden"]
    changed = states.astype(np.float64)
    changed[0, 7] += np.arange(size["width"])
    after = encoder.reference(size, parameters, (changed,))["hidden"]
    assert (np.abs(after[0] - before[0]).max(axis=-1) > 1e-3).all()
    np.testing.assert_array_equal(after[1], before[1])


def test_the_encoder_does_not_depend_on_the_order_of_positions() -> None:
    size = encoder.SIZES["check"]
    parameters, (states,) = drawn(encoder, size)
    order = np.random.RandomState(13).permutation(size["sequence"])
    straight = encoder.reference(size, parameters, (states.astype(np.float64),))["hidden"]
    shuffled = encoder.reference(size, parameters, (states[:, order].astype(np.float64),))["hidden"]
    np.testing.assert_allclose(shuffled, straight[:, order], rtol=1e-9, atol=1e-12)


def test_every_parameter_changes_the_encoder() -> None:
    """The check can only find an implementation that omits a parameter if omitting it changes the output."""
    size = encoder.SIZES["check"]
    parameters, (states,) = drawn(encoder, size)
    whole = encoder.reference(size, parameters, (states,))["hidden"]
    for name, value in parameters.items():
        neutral = np.ones_like(value) if name.endswith(".scale") else np.zeros_like(value)
        without = encoder.reference(size, {**parameters, name: neutral}, (states,))["hidden"]
        assert np.sqrt(np.mean((without - whole) ** 2)) > 1e-2, name


def test_targets_are_the_tokens_one_later() -> None:
    _, (tokens, targets) = drawn(train, train.SIZES["tiny"])
    np.testing.assert_array_equal(tokens[:, 1:], targets[:, :-1])
    assert tokens.dtype == targets.dtype == np.int32


def test_the_untrained_loss_is_near_that_of_guessing() -> None:
    size = train.SIZES["tiny"]
    loss, _ = differentiated(size, *drawn(train, size))
    assert loss == pytest.approx(np.log(size["vocabulary"]) + 0.5, abs=0.3)


def test_float32_stays_float32() -> None:
    parameters, batch = drawn(encoder, MINIATURE, np.float32)
    assert encoder.reference(MINIATURE, parameters, batch)["hidden"].dtype == np.float32
    parameters, batch = drawn(train, MINIATURE, np.float32)
    loss, gradients = differentiated(MINIATURE, parameters, batch)
    assert {loss.dtype, *(gradient.dtype for gradient in gradients.values())} == {np.dtype(np.float32)}


def test_flops_are_those_counted_by_hand() -> None:
    size = {"batch": 2, "sequence": 3, "width": 4, "heads": 2, "layers": 2, "vocabulary": 5}
    # Per block, 6 tokens: products of 4x12, 4x4, 4x16 and 16x4; scores and mixing: 2 sequences of 3x3 pairs of width 4.
    block = 2 * 6 * (48 + 16 + 64 + 64) + 2 * (2 * 2 * 9 * 4)
    assert encoder.useful_flops(size) == 2 * block
    # Of 9 pairs the mask leaves 6; the logits are 6 tokens times 4x5; backward is twice forward.
    masked = 2 * 6 * (48 + 16 + 64 + 64) + 2 * (2 * 2 * 6 * 4)
    assert train.useful_flops(size) == 3 * (2 * masked + 2 * 6 * 20)


def test_bytes_count_the_parameters_that_are_drawn() -> None:
    parameters, (states,) = drawn(encoder, MINIATURE)
    count = sum(value.size for value in parameters.values())
    assert encoder.compulsory_bytes(MINIATURE, 2) == 2 * (count + 2 * states.size)
    parameters, (tokens, _) = drawn(train, MINIATURE)
    count = sum(value.size for value in parameters.values())
    assert train.compulsory_bytes(MINIATURE, 4) == 4 * 6 * count + 2 * 4 * tokens.size


@SPECIFICATIONS
def test_heads_divide_the_width_in_every_size(specification: ModuleType) -> None:
    assert {"check", "tiny", "small"} <= set(specification.SIZES)
    for size in specification.SIZES.values():
        assert size["width"] % size["heads"] == 0
    assert specification.items(specification.SIZES["check"]) == (2 if specification is encoder else 16)


def test_gpt_is_the_model_that_is_trained_without_its_loss() -> None:
    gpt, gpt_train = (BUILT_IN.specification(name) for name in ("gpt", "gpt-train"))
    size = gpt.SIZES["check"]
    parameters, (tokens, targets) = drawn(gpt_train, size)
    logits = gpt.reference(size, parameters, (tokens,))["logits"]
    expected, _ = gpt_train.loss(size, parameters, {}, (tokens, targets))
    shifted = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    assert -np.take_along_axis(shifted, targets[..., None], -1).mean() == pytest.approx(expected, rel=1e-12)
    assert 3 * gpt.useful_flops(size) == gpt_train.useful_flops(size)
    count = sum(value.size for value in parameters.values())
    assert gpt.compulsory_bytes(size, 4) == 4 * (count + logits.size) + 4 * tokens.size


def test_the_large_gpt_has_the_parameters_of_gpt_2() -> None:
    """GPT-2 has 124,439,808; here queries, keys and values have no bias, and there are 512 positions of 1,024."""
    size = {**BUILT_IN.specification("gpt-train").SIZES["large"]}
    count = BUILT_IN.specification("gpt-train").compulsory_bytes(size, 4) - 2 * 4 * 2 * 512
    assert count == 4 * 6 * (124_439_808 - 12 * 3 * 768 - 512 * 768)


def test_decoding_gives_the_logits_after_the_prompt_and_each_token() -> None:
    decode = BUILT_IN.specification("kv-decode")
    size = decode.SIZES["check"]
    parameters, (tokens,) = drawn(decode, size)
    logits = decode.reference(size, parameters, (tokens,))["logits"]
    assert logits.shape == (2, 4, 32)
    for index in range(4):
        read = size["prompt"] + index
        cut = {**parameters, "position_embedding": parameters["position_embedding"][:read]}
        expected = train.predict(size, cut, tokens[:, :read])[:, -1]
        np.testing.assert_allclose(logits[:, index], expected, rtol=1e-10, atol=1e-12)


def test_the_work_of_decoding_is_that_of_reading_all_tokens_once() -> None:
    decode, gpt = (BUILT_IN.specification(name) for name in ("kv-decode", "gpt"))
    size = decode.SIZES["check"]
    parameters, (tokens,) = drawn(decode, size)
    count = sum(value.size for value in parameters.values())
    unread = 2 * (size["prompt"] - 1)
    assert decode.items(size) == 2 * 3
    assert gpt.useful_flops(size) - decode.useful_flops(size) == 2 * unread * size["width"] * size["vocabulary"]
    assert decode.compulsory_bytes(size, 4) == 4 * (count + 8 * size["vocabulary"]) + 4 * tokens.size
