#!/usr/bin/env python3
"""Start-up of MiniLM in weft and in onnxruntime: seconds from opening the files to the first
embedding, and megabytes of the process at most, the median of several fresh processes each.
onnxruntime's time is without the import of Python's modules, its memory is what the process had more
afterwards than before it was used; it is left out where onnxruntime and onnx are not installed.

    startup.py PROGRAM [FILE] [--repetitions N]

PROGRAM is bench_startup; FILE is all-MiniLM-L6-v2's model.safetensors, or else one of random
parameters is written beside the program.
"""
import argparse
import json
import pathlib
import statistics
import struct
import subprocess
import sys

# The sentence and sizes of startup.cpp.
SENTENCE = [101, 1037, 4937, 7719, 2006, 1996, 13523, 1998, 12191, 2012, 1996, 102]
LAYERS, HEADS, HEAD_DIM = 6, 12, 32


def tensors_of(path):
    import numpy as np

    raw = path.read_bytes()
    (size,) = struct.unpack("<Q", raw[:8])
    data = memoryview(raw)[8 + size:]
    return {
        name: np.frombuffer(data[t["data_offsets"][0]:t["data_offsets"][1]], np.float32).reshape(
            t["shape"])
        for name, t in json.loads(raw[8:8 + size]).items()
        if name != "__metadata__" and t["dtype"] == "F32"
    }


def write_onnx(weights, path):
    """MiniLM with mean pooling of one sentence without padding, as a graph of ONNX."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    nodes, constants = [], []

    def constant(name, value):
        constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def op(kind, *inputs, **attributes):
        result = f"{kind}_{len(nodes)}"
        nodes.append(helper.make_node(kind, list(inputs), [result], **attributes))
        return result

    def weight(name):
        return constant(name, weights[name])

    def linear(name, x):
        product = op("MatMul", x, constant(name + ".T", weights[name + ".weight"].T))
        return op("Add", product, weight(name + ".bias"))

    def norm(name, x):
        return op("LayerNormalization", x, weight(name + ".LayerNorm.weight"),
                  weight(name + ".LayerNorm.bias"), axis=-1, epsilon=1e-12)

    heads = constant("heads", np.array([0, 0, HEADS, HEAD_DIM]))
    whole = constant("whole", np.array([0, 0, HEADS * HEAD_DIM]))
    half, one = constant("half", np.float32(0.5)), constant("one", np.float32(1))
    root2 = constant("root2", np.float32(2**0.5))
    scale = constant("scale", np.float32(HEAD_DIM**-0.5))

    def split(x, order):
        return op("Transpose", op("Reshape", x, heads), perm=order)

    length = len(SENTENCE)
    e = "embeddings"
    fixed = weights[e + ".position_embeddings.weight"][:length] + weights[
        e + ".token_type_embeddings.weight"][0]
    x = norm(e, op("Add", op("Gather", weight(e + ".word_embeddings.weight"), "tokens"),
                   constant("fixed", fixed)))
    for i in range(LAYERS):
        layer = f"encoder.layer.{i}."
        q = split(linear(layer + "attention.self.query", x), [0, 2, 1, 3])
        k = split(linear(layer + "attention.self.key", x), [0, 2, 3, 1])
        v = split(linear(layer + "attention.self.value", x), [0, 2, 1, 3])
        p = op("Softmax", op("Mul", op("MatMul", q, k), scale), axis=-1)
        mixed = op("Reshape", op("Transpose", op("MatMul", p, v), perm=[0, 2, 1, 3]), whole)
        x = norm(layer + "attention.output",
                 op("Add", x, linear(layer + "attention.output.dense", mixed)))
        h = linear(layer + "intermediate.dense", x)
        gelu = op("Mul", op("Mul", h, half), op("Add", op("Erf", op("Div", h, root2)), one))
        x = norm(layer + "output", op("Add", x, linear(layer + "output.dense", gelu)))
    total = op("ReduceSum", x, constant("axis", np.array([1])), keepdims=0)
    nodes.append(helper.make_node("LpNormalization", [total], ["embedding"], axis=-1, p=2))
    graph = helper.make_graph(
        nodes, "minilm",
        [helper.make_tensor_value_info("tokens", TensorProto.INT64, [1, length])],
        [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, [1, HEADS * HEAD_DIM])],
        constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              path)


WORKER = """
import re, sys, time, numpy, onnxruntime
used = lambda key: int(re.search(key + r":\s*(\d+)", open("/proc/self/status").read())[1]) / 1024
before, begin = used("VmRSS"), time.perf_counter()
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
y, = session.run(None, {"tokens": numpy.array([eval(sys.argv[2])])})
print(time.perf_counter() - begin, used("VmHWM") - before, *y[0, :4])
"""


def measured(command, repetitions):
    lines = [subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
             for _ in range(repetitions + 1)][1:]  # the first reads the files from the disk
    seconds, megabytes = (statistics.median(float(line[i]) for line in lines) for i in (0, 1))
    return seconds, megabytes, [float(x) for x in lines[0][2:]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("file", type=pathlib.Path, nargs="?")
    parser.add_argument("--repetitions", type=int, default=9)
    options = parser.parse_args()
    folder = options.program.resolve().parent
    file = options.file or folder / "startup.safetensors"
    if not file.exists():
        subprocess.run([options.program, file, "--write"], check=True)
    contenders = {"weft": [options.program, file], "weft, frozen": [options.program, file, "--frozen"]}
    try:
        import onnx  # noqa: F401
        import onnxruntime

        graph = folder / "startup.onnx"
        write_onnx(tensors_of(file), str(graph))
        contenders[f"onnxruntime {onnxruntime.__version__}"] = [
            sys.executable, "-c", WORKER, graph, str(SENTENCE)]
    except ImportError as e:
        print(f"onnxruntime is left out: {e}")
    right = None
    for name, command in contenders.items():
        seconds, megabytes, embedding = measured(command, options.repetitions)
        right = right or embedding
        if max(abs(a - b) for a, b in zip(embedding, right)) > 1e-4:
            sys.exit(f"{name} computes something else: {embedding} instead of {right}")
        print(f"{name:24} {1e3 * seconds:8.1f} ms {megabytes:8.0f} MB")


if __name__ == "__main__":
    main()
