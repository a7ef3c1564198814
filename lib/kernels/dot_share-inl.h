// The partition of a contraction over threads.
#if defined(WEFT_KERNELS_DOT_SHARE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_DOT_SHARE_INL_H_
#undef WEFT_KERNELS_DOT_SHARE_INL_H_
#else
#define WEFT_KERNELS_DOT_SHARE_INL_H_
#endif

#include <algorithm>
#include <cstddef>

#include "kernels/dot_columns-inl.h"
#include "kernels/dot_loops.hpp"
#include "kernels/dot_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// Packing an element takes about as long as this many products of a tile, measured with gradients
// of weights.
constexpr std::size_t products_per_packed = 8;

// What every partition does with the operands.
struct parts_work {
  bool packs_left, packs_right;
  bool along_lines;  // gemv: the right operand is read once
};

inline range part_of(std::size_t n, const share& s) {
  const item_range items = items_of(static_cast<std::ptrdiff_t>(n), s);
  return {static_cast<std::size_t>(items.begin), static_cast<std::size_t>(items.end - items.begin)};
}

// Partitions the batch, the rows or the columns, whichever gives the largest part the least work:
// its products and the elements that it packs, which by rows include all of the right operand in
// every part. No sum depends on the partition.
inline void take(const share& s, const parts_work& of, range& batch, range& rows,
                 tiled_columns& columns) {
  const auto largest = [&s](std::size_t n) {
    const auto parts = static_cast<std::size_t>(s.count);
    return (n + parts - 1) / parts;
  };
  const auto work = [of](std::size_t r, std::size_t c) {
    return r * c + products_per_packed * ((of.packs_left ? r : 0) + (of.packs_right ? c : 0));
  };
  const std::size_t strips = (rows.count + tile_rows - 1) / tile_rows;
  const std::size_t units = columns.units();
  const std::size_t by_rows =
      work(std::min(largest(strips) * tile_rows, rows.count), columns.count());
  const std::size_t by_columns = work(rows.count, largest(units) * columns.count() / units);
  // By rows if that takes hardly more work: what follows with a row then finds it in its core's
  // cache, and an encoder layer of 128 positions takes a tenth less time on two cores than by
  // columns.
  const bool rows_beat_columns = !of.along_lines && by_rows <= by_columns + by_columns / 32;
  const std::size_t within = batch.count * (rows_beat_columns ? by_rows : by_columns);
  if (largest(batch.count) * work(rows.count, columns.count()) <= within) {
    batch = part_of(batch.count, s);
  } else if (rows_beat_columns) {
    const range strip = part_of(strips, s);
    const std::size_t begin = std::min(strip.first * tile_rows, rows.count);
    rows = {begin, std::min(strip.end() * tile_rows, rows.count) - begin};
  } else {
    const range unit = part_of(units, s);
    const std::size_t begin = columns.columns_of(unit.first);
    columns.choose({begin, columns.columns_of(unit.end()) - begin});
  }
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
