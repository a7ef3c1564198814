// Which keys a band shows to some queries, and which queries it shows some keys to.
#pragma once

#include <algorithm>
#include <cstddef>

#include "weft/kernels/attention.hpp"

namespace weft::kernels {

// Indices [begin, end); empty where end is not larger.
struct index_range {
  std::ptrdiff_t begin, end;
};

// A band among so many queries and keys.
class visible {
 public:
  visible(const band& b, std::ptrdiff_t queries, std::ptrdiff_t keys)
      : lowest_(bounded(b.lowest) + b.offset),
        highest_(bounded(b.highest) + b.offset),
        queries_(queries),
        keys_(keys) {}

  // Query i may see the keys i + lowest to i + highest.
  std::ptrdiff_t lowest() const { return lowest_; }
  std::ptrdiff_t highest() const { return highest_; }

  // The keys that at least one of the queries may see, and maybe others if there are gaps between.
  index_range keys(index_range queries) const {
    return {std::clamp<std::ptrdiff_t>(queries.begin + lowest_, 0, keys_),
            std::clamp<std::ptrdiff_t>(queries.end + highest_, 0, keys_)};
  }

  // The queries that may see at least one of the keys, and maybe others.
  index_range queries(index_range keys) const {
    return {std::clamp<std::ptrdiff_t>(keys.begin - highest_, 0, queries_),
            std::clamp<std::ptrdiff_t>(keys.end - lowest_, 0, queries_)};
  }

 private:
  // So far from the ends of the type that places can be added to it.
  static std::ptrdiff_t bounded(std::ptrdiff_t edge) {
    return std::clamp(edge, PTRDIFF_MIN / 4, PTRDIFF_MAX / 4);
  }

  std::ptrdiff_t lowest_, highest_;
  std::ptrdiff_t queries_, keys_;
};

}  // namespace weft::kernels
