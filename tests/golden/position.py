"""An encoder layer with each encoding of positions that attention itself takes part in, in plain
PyTorch from the papers, with every pair of a query and a key written out: n² vectors where the
paper has them."""

import math

import torch

from golden import i32
from layers import case, normal, with_random_parameters

BATCH, POS, EMBED, HEADS, SIZE, HIDDEN = 2, 6, 5, 3, 4, 3
MOST = 2  # of Shaw's and Transformer-XL's distances


def clipped(most):
    """[query, key]: j - i, from 0 for -most."""
    at = torch.arange(POS)
    return (at[None, :] - at[:, None]).clamp(-most, most) + most


class Encoding(torch.nn.Module):
    """None. Queries, keys and values are [batch, position, head, size]."""

    def query(self, q):
        return q

    def key(self, k):
        return k

    def scores(self, q):
        return 0

    def values(self, weights):
        return 0


class Rotary(Encoding):
    """Su et al. 2021, equation 34, as a product of complex numbers: of neighbours, or of halves."""

    def __init__(self, halves, learned=False):
        super().__init__()
        frequency = 10000 ** (-torch.arange(SIZE // 2).double() * 2 / SIZE)
        if learned:
            self.frequency = torch.nn.Parameter(torch.empty(SIZE // 2))
        else:
            self.register_buffer("frequency", frequency)
        self.halves = halves

    def query(self, q):
        angle = torch.arange(POS)[:, None, None] * self.frequency
        turn = torch.complex(angle.cos(), angle.sin())
        if self.halves:
            first, second = q.chunk(2, -1)
            z = torch.complex(first, second) * turn
            return torch.cat([z.real, z.imag], -1)
        z = torch.complex(q[..., ::2], q[..., 1::2]) * turn
        return torch.view_as_real(z).flatten(-2)

    key = query


class Shaw(Encoding):
    """Shaw et al. 2018, equations 3 and 4."""

    def __init__(self, values):
        super().__init__()
        self.keys = torch.nn.Parameter(torch.empty(2 * MOST + 1, SIZE))
        if values:
            self.values_ = torch.nn.Parameter(torch.empty(2 * MOST + 1, SIZE))

    def scores(self, q):
        return torch.einsum("bihd,ijd->bihj", q, self.keys[clipped(MOST)]) / SIZE**0.5

    def values(self, weights):
        if not hasattr(self, "values_"):
            return 0
        return torch.einsum("bihj,ijd->bihd", weights, self.values_[clipped(MOST)])


class TransformerXL(Encoding):
    """Dai et al. 2019, section 3.3: terms (a) to (d) of the scores."""

    def __init__(self):
        super().__init__()
        self.u = torch.nn.Parameter(torch.empty(HEADS, SIZE))
        self.v = torch.nn.Parameter(torch.empty(HEADS, SIZE))
        self.weight = torch.nn.Parameter(torch.empty(HEADS * SIZE, HEADS * SIZE))

    def query(self, q):
        return q + self.u

    def scores(self, q):
        at = torch.arange(POS)
        distance = (at[:, None] - at[None, :]).double()
        pair = torch.arange(HEADS * SIZE // 2).double()
        angle = distance[..., None] * 10000 ** (-2 * pair / (HEADS * SIZE))
        r = torch.stack([angle.sin(), angle.cos()], -1).flatten(-2)
        r = (r @ self.weight.T).unflatten(-1, (HEADS, SIZE))
        return torch.einsum("bihd,ijhd->bihj", q + self.v, r) / SIZE**0.5


def t5_bucket(distance, causal, buckets, most):
    """Raffel et al. 2020, section 2.1; the formula in float32, as it is released."""
    result = torch.zeros_like(distance)
    if not causal:
        buckets //= 2
        result = result + (distance > 0) * buckets
        distance = distance.abs()
    else:
        distance = (-distance).clamp(min=0)
    exact = buckets // 2
    ratio = torch.log(distance.float() / exact) / math.log(most / exact)
    large = (exact + (ratio * (buckets - exact)).clamp(min=0).long()).clamp(max=buckets - 1)
    return result + torch.where(distance < exact, distance, large)


class T5(Encoding):
    def __init__(self, causal):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(8, HEADS))
        self.causal = causal

    def scores(self, q):
        at = torch.arange(POS)
        bucket = t5_bucket(at[None, :] - at[:, None], self.causal, 8, 5)
        return self.weight[bucket].transpose(1, 2)


def slopes(heads):
    """Press et al. 2022, section 3, and for other numbers than powers of two their code's rule."""
    if heads & (heads - 1) == 0:
        return [2 ** (-8 * (h + 1) / heads) for h in range(heads)]
    lower = 2 ** int(math.log2(heads))
    return slopes(lower) + slopes(2 * lower)[::2][: heads - lower]


class Alibi(Encoding):
    def __init__(self, learned):
        super().__init__()
        if learned:
            self.gain = torch.nn.Parameter(torch.empty(HEADS))

    def scores(self, q):
        at = torch.arange(POS)
        distance = (at[None, :] - at[:, None]).abs()
        m = torch.tensor(slopes(HEADS)).double() * getattr(self, "gain", 1)
        return -m[None, :, None] * distance[:, None, :]


class Xpos(Encoding):
    """Sun et al. 2023, algorithm 1, with halves as pairs."""

    def turned(self, x, sign):
        at = torch.arange(POS).double()[:, None, None]
        j = torch.arange(SIZE // 2).double()
        angle = at * 10000 ** (-2 * j / SIZE)
        zeta = (2 * j / SIZE + 0.4) / 1.4
        turn = torch.polar(zeta ** (sign * at / 512), angle)
        z = torch.complex(*x.chunk(2, -1)) * turn
        return torch.cat([z.real, z.imag], -1)

    def query(self, q):
        return self.turned(q, 1)

    def key(self, k):
        return self.turned(k, -1)


class Fire(Encoding):
    """Li et al. 2024, equation 10, with |i - j|."""

    def __init__(self):
        super().__init__()
        self.c = torch.nn.Parameter(torch.empty(()))
        self.L_multiplier = torch.nn.Parameter(torch.empty(()))
        self.mlp = torch.nn.Sequential(
            torch.nn.Linear(1, 7), torch.nn.ReLU(), torch.nn.Linear(7, HEADS, bias=False))

    def scores(self, q):
        at = torch.arange(POS).double()
        psi = lambda x: torch.log((self.c * x).abs() + 1)
        longest = torch.maximum(at, (self.L_multiplier * 3).abs())
        normalised = psi(at[None, :] - at[:, None]) / (psi(longest)[:, None] + 1e-6)
        return self.mlp(normalised[..., None]).transpose(1, 2)


class Cope(Encoding):
    """Golovneva et al. 2024, equations 3 to 5."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Parameter(torch.empty(SIZE, 3))

    def scores(self, q):
        gates = torch.einsum("bihd,bjhd->bihj", q, self.k) / SIZE**0.5
        seen = torch.arange(POS)[None, :] <= torch.arange(POS)[:, None]
        gates = gates.sigmoid() * seen[:, None, :]
        place = gates.flip(-1).cumsum(-1).flip(-1).clamp(max=2)
        low, high = place.floor().long(), place.ceil().long()
        logits = q @ self.embedding
        share = place - low
        return logits.gather(-1, high) * share + logits.gather(-1, low) * (1 - share)


class Forgetting(Encoding):
    """Lin et al. 2025, equation 6, with -|c_i - c_j|."""

    def __init__(self):
        super().__init__()
        self.fgate_proj = torch.nn.Linear(EMBED, HEADS)

    def scores(self, q):
        c = torch.nn.functional.logsigmoid(self.fgate_proj(self.source)).cumsum(1)
        return -(c[:, :, None, :] - c[:, None, :, :]).abs().transpose(2, 3)


class Attention(torch.nn.Module):
    def __init__(self, position):
        super().__init__()
        self.in_proj_weight = torch.nn.Parameter(torch.empty(3 * HEADS * SIZE, EMBED))
        self.in_proj_bias = torch.nn.Parameter(torch.empty(3 * HEADS * SIZE))
        self.out_proj = torch.nn.Linear(HEADS * SIZE, EMBED)
        self.position = position

    def forward(self, x):
        qkv = x @ self.in_proj_weight.T + self.in_proj_bias
        q, k, v = (t.unflatten(-1, (HEADS, SIZE)) for t in qkv.chunk(3, -1))
        self.position.source, self.position.k = x, k
        products = torch.einsum("bihd,bjhd->bihj", self.position.query(q), self.position.key(k))
        weights = (products / SIZE**0.5 + self.position.scores(q)).softmax(-1)
        y = torch.einsum("bihj,bjhd->bihd", weights, v) + self.position.values(weights)
        return self.out_proj(y.flatten(-2))


class Layer(torch.nn.Module):
    """torch.nn.TransformerEncoderLayer, normalised after each sum."""

    def __init__(self, position):
        super().__init__()
        self.self_attn = Attention(position)
        self.linear1 = torch.nn.Linear(EMBED, HIDDEN)
        self.linear2 = torch.nn.Linear(HIDDEN, EMBED)
        self.norm1 = torch.nn.LayerNorm(EMBED)
        self.norm2 = torch.nn.LayerNorm(EMBED)

    def forward(self, x):
        x = self.norm1(x + self.self_attn(x))
        return {"y": self.norm2(x + self.linear2(self.linear1(x).relu()))}


def position():
    torch.manual_seed(17)
    tensors = {}
    encodings = {
        "rotary_halves": Rotary(True), "rotary_neighbours": Rotary(False),
        "learned_rotary": Rotary(True, learned=True), "shaw_keys": Shaw(False), "shaw": Shaw(True),
        "transformer_xl": TransformerXL(), "t5": T5(False), "t5_causal": T5(True),
        "alibi": Alibi(False), "learned_alibi": Alibi(True),
        "xpos": Xpos(), "fire": Fire(), "cope": Cope(), "forgetting": Forgetting(),
    }
    for name, encoding in encodings.items():
        layer = with_random_parameters(Layer(encoding))
        of_case = case(layer, {"x": normal(BATCH, POS, EMBED)}, {}, layer)
        # An attribute and a method cannot have the same name.
        tensors |= {f"{name}.{key.replace('values_', 'values')}": t for key, t in of_case.items()}
    distance = torch.arange(-200, 201)
    tensors["buckets"] = i32(t5_bucket(distance, False, 32, 128))
    tensors["causal_buckets"] = i32(t5_bucket(distance, True, 32, 128))
    return tensors
