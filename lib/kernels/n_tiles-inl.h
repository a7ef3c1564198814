// Splits the columns of a contraction into panels, and these into tiles.
#if defined(WEFT_KERNELS_N_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_N_TILES_INL_H_
#undef WEFT_KERNELS_N_TILES_INL_H_
#else
#define WEFT_KERNELS_N_TILES_INL_H_
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

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
