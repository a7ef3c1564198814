"""Random models of streams: as text of the DSL, and as an evaluation of the whole signal in numpy.

A model is a convolution with a stride, then attention within a window (but for every third model),
recurrences, convolutions and poolings in any order. The evaluation is float64 and has neither frames nor states.
"""

import random
from types import SimpleNamespace

import numpy as np
from graphs import EPSILON, Noise, Rejected, sigmoid
from generate import numbers, tolerances

ACTIVATIONS = {"tanh": np.tanh, "sigmoid": sigmoid, "silu": lambda x: x * sigmoid(x)}


def product(noise, form, a, b):
    """einsum, with errors relative to the sum of the products' sizes."""
    y = np.einsum(form, a, b)
    if noise.rng is not None:
        size = np.einsum(form, np.abs(a), np.abs(b))
        y = y + 2 * EPSILON * size * noise.rng.uniform(-1, 1, y.shape)
    return y


def padded(x, left, outside):
    """x [batch, positions, …] after `left` elements that are outside."""
    at = [np.zeros_like(x[:, :1])] * left
    if outside == "replicated":
        at = [x[:, :1]] * left
    if outside == "reflected":
        at = [x[:, m:m + 1] for m in range(left, 0, -1)]
    return np.concatenate(at + [x], 1)


class Stream:
    def __init__(self, number, seed):
        self.name, self.seed = f"stream_{number}", seed
        self.random, self.rng = random.Random(seed), np.random.default_rng(seed)
        pick = self.random.randint
        self.batch, self.most, self.positions = pick(1, 3), pick(2, 6), pick(20, 34)
        self.parameters, self.steps, self.lines, self.axes, self.first = {}, [], [], [], 1
        self.width = pick(1, 4)
        self.axis("In", self.width)
        self.convolution("Samples", self.random.choice([1, 1, 2, 3]))
        shape = (self.batch, self.positions * self.stride, self.width_in)
        self.x = self.rng.uniform(-1, 1, shape).astype(np.float32).astype(np.float64)
        kinds = [lambda: self.recurrence("gru", 3), lambda: self.recurrence("lstm", 4),
                 lambda: self.convolution("Pos"), self.pooling]
        self.attends = number % 3 != 1
        layers = self.random.sample(kinds + [self.attention] * self.attends, pick(1, 3))
        layers += [self.attention] * self.attends
        self.random.shuffle(layers)
        for layer in layers:
            layer()
        self.most = max(self.most, self.first)
        self.clean, found = tolerances(self, [SimpleNamespace(kind="float", index=0)], seed)
        self.tolerance = found[0]

    # What layers consist of.

    def axis(self, name, extent):
        self.axes.append(f"struct {name} : weft::axis<{extent}> {{}};")
        return name

    def next(self, width):
        """The number of this layer and its axis, before and after."""
        n = len(self.steps)
        before, after = f"E{n - 1}" if n else "In", self.axis(f"E{n}", width)
        return n, before, after

    def parameter(self, name, *shape):
        fan = int(np.prod(shape[1:])) or 1
        self.parameters[name] = np.float32(self.rng.uniform(-1, 1, shape) * (1.5 / fan**0.5))
        return self.parameters[name]

    def add(self, text, run, width):
        """`run(noise, x)`; then perhaps an activation."""
        n, act = len(self.steps), self.random.choice([None, None, *ACTIVATIONS])
        self.lines.append(f"const auto v{n + 1} = {act + '(' if act else ''}{text}{')' if act else ''};")
        self.steps.append(lambda noise, x: noise((ACTIVATIONS.get(act) or (lambda y: y))(run(noise, x))))
        self.width = width

    def window(self, taps, stride=1):
        """That of a causal window, as text, and the number of elements that are outside."""
        dilation = self.random.choice([1, 1, 2, 3])
        taps = max(taps, stride)
        outside = self.random.choice(["zeros", "zeros", "replicated", "reflected"])
        left = dilation * (taps - 1) + 1 - stride
        if stride > 1 and left == 0:
            taps, left = taps + 1, left + dilation
        if outside == "reflected" and left > 0:
            self.first = max(self.first, left // stride + 1)
        text = (f"nn::causal_window({taps}, {{.stride = {stride}, .dilation = {dilation}, "
                f".outside = padding_mode::{outside}}})")
        def windows(x):
            y = padded(x, left, outside)
            count = x.shape[1] // stride
            return np.stack([y[:, dilation * t:][:, :stride * count:stride][:, :count]
                             for t in range(taps)], 1)  # [batch, tap, position, channel]
        return taps, text, windows

    # Layers.

    def convolution(self, along, stride=1):
        before, out = self.width, self.random.randint(1, 7)
        n, From, To = self.next(out)
        taps, text, windows = self.window(self.random.randint(1, 4), stride)
        if n == 0:
            self.stride, self.width_in = stride, before
            self.pos = f"weft::nn::convolved<Samples, {taps}, W0>"
        self.axes.append(f"constexpr auto W{n} = [] {{ using namespace weft; return {text}; }}();")
        bias = self.random.random() < 0.7
        w = self.parameter(f"l{n}.weight", out, before, taps)
        b = self.parameter(f"l{n}.bias", out) if bias else np.zeros(out)
        self.add(f"nn::streamed_convolution<{From}, {To}, nn::along<{along}, {taps}, W{n}>>("
                 f"s / \"l{n}\", v{n}, {{.bias = {'true' if bias else 'false'}}})",
                 lambda noise, x: noise(product(noise, "btpi,oit->bpo", windows(x), w) + b), out)

    def pooling(self):
        n, before, _ = self.next(self.width)
        self.axes.pop()
        self.axes.append(f"using E{n} = {before};")
        taps, text, windows = self.window(self.random.randint(2, 4))
        self.axes.append(f"constexpr auto W{n} = [] {{ using namespace weft; return {text}; }}();")
        self.axis(f"T{n}", taps)
        kind = self.random.choice(["max", "mean"])
        self.add(f"{kind}<T{n}>(nn::streamed_windows<Pos, Pos, T{n}, W{n}>(s / \"l{n}\", v{n}))",
                 lambda noise, x: noise(getattr(np, kind)(windows(x), axis=1)), self.width)

    def recurrence(self, kind, gates):
        before, hidden = self.width, self.random.randint(1, 6)
        n, From, To = self.next(hidden)
        of = {name: self.parameter(f"l{n}.{name}_l0", gates * hidden, *more) for name, more in
              (("weight_ih", (before,)), ("weight_hh", (hidden,)), ("bias_ih", ()), ("bias_hh", ()))}
        def run(noise, x):
            h = c = np.zeros((x.shape[0], hidden))
            all = []
            for p in range(x.shape[1]):
                i = noise(product(noise, "bi,oi->bo", x[:, p], of["weight_ih"]) + of["bias_ih"])
                r = noise(product(noise, "bi,oi->bo", h, of["weight_hh"]) + of["bias_hh"])
                i, r = np.split(i, gates, 1), np.split(r, gates, 1)
                if kind == "gru":
                    z = noise(sigmoid(i[1] + r[1]))
                    h = noise((1 - z) * np.tanh(i[2] + noise(sigmoid(i[0] + r[0])) * r[2]) + z * h)
                else:
                    a, f, g, o = (noise((np.tanh if k == 2 else sigmoid)(i[k] + r[k]))
                                  for k in range(4))
                    c = noise(f * c + a * g)
                    h = noise(o * np.tanh(c))
                all.append(h)
            return np.stack(all, 1)
        self.add(f"nn::streamed_{kind}<Pos, {From}, {To}>(s / \"l{n}\", v{n}).all", run, hidden)

    def attention(self):
        pick = self.random.randint
        before, heads, depth, out = self.width, pick(1, 3), pick(1, 5), pick(1, 6)
        n, From, To = self.next(out)
        window, sinks = pick(1, 9), self.random.choice([0, 0, 1, 2])
        H, D = self.axis(f"H{n}", heads), self.axis(f"D{n}", depth)
        self.axes.append(f"struct R{n} : weft::nn::rolling<Pos, {window}, {sinks}> {{}};")
        self.lines.append(f"const auto at{n} = nn::rolling_state<R{n}, Batch>(s / \"at{n}\");")
        w = {}
        for name in "qkw":  # w: values
            w[name] = (self.parameter(f"l{n}.{name}.weight", heads, depth, before),
                       self.parameter(f"l{n}.{name}.bias", heads, depth))
            self.lines.append(f"const auto {name}{n} = nn::linear<{From}, shape<{H}, {D}>>("
                              f"s / \"l{n}\" / \"{name}\", v{n});")
        o = self.parameter(f"o{n}", heads, depth, out)
        self.lines.append(f"const auto past{n} = nn::rolling_cache<R{n}>(s / \"c{n}\", at{n}, k{n}, "
                          f"w{n});")
        def run(noise, x):
            q, k, v = (noise(product(noise, "bpi,hdi->bphd", x, w[c][0]) + w[c][1]) for c in "qkw")
            scores = product(noise, "bphd,bkhd->bphk", q, k) / depth**0.5
            p = np.arange(x.shape[1])
            ahead = p[None, :] - p[:, None]
            seen = (ahead <= 0) & ((ahead > -window) | (p[None, :] < sinks))
            e = np.where(seen[None, :, None, :], scores, -np.inf)
            e = noise(np.exp(e - e.max(-1, keepdims=True)), 8)
            weights = noise(e / e.sum(-1, keepdims=True))
            return product(noise, "bphd,hdo->bpo", product(noise, "bphk,bkhd->bphd", weights, v), o)
        self.add(f"dot<{H}, {D}>(dot<R{n}>(nn::attention_weights<{D}, R{n}>(q{n}, past{n}.keys, "
                 f"past{n}.visible), past{n}.values), s.param<\"o{n}\", {H}, {D}, {To}>(init::zeros()))",
                 run, out)

    # As generate.py's models.

    def evaluate(self, noise):
        x = self.x
        for step in self.steps:
            x = step(noise, x)
        return {0: x}

    def model_text(self):
        out = f"E{len(self.steps) - 1}"
        pos = self.axes.index(next(a for a in self.axes if a.startswith("constexpr auto W0"))) + 1
        axes = self.axes[:pos] + [f"using Pos = {self.pos};"] + self.axes[pos:]
        return "\n".join(
            [f"namespace {self.name} {{", f"// Seed {self.seed}.",
             f"struct Batch : weft::axis<{self.batch}> {{}};",
             f"struct Samples : weft::axis<weft::up_to<{self.stride * self.most}>> {{}};", *axes,
             "struct model {", f"  static constexpr std::size_t batch = {self.batch}, width = {self.width_in}, "
             f"stride = {self.stride}, most = {self.most}, first = {self.first}, "
             f"positions = {self.positions};",
             f"  static constexpr bool attends = {'true' if self.attends else 'false'};",
             "  using input = weft::array<float, Batch, Samples, In>;",
             "  constexpr auto operator()(weft::scope s) const {", "    using namespace weft;",
             "    const auto v0 = s.input<\"x\", float, Batch, Samples, In>();",
             *[f"    {line}" for line in self.lines],
             f"    return broadcast<Batch, Pos, {out}>(v{len(self.steps)});", "  }", "};", "}"])

    def test_text(self):
        return (f"BOOST_AUTO_TEST_CASE(random_{self.name}) {{\n  weft::testing::check_stream<{self.name}::model>("
                f"WEFT_RANDOM_NUMBERS, \"{self.name}\");\n}}")

    def numbers_text(self):
        rows = [("x", self.x), *self.parameters.items(), ("result", self.clean[0]),
                ("tolerance", self.tolerance)]
        return "\n".join([f"model {self.name}",
                          *[f"{name} {np.size(x)} {numbers(x)}" for name, x in rows], "end"])


def stream_of(seed, number):
    """The first stream of this number whose values are no matter of rounding."""
    for attempt in range(50):
        try:
            return Stream(number, seed * 10**9 + number * 1000 + attempt)
        except Rejected:
            continue
    raise RuntimeError(f"no stream for seed {seed}, number {number}")
