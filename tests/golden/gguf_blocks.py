#!/usr/bin/env python3
"""Makes blocks.gguf beside this script, with PyPI's gguf 0.19: random blocks of each block format,
what gguf.quants.dequantize makes of them in float32 ("expected." and the name), and metadata of
each kind.

In a terminal: tests/golden/gguf_blocks.py [the folder to write to]
"""

import sys
from pathlib import Path

import gguf
import numpy as np

FORMATS = {
    # name: bytes of a block, where its float16 scales are; in MXFP4 one of a byte
    "Q4_0": (18, [0]),
    "Q4_1": (20, [0, 2]),
    "Q5_0": (22, [0]),
    "Q5_1": (24, [0, 2]),
    "Q8_0": (34, [0]),
    "Q4_K": (144, [0, 2]),
    "Q5_K": (176, [0, 2]),
    "Q6_K": (210, [208]),
    "IQ4_NL": (18, [0]),
    "MXFP4": (17, []),
}


def blocks(random, count, size, scales):
    raw = random.integers(0, 256, (count, size), dtype=np.uint8)
    for at in scales:
        scale = random.normal(0, 0.05, count).astype(np.float16)
        raw[:, at : at + 2] = scale.view(np.uint8).reshape(count, 2)
    if not scales:
        raw[:, 0] = random.integers(115, 130, count)
    return raw


def main(folder):
    random = np.random.default_rng(1)
    out = gguf.GGUFWriter(folder / "blocks.gguf", "test")
    out.add_uint8("number.uint8", 200)
    out.add_int8("number.int8", -100)
    out.add_uint16("number.uint16", 60000)
    out.add_int16("number.int16", -30000)
    out.add_uint32("number.uint32", 4000000000)
    out.add_int32("number.int32", -2000000000)
    out.add_uint64("number.uint64", 2**63)
    out.add_int64("number.int64", -(2**62))
    out.add_float32("number.float32", 0.5)
    out.add_float64("number.float64", 0.1)
    out.add_bool("flag", True)
    out.add_string("text", "Grüße, 世界")
    out.add_array("texts", ["", "a", "ab\n"])
    out.add_array("integers", [3, -1, 2])
    out.add_array("numbers", [0.25, -1.5])
    for name, (size, scales) in FORMATS.items():
        kind = gguf.GGMLQuantizationType[name]
        raw = blocks(random, 6, size, scales).reshape(2, 3 * size)
        values = gguf.quants.dequantize(raw, kind)
        assert np.isfinite(values).all()
        out.add_tensor(name, raw, raw_dtype=kind)
        out.add_tensor(f"expected.{name}", values)
    values = random.normal(0, 1, (2, 3)).astype(np.float32)
    out.add_tensor("f16", values.astype(np.float16))
    out.add_tensor("expected.f16", values.astype(np.float16).astype(np.float32))
    rounded = gguf.quants.quantize(values, gguf.GGMLQuantizationType.BF16)
    out.add_tensor("bf16", rounded, raw_dtype=gguf.GGMLQuantizationType.BF16)
    out.add_tensor(
        "expected.bf16", gguf.quants.dequantize(rounded, gguf.GGMLQuantizationType.BF16)
    )
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
