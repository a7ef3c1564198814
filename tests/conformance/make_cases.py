#!/usr/bin/env python3
"""Writes ONNX node tests as safetensors files, one for each case: make_cases.py FOLDER

The cases come from the generators of the package onnx, which Python has to find. A file has the
tensors `input.NAME` and `output.NAME`; its metadata have the operator, the version of its operator set,
and, as JSON, its attributes and the names of its inputs and outputs in order.
"""

import importlib
import json
import pathlib
import struct
import sys

import numpy
import onnx
from onnx.backend.test.case import node as cases

MODULES = ("attention", "gelu", "layernormalization", "logsoftmax", "rmsnormalization",
           "rotaryembedding", "softmax")
# Softmax in double precision, which weft does not have.
LEFT_OUT = {"test_attention_local_window_gqa_rank4_mask"}
TYPES = {"bool": "BOOL", "float16": "F16", "bfloat16": "BF16", "float32": "F32", "int64": "I64"}


def attribute(a):
    value = onnx.helper.get_attribute_value(a)
    return value.decode() if isinstance(value, bytes) else value


def safetensors(case):
    """The bytes of a case's file."""
    model, (inputs, outputs) = case.model, case.data_sets[0]
    node = model.graph.node[0]
    tensors = {}
    for kind, names, values in (("input", node.input, inputs), ("output", node.output, outputs)):
        tensors |= zip((f"{kind}.{name}" for name in names if name), map(numpy.asarray, values))
    header = {"__metadata__": {
        "case": case.name,
        "op_type": node.op_type,
        "opset": str(model.opset_import[0].version),
        "attributes": json.dumps({a.name: attribute(a) for a in node.attribute}, sort_keys=True),
        "inputs": json.dumps(list(node.input)),
        "outputs": json.dumps(list(node.output)),
        "source": f"onnx {onnx.__version__} on PyPI: onnx.backend.test.case.node",
        "license": "Apache-2.0, ONNX Project Contributors"}}
    end, data = 0, b""
    for name, tensor in sorted(tensors.items(), key=lambda t: (-t[1].itemsize, t[0])):
        data += tensor.tobytes()
        header[name] = {"dtype": TYPES[tensor.dtype.name], "shape": list(tensor.shape),
                        "data_offsets": [end, len(data)]}
        end = len(data)
    text = json.dumps(header, separators=(",", ":"))
    text += " " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text.encode() + data


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for module in MODULES:  # its classes register their cases
        importlib.import_module(f"{cases.__name__}.{module}")
    for case in cases._NodeTestCases:
        # An expanded case is the same as a graph of several operators.
        if "_expanded" not in case.name and case.name not in LEFT_OUT:
            name = case.name.removeprefix("test_")
            (folder / f"{name}.safetensors").write_bytes(safetensors(case))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
