"""States the facts about PyTorch 1.x and 2.x."""

from __future__ import annotations

from ..facts import Facts, Mode, Release

#: What torch.compile imports in its first call, and what it computes there once in a process: its backends, hashes of
#: PyTorch's and Triton's files for the keys of its caches, and what it asks the C++ compiler. In 2.15 that is most of a
#: warm first call. The patterns that it looks for where it generates code are not among them: making them runs a
#: backward pass, after which no forked worker trains with DDP.
COMPILER = (
    "torch._dynamo",
    "torch._inductor.compile_fx",
    "torch._inductor.codegen.common:init_backend_registration",
    "torch._inductor.choices",
    "torch._inductor.codegen.memory_planning",
    "torch.distributed.tensor.experimental",
    "torch.export._trace",
    "torch._export.db.logging",
    "torch._dynamo.backends.registry:list_backends",
    "torch._inductor.codecache:torch_key",
    "triton.runtime.cache:triton_key",
    "bench.frameworks.torch.once:vector_instructions",
    "bench.frameworks.torch.once:header",
)
#: What the optimizers import in their first step since 2.1, in whatever mode; it takes a second.
OPTIMIZER = ("torch._dynamo",)


def inductor(
    name: str,
    first_version: str,
    *,
    first_call_s: float,
    compile_s: float,
    part: str = "module",
    freezes: bool = False,
) -> Mode:
    """Return a mode of ``torch.compile``, whose code Inductor generates and keeps on disk."""
    return Mode(
        name,
        first_call_s,
        compile_s,
        first_version=first_version,
        caches_on_disk=True,
        freezes=freezes,
        part=part,
        preloads=COMPILER,
        precompiles="kernels",
    )


FACTS = Facts(
    product="PyTorch",
    distribution="torch",
    import_name="torch",
    modes=(
        Mode("eager", first_call_s=0.1, training_preloads=OPTIMIZER, validated=True),
        Mode("torchscript", first_call_s=0.2, training_preloads=OPTIMIZER, validated=True),
        Mode("torchscript-trace", first_call_s=0.2, training_preloads=OPTIMIZER),
        Mode("torchscript-optimized", first_call_s=0.2),
        # Memory formats of convolutions; eager has the one that was faster.
        Mode("channels-last", training_preloads=OPTIMIZER, places_batches=True),
        Mode("channels-first", training_preloads=OPTIMIZER, places_batches=True),
        Mode("functorch", training_preloads=OPTIMIZER),
        # Forms of torch.optim, which has had the keyword since 1.12; eager has the fused one, where the version can.
        Mode("optimizer-loop", first_version="1.12", training_preloads=OPTIMIZER),
        Mode("optimizer-foreach", first_version="1.12", training_preloads=OPTIMIZER),
        # Lazy tensors of PyTorch/XLA.
        Mode("xla", first_call_s=2.0, first_version="2.9", training_preloads=OPTIMIZER),
        # The same with torch.compile in front: Dynamo's graphs become executables of XLA.
        Mode(
            "compile-openxla",
            part="step",
            first_call_s=3.0,
            first_version="2.9",
            preloads=("torch._dynamo",),
            training_preloads=OPTIMIZER,
        ),
        # Training steps over two processes, and over two GPUs of one process.
        Mode("ddp", training_preloads=OPTIMIZER, devices=2, places_batches=True),
        Mode("data-parallel", training_preloads=OPTIMIZER, devices=2),
        Mode("autocast", computes_in="bfloat16"),
        inductor("compile", "2.0", first_call_s=0.3, compile_s=4.0),
        # The functions of torch.optim can be compiled since 2.2.
        inductor("compile-step", "2.2", first_call_s=0.8, compile_s=15.0, part="step"),
        inductor("compile-optimizer", "2.2", first_call_s=0.8, compile_s=15.0),
        inductor("compile-max-autotune", "2.0", first_call_s=1.0, compile_s=20.0, freezes=True),
        inductor("compile-reduce-overhead", "2.0", first_call_s=1.0, compile_s=4.0),
        # A library cannot be loaded again without its package: it is compiled anew in every process.
        Mode(
            "aot-inductor",
            first_call_s=10.0,
            first_version="2.6",
            precompiles="packages",
            preloads=(*COMPILER, "torch.export"),
        ),
    ),
    sets_threads=True,
    variables={
        # As many threads as compute; the adapter ends them before anything is timed.
        "TORCHINDUCTOR_COMPILE_THREADS": "{threads}",
        # Inductor asks for GPUs when it is imported. Without this, CUDA starts there, and fails in forked workers.
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
    },
    # Line tables for profilers took g++ a fifth of its time.
    trial_variables={"AOT_INDUCTOR_ENABLE_LINE_TABLES": "0"},
    cache_variables={"TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITON_CACHE_DIR": "triton"},
    # torch.compile keeps precompiled headers, half a minute's work, in the temporary folder whatever the variables say.
    caches_temporary_files=True,
    variable_prefixes=("TORCH", "PYTORCH_", "TRITON_", "ATEN_", "PJRT_", "XLA_"),
    # 0.94 GB were measured with PyTorch 2.13.
    cpu_environment_gb=1.0,
    # Until some release before 2.15 the first call of torch.compile imports setuptools, which the wheels require for
    # Python 3.12 and later only (seen with 2.5.1 and 2.9.1 on Python 3.10).
    # PyTorch contains functorch since 1.13; before, it is a package, whose 0.2.1 needs this version and no other.
    # Where torch.compile refuses a Python that has wheels, as 2.0 does 3.11, that Python is left out.
    releases=(
        Release("1.12", ("3.7", "3.10"), ("numpy<2", "setuptools<70")),
        Release("1.12.1", ("3.7", "3.10"), ("functorch==0.2.1", "numpy<2", "setuptools<70")),
        Release("1.13", ("3.7", "3.11"), ("numpy<2", "setuptools<70")),
        Release("2.0", ("3.8", "3.10"), ("numpy<2", "setuptools<70")),
        Release("2.1", ("3.8", "3.11"), ("numpy<2", "setuptools<70")),
        Release("2.3", ("3.8", "3.11"), ("numpy", "setuptools<70")),
        Release("2.4", ("3.8", "3.12"), ("numpy", "setuptools<80")),
        Release("2.5", ("3.9", "3.12"), ("numpy", "setuptools<80")),
        Release("2.6", ("3.9", "3.13"), ("numpy", "setuptools<80")),
        Release("2.9", ("3.10", "3.14"), ("numpy", "setuptools<80")),
        Release("2.15", ("3.11", "3.14"), ("numpy",)),
    ),
)
