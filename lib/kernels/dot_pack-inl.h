// Packing: lines of an operand side by side, as tiles read them.
#if defined(WEFT_KERNELS_DOT_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_DOT_PACK_INL_H_
#undef WEFT_KERNELS_DOT_PACK_INL_H_
#else
#define WEFT_KERNELS_DOT_PACK_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hwy/cache_control.h"
#include "kernels/dot_loops.hpp"
#include "kernels/transpose-inl.h"
#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// What is packed at once: `lines` rows or columns of `depth` elements each.
struct strip {
  const float* data;
  offset_list line;
  offset_list element;  // of a line
  std::size_t lines, depth;
};

// Lines side by side in memory: as many of them at once as D has lanes. A strip's pieces of memory
// are short and apart, which hardware does not foresee: asks for those of the strip that goes on
// with these lines.
template <class D>
HWY_INLINE void pack_adjacent_lines(D d, const strip& s, std::size_t width,
                                    float* HWY_RESTRICT packed) {
  const std::size_t lanes = hn::Lanes(d);
  const std::ptrdiff_t step = s.depth > 1 ? s.element[1] - s.element[0] : 0;
  const std::ptrdiff_t ahead = static_cast<std::ptrdiff_t>(s.depth) * step;
  for (std::size_t k = 0; k < s.depth; ++k, packed += width) {
    const float* from = s.data + s.line[0] + s.element[k];
    std::size_t j = 0;
    for (; j + lanes <= s.lines; j += lanes) {
      hwy::Prefetch(from + ahead + j);
      hn::StoreU(hn::LoadU(d, from + j), d, packed + j);
    }
    if (j < s.lines) hn::StoreU(load_n(d, from + j, s.lines - j), d, packed + j);
  }
}

// One by one.
HWY_INLINE void pack_elements(const strip& s, std::size_t width, float* HWY_RESTRICT packed) {
  for (std::size_t k = 0; k < s.depth; ++k, packed += width) {
    const float* from = s.data + s.element[k];
    for (std::size_t j = 0; j < s.lines; ++j) packed[j] = from[s.line[j]];
  }
}

// A vector without a size that the compiler knows is not put together from halves.
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

// Elements side by side in memory: as many lines at once as a vector has lanes.
template <class D>
HWY_INLINE void pack_adjacent_elements(D d, const strip& s, std::size_t width,
                                       float* HWY_RESTRICT packed) {
  if (s.depth < 4) return pack_elements(s, width, packed);
  constexpr std::size_t lanes = hn::MaxLanes(D());
  for (std::size_t j = 0; j < s.lines; j += lanes) {
    // Where fewer lines are left, the last one stands in for the others.
    const float* line[lanes];
    s.line.from(j).places(s.data + s.element[0], std::min(lanes, s.lines - j), line);
    // Fours; the last one overlaps that before.
    for (std::size_t k = 0, count = s.depth / 4 * 4;; k = s.depth - 4, count = 4) {
      float* to = packed + k * width + j;
      transpose_strip(
          d, count, [&line, k](std::size_t i, std::size_t at) { return line[i] + k + at; },
          [=, &to](auto v) HWY_ATTR {
            hn::StoreU(v, d, to);
            to += width;
          });
      if (k + count == s.depth) break;
    }
  }
}

#else

template <class D>
HWY_INLINE void pack_adjacent_elements(D, const strip& s, std::size_t width,
                                       float* HWY_RESTRICT packed) {
  pack_elements(s, width, packed);
}

#endif

#if HWY_NATIVE_DOT_BF16

// A line's adjacent elements as pairs of bfloat16, where floats would be: half as many.
inline void round_line(const float* HWY_RESTRICT line, std::size_t depth,
                       float* HWY_RESTRICT pairs) {
  const hn::CappedTag<float, max_dot_lanes> d;
  const hn::Repartition<hwy::bfloat16_t, decltype(d)> halves;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t k = 0; k < depth; k += 2 * lanes) {
    const std::size_t left = depth - k;
    const auto first = left < lanes ? load_n(d, line + k, left) : hn::LoadU(d, line + k);
    const auto second = left < 2 * lanes
                            ? load_n(d, line + k + lanes, left < lanes ? 0 : left - lanes)
                            : hn::LoadU(d, line + k + lanes);
    const auto both = hn::BitCast(d, hn::OrderedDemote2To(halves, first, second));
    store_n(both, d, pairs + k / 2, std::min(lanes, (left + 1) / 2));
  }
}

// A packed strip as pairs of bfloat16, in its place or before it. D's lanes are its width.
template <class D>
void round_strip(D d, const float* strip, std::size_t depth, float* pairs) {
  const hn::Rebind<hwy::bfloat16_t, D> halves;
  const hn::Rebind<std::uint16_t, D> bits;
  const hn::RebindToUnsigned<D> wide;
  const std::size_t lanes = hn::Lanes(d);
  const auto rounded = [=](hn::Vec<D> x) HWY_ATTR {
    return hn::PromoteTo(wide, hn::BitCast(bits, hn::DemoteTo(halves, x)));
  };
  for (std::size_t k = 0; k < depth; k += 2, pairs += lanes) {
    const float* from = strip + k * lanes;
    const auto first = rounded(hn::LoadU(d, from));
    const auto second = k + 1 < depth ? rounded(hn::LoadU(d, from + lanes)) : hn::Zero(wide);
    hn::StoreU(hn::BitCast(d, hn::Or(first, hn::ShiftLeft<16>(second))), d, pairs);
  }
}

#endif

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
