"""Motifs of random graphs. A motif takes the graph and returns a value, or raises Rejected."""

import math

from graphs import KINKED, UNARY, Rejected, Value


def floats(g, needed=(), limit=None):
    """Float values that have the needed axes, and no others than `limit`; recent ones last."""
    fit = [v for v in g.values if v.kind == "float" and v.in_graph and set(needed) <= set(v.axes)
           and not getattr(v, "masked", False)]
    if limit is not None:
        fit = [v for v in fit if set(v.axes) <= set(limit)]
    return fit


def some_float(g, needed=(), limit=None):
    fit = floats(g, needed, limit)
    if not fit:
        raise Rejected("nothing fits")
    return fit[-1 - min(int(g.random.expovariate(0.5)), len(fit) - 1)]


def some_axes(g, axes):
    chosen = g.random.sample(axes, g.random.randint(1, min(2, len(axes))))
    return tuple(a for a in axes if a in chosen)


def stream(g):
    return some_float(g, ("E",))


def condition(g, axes):
    """A boolean over some of the axes."""
    r = g.random.random()
    inner = [a for a in axes if a in ("P", "K", "B", "E")]
    if r < 0.25 and "P" in axes and "K" in axes:
        shift = g.random.choice([0, 0, 1, -1, 2])
        q = g.positions("P")
        if shift:
            q = moved(g, q, shift)
        return g.binary(g.random.choice(["<=", "<"]), g.positions("K"), q)
    if r < 0.45 and inner:
        a = g.random.choice(inner)
        limit = g.parameter_free_int((), 0, g.axes[a].extent + 1)
        return g.binary("<", g.positions(a), limit)
    if r < 0.7 and inner:
        return g.input(some_axes(g, inner), "bool")
    x = some_float(g, (), axes)
    return g.binary(g.random.choice(["<", ">", "<=", ">="]), x, some_float(g, (), axes))


def moved(g, x, by):
    wrapped = lambda a: (a + 2**31) % 2**32 - 2**31
    return g.add_fragment("int", x.axes, f"{x.name} + {by}" if by >= 0 else f"{x.name} - {-by}",
                          [x], lambda noise, a: wrapped(a + by))


def beyond_int32(g, p):
    """Positions some of which are at the other end of int32."""
    sign = g.random.choice([1, -1])
    return moved(g, moved(g, p, sign * (2**31 - 1)), sign * g.random.randint(0, 2))


def inside(g, index, count):
    """A computed index among so many; one outside is an error of the run."""
    if count < 1:
        raise Rejected("an index into nothing")
    return g.clamped(index, 0, count)


def glue(g):
    """Elementwise operations over existing values."""
    x = some_float(g)
    for _ in range(g.random.randint(1, 4)):
        r = g.random.random()
        if r < 0.45:
            x = g.unary(g.random.choice(list(UNARY)), x)
        elif r < 0.8:
            y = some_float(g, (), x.axes) if g.random.random() < 0.8 else some_float(g)
            if g.random.random() < 0.5:
                x, y = y, x
            x = g.binary(g.random.choice(["+", "-", "*", "*", "maximum", "minimum"]), x, y)
        elif r < 0.88:
            x = g.quotient(x, some_float(g, (), x.axes))
        else:
            other = some_float(g, (), x.axes) if g.random.random() < 0.7 else 0.25
            x = g.where(condition(g, x.axes), x, other)
    return x


def norm(g, computed=False):
    """A normalization, of a sum or not, with a gain and a bias: parameters, or computed."""
    x = stream(g)
    if computed or g.random.random() < 0.6:
        x = g.binary("+", x, some_float(g, (), x.axes))
    over = ("E",) if g.random.random() < 0.8 else some_axes(g, x.axes)
    y = g.rowwise(g.random.choice(["normalize", "rms_norm"]), x, over)

    def part():
        r = 0.5 if computed else g.random.random()  # 0.5 chooses a function of an existing value
        if r < 0.35:
            return g.parameter(over)
        # A value without other users may be overwritten by the result, and must be read before.
        alike = [v for v in floats(g, (), x.axes) if v.axes == x.axes] or [x]
        return g.unary(g.random.choice(list(UNARY)), g.random.choice(alike)) if r < 0.75 else \
            some_float(g, (), x.axes)

    if computed or g.random.random() < 0.8:
        a, b = (y, part())
        if g.random.random() < 0.3:
            a, b = b, a
        y = g.binary("*", a, b)
        if g.random.random() < 0.8:
            y = g.binary("+", y, part())
    return y


def norm_computed(g):
    """A normalized sum whose gain and bias are computed for it alone, or nearly."""
    return norm(g, computed=True)


def linear(g, x=None, to=None):
    """A contraction with operations that may be fused into it."""
    x = x or stream(g)
    to = to or g.random.choice(["E2", "F"])
    axes = ("E", to) if g.random.random() < 0.5 else (to, "E")
    w = g.parameter(axes, 1 / math.sqrt(g.axes["E"].extent))
    if g.random.random() < 0.2:
        x = g.scaled(x, 0.5)
    y = g.dot(("E",), x, w) if g.random.random() < 0.8 else g.dot(("E",), w, x)
    if g.random.random() < 0.2:
        y = g.scaled(y, g.random.choice([0.5, -2.0]))
    for _ in range(g.random.randint(0, 3)):
        other = g.parameter((to,)) if g.random.random() < 0.6 else None
        if other is None:
            fit = floats(g, (to,), y.axes)
            other = g.random.choice(fit) if fit else g.parameter((to,))
        y = g.binary("+", *((y, other) if g.random.random() < 0.7 else (other, y)))
    if g.random.random() < 0.5:
        y = g.unary(g.random.choice(["relu", "gelu", "gelu_tanh", "tanh", "sigmoid", "silu"]), y)
    if to == "E2":
        y = g.rename(y, "E2", "E")
        if g.random.random() < 0.5 and set(x.axes) == set(y.axes):
            y = g.binary("+", x, y) if g.random.random() < 0.5 else g.binary("+", y, x)
    return y


def feed_forward(g):
    y = linear(g, to="F")
    w = g.parameter(("F", "E"), 1 / math.sqrt(g.axes["F"].extent))
    return g.dot(("F",), y, w)


def softmax(g):
    x = some_float(g)
    if not x.axes:
        raise Rejected("no axes")
    over = some_axes(g, x.axes)
    kind = g.random.choice(["softmax", "log_softmax"])
    if g.random.random() < 0.3:
        x = g.scaled(x, 0.5)
    if kind == "softmax" and g.random.random() < 0.4:
        x = g.where(condition(g, x.axes), x, -math.inf)
        x.masked = True
    return g.rowwise(kind, x, over)


def reduction(g):
    x = some_float(g)
    if not x.axes:
        raise Rejected("no axes")
    if g.random.random() < 0.4:
        x = g.binary("*", x, some_float(g, (), x.axes))
    y = g.reduce(g.random.choice(["sum", "mean", "max"]), x, some_axes(g, x.axes))
    return g.binary(g.random.choice(["-", "*", "+"]), x, y) if g.random.random() < 0.5 else y


def projected(g, x, heads):
    w = g.parameter(("E",) + heads if g.random.random() < 0.7 else heads + ("E",),
                    1 / math.sqrt(g.axes["E"].extent))
    return g.dot(("E",), x, w)


def attention(g, far=False, sink=False):
    """Textbook attention, with everything that may be fused into it, or nearly."""
    pick = lambda p: g.random.random() < p
    x = some_float(g, ("P", "E"))
    heads = ("H", "D") if pick(0.8) else ("D",)
    q = projected(g, x, heads)
    if g.axes["K"].base == "P":
        source = x if pick(0.7) else some_float(g, ("P", "E"))
        shared = heads[-1:] if pick(0.25) else heads
        k = g.rename(projected(g, source, shared), "P", "K")
        v = g.rename(projected(g, source, shared), "P", "K")
    else:
        source = g.input(("B", "K", "E") if pick(0.7) else ("K", "E"))
        k, v = projected(g, source, heads), projected(g, source, heads)
    if pick(0.2):
        table = g.parameter(("P", "D2"), 3)
        if pick(0.5):
            table = g.unary("tanh", table)
        which = g.random.choice(["half_split", "interleaved"])
        if g.axes["D"].extent >= 2:
            q = g.rotate(q, "D", "D2", which, g.unary("cos", table), g.unary("sin", table))
    if pick(0.15):
        q = g.scaled(q, 0.5)
    scores = g.dot(("D",), q, k) if pick(0.8) else g.dot(("D",), k, q)
    for _ in range(g.random.randint(0, 3)):
        r = g.random.random()
        if r < 0.3:
            scores = g.scaled(scores, 0.25)
        elif r < 0.45:
            root = math.sqrt(g.axes["D"].extent)
            scores = g.add("float", scores.axes, f"{scores.name} / weft::sqrt(D{{}})", [scores],
                           lambda noise, a: noise(a / root))
        elif r < 0.62:
            scores = g.add("float", scores.axes, f"2 * tanh({scores.name} / 2)", [scores],
                           lambda noise, a: noise(2 * g.tanh(noise(a) / 2)))
        elif r < 0.75:
            axes = g.random.choice([("P", "K"), ("K",), ("H", "P", "K"), ("H", "K")])
            axes = tuple(a for a in axes if a in scores.axes)
            scores = g.binary("+", scores, g.parameter(axes))
        elif r < 0.9:
            distance = g.binary("-", g.positions("K"), g.positions("P"))
            if pick(0.5):
                slope = g.parameter(heads[:-1])
                scores = g.binary("+", scores, g.binary("*", slope, g.cast("float", distance)))
            else:
                index = g.clamped(distance, 2, 5)
                table = g.parameter((heads[0], "R") if len(heads) > 1 and pick(0.6) else ("R",))
                scores = g.binary("+", scores, g.gather("R", table, index))
        else:
            scores = g.binary("*", scores, some_float(g, (), scores.axes))
    masks = []
    for i in range(g.random.choice([1, 2] if far else [0, 1, 1, 2, 3])):
        r = 0.6 if far and i == 0 else g.random.random()  # 0.6 chooses positions beyond int32
        if r < 0.35:
            shift = g.random.choice([0, 0, 0, 1, -1, -3])
            p = g.positions("P")
            masks.append(g.binary("<=", g.positions("K"), moved(g, p, shift) if shift else p))
        elif r < 0.5:
            p = g.positions("P")
            masks.append(g.binary(">=", g.positions("K"), moved(g, p, g.random.randint(-3, 1))))
        elif r < 0.62:
            masks.append(g.binary(g.random.choice(["<=", ">="]), g.positions("K"),
                                  beyond_int32(g, g.positions("P"))))
        elif r < 0.8:
            axes = ("B",) if "B" in scores.axes and pick(0.8) else ()
            top = g.axes["K"].length + 2
            masks.append(g.binary("<", g.positions("K"), g.input(axes, "int", 0, top)))
        else:
            axes = [a for a in scores.axes if a in ("B", "H", "P")]
            axes = tuple(a for a in axes if pick(0.5))
            masks.append(g.input(axes + ("K",), "bool"))
    if masks:
        mask = masks[0]
        for m in masks[1:]:
            mask = g.binary("&&", mask, m)
        scores = g.where(mask, scores, -math.inf if pick(0.9) else -4.0)
        scores.masked = True
    if sink:
        axes = tuple(a for a in scores.axes if a in ("H", "P", "B") and pick(0.5))
        whole = g.parameter(tuple(a for a in axes if a != "B")) if "B" not in axes else \
            some_float(g, (), tuple(a for a in scores.axes if a != "K"))
        weights = g.softmax_with_sink(scores, whole, "K")
    else:
        weights = g.rowwise("softmax", scores, ("K",))
    if pick(0.15):
        g.results.append(weights)
    if pick(0.1):
        weights = g.binary("*", weights, g.parameter(("K",)))
    if pick(0.15):
        weights = g.dropout(weights, g.random.choice([0.1, 0.5]))
    out = g.dot(("K",), weights, v) if pick(0.8) else g.dot(("K",), v, weights)
    if pick(0.3):
        return out
    back = g.parameter(heads + ("E",), 1 / math.sqrt(g.axes["D"].extent))
    out = g.dot(heads, out, back)
    return g.binary("+", x, out) if pick(0.6) and set(out.axes) <= set(x.axes) else out


def attention_far(g):
    """Attention whose mask compares with positions at the other end of int32."""
    return attention(g, far=True)


def attention_sink(g):
    """Attention with a score without a key."""
    return attention(g, sink=True)


def embedding(g):
    table = g.parameter(("V", "E") if g.random.random() < 0.7 else ("E", "V"))
    if g.random.random() < 0.7:
        tokens = g.input(("B", "P"), "int", 0, g.axes["V"].length)
    else:
        tokens = inside(g, moved(g, g.positions("P"), -1), g.axes["V"].length)
    y = g.gather("V", table, tokens)
    return g.binary("+", y, some_float(g, ("E",), y.axes)) if floats(
        g, ("E",), y.axes) and g.random.random() < 0.5 else y


def cross_entropy(g):
    x = stream(g)
    w = g.parameter(("E", "V"), 0.5)
    logits = g.dot(("E",), x, w)
    axes = tuple(a for a in logits.axes if a != "V")
    targets = g.input(axes, "int", 0, g.axes["V"].length)
    picked = g.gather("V", g.rowwise("log_softmax", logits, ("V",)), targets)
    return g.unary("negate", picked)


def cumulative(g):
    x = some_float(g)
    if not x.axes:
        raise Rejected("no axes")
    return g.cumulative_sum(x, g.random.choice(x.axes))


def greatest(g):
    """The greatest elements along an axis, a table's rows at their indices among what follows."""
    x = some_float(g)
    if not x.axes:
        raise Rejected("no axes")
    axis = g.random.choice(x.axes)
    values, indices = g.top_k(x, axis, g.random.randint(1, min(3, g.axes[axis].extent)))
    if g.random.random() < 0.4 and "R" not in x.axes and "E" not in x.axes:
        return g.gather("R", g.parameter(("R", "E")), inside(g, indices, g.axes["R"].length))
    return values


def parts(g):
    """A concatenation of values without other users, which is sliced again."""
    x, y = stream(g), stream(g)
    if set(x.axes) != set(y.axes):
        y = g.unary("sin", x)
    x = g.unary(g.random.choice(["tanh", "half", "relu"]), x)
    if x.axes != y.axes and g.random.random() < 0.5:
        y = g.binary("+", y, x)
    n = g.axes["E"].extent
    whole = g.new_axis(2 * n)
    z = g.concatenate(whole, [(x, "E"), (g.unary("cos", y), "E")])
    if g.random.random() < 0.4:
        return z
    return g.slice(z, whole, "E", g.random.randint(0, n))


def cut(g):
    x = some_float(g, ("E",))
    n = g.axes["E"].extent
    for outer in (2, 3, 4, 5):
        if n % outer == 0 and n > outer:
            a, b = g.new_axis(outer), g.new_axis(n // outer)
            y = g.split(x, "E", (a, b))
            y = g.rowwise("softmax", y, (b,)) if g.random.random() < 0.5 else g.unary("sin", y)
            return g.merge(y, "E", (a, b) if g.random.random() < 0.6 or outer != n // outer
                           else (b, a))
    to = g.new_axis(max(1, n - 1))
    y = g.slice(x, "E", to, n - g.axes[to].extent)
    return g.reduce("sum", y, (to,))


def neighbours(g):
    x = stream(g)
    stride, dilation = g.random.choice([1, 1, 2]), g.random.choice([1, 1, 2])
    left, right, taps = g.random.randint(0, 2), g.random.randint(0, 2), g.random.randint(1, 3)
    n = (g.axes["E"].extent + left + right - dilation * (taps - 1) - 1) // stride + 1
    if n < 1 or g.axes["E"].extent + left + right < dilation * (taps - 1) + 1:
        raise Rejected("no window")
    out, tap = g.new_axis(n), g.new_axis(taps)
    y = g.windows(x, "E", out, tap, stride, dilation, left, right)
    if g.random.random() < 0.7:
        return g.dot((tap,), y, g.parameter((tap,)))
    return g.reduce("sum", y, (tap,))


def recurrence(g):
    x = some_float(g, ("P", "E"), ("B", "P", "E"))
    axes = tuple(a for a in x.axes if a != "P")
    h0 = g.parameter(axes) if g.random.random() < 0.5 else g.input(axes)
    inner = g.random.choice(["E"])
    matrix = g.parameter((inner, "E2"), 1 / math.sqrt(g.axes["E"].extent))
    return g.scan(h0, x, "P", matrix, "E2", g.random.random() < 0.4)


def delay(g):
    x = some_float(g, ("P",), ("B", "P", "E"))
    axes = tuple(a for a in x.axes if a != "P")
    h0 = g.parameter(axes) if g.random.random() < 0.5 else g.input(axes)
    return g.delay(h0, x, "P", g.random.choice(["same", "delayed", "last"]))


def longer(g):
    """A concatenation along an axis whose length a run determines, and windows over it."""
    x = some_float(g, ("P",), ("B", "P", "E"))
    there = lambda axis: tuple(axis if a == "P" else a for a in x.axes)
    r = g.random.random()
    of_p, later = g.axes["P"], False
    if r < 0.4 and of_p.extent > 1:  # its length follows from an operation that comes later
        axis, later = g.new_axis(of_p.extent - 1, of_p.bounded, max(of_p.length - 1, 0)), True
        y = g.parameter(there(axis))
    elif r < 0.55:  # no argument has its length: it is the bound
        axis = g.new_axis(g.random.choice([1, 3, 6]), True)
        y = g.parameter(there(axis))
    elif g.axes["K"].base != "P":
        y, axis = g.input(there("K")), "K"
    elif r < 0.8:
        y, axis = g.rename(g.unary("tanh", x), "P", "K"), "K"
    else:
        y, axis = g.unary("sin", x), "P"
    of = [g.axes["P"], g.axes[axis]]
    bounded = any(a.bounded for a in of)
    whole = g.new_axis(sum(a.extent for a in of), bounded, sum(a.length for a in of))
    parts = [(x, "P"), (y, axis)]
    z = g.concatenate(whole, parts)
    if later:
        tap = g.new_axis(2)
        two = g.windows(x, "P", axis, tap, 1, 1, 0, 0)
        g.results += [z, g.binary("*", y, g.dot((tap,), two, g.parameter((tap,))))]
    if g.random.random() < 0.3:
        return z
    left, right, taps = g.random.randint(0, 1), g.random.randint(0, 2), g.random.randint(1, 3)
    more = left + right - taps + 1
    count = lambda n: max(n + more, 0)
    if count(g.axes[whole].extent) < 1 or (bounded and more == 0):
        raise Rejected("no windows, or as many as elements")
    out = g.new_axis(count(g.axes[whole].extent), bounded, count(g.axes[whole].length))
    tap = g.new_axis(taps)
    z = g.windows(z, whole, out, tap, 1, 1, left, right)
    return g.dot((tap,), z, g.parameter((tap,)))


def other_order(g):
    """A sum of values without other users, whose axes have different orders."""
    if g.random.random() < 0.4:  # a square and its transpose
        x = g.rowwise("softmax", g.parameter(("E", "E2")), ("E",))
        y = g.rename(g.rename(g.rename(x, "E", "E3"), "E2", "E"), "E3", "E2")
        x = g.binary(g.random.choice(["-", "*"]), x, y)
        return g.reduce("sum", x, ("E2",)) if g.random.random() < 0.5 else x
    x = stream(g)
    if g.random.random() < 0.3:
        w = g.parameter(("E2", "E"), 1 / math.sqrt(g.axes["E"].extent))
        y = g.rename(g.dot(("E",), w, x), "E2", "E")
    else:
        y = g.input(g.random.sample(x.axes, len(x.axes)))
    computed = lambda v: (g.rowwise(g.random.choice(["softmax", "rms_norm"]), v, ("E",))
                          if g.random.random() < 0.7 else g.unary("sin", v))
    # If x is read elsewhere too, the result can only reuse the buffer of y.
    operands = [x if g.random.random() < 0.6 else computed(x), computed(y)]
    g.random.shuffle(operands)
    return g.binary(g.random.choice(["+", "*", "-"]), *operands)


# Comparisons with NaN as in C++: it is unequal to everything, and neither less nor greater.
COMPARISONS = {"{0} != {0}": lambda a: a != a, "{0} == {0}": lambda a: a == a,
               "{0} != 0": lambda a: a != 0, "{0} < 0.25f": lambda a: a < 0.25,
               "!({0} >= 0.25f)": lambda a: ~(a >= 0.25), "weft::cast<bool>({0})": lambda a: a != 0}


def not_a_number(g):
    x = stream(g)
    text = g.random.choice(list(COMPARISONS))
    c = g.compared(text, g.with_nan(x.axes), COMPARISONS[text])
    return g.where(c, x, g.unary("sin", x) if g.random.random() < 0.5 else 0.25)


def two_states(g):
    """States of the same axes that are swapped."""
    axes = ("E",) if g.random.random() < 0.5 else ("S", "E")
    a, b = g.state(axes), g.state(axes)
    x = g.binary("*", a, g.parameter(("E",)))
    g.update(a, b if g.random.random() < 0.5 else g.unary("sin", b))
    g.update(b, a if g.random.random() < 0.5 else g.unary("tanh", x))
    y = g.binary("-", x, b)
    return y if "S" not in axes else g.reduce("sum", y, ("S",))


def state(g):
    if len(g.states) > 1:
        raise Rejected("states")
    r = g.random.random()
    if r < 0.35:
        return two_states(g)
    if r < 0.65:
        return buffer(g)
    s = g.state(("E",) if g.random.random() < 0.5 else ("S", "E"))
    x = g.binary("*", s, g.parameter(("E",)))
    g.update(s, g.unary("tanh", x) if g.random.random() < 0.5 else x)
    return g.binary("+", stream(g), s) if "S" not in s.axes else g.reduce("sum", x, ("S",))


def buffer(g):
    """Rows written into a cache, as decoding does."""
    s = g.state(("S", "E"))
    p = g.new_axis(g.random.randint(1, 2))
    rows = g.input((p, "E"))
    at = g.input((), "int", 0, g.axes["S"].extent - g.axes[p].extent + 1)
    if g.random.random() < 0.5:
        rows = g.unary("tanh", rows)
    new = g.write(s, rows, "S", p, at)
    g.update(s, new)
    return g.reduce("sum", new, ("S",)) if g.random.random() < 0.6 else g.binary(
        "+", g.reduce("sum", new, ("S",)), g.reduce("sum", s, ("S",)))


def integers(g):
    x = g.input(("B", "P"), "int", -9, 9)
    y = moved(g, g.positions("P"), g.random.randint(-2, 2))
    z = g.binary(g.random.choice(["+", "*", "maximum", "minimum", "-"]), x, y)
    if g.random.random() < 0.4:
        g.results.append(z)
    c = g.binary(g.random.choice(["<", "==", "!="]), z, x)
    if g.random.random() < 0.4:
        g.results.append(g.negated(c))
    if g.random.random() < 0.3:
        return g.cast("float", c)
    return g.scaled(g.cast("float", z), 0.125)


def typed(g):
    """Operations that only move elements, on integers or booleans."""
    kind = g.random.choice(["int", "bool"])
    x = g.input(("B", "P", "E"), kind, -9, 9)
    if kind == "bool" and g.random.random() < 0.5:
        x = g.binary(g.random.choice(["||", "==", "!="]), x, g.input(("P", "E"), kind))
    elif kind == "int" and g.random.random() < 0.5:
        x = g.binary("-", g.input((), kind, -9, 9), x)
    r = g.random.random()
    if r < 0.2:
        table = g.input(("V", "E"), kind, -9, 9)
        x = g.gather("V", table, g.input(("B", "P"), "int", 0, g.axes["V"].length))
    elif r < 0.4:
        whole = g.new_axis(2 * g.axes["E"].extent)
        x = g.slice(g.concatenate(whole, [(x, "E"), (g.where(condition(g, x.axes), x, x), "E")]),
                    whole, "E", g.random.randint(0, g.axes["E"].extent))
    elif r < 0.5:
        x = g.broadcast(g.input(("E",), kind, -9, 9), ("P",))
    elif r < 0.6:
        s, p = g.input(("S", "E"), kind, -9, 9), g.new_axis(2)
        at = g.input((), "int", 0, g.axes["S"].extent - 1)
        if g.random.random() < 0.5:
            at = inside(g, moved(g, at, g.random.choice([-2, 2])), g.axes["S"].length - 1)
        x = g.write(s, g.input((p, "E"), kind, -9, 9), "S", p, at)
    elif r < 0.8:
        other = g.input(("B", "E"), kind, -9, 9)
        x = g.where(condition(g, x.axes), *g.random.sample([x, other], 2))
    if g.random.random() < 0.5:
        g.results.append(x)
    if g.random.random() < 0.3:
        x = g.cast("int" if kind == "bool" else "bool", x)
    return g.scaled(g.cast("float", x), 0.125)


def counted(g):
    """Lengths of a run's axes as values, and floats truncated to integers."""
    x = stream(g)
    if g.random.random() < 0.5:
        return g.binary("*", g.scaled(g.length(some_axes(g, ["B", "P"])), 0.125), x)
    y = g.cast(g.random.choice(["int", "bool"]), g.scaled(x, 2.0))
    return g.scaled(g.cast("float", y), 0.25)


def dropped(g):
    """A residual sum with a branch under dropout, as in transformer blocks."""
    x = stream(g)
    y = g.dropout(linear(g, x), g.random.choice([0, 0.1, 0.25, 0.5]))
    return g.binary("+", x, y) if g.random.random() < 0.5 and set(x.axes) == set(y.axes) else y


def segments(g):
    x = some_float(g, ("P",))
    indices = g.input(("P",), "int", 0, g.axes["V"].length)
    return g.segment_sum(x, "P", "V", indices)


MOTIFS = [(glue, 5), (norm, 5), (norm_computed, 2), (linear, 3), (feed_forward, 1), (softmax, 2),
          (reduction, 2), (attention, 5), (attention_far, 1), (attention_sink, 1), (embedding, 1),
          (cross_entropy, 1), (parts, 2), (cut, 1), (neighbours, 1), (recurrence, 1), (state, 2), (integers, 1),
          (segments, 1), (dropped, 1), (typed, 2), (counted, 1), (delay, 2), (longer, 4),
          (other_order, 2), (not_a_number, 1), (cumulative, 2), (greatest, 1)]


def grow(g):
    r = g.random
    g.axis("B", r.choice([1, 2, 3]), r.random() < 0.5)
    g.axis("P", r.choice([1, 3, 5, 8, 9, 17]), r.random() < 0.7)
    if r.random() < 0.7:
        g.axis("K", 0, base="P")
    else:
        g.axis("K", r.choice([1, 4, 7, 18]), r.random() < 0.6)
    g.axis("E", r.choice([1, 3, 4, 8, 12, 16, 17, 20, 33]))
    g.axis("E2", 0, base="E")
    g.axis("E3", 0, base="E")
    g.axis("F", r.choice([1, 2, 7, 16, 19]))
    g.axis("H", r.choice([1, 2, 3, 5]))
    g.axis("D", r.choice([1, 2, 4, 5, 8, 16, 20]))
    g.axis("D2", max(1, g.axes["D"].extent // 2))
    g.axis("V", r.choice([2, 5, 13]))
    g.axis("R", 5)
    g.axis("S", r.choice([3, 6]))
    g.input(("B", "P", "E"))
    g.input(("B", "P", "E") if r.random() < 0.7 else ("P", "E"))
    if r.random() < 0.5:
        g.unary("tanh", g.values[-1])
    wanted = r.randint(3, 10)
    made = tries = 0
    while made < wanted:
        tries += 1
        if tries > 60:
            raise Rejected("no motif fits")
        # Each motif begins one graph in turn, so that a few dozen graphs have all of them.
        if tries == 1:
            motif = MOTIFS[g.seed // 1000 % len(MOTIFS)][0]
        else:
            motif = r.choices([m for m, _ in MOTIFS], [w for _, w in MOTIFS])[0]
        mark = g.mark()
        try:
            motif(g)
            made += 1
        except Rejected:
            g.back_to(mark)
    # Results: values that nothing reads, and a few that something does.
    read = {o.index for v in g.values for o in v.operands}
    ends = [v for v in g.values if v.in_graph and v.index not in read and v.operands
            and not getattr(v, "masked", False)]
    r.shuffle(ends)
    g.results += [v for v in ends[:4] if v not in g.results]
    inner = [v for v in floats(g) if v.operands and v not in g.results]
    if inner and r.random() < 0.3:
        g.results.append(r.choice(inner))
    if r.random() < 0.15:
        g.results.append(given(g))
    if not g.results:
        raise Rejected("no results")
    v = g.results[0]
    if r.random() < 0.3 and not getattr(v, "masked", False):
        g.results[0] = g.where(g.input((), "bool"), v, v)  # of equal values, but an argument
    loss(g)


def given(g):
    """A result that is an argument or a parameter, or a slice of one."""
    inputs = list(g.inputs.values())
    x = g.random.choice([v for v in g.values if (v in inputs or hasattr(v, "parameter"))
                         and not getattr(v, "masked", False)])
    if "E" in x.axes and g.random.random() < 0.5:
        to = g.new_axis(g.random.randint(1, g.axes["E"].extent))
        return g.slice(x, "E", to, g.random.randint(0, g.axes["E"].extent - g.axes[to].extent))
    return x


def loss(g):
    """A scalar that depends on every float result."""
    total = None
    for v in [v for v in g.results if v.kind == "float"]:
        # An input would determine lengths that are to follow from others.
        follows = any(g.axes[a].bounded and g.axes[a].follows and not g.axes[a].base for a in v.axes)
        x = g.binary("*", v, g.input(v.axes)) if not follows and g.random.random() < 0.7 else v
        if x.axes:
            x = g.reduce("sum", x, x.axes)
        total = x if total is None else g.binary("+", total, x)
    g.loss = total
