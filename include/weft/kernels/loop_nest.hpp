// Loop nests: what kernels make of a call's loops, and generated code of an instruction's while
// compiling.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>

#include "hwy/base.h"
#include "weft/kernels/call.hpp"

namespace weft::kernels {

// A loop, and its strides in N operands, in elements.
template <int N>
struct basic_loop {
  std::ptrdiff_t extent = 1;
  std::ptrdiff_t stride[N]{};
};

// Loops, the innermost last, and their strides in N operands. Only the entries of existing loops
// are set, since clearing all takes as long as a short row; `{}` clears them. An operand's strides
// are together: with those of a loop together, kernels took a tenth longer, short rows up to 1.8
// times as long.
template <int N>
struct basic_loop_nest {
  int loops = 0;
  std::ptrdiff_t extent[max_loops];
  std::ptrdiff_t stride[N][max_loops];

  constexpr int last() const { return loops - 1; }
  constexpr std::ptrdiff_t inner_stride(int operand) const { return stride[operand][last()]; }
  // The number of points of the first `outer` loops.
  constexpr std::ptrdiff_t points(int outer) const {
    std::ptrdiff_t n = 1;
    for (int l = 0; l < outer; ++l) n *= extent[l];
    return n;
  }
  constexpr std::ptrdiff_t points() const { return points(loops); }
  constexpr bool empty() const { return points() == 0; }

  constexpr basic_loop<N> at(int l) const {
    basic_loop<N> here{extent[l], {}};
    for (int o = 0; o < N; ++o) here.stride[o] = stride[o][l];
    return here;
  }
  constexpr void set(int l, const basic_loop<N>& to) {
    extent[l] = to.extent;
    for (int o = 0; o < N; ++o) stride[o][l] = to.stride[o];
  }
  // Appends an innermost loop.
  constexpr void push(const basic_loop<N>& l) { set(loops++, l); }
};

// Appends to n those of `loops` loops whose bits are in `which`, without those of extent 1. They
// are sorted by key(loop), the largest outermost, where those with equal keys keep their order;
// adjacent ones that iterate over each of the first `operands` operands like one are coalesced.
// Their strides are stride(operand, loop). n has no loops before.
template <int N, class Key, class Stride>
HWY_INLINE constexpr void coalesce_into(basic_loop_nest<N>& n, int loops,
                                        const std::ptrdiff_t* extent, unsigned which, Key key,
                                        Stride stride, int operands = N) {
  int order[max_loops]{};
  int count = 0;
  for (int l = 0; l < loops; ++l) {
    if (!(which >> l & 1u) || extent[l] == 1) continue;
    int at = count++;  // insertion sort: stable, and at most 8 loops
    for (; at > 0 && key(l) > key(order[at - 1]); --at) order[at] = order[at - 1];
    order[at] = l;
  }
  for (int i = 0; i < count; ++i) {
    const int l = order[i];
    bool contiguous = n.loops > 0;
    for (int o = 0; o < operands && contiguous; ++o)
      contiguous = n.inner_stride(o) == stride(o, l) * extent[l];
    if (contiguous)
      n.extent[n.last()] *= extent[l];
    else
      n.extent[n.loops++] = extent[l];
    // Also of operands that are not there: a loop with a constant trip count is unrolled.
    for (int o = 0; o < N; ++o) n.stride[o][n.last()] = stride(o, l);
  }
}

// The loops of a call.
using loop_nest = basic_loop_nest<max_operands>;

}  // namespace weft::kernels
#include "weft/header_end.hpp"
