#!/usr/bin/python3
"""Makes the golden files beside this script, with PyTorch 1.13 (Debian's python3-torch).

Models are computed in double precision from parameters that are exact in float32, so that a stored
number is the true one but for its own rounding. Optimizers are computed in float32, as they are
used. Element types in the files: F32, I32, F64.

  encoder_layer.safetensors  torch.nn.TransformerEncoderLayer: output, loss and gradients
  char_lm.safetensors        ten training steps of examples/char_lm with two layers
  optimizer.safetensors      torch.optim.SGD and AdamW, five steps on 37 numbers

In a terminal: tests/golden/make_golden.py [the folder to write to]
"""

import json
import math
import struct
import sys
from pathlib import Path

import numpy as np
import torch

torch.set_num_threads(1)


def save(path, tensors):
    """Writes safetensors: the header's length (64 bits, little-endian), the header, the data."""
    names = {np.float32: "F32", np.float64: "F64", np.int32: "I32"}
    header, data = {}, b""
    # The widest elements first: then all are aligned.
    for name, t in sorted(tensors.items(), key=lambda item: -item[1].itemsize):
        raw = np.ascontiguousarray(t).tobytes()
        header[name] = {
            "dtype": names[t.dtype.type],
            "shape": list(t.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def f32(t):
    return t.detach().numpy().astype(np.float32)


def f64(t):
    return np.asarray(t, np.float64)


# --- The closed formula, which tests/support/golden_init.hpp has too ---------------------------


def hashes(name, count):
    """Element i of what is called `name`, 32 bits, all arithmetic modulo 2^32:
    x = fnv1a(name) + i * 2654435761; x ^= x >> 15; x *= 2246822519; x ^= x >> 13."""
    h = 2166136261
    for byte in name.encode():
        h = (h ^ byte) * 16777619 % 2**32
    x = (h + np.arange(count, dtype=np.uint64) * np.uint64(2654435761)) % np.uint64(2**32)
    x = x.astype(np.uint32)
    x ^= x >> np.uint32(15)
    x *= np.uint32(2246822519)
    x ^= x >> np.uint32(13)
    return x


def parameter(name, shape):
    """u = (x >> 8) * 2^-24, and s = 2 u - 1 in [-1, 1), both exact in float32. 1 + 0.1f * s for the
    weight of a norm (the last part of the path but one begins with "norm"), else 0.05f * s; each
    operation is rounded to float32."""
    u = (hashes(name, math.prod(shape)) >> np.uint32(8)).astype(np.float32) * np.float32(2**-24)
    s = np.float32(2) * u - np.float32(1)
    path = name.split(".")
    if path[-1] == "weight" and len(path) > 1 and path[-2].startswith("norm"):
        value = np.float32(1) + np.float32(0.1) * s
    else:
        value = np.float32(0.05) * s
    return torch.from_numpy(value.reshape(shape))


def tokens(step, batch, length):
    """[batch, length]: the hashes of "tokens.STEP" modulo 256."""
    x = hashes(f"tokens.{step}", batch * length) % np.uint32(256)
    return torch.from_numpy(x.astype(np.int64).reshape(batch, length))


# --- torch.nn.TransformerEncoderLayer -----------------------------------------------------------


def encoder_layer():
    batch, n, embed, heads, hidden = 2, 7, 20, 5, 33
    head_dim = embed // heads
    torch.manual_seed(1)
    layer = torch.nn.TransformerEncoderLayer(
        d_model=embed, nhead=heads, dim_feedforward=hidden, dropout=0.0, activation="gelu",
        batch_first=True,
    )
    with torch.no_grad():
        for name, p in layer.named_parameters():
            p.copy_(torch.randn_like(p) * 0.3 + (1 if "norm" in name and "weight" in name else 0))
    layer = layer.double()
    x = torch.randn(batch, n, embed).double().requires_grad_()
    cotangent = torch.randn(batch, n, embed).double()
    y = layer(x)
    loss = (y * cotangent).sum()
    loss.backward()

    tensors = {
        "input.x": f32(x),
        "input.cotangent": f32(cotangent),
        "output.y": f32(y),
        "output.loss": f64(loss.item()),
        "grad.x": f32(x.grad),
    }

    def export(name, value, gradient, shape):
        tensors["param." + name] = f32(value).reshape(shape)
        tensors["grad." + name] = f32(gradient).reshape(shape)

    attention = layer.self_attn
    split = (heads, head_dim)
    for i, role in enumerate(("query", "key", "value")):
        rows = slice(i * embed, (i + 1) * embed)
        weight, bias = attention.in_proj_weight, attention.in_proj_bias
        export(f"attention.{role}.weight", weight[rows], weight.grad[rows], (*split, embed))
        export(f"attention.{role}.bias", bias[rows], bias.grad[rows], split)
    for name, module, shape in (
        ("attention.out", attention.out_proj, (embed, *split)),
        ("linear1", layer.linear1, (hidden, embed)),
        ("linear2", layer.linear2, (embed, hidden)),
        ("norm1", layer.norm1, (embed,)),
        ("norm2", layer.norm2, (embed,)),
    ):
        export(name + ".weight", module.weight, module.weight.grad, shape)
        export(name + ".bias", module.bias, module.bias.grad, shape[:1])
    return tensors


# --- examples/char_lm ---------------------------------------------------------------------------

VOCAB, POS, EMBED, HEADS, HEAD_DIM, HIDDEN, LAYERS = 256, 128, 128, 4, 32, 512, 2


def char_lm_parameters():
    shapes = {"tokens.weight": (VOCAB, EMBED), "positions.weight": (POS, EMBED)}
    inner = (HEADS, HEAD_DIM)

    def affine(path, out, into):
        shapes[path + ".weight"] = (*out, *into)
        shapes[path + ".bias"] = out

    for i in range(LAYERS):
        path = f"layers.{i}."
        affine(path + "norm1", (EMBED,), ())
        for role in ("query", "key", "value"):
            affine(path + "attention." + role, inner, (EMBED,))
        affine(path + "attention.out", (EMBED,), inner)
        affine(path + "norm2", (EMBED,), ())
        affine(path + "linear1", (HIDDEN,), (EMBED,))
        affine(path + "linear2", (EMBED,), (HIDDEN,))
    affine("norm", (EMBED,), ())
    affine("head", (VOCAB,), (EMBED,))
    return {name: parameter(name, shape) for name, shape in shapes.items()}


def char_lm(p, ids):
    """The logits [batch, length, VOCAB]."""
    length = ids.shape[1]
    masked = torch.ones(length, length).triu(1).bool()  # [query, key]

    def norm(path, x):
        return torch.nn.functional.layer_norm(x, (EMBED,), p[path + ".weight"], p[path + ".bias"])

    x = p["tokens.weight"][ids] + p["positions.weight"][:length]
    for i in range(LAYERS):
        path = f"layers.{i}."
        y = norm(path + "norm1", x)
        q, k, v = (
            torch.einsum("bpe,hde->bphd", y, p[f"{path}attention.{role}.weight"])
            + p[f"{path}attention.{role}.bias"]
            for role in ("query", "key", "value")
        )
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(HEAD_DIM)
        weights = scores.masked_fill(masked, -math.inf).softmax(-1)
        mixed = torch.einsum("bhqk,bkhd->bqhd", weights, v)
        out = torch.einsum("bphd,ehd->bpe", mixed, p[path + "attention.out.weight"])
        x = x + out + p[path + "attention.out.bias"]
        y = norm(path + "norm2", x) @ p[path + "linear1.weight"].T + p[path + "linear1.bias"]
        y = torch.nn.functional.gelu(y) @ p[path + "linear2.weight"].T + p[path + "linear2.bias"]
        x = x + y
    return norm("norm", x) @ p["head.weight"].T + p["head.bias"]


def train_char_lm(dtype):
    """Losses and norms of the gradient (before clipping) of each step; the parameters after."""
    batch, length, steps = 4, 32, 10
    p = {name: t.to(dtype).requires_grad_() for name, t in char_lm_parameters().items()}
    optimizer = torch.optim.AdamW(
        p.values(), lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01
    )
    losses, norms = [], []
    for step in range(steps):
        ids = tokens(step, batch, length + 1)
        logits = char_lm(p, ids[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(p.values(), 1.0).item())
        losses.append(loss.item())
        optimizer.step()
    return losses, norms, p


def char_lm_file():
    losses, norms, p = train_char_lm(torch.float64)
    single_losses, single_norms, single_p = train_char_lm(torch.float32)
    tensors = {
        "output.losses": f64(losses),
        "output.gradient_norms": f64(norms),
        # PyTorch's own in float32: how far rounding alone takes a training.
        "float32.losses": f64(single_losses),
        "float32.gradient_norms": f64(single_norms),
    }
    largest = 0
    for name in p:
        # The sum, and the sum of squares, after the last step.
        for prefix, t in (("output.", p[name]), ("float32.", single_p[name])):
            t = t.detach().double()
            tensors[prefix + "sums." + name] = f64([t.sum().item(), t.square().sum().item()])
        largest = max(largest, (p[name] - single_p[name].double()).abs().max().item())
    print("char_lm: losses ", *(f"{x:.9f}" for x in losses))
    print("char_lm: float32", *(f"{x:.9f}" for x in single_losses))
    print("char_lm: norms  ", *(f"{x:.9f}" for x in norms))
    print("char_lm: float32", *(f"{x:.9f}" for x in single_norms))
    print("char_lm: a float32 parameter differs by at most", largest)
    return tensors


# --- Optimizers ---------------------------------------------------------------------------------


def optimizers():
    """"parameters", "gradients" [5, 37], and for each optimizer NAME the parameters after each
    step, "NAME.parameters" [5, 37]."""
    torch.manual_seed(2)
    start, gradients = torch.randn(37), torch.randn(5, 37)
    gradients[:, 3] = 0  # a parameter that nothing depends on
    tensors = {"parameters": f32(start), "gradients": f32(gradients)}
    sgd = dict(lr=0.05, momentum=0.9, weight_decay=0.01)
    made = {
        "sgd": lambda p: torch.optim.SGD(p, **sgd),
        "sgd_nesterov": lambda p: torch.optim.SGD(p, **sgd, nesterov=True),
        "sgd_plain": lambda p: torch.optim.SGD(p, lr=0.05),
        "adamw": lambda p: torch.optim.AdamW(
            p, lr=0.01, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01
        ),
    }
    for name, make in made.items():
        p = start.clone().requires_grad_()
        optimizer = make([p])
        after = []
        for g in gradients:
            p.grad = g.clone()
            optimizer.step()
            after.append(p.detach().clone())
        tensors[name + ".parameters"] = f32(torch.stack(after))
    return tensors


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    save(folder / "encoder_layer.safetensors", encoder_layer())
    save(folder / "char_lm.safetensors", char_lm_file())
    save(folder / "optimizer.safetensors", optimizers())
