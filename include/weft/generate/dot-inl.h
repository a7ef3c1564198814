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

#ifdef WEFT_GENERATES
HWY_BEFORE_NAMESPACE();
namespace weft::generate::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The compile-time description of a contraction.
struct tile_traits {
  std::ptrdiff_t columns;  // determine the lanes of a vector
  std::ptrdiff_t depth;
  std::ptrdiff_t left_row, left_depth, right_depth;
  bool right_whole;  // its rows are padded to full vectors
  std::ptrdiff_t result_row;
  int addends;
  std::ptrdiff_t addend_row[2];
  bool addend_broadcast[2];  // one element for all columns
  number scale;
  op epilogue;
};

// See tile_model.
template <tile_traits T>
inline constexpr bool is_narrow = T.left_depth == 1 && lanes_of<lanes_for<T.columns>> >= 4 &&
                                  T.columns <= lanes_of<lanes_for<T.columns>>;

// Whether the epilogue is applied in the register tile. Others need more constants than there are
// registers beside the accumulators: g++ would keep the constants in registers and spill the
// accumulators.
constexpr bool ends_in_tile(op epilogue) {
  return epilogue == op::copy || epilogue == op::relu;
}

// A register tile of Rows x Vectors accumulators, of whose last vector the first Rest lanes are
// stored, or all if Rest is 0.
template <tile_traits T, int Rows, int Vectors, int Rest>
struct tile {
  using D = lanes_for<T.columns>;
  using V = hn::Vec<D>;
  static constexpr int lanes = lanes_of<D>;
  static constexpr tile_model model{Rows, Vectors, T.depth, is_narrow<T>, vector_registers};
  static constexpr int sums = model.sums(), chains = model.chains(), fours = model.fours();
  static constexpr int steps = model.steps(), rest = static_cast<int>(T.depth % steps);
  // The right operand is in memory, or in registers.
  using Right = std::conditional_t<model.holds_right(), const V*, const float*>;
  template <int I>
  static constexpr int count = Rest != 0 && I % Vectors == Vectors - 1 ? Rest : lanes;

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
  HWY_INLINE static void load_right(std::integer_sequence<int, J...>, V* to, const float* from) {
    ((to[J] = load_columns < T.right_whole ? lanes : count < J >> (from + J * lanes)), ...);
    ((to[J] = kernels::HWY_NAMESPACE::in_register(to[J])), ...);
  }
  template <int... K>
  HWY_INLINE static void load_right_all(std::integer_sequence<int, K...>, V* to,
                                        const float* from) {
    (load_right(std::make_integer_sequence<int, Vectors>(), to + K * Vectors,
                from + K * T.right_depth),
     ...);
  }

  // The broadcast left element of a row at depth step C. The first rows have four elements each in
  // a register.
  template <int Fours, int C, int Row>
  HWY_INLINE static V element([[maybe_unused]] const V* four, const float* left) {
    if constexpr (Row < Fours)
      return hn::Broadcast<C>(four[Row]);
    else
      return hn::Set(D(), left[Row * T.left_row + C * T.left_depth]);
  }
  template <int Fours, int C, int... I>
  HWY_INLINE static void multiply_add(std::integer_sequence<int, I...>, V* s, const V* four,
                                      const float* left, const V* b) {
    ((s[I] = hn::MulAdd(element<Fours, C, I / Vectors>(four, left), b[I % Vectors], s[I])), ...);
  }
  template <int Fours, int C>
  HWY_INLINE static void multiply_add(V* s, const V* four, const float* left, Right right) {
    constexpr std::make_integer_sequence<int, sums> each;
    if constexpr (model.holds_right()) {
      multiply_add<Fours, C>(each, s, four, left, right + C * Vectors);
    } else {
      V b[Vectors];
      load_right(std::make_integer_sequence<int, Vectors>(), b, right + C * T.right_depth);
      multiply_add<Fours, C>(each, s, four, left, b);
    }
  }
  template <int... R>
  HWY_INLINE static void load_fours(std::integer_sequence<int, R...>, [[maybe_unused]] V* to,
                                    [[maybe_unused]] const float* left) {
    ((to[R] = kernels::HWY_NAMESPACE::in_register(hn::LoadDup128(D(), left + R * T.left_row))),
     ...);
  }
  // Some steps along the depth, unrolled.
  template <int Fours, int... C>
  HWY_INLINE static void step(std::integer_sequence<int, C...>, V* s, const float* left,
                              Right right) {
    V four[std::max(Fours, 1)];
    load_fours(std::make_integer_sequence<int, Fours>(), four, left);
    (multiply_add<Fours, C>(s + C % chains * sums, four, left, right), ...);
  }
  // All steps, unrolled, with the right operand in registers.
  template <int... I>
  HWY_INLINE static void all_steps(std::integer_sequence<int, I...>, [[maybe_unused]] V* s,
                                   [[maybe_unused]] const float* left,
                                   [[maybe_unused]] const V* right) {
    (step<fours>(std::make_integer_sequence<int, steps>(), s, left + I * steps * T.left_depth,
                 right + I * steps * Vectors),
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
  HWY_INLINE static void end(const V* s, float* result, const float* a, const float* b) {
    const D d;
    V v = s[I];
    if constexpr (chains > 1) v = hn::Add(v, s[I + sums]);
    if constexpr (chains > 2) v = hn::Add(v, hn::Add(s[I + 2 * sums], s[I + 3 * sums]));
    constexpr auto scale = static_cast<float>(static_cast<double>(T.scale));
    if constexpr (scale != 1 && T.addends > 0)
      v = hn::MulAdd(v, hn::Set(d, scale), addend<0, I>(a));
    else if constexpr (scale != 1)
      v = hn::Mul(v, hn::Set(d, scale));
    else if constexpr (T.addends > 0)
      v = hn::Add(v, addend<0, I>(a));
    if constexpr (T.addends > 1) v = hn::Add(v, addend<1, I>(b));
    if constexpr (ends_in_tile(T.epilogue))
      v = kernels::HWY_NAMESPACE::vector_op<T.epilogue>()(d, v);
    store<D, count<I>>(v, result + I / Vectors * T.result_row + I % Vectors * lanes);
  }
  template <int... I>
  HWY_INLINE static void end_all(std::integer_sequence<int, I...>, const V* s, float* result,
                                 const float* a, const float* b) {
    (end<I>(s, result, a, b), ...);
  }
  template <int... I>
  HWY_INLINE static void clear(std::integer_sequence<int, I...>, V* s) {
    ((s[I] = hn::Zero(D())), ...);
  }

  HWY_INLINE static void run(const float* left, Right right, float* result, const float* a,
                             const float* b) {
    V s[chains * sums];
    clear(std::make_integer_sequence<int, chains * sums>(), s);
    if constexpr (model.holds_right()) {
      constexpr int whole = static_cast<int>(T.depth / steps);
      all_steps(std::make_integer_sequence<int, whole>(), s, left, right);
      left += whole * steps * T.left_depth;
      right += whole * steps * Vectors;
    } else {
      for (std::ptrdiff_t k = 0; k < T.depth / steps; ++k) {
        step<fours>(std::make_integer_sequence<int, steps>(), s, left, right);
        left += steps * T.left_depth;
        right += steps * T.right_depth;
      }
    }
    if constexpr (rest != 0) step<0>(std::make_integer_sequence<int, rest>(), s, left, right);
    end_all(std::make_integer_sequence<int, sums>(), s, result, a, b);
  }
};

// Pointers to the operands of a tile.
struct tile_operands {
  const float *left, *right;
  float* result;
  const float *a, *b;  // addends
};

// `count` tiles along the rows (m). Advances `at` past them.
template <tile_traits T, int Rows, int Vectors, int Rest>
HWY_INLINE void run_down(int count, tile_operands& at) {
  constexpr std::ptrdiff_t a_row = T.addend_row[0], b_row = T.addend_row[1];
  using tile = generate::HWY_NAMESPACE::tile<T, Rows, Vectors, Rest>;
  typename tile::Right right;
  [[maybe_unused]] typename tile::V held[tile::model.right()];
  if constexpr (tile::model.holds_right()) {
    tile::load_right_all(std::make_integer_sequence<int, static_cast<int>(T.depth)>(), held,
                         at.right);
    right = held;
  } else {
    right = at.right;
  }
  for (int i = 0; i < count; ++i) {
    tile::run(at.left, right, at.result, at.a, at.b);
    at.left = kernels::HWY_NAMESPACE::in_register(at.left + Rows * T.left_row);
    at.result = kernels::HWY_NAMESPACE::in_register(at.result + Rows * T.result_row);
    if constexpr (T.addends > 0) at.a += Rows * a_row;
    if constexpr (T.addends > 1) at.b += Rows * b_row;
  }
}

// All rows of one panel of columns, tile by tile.
template <tile_traits T, int Rows, int Limit, int Vectors, int Rest>
HWY_INLINE void dot_columns(tile_operands at) {
  constexpr equal_parts down(Rows, Limit);
  if constexpr (down.large > 0) run_down<T, down.size + 1, Vectors, Rest>(down.large, at);
  run_down<T, down.size, Vectors, Rest>(down.count - down.large, at);
}

// The same for `count` consecutive panels (n).
template <tile_traits T, int Rows, int Limit, int Vectors, int Rest>
HWY_INLINE void run_across(int count, tile_operands& at) {
  constexpr int width = Vectors * lanes_of<lanes_for<T.columns>>;
  for (int i = 0; i < count; ++i) {
    dot_columns<T, Rows, Limit, Vectors, Rest>(at);
    at.right += width;
    at.result += width;
    if constexpr (T.addends > 0) at.a += T.addend_broadcast[0] ? 0 : width;
    if constexpr (T.addends > 1) at.b += T.addend_broadcast[1] ? 0 : width;
  }
}

// Applies the epilogue to the stored result.
template <tile_traits T, int Rows>
HWY_INLINE void apply_function(float* result) {
  using D = lanes_for<T.columns>;
  constexpr int lanes = lanes_of<D>;
  constexpr int rest = static_cast<int>(T.columns % lanes);
  const auto apply = []<int n>(std::integral_constant<int, n>, float* at) HWY_ATTR {
    store<D, n>(kernels::HWY_NAMESPACE::vector_op<T.epilogue>()(D(), load<D, n>(at)), at);
  };
  for (int row = 0; row < Rows; ++row, result += T.result_row) {
    std::ptrdiff_t c = 0;
    for (; c + lanes <= T.columns; c += lanes)
      apply(std::integral_constant<int, lanes>(), result + c);
    if constexpr (rest != 0) apply(std::integral_constant<int, rest>(), result + c);
  }
}

// The whole product: rows x columns.
template <tile_traits T, int Rows>
HWY_INLINE void dot_matrix(tile_operands at) {
  constexpr int lanes = lanes_of<lanes_for<T.columns>>;
  constexpr int columns = static_cast<int>(T.columns);
  constexpr int vectors = (columns + lanes - 1) / lanes;
  constexpr int rest = columns % lanes;
  constexpr tile_size size = best_tile(Rows, vectors, T.depth, is_narrow<T>, vector_registers);
  constexpr equal_parts across(vectors, size.vectors);
  float* const result = at.result;
  // The last panel may have fewer columns.
  constexpr int small = across.count - across.large;
  if constexpr (across.large > 0)
    run_across<T, Rows, size.rows, across.size + 1, 0>(across.large, at);
  if constexpr (rest == 0) {
    run_across<T, Rows, size.rows, across.size, 0>(small, at);
  } else {
    if constexpr (small > 1) run_across<T, Rows, size.rows, across.size, 0>(small - 1, at);
    run_across<T, Rows, size.rows, across.size, rest>(1, at);
  }
  if constexpr (!ends_in_tile(T.epilogue)) apply_function<T, Rows>(result);
}

template <signature S, dot_plan P, bool Copied>
constexpr tile_traits traits_of() {
  tile_traits t{.columns = P.columns.extent,
                .depth = P.depth.extent,
                .left_row = P.rows.stride.at[P.left],
                .left_depth = P.depth.stride.at[P.left],
                .right_depth = Copied ? P.copy.row : P.depth.stride.at[P.right],
                .right_whole = Copied,
                .result_row = P.rows.stride.at[0],
                .addends = S.operands - 3,
                .addend_row = {},
                .addend_broadcast = {},
                .scale = S.scale,
                .epilogue = S.epilogue};
  for (int i = 0; i < t.addends; ++i) {
    t.addend_row[i] = P.rows.stride.at[3 + i];
    t.addend_broadcast[i] = P.columns.stride.at[3 + i] == 0;
  }
  return t;
}

// Whether to pack the right operand: if its columns are strided, or if they end in a partial vector
// that the target cannot load.
constexpr bool wants_copy(const dot_plan& p, int lanes) {
  return !p.right_in_place ||
         (p.columns.extent % lanes != 0 && !kernels::HWY_NAMESPACE::masks_memory<float>());
}
template <dot_plan P>
inline constexpr bool copies = wants_copy(P, lanes_of<lanes_for<P.columns.extent>>);

template <right_copy C>
HWY_NOINLINE void copy_right(float* from, float* to) {
  walk<C.blocks>({{to, from}}, [](const operands& here) HWY_ATTR {
    pack<C.depth, C.columns, C.depth_stride, C.column_stride, C.row>(here.read(1), here.write());
  });
}

// The product at one index of the outer loops.
template <signature S, dot_plan P>
struct dot_at {
  float* scratch;  // for packing the right operand, if it is not packed yet

  HWY_INLINE void operator()(const operands& at) const {
    const float* right = at.read(P.right);
    if constexpr (copies<P> && !P.copied_once) {
      constexpr right_copy c = P.copy;
      pack<c.depth, c.columns, c.depth_stride, c.column_stride, c.row>(right, scratch);
      right = scratch;
    }
    dot_matrix<traits_of<S, P, copies<P>>(), static_cast<int>(P.rows.extent)>(
        {at.read(P.left), right, at.write(), at.read(3), at.read(4)});
  }
};

// `copy` is the whole right operand, packed before the run, or null.
template <signature S>
HWY_NOINLINE void dot(float* result, float* left, float* right, float* a, float* b,
                      const float* copy, float* scratch) {
  static constexpr dot_plan plan = plan_of_dot(S);
  operands at{{result, left, right, a, b}};
  if constexpr (copies<plan> && plan.copied_once) {
    if (copy == nullptr) {
      copy_right<plan.copy>(at.at[plan.right], scratch);
      copy = scratch;
    }
    at.at[plan.right] = const_cast<float*>(copy);  // only read
    walk<plan.outer_of_copy>(at, dot_at<S, plan>{scratch});
  } else {
    walk<plan.outer>(at, dot_at<S, plan>{scratch});
  }
}

}  // namespace weft::generate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
