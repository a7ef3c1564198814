// The microkernel of a contraction: a tile of the result, whose accumulators are registers.
#if defined(WEFT_KERNELS_MICROKERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_MICROKERNEL_INL_H_
#undef WEFT_KERNELS_MICROKERNEL_INL_H_
#else
#define WEFT_KERNELS_MICROKERNEL_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "hwy/cache_control.h"
#include "kernels/amx.hpp"
#include "kernels/epilogue-inl.h"
#include "kernels/int8_products-inl.h"
#include "kernels/packed_blocks-inl.h"
#include "weft/kernels/dot_blocking.hpp"
#include "weft/kernels/hwy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

using tag = hn::CappedTag<float, max_dot_lanes>;
using vec = hn::Vec<tag>;

constexpr std::size_t tile_rows = tile_for(has_32_registers ? 32 : 16).rows;
constexpr std::size_t tile_vectors = tile_for(has_32_registers ? 32 : 16).vectors;
static_assert(tile_rows <= max_tile_rows && tile_vectors * max_dot_lanes <= max_tile_columns);

// The bits of a bfloat16: the upper half of a float.
using bf16 = std::uint16_t;

HWY_INLINE vec load(tag d, const float* p) {
  return hn::LoadU(d, p);
}
// Loads bfloat16 into the lower halves of the lanes, until they are widened.
HWY_INLINE vec load(tag d, const bf16* p) {
  const hn::Repartition<std::uint32_t, tag> bits;
  const hn::Rebind<bf16, tag> bf16s;
  return hn::BitCast(d, hn::PromoteTo(bits, hn::LoadU(bf16s, p)));
}
template <class T>
HWY_INLINE vec promoted(vec v) {
  const hn::Repartition<std::uint32_t, tag> bits;
  if constexpr (std::is_same_v<T, bf16>)
    return hn::BitCast(tag(), hn::ShiftLeft<16>(hn::BitCast(bits, v)));
  else
    return v;
}

// The bfloat16 nearest to x, ties to even; NaN stays NaN.
inline bf16 to_bf16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<bf16>(bits >> 16 | 0x40u);
  return static_cast<bf16>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

// Two bfloat16 that are consecutive along the depth, for targets that multiply such pairs. They are
// loaded and stored as one float until they are multiplied.
struct bf16_pair {
  bf16 first, second;
};

HWY_INLINE vec load(tag d, const bf16_pair* p) {
  return hn::LoadU(d, reinterpret_cast<const float*>(p));
}

// Rounds consecutive lines of floats, two by two, to lines of pairs. An odd last line is paired
// with zeros.
inline void to_bf16_pairs(const float* from, std::size_t width, std::size_t depth, bf16_pair* to) {
  for (std::size_t k = 0; k < depth; k += 2, from += 2 * width, to += width) {
    for (std::size_t j = 0; j < width; ++j)
      to[j] = {to_bf16(from[j]), k + 1 < depth ? to_bf16(from[width + j]) : bf16{0}};
  }
}

// One multiply-add along the depth, with a vector of the rhs loaded from T.
template <class T>
HWY_INLINE vec add_product(vec lhs, vec rhs, vec sum) {
  return hn::MulAdd(lhs, rhs, sum);
}
template <>
HWY_INLINE vec add_product<bf16_pair>(vec lhs, vec rhs, vec sum) {
  return dot_of_pairs(tag(), lhs, rhs, sum);
}

// Whether this processor multiplies pairs, so that they are what bfloat16_products packs.
HWY_INLINE bool multiplies_pairs() {
  if constexpr (HWY_ARCH_X86)
    return may_multiply_pairs && multiplies_bfloat16_pairs();
  else
    return may_multiply_pairs;
}

// A tile's micro-panel of the lhs. Row r's element at depth k is row[r][k * step].
struct lhs_micro_panel {
  const float* row[tile_rows];
  std::ptrdiff_t step;
};

// A tile's micro-panel of the rhs: at depth k, its columns start at data + k * step; those of
// blocks at data + k / T::depth * step.
template <class T>
struct rhs_micro_panel {
  const T* data;
  std::ptrdiff_t step;
};

// The prefetch stream of a tile, for later tiles: at depth k, the cache line at data + k * step.
struct prefetch_target {
  const std::byte* data;
  std::ptrdiff_t step;
};

// The destination of a tile: row r starts at row[r] + column. The sums are added to it, or else
// overwrite it.
// `end` is null if the sums are not scaled and have no addends.
// `amx_sums`, which pairs may have, are the sums of the depth that the matrix unit has done, or
// null: row r's start at amx_sums + r * max_amx_columns. Blocks have those of add_fixed_products.
struct tile_result {
  float* const* row;
  std::ptrdiff_t column;
  bool add;
  const epilogue* end;
  const float* amx_sums;
};

template <std::size_t V, class... Others>
HWY_INLINE vec pick(vec first, Others... others) {
  if constexpr (V == 0)
    return first;
  else
    return pick<V - 1>(others...);
}

// Prefetches the result, which in no cache would delay the stores at the end, and so the next tile,
// and a residual, which would delay the loads there; not a bias, all of whose rows are the same
// one.
template <std::size_t Vectors, std::size_t... R, std::size_t... I>
HWY_INLINE void prefetch_result(std::index_sequence<R...>, std::index_sequence<I...>,
                                const tile_result& result) {
  const std::size_t lanes = hn::Lanes(tag());
  float* const to[]{result.row[R] + result.column...};
  (hwy::Prefetch(to[I / Vectors] + I % Vectors * lanes), ...);
  if (result.end == nullptr) return;
  for (int a = 0; a < result.end->addends; ++a) {
    const addend_rows& addend = result.end->addend[a];
    const float* const* from = addend.row;
    if (from[0] != from[sizeof...(R) - 1] && !addend.broadcast)
      (hwy::Prefetch(from[I / Vectors] + I % Vectors * lanes), ...);
  }
}

// The products with blocks: the sums of a block are multiplied with its scale as a whole.
template <std::size_t Vectors, std::size_t... I, class... Sums>
HWY_INLINE void add_blocks(std::index_sequence<I...>, const float* const* row,
                           std::ptrdiff_t lhs_step, const rhs_micro_panel<q8_block>& rhs,
                           std::size_t depth, prefetch_target prefetch, Sums&... sums) {
  const tag d;
  const std::size_t lanes = hn::Lanes(d), width = static_cast<std::size_t>(rhs.step);
  std::ptrdiff_t at = 0;
  lines_of_blocks<tag> lines{reinterpret_cast<const std::uint8_t*>(rhs.data), width, 0};
  for (std::size_t count; depth != 0; depth -= count, lines.tile += width * sizeof(q8_block)) {
    count = std::min(depth, q8_block::depth);
    const auto add_block = [&](auto... of_block) HWY_ATTR __attribute__((always_inline)) {
      const auto* from = reinterpret_cast<const std::int8_t*>(lines.tile + 2 * width);
      for (std::size_t k = count; k != 0; --k, at += lhs_step, from += width) {
        hwy::Prefetch(prefetch.data);
        prefetch.data += prefetch.step;
        const vec b0 = from_bytes(d, from);
        const vec b1 = Vectors > 1 ? from_bytes(d, from + lanes) : b0;
        const vec b2 = Vectors > 2 ? from_bytes(d, from + 2 * lanes) : b0;
        ((of_block = hn::MulAdd(hn::Set(d, row[I / Vectors][at]), pick<I % Vectors>(b0, b1, b2),
                                of_block)),
         ...);
      }
      const vec s0 = lines.half(0), s1 = Vectors > 1 ? lines.half(0, lanes) : s0;
      const vec s2 = Vectors > 2 ? lines.half(0, 2 * lanes) : s0;
      ((sums = hn::MulAdd(of_block, pick<I % Vectors>(s0, s1, s2), sums)), ...);
    };
    add_block((static_cast<void>(I), hn::Zero(d))...);
  }
}

// The products with blocks of int8, of rows in such blocks.
template <std::size_t Vectors, std::size_t... I, class T, class... Sums>
HWY_INLINE void add_int8_blocks(std::index_sequence<I...>, const float* const* row,
                                const rhs_micro_panel<T>& rhs, std::size_t depth,
                                prefetch_target prefetch, Sums&... sums) {
  const tag d;
  const std::size_t lanes = hn::Lanes(d), width = static_cast<std::size_t>(rhs.step);
  const auto* scale = reinterpret_cast<const float*>(rhs.data);
  std::size_t at = 0;
  for (std::size_t count; depth != 0; depth -= count, at += floats_of_row_block) {
    count = std::min(depth, T::depth);
    const auto add_block = [&](auto... of_block) HWY_ATTR __attribute__((always_inline)) {
      const float* from = scale + width;
      for (std::size_t k = at + 2, end = k + (count + 3) / 4; k != end; ++k, from += width) {
        hwy::Prefetch(prefetch.data);
        prefetch.data += prefetch.step;
        const vec b0 = loaded_quads<T>(hn::LoadU(d, from));
        const vec b1 = Vectors > 1 ? loaded_quads<T>(hn::LoadU(d, from + lanes)) : b0;
        const vec b2 = Vectors > 2 ? loaded_quads<T>(hn::LoadU(d, from + 2 * lanes)) : b0;
        ((of_block = dot_of_quads<T>(hn::Set(d, row[I / Vectors][k]), pick<I % Vectors>(b0, b1, b2),
                                     of_block)),
         ...);
      }
      const vec s0 = hn::LoadU(d, scale), s1 = Vectors > 1 ? hn::LoadU(d, scale + lanes) : s0;
      const vec s2 = Vectors > 2 ? hn::LoadU(d, scale + 2 * lanes) : s0;
      ((sums = hn::MulAdd(as_floats(of_block),
                          hn::Mul(hn::Set(d, row[I / Vectors][at]), pick<I % Vectors>(s0, s1, s2)),
                          sums)),
       ...);
    };
    add_block(first_sums<T>(d, row[I / Vectors] + at)...);
    scale += width * (1 + T::depth / 4);
  }
}

// The accumulators are a parameter pack, not an array, so that each is a register even if vectors
// have no size known at compile time. One cache line for later tiles is prefetched per iteration: a
// burst would delay the loads of this tile.
template <std::size_t Vectors, bool UnitStep, class T, std::size_t... R, std::size_t... I,
          class... Sums>
HWY_INLINE void multiply_add(std::index_sequence<R...>, std::index_sequence<I...>,
                             const lhs_micro_panel& lhs, const rhs_micro_panel<T>& rhs,
                             std::size_t depth, prefetch_target prefetch, const tile_result& result,
                             Sums... sums) {
  const tag d;
  const std::size_t lanes = hn::Lanes(d);
  prefetch_result<Vectors>(std::index_sequence<R...>(), std::index_sequence<I...>(), result);
  const float* row[]{lhs.row[R]...};
  const T* b = rhs.data;
  const std::ptrdiff_t lhs_step = UnitStep ? 1 : lhs.step, rhs_step = rhs.step;
  std::ptrdiff_t at = 0;
  if constexpr (std::is_same_v<T, q8_block>) {
    add_blocks<Vectors>(std::index_sequence<I...>(), row, lhs_step, rhs, depth, prefetch, sums...);
  } else if constexpr (is_int8<T>) {
    add_int8_blocks<Vectors>(std::index_sequence<I...>(), row, rhs, depth, prefetch, sums...);
  } else {
    for (; depth != 0; --depth, at += lhs_step, b += rhs_step) {
      // Before the loads: after them, two to four rows with weights in L3 measured a tenth slower.
      hwy::Prefetch(prefetch.data);
      prefetch.data += prefetch.step;
      const vec v0 = load(d, b);
      const vec v1 = Vectors > 1 ? load(d, b + lanes) : v0;
      const vec v2 = Vectors > 2 ? load(d, b + 2 * lanes) : v0;
      const vec b0 = promoted<T>(v0), b1 = promoted<T>(v1), b2 = promoted<T>(v2);
      ((sums =
            add_product<T>(hn::Set(d, row[I / Vectors][at]), pick<I % Vectors>(b0, b1, b2), sums)),
       ...);
    }
  }
  if constexpr (std::is_same_v<T, bf16_pair> || std::is_same_v<T, q8_block>) {
    if (const float* from = result.amx_sums; from != nullptr) {
      ((sums = hn::Add(sums,
                       hn::LoadU(d, from + I / Vectors * max_amx_columns + I % Vectors * lanes))),
       ...);
    }
  }
  float* const to[]{result.row[R] + result.column...};
  if (result.add) {
    ((sums = hn::Add(sums, hn::LoadU(d, to[I / Vectors] + I % Vectors * lanes))), ...);
  }
  if (const epilogue* end = result.end; end != nullptr) {
    if (end->scale != 1) {
      const vec scale = hn::Set(d, end->scale);
      ((sums = hn::Mul(sums, scale)), ...);
    }
    for (int a = 0; a < end->addends; ++a) {
      const float* const* from = end->addend[a].row;
      if (end->addend[a].broadcast)
        ((sums = hn::Add(sums, hn::Set(d, *from[I / Vectors]))), ...);
      else
        ((sums = hn::Add(sums, hn::LoadU(d, from[I / Vectors] + I % Vectors * lanes))), ...);
    }
  }
  (hn::StoreU(sums, d, to[I / Vectors] + I % Vectors * lanes), ...);
}

template <std::size_t Rows, std::size_t Vectors, bool UnitStep, class T, class... Sums>
HWY_INLINE void with_sums(const lhs_micro_panel& lhs, const rhs_micro_panel<T>& rhs,
                          std::size_t depth, prefetch_target prefetch, const tile_result& result,
                          Sums... sums) {
  if constexpr (sizeof...(Sums) == Rows * Vectors) {
    multiply_add<Vectors, UnitStep>(std::make_index_sequence<Rows>(),
                                    std::make_index_sequence<Rows * Vectors>(), lhs, rhs, depth,
                                    prefetch, result, sums...);
  } else {
    with_sums<Rows, Vectors, UnitStep>(lhs, rhs, depth, prefetch, result, sums..., hn::Zero(tag()));
  }
}

// Rows x Vectors * Lanes sums over the depth. A tile of one vector is bound by the latency of its
// loads, so nothing may be spilled: the lhs's step needs no register if it is constant 1.
template <std::size_t Rows, std::size_t Vectors, class T, bool UnitStep = false>
HWY_NOINLINE void tile(const lhs_micro_panel& lhs, const rhs_micro_panel<T>& rhs, std::size_t depth,
                       prefetch_target prefetch, const tile_result& result) {
  with_sums<Rows, Vectors, UnitStep>(lhs, rhs, depth, prefetch, result);
}

template <class T>
using tile_function = void (*)(const lhs_micro_panel&, const rhs_micro_panel<T>&, std::size_t,
                               prefetch_target, const tile_result&);

// The rows of a tile. With int8, sums of a block of the depth take registers, too: those of eight
// rows would be stored and loaded for each block.
template <class T>
constexpr std::size_t rows_of_tile = is_int8<T> ? std::min(tile_rows, max_skinny_m) : tile_rows;

// The microkernel for at least this many rows.
template <class T, std::size_t Vectors, bool UnitStep = false>
tile_function<T> tile_of(std::size_t rows) {
  if (rows == 1) return &tile<1, Vectors, T>;
  if (rows == 2) return &tile<2, Vectors, T>;
  constexpr bool promoted_for_more = std::is_same_v<T, bf16> || std::is_same_v<T, q8_block>;
  if constexpr (!promoted_for_more && max_skinny_m < rows_of_tile<T>) {
    if (rows > max_skinny_m) return &tile<tile_rows, Vectors, T, UnitStep>;
  }
  return &tile<max_skinny_m, Vectors, T>;
}

template <class T>
tile_function<T> tile_of(std::size_t rows, std::size_t vectors, std::ptrdiff_t lhs_step) {
  if (vectors == 1) return lhs_step == 1 ? tile_of<T, 1, true>(rows) : tile_of<T, 1>(rows);
  if (vectors == 2) return tile_of<T, 2>(rows);
  return tile_of<T, 3>(rows);
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
