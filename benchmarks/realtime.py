#!/usr/bin/env python3
"""Frames of Silero's detector in onnxruntime, one thread, as bench_realtime measures weft's: the first,
the median, the 99.9th percentile and the worst of 100,000, in microseconds; the binding's share is in.

    PYTHON benchmarks/realtime.py silero_vad_16k_op15.onnx   # of PyPI's silero-vad; PYTHON has onnxruntime
"""

import sys
import time

import numpy as np
import onnxruntime

options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
samples = (np.arange(1, 577) * 37 % 101 / 50 - 1).astype(np.float32)[None]
memory = {"input": samples, "state": np.zeros((2, 1, 128), np.float32), "sr": np.array(16000, np.int64)}


def frame():
    begin = time.perf_counter()
    memory["state"] = session.run(None, memory)[1]
    return 1e6 * (time.perf_counter() - begin)


first, times = frame(), sorted(frame() for _ in range(100_000))
row = first, times[50_000], times[99_900], times[-1]
print(f"{f'realtime/silero, onnxruntime {onnxruntime.__version__}':<36}", *(f"{x:9.1f}" for x in row))
