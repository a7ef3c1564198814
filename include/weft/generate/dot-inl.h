// Small contractions with constant extents and strides.
#if defined(WEFT_GENERATE_DOT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_GENERATE_DOT_INL_H_
#undef WEFT_GENERATE_DOT_INL_H_
#else
#define WEFT_GENERATE_DOT_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "weft/generate/dot_plan.hpp"
#include "weft/generate/vectors-inl.h"
#include "weft/kernels/vector_ops-inl.h"
#include "weft/weights/layout.hpp"

#ifdef WEFT_GENERATES
HWY_BEFORE_NAMESPACE();
namespace weft::generate::HWY_NAMESPACE {

// The compile-time description of a contraction.
struct tile_traits {
  std::ptrdiff_t columns;  // determine the lanes of a vector
  std::ptrdiff_t depth;
  int sets;  // see accumulator_sets
  std::ptrdiff_t lhs_row, lhs_depth, rhs_depth;
  bool rhs_is_packed;  // its rows are padded to full vectors
  std::ptrdiff_t result_row;
  int addends;
  std::ptrdiff_t addend_row[2];
  bool addend_broadcast[2];  // one element for all columns
  structural_double scale;
  op epilogue;
};

// See tile_model.
template <tile_traits T>
inline constexpr bool is_narrow = T.lhs_depth == 1 && lanes_of<lanes_for<T.columns>> >= 4 &&
                                  T.columns <= lanes_of<lanes_for<T.columns>>;

// Whether the epilogue is applied in the register tile. Others need more constants than there are
// registers beside the accumulators.
constexpr bool fuses_epilogue(op epilogue) {
  return epilogue == op::copy || epilogue == op::relu;
}

// A register tile of Rows x Vectors accumulators, of whose last vector the first Tail lanes are
// stored, or all if Tail is 0.
template <tile_traits T, int Rows, int Vectors, int Tail>
struct tile {
  using D = lanes_for<T.columns>;
  using V = hn::Vec<D>;
  static constexpr int lanes = lanes_of<D>;
  static constexpr tile_model model{Rows, Vectors, T.sets, T.depth, is_narrow<T>, vector_registers};
  static constexpr int accumulators = model.accumulators(), accumulator_sets = T.sets,
                       broadcast_quads = model.broadcast_quads();
  static constexpr int unroll = model.unroll(), tail = static_cast<int>(T.depth % unroll);
  // The rhs is in memory, or in registers.
  using Rhs = std::conditional_t<model.rhs_in_registers(), const V*, const float*>;
  template <int I>
  static constexpr int count = Tail != 0 && I % Vectors == Vectors - 1 ? Tail : lanes;

  // Loads n columns; the other lanes are unspecified. A mask costs some targets more than the load.
  template <int n>
  HWY_INLINE static V load_columns(const float* from) {
    if constexpr (n == 1)
      return hn::Set(D(), *from);
    else if constexpr (n == 4)
      return hn::LoadDup128(D(), from);
    else
      return load<D, n>(from);
  }
  template <int... J>
  HWY_INLINE static void load_rhs(std::integer_sequence<int, J...>, V* to, const float* from) {
    ((to[J] = load_columns < T.rhs_is_packed ? lanes : count < J >> (from + J * lanes)), ...);
  }
  template <int... K>
  HWY_INLINE static void load_all_rhs(std::integer_sequence<int, K...>, V* to, const float* from) {
    (load_rhs(std::make_integer_sequence<int, Vectors>(), to + K * Vectors, from + K * T.rhs_depth),
     ...);
  }

  // The broadcast lhs element of a row at depth step C. The first rows have four elements each in
  // a register.
  template <int Quads, int C, int Row>
  HWY_INLINE static V broadcast_lhs([[maybe_unused]] const V* quad, const float* lhs) {
    if constexpr (Row < Quads)
      return hn::Broadcast<C>(quad[Row]);
    else
      return hn::Set(D(), lhs[Row * T.lhs_row + C * T.lhs_depth]);
  }
  template <int Quads, int C, int... I>
  HWY_INLINE static void multiply_add(std::integer_sequence<int, I...>, V* s, const V* quad,
                                      const float* lhs, const V* b) {
    ((s[I] = hn::MulAdd(broadcast_lhs<Quads, C, I / Vectors>(quad, lhs), b[I % Vectors], s[I])),
     ...);
  }
  template <int Quads, int C>
  HWY_INLINE static void multiply_add(V* s, const V* quad, const float* lhs, Rhs rhs) {
    constexpr std::make_integer_sequence<int, accumulators> each;
    if constexpr (model.rhs_in_registers()) {
      multiply_add<Quads, C>(each, s, quad, lhs, rhs + C * Vectors);
    } else {
      V b[Vectors];
      load_rhs(std::make_integer_sequence<int, Vectors>(), b, rhs + C * T.rhs_depth);
      multiply_add<Quads, C>(each, s, quad, lhs, b);
    }
  }
  template <int... R>
  HWY_INLINE static void load_quads(std::integer_sequence<int, R...>, [[maybe_unused]] V* to,
                                    [[maybe_unused]] const float* lhs) {
    ((to[R] = hn::LoadDup128(D(), lhs + R * T.lhs_row)), ...);
  }
  // Some steps along the depth, unrolled.
  template <int Quads, int... C>
  HWY_INLINE static void unrolled(std::integer_sequence<int, C...>, V* s, const float* lhs,
                                  Rhs rhs) {
    V quad[std::max(Quads, 1)];
    load_quads(std::make_integer_sequence<int, Quads>(), quad, lhs);
    (multiply_add<Quads, C>(s + C % accumulator_sets * accumulators, quad, lhs, rhs), ...);
  }
  // All steps, unrolled, with the rhs in registers.
  template <int... I>
  HWY_INLINE static void all_unrolled(std::integer_sequence<int, I...>, [[maybe_unused]] V* s,
                                      [[maybe_unused]] const float* lhs,
                                      [[maybe_unused]] const V* rhs) {
    (unrolled<broadcast_quads>(std::make_integer_sequence<int, unroll>(), s,
                               lhs + I * unroll * T.lhs_depth, rhs + I * unroll * Vectors),
     ...);
  }

  template <int Addend, int I>
  HWY_INLINE static V addend(const float* from) {
    constexpr std::ptrdiff_t row = T.addend_row[Addend];
    const float* at = from + I / Vectors * row;
    if constexpr (T.addend_broadcast[Addend]) return hn::Set(D(), *at);
    return load<D, count<I>>(at + I % Vectors * lanes);
  }
  template <int I>
  HWY_INLINE static void apply_epilogue(const V* s, float* result, const float* a, const float* b) {
    const D d;
    V v = s[I];
    if constexpr (accumulator_sets > 1) v = hn::Add(v, s[I + accumulators]);
    if constexpr (accumulator_sets > 2)
      v = hn::Add(v, hn::Add(s[I + 2 * accumulators], s[I + 3 * accumulators]));
    constexpr auto scale = static_cast<float>(static_cast<double>(T.scale));
    if constexpr (scale != 1 && T.addends > 0)
      v = hn::MulAdd(v, hn::Set(d, scale), addend<0, I>(a));
    else if constexpr (scale != 1)
      v = hn::Mul(v, hn::Set(d, scale));
    else if constexpr (T.addends > 0)
      v = hn::Add(v, addend<0, I>(a));
    if constexpr (T.addends > 1) v = hn::Add(v, addend<1, I>(b));
    if constexpr (fuses_epilogue(T.epilogue))
      v = kernels::HWY_NAMESPACE::vector_op<T.epilogue>()(d, v);
    store<D, count<I>>(v, result + I / Vectors * T.result_row + I % Vectors * lanes);
  }
  template <int... I>
  HWY_INLINE static void apply_epilogues(std::integer_sequence<int, I...>, const V* s,
                                         float* result, const float* a, const float* b) {
    (apply_epilogue<I>(s, result, a, b), ...);
  }
  template <int... I>
  HWY_INLINE static void clear(std::integer_sequence<int, I...>, V* s) {
    ((s[I] = hn::Zero(D())), ...);
  }

  HWY_INLINE static void run(const float* lhs, Rhs rhs, float* result, const float* a,
                             const float* b) {
    V s[accumulator_sets * accumulators];
    clear(std::make_integer_sequence<int, accumulator_sets * accumulators>(), s);
    if constexpr (model.rhs_in_registers()) {
      constexpr int full = static_cast<int>(T.depth / unroll);
      all_unrolled(std::make_integer_sequence<int, full>(), s, lhs, rhs);
      lhs += full * unroll * T.lhs_depth;
      rhs += full * unroll * Vectors;
    } else {
      for (std::ptrdiff_t k = 0; k < T.depth / unroll; ++k) {
        unrolled<broadcast_quads>(std::make_integer_sequence<int, unroll>(), s, lhs, rhs);
        lhs += unroll * T.lhs_depth;
        rhs += unroll * T.rhs_depth;
      }
    }
    if constexpr (tail != 0) unrolled<0>(std::make_integer_sequence<int, tail>(), s, lhs, rhs);
    apply_epilogues(std::make_integer_sequence<int, accumulators>(), s, result, a, b);
  }
};

// Pointers to the operands of a tile.
struct tile_operands {
  const float *lhs, *rhs;
  float* result;
  const float *a, *b;  // addends
};

// `count` tiles along the rows (m). Advances `at` past them.
template <tile_traits T, int Rows, int Vectors, int Tail>
HWY_INLINE void loop_m(int count, tile_operands& at) {
  constexpr std::ptrdiff_t a_row = T.addend_row[0], b_row = T.addend_row[1];
  using tile = generate::HWY_NAMESPACE::tile<T, Rows, Vectors, Tail>;
  typename tile::Rhs rhs;
  [[maybe_unused]] typename tile::V rhs_vectors[tile::model.rhs_vectors()];
  if constexpr (tile::model.rhs_in_registers()) {
    tile::load_all_rhs(std::make_integer_sequence<int, static_cast<int>(T.depth)>(), rhs_vectors,
                       at.rhs);
    rhs = rhs_vectors;
  } else {
    rhs = at.rhs;
  }
  for (int i = 0; i < count; ++i) {
    tile::run(at.lhs, rhs, at.result, at.a, at.b);
    at.lhs += Rows * T.lhs_row;
    at.result += Rows * T.result_row;
    if constexpr (T.addends > 0) at.a += Rows * a_row;
    if constexpr (T.addends > 1) at.b += Rows * b_row;
  }
}

// All rows of one panel of columns, tile by tile.
template <tile_traits T, int Rows, int Limit, int Vectors, int Tail>
HWY_INLINE void dot_panel(tile_operands at) {
  constexpr equal_parts m_tiles(Rows, Limit);
  if constexpr (m_tiles.large > 0) loop_m<T, m_tiles.size + 1, Vectors, Tail>(m_tiles.large, at);
  loop_m<T, m_tiles.size, Vectors, Tail>(m_tiles.count - m_tiles.large, at);
}

// The same for `count` consecutive panels (n).
template <tile_traits T, int Rows, int Limit, int Vectors, int Tail>
HWY_INLINE void loop_n(int count, tile_operands& at) {
  constexpr int width = Vectors * lanes_of<lanes_for<T.columns>>;
  for (int i = 0; i < count; ++i) {
    dot_panel<T, Rows, Limit, Vectors, Tail>(at);
    at.rhs += width;
    at.result += width;
    if constexpr (T.addends > 0) at.a += T.addend_broadcast[0] ? 0 : width;
    if constexpr (T.addends > 1) at.b += T.addend_broadcast[1] ? 0 : width;
  }
}

// Applies the epilogue to the stored result.
template <tile_traits T, int Rows>
HWY_INLINE void apply_activation(float* result) {
  using D = lanes_for<T.columns>;
  constexpr int lanes = lanes_of<D>;
  constexpr int tail = static_cast<int>(T.columns % lanes);
  const auto apply = []<int n>(std::integral_constant<int, n>, float* at) HWY_ATTR {
    store<D, n>(kernels::HWY_NAMESPACE::vector_op<T.epilogue>()(D(), load<D, n>(at)), at);
  };
  for (int row = 0; row < Rows; ++row, result += T.result_row) {
    std::ptrdiff_t c = 0;
    for (; c + lanes <= T.columns; c += lanes)
      apply(std::integral_constant<int, lanes>(), result + c);
    if constexpr (tail != 0) apply(std::integral_constant<int, tail>(), result + c);
  }
}

// The whole product: rows x columns.
template <tile_traits T, int Rows>
HWY_INLINE void dot_matrix(tile_operands at) {
  constexpr int lanes = lanes_of<lanes_for<T.columns>>;
  constexpr int columns = static_cast<int>(T.columns);
  constexpr int vectors = (columns + lanes - 1) / lanes;
  constexpr int tail = columns % lanes;
  constexpr tile_size size =
      best_tile(Rows, vectors, T.sets, T.depth, is_narrow<T>, vector_registers);
  constexpr equal_parts n_tiles(vectors, size.vectors);
  float* const result = at.result;
  // The last panel may have fewer columns.
  constexpr int small = n_tiles.count - n_tiles.large;
  if constexpr (n_tiles.large > 0)
    loop_n<T, Rows, size.rows, n_tiles.size + 1, 0>(n_tiles.large, at);
  if constexpr (tail == 0) {
    loop_n<T, Rows, size.rows, n_tiles.size, 0>(small, at);
  } else {
    if constexpr (small > 1) loop_n<T, Rows, size.rows, n_tiles.size, 0>(small - 1, at);
    loop_n<T, Rows, size.rows, n_tiles.size, tail>(1, at);
  }
  if constexpr (!fuses_epilogue(T.epilogue)) apply_activation<T, Rows>(result);
}

// The lanes and the tile of the contraction kernel on this target, in which pack_dot packs.
inline constexpr int packed_lanes = lanes_of<hn::CappedTag<float, kernels::max_dot_lanes>>;
inline constexpr int packed_vectors = static_cast<int>(kernels::tile_for(vector_registers).vectors);

// The first panel of so many packed columns: the columns that it has, and the stride of its rows,
// which are padded to full vectors.
struct packed_panel {
  std::ptrdiff_t columns, row;
};
constexpr packed_panel first_panel(std::ptrdiff_t columns) {
  const auto n = static_cast<std::size_t>(columns);
  const auto t = weft::detail::tile_at(0, n, n, packed_lanes, packed_vectors);
  return {static_cast<std::ptrdiff_t>(t.count),
          static_cast<std::ptrdiff_t>(t.vectors) * packed_lanes};
}
// How many such panels follow each other.
constexpr int panels_like_first(std::ptrdiff_t columns) {
  const packed_panel first = first_panel(columns);
  int n = 1;
  for (std::ptrdiff_t left = columns - first.columns; left > 0; ++n, left -= first.columns)
    if (const packed_panel p = first_panel(left); p.columns != first.columns || p.row != first.row)
      break;
  return n;
}

constexpr tile_traits with_columns(tile_traits t, std::ptrdiff_t columns, std::ptrdiff_t rhs_row) {
  t.columns = columns;
  t.rhs_depth = rhs_row;
  return t;
}

// The same where the rhs is packed.
template <tile_traits T, int Rows>
HWY_INLINE void dot_panels(tile_operands at) {
  constexpr packed_panel panel = first_panel(T.columns);
  constexpr int count = panels_like_first(T.columns);
  constexpr tile_traits of_panel = with_columns(T, panel.columns, panel.row);
  constexpr std::ptrdiff_t size = panel.columns * T.depth;
  constexpr std::ptrdiff_t a = T.addend_broadcast[0] ? 0 : panel.columns;
  constexpr std::ptrdiff_t b = T.addend_broadcast[1] ? 0 : panel.columns;
  for (int i = 0; i < count; ++i) {
    dot_matrix<of_panel, Rows>(at);
    at.rhs += size;
    at.result += panel.columns;
    if constexpr (T.addends > 0) at.a += a;
    if constexpr (T.addends > 1) at.b += b;
  }
  constexpr std::ptrdiff_t left = T.columns - count * panel.columns;
  if constexpr (left > 0) {
    dot_panels<with_columns(T, left, 0), Rows>(at);
  }
}

// Packs a matrix of depth x columns into panels.
template <packed_rhs C>
HWY_INLINE void pack_panels(const float* from, float* to) {
  constexpr packed_panel panel = first_panel(C.columns);
  constexpr int count = panels_like_first(C.columns);
  constexpr std::ptrdiff_t step = panel.columns * C.column_stride, size = panel.columns * C.depth;
  for (int i = 0; i < count; ++i) {
    pack<C.depth, panel.columns, C.depth_stride, C.column_stride, panel.row>(from, to);
    from += step;
    to += size;
  }
  constexpr std::ptrdiff_t left = C.columns - count * panel.columns;
  if constexpr (left > 0) {
    constexpr packed_rhs rest{{}, C.depth, left, C.depth_stride, C.column_stride};
    pack_panels<rest>(from, to);
  }
}

template <signature S, dot_plan P, bool Packed>
constexpr tile_traits traits_of() {
  tile_traits t{.columns = P.columns.extent,
                .depth = P.depth.extent,
                .sets = accumulator_sets(P.rows.extent, P.columns.extent),
                .lhs_row = P.rows.stride[P.lhs],
                .lhs_depth = P.depth.stride[P.lhs],
                .rhs_depth = P.depth.stride[P.rhs],
                .rhs_is_packed = Packed,
                .result_row = P.rows.stride[0],
                .addends = S.operands - 3,
                .addend_row = {},
                .addend_broadcast = {},
                .scale = S.scale,
                .epilogue = S.epilogue};
  for (int i = 0; i < t.addends; ++i) {
    t.addend_row[i] = P.rows.stride[3 + i];
    t.addend_broadcast[i] = P.columns.stride[3 + i] == 0;
  }
  return t;
}

// Whether to pack the rhs: if its columns are strided, or if they end in a partial vector
// that the target cannot load.
constexpr bool needs_packing(const dot_plan& p, int lanes) {
  return !p.rhs_in_place ||
         (p.columns.extent % lanes != 0 && !kernels::HWY_NAMESPACE::masks_memory<float>());
}
template <dot_plan P>
inline constexpr bool packs_rhs = needs_packing(P, lanes_of<lanes_for<P.columns.extent>>);

// Whether it is packed as a whole. pack_dot cuts blocks into tiles one by one only where they end
// with full vectors.
template <dot_plan P>
inline constexpr bool packs_once = packs_rhs<P>&& P.packed_once &&
                                   (P.packed.blocks.loops == 0 ||
                                    P.packed.columns % kernels::max_dot_lanes == 0);

// The product at one index of the outer loops.
template <signature S, dot_plan P>
struct dot_body {
  float* scratch;  // for packing the rhs, if it is not packed yet

  HWY_INLINE void operator()(const operands& at) const {
    constexpr tile_traits traits = traits_of<S, P, packs_rhs<P>>();
    constexpr int rows = static_cast<int>(P.rows.extent);
    tile_operands here{at.read(P.lhs), at.read(P.rhs), at.write(), at.read(3), at.read(4)};
    if constexpr (packs_rhs<P> && !packs_once<P>) {
      pack_panels<P.packed>(here.rhs, scratch);
      here.rhs = scratch;
    }
    if constexpr (packs_rhs<P>)
      dot_panels<traits, rows>(here);
    else
      dot_matrix<traits, rows>(here);
  }
};

// Its rhs may be packed.
template <signature S>
void dot(const kernels::call& c) noexcept {
  static constexpr dot_plan plan = plan_of_dot(S);
  operands at = operands_of<max_operands>(c);
  auto* const scratch = reinterpret_cast<float*>(c.scratch);
  if constexpr (packs_once<plan>) {
    if (!c.operands[plan.rhs].is_packed()) {
      for_each<plan.packed.blocks>({{scratch, at.at[plan.rhs]}}, [](const operands& here) HWY_ATTR {
        pack_panels<plan.packed>(here.read(1), here.write());
      });
      at.at[plan.rhs] = scratch;
    }
    for_each<plan.outer_of_packed>(at, dot_body<S, plan>{scratch});
  } else {
    for_each<plan.outer>(at, dot_body<S, plan>{scratch});
  }
}

}  // namespace weft::generate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
