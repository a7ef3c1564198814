// What a tile multiplies: its micro-panels, and what it prefetches.
#if defined(WEFT_KERNELS_GEMM_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_GEMM_TILES_INL_H_
#undef WEFT_KERNELS_GEMM_TILES_INL_H_
#else
#define WEFT_KERNELS_GEMM_TILES_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "kernels/gemm_operands-inl.h"
#include "kernels/gemm_plan-inl.h"
#include "kernels/gemm_results-inl.h"
#include "kernels/microkernel-inl.h"
#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {
namespace {

class gemm_tiles : public gemm_results {
 public:
  using gemm_results::gemm_results;

 protected:
  // Rounds the rows of a block by round(row, depth, to), but rows of full depth for the first panel
  // alone: m_block is one block of rows.
  template <class T, class F>
  void round_block(const operands& o, range columns, range depth, range rows, F round) const {
    if (columns.first != columns_.part().first && depth.count == depth_count_) return;
    float* const line = is_int8<T> ? packed_lhs_ : packed_rhs_;
    round_rows({o.lhs, at_.rows().lhs, rows.count}, x_.depth, depth, line, rounded<T>(depth),
               round);
  }

  // The lhs of a tile: `count` rows of the block from `row` on. Surplus rows of the tile repeat the
  // last one.
  template <class T>
  lhs_micro_panel lhs_of(const operands& o, range depth, std::size_t row, std::size_t count) const {
    lhs_micro_panel a;
    if constexpr (std::is_same_v<T, bf16_pair> || is_int8<T>) {
      const rounded_rows all = rounded<T>(depth);
      a.step = 1;
      offset_list(0, static_cast<std::ptrdiff_t>(all.pitch))
          .pointers<const float>(all.data + row * all.pitch, count, a.row);
      return a;
    }
    a.step = plan_.lhs_in_place ? lhs_step_ : static_cast<std::ptrdiff_t>(tile_rows);
    if (!plan_.lhs_in_place)
      offset_list(0, 1).pointers<const float>(packed_lhs_ + row * depth.count, count, a.row);
    else
      at_.rows().lhs.from(row).pointers(
          o.lhs + static_cast<std::ptrdiff_t>(depth.first) * lhs_step_, count, a.row);
    return a;
  }

  template <class T>
  rhs_micro_panel<T> rhs_of(const n_tile& t, range columns, range depth, const operands& o) const {
    const auto width = static_cast<std::ptrdiff_t>(t.width());
    if (packed_ != nullptr && !plan_.promotes)
      return {in_packed<const T>(packed_, t, depth), width};
    if constexpr (std::is_same_v<T, float>) {
      if (!plan_.rhs_in_place || !t.is_full()) return {packed_tile(t, columns, depth), width};
      return {o.rhs + at_.columns().rhs[t.first - columns.first] +
                  static_cast<std::ptrdiff_t>(depth.first) * rhs_step_,
              rhs_step_};
    }
    return {};
  }

  // The prefetch target in packed weights, in the tile's columns of the next panel: each
  // micro-panel of rows prefetches another slice, of `bytes` bytes of each vector. A burst of
  // prefetches would delay the loads of the tile itself.
  template <class T>
  prefetch_target prefetch_of_next_panel(const rhs_micro_panel<T>& rhs, const n_tile& t,
                                         range columns, range depth, std::size_t micro_panel,
                                         std::size_t bytes) const {
    if (row_count_ <= max_skinny_m)
      return {reinterpret_cast<const std::byte*>(rhs.data) + prefetch_distance,
              static_cast<std::ptrdiff_t>(t.width() * sizeof(T) / steps_of<T>)};
    const range all = in_units<T>({0, depth_count_}), part = in_units<T>(depth);
    // A tile of fewer columns than a vector has is as wide as one.
    const std::size_t of_panel = std::max(columns.count, t.width()) * all.count;
    const std::size_t to_next =
        part.end() < all.count ? part.count * t.width() : of_panel - part.first * t.width();
    const std::size_t step = t.vectors * bytes;
    return {reinterpret_cast<const std::byte*>(rhs.data + to_next) +
                micro_panel * step * part.count * steps_of<T>,
            static_cast<std::ptrdiff_t>(step)};
  }

 private:
  // Where these rows are, rounded. Those of int8 follow the one that is copied first.
  template <class T>
  rounded_rows rounded(range depth) const {
    if constexpr (std::is_same_v<T, fixed_block>)
      return {packed_lhs_, bf16_pitch(depth.count)};
    else if constexpr (is_int8<T>)
      return {packed_lhs_ + depth.count, int8_pitch(depth.count)};
    else
      return {packed_lhs_, bf16_pitch(in_units<T>(depth).count)};
  }
};

}  // namespace
}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
