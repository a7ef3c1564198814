"""What the makers of golden files share: writing them, and the closed formula of parameters."""

import json
import math
import struct

import numpy as np
import torch

torch.set_num_threads(1)


def save(path, tensors):
    """Writes safetensors: the header's length (64 bits, little-endian), the header, the data."""
    names = {np.float32: "F32", np.float64: "F64", np.int32: "I32", np.int64: "I64"}
    header, data = {}, b""
    # The widest elements first: then all are aligned.
    for name, t in sorted(tensors.items(), key=lambda item: -item[1].itemsize):
        raw = np.ascontiguousarray(t).tobytes()
        header[name] = {
            "dtype": names[t.dtype.type],
            "shape": list(t.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def f32(t):
    return t.detach().numpy().astype(np.float32)


def f64(t):
    return np.asarray(t, np.float64)


def i32(t):
    return np.asarray(t, np.int32)


# --- The closed formula, which tests/support/golden_init.hpp has too ---------------------------


def hashes(name, count):
    """Element i of what is called `name`, 32 bits, all arithmetic modulo 2^32:
    x = fnv1a(name) + i * 2654435761; x ^= x >> 15; x *= 2246822519; x ^= x >> 13."""
    h = 2166136261
    for byte in name.encode():
        h = (h ^ byte) * 16777619 % 2**32
    x = (h + np.arange(count, dtype=np.uint64) * np.uint64(2654435761)) % np.uint64(2**32)
    x = x.astype(np.uint32)
    x ^= x >> np.uint32(15)
    x *= np.uint32(2246822519)
    x ^= x >> np.uint32(13)
    return x


def parameter(name, shape):
    """u = (x >> 8) * 2^-24, and s = 2 u - 1 in [-1, 1), both exact in float32. 1 + 0.1f * s for the
    weight of a norm (the last part of the path but one begins with "norm"), else 0.05f * s; each
    operation is rounded to float32."""
    u = (hashes(name, math.prod(shape)) >> np.uint32(8)).astype(np.float32) * np.float32(2**-24)
    s = np.float32(2) * u - np.float32(1)
    path = name.split(".")
    if path[-1] == "weight" and len(path) > 1 and path[-2].startswith("norm"):
        value = np.float32(1) + np.float32(0.1) * s
    else:
        value = np.float32(0.05) * s
    return torch.from_numpy(value.reshape(shape))


def tokens(step, batch, length):
    """[batch, length]: the hashes of "tokens.STEP" modulo 256."""
    x = hashes(f"tokens.{step}", batch * length) % np.uint32(256)
    return torch.from_numpy(x.astype(np.int64).reshape(batch, length))
