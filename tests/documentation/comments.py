#!/usr/bin/env python3
"""Prints a header or a document as Doxygen reads it: the filter of the target `documentation`.

Headers: a block of // comments directly above a declaration documents it, the one above #pragma
once the file, and a comment at the end of a line what is declared there. Other comments stay as
they are: the title of a section, or what is above a macro, documents nothing. Comments are Markdown
in which only `code` and lists are marked, and lines indented by three spaces are code. Left out are
deduction guides, overloads for a wrong use, and namespaces called detail unless they say that they
are documented. What a folder declares is a group. Lines keep their numbers, except below code in
comments that no empty line precedes.

Documents: headings get the anchors that the web pages of repositories give them, and links lead to
them.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GROUPS = {  # the folder's group and its title
    ".": "run Running and training",
    "axes": "axes Axes and shapes",
    "graph": "graph Models",
    "ops": "ops Operations",
    "nn": "nn Layers",
    "nn/position": "position Position encodings",
    "run": "run Running and training",
    "files": "files Files and weights",
    "weights": "files Files and weights",
    "inspect": "inspect Explanations and profiles",
    "pictures": "pictures Pictures and pages",
    "mpi": "mpi Training on ranks",
    "lower": "cost Costs, and graphs as text",
    "passes": "cost Costs, and graphs as text",
}


def escaped(text):
    """A line of prose: characters that Doxygen or HTML would interpret, outside of `code`."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"[\\@<>#]", r"\\\g<0>", part) for part in parts[::2]]
    # A full stop and a space would end the summary.
    return re.sub(r"(\bal\.|\.\.\.)( |$)", r"\1\\ ", "`".join(parts))


def markdown(lines):
    """The lines of a block of comments, without //, as Markdown."""
    before = ""
    in_item = False
    for line in lines:
        text = line.strip()
        in_item = text != "" and (in_item or line.startswith(" - "))
        is_code = not in_item and line.startswith("   ")
        if is_code and before != "" and not before.startswith("   "):
            yield ""
        yield "  " + line if is_code else escaped(line)
        before = line


def documented(lines):
    """The lines of a header with the comments that document something marked as such."""
    block = []
    behind = None  # the column of a comment at the end of the line before
    for i, line in enumerate(lines):
        code, slashes, text = line.partition("//")
        if slashes and code.strip() == "":
            if len(code) == behind:
                yield code + "///<" + escaped(text)
            else:
                block.append(text)
            continue
        if block:
            indent = re.match(" *", lines[i - 1]).group()
            if re.match(r" *(\}|#(?!pragma once)|$)", line):
                yield from (indent + "//" + text for text in block)
            else:
                yield from (indent + "///" + text for text in markdown(block))
            block = []
        behind = None
        if line == "#pragma once":
            yield "/// @file"
        elif slashes and code.count('"') % 2 == 0 and not re.search(r"^[}#]|\{ *$", code):
            behind = len(code)
            yield code + "///<" + escaped(text)
        else:
            yield line


def without_details(lines):
    """The lines of a header with empty ones in the place of internal namespaces."""
    depth = 0
    for line in lines:
        if depth > 0 or re.match(r"namespace (\w+::)*detail \{(?!.*documented)", line):
            code = re.sub(r'"(\\.|[^"])*"|\'(\\.|[^\'])\'|//.*', "", line)
            depth += code.count("{") - code.count("}")
            yield ""
        else:
            yield line
    assert depth == 0, "a namespace does not end"


def without_rejections(text):
    """A header without its overloads for a wrong use: template <...> requires(...) WEFT_REJECT(...)."""
    overload = r"^ *template <((?!^ *template <).)*?WEFT_REJECT(_LAYER)?\("
    while match := re.search(overload, text, re.M | re.S):
        depth, end = 1, match.end()
        for token in re.finditer(r'"(\\.|[^"])*"|[()]', text[match.end() :]):
            depth += {"(": 1, ")": -1}.get(token[0], 0)
            end = match.end() + token.end()
            if depth == 0:
                break
        text = text[: match.start()] + "\n" * text.count("\n", match.start(), end) + text[end:]
    return text


def header(path, text):
    text = re.sub(r"/\*(\w+)\*/", r"\1", without_rejections(text))  # names of unused parameters
    # Doxygen takes deduction guides for functions.
    text = re.sub(r"^template <.*>\n\w+\(.*\) -> .*;$", "\n", text, flags=re.M)
    lines = list(documented(list(without_details(text.split("\n")))))
    folder = str(path.parent.relative_to(ROOT / "include" / "weft"))
    if path.name != "model.hpp":  # which describes the namespaces
        for i, line in enumerate(lines):
            if re.match(r"namespace weft.*\{$", line) and lines[i + 1] == "":
                lines[i : i + 2] = [f"{line}  /** @addtogroup {GROUPS[folder]}", "@{ */"]
            elif line.startswith("}  // namespace weft") and lines[i - 1] == "":
                lines[i - 1] = "/** @} */"
    return "\n".join(lines)


def slug(path):
    """The label of a document."""
    if path == ROOT / "README.md":
        return "index"
    return re.sub(r"\W+", "-", str(path.relative_to(ROOT).with_suffix(""))).strip("-").lower()


def document(path, text):
    def heading(match):
        name = re.sub(r"[^\w\- ]", "", match[2].lower()).replace(" ", "-")
        if match[1] != "#":
            return f"{match[0]} {{#{slug(path)}-{name}}}"
        return match[0] if path == ROOT / "README.md" else f"{match[0]} {{#{slug(path)}}}"

    def link(match):
        file, _, anchor = match[2].partition("#")
        to = (path.parent / file).resolve() if file else path
        words = match[1].replace("\n", " ")
        if to.suffix != ".md":
            return words
        return f"[{words}](@ref {slug(to)}{'-' + anchor if anchor else ''})"

    parts = re.split(r"(^```.*?^```$|`[^`\n]*`)", text, flags=re.M | re.S)  # code is every other
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"^(#+) (.*)$", heading, parts[i], flags=re.M)
        parts[i] = re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", link, parts[i])
        # Doxygen would begin a list with 1 again after a table in an item: paragraphs instead.
        parts[i] = re.sub(r"^(\d+)\. ", r"\n\1\\. ", parts[i], flags=re.M)
    return "".join(parts).replace("```c++", "```cpp")


def main():
    path = pathlib.Path(sys.argv[1]).resolve()
    text = path.read_text(encoding="utf-8")
    print((document if path.suffix == ".md" else header)(path, text), end="")


if __name__ == "__main__":
    main()
