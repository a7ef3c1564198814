// Keys and values of attention that are bfloat16, as those of a cache can be: a block of them is
// converted to float at a time.
#if defined(WEFT_KERNELS_ATTENTION_NARROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_ATTENTION_NARROW_INL_H_
#undef WEFT_KERNELS_ATTENTION_NARROW_INL_H_
#else
#define WEFT_KERNELS_ATTENTION_NARROW_INL_H_
#endif

#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels/attention_view.hpp"
#include "kernels/cast-inl.h"
#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// to = the rows [keys.begin, keys.end) of `columns` columns, as float, in rows of `pitch` elements,
// a whole number of vectors: the padding after the columns is 0.
inline HWY_NOINLINE void widen_rows(const slice<const std::uint16_t>& from, const index_range& keys,
                                    std::ptrdiff_t columns, float* to, std::ptrdiff_t pitch) {
  const floats d;
  const hn::Rebind<half, floats> narrow;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  for (std::ptrdiff_t i = keys.begin; i < keys.end; ++i, to += pitch) {
    const std::uint16_t* const row = from.at(i, 0);
    std::ptrdiff_t j = 0;
    if (from.column == 1) {
      for (; j + lanes <= columns; j += lanes)
        hn::StoreU(widened(hn::LoadU(narrow, row + j)), d, to + j);
      if (j < columns) {
        const auto last = load_n(narrow, row + j, static_cast<std::size_t>(columns - j));
        hn::StoreU(widened(last), d, to + j);
      }
      continue;
    }
    for (; j < columns; ++j)
      to[j] = std::bit_cast<float>(static_cast<std::uint32_t>(*from.at(i, j)) << 16);
    for (; j < pitch; ++j) to[j] = 0;
  }
}

// The value of a key in a column, of either type.
inline float value_at(const attention_view& at, std::ptrdiff_t key, std::ptrdiff_t column) {
  if (at.narrow_value.data == nullptr) return *at.value.at(key, column);
  return std::bit_cast<float>(static_cast<std::uint32_t>(*at.narrow_value.at(key, column)) << 16);
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
