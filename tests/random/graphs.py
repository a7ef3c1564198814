"""Random models: well-formed graphs from a seed, as text of the DSL and as an evaluation in numpy.

The evaluation is float64 and shares no code with weft. A graph grows out of motifs, pieces that
weft's passes recognize (a normalization with a gain, attention under a mask, a contraction with its
epilogue, ...) and near misses of them, joined by elementwise operations over existing values.
"""

import math
import random

import numpy as np

EPSILON = 2.0**-24  # half a unit in the last place of float32


# The random state of dropouts, as in random_model.cpp; both are beyond 32 bits.
DROPOUT_SEED, DROPOUT_STEP = 0x9E3779B97F4A7C15, 0x100000003


def philox(counter, key):
    """Philox4x32-10 (Salmon et al. 2011, section 4.3) of counters [4, n] under one key."""
    word = np.uint64(0xFFFFFFFF)
    c = [np.asarray(x, dtype=np.uint64) & word for x in np.broadcast_arrays(*counter)]
    k0, k1 = key
    for _ in range(10):
        p0, p1 = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(p1 >> np.uint64(32)) ^ c[1] ^ np.uint64(k0), p1 & word,
             (p0 >> np.uint64(32)) ^ c[3] ^ np.uint64(k1), p0 & word]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack(c)


def random_bits(which, places):
    """32 bits for each element id of dropout `which`; four consecutive ids share a counter."""
    low = lambda x: x & 0xFFFFFFFF
    four = philox([places // 4, which, low(DROPOUT_STEP), DROPOUT_STEP >> 32],
                  [low(DROPOUT_SEED), DROPOUT_SEED >> 32])
    return np.take_along_axis(four, (places % 4)[None], 0)[0]


class Rejected(Exception):
    """The graph tests nothing in float32: it is out of range, or an element depends on rounding."""


class Axis:
    def __init__(self, name, extent, bounded=False, length=None, base=None):
        self.name, self.extent, self.bounded, self.base = name, extent, bounded, base
        self.length = extent if length is None else length
        self.follows = base is not None  # its length follows from those of other axes

    def declaration(self):
        if self.base:
            return f"struct {self.name} : weft::alias<{self.base}> {{}};"
        size = f"weft::up_to<{self.extent}>" if self.bounded else str(self.extent)
        return f"struct {self.name} : weft::axis<{size}> {{}};"


class Value:
    """A node. `run(noise, *operands)` returns its array, whose dimensions are `axes`."""

    def __init__(self, index, kind, axes, text, operands, run, in_graph=True):
        self.index, self.kind, self.axes, self.text = index, kind, tuple(axes), text
        self.operands, self.run, self.in_graph = operands, run, in_graph
        self.clean, self.kinks, self.drops = None, None, False

    def stay_off_kinks(self, arrays):
        for distance in self.kinks(*arrays) if self.kinks is not None else []:
            if distance.size and np.min(np.abs(distance)) < 1e-4:
                raise Rejected("kink")

    @property
    def name(self):
        return f"v{self.index}"


class Noise:
    """Errors like those of float32: relative, random, of a few epsilon; or none."""

    def __init__(self, rng=None):
        self.rng = rng

    def __call__(self, x, scale=2.0):
        if self.rng is None or x.dtype != np.float64:
            return x
        return x * (1 + scale * EPSILON * self.rng.uniform(-1, 1, x.shape))


def united(*shapes):
    axes = []
    for shape in shapes:
        axes += [a for a in shape if a not in axes]
    return tuple(axes)


def aligned(x, axes, to):
    """x, whose dimensions are `axes`, in the order of `to`, with extent 1 for axes it lacks."""
    order = sorted(range(len(axes)), key=lambda i: to.index(axes[i]))
    x = np.transpose(x, order)
    shape, i = [], 0
    for a in to:
        if a in axes:
            shape.append(x.shape[i])
            i += 1
        else:
            shape.append(1)
    return x.reshape(shape)


ERF = np.vectorize(math.erf, otypes=[np.float64])


def erf(x):
    return x.erf() if hasattr(x, "erf") else ERF(x)  # a Tracked of autograd.py has one


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# Functions of a float: the text, and the value.
UNARY = {
    "tanh": ("tanh({0})", np.tanh),
    "sigmoid": ("sigmoid({0})", sigmoid),
    "relu": ("relu({0})", lambda x: np.maximum(x, 0)),
    "gelu": ("gelu({0})", lambda x: x * (1 + erf(x / math.sqrt(2))) / 2),
    "gelu_tanh": (
        "gelu_tanh({0})",
        lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    ),
    "silu": ("silu({0})", lambda x: x * sigmoid(x)),
    "erf": ("erf({0})", erf),
    "sin": ("sin({0})", np.sin),
    "cos": ("cos({0})", np.cos),
    "exp": ("exp({0} * 0.25f)", lambda x: np.exp(x * 0.25)),
    "log": ("log({0} * {0} + 0.5f)", lambda x: np.log(x * x + 0.5)),
    "sqrt": ("sqrt({0} * {0} + 0.25f)", lambda x: np.sqrt(x * x + 0.25)),
    "negate": ("-{0}", lambda x: -x),
    "half": ("{0} * 0.5f", lambda x: x * 0.5),
    "less": ("{0} - 0.75f", lambda x: x - 0.75),
    "from": ("1 - {0}", lambda x: 1 - x),
    "quotient": ("1 / ({0} * {0} + 1)", lambda x: 1 / (x * x + 1)),
    "third": ("{0} / 3", lambda x: x / 3),
    "square": ("{0} * {0}", lambda x: x * x),
    "cube": ("pow({0}, 3)", lambda x: x**3),
    "power": ("pow({0} * {0} + 0.5f, {0} * 0.5f)",
              lambda x: np.exp(0.5 * x * np.log(x * x + 0.5))),
}
KINKED = {"relu": 0.0}


class Graph:
    def __init__(self, seed):
        self.seed = seed
        self.random = random.Random(seed)
        self.rng = np.random.default_rng(seed)
        self.values, self.axes = [], {}
        self.inputs, self.parameters, self.states = {}, {}, {}  # name: (value, array)
        self.updates, self.results = [], []
        self.extra = 0
        self.dropping = False  # whether dropout is active, as in training
        self.grow()

    # Axes, nodes, inputs and parameters.

    def axis(self, name, extent, bounded=False, base=None):
        if base:
            b = self.axes[base]
            self.axes[name] = Axis(name, b.extent, b.bounded, b.length, base)
        else:
            length = self.random.choice([0, 1, extent, extent, self.random.randint(1, extent)])
            self.axes[name] = Axis(name, extent, bounded, length if bounded else extent)
        return name

    def new_axis(self, extent, bounded=False, length=None):
        self.extra += 1
        name = f"X{self.extra}"
        self.axes[name] = Axis(name, extent, bounded, length)
        self.axes[name].follows = True
        return name

    def shape(self, axes):
        return tuple(self.axes[a].length for a in axes)

    def add(self, kind, axes, text, operands, run, kinks=None):
        """Appends a node; `kinks(*arrays)` returns values that must not be near 0."""
        if len(axes) > 6 or len(set(axes)) < len(axes):
            raise Rejected("axes")
        in_graph = any(o.in_graph for o in operands)
        v = Value(len(self.values), kind, axes, text, operands, run, in_graph)
        v.kinks = kinks
        arrays = [o.clean for o in operands]
        v.stay_off_kinks(arrays)
        v.clean = run(Noise(), *arrays)
        assert v.clean.shape == self.shape(axes), (text, v.clean.shape, self.shape(axes))
        if v.clean.size and kind == "float":
            if not np.all(np.isfinite(v.clean)) or np.max(np.abs(v.clean)) > 60:
                raise Rejected("range")
        self.values.append(v)
        return v

    def leaf(self, kind, axes, text, array):
        v = Value(len(self.values), kind, axes, text, [], lambda noise: array)
        v.clean = array
        self.values.append(v)
        return v

    def floats(self, axes, scale=1.0):
        return self.numbers(self.shape(axes), scale)

    def numbers(self, shape, scale):
        """Values of float32 as an array, also without axes."""
        return np.array(self.rng.uniform(-1, 1, shape) * scale, np.float32).astype(np.float64)

    def input(self, axes, kind="float", low=None, high=None):
        name = f"i{len(self.inputs)}"
        if kind == "float":
            array, cpp = self.floats(axes), "float"
        elif kind == "bool":
            array, cpp = self.rng.random(self.shape(axes)) < 0.6, "bool"
        else:
            array = self.rng.integers(low, high, self.shape(axes), dtype=np.int64)
            cpp = "std::int32_t"
        listed = "".join(f", {a}" for a in axes)
        v = self.leaf(kind, axes, f's.input<"{name}", {cpp}{listed}>()', array)
        self.inputs[name] = v
        return v

    def with_nan(self, axes):
        """An input with some NaN elements, for comparisons only."""
        v = self.input(axes)
        v.clean[self.rng.random(v.clean.shape) < 0.3] = np.nan
        v.masked = True
        return v

    def compared(self, text, x, f):
        """A boolean of an operand that may be NaN."""
        return self.add("bool", x.axes, text.format(x.name), [x], lambda noise, a: f(a))

    def parameter(self, axes, scale=1.0):
        """A parameter; its array has each axis at its bound."""
        name = f"p{len(self.parameters)}"
        bound = tuple(self.axes[a].extent for a in axes)
        whole = self.parameters[name] = self.numbers(bound, scale)
        cut = tuple(slice(self.axes[a].length) for a in axes)
        listed = "".join(f", {a}" for a in axes)
        v = self.leaf("float", axes, f's.param<"{name}"{listed}>()', whole)
        v.parameter = name
        v.run = lambda noise: self.parameters[name][cut]
        v.clean = v.run(None)
        return v

    # Operations of the DSL.

    def binary(self, symbol, a, b):
        axes = united(a.axes, b.axes)
        lift = lambda x, v: aligned(x, v.axes, axes)
        full = self.shape(axes)
        plain = {"+": np.add, "-": np.subtract, "*": np.multiply}
        compare = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
                   "==": np.equal, "!=": np.not_equal}
        logic = {"&&": np.logical_and, "||": np.logical_or}
        both = lambda f: lambda noise, x, y: np.broadcast_to(f(lift(x, a), lift(y, b)), full)
        gap = lambda x, y: [np.broadcast_to(lift(x, a) - lift(y, b), full)]
        text = f"{a.name} {symbol} {b.name}"
        if symbol in plain:
            f = both(plain[symbol])
            return self.add(a.kind, axes, text, [a, b], lambda noise, x, y: noise(f(noise, x, y)))
        if symbol in compare:
            kinks = gap if a.kind == "float" else None
            return self.add("bool", axes, text, [a, b], both(compare[symbol]), kinks)
        if symbol in logic:
            return self.add("bool", axes, text, [a, b], both(logic[symbol]))
        f = {"maximum": np.maximum, "minimum": np.minimum}[symbol]
        text = f"{symbol}({a.name}, {b.name})"
        return self.add(a.kind, axes, text, [a, b], both(f), gap if a.kind == "float" else None)

    def quotient(self, a, b):
        axes = united(a.axes, b.axes)
        run = lambda noise, x, y: noise(
            aligned(x, a.axes, axes) / (1 + aligned(noise(y * y), b.axes, axes)))
        return self.add("float", axes, f"{a.name} / (1 + {b.name} * {b.name})", [a, b], run)

    def unary(self, name, x):
        text, f = UNARY[name]
        kinks = (lambda a: [a]) if name in KINKED else None
        return self.add("float", x.axes, text.format(x.name), [x],
                        lambda noise, a: noise(f(noise(a, 1))), kinks)

    def where(self, c, a, b):
        """a and b are values, or Python numbers."""
        values = [v for v in (c, a, b) if isinstance(v, Value)]
        choices = [v.axes for v in (a, b) if isinstance(v, Value)]
        axes = united(*choices, c.axes)
        said = [v.name if isinstance(v, Value) else self.number(v) for v in (c, a, b)]

        def run(noise, *arrays):
            arrays = list(arrays)
            parts = [aligned(arrays.pop(0), v.axes, axes) if isinstance(v, Value) else v
                     for v in (c, a, b)]
            return np.broadcast_to(np.where(*parts), self.shape(axes))

        kind = a.kind if isinstance(a, Value) else b.kind
        return self.add_unbounded(kind, axes, f"where({', '.join(said)})", values, run)

    def add_unbounded(self, kind, axes, text, operands, run):
        """Appends a node whose elements may be -infinity, as masked scores are."""
        if len(set(axes)) < len(axes):
            raise Rejected("axes")
        v = Value(len(self.values), kind, axes, text, operands, run,
                  any(o.in_graph for o in operands))
        v.clean = run(Noise(), *[o.clean for o in operands])
        self.values.append(v)
        return v

    @staticmethod
    def number(x):
        return "-weft::infinity" if x == -math.inf else f"{x}f"

    def dropout(self, x, rate):
        """Elements are dropped by id: their row-major index with each axis at its bound."""
        which = sum(v.drops for v in self.values)
        below = int(rate * 2**24 + 0.5)
        extents = tuple(self.axes[a].extent for a in x.axes)
        places = np.arange(math.prod(extents), dtype=np.int64).reshape(extents)
        places = places[tuple(slice(n) for n in self.shape(x.axes))]
        bits = random_bits(which, places.reshape(-1)).reshape(places.shape)
        factor = np.where(bits >> np.uint64(8) < below, 0, 2**24 / (2**24 - below))
        v = self.add("float", x.axes, f"dropout({x.name}, {rate})", [x],
                     lambda noise, a: noise(a * factor) if self.dropping else a)
        v.drops = True
        return v

    def scaled(self, x, by):
        return self.add(x.kind, x.axes, f"{x.name} * {by}f", [x], lambda noise, a: noise(a * by))

    def add_fragment(self, kind, axes, text, operands, run):
        return self.add(kind, axes, text, operands, run)

    tanh = staticmethod(np.tanh)

    def parameter_free_int(self, axes, low, high):
        return self.input(axes, "int", low, high)

    def clamped(self, distance, origin, count):
        text = f"minimum(maximum({distance.name} + {origin}, 0), {count - 1})"
        return self.add("int", distance.axes, text, [distance],
                        lambda noise, a: np.clip(a + origin, 0, count - 1))

    def state(self, axes):
        name = f"s{len(self.states)}"
        listed = "".join(f", {a}" for a in axes)
        v = self.leaf("float", axes, f's.state<"{name}", float{listed}>()', self.floats(axes))
        self.states[name] = v
        return v

    def update(self, state, value):
        if value.axes != state.axes:
            raise Rejected("axes of a state")
        self.updates.append((state, value))

    def mark(self):
        return (len(self.values), len(self.results), len(self.updates), dict(self.inputs),
                dict(self.parameters), dict(self.states), dict(self.axes))

    def back_to(self, mark):
        values, results, updates, self.inputs, self.parameters, self.states, self.axes = mark
        del self.values[values:], self.results[results:], self.updates[updates:]

    def negated(self, c):
        return self.add("bool", c.axes, f"!{c.name}", [c], lambda noise, a: ~a)

    def cast(self, to, x):
        cpp = {"float": "float", "int": "std::int32_t", "bool": "bool"}[to]
        run = {
            "float": lambda noise, a: a.astype(np.float64),
            "int": lambda noise, a: np.trunc(a).astype(np.int64),
            "bool": lambda noise, a: a != 0,
        }[to]
        kinks = None
        if x.kind == "float":
            kinks = lambda a: [a - np.round(a)] if to == "int" else [a]
        return self.add(to, x.axes, f"weft::cast<{cpp}>({x.name})", [x], run, kinks)

    def dims(self, x, over):
        return tuple(x.axes.index(a) for a in over)

    def reduce(self, kind, x, over):
        axes = tuple(a for a in x.axes if a not in over)
        dims = self.dims(x, over)
        kinks = None
        if kind == "sum":
            run = lambda noise, a: noise(np.sum(noise(a), dims))
        elif kind == "mean":
            if 0 in self.shape(over):
                raise Rejected("mean of nothing")
            run = lambda noise, a: noise(np.mean(noise(a), dims))
        else:
            if 0 in self.shape(over):
                raise Rejected("max of nothing")
            run = lambda noise, a: np.max(a, dims)

            def kinks(a):
                if not a.size:
                    return []
                rows = np.sort(np.moveaxis(a, dims, range(-len(dims), 0)).reshape(
                    self.shape(axes) + (-1,)), -1)
                return [rows[..., -1] - rows[..., -2]] if rows.shape[-1] > 1 else []

        return self.add(x.kind, axes, f"{kind}<{', '.join(over)}>({x.name})", [x], run, kinks)

    def rowwise(self, kind, x, over, epsilon=1e-3):
        dims = self.dims(x, over)
        empty = 0 in self.shape(x.axes)

        def softmax(noise, a):
            if empty:
                return a
            top = np.max(a, dims, keepdims=True)
            top = np.where(np.isfinite(top), top, 0)
            e = np.exp(noise(a, 1) - top)
            total = np.sum(noise(e), dims, keepdims=True)
            return noise(np.divide(e, total, out=np.zeros_like(e), where=total != 0))

        def log_softmax(noise, a):
            if empty:
                return a
            b = noise(a, 1) - np.max(a, dims, keepdims=True)
            total = np.log(np.sum(noise(np.exp(b)), dims, keepdims=True))
            return noise(noise(b, 1) - total, 2)

        def normalize(noise, a):
            if empty:
                return a
            a = noise(a, 1)
            centred = a - np.mean(noise(a, 1), dims, keepdims=True)
            variance = np.mean(noise(centred * centred), dims, keepdims=True)
            return noise(centred / np.sqrt(variance + epsilon))

        def rms_norm(noise, a):
            if empty:
                return a
            return noise(a / np.sqrt(np.mean(noise(a * a), dims, keepdims=True) + epsilon))

        run = {"softmax": softmax, "log_softmax": log_softmax, "normalize": normalize,
               "rms_norm": rms_norm}[kind]
        more = f", {{.epsilon = {epsilon}}}" if kind in ("normalize", "rms_norm") else ""
        return self.add("float", x.axes, f"{kind}<{', '.join(over)}>({x.name}{more})", [x], run)

    def softmax_with_sink(self, x, sink, axis):
        at = x.axes.index(axis)

        def run(noise, a, b):
            first = aligned(b, sink.axes, x.axes)
            first = noise(np.broadcast_to(first, a.shape[:at] + (1,) + a.shape[at + 1:]), 1)
            all_scores = np.concatenate([first, noise(a, 1)], at)
            e = np.exp(all_scores - np.max(all_scores, at, keepdims=True))
            weights = noise(e / np.sum(noise(e), at, keepdims=True))
            return weights[(slice(None),) * at + (slice(1, None),)]

        return self.add("float", x.axes, f"nn::softmax_with_sink<{axis}>({x.name}, {sink.name})",
                        [x, sink], run)

    def cumulative_sum(self, x, axis):
        at = x.axes.index(axis)
        return self.add("float", x.axes, f"cumulative_sum<{axis}>({x.name})", [x],
                        lambda noise, a: noise(np.cumsum(noise(a), at)))

    def top_k(self, x, axis, k):
        """The values and the indices of the greatest elements, the greatest first."""
        to = self.new_axis(k)
        at = x.axes.index(axis)
        axes = tuple(to if a == axis else a for a in x.axes)
        n = self.axes[axis].length

        def order(a):
            a = a.values() if hasattr(a, "values") else a
            first = np.moveaxis(np.argsort(-a, at, kind="stable"), at, -1)[..., :k]
            missing = np.full(first.shape[:-1] + (k - first.shape[-1],), -1)
            return np.moveaxis(np.concatenate([first, missing], -1), -1, at)

        def values(noise, a):
            if n == 0:
                return np.zeros(self.shape(axes))
            o = order(a)
            picked = np.take_along_axis(a, np.where(o >= 0, o, 0), at)
            return np.where(o >= 0, picked, np.zeros(()))

        def gaps(a):
            return [np.diff(np.sort(a, at), axis=at)]

        said = f"top_k<{axis}, {to}>({x.name})"
        return (self.add("float", axes, said + ".values", [x], values, gaps),
                self.add("int", axes, said + ".indices", [x], lambda noise, a: order(a), gaps))

    def dot(self, over, a, b):
        axes = tuple(x for x in united(a.axes, b.axes) if x not in over)
        letters = {x: chr(ord("a") + i) for i, x in enumerate(united(a.axes, b.axes))}
        said = lambda shape: "".join(letters[x] for x in shape)
        form = f"{said(a.axes)},{said(b.axes)}->{said(axes)}"
        run = lambda noise, x, y: noise(np.einsum(form, noise(x), noise(y)))
        return self.add("float", axes, f"dot<{', '.join(over)}>({a.name}, {b.name})", [a, b], run)

    def positions(self, axis):
        n = self.axes[axis].length
        v = self.leaf("int", (axis,), f"weft::positions<{axis}>()", np.arange(n))
        v.in_graph = False
        return v

    def length(self, over):
        n = float(math.prod(self.shape(over)))
        v = self.leaf("float", (), f"weft::length<{', '.join(over)}>()", np.array(n))
        v.in_graph, v.counts = False, over
        return v

    def broadcast(self, x, more):
        axes = x.axes + tuple(more)
        return self.add(x.kind, axes, f"weft::broadcast<{', '.join(axes)}>({x.name})", [x],
                        lambda noise, y: np.broadcast_to(aligned(y, x.axes, axes),
                                                         self.shape(axes)))

    def rename(self, x, a, b):
        axes = tuple(b if i == a else i for i in x.axes)
        return self.add_unbounded(x.kind, axes, f"weft::rename<{a}, {b}>({x.name})", [x],
                                  lambda noise, y: y)

    def split(self, x, a, parts):
        at = x.axes.index(a)
        axes = x.axes[:at] + tuple(parts) + x.axes[at + 1:]
        return self.add(x.kind, axes, f"weft::split<{a}, {', '.join(parts)}>({x.name})", [x],
                        lambda noise, y: y.reshape(self.shape(axes)))

    def merge(self, x, to, parts):
        at = min(x.axes.index(p) for p in parts)
        rest = [a for a in x.axes if a not in parts]
        before = [a for a in x.axes[:at] if a not in parts]
        axes = tuple(before + [to] + rest[len(before):])
        wanted = [x.axes.index(a) for a in before + list(parts) + rest[len(before):]]
        return self.add(x.kind, axes, f"weft::merge<{to}, {', '.join(parts)}>({x.name})", [x],
                        lambda noise, y: np.transpose(y, wanted).reshape(self.shape(axes)))

    def slice(self, x, a, to, start):
        at = x.axes.index(a)
        axes = x.axes[:at] + (to,) + x.axes[at + 1:]
        cut = (slice(None),) * at + (slice(start, start + self.axes[to].length),)
        return self.add(x.kind, axes, f"weft::slice<{a}, {to}, {start}>({x.name})", [x],
                        lambda noise, y: y[cut])

    def concatenate(self, whole, parts):
        """Parts are values and the axis of each."""
        first, axis = parts[0]
        axes = tuple(whole if a == axis else a for a in first.axes)
        at = axes.index(whole)

        def run(noise, *arrays):
            said = [tuple(whole if a == p else a for a in v.axes) for v, p in parts]
            return np.concatenate([aligned(x, s, axes) for x, s in zip(arrays, said)], at)

        text = (f"weft::concatenate<{whole}, weft::shape<{', '.join(p for _, p in parts)}>>"
                f"({', '.join(v.name for v, _ in parts)})")
        return self.add(first.kind, axes, text, [v for v, _ in parts], run)

    def gather(self, axis, table, indices):
        rest = tuple(a for a in table.axes if a != axis)
        axes = united(indices.axes, rest)
        n = self.axes[axis].length

        def run(noise, t, i):
            inside = (i >= 0) & (i < n)
            if n == 0:
                return np.zeros(self.shape(axes), t.dtype)
            t = np.broadcast_to(aligned(t, table.axes, (axis,) + axes), (n,) + self.shape(axes))
            at = aligned(np.where(inside, i, 0), indices.axes, axes)
            at = np.broadcast_to(at, self.shape(axes))
            picked = np.take_along_axis(t, at[None], 0)[0]
            keep = np.broadcast_to(aligned(inside, indices.axes, axes), self.shape(axes))
            return np.where(keep, picked, np.zeros((), t.dtype))

        return self.add(table.kind, axes, f"weft::gather<{axis}>({table.name}, {indices.name})",
                        [table, indices], run)

    def segment_sum(self, x, a, to, indices):
        at = x.axes.index(a)
        axes = tuple(to if i == a else i for i in x.axes)
        n = self.axes[to].length

        def run(noise, y, i):
            full = np.broadcast_to(aligned(i, indices.axes, x.axes), y.shape)
            hot = np.moveaxis(full, at, -1)[..., None, :] == np.arange(n)[:, None]
            total = np.sum(noise(np.moveaxis(y, at, -1)[..., None, :] * hot), -1)
            return noise(np.moveaxis(total, -1, at))

        return self.add("float", axes, f"weft::segment_sum<{a}, {to}>({x.name}, {indices.name})",
                        [x, indices], run)

    def rotate(self, x, numbers, pairs, which, cosine, sine):
        at = x.axes.index(numbers)
        axes = united(x.axes, tuple(a for a in cosine.axes + sine.axes if a != pairs))
        n = self.axes[pairs].length

        def run(noise, y, c, s):
            order = tuple(a for a in axes if a != numbers)
            lay = lambda z, said: np.moveaxis(
                np.broadcast_to(aligned(z, said, order + (pairs,)), self.shape(order) + (n,)),
                -1, -1)
            base = np.broadcast_to(aligned(y, x.axes, order + (numbers,)),
                                   self.shape(order) + (self.axes[numbers].length,)).copy()
            c, s = lay(c, cosine.axes), lay(s, sine.axes)
            first = np.arange(n) if which == "half_split" else 2 * np.arange(n)
            second = first + (n if which == "half_split" else 1)
            a, b = base[..., first].copy(), base[..., second].copy()
            base[..., first] = noise(noise(a * c) - noise(b * s))
            base[..., second] = noise(noise(b * c) + noise(a * s))
            return np.moveaxis(base, -1, axes.index(numbers))

        text = (f"weft::rotate<{numbers}, {pairs}, weft::rotary_pairs::{which}>"
                f"({x.name}, {cosine.name}, {sine.name})")
        return self.add("float", axes, text, [x, cosine, sine], run)

    def windows(self, x, a, out, tap, stride, dilation, left, right):
        at = x.axes.index(a)
        axes = x.axes[:at] + (out, tap) + x.axes[at + 1:]
        n, taps = self.axes[out].length, self.axes[tap].length

        def run(noise, y):
            pad = [(0, 0)] * y.ndim
            pad[at] = (left, right)
            y = np.pad(y, pad)
            where = stride * np.arange(n)[:, None] + dilation * np.arange(taps)[None]
            z = np.take(y, where.reshape(-1), at)
            return z.reshape(y.shape[:at] + (n, taps) + y.shape[at + 1:])

        form = f"weft::window{{{stride}, {dilation}, {left}, {right}}}"
        return self.add(x.kind, axes, f"weft::windows<{a}, {out}, {tap}, {form}>({x.name})", [x],
                        run)

    def scan(self, h0, x, axis, matrix, before, backwards):
        """h = tanh(x_t + dot(h, matrix)); the carry has h0's axes."""
        x_axes = tuple(a for a in x.axes if a != axis)
        like = x.axes
        before_axis = [a for a in like[:like.index(axis)] if a in h0.axes]
        at = h0.axes.index(before_axis[-1]) + 1 if before_axis else 0
        axes = h0.axes[:at] + (axis,) + h0.axes[at:]
        inner = matrix.axes[0] if matrix.axes[1] == before else matrix.axes[1]

        def body(noise, h, t, m):
            s = tuple(before if a == inner else a for a in h0.axes)
            letters = {a: chr(ord("a") + i) for i, a in enumerate(united(s, matrix.axes))}
            said = lambda z: "".join(letters[a] for a in z)
            out = tuple(a for a in united(s, matrix.axes) if a != before)
            product = np.einsum(f"{said(s)},{said(matrix.axes)}->{said(out)}", noise(h), noise(m))
            t = aligned(t, x_axes, h0.axes)
            return noise(np.tanh(noise(aligned(noise(product), out, h0.axes) + t)))

        def run(noise, h, y, m):
            n = self.axes[axis].length
            steps = [None] * n
            for i in (reversed(range(n)) if backwards else range(n)):
                h = body(noise, h, np.take(y, i, x.axes.index(axis)), m)
                steps[i] = h
            return np.stack(steps, at) if n else np.zeros(self.shape(axes))

        way = ", weft::backwards" if backwards else ""
        text = (f"weft::scan<{axis}{way}>({h0.name}, {x.name}, [&](auto h, auto x_t) {{ return "
                f"tanh(x_t + dot<{before}>(weft::rename<{inner}, {before}>(h), {matrix.name}));"
                f" }}).all")
        return self.add("float", axes, text, [h0, x, matrix], run)

    def delay(self, h0, x, axis, what):
        """A scan that computes nothing: its carry is the operand one step ago."""
        x_axes = tuple(a for a in x.axes if a != axis)
        at, n = x.axes.index(axis), self.axes[axis].length
        step, last = {"same": ("x_t", ".all"), "delayed": ("weft::next(x_t).with(h)", ".all"),
                      "last": ("x_t", ".last")}[what]
        axes = x_axes if what == "last" else x.axes

        def run(noise, h, y):
            h = aligned(h, h0.axes, x_axes)
            if what == "last":
                return np.take(y, n - 1, at) if n else h
            if what == "same" or n == 0:
                return y
            return np.stack([h] + [np.take(y, i, at) for i in range(n - 1)], at)

        text = (f"weft::scan<{axis}>({h0.name}, {x.name}, [&](auto h, auto x_t) {{ (void)h; return "
                f"{step}; }}){last}")
        return self.add("float", axes, text, [h0, x], run)

    def write(self, buffer, rows, a, p, at):
        axes = buffer.axes

        def run(noise, b, r, where):
            b = b.copy()
            first = np.moveaxis(b, axes.index(a), 0)
            order = (p,) + tuple(i for i in axes if i != a)
            r = np.broadcast_to(aligned(r, rows.axes, order),
                                (self.axes[p].length,) + first.shape[1:])
            where = np.broadcast_to(aligned(where, at.axes, order[1:]), first.shape[1:])
            for i in range(self.axes[p].length):
                index = np.array(np.nonzero(np.ones(first.shape[1:], bool)))
                to = where[tuple(index)] + i
                keep = (to >= 0) & (to < first.shape[0])
                first[(to[keep],) + tuple(index[:, keep])] = r[i][tuple(index)][keep]
            return b

        text = f"weft::write<{a}, {p}>({buffer.name}, {rows.name}, {at.name})"
        return self.add(buffer.kind, axes, text, [buffer, rows, at], run)

    # Growth: see motifs.py.

    def grow(self):
        from motifs import grow
        grow(self)

    # Evaluation.

    def evaluate(self, noise, parameters=None):
        if parameters is not None:
            kept, self.parameters = self.parameters, parameters
        arrays = []
        for v in self.values:
            operands = [arrays[o.index] for o in v.operands]
            if self.dropping and noise.rng is None:
                v.stay_off_kinks(operands)
            arrays.append(v.run(noise, *operands))
        if parameters is not None:
            self.parameters = kept
        return arrays
