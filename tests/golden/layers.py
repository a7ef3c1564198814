"""Layers of torch.nn: outputs, and gradients of the sum of output times a cotangent.

Parameters have PyTorch's names and shapes. What a layer is given has gradients as well, so it is
stored as a parameter: "param.query". Names begin with the case's.
"""

import math

import torch

from golden import f32, f64, i32

BATCH, POS, EMBED, HEADS = 2, 5, 12, 3


def normal(*shape):
    """Exact in float32."""
    return torch.randn(*shape).double()


def with_random_parameters(layer):
    with torch.no_grad():
        for name, p in layer.named_parameters():
            p.copy_(torch.randn_like(p) * 0.3 + (1 if "norm" in name and "weight" in name else 0))
    return layer.double()


def case(layer, given, inputs, compute):
    """The tensors of a case: `given` is what has gradients, `compute` gives the results, the first
    of which the loss is made of."""
    for t in given.values():
        t.requires_grad_()
    results = compute(**given)
    first = next(iter(results.values()))
    cotangent = normal(tuple(first.shape))
    loss = (first * cotangent).sum()
    loss.backward()
    tensors = {"input.cotangent": f32(cotangent), "output.loss": f64(loss.item())}
    tensors |= {"input." + name: t for name, t in inputs.items()}
    tensors |= {"output." + name: f32(t) for name, t in results.items()}
    for name, t in [*given.items(), *layer.named_parameters()]:
        tensors["param." + name] = f32(t)
        tensors["grad." + name] = f32(t.grad)
    return tensors


def padding(lengths, n):
    """True behind each length: what PyTorch hides."""
    return torch.arange(n) >= torch.tensor(lengths)[:, None]


def attention(keys, given, inputs=None, mask=None, lengths=None, average=True, **options):
    """torch.nn.MultiheadAttention. `given` are the names of what it is given; those that it is not
    given stand for the one before."""
    layer = with_random_parameters(
        torch.nn.MultiheadAttention(EMBED, HEADS, batch_first=True, **options)
    )
    sizes = {
        "query": (POS, EMBED),
        "key": (keys, options.get("kdim", EMBED)),
        "value": (keys, options.get("vdim", EMBED)),
    }

    def compute(query, key=None, value=None):
        key = query if key is None else key
        value = key if value is None else value
        output, weights = layer(
            query, key, value, attn_mask=mask, average_attn_weights=average,
            key_padding_mask=None if lengths is None else padding(lengths, keys),
        )
        return {"y": output, "weights": weights if average else weights.transpose(1, 2)}

    inputs = dict(inputs or {})
    if lengths is not None:
        inputs["lengths"] = i32(lengths)
    return case(layer, {name: normal(BATCH, *sizes[name]) for name in given}, inputs, compute)


def multi_head_attention():
    torch.manual_seed(3)
    cases = {}
    cases["padded"] = attention(POS, ["query"], lengths=[5, 3])
    seen = torch.rand(POS, 7) < 0.6
    seen[:, 0] = True  # no query without a key: PyTorch gives NaN
    cases["sizes"] = attention(
        7, ["query", "key", "value"], {"mask": i32(seen)}, ~seen, kdim=10, vdim=8, average=False
    )
    bias = normal(POS, 7)
    cases["zero_key"] = attention(
        7, ["query", "key", "value"], {"bias": f32(bias)}, bias, kdim=10, vdim=8, bias=False,
        add_zero_attn=True, average=False,
    )
    by_head = normal(BATCH, HEADS, POS, 7)
    cases["by_head"] = attention(
        7, ["query", "key"], {"bias": f32(by_head)}, by_head.flatten(0, 1), lengths=[4, 7],
        bias=False, average=False,
    )
    # PyTorch's weights have the key of zeros last, weft's only the others.
    cases["zero_key"]["output.weights"] = cases["zero_key"]["output.weights"][..., :7]
    return {f"{c}.{name}": t for c, tensors in cases.items() for name, t in tensors.items()}


def hidden_behind(n):
    """What a causal mask hides: True above the diagonal."""
    return torch.ones(n, n).triu(1).bool()


WIDTH = 6  # of blocks; the files stay small


def blocks(make):
    """make(activation=..., norm_first=...) gives a case."""
    cases = {
        f"{activation}.{order}": make(activation=activation, norm_first=order == "pre")
        for activation in ("relu", "gelu")
        for order in ("pre", "post")
    }
    return {f"{c}.{name}": t for c, tensors in cases.items() for name, t in tensors.items()}


def encoder_blocks():
    """torch.nn.TransformerEncoderLayer, with lengths."""
    torch.manual_seed(4)
    lengths, keys = [4, 6], 6

    def make(**options):
        layer = with_random_parameters(
            torch.nn.TransformerEncoderLayer(WIDTH, HEADS, 7, 0.0, batch_first=True, **options)
        )
        return case(
            layer, {"x": normal(BATCH, keys, WIDTH)}, {"lengths": i32(lengths)},
            lambda x: {"y": layer(x, src_key_padding_mask=padding(lengths, keys))},
        )

    return blocks(make)


def decoder_blocks():
    """torch.nn.TransformerDecoderLayer, causal, with lengths of the memory."""
    torch.manual_seed(5)
    lengths, keys = [4, 6], 6

    def make(**options):
        layer = with_random_parameters(
            torch.nn.TransformerDecoderLayer(WIDTH, HEADS, 7, 0.0, batch_first=True, **options)
        )
        return case(
            layer,
            {"x": normal(BATCH, POS, WIDTH), "memory": normal(BATCH, keys, WIDTH)},
            {"lengths": i32(lengths)},
            lambda x, memory: {
                "y": layer(
                    x, memory, tgt_mask=hidden_behind(POS),
                    memory_key_padding_mask=padding(lengths, keys),
                )
            },
        )

    return blocks(make)


def transformer(norm_first):
    """torch.nn.Transformer: two layers each way, source lengths, a causal target."""
    torch.manual_seed(5)
    lengths, keys = [4, 6], 6
    layer = with_random_parameters(
        torch.nn.Transformer(
            WIDTH, HEADS, num_encoder_layers=2, num_decoder_layers=2, dim_feedforward=7,
            dropout=0.0, activation="relu" if norm_first else "gelu", batch_first=True,
            norm_first=norm_first,
        )
    )
    hidden = padding(lengths, keys)
    return case(
        layer,
        {"source": normal(BATCH, keys, WIDTH), "target": normal(BATCH, POS, WIDTH)},
        {"lengths": i32(lengths)},
        lambda source, target: {
            "y": layer(
                source, target, tgt_mask=hidden_behind(POS), src_key_padding_mask=hidden,
                memory_key_padding_mask=hidden,
            )
        },
    )


def encoder_layer():
    torch.manual_seed(1)
    layer = with_random_parameters(
        torch.nn.TransformerEncoderLayer(
            d_model=20, nhead=5, dim_feedforward=33, dropout=0.0, activation="gelu",
            batch_first=True,
        )
    )
    return case(layer, {"x": normal(2, 7, 20)}, {}, lambda x: {"y": layer(x)})
