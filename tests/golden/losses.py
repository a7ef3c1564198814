"""torch.nn's normalizations without bias and with stored statistics, and losses, which are scalars."""

import torch
from torch.nn import functional

from golden import f32, i32
from layers import BATCH, EMBED, POS, case, normal

CLASSES = 7


def layer_norm():
    """torch.nn.LayerNorm without bias, which PyTorch has from version 2.1 on."""
    layer = torch.nn.Module()
    layer.weight = torch.nn.Parameter(normal(EMBED))
    return case(
        layer, {"x": normal(BATCH, POS, EMBED)}, {},
        lambda x: {"y": functional.layer_norm(x, (EMBED,), layer.weight)},
    )


def batch_norm():
    """In evaluation, where running statistics have no gradients."""
    layer = torch.nn.Module()
    for name in ("weight", "bias", "running_mean"):
        setattr(layer, name, torch.nn.Parameter(normal(EMBED)))
    layer.running_var = torch.nn.Parameter((normal(EMBED) ** 2).float().double())

    def compute(x):
        statistics = layer.running_mean, layer.running_var
        for t in statistics:
            t.grad = torch.zeros_like(t)
        return {"y": functional.batch_norm(
            x, *(t.detach() for t in statistics), layer.weight, layer.bias, eps=1e-3)}

    return case(layer, {"x": normal(BATCH, EMBED, POS)}, {}, compute)


def cross_entropy(targets, **options):
    targets = torch.tensor(targets)
    return case(
        torch.nn.Identity(), {"x": normal(*targets.shape, CLASSES)}, {"targets": i32(targets)},
        lambda x: {"y": functional.cross_entropy(
            x.flatten(0, -2), targets.flatten(), **options)},
    )


def binary(x, y, pos_weight=None):
    return case(
        torch.nn.Identity(), {"x": x.clone(), "y": y.clone()},
        {} if pos_weight is None else {"pos_weight": f32(pos_weight)},
        lambda x, y: {"y": functional.binary_cross_entropy_with_logits(
            x, y, pos_weight=pos_weight)},
    )


def losses():
    torch.manual_seed(10)
    some = [[3, 0, -100, 6, 1], [2, -100, 5, 5, 4]]
    logits = normal(BATCH, POS)
    logits[0, 0], logits[1, 1] = 0, 60
    share = torch.rand(BATCH, POS).double()
    weight = torch.rand(POS).double() * 2
    cases = {
        "layer_norm": layer_norm(),
        "batch_norm": batch_norm(),
        "all": cross_entropy([[3, 0, 1, 6, 1], [2, 0, 5, 5, 4]]),
        "some": cross_entropy(some),
        "smooth": cross_entropy(some, label_smoothing=0.25),
        "others": cross_entropy([[3, 0, 2, 2, 1]] * 2, ignore_index=2, label_smoothing=0.5),
        "binary": binary(logits, share),
        "weighted": binary(logits, share, weight),
    }
    return {f"{c}.{name}": t for c, tensors in cases.items() for name, t in tensors.items()}
