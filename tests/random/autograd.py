"""Gradients of a random model by PyTorch's autograd, in float64.

graphs.py evaluates with numpy. numpy dispatches a function whose argument is a Tracked to that
class (__array_ufunc__ and __array_function__), which calls PyTorch's counterpart.
"""

import numpy as np

try:
    import torch
except ImportError:
    torch = None


def there():
    return torch is not None


def tensor(x):
    return x.tensor if isinstance(x, Tracked) else torch.as_tensor(np.array(x))


def axes_of(axis):
    return list(axis) if isinstance(axis, (tuple, list)) else [axis]


def reduced(f):
    """f over no axis is the identity; PyTorch would reduce over all axes."""
    return lambda x, axis, keepdims=False: (
        f(x, axes_of(axis), keepdims) if axes_of(axis) else x)


def divide(x, y, out=None, where=None):
    if where is None:
        return x / y
    # A quotient that is masked out would have a NaN gradient, so it divides by 1.
    return torch.where(where, x / torch.where(where, y, torch.ones_like(y)), out)


def pad(x, widths):
    wide = x.new_zeros([before + n + after for n, (before, after) in zip(x.shape, widths)])
    wide[tuple(slice(before, before + n) for n, (before, _) in zip(x.shape, widths))] = x
    return wide


def moved(x, source, to):
    return torch.movedim(x, source if isinstance(source, int) else tuple(source),
                         to if isinstance(to, int) else tuple(to))


# PyTorch's counterparts of numpy's functions; arguments are tensors.
FUNCTIONS = () if torch is None else {
    np.add: torch.add, np.subtract: torch.subtract, np.multiply: torch.multiply,
    np.divide: divide, np.negative: torch.negative, np.power: torch.pow,
    np.maximum: torch.maximum, np.minimum: torch.minimum,
    np.tanh: torch.tanh, np.sin: torch.sin, np.cos: torch.cos,
    np.exp: torch.exp, np.log: torch.log, np.sqrt: torch.sqrt,
    np.sum: reduced(torch.sum), np.mean: reduced(torch.mean), np.max: reduced(torch.amax),
    np.where: torch.where, np.zeros_like: torch.zeros_like, np.pad: pad, np.moveaxis: moved,
    np.broadcast_to: lambda x, shape: torch.broadcast_to(x, tuple(shape)),
    np.transpose: lambda x, order: x.permute(tuple(order)),
    np.einsum: lambda form, x, y: torch.einsum(form, x, y),
    np.concatenate: lambda parts, axis: torch.cat([tensor(p) for p in parts], axis),
    np.stack: lambda parts, axis: torch.stack([tensor(p) for p in parts], axis),
    np.cumsum: lambda x, axis: torch.cumsum(x, axis),
    np.take_along_axis: lambda x, at, axis: torch.take_along_dim(x, at, axis),
    np.take: lambda x, at, axis: (
        x.select(axis, at) if isinstance(at, int) else x.index_select(axis, at)),
}
# These have no gradient: the result is numpy's.
WITHOUT = {np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal,
           np.isfinite, np.trunc, np.logical_and, np.logical_or}


class Tracked(np.lib.mixins.NDArrayOperatorsMixin):
    """A tensor of PyTorch that looks like an array of float64."""

    dtype = np.dtype(np.float64)

    def __init__(self, tensor):
        self.tensor = tensor

    shape = property(lambda self: tuple(self.tensor.shape))
    ndim = property(lambda self: self.tensor.ndim)

    def reshape(self, *shape):
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return Tracked(self.tensor.reshape(tuple(shape)))

    def copy(self):
        return Tracked(self.tensor.clone())

    def astype(self, to):
        return self if to == self.dtype else self.values().astype(to)

    def values(self):
        return self.tensor.detach().numpy()

    def erf(self):
        return Tracked(torch.erf(self.tensor))

    def __getitem__(self, at):
        return Tracked(self.tensor[at])

    def __setitem__(self, at, x):
        self.tensor[at] = tensor(x)

    def __array_ufunc__(self, f, method, *args, out=None, **more):
        if method != "__call__":
            return NotImplemented
        if out is not None:
            more["out"] = out[0]
        return self.__array_function__(f, (), args, more)

    def __array_function__(self, f, types, args, more):
        if f in WITHOUT:
            return f(*[a.values() if isinstance(a, Tracked) else a for a in args], **more)
        keep = (str, tuple, list, int)  # forms, axes, shapes, lists of operands
        if f is np.where or isinstance(f, np.ufunc):
            keep = str
        lift = lambda a: a if isinstance(a, keep) else tensor(a)
        more = {k: tensor(a) if k in ("out", "where") else a for k, a in more.items()}
        return Tracked(FUNCTIONS[f](*[lift(a) for a in args], **more))


def gradients(graph, noise):
    """Gradients of the loss by parameter name, each an array of the parameter's shape."""
    torch.set_num_threads(1)
    kept = graph.parameters
    graph.parameters = {n: Tracked(torch.tensor(p, requires_grad=True)) for n, p in kept.items()}
    arrays = []
    for v in graph.values:
        x = v.run(noise, *[arrays[o.index] for o in v.operands])
        floats = isinstance(x, np.ndarray) and x.dtype == np.float64
        arrays.append(Tracked(torch.tensor(x)) if floats else x)
    tracked, graph.parameters = graph.parameters, kept
    loss = arrays[graph.loss.index]
    if isinstance(loss, Tracked) and loss.tensor.requires_grad:
        loss.tensor.backward()
    return {n: np.zeros(p.shape) if p.tensor.grad is None else p.tensor.grad.numpy()
            for n, p in tracked.items()}
