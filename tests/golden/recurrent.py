"""torch.nn.RNN and GRU."""

import torch

from golden import f32, f64


def recurrent():
    """Two layers each, the GRU's in both directions. Under "rnn." and "gru.": the loss's weights
    input.of_y and input.of_last.I; output.y, output.last.I and output.loss; param.NAME and
    grad.NAME, with x and h0.I among them."""
    batch, length, into, hidden = 3, 6, 5, 7
    torch.manual_seed(3)
    tensors = {}
    for kind, made, directions in (("rnn", torch.nn.RNN, 1), ("gru", torch.nn.GRU, 2)):
        layer = made(into, hidden, 2, batch_first=True, bidirectional=directions == 2)
        with torch.no_grad():
            for p in layer.parameters():
                p.copy_(torch.randn_like(p) * 0.4)
        layer = layer.double()
        x = torch.randn(batch, length, into).double().requires_grad_()
        h0 = torch.randn(2 * directions, batch, hidden).double().requires_grad_()
        of_y = torch.randn(batch, length, hidden * directions).double()
        of_last = torch.randn_like(h0)
        # As they are stored.
        x.data, h0.data, of_y, of_last = (
            t.data.float().double() for t in (x, h0, of_y, of_last)
        )
        y, last = layer(x, h0)
        loss = (y * of_y).sum() + (last * of_last).sum()
        loss.backward()

        def put(name, t):
            tensors[f"{kind}.{name}"] = f32(t)

        put("param.x", x)
        put("grad.x", x.grad)
        put("input.of_y", of_y)
        put("output.y", y)
        tensors[f"{kind}.output.loss"] = f64(loss.item())
        for i in range(2 * directions):
            put(f"param.h0.{i}", h0[i])
            put(f"grad.h0.{i}", h0.grad[i])
            put(f"input.of_last.{i}", of_last[i])
            put(f"output.last.{i}", last[i])
        for name, p in layer.named_parameters():
            put("param." + name, p)
            put("grad." + name, p.grad)
    return tensors
