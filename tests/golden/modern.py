"""What PyTorch 1.13 has no class for, in plain PyTorch: gated feed-forward networks, an embedding
that is tied to the output, and grouped heads that attend through a window."""

import torch

from golden import i32
from layers import case, normal, with_random_parameters


class SwiGLU(torch.nn.Module):
    """Shazeer 2020, equation 6, with biases."""

    def __init__(self, embed, hidden):
        super().__init__()
        self.linear1 = torch.nn.Linear(embed, hidden)
        self.gate = torch.nn.Linear(embed, hidden)
        self.linear2 = torch.nn.Linear(hidden, embed)

    def forward(self, x):
        return {"y": self.linear2(torch.nn.functional.silu(self.gate(x)) * self.linear1(x))}


class Tied(torch.nn.Module):
    """Press and Wolf 2017: logits of what follows each token, by the tokens' own vectors."""

    def __init__(self, vocabulary, embed):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(vocabulary, embed))

    def forward(self, tokens):
        x = torch.nn.functional.embedding(tokens, self.weight)
        return {"y": torch.tanh(x) @ self.weight.T}


def window(query, key, value):
    """[batch, heads, group, position, size] queries, whose groups share [batch, heads, position,
    size] keys and values; each sees two positions before it and one after it."""
    at = torch.arange(query.shape[-2])
    distance = at[None, :] - at[:, None]
    hidden = (distance < -2) | (distance > 1)
    scores = query @ key[:, :, None].transpose(-1, -2) / query.shape[-1] ** 0.5
    weights = scores.masked_fill(hidden, float("-inf")).softmax(-1)
    return {"y": weights @ value[:, :, None], "weights": weights}


def modern():
    torch.manual_seed(11)
    gated = with_random_parameters(SwiGLU(5, 7))
    tied = with_random_parameters(Tied(11, 4))
    tokens = torch.tensor([[3, 0, 10, 3], [7, 7, 1, 2]])
    cases = {
        "swiglu": case(gated, {"x": normal(2, 3, 5)}, {}, gated),
        "tied": case(tied, {}, {"tokens": i32(tokens)}, lambda: tied(tokens)),
        "window": case(
            torch.nn.Identity(),
            {"query": normal(2, 2, 3, 6, 4), "key": normal(2, 2, 6, 4), "value": normal(2, 2, 6, 5)},
            {},
            window,
        ),
    }
    return {f"{c}.{name}": t for c, tensors in cases.items() for name, t in tensors.items()}
