// The partition of a contraction over threads.
#if defined(WEFT_KERNELS_GEMM_PARTITION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_GEMM_PARTITION_INL_H_
#undef WEFT_KERNELS_GEMM_PARTITION_INL_H_
#else
#define WEFT_KERNELS_GEMM_PARTITION_INL_H_
#endif

#include <algorithm>
#include <cstddef>

#include "kernels/dot_loops.hpp"
#include "kernels/microkernel-inl.h"
#include "kernels/n_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// Packing an element takes about as long as this many products of a tile, measured with gradients
// of weights.
constexpr std::size_t products_per_packed_element = 8;

// What every partition does with the operands.
struct partition_work {
  bool packs_lhs, packs_rhs;
  bool is_gemv;  // gemv: the rhs is read once
};

inline range part_of(std::size_t n, const partition& s) {
  const item_range items = range_of(static_cast<std::ptrdiff_t>(n), s);
  return {static_cast<std::size_t>(items.begin), static_cast<std::size_t>(items.end - items.begin)};
}

// Partitions the batch, the rows or the columns, whichever gives the largest part the least work:
// its products and the elements that it packs, which by rows include all of the rhs in every part.
// No sum depends on the partition.
inline void choose_partition(const partition& s, const partition_work& of, range& batch,
                             range& rows, n_tiles& columns) {
  const auto largest = [&s](std::size_t n) {
    const auto parts = static_cast<std::size_t>(s.count);
    return (n + parts - 1) / parts;
  };
  const auto work = [of](std::size_t r, std::size_t c) {
    return r * c + products_per_packed_element * ((of.packs_lhs ? r : 0) + (of.packs_rhs ? c : 0));
  };
  const std::size_t micro_panels = (rows.count + tile_rows - 1) / tile_rows;
  const std::size_t units = columns.units();
  const std::size_t by_rows =
      work(std::min(largest(micro_panels) * tile_rows, rows.count), columns.count());
  const std::size_t by_columns = work(rows.count, largest(units) * columns.count() / units);
  // By rows if that takes hardly more work: what follows with a row then finds it in its core's
  // cache, and an encoder layer of 128 positions takes a tenth less time on two cores than by
  // columns.
  const bool rows_beat_columns = !of.is_gemv && by_rows <= by_columns + by_columns / 32;
  const std::size_t work_within_batch = batch.count * (rows_beat_columns ? by_rows : by_columns);
  if (largest(batch.count) * work(rows.count, columns.count()) <= work_within_batch) {
    batch = part_of(batch.count, s);
  } else if (rows_beat_columns) {
    const range micro_panel = part_of(micro_panels, s);
    const std::size_t begin = std::min(micro_panel.first * tile_rows, rows.count);
    rows = {begin, std::min(micro_panel.end() * tile_rows, rows.count) - begin};
  } else {
    const range unit = part_of(units, s);
    const std::size_t begin = columns.columns_of(unit.first);
    columns.choose({begin, columns.columns_of(unit.end()) - begin});
  }
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
