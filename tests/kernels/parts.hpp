// The parts that tests have calls done in.
#pragma once

#include <algorithm>
#include <cstddef>

#include "weft/kernels/call.hpp"

namespace weft::kernels {

// Part i of `count`: they are equal where their count is even, else each is larger than the one
// before, and the last one is empty.
inline share part_of(int i, int count) {
  if (count % 2 == 0 || count == 1) return {i, count};
  const std::ptrdiff_t most = count - 1;
  const auto cut = [most](std::ptrdiff_t at) {
    return std::min(share::whole * at * at / most / most, share::whole);
  };
  return {i, count, cut(i), cut(i + 1)};
}

}  // namespace weft::kernels
