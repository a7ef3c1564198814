"""The same kernels as several compilers make them: what one loses against another is a loop that can
be written better."""
import json
import pathlib
import shutil
import subprocess

ROUNDS = {"quick": 3, "full": 12}


def undisturbed(times):
    """What the code takes where nothing disturbs it, of the least times of rounds: the least but one,
    as a clock that ran away once makes no better code."""
    return sorted(times)[1]


def built(compiler, results):
    """The programs as this compiler builds them, in a folder of their own: file names by program."""
    folder = pathlib.Path(results) / "by" / pathlib.Path(compiler).name
    subprocess.run(["cmake", "--preset", "bench", "-B", folder, f"-DCMAKE_CXX_COMPILER={compiler}"],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--target", "weft_bench"], check=True)
    about = json.loads((folder / "benchmarks" / "about.json").read_text())
    return {pathlib.Path(program).name: program
            for program in about["programs"] + about["without_peers"]}


def compare(compilers, about, options, rounds, cases_of):
    """For each case and target, once all rounds of its program are over: the case, and the time by
    compiler."""
    for compiler in compilers:
        if not shutil.which(compiler):
            raise RuntimeError(f"there is no compiler {compiler}")
    programs = {compiler: built(compiler, about["results"]) for compiler in compilers}
    for name in next(iter(programs.values())):
        cases, times = {}, {}
        for _ in range(rounds):
            for compiler in compilers:
                for case in cases_of(programs[compiler][name], [*options, "--quick"]):
                    key = case["case"], case["target"]
                    cases[key] = case
                    of = times.setdefault(key, {name: [] for name in compilers})
                    of[compiler].append(case["contenders"][0]["least_seconds"])
        for key, case in cases.items():
            yield case, {compiler: undisturbed(of) for compiler, of in times[key].items()}
