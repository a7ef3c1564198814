"""Compiles a source with wrong uses and compares the errors with its comments.
Usage: check.py SOURCE COMPILER [OPTION]...

`// error: sentence` (it may go on in further comment lines) stands before a statement, whose first
line gets an error with this sentence; `// errors: sentence` before several, up to the next comment,
each of which gets it. `// note: text` after it is in the message, too. So are all axes that the
statement names, and those of the operands that are declared with their axes.

No other line gets an error, none gets two, and a message has at most 8 lines, however the program
goes on to use the wrong expression. Excerpts of source code are not counted: they add 7 lines to
the 6 to 8 of g++. Each error is a refusal of which a requires-expression knows, see
../refused.cpp.

g++ prints two further errors that no header can prevent and that are not about weft: the model's
function has no return type if its last line is wrong, and a function that only argument-dependent
lookup finds is not declared if all its arguments are wrong. Only the former is counted, as a line
of the message. Clang cannot evaluate a model's function in which a statement is wrong but for a
declaration or the return: the line that takes the model says so in a second error, of 5 lines."""
import os
import pathlib
import re
import subprocess
import sys

WORDS = pathlib.Path(__file__).resolve().parents[1] / "words.hpp"
LINES = 8
ERROR = re.compile(r"(.*):(\d+):\d+: (?:fatal )?error: (.*)")
# A deleted or a private function of g++'s; what clang prints after the text of an attribute.
REFUSAL = re.compile(
    r"error: use of deleted function|is private within this context"
    r"|from 'diagnose_if' attribute on|has been explicitly marked unavailable here")
NOT_EVALUATED = "model: its operator() is not evaluated while compiling; mend the errors in it"
AXIS = re.compile(r"\b[A-Z]\w+")


class Case:
    """A statement that is refused."""

    def __init__(self, sentence, notes, code):
        self.sentence, self.notes, self.code = sentence, notes, code
        self.found = False

    def texts(self, operands):
        code = re.sub(r'"[^"]*"', "", self.code)
        axes = [axis for name in re.findall(r"\w+", code) for axis in operands.get(name, ())]
        return dict.fromkeys([*self.notes, *AXIS.findall(code), *axes])


def cases_of(source):
    """The cases by their first lines."""
    cases = {}
    kind = sentence = ""  # of the comment above; the kind is empty where no statement is refused
    in_sentence, above = False, 0
    notes, statement = [], []
    for number, line in enumerate(map(str.strip, source.splitlines()), 1):
        if begin := re.match(r"// (errors?): (.*)", line):
            kind, sentence, notes = *begin.groups(), []
            in_sentence = True
            above = number
            cases[above] = Case("", [], "")  # until there is a statement
        elif kind and in_sentence and (note := re.match(r"// note: (.*)", line)):
            notes.append(note[1])
        elif kind and in_sentence and line.startswith("//"):
            sentence += line[2:]
        elif line in ("", "}") or line.startswith("//"):
            kind = ""
        elif kind:
            in_sentence = False
            statement.append(line)
            if re.search(r";( *//.*)?$", line):
                cases.pop(above, None)
                cases[number + 1 - len(statement)] = Case(sentence, notes, " ".join(statement))
                statement = []
                kind = kind if kind == "errors" else ""
    return cases


def operands_of(source):
    """The axes of the operands that are declared with them, in words.hpp too."""
    if '/words.hpp"' in source:
        source += WORDS.read_text(encoding="utf-8")
    declared = re.findall(r"constexpr \w+<([^;]*)> (\w+)\{\};", source)
    return {name: AXIS.findall(axes) for axes, name in declared}


def messages_of(printed):
    """(file, line, text, lines of the message) of each error."""
    messages = []
    lines = []
    unpreventable = False
    for line in printed.splitlines():
        if re.search(r": error: '.*' was not declared in this scope", line):
            unpreventable = True
        elif re.search(r": error: |: In ", line):
            unpreventable = False
        if unpreventable or re.fullmatch(r"\d+ errors? generated\.", line):
            continue
        if line.startswith("In file included from "):
            lines.append("")  # without the precompiled header, it says where the source includes it
        found = ERROR.match(line)
        if found and "invalid return type 'auto' of 'constexpr' function" not in line:
            if messages:
                lines = []
            messages.append((found[1], int(found[2]), found[3], lines))
        lines.append(line)
    return messages


def faults(source, cases, operands, messages):
    for file, line, text, message in messages:
        place = f"{file}:{line}"
        case = cases.get(line) if file == source else None
        if not case and NOT_EVALUATED in text and message is not messages[0][3]:
            continue
        if not case or case.found:
            yield f"{place}: an error nobody expects"
            continue
        case.found = True
        # g++ prints \' in a string, clang 14 a name as 'n', 'a', 'm', 'e'.
        said = "\n".join(message).replace("', '", "").replace("words::", "")
        if case.sentence not in text.replace("\\", ""):
            yield f"{place}: the error does not say: {case.sentence}"
        for expected in case.texts(operands):
            if expected not in said:
                yield f"{place}: the message does not say: {expected}"
        if not REFUSAL.search(said):
            yield f"{place}: the error is no refusal"
        if len(message) > LINES:
            yield f"{place}: the message has {len(message)} lines"
    for line, case in cases.items():
        if not case.found:
            yield f"{source}:{line}: there is no error"


def main(source, *command):
    text = pathlib.Path(source).read_text(encoding="utf-8")
    cases = cases_of(text)
    result = subprocess.run([*command, source], env={**os.environ, "LC_ALL": "C"}, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    wrong = list(faults(source, cases, operands_of(text), messages_of(result.stdout)))
    if not cases or result.returncode == 0:
        wrong.append(f"{source} compiles, or does not say what to expect")
    if wrong:
        print(*wrong, f"--- {command[0]} printed:", result.stdout, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
