#!/usr/bin/env python3
"""What the models of examples/models take to compile: the time and the memory of g++ and clang for a
file with one module, as it is used, at the size of the model that is named. Prints a table.

In a terminal: benchmarks/published.py [--repetitions N]
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
MODELS = ROOT / "examples" / "models"
FLAGS = ["-std=c++20", "-O2", f"-I{ROOT / 'include'}", f"-I{ROOT / 'examples'}", "-c"]
COMPILERS = {
    "g++": ["g++", "-fconstexpr-ops-limit=2000000000"],
    "clang++": ["clang++", "-fconstexpr-steps=2000000000"],
}
# The header, and the modules that a program would make of it.
SIZES = {
    "bert": ["bert<minilm_l6>"],
    "gpt2": ["gpt2<gpt2_small, 256>"],
    "llama": ["llama<smollm2_135m, 256, 2048>"],
    "qwen3": ["qwen3<qwen3_0_6b, 256, 2048>"],
    "gemma3": ["gemma3<gemma3_270m, 256, 2048>"],
    "vit": ["vit<vit_base>"],
    "t5_encoder": ["t5_encoder<t5_small, 512>"],
    "whisper": ["whisper<whisper_tiny>::encoder", "whisper<whisper_tiny>::decoder<4>"],
}


def compile_time(compiler, source, result):
    """Seconds of CPU time and the most memory in MB."""
    child = subprocess.Popen([*compiler, *FLAGS, str(source), "-o", str(result)])
    _, status, used = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"published.py: {source} does not compile")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--repetitions", type=int, default=2, help="the least counts")
    options = parser.parse_args()
    print("| header | lines | " + " | ".join(f"{c}: s, MB" for c in COMPILERS) + " |")
    print("|---|--:|" + "--:|" * len(COMPILERS))
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "model.cpp"
        for header, modules in SIZES.items():
            lines = len((MODELS / f"{header}.hpp").read_text().splitlines())
            members = "\n".join(f"weft::module<{m}> m{i};" for i, m in enumerate(modules))
            runs = "\n".join(f"m{i}.reset();" for i in range(len(modules)))
            source.write_text(
                f"#include <models/{header}.hpp>\nusing namespace models;\n"
                f"void use() {{\n{members}\n{runs}\n}}\n")
            cells = []
            for compiler in COMPILERS.values():
                seconds, memory = min(
                    compile_time(compiler, source, Path(folder) / "model.o") for _ in range(options.repetitions))
                cells.append(f"{seconds:.1f}, {memory:.0f}")
            print(f"| `{header}.hpp` | {lines} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
