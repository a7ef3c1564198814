"""torch.nn.RNN, GRU and LSTM."""

import torch

from golden import f32, f64


def recurrent():
    """Two layers each, the GRU's and the LSTM's in both directions. Under "rnn.", "gru." and "lstm.":
    the loss's weights input.of_y and input.of_last.I; output.y, output.last.I and output.loss;
    param.NAME and grad.NAME, with x and h0.I among them; of the LSTM's c likewise, as c0.I,
    input.of_memory.I and output.memory.I."""
    batch, length, into, hidden = 3, 6, 5, 7
    torch.manual_seed(3)
    tensors = {}
    for kind, made, directions in (
        ("rnn", torch.nn.RNN, 1), ("gru", torch.nn.GRU, 2), ("lstm", torch.nn.LSTM, 2),
    ):
        layer = made(into, hidden, 2, batch_first=True, bidirectional=directions == 2)
        with torch.no_grad():
            for p in layer.parameters():
                p.copy_(torch.randn_like(p) * 0.4)
        layer = layer.double()

        def drawn(*shape):  # As it is stored.
            return torch.randn(*shape).double()

        names = (("h0", "last"), ("c0", "memory"))[: 2 if kind == "lstm" else 1]
        x = drawn(batch, length, into).requires_grad_()
        initial = [drawn(2 * directions, batch, hidden).requires_grad_() for _ in names]
        of_y = drawn(batch, length, hidden * directions)
        of_last = [drawn(2 * directions, batch, hidden) for _ in names]
        y, last = layer(x, tuple(initial) if kind == "lstm" else initial[0])
        last = last if kind == "lstm" else (last,)
        loss = (y * of_y).sum() + sum((a * b).sum() for a, b in zip(last, of_last))
        loss.backward()

        def put(name, t):
            tensors[f"{kind}.{name}"] = f32(t)

        put("param.x", x)
        put("grad.x", x.grad)
        put("input.of_y", of_y)
        put("output.y", y)
        tensors[f"{kind}.output.loss"] = f64(loss.item())
        for (first, end), before, after, weight in zip(names, initial, last, of_last):
            for i in range(2 * directions):
                put(f"param.{first}.{i}", before[i])
                put(f"grad.{first}.{i}", before.grad[i])
                put(f"input.of_{end}.{i}", weight[i])
                put(f"output.{end}.{i}", after[i])
        for name, p in layer.named_parameters():
            put("param." + name, p)
            put("grad." + name, p.grad)
    return tensors
