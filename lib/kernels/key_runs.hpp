// Which keys of a block the vectors of a tile of queries see.
#pragma once

#include <algorithm>
#include <cstddef>

#include "kernels/band.hpp"

namespace weft::kernels {

// A range of keys that the same vectors of a tile's queries see.
struct key_run {
  index_range keys;
  std::size_t vector, vectors;
};
// The run that begins with a key. Both ends of what a vector sees are no earlier than those of
// the vector before it.
inline key_run run_from(std::ptrdiff_t key, std::ptrdiff_t end, const index_range* visible,
                        std::size_t vectors) {
  key_run r{{key, end}, 0, 0};
  for (std::size_t v = 0; v < vectors; ++v) {
    if (visible[v].end <= key) {
      r.vector = v + 1;
      continue;
    }
    r.keys.end = std::min(r.keys.end, visible[v].begin <= key ? visible[v].end : visible[v].begin);
    r.vectors += visible[v].begin <= key;
  }
  return r;
}

}  // namespace weft::kernels
