// Blocks of lines, whose bytes are interleaved.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/interleave.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/export-inl.h"
#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR
// Transposes sixteen bytes of eight lines: the i-th of each are from to + i * pitch on.
HWY_INLINE void transpose(const std::uint8_t* const* lines, std::size_t first, std::uint8_t* to,
                          std::size_t pitch) {
  const hn::Full128<std::uint8_t> d;
  const hn::Full64<std::uint8_t> half;
  hn::Vec<decltype(d)> v[8], w[8];
  for (std::size_t l = 0; l < 8; ++l) v[l] = hn::LoadU(d, lines[l] + first);
  // Each turn moves the highest bit of (line, byte), a place among 128, to the lowest.
  const auto turn = [d](const auto(&from)[8], auto(&into)[8]) HWY_ATTR {
    for (std::size_t l = 0; l < 4; ++l) {
      into[2 * l] = hn::InterleaveLower(d, from[l], from[l + 4]);
      into[2 * l + 1] = hn::InterleaveUpper(d, from[l], from[l + 4]);
    }
  };
  turn(v, w), turn(w, v), turn(v, w);
  for (std::size_t l = 0; l < 8; ++l, to += 2 * pitch) {
    hn::StoreU(hn::LowerHalf(half, w[l]), half, to);
    hn::StoreU(hn::UpperHalf(half, w[l]), half, to + pitch);
  }
}
#endif

void interleave(const std::uint8_t* const* lines, std::size_t count, std::size_t size,
                std::uint8_t* to) noexcept {
  std::size_t done = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; size >= 16 && done + 8 <= count; done += 8)
    for (std::size_t i = 0; i < size; i += 16) {
      const std::size_t first = std::min(i, size - 16);
      transpose(lines + done, first, to + first * count + done, count);
    }
#endif
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t l = done; l < count; ++l) to[i * count + l] = lines[l][i];
}

}  // namespace
}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

WEFT_EXPORT(interleave_function, interleave)
