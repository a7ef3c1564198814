"""Checks examples/OPERATIONS.md against the headers: that each line compiles and has the result and
the gradient that its columns say, and that every public function and layer has one.
  operations.py HEADERS PAGE COMPILER [FLAGS...]     exits with 1 where the page differs
  operations.py --write HEADERS PAGE COMPILER [...]  writes these columns anew
A line is | weft | result | gradient | torch |, with the code of the first column in backticks. The
blocks marked c++ before the tables declare axes and operands."""
import pathlib
import re
import subprocess
import sys
import tempfile

COLUMNS = ("weft", "result", "gradient")

PROGRAM = """\
#include <iostream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <weft/model.hpp>
#include <weft/passes/differentiate.hpp>
namespace page {
using namespace weft;
%(axes)s
// Of a result: its type, and a scalar to differentiate, 0 where it is not float.
template <class S>
struct list;
template <class... Axes>
struct list<shape<Axes...>> {
  static std::string names() {
    std::string all;
    ((all += (all.empty() ? "" : ", ") + std::string(type_name<Axes>())), ...);
    return all;
  }
  static constexpr auto sum_of(const auto& x) {
    if constexpr (sizeof...(Axes) > 0) return sum<Axes...>(x * x);
    else return x * x;
  }
};
template <class X>
struct printed;
template <expression X>
struct printed<X> {
  static std::string type() {
    return std::string(detail::name_of_type(dtype_of<element_t<X>>)) + " [" +
           list<shape_t<X>>::names() + "]";
  }
  static constexpr auto sum_of(scope s, const X& x) {
    if constexpr (std::is_same_v<element_t<X>, float>) return list<shape_t<X>>::sum_of(x);
    else return s.input<"none", float>();
  }
};
template <template <class...> class Tuple, class... T>
requires(sizeof...(T) > 0 && requires { std::tuple_size<Tuple<T...>>::value; })
struct printed<Tuple<T...>> {
  static std::string type() {
    std::string all;
    ((all += (all.empty() ? "" : ", ") + printed<T>::type()), ...);
    return all;
  }
  static constexpr auto sum_of(scope s, const Tuple<T...>& all) {
    return std::apply([s](const auto&... x) { return (printed<T>::sum_of(s, x) + ...); }, all);
  }
};
template <class Line>
struct model {
  constexpr auto operator()(scope s) const {
    const auto y = Line::of(s);
    return results(as<"loss">(printed<std::remove_cvref_t<decltype(y)>>::sum_of(s, y)));
  }
};
template <class Line>
void print() {
  using result = std::remove_cvref_t<decltype(Line::of(std::declval<scope>()))>;
  bool differentiable = false;
  try {
    const graph h = differentiate(trace<model<Line>>(), 0);
    for (int o = 0; o < h.output_count; ++o) {
      const node& n = h.nodes[h.outputs[o].node];
      differentiable = differentiable ||
          (h.outputs[o].kind == output_kind::gradient &&
           (n.kind != op::copy || h.nodes[n.operand[0]].kind != op::constant));
    }
  } catch (const std::exception&) {  // an operation has no adjoint
  }
  std::cout << printed<result>::type() << '\\t' << (differentiable ? "yes" : "no") << '\\n';
}
%(lines)s
}  // namespace page
int main() {
%(calls)s}
"""


def cells_of(line):
    # A bar in code is no border; it is written with a backslash.
    code = re.sub(r"`[^`]*`", lambda found: found[0].replace("|", "\0"), line)
    return [cell.strip().replace("\0", "|") for cell in code.split("|")[1:-1]]


def rows_of(page):
    """Of each row of a table with the column weft: its line's number, its cells, and where among
    them are those of weft, result and gradient."""
    rows, places = [], None
    for number, line in enumerate(page.splitlines()):
        if not line.startswith("|"):
            places = None
        elif places is None:
            cells = cells_of(line)
            places = [cells.index(name) for name in COLUMNS] if set(COLUMNS) <= set(cells) else []
        elif places and not line.startswith("|---"):
            rows.append((number, cells_of(line), places))
    return rows


def code_of(row):
    _, cells, places = row
    return cells[places[0]].strip("`").replace("\\|", "|")


def without(text, pattern):
    return re.sub(pattern, "", text, flags=re.S)


# Headers of nn that other headers use.
FOR_LAYERS = {"axes.hpp", "detail.hpp", "layer_rules.hpp", "projections.hpp"}


def public_names(headers):
    """Functions, function objects and classes of ops and nn that a user calls."""
    names = set()
    for path in [*(headers / "ops").glob("*.hpp"), *(headers / "nn").glob("*.hpp")]:
        if path.name in FOR_LAYERS:
            continue
        text = without(without(path.read_text(), r"namespace detail \{.*?\n\}  // namespace detail"), r"//[^\n]*")
        text = re.sub(r"^#define.*?[^\\]$", "", text, flags=re.S | re.M)
        depth, outer = 0, []
        for line in text.splitlines():  # what stands in a class is not a name of its own
            if depth == 0:
                outer.append(line)
            opened = line.count("{") - line.count("}")
            depth = max(0, depth + (0 if line.startswith("namespace") or line == "}" and depth == 0
                                    else opened))
        top = "\n".join(outer)
        names |= set(re.findall(r"constexpr (?:auto|tensor<[^\n]*>) ([a-z]\w*)\(", top))
        names |= set(re.findall(r"^(?:class|struct) ([a-z]\w*(?:_cell|_cache))\b", top, flags=re.M))
        names |= set(re.findall(r"^WEFT_\w+FUNCTION\((\w+),", top, flags=re.M))
    return names


def results_of(page, rows, headers, compiler):
    blocks = re.findall(r"```c\+\+\n(.*?)```", page, flags=re.S)
    axes = blocks[0]
    operands = "\n".join(re.sub(r"^(?=auto)", "[[maybe_unused]] ", line) for line in
                         "".join(blocks[1:2]).splitlines())
    lines = "".join(
        f"struct line_{i} {{ static constexpr auto of([[maybe_unused]] scope s) {{\n{operands}\n"
        f"return {code_of(row)};\n}} }};\n" for i, row in enumerate(rows))
    calls = "".join(f"  page::print<page::line_{i}>();\n" for i in range(len(rows)))
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "page.cpp"
        source.write_text(PROGRAM % {"axes": axes, "lines": lines, "calls": calls})
        program = pathlib.Path(folder) / "page"
        subprocess.run([*compiler, f"-I{headers.parent}", str(source), "-o", str(program)], check=True)
        # Graphs are large values, and here they are on the stack.
        printed = subprocess.run(["sh", "-c", f"ulimit -s 1000000; exec {program}"], check=True,
                                 stdout=subprocess.PIPE, text=True).stdout
    return [line.replace("page::", "").split("\t") for line in printed.splitlines()]


def main():
    arguments = sys.argv[1:]
    writes = arguments[0] == "--write"
    headers, place, *compiler = arguments[1:] if writes else arguments
    headers, place = pathlib.Path(headers), pathlib.Path(place)
    page = place.read_text()
    rows = rows_of(page)
    wrong = []
    lines = page.splitlines()
    for row, found in zip(rows, results_of(page, rows, headers, compiler), strict=True):
        number, cells, (_, *said) = row
        if [cells[i] for i in said] != found:
            wrong.append(f"{place}:{number + 1}: {code_of(row)} is {found[0]}, gradient: {found[1]}")
            for i, text in zip(said, found):
                cells[i] = text
            lines[number] = "| " + " | ".join(cells) + " |"
    code = " ".join([*(code_of(row) for row in rows), *re.findall(r"```c\+\+\n(.*?)```", page, flags=re.S)])
    called = set(re.findall(r"\b[a-z]\w*", code))
    missing = sorted(public_names(headers) - called)
    missing = [f"{place}: no line has {name}" for name in missing]
    if writes:
        place.write_text("\n".join(lines) + "\n")
        wrong = []
    print("\n".join(wrong + missing), end="\n" if wrong + missing else "")
    return 1 if wrong or missing else 0


if __name__ == "__main__":
    sys.exit(main())
