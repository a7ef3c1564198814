"""Compares the kernels' code of several compilers: where one is slower than another, the loop can
be written better."""
import json
import pathlib
import shutil
import statistics
import subprocess

ROUNDS = {"quick": 6, "full": 10}
# Depending on its memory's addresses, the same program took up to 12 % longer from start to start.
STARTS = {"quick": 2, "full": 4}


def built(compiler, results):
    """Builds the programs with this compiler, in a folder of their own: paths by program name."""
    folder = pathlib.Path(results) / "by" / pathlib.Path(compiler).name
    subprocess.run(["cmake", "--preset", "bench", "-B", folder, f"-DCMAKE_CXX_COMPILER={compiler}"],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--target", "weft_bench"], check=True)
    about = json.loads((folder / "benchmarks" / "about.json").read_text())
    return {pathlib.Path(program).name: program
            for program in about["programs"] + about["without_peers"]}


class worker:
    """A program that is interleaved with others."""

    def __init__(self, program, options):
        self.process = subprocess.Popen([program, *options, "--in-turns"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def case(self):
        """The next case; None after the last."""
        line = self.heard()
        return json.loads(line) if line else None

    def seconds(self):
        self.say("again")
        return float(self.heard())

    def heard(self):
        line = self.process.stdout.readline()
        if not line and self.process.wait():
            raise RuntimeError(f"{self.process.args[0]} ended with {self.process.returncode}")
        return line

    def say(self, what):
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()


def undisturbed(turns):
    """The time by compiler with little disturbance: the lower quartiles. They are more repeatable
    than minima, and than medians of the turns that were quick for all."""
    return {compiler: statistics.quantiles([turn[compiler] for turn in turns], n=4)[0]
            for compiler in turns[0]}


def one_start(programs, options, rounds):
    """Yields, for each case and target, the case and its time by compiler."""
    workers = {compiler: worker(program, options) for compiler, program in programs.items()}
    while case := [one.case() for one in workers.values()][0]:
        turns = [{compiler: one.seconds() for compiler, one in workers.items()}
                 for _ in range(rounds)]
        for one in workers.values():
            one.say("next")
        yield case, undisturbed(turns)


def compare(compilers, about, options, effort):
    """The same for every program, with the minima over several starts."""
    for compiler in compilers:
        if not shutil.which(compiler):
            raise RuntimeError(f"there is no compiler {compiler}")
    programs = {compiler: built(compiler, about["results"]) for compiler in compilers}
    for name in next(iter(programs.values())):
        named = {compiler: programs[compiler][name] for compiler in compilers}
        starts = [list(one_start(named, options, ROUNDS[effort])) for _ in range(STARTS[effort])]
        for cases in zip(*starts):
            times = [of_start for _, of_start in cases]
            yield cases[0][0], {compiler: min(one[compiler] for one in times)
                                for compiler in compilers}
