"""Executes the work of a case in PyTorch: a request is a line of JSON followed by its tensors, the
answer is a line. See torch.cpp and tasks.hpp."""
import json
import math
import os
import sys
import time
import warnings

# Read when PyTorch is loaded. Selects AVX-512 where available: PyTorch does not by itself, and
# crashes if told to where it is not. Large allocations stay with the process, or each would be
# paged in again at every step.
environment = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 34)}
with open("/proc/cpuinfo") as cpuinfo:
    if {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= set(cpuinfo.read().split()):
        environment["ATEN_CPU_CAPABILITY"] = "avx512"
if any(os.environ.get(name) != value for name, value in environment.items()):
    os.execve(sys.executable, [sys.executable] + sys.argv, {**os.environ, **environment})

import torch
import torch.nn.functional as F
import torch.utils.mkldnn

warnings.filterwarnings("ignore", category=FutureWarning)  # TorchScript is still faster
requests = os.fdopen(0, "rb", buffering=1 << 20)
answers = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)  # so that output of libraries is not taken for an answer


def seconds_for(f, times, threads):
    clock = time.process_time if threads == 1 else time.perf_counter
    begin = clock()
    for _ in range(times):
        f()
    return clock() - begin


def best_of(candidates, threads):
    """The fastest candidate after warm-up; which one depends on the extents."""
    if len(candidates) == 1:
        return candidates[0]

    def least(f):
        f()
        times = [seconds_for(f, 1, threads)]
        while sum(times) < 0.05:
            times.append(seconds_for(f, 1, threads))
        return min(times)
    return min(candidates, key=least)


def traced(f, *examples):
    module = torch.jit.freeze(torch.jit.trace(f, examples).eval())
    return lambda: module(*examples)


def product(t, about):
    x, w = t["x"], t["w"]
    if not about["packed"]:
        return lambda: x @ w
    module = torch.nn.Linear(w.shape[0], w.shape[1], bias=False).eval()
    module.weight.data = w.t().contiguous()
    candidates = [lambda: x @ w, lambda: module(x)]
    if torch.backends.mkldnn.is_available():
        packed = torch.utils.mkldnn.to_mkldnn(module)
        x_mkldnn = x.to_mkldnn()
        candidates.append(lambda: packed(x_mkldnn).to_dense())
    return best_of(candidates, 1)


def attention(t, about):
    q, k, v = (t[name].transpose(0, 1).contiguous() for name in "qkv")  # contiguous rows per head
    n, depth = q.shape[1:]
    scale = 1 / math.sqrt(depth)
    hidden = torch.full((n, n), -math.inf).triu(1) if about["causal"] else None

    def plain():
        return torch.softmax(torch.baddbmm(hidden, q, k.transpose(1, 2), alpha=scale) if about["causal"]
                             else torch.bmm(q * scale, k.transpose(1, 2)), -1) @ v

    def by_head():  # one head's scores may stay in cache
        out = torch.empty_like(q)
        for h in range(q.shape[0]):
            s = (torch.addmm(hidden, q[h], k[h].t(), alpha=scale) if about["causal"]
                 else (q[h] * scale) @ k[h].t())
            torch.mm(torch.softmax(s, -1), v[h], out=out[h])
        return out

    candidates = [plain, by_head] if n < 4096 else [by_head]
    own = getattr(F, "scaled_dot_product_attention", None)  # since 2.0
    if own:
        candidates.append(lambda: own(q, k, v, is_causal=about["causal"]))
    chosen = best_of(candidates, 1)
    return chosen, lambda y: y.transpose(0, 1)


def encoder(t, about):
    x, heads, threads = t["x"], about["heads"], about["threads"]
    embed, hidden = x.shape[2], t["linear1.bias"].shape[0]
    joined = {kind: torch.cat([t[f"{name}.{kind}"] for name in ("query", "key", "value")])
              for kind in ("weight", "bias")}

    class by_hand(torch.nn.Module):
        def forward(self, x):
            b, n, _ = x.shape
            qkv = F.linear(x, joined["weight"], joined["bias"])
            q, k, v = qkv.view(b, n, 3, heads, embed // heads).permute(2, 0, 3, 1, 4).unbind(0)
            s = torch.softmax((q / math.sqrt(embed // heads)) @ k.transpose(2, 3), -1)
            attended = (s @ v).transpose(1, 2).reshape(b, n, embed)
            between = F.layer_norm(x + F.linear(attended, t["out.weight"], t["out.bias"]), (embed,),
                                   t["norm1.weight"], t["norm1.bias"])
            wide = F.gelu(F.linear(between, t["linear1.weight"], t["linear1.bias"]))
            return F.layer_norm(between + F.linear(wide, t["linear2.weight"], t["linear2.bias"]),
                                (embed,), t["norm2.weight"], t["norm2.bias"])

    own = torch.nn.TransformerEncoderLayer(embed, heads, hidden, dropout=0, activation="gelu",
                                           batch_first=True).eval()
    own.load_state_dict({"self_attn.in_proj_weight": joined["weight"],
                         "self_attn.in_proj_bias": joined["bias"],
                         "self_attn.out_proj.weight": t["out.weight"],
                         "self_attn.out_proj.bias": t["out.bias"],
                         **{name: t[name] for name in own.state_dict() if name in t}})
    module = by_hand().eval()
    return best_of([lambda: own(x), lambda: module(x), traced(module, x)], threads)


def row(t, about):
    x, columns = t["x"], t["x"].shape[1]
    return {"softmax": lambda: torch.softmax(x, -1),
            "layer_norm": lambda: F.layer_norm(x, (columns,), t["gain"], t["bias"]),
            "gelu": lambda: F.gelu(x),
            "gelu_tanh": lambda: F.gelu(x, approximate="tanh"),
            "exp": lambda: torch.exp(x)}[about["kind"]]


def training(t, about):
    tokens, targets = t.pop("tokens").long(), t.pop("targets").long().flatten()
    heads, threads = about["heads"], about["threads"]
    embed = t["tokens.weight"].shape[1]
    n = tokens.shape[1]
    # Weights of the projections to and from heads have an axis for the heads.
    p = {name: (x.reshape(-1, embed) if name.endswith("in_proj_weight")
                else x.reshape(embed, -1) if x.dim() == 3 else x)
         for name, x in t.items()}
    p = {name: (x.flatten() if name.endswith("bias") else x).clone().requires_grad_()
         for name, x in p.items()}
    hidden = torch.full((n, n), -math.inf).triu(1)

    def linear(x, name):
        return F.linear(x, p[name + ".weight"], p[name + ".bias"])

    def norm(x, name):
        return F.layer_norm(x, (embed,), p[name + ".weight"], p[name + ".bias"])

    def by_heads(x):
        return x.view(*x.shape[:2], heads, -1).transpose(1, 2)

    def loss():
        x = F.embedding(tokens, p["tokens.weight"]) + p["positions.weight"]
        for i in range(about["layers"]):
            layer = f"layers.{i}."
            before = norm(x, layer + "norm1")
            joined = F.linear(before, p[layer + "self_attn.in_proj_weight"],
                              p[layer + "self_attn.in_proj_bias"])
            q, k, v = (by_heads(part) for part in joined.chunk(3, -1))
            s = torch.softmax(q @ k.transpose(2, 3) / math.sqrt(embed // heads) + hidden, -1)
            x = x + linear((s @ v).transpose(1, 2).reshape(x.shape), layer + "self_attn.out_proj")
            wide = F.gelu(linear(norm(x, layer + "norm2"), layer + "linear1"))
            x = x + linear(wide, layer + "linear2")
        return F.cross_entropy(linear(norm(x, "norm"), "head").flatten(0, 1), targets)

    optimizer = torch.optim.AdamW(p.values(), lr=1e-3, weight_decay=1e-2, foreach=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        value = loss()
        value.backward()
        optimizer.step()
        return value

    with torch.enable_grad():
        losses = torch.stack([step().detach() for _ in range(about["checked_steps"])])

    def timed():
        with torch.enable_grad():
            step()
    return timed, lambda _: losses


def main():
    torch.set_grad_enabled(False)
    run, shown, threads = None, None, 1
    for line in requests:
        about = json.loads(line)
        if about["work"] == "repeat":
            answer = str(seconds_for(run, about["times"], threads))
            data = b""
        elif about["work"] == "result":
            data = shown(run()).contiguous().numpy().tobytes()
            answer = str(len(data) // 4)
        else:
            tensors = {}
            for one in about["tensors"]:
                count = 4 * math.prod(one["extents"])
                tensors[one["name"]] = torch.frombuffer(
                    bytearray(requests.read(count)), dtype=getattr(torch, one["type"])
                ).reshape(one["extents"])
            threads = about.get("threads", 1)
            torch.set_num_threads(threads)
            # A function that executes the work once, and optionally one that converts its result to
            # the form of weft's.
            made = globals()[about["work"]](tensors, about)
            run, shown = made if isinstance(made, tuple) else (made, lambda y: y)
            answer, data = "ready", b""
        answers.write(answer.encode() + b"\n" + data)
        answers.flush()


main()
