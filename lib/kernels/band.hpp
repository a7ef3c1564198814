// Which keys of a block are visible to queries of a block by a band, and the inverse; and the band
// and the number of keys at a batch index.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "weft/kernels/attention.hpp"

namespace weft::kernels {

// Indices [begin, end); empty where end is not larger.
struct index_range {
  std::ptrdiff_t begin, end;

  constexpr std::ptrdiff_t size() const { return end - begin; }
  constexpr std::size_t count() const { return static_cast<std::size_t>(size()); }
  constexpr bool empty() const { return begin >= end; }
  constexpr index_range intersect(const index_range& o) const {
    return {std::max(begin, o.begin), std::min(end, o.end)};
  }
  // The same, but an empty result lies within o.
  constexpr index_range clamped_to(const index_range& o) const {
    const std::ptrdiff_t first = std::clamp(begin, o.begin, o.end);
    return {first, std::clamp(end, first, o.end)};
  }
  bool operator==(const index_range&) const = default;
};

// A band restricted to a block of queries and a block of keys, with indices relative to the blocks.
class band_range {
 public:
  band_range() = default;
  band_range(const band& b, index_range queries, index_range keys)
      : lowest_(bounded(b.lowest) + b.offset + queries.begin - keys.begin),
        highest_(bounded(b.highest) + b.offset + queries.begin - keys.begin),
        queries_(queries.size()),
        keys_(keys.size()) {}

  // Query i may see the keys i + lowest to i + highest.
  std::ptrdiff_t lowest() const { return lowest_; }
  std::ptrdiff_t highest() const { return highest_; }

  // The range that spans the keys that at least one of the queries may see.
  index_range keys(index_range queries) const {
    return among_keys({queries.begin + lowest_, queries.end + highest_});
  }
  // The keys that all of the queries see.
  index_range keys_seen_by_all(index_range queries) const {
    return among_keys({queries.end - 1 + lowest_, queries.begin + 1 + highest_});
  }
  // The range that spans the queries that may see at least one of the keys.
  index_range queries(index_range keys) const {
    return {std::clamp<std::ptrdiff_t>(keys.begin - highest_, 0, queries_),
            std::clamp<std::ptrdiff_t>(keys.end - lowest_, 0, queries_)};
  }

 private:
  // Clamped so that adding an offset and indices to it cannot overflow.
  static std::ptrdiff_t bounded(std::ptrdiff_t edge) {
    return std::clamp<std::ptrdiff_t>(edge, PTRDIFF_MIN / 2, PTRDIFF_MAX / 2);
  }
  index_range among_keys(index_range r) const {
    return {std::clamp<std::ptrdiff_t>(r.begin, 0, keys_),
            std::clamp<std::ptrdiff_t>(r.end, 0, keys_)};
  }

  std::ptrdiff_t lowest_ = 0, highest_ = 0;
  std::ptrdiff_t queries_ = 0, keys_ = 0;
};

// The call's band, moved by this element of its offset; null if it has no offset.
inline band band_at(const call& c, const std::int32_t* offset) {
  band b = c.attention.visible;
  // Where indices have 32 bits, an offset beyond all positions is as good as any other one.
  if (offset != nullptr)
    b.offset = static_cast<std::ptrdiff_t>(std::clamp<std::int64_t>(
        std::int64_t{b.offset} + *offset, PTRDIFF_MIN / 8, PTRDIFF_MAX / 8));
  return b;
}
// The number of keys that queries may see, by this element of the call's lengths; null if it has
// none.
inline std::ptrdiff_t keys_at(const call& c, const std::int32_t* length) {
  const std::ptrdiff_t keys = c.extent[attention_loops(c.loops).key];
  if (c.attention.visible.lowest > c.attention.visible.highest) return 0;  // an empty band
  if (length == nullptr) return keys;
  return static_cast<std::ptrdiff_t>(
      std::clamp<std::int64_t>(std::int64_t{*length} + c.attention.length_more, 0, keys));
}

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
