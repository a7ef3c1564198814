// Whether a program is that of the source file that uses it. Models and axes of one name in two
// source files, such as two in the global namespace, are one to the linker, which keeps the tables
// of one of them for both.
#pragma once
#include "weft/header_begin.hpp"

#include <bit>
#include <cstdint>
#include <string_view>

#include "weft/axes/name.hpp"
#include "weft/graph/graph.hpp"
#include "weft/lower/program.hpp"

namespace weft::detail {

// A hash of what a graph computes.
constexpr std::uint64_t fingerprint_of(const graph& g) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&hash](auto... parts) {
    ((hash = (hash ^ static_cast<std::uint64_t>(parts)) * 0x100000001b3, hash ^= hash >> 32), ...);
  };
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  for (int i = 0; i < g.count; ++i) {
    const node& n = g.nodes[i];
    add(n.kind, n.type, n.operands, n.once, n.region, n.present, n.epilogue, bits(n.scale),
        bits(n.scalar), n.start, n.lowest, n.highest, n.origin, n.leaf);
    for (int o = 0; o < n.operands; ++o) add(n.operand[o]);
    for (int a = 0; a < n.axes.count; ++a) add(n.axes.at[a]->extent);
  }
  for (int i = 0; i < g.parameter_count; ++i) {
    const initializer& init = g.parameters[i].init;
    add(init.what, bits(init.a), bits(init.b), bits(init.fan_in), bits(init.fan_out));
  }
  for (int i = 0; i < g.output_count; ++i) add(g.outputs[i].kind, g.outputs[i].node);
  add(g.text_size);  // a name that is not there is an error of its own
  return hash;
}

// Throws weft::error unless the linked program has this fingerprint.
void check_linked(const program& linked, std::uint64_t fingerprint, std::string_view model);

// The last parameter of constructors: its default argument is evaluated where the call is written,
// and a function for one fingerprint is none for another, so that the fingerprint is the caller's.
struct linked {
  linked() noexcept {}  // no aggregate, as which clang, within a template, takes {.seed = 1}
};
template <class Code, std::uint64_t Fingerprint, class Model>
linked linked_here() {
  check_linked(Code::program, Fingerprint, type_name<Model>());
  return {};
}

}  // namespace weft::detail
#include "weft/header_end.hpp"
