// What an instruction does, without where its operands are. It is a template argument: instructions
// with the same signature share one function, so twelve equal layers cost one.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

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

}  // namespace weft::generate
