#!/usr/bin/env python3
"""Writes random models as C++ files, each with a file of the values that numpy computes.

    generate.py --seed 1 --count 60 --per-file 10 --out DIR

Graph number i of a seed does not depend on the count. graphs.py defines graphs.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import autograd
import numpy as np
from graphs import Graph, Noise, Rejected

SAFETY = 16  # times the largest deviation that a few random errors cause
ROUNDS = 5
GENERATED = 4  # every fourth also has generated code, from number 100 on every eighth


def numbers(x):
    return " ".join(f"{float(v):.17g}" for v in np.asarray(x, dtype=np.float64).reshape(-1))


def tolerances(graph, wanted, seed):
    """Each node's array, and the tolerance in float32 of each element of the wanted nodes."""
    clean = graph.evaluate(Noise())
    most = {v.index: np.zeros(clean[v.index].shape) for v in wanted}
    for k in range(ROUNDS):
        noisy = graph.evaluate(Noise(np.random.default_rng([seed, k])))
        for v in wanted:
            if v.kind != "float":
                if not np.array_equal(noisy[v.index], clean[v.index]):
                    raise Rejected("hangs on rounding")
                continue
            most[v.index] = np.maximum(most[v.index], np.abs(noisy[v.index] - clean[v.index]))
    result = {}
    for v in wanted:
        x = clean[v.index]
        if v.kind != "float" or not x.size:
            result[v.index] = np.zeros(x.shape)
            continue
        largest = np.max(np.abs(x))
        # Deviations of a few samples may be small by chance: no tolerance is below the mean.
        t = SAFETY * np.maximum(most[v.index], np.mean(most[v.index])) + 1e-6 * largest
        if np.max(t) > 0.02 * max(largest, 1e-30):
            raise Rejected("ill-conditioned")
        result[v.index] = t
    return clean, result


def gradients(graph, seed):
    """Gradients of the loss for elements of each parameter: index, value, tolerance.

    A few by central differences; with PyTorch all by its autograd, once both agree.
    """
    rng = np.random.default_rng([seed, 99])
    step = 2.0**-17

    def difference(name, index, noise):
        both = []
        for sign in (1, -1):
            changed = dict(graph.parameters)
            p = changed[name] = changed[name].copy()
            p.reshape(-1)[index] += sign * step
            both.append(float(graph.evaluate(noise(), changed)[graph.loss.index]))
        return (both[0] - both[1]) / (2 * step)

    chosen = {name: sorted(rng.choice(p.size, min(p.size, 5), replace=False))
              for name, p in graph.parameters.items()}

    def by_differences(noise):
        return {name: np.array([difference(name, i, noise) for i in chosen[name]])
                for name in chosen}

    def by_autograd(noise):
        return {name: g.reshape(-1) for name, g in autograd.gradients(graph, noise()).items()}

    def with_errors(method):
        exact = method(Noise)
        noisy = [method(lambda: Noise(np.random.default_rng([seed, k]))) for k in range(3)]
        return exact, {name: np.max([np.abs(n[name] - exact[name]) for n in noisy], 0)
                       for name in exact}

    exact, off = with_errors(by_differences)
    largest = max((np.max(np.abs(x), initial=0) for x in exact.values()), default=0)
    if autograd.there():
        differences = exact
        exact, off = with_errors(by_autograd)
        for name, x in differences.items():
            both = np.max(np.abs(x - exact[name][chosen[name]]), initial=0)
            assert both <= 1e-6 * largest + 1e-9, f"graph seed {graph.seed}: gradients of {name} differ"
        chosen = {name: range(x.size) for name, x in exact.items()}
        largest = max((np.max(np.abs(x), initial=0) for x in exact.values()), default=0)
    # Terms as large as the largest gradient may cancel within another.
    typical = max((np.max(x, initial=0) for x in off.values()), default=0)
    tolerance = {name: SAFETY * np.maximum(x, typical / 4) + 3e-6 * largest
                 for name, x in off.items()}
    if any(np.max(t, initial=0) > 0.05 * max(largest, 1e-30) for t in tolerance.values()):
        raise Rejected("ill-conditioned gradient")
    return {name: list(zip(chosen[name], exact[name], tolerance[name])) for name in exact}


class Model:
    """A graph with its values; raises Rejected if they test nothing."""

    def __init__(self, number, graph_seed):
        g = self.graph = Graph(graph_seed)
        self.number, self.name = number, f"model_{number}"
        self.trained = not g.states and g.loss is not None and bool(g.parameters)
        self.results = [(f"r{i}", v) for i, v in enumerate(g.results)]
        self.check_lengths([v for _, v in self.results] + [v for u in g.updates for v in u])
        if self.trained:
            self.check_lengths([g.loss])
        self.evaluate(graph_seed)
        every = GENERATED if number < 100 else 2 * GENERATED
        self.generated = number % every == 0
        self.generated_training = self.trained and number % (2 * every) == 0

    def check_lengths(self, wanted):
        """A length that no input determines is the bound, unlike in this evaluation."""
        nodes, stack = {}, list(wanted)
        while stack:
            v = stack.pop()
            if v.index not in nodes:
                nodes[v.index] = v
                stack += v.operands
        told, used = set(), set()
        for v in nodes.values():
            for name in v.axes + getattr(v, "counts", ()):
                axis = self.graph.axes[self.graph.axes[name].base or name]
                if axis.bounded and not axis.follows and axis.length < axis.extent:
                    used.add(axis.name)
                    if v in self.graph.inputs.values():
                        told.add(axis.name)
        if used != told:
            raise Rejected("a length that no input tells")

    def evaluate(self, seed):
        """Computes its arrays and their tolerances, with and without active dropout."""
        g = self.graph
        wanted = [v for _, v in self.results + g.updates]
        wanted += [g.loss] if g.loss is not None else []
        self.sampled = any(v.drops for v in g.values)
        g.dropping = False
        self.clean, self.tolerance = tolerances(g, wanted, seed)
        g.dropping = self.sampled
        self.dropped, self.dropped_tolerance = (
            tolerances(g, wanted, seed) if self.sampled else (self.clean, self.tolerance))
        self.gradients = gradients(g, seed) if self.trained else {}

    def needed(self):
        """The nodes in order, without dead ones."""
        keep, stack = set(), [v for _, v in self.results] + [v for u in self.graph.updates for v in u]
        stack += [self.graph.loss] if self.graph.loss is not None else []
        stack += [v for v in self.graph.values if v.drops]  # they count those before
        while stack:
            v = stack.pop()
            if v.index not in keep:
                keep.add(v.index)
                stack += v.operands
        return [v for v in self.graph.values if v.index in keep]

    def model_text(self):
        g = self.graph
        nodes = self.needed()
        used = set()
        for v in nodes:
            used |= set(v.axes)
        text = "\n".join(v.text for v in nodes)
        names = [a for a in g.axes if a in used or f"{a}," in text or f"{a}>" in text
                 or f"{a}{{" in text]
        names += [g.axes[a].base for a in names if g.axes[a].base and g.axes[a].base not in names]
        ordered = [a for a in g.axes if a in names]
        lines = [f"namespace {self.name} {{", f"// Graph seed {g.seed}."]
        lines += [g.axes[a].declaration() for a in ordered]
        lines += ["struct model {", "  constexpr auto operator()(weft::scope s) const {",
                  "    using namespace weft;"]
        lines += [f"    {'[[maybe_unused]] ' if v.drops else ''}auto {v.name} = {v.text};"
                  for v in nodes]
        lines += [f"    s.update({s.name}, {v.name});" for s, v in g.updates]
        named = [f'as<"{n}">({v.name})' for n, v in self.results]
        if g.loss is not None:
            named.append(f'as<"loss">({g.loss.name})')
        lines += [f"    return results({', '.join(named)});", "  }", "};", "}"]
        self.used_axes = ordered
        return "\n".join(lines)

    def test_text(self):
        names = "".join(f', "{n}"' for n, _ in self.results)
        code = f"weft::generated<m::model{names}>()" if self.generated else ""
        training = 'weft::generated_training<m::model, "loss">()' if self.generated_training else ""
        lines = [f"BOOST_AUTO_TEST_CASE(random_{self.number}) {{", f"  namespace m = {self.name};",
                 f"  weft::testing::random_model c(WEFT_RANDOM_NUMBERS, \"{self.name}\");"]
        for a in self.used_axes:
            axis = self.graph.axes[a]
            if axis.bounded and not axis.follows:
                lines.append(f"  c.set_length<m::{a}>({axis.length});")
        lines.append(f"  c.check_module<m::model{names}>({code});")
        if self.sampled:
            lines.append(f"  c.check_sampling<m::model{names}>();")
        if self.trained:
            lines.append(f'  c.check_trainer<m::model, "loss">({training});')
        return "\n".join(lines + ["}"])

    def numbers_text(self):
        g, rows = self.graph, [f"model {self.name}"]
        nodes = {v.index for v in self.needed()}
        put = lambda kind, name, x: rows.append(f"{kind} {name} {np.size(x)} {numbers(x)}")
        for name, v in g.inputs.items():
            if v.index in nodes:
                put("input", name, self.clean[v.index])
        for name, v in g.states.items():
            put("state", name, self.clean[v.index])
        for name, p in g.parameters.items():
            put("parameter", name, p)
        updated = {v.index: n for n, v in g.states.items()}
        updates = [(updated[s.index], v) for s, v in g.updates]
        for mode, clean, tolerance in (("", self.clean, self.tolerance),
                                       ("sampled_", self.dropped, self.dropped_tolerance)):
            for what, outcomes in (("result", self.results), ("updated", updates)):
                for name, v in outcomes:
                    put(mode + what, name, clean[v.index])
                    put(f"{mode}{what}_tolerance", name, tolerance[v.index])
        if g.loss is not None:
            put("sampled_result", "loss", self.dropped[g.loss.index])
            put("sampled_result_tolerance", "loss", self.dropped_tolerance[g.loss.index])
        for name, elements in self.gradients.items():
            put("gradient", name, elements)
        return "\n".join(rows + ["end"])


def model_of(seed, number):
    """The first graph of this number that is not rejected."""
    for attempt in range(200):
        try:
            return Model(number, seed * 10**9 + number * 1000 + attempt)
        except Rejected:
            continue
    raise RuntimeError(f"no graph for seed {seed}, number {number}")


def write_files(models, stem, tested_by="random/random_model.hpp"):
    header, test, data = (stem.with_suffix(x) for x in (".hpp", ".cpp", ".txt"))
    header.write_text("\n".join(["#pragma once", '#include "weft/weft.hpp"', ""]
                                + [m.model_text() + "\n" for m in models]))
    test.write_text("\n".join([f'#include "{header.name}"', f'#include "{tested_by}"',
                               f'#define WEFT_RANDOM_NUMBERS "{data.resolve()}"', ""]
                              + [m.test_text() + "\n" for m in models]))
    data.write_text("\n".join(m.numbers_text() for m in models) + "\n")


def cmake_text(models, target, header):
    """Adds their generated code: models of the same results, a few at a time, are one file."""
    groups = {}
    for m in models:
        if m.generated:
            groups.setdefault("RESULTS " + " ".join(n for n, _ in m.results), []).append(m)
        if m.generated_training:
            groups.setdefault("TRAINING loss", []).append(m)
    return [f"weft_add_model({target} {header} {' '.join(f'{m.name}::model' for m in group[i:i + 4])}"
            f" {results})"
            for results, group in groups.items() for i in range(0, len(group), 4)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--per-file", type=int, default=10)
    parser.add_argument("--streams", type=int, default=0, help="how many models of streams.py, too")
    parser.add_argument("--target", default="weft_random_test", help="of CMake")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    models = [model_of(args.seed, i) for i in range(args.first, args.first + args.count)]
    # Those with generated code are together, as far as they go into the same file.
    models.sort(key=lambda m: not (m.generated or m.generated_training))
    cmake = []
    for begin in range(0, len(models), args.per_file):
        some = models[begin:begin + args.per_file]
        stem = args.out / f"models_{begin // args.per_file}"
        write_files(some, stem)
        cmake.append(f"target_sources({args.target} PRIVATE {stem.with_suffix('.cpp').resolve()})")
        cmake += cmake_text(some, args.target, stem.with_suffix(".hpp").name)
    if args.streams:
        from streams import stream_of
        some = [stream_of(args.seed, i) for i in range(args.streams)]
        write_files(some, args.out / "streams", "random/stream.hpp")
        cmake.append(f"target_sources({args.target} PRIVATE {(args.out / 'streams.cpp').resolve()})")
    (args.out / "models.cmake").write_text("\n".join(cmake) + "\n")


if __name__ == "__main__":
    main()
