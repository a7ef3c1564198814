"""Ten training steps of examples/char_lm with two layers."""

import math

import torch

from golden import f64, parameter, tokens

VOCAB, POS, EMBED, HEADS, HEAD_DIM, HIDDEN, LAYERS = 256, 128, 128, 4, 32, 512, 2


def char_lm_parameters():
    shapes = {"tokens.weight": (VOCAB, EMBED), "positions.weight": (POS, EMBED)}

    def affine(path, out, into):
        shapes[path + ".weight"] = (*out, *into)
        shapes[path + ".bias"] = out

    for i in range(LAYERS):
        path = f"layers.{i}."
        affine(path + "norm1", (EMBED,), ())
        shapes[path + "self_attn.in_proj_weight"] = (3 * EMBED, EMBED)
        shapes[path + "self_attn.in_proj_bias"] = (3 * EMBED,)
        affine(path + "self_attn.out_proj", (EMBED,), (EMBED,))
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
        qkv = y @ p[path + "self_attn.in_proj_weight"].T + p[path + "self_attn.in_proj_bias"]
        q, k, v = (t.unflatten(-1, (HEADS, HEAD_DIM)) for t in qkv.chunk(3, -1))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(HEAD_DIM)
        weights = scores.masked_fill(masked, -math.inf).softmax(-1)
        mixed = torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2)
        out = mixed @ p[path + "self_attn.out_proj.weight"].T
        x = x + out + p[path + "self_attn.out_proj.bias"]
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
