// What an instruction does, without where its operands are. It is a template argument: instructions
// with the same signature share one function, so twelve equal layers cost one.
#pragma once
#include "weft/header_begin.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

#include "weft/kernels/loop_nest.hpp"
#include "weft/lower/program.hpp"

namespace weft::generate {

using kernels::max_loops;
using kernels::max_operands;

// A double by its bits: not every compiler takes floating-point template arguments.
//
// Array elements and scalars of a template argument that is a class are read into constants first:
// if the class has padding, clang (14 and 19) reads them at run time from a wrong address.
struct structural_double {
  std::uint64_t bits = 0;
  constexpr structural_double(double x) : bits(std::bit_cast<std::uint64_t>(x)) {}
  constexpr operator double() const { return std::bit_cast<double>(bits); }
};

// As kernels::call, with constant extents.
struct signature {
  kernel run{};
  op kind{};
  int loops = 0;
  std::ptrdiff_t extent[max_loops]{};
  unsigned over = 0;
  int operands = 0;
  std::ptrdiff_t stride[max_operands][max_loops]{};
  structural_double scalar = 0;
  structural_double scale = 1;
  op epilogue = op::copy;

  // The number of iterations of all loops together.
  constexpr std::ptrdiff_t points() const {
    std::ptrdiff_t n = 1;
    for (int l = 0; l < loops; ++l) n *= extent[l];
    return n;
  }
};

// Whether all extents of an instruction are known at compile time. Not of an attention, which has a
// plan of its own.
constexpr bool is_fixed(const instruction& s) {
  if (s.operands > max_operands) return false;
  for (int l = 0; l < s.loops; ++l)
    if (!s.extent[l].fixed()) return false;
  return s.axis.fixed();
}

// For a fixed instruction (is_fixed). Loops of extent 1 are dropped.
constexpr signature signature_of(const instruction& s, const operand_ref* operands) {
  signature g;
  g.run = s.run;
  g.kind = s.kind;
  g.operands = s.operands;
  for (int l = 0; l < s.loops; ++l) {
    if (s.extent[l].most == 1) continue;
    g.extent[g.loops] = static_cast<std::ptrdiff_t>(s.extent[l].most);
    g.over |= (s.over >> l & 1u) << g.loops;
    for (int o = 0; o < s.operands; ++o) g.stride[o][g.loops] = operands[o].stride[l];
    ++g.loops;
  }
  g.scalar = s.scalar;
  g.scale = s.scale;
  g.epilogue = s.epilogue;
  return g;
}

// The operands of an instruction, or of an attention, which has some more.
inline constexpr int max_nest_operands = 7;
static_assert(max_operands <= max_nest_operands);

using loop = kernels::basic_loop<max_nest_operands>;
using loop_nest = kernels::basic_loop_nest<max_nest_operands>;

// Removes loop l and returns it.
constexpr loop remove(loop_nest& n, int l) {
  const loop removed = n.at(l);
  for (; l < n.last(); ++l) n.set(l, n.at(l + 1));
  n.set(--n.loops, {0, {}});
  return removed;
}

// Sorts the loops by their strides in operand `key`, the largest outermost, and coalesces them.
constexpr void sort_and_coalesce(loop_nest& n, int key) {
  loop_nest sorted{};
  kernels::coalesce_into(
      sorted, n.loops, n.extent, ~0u, [&](int l) { return n.stride[key][l]; },
      [&](int o, int l) { return n.stride[o][l]; });
  n = sorted;
}

constexpr loop loop_of(const signature& s, int l) {
  loop of{s.extent[l], {}};
  for (int o = 0; o < s.operands; ++o) of.stride[o] = s.stride[o][l];
  return of;
}

}  // namespace weft::generate
#include "weft/header_end.hpp"
