"""torch.nn.Conv1d and Conv2d in their options."""

import torch

from layers import BATCH, case, normal, with_random_parameters

POS, ROWS, COLUMNS = 9, 6, 5


def convolved(channels, out, taps, **options):
    """At positions before channels, as many of weft's models have them."""
    layer = with_random_parameters(torch.nn.Conv1d(channels, out, taps, **options))
    return case(
        layer, {"x": normal(BATCH, POS, channels)}, {},
        lambda x: {"y": layer(x.transpose(1, 2)).transpose(1, 2)},
    )


def over_images(channels, out, taps, **options):
    """At channels before rows and columns; the result at channels last, unless there are groups."""
    layer = with_random_parameters(torch.nn.Conv2d(channels, out, taps, **options))
    return case(
        layer, {"x": normal(BATCH, channels, ROWS, COLUMNS)}, {},
        lambda x: {"y": layer(x) if "groups" in options else layer(x).permute(0, 2, 3, 1)},
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
        "depthwise": convolved(5, 5, 3, groups=5, padding=1, bias=False),
        "wider": convolved(5, 10, 4, groups=5),
        "reflected": convolved(5, 3, 5, padding=2, padding_mode="reflect"),
        "replicated": convolved(5, 3, 3, stride=2, padding=3, padding_mode="replicate"),
        "image": over_images(3, 4, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2)),
        "across": over_images(3, 4, (1, 3), padding=(0, 1), padding_mode="reflect"),
        "down": over_images(4, 4, (3, 1), groups=2, bias=False),
    }
    return {f"{c}.{name}": t for c, tensors in cases.items() for name, t in tensors.items()}
