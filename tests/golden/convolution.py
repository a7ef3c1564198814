"""torch.nn.Conv1d in its options, at positions before channels, as weft's models have them."""

import torch

from layers import BATCH, case, normal, with_random_parameters

POS = 9


def convolved(channels, out, taps, **options):
    layer = with_random_parameters(torch.nn.Conv1d(channels, out, taps, **options))
    return case(
        layer, {"x": normal(BATCH, POS, channels)}, {},
        lambda x: {"y": layer(x.transpose(1, 2)).transpose(1, 2)},
    )


def convolution():
    torch.manual_seed(8)
    cases = {
        "inside": convolved(5, 3, 3),
        "one": convolved(3, 4, 1),
        "same": convolved(6, 6, 5, padding=2),
        "strided": convolved(5, 4, 4, stride=2, padding=1),
        "dilated": convolved(5, 3, 3, dilation=3, padding=3),
        "whole": convolved(1, 3, 9),
        "groups": convolved(6, 9, 3, groups=3, padding=1),
        "sparse": convolved(6, 6, 2, groups=2, stride=3, dilation=4, padding=2),
        "depthwise": convolved(5, 5, 3, groups=5, padding=1),
    }
    return {f"{c}.{name}": t for c, tensors in cases.items() for name, t in tensors.items()}
