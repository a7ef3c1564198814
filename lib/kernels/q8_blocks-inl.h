// Packed weights in blocks of Q8_0, as vectors of floats: those of a tile's lines at one place of
// the depth are the lines' scales, then the first element of each line, the second one, and so on.
#if defined(WEFT_KERNELS_Q8_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_Q8_BLOCKS_INL_H_
#undef WEFT_KERNELS_Q8_BLOCKS_INL_H_
#else
#define WEFT_KERNELS_Q8_BLOCKS_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// By integers, as targets convert NaN and subnormals in several ways.
template <class D>
HWY_INLINE hn::Vec<D> from_float16(D d, const std::uint16_t* from) {
  const hn::RebindToUnsigned<D> bits;
  const auto half = hn::PromoteTo(bits, hn::LoadU(hn::Rebind<std::uint16_t, D>(), from));
  const auto exponent = hn::And(half, hn::Set(bits, 0x7c00));
  const auto wide =
      hn::Add(hn::ShiftLeft<13>(hn::And(half, hn::Set(bits, 0x7fff))), hn::Set(bits, 112u << 23));
  // 2^-14 is added to subnormal ones, and subtracted; NaN and infinity have all exponent bits.
  const auto more = hn::BitCast(d, hn::Add(wide, hn::Set(bits, 1u << 23)));
  const auto small = hn::BitCast(bits, hn::Sub(more, hn::Set(d, 0x1p-14f)));
  const auto large = hn::Or(wide, hn::Set(bits, 0xffu << 23));
  const auto size =
      hn::IfThenElse(hn::Eq(exponent, hn::Zero(bits)), small,
                     hn::IfThenElse(hn::Eq(exponent, hn::Set(bits, 0x7c00)), large, wide));
  return hn::BitCast(d, hn::Or(size, hn::ShiftLeft<16>(hn::And(half, hn::Set(bits, 0x8000)))));
}

struct q8_block {
  static constexpr std::size_t depth = 32;
  std::uint8_t bytes[2 + depth];
};

// A tile's blocks at one place of the depth, `width` of them.
struct q8_lines {
  const q8_block* blocks;
  std::size_t width;

  // The k-th elements, from line `line` on.
  const std::int8_t* elements(std::size_t k, std::size_t line = 0) const {
    return reinterpret_cast<const std::int8_t*>(blocks) + (2 + k) * width + line;
  }
  // The scales from line `line` on.
  template <class D>
  HWY_INLINE hn::Vec<D> scales(D d, std::size_t line) const {
    return from_float16(d, reinterpret_cast<const std::uint16_t*>(blocks) + line);
  }
};

template <class D>
HWY_INLINE hn::Vec<D> from_bytes(D d, const std::int8_t* elements) {
  const auto bytes = hn::LoadU(hn::Rebind<std::int8_t, D>(), elements);
  return hn::ConvertTo(d, hn::PromoteTo(hn::RebindToSigned<D>(), bytes));
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
