"""Every sentence with which the headers refuse a use has a case in rules/ or models/, or, of the limits
of a model, in tests/limits/limits_test.cpp, and so has every layer whose sentences are those of all.
Prints those that have none."""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[2] / "include/weft"
LIMITS = HERE.parents[1] / "limits/limits_test.cpp"
FOLDERS = ("graph", "mpi", "nn", "nn/position", "ops", "run")
STRING = r'"(?:[^"\\]|\\.)*"'
STRINGS = rf"((?:{STRING}\s*)+)"
LAYER = re.compile(r"WEFT_REJECT_(?:LAYER|CAUSAL)\(\s*(?!layer\b)(\w+)")
RULE = re.compile(rf"#define (WEFT_\w+)\(name\)\s*\(\w+,\s*name\s*{STRINGS}\)")
OTHER_CALLS = re.compile(rf"WEFT_REJECT_OTHER_CALLS\((?!layer\b)(\w+),\s*{STRINGS}\)")
REJECTION = re.compile(r"WEFT_REJECT_(?:MEMBER|CALL|COPIES|RESULTS)\(\s*")


def joined(text):
    """The text with a macro's lines as others."""
    return re.sub(r" *\\\n", "\n", text)


def sentences_of(text, shared):
    """The sentences of a header: of one rule, and of a list of rules as (rule, "sentence"), in a
    macro as (rule, name "sentence") or, where more follows, name "sentence" use; `shared` has those
    that stand for a function's name in WEFT_RULE("name")."""
    text = joined(text)
    for macro, name in re.findall(rf"\b(WEFT_\w+)\(({STRING})\)", text):
        if macro in shared:
            yield name + shared[macro]
    for layer, use in OTHER_CALLS.findall(text):
        yield f'"nn::{layer}: it is called as "' + use
    text = re.sub(r"WEFT_\w+\((sentence|fault)\b", "", text)  # the definition of a macro
    yield from re.findall(rf"\sname\s+{STRINGS}use\b", text)
    for use in REJECTION.finditer(text):
        yield re.compile(STRINGS + r",|").match(text, use.end())[1]
    yield from re.findall(rf"\([a-z_]+,\s*(?:name\s*)?{STRINGS}\)", text)


def main():
    files = [*HERE.glob("rules/*.cpp"), *HERE.glob("models/*.cpp"), LIMITS]
    cases = "".join(p.read_text() for p in files)
    cases = re.sub(r"\n *// ", " ", cases)  # one line for a sentence that takes several
    shared = dict(RULE.findall(joined((INCLUDE / "graph/reject.hpp").read_text())))
    headers = [p for f in FOLDERS for p in (INCLUDE / f).glob("*.hpp") if p.name != "reject.hpp"]
    count = 0
    wrong = []
    for header in sorted(headers):
        text = header.read_text(encoding="utf-8")
        wrong += [f"{header}: no case of nn::{layer}" for layer in LAYER.findall(text)
                  if f": nn::{layer}: the axes name no " not in cases]
        for sentence in sentences_of(text, shared):
            if not sentence:
                wrong.append(f"{header}: a rejection without a sentence in quotes")
                continue
            parts = (part[1:-1] for part in re.findall(STRING, sentence))
            sentence = "".join(parts).replace('\\"', '"')
            count += 1
            if sentence not in cases:
                wrong.append(f"{header}: no case has: {sentence}")
    print(*wrong, f"{count} rules", sep="\n")
    return 1 if wrong or count < 200 else 0


if __name__ == "__main__":
    sys.exit(main())
