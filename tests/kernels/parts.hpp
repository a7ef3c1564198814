// Partitions that tests split calls into.
#pragma once

#include <algorithm>
#include <cstddef>

#include "weft/kernels/call.hpp"

namespace weft::kernels {

// Partition i of `count`. They are equal where the count is even; otherwise each is larger than the
// previous one, and the last is empty.
inline partition part_of(int i, int count) {
  if (count % 2 == 0 || count == 1) return {i, count};
  const std::ptrdiff_t most = count - 1;
  const auto cut = [most](std::ptrdiff_t at) {
    return std::min(partition::full * at * at / most / most, partition::full);
  };
  return {i, count, cut(i), cut(i + 1)};
}

}  // namespace weft::kernels
