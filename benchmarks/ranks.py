#!/usr/bin/env python3
"""A training step on ranks: weft on 1 and 2 threads, on 1 to 8 ranks, and torch's
DistributedDataParallel (gloo), in turns; and what a model of messages says about more ranks.

    ranks.py PROGRAM [--torch PYTHON] [--rounds N]    measures; PROGRAM is bench_ranks
    ranks.py --plan [--parameters N] [--shard-ms MS] [--latency-us US] [...]    calculates

The model is that of training/step: 8 texts of 128 tokens, 0.8 million parameters. A row is the
least of the rounds' medians.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

TORCH = r"""
import os, sys, time
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

ranks, threads, texts = int(sys.argv[1]), int(sys.argv[2]), 8
rank = int(os.environ.get("RANK", 0))
os.sched_setaffinity(0, {rank} if threads == 1 else set(range(threads)))
torch.set_num_threads(threads)

class Block(nn.Module):
    def __init__(self, embed=128, heads=4, hidden=512):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(embed), nn.LayerNorm(embed)
        self.qkv, self.out = nn.Linear(embed, 3 * embed), nn.Linear(embed, embed)
        self.up, self.down = nn.Linear(embed, hidden), nn.Linear(hidden, embed)

    def forward(self, x):
        b, n, e = x.shape
        q, k, v = (t.view(b, n, self.heads, -1).transpose(1, 2)
                   for t in self.qkv(self.norm1(x)).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, n, e))
        return x + self.down(F.relu(self.up(self.norm2(x))))

class Model(nn.Module):
    def __init__(self, vocab=96, embed=128, n=128):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocab, embed), nn.Embedding(n, embed)
        self.blocks = nn.Sequential(*[Block() for _ in range(4)])
        self.norm, self.head = nn.LayerNorm(embed), nn.Linear(embed, vocab)

    def forward(self, x, y):
        h = self.tokens(x) + self.positions.weight
        return F.cross_entropy(self.head(self.norm(self.blocks(h))).flatten(0, 1), y.flatten())

torch.manual_seed(0)
model = Model()
if ranks > 1:
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    model = nn.parallel.DistributedDataParallel(model)
step_of = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2, fused=True)
x, y = (torch.randint(96, (texts // ranks, 128)) for _ in range(2))
times = []
for i in range(43):
    begin = time.perf_counter()
    step_of.zero_grad(set_to_none=True)
    model(x, y).backward()
    step_of.step()
    if i >= 3:
        times.append(time.perf_counter() - begin)
if rank == 0:
    print(sorted(times)[len(times) // 2] * 1e3)
"""


def environment():
    # Variables that slow a peer's libraries down have no place in a measurement.
    kept = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
    return {**kept, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29511"}


def weft(program, ranks, *options):
    cores = os.cpu_count()
    bound = ["--bind-to", "core"] if ranks <= cores and "--threads" not in options else ["--bind-to", "none"]
    run = ["mpirun", "--oversubscribe", *bound, "-n", str(ranks), program, *options]
    return json.loads(subprocess.run(run, env=environment(), check=True, text=True,
                                     capture_output=True).stdout)


def torch(python, ranks, threads):
    run = [subprocess.Popen([python, "-c", TORCH, str(ranks), str(threads)], text=True,
                            stdout=subprocess.PIPE, env={**environment(), "RANK": str(r)})
           for r in range(ranks)]
    said = [process.communicate()[0] for process in run]
    return {"ms": float(said[0])}


def measure(arguments):
    program = str(arguments.program.resolve())
    rows = {
        "weft::trainer, 1 thread": lambda: weft(program, 1, "--trainer"),
        "weft::trainer, 2 threads": lambda: weft(program, 1, "--trainer", "--threads", "2"),
    }
    for ranks in (1, 2, 4, 8):
        rows[f"weft, {ranks} ranks, 8 shards"] = lambda r=ranks: weft(program, r)
        if ranks > 1:
            rows[f"the same without exchange, {ranks}"] = lambda r=ranks: weft(program, r, "--alone")
    rows["weft, 2 ranks, 2 shards"] = lambda: weft(program, 2, "--shards", "2")
    rows["weft, 2 ranks, 2 shards, divided state"] = lambda: weft(
        program, 2, "--shards", "2", "--divide")
    if arguments.torch:
        rows["torch, 1 thread"] = lambda: torch(arguments.torch, 1, 1)
        rows["torch, 2 threads"] = lambda: torch(arguments.torch, 1, 2)
        rows["torch, 2 ranks"] = lambda: torch(arguments.torch, 2, 1)
    best = {}
    for _ in range(arguments.rounds):
        for name, run in rows.items():
            row = run()
            if name not in best or row["ms"] < best[name]["ms"]:
                best[name] = row
    for name, row in best.items():
        print(f"{name:42} {row['ms']:8.2f} ms")
    two = best["weft, 2 ranks, 8 shards"]
    speed = (1 << 20) / 1e3 / (two["megabyte_us"] - two["message_us"])  # GB/s
    print(f"gradients: {two['bytes'] / 1e6:.2f} MB; messages: {two['message_us']:.1f} us, "
          f"{speed:.2f} GB/s")
    for ranks in (2, 4, 8):
        alone = best[f"the same without exchange, {ranks}"]["ms"]
        # Ranks of one core send one after another, and receiving takes the core as well.
        sent = exchange(ranks, two["bytes"] / 4, two["message_us"], speed) * ranks / os.cpu_count()
        print(f"{ranks} ranks: {alone:.2f} + {sent:.2f} = {alone + sent:.2f} ms calculated, "
              f"{best[f'weft, {ranks} ranks, 8 shards']['ms']:.2f} measured")


def exchange(ranks, parameters, latency_us, gigabytes_per_second):
    """Milliseconds of the exchange of gradients (LogGP: Alexandrov et al. 1995): each rank sends a
    segment to every other one (reduce-scatter), and gets their totals around a ring (all-gather).
    The latency has the overhead of a message and the gap after it; its bytes take the gap for each."""
    bytes_sent = 4 * parameters * (ranks - 1) / ranks
    return 2 * ((ranks - 1) * latency_us / 1e3 + bytes_sent / gigabytes_per_second / 1e6)


def plan(c):
    """A step of any number of ranks, each a machine: its shards one after another, what of the
    exchange is not hidden behind the backward pass of the last one (two thirds of its time), the
    additions of gradients, and the optimizer."""
    print(f"{c.parameters / 1e6:.2f} million parameters, {c.shards} shards of {c.shard_ms} ms; "
          f"messages: {c.latency_us} us, {c.gigabytes_per_second} GB/s")
    print("ranks    ms/step   exchange    exposed  efficiency   ms with divided state   state in MB")
    memory = c.gigabytes_per_second_of_memory * 1e6  # bytes in a millisecond
    passes = 4 * c.parameters / memory  # ms to read or write all gradients once
    one = None
    for ranks in (1, 8, 16, 32, 64, 128, 256, 512, 1024):
        own = -(-c.shards // ranks)
        sent = exchange(ranks, c.parameters, c.latency_us, c.gigabytes_per_second)
        exposed = max(0, sent - c.shard_ms * 2 / 3)
        adds = 3 * passes * (2 * own - 1 + (ranks - 1) / ranks)
        update = 7 * passes  # reads gradients, parameters and two states, and writes all but gradients
        ms = own * c.shard_ms + adds + exposed + update
        # Whole blocks of 32768 parameters have one rank. The reduce-scatter alone can be hidden, and
        # that only if there are several buckets, of a block for each rank.
        blocks = -(-c.parameters // 32768)
        share = -(-blocks // ranks) / blocks
        hidden = c.shard_ms * 2 / 3 if blocks >= 2 * ranks else 0
        divided = (own * c.shard_ms + adds + max(0, sent / 2 - hidden) + update * share + sent / 2)
        one = one or ms
        state = 8e-6 * c.parameters
        print(f"{ranks:5} {ms:10.2f} {sent:10.2f} {exposed:10.2f} {one / ranks / ms:11.2f} "
              f"{divided:15.2f} {state:18.1f} -> {state * share:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", type=pathlib.Path)
    parser.add_argument("--torch", help="a Python that has torch")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--plan", action="store_true")
    parser.add_argument("--parameters", type=float, default=0.834e6)
    parser.add_argument("--shards", type=int, default=1024)
    parser.add_argument("--shard-ms", type=float, default=11.5)
    parser.add_argument("--latency-us", type=float, default=5.0)
    parser.add_argument("--gigabytes-per-second", type=float, default=1.25)
    parser.add_argument("--gigabytes-per-second-of-memory", type=float, default=19.0)
    arguments = parser.parse_args()
    if arguments.plan:
        plan(arguments)
    elif arguments.program:
        measure(arguments)
    else:
        parser.print_usage(sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
