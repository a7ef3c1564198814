#!/usr/bin/env python3
"""The program listen against a float64 evaluation in numpy: of random weights, over WAV files in every
format that it reads, and what it says of wrong ones.

In a terminal: tests/examples/listen.py LISTEN FOLDER, or, with PyPI's onnx and onnxruntime,
tests/examples/listen.py LISTEN FOLDER --onnx silero_vad_16k_op15.onnx: the same weights in both, over a
minute of sound, and the time that a frame takes.
"""

import argparse
import json
import os
import shutil
import struct
import subprocess
import time
from pathlib import Path

import numpy as np

SHAPES = {
    "stft_conv.weight": (258, 1, 256), "conv1.weight": (128, 129, 3), "conv1.bias": (128,),
    "conv2.weight": (64, 128, 3), "conv2.bias": (64,), "conv3.weight": (64, 64, 3), "conv3.bias": (64,),
    "conv4.weight": (128, 64, 3), "conv4.bias": (128,), "lstm_cell.weight_ih": (512, 128),
    "lstm_cell.weight_hh": (512, 128), "lstm_cell.bias_ih": (512,), "lstm_cell.bias_hh": (512,),
    "final_conv.weight": (1, 128, 1), "final_conv.bias": (1,),
}


def random_weights(random):
    """Of a scale that keeps that of the sound; probabilities are on both sides of a half."""
    weights = {}
    for name, shape in SHAPES.items():
        scale = (2 / np.prod(shape[1:])) ** 0.5 if len(shape) > 1 else 0.1
        weights[name] = (scale * random.standard_normal(shape)).astype("<f4")
    weights["final_conv.weight"] *= 10
    return weights


def write_safetensors(file, tensors):
    header, at = {}, 0
    for name, t in tensors.items():
        header[name] = {"dtype": "F32", "shape": t.shape, "data_offsets": [at, at + t.nbytes]}
        at += t.nbytes
    text = json.dumps(header).encode()
    file.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(t.tobytes() for t in tensors.values()))


def probabilities(weights, samples, errors=None):
    """Of each frame. With `errors`, a generator, each node has the rounding errors of float32, drawn."""
    w = {name: t.astype(np.float64) for name, t in weights.items()}

    def drawn(x, size):
        return x if errors is None else x + 2.0**-24 * size * errors.standard_normal(np.shape(x))

    def summed(formula, a, b, count):
        """A sum of `count` products, whose partial sums are rounded."""
        size = 0 if errors is None else (count * np.einsum(formula, a * a, b * b, optimize=True)) ** 0.5
        return drawn(np.einsum(formula, a, b, optimize=True), size)

    def convolved(x, weight, bias, stride, pad):
        x = np.pad(x, ((0, 0), (0, 0), (pad, pad)))
        windows = np.lib.stride_tricks.sliding_window_view(x, weight.shape[2], 2)[:, :, ::stride]
        return summed("fipt,oit->fop", windows, weight, np.prod(weight.shape[1:])) + bias[:, None]

    def sigmoid(x):
        y = 1 / (1 + np.exp(-x))
        return drawn(y, 4 * y)

    frames = np.pad(samples, (0, -len(samples) % 512)).reshape(-1, 512)
    context = np.vstack([np.zeros(64), frames[:-1, -64:]])
    x = np.pad(np.hstack([context, frames]), ((0, 0), (0, 64)), "reflect")
    x = convolved(x[:, None], w["stft_conv.weight"], np.zeros(258), 128, 0)
    x = np.hypot(x[:, :129], x[:, 129:])
    x = drawn(x, 2 * x)
    for name, stride in (("conv1", 1), ("conv2", 2), ("conv3", 2), ("conv4", 1)):
        x = np.maximum(convolved(x, w[f"{name}.weight"], w[f"{name}.bias"], stride, 1), 0)
    h = c = np.zeros(128)
    result = []
    for step in x[:, :, 0]:
        gates = (summed("gi,i->g", w["lstm_cell.weight_ih"], step, 128) + w["lstm_cell.bias_ih"]
                 + summed("gi,i->g", w["lstm_cell.weight_hh"], h, 128) + w["lstm_cell.bias_hh"])
        i, f, g, o = gates.reshape(4, 128)
        c = sigmoid(f) * c + sigmoid(i) * drawn(np.tanh(g), 4)
        c = drawn(c, 2 * np.abs(c))
        h = sigmoid(o) * drawn(np.tanh(c), 4)
        score = summed("i,i->", w["final_conv.weight"][0, :, 0], np.maximum(h, 0), 128)
        result.append(sigmoid(score + w["final_conv.bias"][0]))
    return np.array(result)


def tolerance(weights, samples):
    """Four times the largest of the differences that drawn errors make."""
    exact = probabilities(weights, samples)
    drawn = [probabilities(weights, samples, np.random.default_rng(seed)) for seed in range(4)]
    return 4 * np.abs(np.array(drawn) - exact).max()


def segments(probabilities, samples, threshold, negative, min_speech, min_silence, pad):
    """get_speech_timestamps_from_probs of the package silero-vad, without a longest speech; in samples."""
    found, begin, end = [], None, None
    for at, p in enumerate(probabilities):
        at *= 512
        if p >= threshold:
            begin, end = at if begin is None else begin, None
        elif p < negative and begin is not None:
            end = at if end is None else end
            if at - end >= 16 * min_silence:
                found += [[begin, end]] if end - begin > 16 * min_speech else []
                begin = end = None
    if begin is not None and samples - begin > 16 * min_speech:
        found.append([begin, samples])
    for i, one in enumerate(found):
        between = one[0] - previous if i > 0 else 32 * pad
        previous = one[1]
        before = 16 * pad if between >= 32 * pad else between // 2
        one[0] = max(0, one[0] - before)
        if i > 0:
            found[i - 1][1] += before
    if found:
        found[-1][1] = min(samples, found[-1][1] + 16 * pad)
    return found


def wav(samples, rate=16000, kind="<i2", channels=1, extensible=False, said=None):
    """Bytes of a WAV file and the numbers that they stand for. `said` is what it says is their size."""
    if channels == 2:
        samples = np.stack([samples * 1.5, samples * 0.5], 1)
    if kind == "<f4" or kind == "<f8":
        stored = samples.astype(kind)
        values, data = stored.astype(np.float64), stored.tobytes()
    else:
        bits = 24 if kind == "<i3" else 8 * np.dtype(kind).itemsize
        whole = np.round(samples * 2.0 ** (bits - 1)).astype(np.int64)
        values = whole / 2.0 ** (bits - 1)
        stored = (whole + (128 if kind == "u1" else 0)).astype("<i8")
        data = stored.ravel().view("u1").reshape(-1, 8)[:, : bits // 8].tobytes()
    size = len(data) // np.size(samples)
    code = 3 if "f" in kind else 1
    form = struct.pack("<HHIIHH", 0xFFFE if extensible else code, channels, rate, rate * channels * size,
                       channels * size, 8 * size)
    if extensible:
        form += struct.pack("<HHIH14s", 22, 8 * size, 0, code, b"\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71")
    length = len(data) if said is None else said
    head = b"RIFF" + struct.pack("<I", 0) + b"WAVELIST" + struct.pack("<I", 3) + b"abc\0"
    head += b"fmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", length)
    return head + data, values.mean(1) if channels == 2 else values


def resampled(samples, rate):
    """Its definition, a sample at a time: see examples/listen/resampler.hpp."""
    cutoff = min(1, 16000 / rate)
    half = int(np.ceil(16 / cutoff))
    result = []
    for n in range(-(-len(samples) * 16000 // rate)):
        whole, rest = divmod(n * rate, 16000)
        at = np.arange(whole - half + 1, whole + half + 1)
        x = at - whole - rest / 16000
        window = 0.42 + 0.5 * np.cos(np.pi * x / half) + 0.08 * np.cos(2 * np.pi * x / half)
        taps = np.maximum(window, 0) * np.sinc(cutoff * x)
        inside = (at >= 0) & (at < len(samples))
        result.append(taps[inside] @ samples[at[inside]] / taps.sum())
    return np.array(result)


class Tested:
    def __init__(self, program, folder):
        self.program, self.folder, self.model = program, folder, folder / "model.safetensors"
        self.wrong = []

    def run(self, *arguments, data=b""):
        model = [] if "--model" in arguments else ["--model", self.model]
        done = subprocess.run([self.program, *model, *arguments], input=data, capture_output=True,
                              check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def file(self, data):
        file = self.folder / "sound.wav"
        file.write_bytes(data)
        return file

    def heard(self, name, *arguments, data=b"", remark=""):
        """What it prints of each frame, and the segments."""
        status, out, text = self.run("--json", "--frames", *arguments, data=data)
        lines = text.splitlines()
        known = len(lines) == (2 if remark else 1) and remark in lines[0] and "us a frame" in lines[-1]
        if status != 0 or not known:
            self.wrong.append(f"{name}: status {status}, and not the sentence '{remark}': {text}")
        rows = [json.loads(line) for line in out.splitlines()]
        return (np.array([r["probability"] for r in rows if "frame" in r]),
                [[round(16000 * x) for x in r["speech"]] for r in rows if "speech" in r])

    def close(self, name, got, expected, most):
        off = np.abs(got - expected).max() if got.shape == expected.shape else np.inf
        print(f"{name}: off by {off:.2g}, at most {most:.2g}")
        if not off <= most:
            self.wrong.append(f"{name}: {len(got)} of {len(expected)} frames, off by {off}")

    def refuses(self, name, words, *arguments, data=b""):
        status, out, text = self.run(*arguments, data=data)
        if status != 2 or words not in text or text.count("\n") != 1 or out:
            self.wrong.append(f"{name}: status {status}, and not the sentence '{words}': {text}{out}")


def check_formats(t, weights, sound, most):
    for rate in (16000, 8000, 44100, 48000):
        data, values = wav(sound[: 8192 if rate != 16000 else None], rate)
        heard = values if rate == 16000 else resampled(values, rate)
        t.close(f"{rate} Hz", t.heard(rate, t.file(data))[0], probabilities(weights, heard), 2 * most)
    for kind in ("u1", "<i3", "<i4", "<f4", "<f8"):
        for more in ({}, {"channels": 2, "extensible": True}):
            data, values = wav(sound, kind=kind, **more)
            t.close(f"{kind} {more}", t.heard(kind, t.file(data))[0], probabilities(weights, values), most)
    data, values = wav(sound)
    expected = probabilities(weights, values)
    raw = data[-2 * len(values):]
    t.close("raw samples", t.heard("raw", "-", data=raw)[0], expected, most)
    for said in (0, 0x7FFFFFFF):
        t.close("from a pipe", t.heard("pipe", "-", data=wav(sound, said=said)[0])[0], expected, most)
    t.close("cut off", t.heard("cut off", t.file(wav(sound, said=2 * len(sound) + 8)[0]),
                               remark="before the end that its header says")[0], expected, most)
    t.close("half a sample", t.heard("half", "-", data=raw + b"x",
                                     remark="within a sample, after 1.250 s; its last 1 bytes")[0],
            expected, most)
    # What is not a number is silence, and what is heard before and after it is what it was.
    gap = sound.copy()
    gap[1000:1003] = 0
    expected = probabilities(weights, wav(gap, kind="<f4")[1])
    gap[1000:1003] = np.nan, np.inf, -2e6
    t.close("no numbers", t.heard("no numbers", t.file(wav(gap, kind="<f4")[0]),
                                  remark="has 3 samples, the first at 0.062 s, that are not finite")[0],
            expected, most)


def check_segments(t, sound):
    file = t.file(wav(sound)[0])
    p = t.heard("segments", file)[0]
    some = 0
    for quantile in (0.2, 0.4, 0.5, 0.6, 0.8):
        for speech, silence, pad in ((250, 100, 30), (32, 0, 30), (64, 40, 60), (0, 64, 0)):
            high, low = np.quantile(p, quantile), np.quantile(p, quantile - 0.05)
            got = t.heard("segments", file, "--threshold", f"{high:.6f}", "--negative", f"{low:.6f}",
                          "--min-speech", str(speech), "--min-silence", str(silence), "--pad", str(pad))[1]
            expected = segments(p, len(sound), round(high, 6), round(low, 6), speech, silence, pad)
            some += len(got)
            if got != expected:
                t.wrong.append(f"segments {quantile} {speech} {silence} {pad}: {got}, not {expected}")
    if some < 20:
        t.wrong.append(f"there are only {some} segments to compare")


def check_refusals(t, sound):
    good = wav(sound)[0]
    at = good.index(b"fmt ") + 8

    def changed(where, *values):
        return good[: at + where] + struct.pack("<" + "H" * len(values), *values) + good[at + where + 2 * len(values):]

    for name, words, data in (
        ("empty", "sound.wav is empty", b""),
        ("no WAV", "sound.wav is no WAV file; raw samples are read from standard input", b"ID3" * 100),
        ("big-endian", "is no WAV file", b"RIFX" + good[4:]),
        ("short header", "sound.wav ends before its samples", good[: at + 8]),
        ("no samples", "sound.wav has no samples", good[: -2 * len(sound)]),
        ("no format", "has samples before their format", good[:at - 8] + b"data" + good[at - 4:]),
        ("format", "has samples of format 85; PCM (1) and floats (3) are read", changed(0, 85)),
        ("no channels", "has 0 channels; 1 to 64 are read", changed(2, 0)),
        ("rate", "has a rate of 1000 Hz; 4000 to 384000 Hz are read", changed(4, 1000, 0)),
        ("bits", "has samples of 64 bits; PCM of 8 to 32 bits", changed(14, 64)),
    ):
        t.refuses(name, words, t.file(data))
    t.refuses("empty pipe", "standard input is empty", "-")
    t.refuses("no file", "cannot read", t.folder / "not_there.wav")
    t.refuses("directory", "is a directory; name a WAV file", t.folder)
    t.refuses("rate of raw samples", "standard input has a rate of 1 Hz", "-", "--rate", "1", data=b"x" * 99)
    t.refuses("threshold", "--threshold", t.file(good), "--threshold", "2")
    t.refuses("nan", "--negative: nan is not a number", t.file(good), "--negative", "nan")
    t.refuses("no model", "--model: there is no", t.file(good), "--model", t.folder / "not_there")
    t.refuses("no weights", "the file has", t.file(good), "--model", t.file(b""))


def check_picture(t, sound):
    picture = t.folder / "sound.png"
    picture.unlink(missing_ok=True)
    status, out, _ = t.run(t.file(wav(sound)[0]), "--threshold", "0", "--picture", picture)
    if status != 0 or "from s" not in out or not picture.read_bytes().startswith(b"\x89PNG"):
        t.wrong.append(f"picture: status {status}: {out}")


def check_gate(t, bundle, host, sound):
    """Of the LV2 plugin, run by lv2apply: a frame later, it lets through what is speech by the program."""
    copy = shutil.copytree(bundle, t.folder / "lv2" / "gate.lv2", dirs_exist_ok=True)
    shutil.copy(t.model, copy / "silero_vad_16k.safetensors")
    file, out = t.file(wav(sound, kind="<f4")[0]), t.folder / "gated.wav"
    p = t.heard("gate", file)[0]
    threshold = np.round(4096 * np.quantile(p, 0.9)) / 4096  # exact in a text, and in float
    low = max(threshold - 0.15, 0.01)
    gains, silent = [0.0], None
    for at, probability in enumerate(p[: len(sound) // 512]):
        if probability >= threshold:
            gains, silent = [*gains, 1.0], None
        else:
            silent = at if silent is None and probability < low else silent
            closes = probability < low and 512 * (at - silent) >= 1600
            gains.append(0.0 if closes else gains[-1])
    part = np.arange(1, 513) / 512
    gain = np.concatenate([a + (b - a) * part for a, b in zip(gains, gains[1:])])
    expected = np.concatenate([np.zeros(512), sound[: len(gain)] * gain])[: len(sound)]
    done = subprocess.run(["lv2apply", "-i", file, "-o", out, "-c", "threshold", f"{threshold:.12g}",
                           "urn:weft:listen:gate"], capture_output=True, check=False,
                          env={**os.environ, "LV2_PATH": str(t.folder / "lv2")})
    if done.returncode != 0:
        t.wrong.append(f"gate: {done.stderr.decode()}")
        return
    data = out.read_bytes()
    got = np.frombuffer(data[data.index(b"data") + 8:], "<f4", len(sound))
    # The sum, the product and the sample's own rounding.
    t.close("gate", got[: len(expected)], expected, 4 * 2.0**-24 * np.abs(sound).max())
    if not {-1, 1} <= set(np.diff(gains)):
        t.wrong.append(f"gate: it does not open and close: {gains}")
    hosted = subprocess.run([host, copy], capture_output=True, check=False)
    if hosted.returncode != 0:
        t.wrong.append(f"gate: {hosted.stdout.decode()}{hosted.stderr.decode()}")
    symbols = subprocess.run(["nm", "-D", "--defined-only", copy / "gate.so"], capture_output=True, check=True)
    if symbols.stdout.decode().split()[2:] != ["lv2_descriptor"]:
        t.wrong.append(f"gate: its symbols are {symbols.stdout.decode()}")


def voice(seconds, random):
    """Syllables of vowels that change, pauses and noise: the detector takes a part of it for speech."""
    at = np.arange(seconds * 16000) / 16000

    def swing(hz):
        return np.sin(2 * np.pi * hz * at)

    pitch = 120 * (1 + 0.15 * swing(0.7))
    phase = 2 * np.pi * np.cumsum(pitch) / 16000
    formants = ((500 + 250 * swing(2.1), 80, 1), (1500 + 600 * swing(1.3), 120, 0.6), (2500, 200, 0.3))
    sound = np.zeros(len(at))
    for k in range(1, 30):
        sound += np.sin(k * phase) * sum(g / (1 + ((k * pitch - f) / width) ** 2) for f, width, g in formants)
    return 0.15 * sound * np.maximum(0, swing(2)) * (swing(0.1) > 0) + 0.01 * random.standard_normal(len(at))


def compare_with_onnx(t, file, random):
    """The weights of the package's ONNX file, which are others than those of its safetensors file."""
    import onnx
    import onnxruntime

    tensors = [onnx.numpy_helper.to_array(i) for i in onnx.load(file).graph.initializer]
    weights = dict(zip(SHAPES, tensors, strict=True))
    assert all(t.shape == SHAPES[name] for name, t in weights.items())
    write_safetensors(t.model, weights)
    sound = voice(60, random)
    data, values = wav(np.clip(sound, -0.99, 0.99))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    x = values.astype(np.float32).reshape(-1, 512)
    x = np.hstack([np.vstack([np.zeros((1, 64), np.float32), x[:-1, -64:]]), x])
    state, rate = np.zeros((2, 1, 128), np.float32), np.array(16000, np.int64)
    result, times = [], []
    for frame in x[:, None]:
        begin = time.perf_counter()
        p, state = session.run(None, {"input": frame, "state": state, "sr": rate})
        times.append(time.perf_counter() - begin)
        result.append(p[0, 0])
    status, out, text = t.run("--json", "--frames", t.file(data))
    got = np.array([json.loads(line)["probability"] for line in out.splitlines() if "frame" in line])
    exact, most = probabilities(weights, values), tolerance(weights, values)
    t.close("listen and float64", got, exact, most)
    t.close("onnxruntime and float64", np.array(result), exact, most)
    t.close("listen and onnxruntime", got, np.array(result), 2 * most)
    print(f"onnxruntime {onnxruntime.__version__}: {1e6 * np.median(times):.1f} us a frame, one thread\n{text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--onnx")
    parser.add_argument("--gate", nargs=2, help="the plugin's bundle, and a host of gate_host.cpp")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    t = Tested(options.program, options.folder)
    random = np.random.default_rng(1)
    if options.onnx:
        compare_with_onnx(t, options.onnx, random)
    else:
        weights = random_weights(random)
        write_safetensors(t.model, weights)
        # Bursts of noise; it ends within a frame.
        at = np.arange(59504)
        sound = np.clip(0.2 * random.standard_normal(len(at)) * np.sin(at / 5000) ** 2, -0.6, 0.6)
        check_formats(t, weights, sound[:20000], tolerance(weights, sound[:20000]))
        check_segments(t, sound)
        check_refusals(t, sound)
        check_picture(t, sound)
        if options.gate:
            check_gate(t, *options.gate, sound)
    raise SystemExit("\n".join(t.wrong) or 0)


if __name__ == "__main__":
    main()
