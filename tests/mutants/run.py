#!/usr/bin/env python3
"""Makes one deliberate mistake after another, and says which of them no test sees.

    run.py [--only REGEX] [--jobs N] BUILD
    run.py --sample N [--seed TEXT] BUILD   N of them; the seed is the commit's hash if none is given
    run.py --check                          says which mutants no longer fit the sources

BUILD is a build folder of the preset `test` that is up to date. A mutant of mutants.py changes one
place in one file. The objects of the library and of the tests' support that depend on the file are
compiled anew into a folder of their own, from a copy of the sources, and linked before the others:
so a mutant takes seconds, and neither the sources nor the objects of BUILD change. A program ends at
its first error. Static assertions of the test files themselves are not compiled anew.
"""

import argparse
import concurrent.futures
import contextlib
import hashlib
import json
import math
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from mutants import MUTANTS, PROGRAMS
from places import Missing, replaced

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What of the tests' support makes graphs and programs at run time: passes are inline functions, and
# those of the first objects that are linked are taken.
RUN_PASSES = ("weft_test_support.dir/support/run_time.cpp.o", "support/audit.cpp.o")
TESTS_PASSES = ("passes/attended.cpp.o",)
LIBRARIES = ("lib/CMakeFiles/weft.dir", "lib/CMakeFiles/weft_mpi.dir")
# For mutants of what ranks do. Open MPI asks root whether it is sure.
MPIRUN = ("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 120 mpirun "
          "--oversubscribe -n")
SECONDS = 240  # of processor time: a mutant that takes longer does not end


def of_mutants():
    """The programs that only some mutants name; they have to be built."""
    return sorted({p for m in MUTANTS for p in m.get("programs", ())} - set(PROGRAMS))


class Build:
    def __init__(self, folder):
        self.folder = folder.resolve()
        said = subprocess.run(["ninja", "-C", folder, "-t", "compdb"], capture_output=True,
                              text=True, check=True).stdout
        self.compile = {}
        for entry in json.loads(said):
            if entry["file"].endswith(".cpp") and " -c " in entry["command"]:
                self.compile[entry["output"]] = entry["command"]
        self.depends = {}
        said = subprocess.run(["ninja", "-C", folder, "-t", "deps"], capture_output=True,
                              text=True, check=True).stdout
        of = None
        for line in said.splitlines():
            if line and not line.startswith(" "):
                of = line.split(":")[0]
                self.depends[of] = set()
            elif of:
                path = pathlib.Path(line.strip())
                path = path if path.is_absolute() else self.folder / path
                self.depends[of].add(str(path.resolve()))
        self.link = {}
        for program in (*PROGRAMS, *of_mutants()):
            asked = subprocess.run(["ninja", "-C", folder, "-t", "commands", program],
                                   capture_output=True, text=True)
            if asked.returncode != 0:  # there is no such program, as without MPI
                continue
            link = asked.stdout.strip().splitlines()[-1]
            if (folder / re.search(r" -o (\S+)", link)[1]).exists():
                self.link[program] = link

    @staticmethod
    def tests_of(mutant):
        return TESTS_PASSES + mutant.get("objects", ())

    def objects_of(self, mutant):
        """Those of the library, of the support and of the mutant that a change of its file changes."""
        file = str((ROOT / mutant["file"]).resolve())
        tests = RUN_PASSES + self.tests_of(mutant)
        return [o for o, on in self.depends.items() if file in on and o in self.compile
                and (o.startswith(LIBRARIES) or o.endswith(tests))]


def run(command, folder):
    done = subprocess.run(f"ulimit -t {SECONDS}; {command}", shell=True, cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace")
    return done.returncode, done.stdout


def fails(command, folder):
    """Whether a test program fails, which ends at its first error, and what it said."""
    process = subprocess.Popen(f"ulimit -t {SECONDS}; exec env {command}", shell=True, cwd=folder,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               errors="replace")
    said = []
    for line in process.stdout:
        said.append(line)
        if "error: in " in line:
            process.terminate()
            break
    process.stdout.close()
    return process.wait() != 0, "".join(said)


def text_of(mutant):
    """The file with the mistake."""
    text = (ROOT / mutant["file"]).read_text()
    return replaced(text, mutant["within"], mutant["old"], mutant["new"])


def linked(command, made):
    """A link command with these objects in the place of those there were, and how many it takes."""
    front = []
    count = 0
    for o, new in made.items():
        target = re.search(r"CMakeFiles/([^/]+)[.]dir/", o)[1]
        if f" {o} " in command:
            command = command.replace(f" {o} ", f" {new} ")
        elif re.search(rf"\blib{target}[.]", command):
            front.append(new)
        else:
            continue
        count += 1
    # Objects of archives come before these.
    first = re.search(r" \S+\.o ", command).start()
    return command[:first] + " " + " ".join(front) + command[first:], count


@contextlib.contextmanager
def folder_of_its_own(path):
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    try:
        yield path
    finally:
        shutil.rmtree(path)


def mutated(build, mutant):
    """Who killed the mutant: a program, 'compiler', or None."""
    try:
        text = text_of(mutant)
    except Missing as problem:
        return "stale", str(problem)
    # A folder of the build that depends on the mutant alone, so that ccache knows its files again.
    name = hashlib.sha256(mutant["name"].encode()).hexdigest()[:16]
    with folder_of_its_own(build.folder / "mutants" / name) as scratch:
        for part in ("include", "lib", "tests/support", "tests/kernels", "tests/passes", "tests/run"):
            shutil.copytree(ROOT / part, scratch / part)
        (scratch / mutant["file"]).write_text(text)
        made = {}
        for i, o in enumerate(build.objects_of(mutant)):
            to = scratch / f"{i}.o"
            # A warning is not enough, as it would be none of other flags.
            command = build.compile[o].replace(f" -o {o}", f" -o {to}").replace(" -Werror ", " ")
            for part in ("include", "lib", "tests"):
                command = command.replace(f"{ROOT}/{part}", f"{scratch}/{part}")
            command = command.replace(f"-I{scratch}/tests", f"-I{scratch}/tests -I{ROOT}/tests")
            command = re.sub(r" -MF \S+", f" -MF {to}.d", command)
            code, said = run(command, build.folder)
            if code != 0:
                return "compiler", said
            made[o] = str(to)
        shown = False
        for program in mutant.get("programs", PROGRAMS):
            if program not in build.link:
                continue
            to = scratch / "program"
            command = re.sub(r" -o \S+", f" -o {to}", build.link[program], count=1)
            command, count = linked(command, made)
            if count == 0:
                continue
            shown = True
            code, said = run(command, build.folder)
            if code != 0:
                return "stale", "does not link: " + said[-2000:]
            start = f"{MPIRUN} {mutant['ranks']} " if "ranks" in mutant else ""
            failed, said = fails(f"{start}{to} -l error --log_sink=stderr", scratch)
            if failed:
                return program.split("/")[-1].removeprefix("weft_").removesuffix("_test"), said
        return (None, "") if shown else ("stale", "no program has an object that depends on the file")


def check():
    """1 if a mutant does not fit its file."""
    bad = 0
    for m in MUTANTS:
        try:
            text_of(m)
        except (Missing, OSError) as problem:
            bad = 1
            print(f"mutants: '{m['name']}' does not fit {m['file']}: {problem}")
    return bad


def sample(mutants, build, count, seed):
    """`count` of the mutants; one that compiles n objects is chosen n times more rarely than with one."""
    def key(m):
        digest = hashlib.sha256(f"{seed} {m['name']}".encode()).digest()
        return -math.log((int.from_bytes(digest[:8], "big") + 1) / 2**64) * len(build.objects_of(m))
    return sorted(mutants, key=key)[:count]


def commit():
    return subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True,
                          check=True).stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path, nargs="?")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed")
    args = parser.parse_args()
    if args.check:
        return check()
    if not args.build:
        parser.error("BUILD is missing")
    build = Build(args.build)
    chosen = [m for m in MUTANTS if re.search(args.only, m["name"])]
    left_out = [m for m in chosen if not build.link.keys() & set(m.get("programs", PROGRAMS))]
    if left_out:
        print(f"mutants: {len(left_out)} are left out: their programs are not built")
    chosen = [m for m in chosen if m not in left_out]
    if args.sample is not None:
        seed = args.seed or commit()
        chosen = sample(chosen, build, args.sample, seed)
        print(f"mutants: tests/mutants/run.py --sample {args.sample} --seed {seed} {args.build}")
    begin, counts, bad = time.time(), {}, []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for m, (by, said) in zip(chosen, pool.map(lambda m: mutated(build, m), chosen)):
            print(f"{by or 'SURVIVED':12} {m['name']}", flush=True)
            counts[by] = counts.get(by, 0) + 1
            if by in ("stale", "compiler"):
                wrong = [line for line in said.splitlines() if "error" in line]
                print("    " + (wrong[0] if wrong else said[-400:]), flush=True)
            if by == "stale" or (by is None and "survives" not in m):
                bad.append(m["name"])
    killed = sum(n for by, n in counts.items() if by not in (None, "stale"))
    print(f"mutants: {killed} of {len(chosen)} killed, {counts.get(None, 0)} survived, "
          f"{counts.get('stale', 0)} stale, {time.time() - begin:.0f} s")
    for name in bad:
        print(f"mutants: not expected: {name}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
