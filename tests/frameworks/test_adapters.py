"""Tests every adapter in every mode, in its environment: settings read back, products and copies, training."""

from __future__ import annotations

import pytest
from environment import THREADS, framework, run
from modes import NAMES, case, cases, compiled, every_mode, needs, trial

from bench.host.analysis.versions import framework_version, names_of


@every_mode
def test_settings_have_the_names_that_all_adapters_share(environment, mode):
    for steady in trial(environment, mode)["steady"].values():
        assert set(steady["settings"]) <= NAMES
        assert steady["settings"]["threads"] == THREADS
        assert steady["settings"]["allocator"].startswith("malloc of ")
        assert steady["settings"]["compiled"] == compiled(environment, mode)
        assert steady["settings"].get("float32 matmul", "highest") == "highest"


@every_mode
def test_a_framework_names_the_version_of_its_own_package(environment, mode):
    """By that name the tables find it."""
    version = framework_version(names_of(framework(environment)), trial(environment, mode)["versions"])
    assert version
    assert version[0].isdigit()


@every_mode
def test_only_a_program_with_convolutions_has_a_layout(environment, mode):
    found = {name: steady["settings"] for name, steady in trial(environment, mode)["steady"].items()}
    assert "layout" not in found["mlp-train"]
    expected = {
        "torch": "NCHW, channels_last",
        "lightning": "NCHW, channels_last",
        "keras-torch": "NCHW",
        "theano": "NCHW",
        "torch-xla": "NCHW",
        "numpy": None,
    }
    name = environment if environment in expected else framework(environment)
    assert found["lenet-train"].get("layout") == expected.get(name, "NHWC")


@pytest.mark.parametrize(
    ("environment", "mode", "fused"),
    [
        case("torch1", "eager", "foreach"),
        case("torch2", "eager", True),
        case("torch2", "compile", True),
        case("torch2", "compile-step", "by the compiler"),
        case("torch2", "compile-optimizer", "by the compiler"),
        case("torch2", "functorch", True),
        case("torch2", "ddp", True),
        case("torch2", "optimizer-loop", False),
        case("torch1", "optimizer-foreach", "foreach"),
        case("torch2", "optimizer-foreach", "foreach"),
        case("tf2", "eager", False),
        case("tf2", "eager-fused", True),
        case("tf2", "function", True),
        case("tf2", "xla", "by the compiler"),
        case("tf2", "function-concrete", True),
        case("tf2", "xla-concrete", "by the compiler"),
        case("tf2", "xla-auto", "by the compiler"),
        case("tf2", "mirrored", True),
        case("jax", "eager", False),
        case("jax", "jit", "by the compiler"),
        case("keras-tf", "fit", False),
        case("keras-tf", "fit-jit", "by the compiler"),
        case("keras2-tf", "fit", False),
        case("keras2-tf", "fit-jit", "by the compiler"),
        case("keras-jax", "fit", "by the compiler"),
        case("keras-torch", "fit", False),
        case("flax", "nnx", "by the compiler"),
        case("haiku", "jit", "by the compiler"),
        case("lightning", "fit", True),
        case("tf1", "session", True),
        case("theano", "function", "by the compiler"),
        case("torch-xla", "xla", "by the compiler"),
    ],
)
def test_who_fuses_the_optimizer_is_said(environment, mode, fused):
    settings = trial(environment, mode)["steady"]["mlp-train"]["settings"]
    assert settings["fused optimizer"] == fused


@cases("torch2:compile", "keras-torch:fit-jit", "lightning:fit-compile")
def test_what_inductor_compiles_says_its_vector_instructions(environment, mode):
    settings = trial(environment, mode)["steady"]["mlp-train"]["settings"]
    assert settings["generated for"] != "no vector instructions"


@pytest.mark.parametrize(
    ("environment", "mode", "name"),
    [
        case("tf2", "eager", "keras"),
        case("tf2", "eager-fused", "training kernels"),
        case("tf2", "function", "training kernels"),
        case("tf2", "xla", "training kernels"),
    ],
)
def test_only_op_by_op_does_tensorflow_train_with_keras_optimizer(environment, mode, name):
    assert trial(environment, mode)["steady"]["mlp-train"]["settings"]["optimizer"] == name


@cases("tf2:eager", "tf2:function", "tf2:xla")
def test_a_convolution_in_nchw_without_a_kernel_is_refused(environment, mode):
    refused = trial(environment, mode)["extras"]["without NCHW"]
    if mode == "xla":
        assert refused is None
    else:
        assert refused.endswith("(The Conv2D op currently only supports the NHWC tensor format): see conv2d")


@cases(
    "tf2:eager",
    "tf2:eager-fused",
    "tf2:function",
    "tf2:function-concrete",
    "tf2:xla",
    "tf2:xla-concrete",
    "tf2:xla-auto",
    "tf2:mirrored",
)
def test_a_reset_restores_the_state_of_tensorflows_optimizers(environment, mode):
    for first, again, onward in trial(environment, mode)["extras"]["losses"].values():
        assert first == again
        assert onward != first


@cases("tf2:function", "tf2:function-concrete", "tf2:xla", "tf2:xla-concrete", "tf2:xla-auto")
def test_what_a_call_of_tensorflow_returns_has_been_computed(environment, mode):
    found = trial(environment, mode)["extras"]["seconds"]
    call_s, read_s = found["inline"]
    assert read_s < call_s / 10
    # Where calls are dispatched, the same comparison tells.
    call_s, read_s = found["asynchronous"]
    assert read_s > call_s


@cases("tf2:eager-fused")
def test_mode_eager_fused_is_for_training_only(environment, mode):
    assert "optimizer only" in trial(environment, mode)["another shape"]["unsupported"]


@pytest.mark.parametrize(
    ("environment", "mode", "form"),
    [
        case("torch1", "eager", "composed"),
        case("torch2", "eager", "fused"),
        case("tf2", "function", "composed"),
        case("jax", "jit", "composed"),
        case("keras-tf", "fit", "composed"),
        case("keras-torch", "fit", "fused"),
        case("keras2-tf", "fit", "composed"),
        case("flax", "nnx", "composed"),
        case("torch-xla", "xla", "composed"),
    ],
)
def test_the_form_of_attention_is_said(environment, mode, form):
    found = trial(environment, mode)
    assert found["attention"]["attention"] == form
    assert "attention" not in found["steady"]["mlp-train"]["settings"]


@cases("jax:jit", "jax:eager")
def test_donation_is_seen_in_what_became_of_the_arrays(environment, mode):
    assert trial(environment, mode)["steady"]["mlp-train"]["settings"]["donation"] is (mode == "jit")


@cases("flax:nnx", "flax:nnx-functional", "flax:linen", "haiku:jit")
def test_a_step_of_a_library_above_jax_takes_over_the_memory_of_the_model(environment, mode):
    assert trial(environment, mode)["steady"]["mlp-train"]["settings"]["donation"] is True


@cases(
    "torch1:functorch",
    "torch2:functorch",
    "torch2:compile-optimizer",
    "torch2:optimizer-loop",
    "torch1:optimizer-foreach",
    "torch2:optimizer-foreach",
)
def test_modes_that_differ_in_gradients_or_optimizer_have_no_inference(environment, mode):
    assert (
        trial(environment, mode)["another shape"]["unsupported"] == f"mode {mode} differs from eager in training only"
    )


@cases("torch1:functorch", "torch2:functorch")
def test_without_the_package_functorch_an_old_version_says_what_it_lacks(environment, mode):
    expected = "functorch is a package of its own before PyTorch 1.13, and torch 1.12.0 has none beside it: "
    assert trial(environment, mode)["extras"]["missing"].startswith(expected)


@cases("jax:jit-loop")
def test_a_loop_of_training_steps_has_no_inference(environment, mode):
    assert trial(environment, mode)["another shape"]["unsupported"].startswith("mode jit-loop joins training steps")


@pytest.mark.parametrize(
    ("environment", "mode", "dispatch"),
    [
        case("torch2", "eager", "inline"),
        case("tf2", "function", "inline"),
        case("jax", "eager", "inline"),
        case("jax", "jit", "inline"),
        case("jax", "jit-async", "asynchronous"),
        case("jax", "jit-loop", "inline"),
        case("torch-xla", "xla", "asynchronous"),
        case("numpy", "eager", "inline"),
    ],
)
def test_dispatch_is_read_back(environment, mode, dispatch):
    for steady in trial(environment, mode)["steady"].values():
        assert steady["settings"]["dispatch"] == dispatch


@cases("jax:pmap", "jax:shard-map", "tf2:mirrored", "torch1:ddp", "torch2:ddp")
def test_each_of_two_devices_computes_half_of_every_batch(environment, mode):
    assert trial(environment, mode)["extras"]["halves"] == [[0, 1, 2, 3], [4, 5, 6, 7]]


@cases("jax:pmap")
def test_a_batch_lies_as_what_pmap_returns(environment, mode):
    assert trial(environment, mode)["extras"]["as pmap"]


@cases("jax:jit", "jax:pmap", "jax:shard-map")
def test_compiled_code_is_kept_but_for_the_pmap_of_old_versions(environment, mode):
    found = trial(environment, mode)["extras"]
    assert found["keeps code"]
    assert found["pmap keeps code"] == [True, False]
    assert found["counts"] == [2, 3, None]


@cases("jax:pmap", "jax:shard-map", "tf2:mirrored", "torch1:ddp", "torch2:ddp")
def test_a_batch_without_equal_halves_is_refused(environment, mode):
    assert trial(environment, mode)["extras"]["odd"] == f"mode {mode}: this batch has no 2 equal parts"


@cases("torch1:ddp", "torch2:ddp")
def test_a_second_process_sees_batches_that_change_and_ends_with_the_program(environment, mode):
    found = trial(environment, mode)["extras"]
    assert found["changed"] == [[7, 6, 5, 4], [3, 2, 1, 0]]
    # The mean of the gradients of both; and a reset in between.
    assert found["weights"] == [-14.0, -14.0]
    assert found["late"] == "mode ddp needs batches that are placed before the program is built"
    assert found["ended"]


@cases("torch1:ddp", "torch2:ddp")
def test_two_gpus_take_batch_statistics_from_both(environment, mode):
    found = trial(environment, mode)["extras"]["normalisations"]
    said = "mode ddp needs batch statistics of both devices; PyTorch has them on GPUs only"
    assert found == {"kind": "SyncBatchNorm", "scale": True, "without": True, "cpu": said}


@every_mode
def test_the_products_and_copies_that_measure_the_machine_are_right(environment, mode):
    for precision, errors in trial(environment, mode)["peaks"].items():
        # PyTorch 1.13 sums bfloat16 products in bfloat16 on a processor.
        assert max(errors["multiply"]) < {"float32": 1e-6, "bfloat16": 2e-2}[precision]
        assert max(errors["multiply"]) > 0
        assert max(errors["copy"]) == 0


@every_mode
def test_only_the_memory_of_a_gpu_is_limited(environment, mode):
    assert "memory" in trial(environment, mode)["limit"]


@cases("torch1:eager", "torch2:eager")
def test_every_form_of_pooling_computes_the_same(environment, mode):
    assert trial(environment, mode)["extras"]["poolings"] == {"max_pool_by_slices": True, "max_pool_by_quarters": True}


@cases("torch1:eager", "torch2:eager")
def test_a_copy_of_a_mixing_module_computes_in_bfloat16_with_its_own_parameters(environment, mode):
    assert trial(environment, mode)["extras"]["mixed copy"] == {
        "type": "torch.bfloat16",
        "sum": 0.0,
        "parameters": "torch.float32",
    }


@pytest.mark.long
@needs("torch2")
def test_a_step_as_one_function_keeps_running_statistics_and_is_reset_like_one_with_an_optimizer():
    whole, parts = trial("torch2", "compile-step")["extras"]["statistics"]
    assert whole["losses"][0] == whole["losses"][1]
    assert whole["losses"] == pytest.approx(parts["losses"], rel=1e-6)
    assert parts["state"]["normal.num_batches_tracked"] == [3.0]
    for name, values in parts["state"].items():
        assert whole["state"][name] == pytest.approx(values, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(
    ("environment", "mode", "frozen"), [case("torch2", "compile-max-autotune", True), case("torch2", "compile", None)]
)
def test_weights_are_frozen_for_inference_in_the_tuned_mode_alone(environment, mode, frozen):
    assert trial(environment, mode)["another shape"]["settings"].get("frozen weights") is frozen


@pytest.mark.long
@needs("torch2")
def test_code_with_frozen_weights_is_not_found_for_those_of_another_draw():
    found = run("torch2", "frozen_weights", "compile-max-autotune")
    assert found == [[2.0, 3.0], [4.0, 5.0], [96.0, 112.0]]
