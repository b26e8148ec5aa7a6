"""Tests what adapters ask and tell of a GPU, with one that exists for a moment only."""

from __future__ import annotations

from modes import NAMES, cases, needs, torch_modes, trial

from bench.cell import MIXED


@torch_modes
def test_torch_tells_what_a_gpu_computes_with(environment, mode):
    found = trial(environment, mode)["extras"]["gpu"]
    assert set(found["settings"]) <= NAMES
    assert found["settings"]["float32 matmul"] == "highest"
    assert found["settings"]["TF32 matmul"] is found["settings"]["TF32 convolution"] is False
    assert found["settings"]["CUDA graphs"] is False
    assert (found["loose"]["float32 matmul"], found["loose"]["TF32 matmul"]) == ("tf32", True)
    assert found["memory"] == {"allocated_peak_bytes": 3, "reserved_peak_bytes": 4}
    # Of the GPU, and nothing of the processor.
    assert found["forgotten"] == ["cuda"]


def verify_tf32(found):
    """Check what an adapter says of TF32 on GPUs with and without it, and on a processor."""
    assert found["new"]["type"].endswith("float32")
    given = found["new"]["settings"]
    assert (given["float32 matmul"], given["TF32 matmul"], given["TF32 convolution"]) == ("tf32", True, True)
    assert found["old"].startswith("TF32 needs an NVIDIA GPU of compute capability 8.0 or later, and this one has 7.5")
    assert found["other"].startswith("TF32 is a format of NVIDIA GPUs, and this GPU is none")
    assert found["processor"].startswith("TF32 is a format of NVIDIA GPUs, which processors do not have")


@torch_modes
def test_torch_computes_in_tf32_where_it_is_asked_to(environment, mode):
    found = trial(environment, mode)["extras"]["tf32"]
    verify_tf32(found)
    assert (found["after"]["float32 matmul"], found["after"]["TF32 convolution"]) == ("highest", False)


def on_old_gpus(name):
    """Return what an adapter says of each GPU: the new one, the old one and that of another maker."""
    reason = "{} needs an NVIDIA GPU of compute capability 8.0 or later, and this one has 7.5: use float32"
    return {"new": None, "old": reason.format(name), "other": None}


#: What adapters say of precisions that need a new GPU.
NARROW = {"bfloat16": on_old_gpus("bfloat16"), MIXED: on_old_gpus("mixed precision in bfloat16")}


@torch_modes
def test_torch_refuses_bfloat16_on_old_gpus(environment, mode):
    # A second process asks when it makes the program.
    assert trial(environment, mode)["extras"]["narrow"] == {**NARROW, "mixing": NARROW[MIXED]}


@needs("tf2")
def test_tensorflow_refuses_bfloat16_on_old_gpus():
    assert trial("tf2", "function")["extras"]["narrow"] == NARROW


@needs("jax")
def test_jax_refuses_bfloat16_on_old_gpus():
    assert trial("jax", "jit")["extras"]["narrow"] == NARROW


@needs("jax")
def test_jax_keeps_its_default_for_products_where_factors_are_short():
    # XLA compiles products with Triton in no other precision.
    asked = {"float32": "highest", "bfloat16": None, "float16": None, MIXED: None}
    assert trial("jax", "jit")["extras"]["asked"] == asked


@needs("jax")
def test_wide_products_of_narrow_programs_are_named():
    found = trial("jax", "jit")["extras"]["words"]
    assert found["default"] == ["bf16 and tf32", "bf16 and highest"]
    assert found["tensorfloat32"] == ["bf16 and tf32", "bf16 and highest"]
    assert found["highest"] == ["bf16 and highest", "bf16 and highest"]
    assert found["narrow"] == "bf16"


@torch_modes
def test_torch_reads_back_what_autocast_does(environment, mode):
    found = trial(environment, mode)["extras"]["autocast"]
    assert found == {"on": {"float32 matmul": "bf16"}, "float16": {"float32 matmul": "fp16"}, "off": {}}


@cases("tf2:eager", "tf2:function")
def test_tensorflow_refuses_products_that_it_leaves_to_the_processor(environment, mode):
    found = trial(environment, mode)["extras"]["placed"]
    # oneDNN's has a name of its own.
    assert any("MatMul" in name for name in found["operations"])
    assert found["reason"].startswith("TensorFlow computes ")
    assert found["reason"].endswith("on the processor, where it puts what has no kernel for the GPU: use another mode")
    assert found["without"] is None


@needs("jax")
def test_jax_attends_by_cudnn_where_cudnn_takes_it():
    found = trial("jax", "jit")["extras"]["attention"]["forms"]
    fused = {name for name, form in found.items() if form == "fused"}
    assert fused == {"bfloat16", "float16", "mixed", "eager", "full"}
    assert {form for name, form in found.items() if name not in fused} == {"composed"}


@needs("jax")
def test_jax_lowers_attention_to_cudnns_kernels():
    forward, gradient = trial("jax", "jit")["extras"]["attention"]["kernels"]
    assert forward == ["__cudnn$fmhaSoftmax"]
    assert gradient == ["__cudnn$fmhaSoftmax", "__cudnn$fmhaSoftmaxBackward"]


@needs("jax")
def test_fused_attention_has_the_axes_the_mask_and_the_scale_of_composed_attention():
    differences = trial("jax", "jit")["extras"]["attention"]["mixes"]
    assert len(differences) == 4
    assert max(differences) < 1e-5


@needs("keras-jax")
def test_keras_on_jax_says_which_attention_it_takes():
    found = trial("keras-jax", "fit")["extras"]["attention"]
    assert found["float32"] == ["composed", "composed"]
    assert found[MIXED] == ["composed", "fused"]


@needs("keras-torch")
def test_keras_on_torch_stays_on_the_processor_beside_a_gpu():
    assert trial("keras-torch", "fit")["extras"]["device"] == ["cuda", "cpu"]


@needs("tf2")
def test_tensorflow_forgets_the_peak_of_a_gpu_where_it_can():
    found = trial("tf2", "function")["extras"]["peaks"]
    assert found == {"forgotten": ["GPU:0"], "memory": {"allocated_peak_bytes": 5}, "old": None, "processor": []}


@needs("tf2")
def test_tensorflow_computes_in_tf32_where_it_is_asked_to():
    found = trial("tf2", "function")["extras"]["tf32"]
    verify_tf32(found)
    assert found["words"] == ["bf16 and tf32", "bf16 and highest"]
    assert found["after"] is False


@needs("jax")
def test_jax_computes_in_tf32_where_it_is_asked_to():
    found = trial("jax", "jit")["extras"]["tf32"]
    verify_tf32(found)
    assert found["after"]["float32 matmul"] == "highest"


@torch_modes
def test_recorded_cuda_graphs_are_found(environment, mode):
    compiled = mode.startswith("compile")
    assert trial(environment, mode)["extras"]["gpu"]["graphs"] is (compiled if environment == "torch2" else None)


@needs("torch2")
def test_cuda_graphs_are_for_a_gpu():
    refused, given = trial("torch2", "compile")["extras"]["overhead"]
    assert refused == "mode compile-reduce-overhead records CUDA graphs, which need a GPU; use compile"
    # That shapes are fixed is a setting of the process.
    assert given == {"mode": "reduce-overhead"}


@needs("torch2")
def test_only_templates_for_a_processor_need_frozen_weights():
    found = trial("torch2", "compile")["extras"]["autotuned"]
    assert found == [["max-autotune", False], ["max-autotune", True], ["max-autotune", False]]


@cases("torch2:compile-step")
def test_an_lstm_on_a_gpu_is_refused_by_functional_gradients(environment, mode):
    reason = trial(environment, mode)["extras"]["recurrent"]
    assert reason == "cuDNN's nn.LSTM needs the storage of its weights, which torch.func hides: see compile"


@torch_modes
def test_torch_limits_a_gpu_to_a_share_of_its_memory(environment, mode):
    assert trial(environment, mode)["extras"]["gpu"]["asked"] == [[0.25, "cuda"], [1.0, "cuda"]]


@torch_modes
def test_torch_reads_layout_and_allocator(environment, mode):
    found = trial(environment, mode)["extras"]
    assert found["layouts"] == ["NCHW", "NCHW, channels_last", {}]
    assert found["allocators"] == ["caching, expandable segments", "caching", "caching", "cudaMallocAsync"]


@needs("tf2")
def test_tensorflow_limits_a_gpu_by_a_logical_device():
    found = trial("tf2", "function")["extras"]
    assert found["limit"] == [["growth", "a GPU", False], ["devices", "a GPU", [2048]]]


@needs("tf2")
def test_tensorflow_makes_fetched_numbers_wide_on_the_host():
    floats = {name: ["float64", 3.5] for name in ("bfloat16", "float16", "float32", "float64")}
    assert trial("tf2", "function")["extras"]["fetched"] == {**floats, "int32": ["int32", 3.0]}


@needs("tf2")
def test_tensorflow_that_waits_for_no_gpu_measures_none():
    reason = trial("tf2", "function")["extras"]["cannot wait"]
    assert "lacks tf.test.experimental.sync_devices (2.12 brought it)" in reason


@needs("tf2")
def test_tensorflow_tells_what_a_gpu_computes_with():
    plain, steered = trial("tf2", "function")["extras"]["settings"]
    assert plain == {"cuDNN autotuning": True, "cuDNN deterministic": False, "allocator": "bfc, growing"}
    assert steered["cuDNN autotuning"] is False
    assert steered["allocator"] == "x"


@needs("jax")
def test_jax_limits_a_gpu_before_it_sees_it():
    found = trial("jax", "jit")["extras"]
    assert found["shares"] == [
        {"XLA_PYTHON_CLIENT_MEM_FRACTION": "0.250000"},
        {"XLA_CLIENT_MEM_FRACTION": "0.250000"},
        "jax limits no memory with XLA_PYTHON_CLIENT_ALLOCATOR=platform",
    ]
    assert "before" in found["late"]


@needs("jax")
def test_jax_waits_for_what_it_puts_on_a_gpu():
    assert trial("jax", "jit")["extras"]["waits"]


@needs("jax")
def test_jax_tells_of_a_gpus_memory():
    found = trial("jax", "jit")["extras"]
    assert found["allocators"] == ["bfc, growing", "bfc, preallocated", "platform"]
    assert found["peaks"] == [
        {"allocated_peak_bytes": 5, "reserved_peak_bytes": 12},
        {"allocated_peak_bytes": 5},
        {},
    ]


@needs("jax")
def test_jax_leaves_forms_for_a_processor_to_compiled_modes_on_one():
    assert trial("jax", "jit")["extras"]["compiles for processor"] == [True, False, False]


@cases("jax:pmap", "jax:shard-map", "tf2:mirrored")
def test_one_gpu_is_too_few_to_divide_a_step(environment, mode):
    assert trial(environment, mode)["extras"]["one GPU"] == f"mode {mode} computes on 2 GPUs, and 1 can be seen here"


@cases("jax:pmap", "jax:shard-map")
def test_jax_waits_for_no_step_of_two_gpus(environment, mode):
    assert trial(environment, mode)["extras"]["gpus"] == {"devices": 2}


@cases("tf2:mirrored")
def test_tensorflow_divides_a_step_between_gpus_where_they_are_visible(environment, mode):
    assert trial(environment, mode)["extras"]["names"] == ["/GPU:0", "/GPU:1"]


@cases("torch1:ddp", "torch2:ddp")
def test_torch_says_why_it_divides_no_step_between_gpus(environment, mode):
    found = trial(environment, mode)["extras"]["gpus"]["refusals"]
    few = "Unsupported: mode {} computes on 2 GPUs, and 1 can be seen here"
    assert (found["ddp"], found["data-parallel"]) == (few.format("ddp"), few.format("data-parallel"))
    assert found["threads"] == "Unsupported: mode ddp divides threads among 2 devices: 3 cannot be divided"
    assert found["old"].startswith("Unsupported: mode ddp forks a second process before CUDA starts, and torch 1.13.1")
    assert found["processor"] == "Unsupported: mode data-parallel divides a batch among GPUs: see ddp"
    if environment == "torch2":
        assert found["tf32"].startswith("Unsupported: mode ddp asks no GPU for TF32 before it has forked")
        assert found["limit"] == "Unsupported: mode ddp limits no memory before it has forked"


@cases("torch2:ddp")
def test_two_processes_train_on_a_gpu_each(environment, mode):
    found = trial(environment, mode)["extras"]["gpus"]["two processes"]
    assert found["first"] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    # What changed in place is copied to both GPUs again.
    assert found["changed"] == [[15, 14, 13, 12], [11, 10, 9, 8]]
    assert found["weights"] == [-14.0, -28.0, -42.0, -46.0]
    first, second = found["asked"]
    assert first == [["set_device", "cpu"], ["device_ids", [0]]]
    # Both have forgotten the 30 bytes that they needed before.
    assert found["memory"] == {"allocated_peak_bytes": 6, "reserved_peak_bytes": 8}
    assert found["monitoring"] == "0"
    assert found["late"] == "ValueError: mode ddp needs batches that are placed before the program is built"
    # The second one waits for its GPU before it answers: three steps, and a reset.
    assert second == [["set_device", "cpu"], ["device_ids", [1]], *[["synchronize", "cpu"]] * 4]


@cases("torch1:ddp", "torch2:ddp")
def test_a_second_process_that_fails_at_once_is_not_waited_for(environment, mode):
    reason, seconds = trial(environment, mode)["extras"]["gpus"]["failing"]
    assert reason == "the second process has ended; its error is in the log of the cell"
    # Processes wait for each other for a day.
    assert seconds < 600


@cases("torch1:ddp", "torch2:ddp")
def test_data_parallel_computes_the_step_of_one_device(environment, mode):
    found = trial(environment, mode)["extras"]["gpus"]["one process"]
    alone, divided = found["weights"]
    assert abs(alone - divided) < 1e-6 != alone
    assert found["devices"] == 2
    assert found["odd"] == "Unsupported: mode data-parallel: this batch has no 2 equal parts"
    assert found["inference"].startswith("Unsupported: mode data-parallel divides training steps among devices")
    assert found["statistics"] == found["function"]
    assert found["function"].startswith("Unsupported: mode data-parallel averages gradients of halves of a batch")
