#!/usr/bin/env python3
"""Reduces a random model that fails, as long as it still fails, and prints it as DSL.

    shrink.py --build BUILD [--target TARGET] --seed SEED NUMBER

Results are removed, and nodes are replaced by inputs with their values.
"""

import argparse
import copy
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import generate
from graphs import Rejected


class Trial:
    def __init__(self, build, target):
        self.build = build.resolve()
        compdb = subprocess.run(["ninja", "-C", build, "-t", "compdb"], capture_output=True,
                                text=True, check=True).stdout
        self.compile = next(e["command"] for e in json.loads(compdb)
                            if e["output"].endswith(f"models/{target}/models_0.cpp.o"))
        link = subprocess.run(["ninja", "-C", build, "-t", "commands", target],
                              capture_output=True, text=True, check=True).stdout.splitlines()[-1]
        # The program's own files, without the models and their generated code.
        self.link = re.sub(r"\S+/(models|weft_models)/\S+\.o", "", link)

    def fails(self, model):
        with tempfile.TemporaryDirectory() as folder:
            stem = pathlib.Path(folder) / "one"
            try:
                generate.write_files([model], stem)
            except Rejected:
                return False
            source, made, program = stem.with_suffix(".cpp"), stem.with_suffix(".o"), stem
            command = re.sub(r" -o \S+ -c \S+", f" -o {made} -c {source}", self.compile)
            command = re.sub(r" -MF \S+", f" -MF {made}.d", command)
            if subprocess.run(command, shell=True, cwd=self.build, capture_output=True).returncode:
                return False
            command = re.sub(r" -o \S+", f" {made} -o {program}", self.link, count=1)
            if subprocess.run(command, shell=True, cwd=self.build, capture_output=True).returncode:
                return False
            return subprocess.run([program, "-l", "nothing"], capture_output=True).returncode != 0


def with_results(model, results, loss):
    """The model with only these results, with or without its loss."""
    m = copy.copy(model)
    g = m.graph = copy.copy(model.graph)
    m.results = results
    m.trained = model.trained and loss
    if not loss:
        g.loss = None
    return m


def as_input(model, index):
    """The model with a node replaced by an input with its value."""
    m = copy.copy(model)
    g = m.graph = copy.copy(model.graph)
    g.values, g.inputs = list(g.values), dict(g.inputs)
    old = g.values[index]
    name, array = f"given{index}", old.clean
    cpp = {"float": "float", "int": "std::int32_t", "bool": "bool"}[old.kind]
    old_text, old_operands, old_run = old.text, old.operands, old.run
    old.text = f's.input<"{name}", {cpp}{"".join(f", {a}" for a in old.axes)}>()'
    old.operands, old.run = [], lambda noise: array
    g.inputs[name] = old

    def undo():
        old.text, old.operands, old.run = old_text, old_operands, old_run

    return m, undo


def remade(m, seed):
    """The model with values computed again: gradients change with the inputs."""
    m.evaluate(seed)
    return m


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--target", default="weft_random_test", help="which program has it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("number", type=int)
    args = parser.parse_args()
    trial = Trial(args.build, args.target)
    model = generate.model_of(args.seed, args.number)
    model.generated = model.generated_training = False
    if not trial.fails(model):
        print("shrink: it does not fail without its generated code")
        return 1
    for result in model.results:
        if trial.fails(smaller := with_results(model, [result], False)):
            model = smaller
            break
    else:
        if trial.fails(smaller := with_results(model, model.results[:1], True)):
            model = smaller
    # The first node that is wrong as the only result ends the model.
    for v in model.needed():
        if not v.operands or v.kind != "float" or getattr(v, "masked", False):
            continue
        try:
            smaller = remade(with_results(model, [("r0", v)], False), model.graph.seed)
        except Rejected:
            continue
        if trial.fails(smaller):
            model = smaller
            break
    for v in reversed(list(model.needed())):
        if not v.operands or v.drops or v.index not in {n.index for n in model.needed()}:
            continue
        if v in [r for _, r in model.results] or v is model.graph.loss:
            continue
        smaller, undo = as_input(model, v.index)
        try:
            fails = trial.fails(remade(smaller, model.graph.seed))
        except Rejected:
            fails = False
        if fails:
            model = smaller
        else:
            undo()
    print(model.model_text())
    for a in model.used_axes:
        print(f"// The length of {a} is {model.graph.axes[a].length}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
