"""The attention chapter's classes in plain PyTorch (Zhang et al., Dive into Deep Learning, chapter
11), for valid lengths, and the kernels of its regression."""

import math

import torch

from golden import f32, f64, i32, parameter
from layers import case, normal, with_random_parameters


def masked_softmax(scores, lengths):
    """lengths [batch] or [batch, queries]; -1e6, as the book has it, gives the others no weight
    where a length is at least 1. Rows of length 0 are made zeros, as weft has them."""
    if lengths.dim() == 1:
        lengths = lengths[:, None]
    hidden = torch.arange(scores.shape[-1]) >= lengths[..., None]
    weights = scores.masked_fill(hidden, -1e6).softmax(-1)
    return weights * (lengths > 0)[..., None]


class DotProductAttention(torch.nn.Module):
    def forward(self, queries, keys, values, lengths):
        scores = queries @ keys.transpose(1, 2) / math.sqrt(queries.shape[-1])
        weights = masked_softmax(scores, lengths)
        return weights @ values, weights


class AdditiveAttention(torch.nn.Module):
    def __init__(self, query_size, key_size, hidden):
        super().__init__()
        self.W_q = torch.nn.Linear(query_size, hidden, bias=False)
        self.W_k = torch.nn.Linear(key_size, hidden, bias=False)
        self.w_v = torch.nn.Linear(hidden, 1, bias=False)

    def forward(self, queries, keys, values, lengths):
        features = self.W_q(queries)[:, :, None] + self.W_k(keys)[:, None]
        weights = masked_softmax(self.w_v(features.tanh()).squeeze(-1), lengths)
        return weights @ values, weights


class BilinearAttention(torch.nn.Module):
    def __init__(self, query_size, key_size):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(query_size, key_size))

    def forward(self, queries, keys, values, lengths):
        weights = masked_softmax(queries @ self.weight @ keys.transpose(1, 2), lengths)
        return weights @ values, weights


class GaussianAttention(torch.nn.Module):
    """Nadaraya–Watson regression with a width that is learned."""

    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.empty(()))

    def forward(self, queries, keys, values, lengths):
        distances = (queries[:, :, None] - keys[:, None]) * self.w
        weights = masked_softmax(-distances.square().sum(-1) / 2, lengths)
        return weights @ values, weights


class MultiHeadAttention(torch.nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.W_q, self.W_k, self.W_v, self.W_o = (
            torch.nn.Linear(hidden, hidden, bias=False) for _ in range(4)
        )
        self.attention = DotProductAttention()

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2).flatten(0, 1)

    def forward(self, queries, keys, values, lengths):
        q, k, v = (
            self.split(w(x))
            for w, x in ((self.W_q, queries), (self.W_k, keys), (self.W_v, values))
        )
        y, _ = self.attention(q, k, v, lengths.repeat_interleave(self.heads, 0))
        return self.W_o(y.unflatten(0, (-1, self.heads)).transpose(1, 2).flatten(2))


def textbook():
    torch.manual_seed(6)
    cases = {}

    class Softmax(torch.nn.Module):
        def forward(self, scores, lengths):
            return {"y": masked_softmax(scores, lengths)}

    for name, lengths in (
        ("softmax", [2, 3]),
        ("softmax_of_queries", [[1, 3], [2, 4]]),
        ("softmax_of_none", [[0, 3], [4, 0]]),
    ):
        cases[name] = case(
            Softmax(), {"scores": normal(2, 2, 4)}, {"lengths": i32(lengths)},
            lambda scores: Softmax()(scores, torch.tensor(lengths)),
        )

    lengths = torch.tensor([2, 6])

    def scored(layer, query_size, key_size):
        with_random_parameters(layer)
        given = {
            "query": normal(2, 3, query_size),
            "key": normal(2, 10, key_size),
            "value": normal(2, 10, 4),
        }

        def compute(query, key, value):
            y, weights = layer(query, key, value, lengths)
            return {"y": y, "weights": weights}

        return case(layer, given, {"lengths": i32(lengths)}, compute)

    cases["dot_product"] = scored(DotProductAttention(), 2, 2)
    cases["additive"] = scored(AdditiveAttention(20, 2, 8), 20, 2)
    cases["bilinear"] = scored(BilinearAttention(5, 3), 5, 3)
    cases["gaussian"] = scored(GaussianAttention(), 2, 2)

    cases["bmm"] = case(
        torch.nn.Identity(), {"x": normal(2, 3, 4), "y": normal(2, 4, 6)}, {},
        lambda x, y: {"product": torch.bmm(x, y)},
    )
    return {f"{c}.{name}": t for c, tensors in cases.items() for name, t in tensors.items()}


def textbook_multi_head():
    """100 hidden units, 5 heads, valid lengths 3 and 2. Parameters and x are by the closed formula;
    of a parameter's gradient the file has the sum and the sum of squares. "ones" is the book's own
    call."""
    torch.manual_seed(7)
    lengths = torch.tensor([3, 2])
    layer = MultiHeadAttention(100, 5).double()
    rows = parameter("in_proj_weight", (300, 100)).double().chunk(3)
    with torch.no_grad():
        for linear, weight in zip((layer.W_q, layer.W_k, layer.W_v), rows):
            linear.weight.copy_(weight)
        layer.W_o.weight.copy_(parameter("out_proj.weight", (100, 100)).double())
    x = (parameter("x", (2, 4, 100)).double() * 16).requires_grad_()
    y = layer(x, x, x, lengths)
    cotangent = normal(2, 4, 100)
    loss = (y * cotangent).sum()
    loss.backward()
    ones = torch.ones(2, 4, 100).double()
    stacked = torch.cat([w.weight.grad for w in (layer.W_q, layer.W_k, layer.W_v)])
    tensors = {
        "input.lengths": i32(lengths),
        "input.cotangent": f32(cotangent),
        "output.y": f32(y),
        "output.loss": f64(loss.item()),
        "output.ones": f32(layer(ones, ones, ones, lengths)),
        "grad.x": f32(x.grad),
    }
    for name, g in ("in_proj_weight", stacked), ("out_proj.weight", layer.W_o.weight.grad):
        tensors["sums." + name] = f64([g.sum().item(), g.square().sum().item()])
    return tensors
