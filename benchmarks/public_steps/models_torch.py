"""Makes runs of the networks of torchvision and transformers, in the shapes of ours.

torchvision's network is that of the specification; its stem is replaced for small images, as is usual. GPT-2 of
transformers has a bias in its projections to queries, keys and values, which ours lacks, and gets the exact GELU.
"""

from __future__ import annotations

import functools

import lazy_torch
import torch
from repeated import repeated
from torch import nn
from torchvision.models import resnet
from transformers import GPT2Config, GPT2LMHeadModel, StaticCache
from transforms_torch import FORMATS, inferring
from with_torch import LanguageModel, trained

from bench.workloads.gpt_train import OPTIMIZER as ADAMW
from bench.workloads.resnet import NETWORKS, stem
from bench.workloads.resnet18_train import OPTIMIZER as SGD

#: What transformers asks of PyTorch for fused attention. The release for PyTorch 1 gives GPT-2 no static cache either.
FUSED = hasattr(nn.functional, "scaled_dot_product_attention")


def runs(workload, size, mode, batch):
    """Return ``{name: run}``, where ``run(batches)`` does a step for each batch."""
    return MODELS[workload](size, mode, batch)


def repeatedly(function, mode):
    """Return ``run(batches)`` of a function that has its batch already, without gradients."""
    without_gradients = lazy_torch.forward_only(mode)

    def run(batches):
        with without_gradients():
            for _ in batches:
                outputs = function()
        return {"outputs": outputs}

    return run


def residual(size):
    """Return torchvision's network, with as many channels and the stem of a size."""
    bottleneck, repeats = NETWORKS[size["depth"]]
    kind = resnet.Bottleneck if bottleneck else resnet.BasicBlock
    network = resnet.ResNet(kind, list(repeats), size["classes"])
    width = network.inplanes = size["width"]
    first = stem(size)
    network.conv1 = nn.Conv2d(first.inputs, width, first.kernel, first.stride, first.kernel // 2, bias=False)
    network.bn1 = nn.BatchNorm2d(width)
    if first.stride == 1:
        network.maxpool = nn.Identity()
    for index, count in enumerate(repeats):
        layer = network._make_layer(kind, width * 2**index, count, stride=2 if index else 1)
        setattr(network, f"layer{index + 1}", layer)
    network.fc = nn.Linear(width * 2 ** (len(repeats) - 1) * kind.expansion, size["classes"])
    return network


def layouts(size, mode, images):
    """Return ``{name: (network, images)}`` in PyTorch's default layout and in channels_last, or in that of the mode."""
    plain = images.permute(0, 3, 1, 2).contiguous()
    last = {"memory_format": torch.channels_last}
    found = {}
    for form in FORMATS.get(mode, ("plain", "channels_last")):
        if form == "plain":
            found["torchvision"] = residual(size), plain
        else:
            found["torchvision, channels_last"] = residual(size).to(**last), plain.to(**last)
    return found


def classify(size, mode, batch):
    found = {}
    for name, (network, images) in layouts(size, mode, batch[0]).items():
        found[name] = repeatedly(functools.partial(inferring(network, mode, (images,)), images), mode)
    return found


def train_images(size, mode, batch, train=trained):
    """Train as the tutorials do, or as another ``train`` does."""
    found = {}
    kind = functools.partial(torch.optim.SGD, momentum=SGD["momentum"])
    for name, (network, images) in layouts(size, mode, batch[0]).items():
        steps = train(network, mode, (images, batch[1]), kind, SGD["learning_rate"])
        found.update((f"{name} ({step})", repeated(made)) for step, made in steps.items())
    return found


def configuration(size):
    attention = {"attn_implementation": "sdpa" if FUSED else "eager"}
    return GPT2Config(
        vocab_size=size["vocabulary"], n_positions=size["sequence"], n_embd=size["width"], n_layer=size["layers"],
        n_head=size["heads"], activation_function="gelu", resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
        bos_token_id=0, eos_token_id=0, **attention,
    )  # fmt: skip


class Logits(nn.Module):
    """GPT-2 of transformers, from tokens to logits."""

    def __init__(self, size):
        super().__init__()
        self.model = GPT2LMHeadModel(configuration(size))

    def forward(self, tokens):
        return self.model(tokens, use_cache=False).logits


def predict(size, mode, batch):
    found = {name: inferring(model, mode, tuple(batch)) for name, model in language_models(size, mode).items()}
    return {name: repeatedly(functools.partial(model, batch[0]), mode) for name, model in found.items()}


def language_models(size, mode):
    """Return the public models. TorchScript takes no code of transformers; a trace of it does.

    torch.export does not take how torch.nn's encoder finds a causal mask.
    """
    if mode == "aot-inductor":
        return {"transformers": Logits(size)}
    found = {"torch.nn": LanguageModel(size), "transformers": Logits(size)}
    return {"torch.nn": found["torch.nn"]} if mode in ("torchscript", "torchscript-optimized") else found


def train_language(size, mode, batch, train=trained):
    kind = functools.partial(
        torch.optim.AdamW, betas=(ADAMW["beta1"], ADAMW["beta2"]), weight_decay=ADAMW["weight_decay"]
    )
    found = {}
    for name, model in language_models(size, mode).items():
        steps = train(model, mode, batch, kind, ADAMW["learning_rate"])
        found.update((f"{name} ({step})", repeated(made)) for step, made in steps.items())
    return found


def decode(size, mode, batch):
    """Decode as transformers' guide to its caches does: a prompt, then token after token.

    Compiled, the model gets a static cache, as in gpt-fast; op by op, also the cache that grows. TorchScript and
    torch.export take no cache, which is an object.
    """
    if mode.startswith(("torchscript", "aot")):
        return {}
    model = lazy_torch.placed(GPT2LMHeadModel(configuration(size)).eval(), mode)
    lazy = mode in lazy_torch.LAZY
    # Tokens do not wait for each other there; the text is waited for.
    forward = lazy_torch.inferring(model, mode, waits=False) if lazy else inferring(model, mode, ())
    tokens, prompt = batch[0], size["prompt"]
    last = {"logits_to_keep": 1} if FUSED else {}

    def advance(given, cache):
        outputs = forward(given, past_key_values=cache, use_cache=True, **last)
        return outputs.logits[:, -1:], outputs.past_key_values

    def decoded(cache):
        found, cache = advance(tokens[:, :prompt], cache)
        logits = [found]
        for index in range(prompt, size["sequence"]):
            found, cache = advance(tokens[:, index : index + 1], cache)
            logits.append(found)
        found = torch.cat(logits, dim=1)
        if lazy:
            lazy_torch.wait()
        return found

    found = {}
    if FUSED:
        cache = StaticCache(config=model.config, max_cache_len=size["sequence"])

        def with_static():
            cache.reset()
            return decoded(cache)

        found["transformers, StaticCache"] = repeatedly(with_static, mode)
    if mode == "eager":
        found["transformers, growing cache"] = repeatedly(lambda: decoded(None), mode)
    return found


MODELS = {
    "resnet18": classify, "resnet50": classify, "resnet18-train": train_images, "resnet50-train": train_images,
    "gpt": predict, "gpt-train": train_language, "kv-decode": decode,
}  # fmt: skip
