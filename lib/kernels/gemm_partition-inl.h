// Splits the columns of a contraction into panels, these into tiles, and all of it over threads.
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
#include "weft/weights/layout.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

struct n_tile : detail::tile_of_lines {
  std::size_t width() const { return vectors * hn::Lanes(tag()); }
  bool is_full() const { return in_one_run && count == width(); }
};

class n_tiles {
 public:
  // A packed operand keeps the tiles that it was packed in, whatever the partition.
  n_tiles(const loop_nest& loops, bool packed)
      : loops_(loops),
        packed_(packed),
        aligned_(loops.extent[loops.last()] % static_cast<std::ptrdiff_t>(hn::Lanes(tag())) == 0),
        count_(static_cast<std::size_t>(loops.points())),
        part_{0, count_} {}

  std::size_t count() const { return count_; }

  // The columns to compute: all, unless others are chosen.
  const range& part() const { return part_; }
  void choose(range part) { part_ = part; }

  // Tiles end where the innermost loop does if its extent is a multiple of the lanes.
  bool tiles_end_with_loops() const { return aligned_; }

  // How many of `count` columns from `first` on are within one run of the inner loop.
  std::size_t run(std::size_t first, std::size_t count) const {
    return run_within(loops_, first, count);
  }

  n_tile tile_at(std::size_t first) const {
    return {detail::tile_at(first, packed_ ? count_ : part_.end(), run_of(loops_), hn::Lanes(tag()),
                            tile_vectors)};
  }

  // The number of columns of complete tiles from `first` on, no more than `limit`.
  std::size_t panel_at(std::size_t first, std::size_t limit) const {
    const std::size_t remaining = part_.end() - first;
    if (remaining <= limit) return remaining;
    std::size_t count = 0;
    for (std::size_t next = 0; count + next <= limit; next = tile_at(first + count).count)
      count += next;
    return count;
  }

  // The units of a partition: vectors, or the tiles of a packed operand.
  std::size_t units() const {
    if (!packed_) return (count_ + hn::Lanes(tag()) - 1) / hn::Lanes(tag());
    std::size_t n = 0;
    for (std::size_t first = 0; first < count_; ++n) first += tile_at(first).count;
    return n;
  }
  std::size_t columns_of(std::size_t units) const {
    if (!packed_) return std::min(units * hn::Lanes(tag()), count_);
    std::size_t columns = 0;
    for (; units > 0; --units) columns += tile_at(columns).count;
    return columns;
  }

 private:
  const loop_nest& loops_;
  bool packed_, aligned_;
  std::size_t count_;
  range part_;
};

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
