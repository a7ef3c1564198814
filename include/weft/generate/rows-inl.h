// Softmax and normalizations of short rows of constant length.
#if defined(WEFT_GENERATE_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_GENERATE_ROWS_INL_H_
#undef WEFT_GENERATE_ROWS_INL_H_
#else
#define WEFT_GENERATE_ROWS_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "weft/generate/rows_plan.hpp"
#include "weft/generate/vectors-inl.h"
#include "weft/kernels/math-inl.h"
#include "weft/kernels/moments.hpp"
#include "weft/kernels/vec_array-inl.h"

#ifdef WEFT_GENERATES
HWY_BEFORE_NAMESPACE();
namespace weft::generate::HWY_NAMESPACE {

// A row of `length` floats in registers.
template <std::ptrdiff_t length>
struct row {
  using D = lanes_for<length>;
  using V = hn::Vec<D>;
  static constexpr int lanes = lanes_of<D>;
  static constexpr int vectors = static_cast<int>((length + lanes - 1) / lanes);
  static constexpr int tail = static_cast<int>(length % lanes);
  template <int J>
  static constexpr int count = J == vectors - 1 && tail != 0 ? tail : lanes;
  using all = std::make_integer_sequence<int, vectors>;

  kernels::HWY_NAMESPACE::vec_array<D, vectors> x;

  HWY_INLINE explicit row(const float* p) { load_from(all(), p); }
  HWY_INLINE void store_to(float* p) const { store_to(all(), p); }

  // Sets the lanes beyond the row to a value.
  HWY_INLINE void pad(float value) {
    const D d;
    if constexpr (tail != 0)
      x.at[vectors - 1] = hn::IfThenElse(hn::FirstN(d, tail), x.at[vectors - 1], hn::Set(d, value));
  }

  // The largest element, in each lane.
  HWY_INLINE V max() const {
    const auto v = kernels::HWY_NAMESPACE::reduce_lanes(D(), x.combine(max_of), max_of);
    if constexpr (hn::MaxLanes(hn::DFromV<decltype(v)>()) == lanes)
      return v;
    else
      return hn::Set(D(), hn::GetLane(v));
  }
  // Partial sums: of each lane's elements of a block, which all targets of a family add in the same
  // order.
  static constexpr int block = static_cast<int>(kernels::HWY_NAMESPACE::sum_lanes) / lanes;
  using block_sums = kernels::HWY_NAMESPACE::vec_array<
      D, std::min(block, static_cast<int>(std::bit_ceil(static_cast<unsigned>(vectors))))>;
  HWY_INLINE block_sums sums() const {
    return in_blocks([&](auto j) HWY_ATTR { return x.at[j]; },
                     [&](V sum, auto j) HWY_ATTR { return hn::Add(sum, x.at[j]); });
  }
  HWY_INLINE block_sums sums_of_squares() const {
    return in_blocks([&](auto j) HWY_ATTR { return hn::Mul(x.at[j], x.at[j]); },
                     [&](V sum, auto j) HWY_ATTR { return hn::MulAdd(x.at[j], x.at[j], sum); });
  }

  HWY_INLINE void subtract(V v) {
    x.map([=](V e) HWY_ATTR { return hn::Sub(e, v); });
  }
  HWY_INLINE void multiply_by(V v) {
    x.map([=](V e) HWY_ATTR { return hn::Mul(e, v); });
  }
  HWY_INLINE void multiply_and_add(V factor, V v) {
    x.map([=](V e) HWY_ATTR { return hn::MulAdd(e, factor, v); });
  }

 private:
  static constexpr auto max_of = [](auto a, auto b) HWY_ATTR { return hn::Max(a, b); };
  template <int J>
  using index = std::integral_constant<int, J>;
  // The sums over blocks of vector `at` of each: first(j) is the term of vector j, next(sum, j)
  // adds that to a sum. A balanced tree of pairs of blocks.
  template <int At, int from, int to, class First, class Next>
  HWY_INLINE static V over_blocks(First first, Next next) {
    constexpr int middle = (from + to) / 2;
    constexpr bool has_second = middle * block + At < vectors;
    if constexpr (to - from == 1 || (to - from == 2 && !has_second))
      return first(index<from * block + At>());
    else if constexpr (to - from == 2)
      return next(first(index<from * block + At>()), index<middle * block + At>());
    else if constexpr (has_second)
      return hn::Add(over_blocks<At, from, middle>(first, next),
                     over_blocks<At, middle, to>(first, next));
    else
      return over_blocks<At, from, middle>(first, next);
  }
  template <class First, class Next>
  HWY_INLINE static block_sums in_blocks(First first, Next next) {
    return block_sums::of_constants([=](auto at) HWY_ATTR {
      if constexpr (at < vectors)
        return over_blocks<at, 0, (vectors + block - 1) / block>(first, next);
      else
        return hn::Zero(D());
    });
  }
  template <int... J>
  HWY_INLINE void load_from(std::integer_sequence<int, J...>, const float* p) {
    ((x.at[J] = load<D, count<J>>(p + J * lanes)), ...);
  }
  template <int... J>
  HWY_INLINE void store_to(std::integer_sequence<int, J...>, float* p) const {
    (store<D, count<J>>(x.at[J], p + J * lanes), ...);
  }
};

// A vector of at most four lanes, with a scalar for each of four rows, or for one.
using D4 = hn::CappedTag<float, 4>;

inline constexpr auto add = [](auto a, auto b) HWY_ATTR { return hn::Add(a, b); };

// Horizontal sums: of one row's partial sums, in each lane, or of four rows', in a lane each; in
// the order of reduce_lanes.
template <class D, class Sums>
HWY_INLINE hn::Vec<D4> horizontal_sums(D d, const Sums& sums) {
  return kernels::HWY_NAMESPACE::reduce_lanes(d, sums, add);
}
template <class D, class... Sums>
HWY_INLINE hn::Vec<D4> horizontal_sums(D d, const Sums&... sums) {
  return kernels::HWY_NAMESPACE::sums_of_lanes(
      d, kernels::HWY_NAMESPACE::combine_halves(sums, add)...);
}

template <std::ptrdiff_t length>
HWY_INLINE void softmax_row(row<length>& r) {
  using D = typename row<length>::D;
  using V = hn::Vec<D>;
  const D d;
  r.pad(-std::numeric_limits<float>::infinity());
  // Finite, so that all weights of a row of -infinity are exp(-infinity) = 0.
  const V largest = hn::Max(r.max(), hn::Set(d, std::numeric_limits<float>::lowest()));
  r.x.map([=](V v)
              HWY_ATTR { return kernels::HWY_NAMESPACE::math::twice_exp(d, hn::Sub(v, largest)); });
  const float total = hn::GetLane(horizontal_sums(d, r.sums()));
  const V inverse = hn::Set(d, total == 0 ? 0 : 1 / total);
  r.x.map([=](V v) HWY_ATTR { return hn::Mul(v, inverse); });
}

// The four values of v, repeated in each 128-bit block.
template <class D>
HWY_INLINE hn::Vec<D> broadcast_block(D d, hn::Vec<D4> v) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    return v;
  } else {
    const auto half = broadcast_block(hn::Half<D>(), v);
    return hn::Combine(d, half, half);
  }
}

// Normalizes a row in double, for sums and squares that are too large for a float.
template <op kind, std::ptrdiff_t length>
HWY_NOINLINE row<length> normalized_in_double(const float* x, float epsilon) {
  const auto [mean, variance] = kernels::moments_in_double(x, length, kind == op::normalize);
  const double scale = 1 / std::sqrt(variance + static_cast<double>(epsilon));
  alignas(64) float to[length];
  for (std::ptrdiff_t i = 0; i < length; ++i)
    to[i] = static_cast<float>((static_cast<double>(x[i]) - mean) * scale);
  return row<length>(to);
}

// Normalizes some rows. Returns their sums of squares, a lane for each, which may be infinite.
template <op kind, std::ptrdiff_t length, int... I>
HWY_INLINE hn::Vec<D4> normalize_rows(std::integer_sequence<int, I...>, row<length>* r,
                                      float epsilon) {
  using D = typename row<length>::D;
  const D d;
  const D4 d4;
  const auto inv_n = hn::Set(d4, 1 / static_cast<float>(length));
  // Calls apply(r, v...) with each row and its scalars, broadcast to all lanes.
  const auto for_each_row = [d, r](auto apply, auto... scalars) HWY_ATTR {
    if constexpr (sizeof...(I) == 1) {
      apply(r[0], hn::Set(d, hn::GetLane(scalars))...);
    } else {
      [=](auto... broadcast) HWY_ATTR {
        const auto of = [=](auto i) HWY_ATTR { apply(r[i], hn::Broadcast<i>(broadcast)...); };
        (of(std::integral_constant<int, I>()), ...);
      }(broadcast_block(d, scalars)...);
    }
  };
  if constexpr (kind == op::normalize) {
    for_each_row(
        [](row<length>& of, hn::Vec<D> mean) HWY_ATTR {
          of.subtract(mean);
          of.pad(0);
        },
        hn::Mul(horizontal_sums(d, r[I].sums()...), inv_n));
  }
  // On four lanes: roots and quotients of full vectors have a high latency.
  const auto squares = hn::Mul(horizontal_sums(d, r[I].sums_of_squares()...), inv_n);
  const auto one = hn::Set(d4, 1.0f), least = hn::Set(d4, epsilon);
  if constexpr (kind == op::normalize) {
    // What rounding left of the mean, which can be more than the deviation.
    const auto rest = hn::Mul(horizontal_sums(d, r[I].sums()...), inv_n);
    const auto variance = hn::Max(hn::NegMulAdd(rest, rest, squares), hn::Zero(d4));
    const auto scale = hn::Div(one, hn::Sqrt(hn::Add(variance, least)));
    for_each_row([](row<length>& of, hn::Vec<D> factor, hn::Vec<D> shift)
                     HWY_ATTR { of.multiply_and_add(factor, shift); },
                 scale, hn::Neg(hn::Mul(rest, scale)));
  } else {
    for_each_row([](row<length>& of, hn::Vec<D> scale) HWY_ATTR { of.multiply_by(scale); },
                 hn::Div(one, hn::Sqrt(hn::Add(squares, least))));
  }
  return squares;
}

// Multiplies by the gain and adds the bias, if present.
template <signature S, std::ptrdiff_t length>
HWY_INLINE void apply_gain(row<length>& r, const operands& here) {
  using V = typename row<length>::V;
  if constexpr (S.operands > 3) {
    const row<length> gain(here.read(2)), bias(here.read(3));
    r.x.map_indexed([&](V v, int j) HWY_ATTR { return hn::MulAdd(v, gain.x.at[j], bias.x.at[j]); });
  } else if constexpr (S.operands > 2) {
    r.x.zip(row<length>(here.read(2)).x, [](V v, V g) HWY_ATTR { return hn::Mul(v, g); });
  }
}

// Computes some consecutive rows.
template <signature S, rows_plan P, int... I>
HWY_INLINE void process_rows(std::integer_sequence<int, I...> each, const operands& first) {
  using row = generate::HWY_NAMESPACE::row<P.length>;
  using D = typename row::D;
  using V = typename row::V;
  constexpr loop rows = P.rows;
  const operands here[]{first.advanced(rows, I)...};
  row r[]{row(here[I].read(1))...};
  if constexpr (S.kind == op::softmax) {
    constexpr auto scale = static_cast<float>(static_cast<double>(S.scale));
    if constexpr (scale != 1)
      (r[I].x.map([](V v) HWY_ATTR { return hn::Mul(v, hn::Set(D(), scale)); }), ...);
    (softmax_row(r[I]), ...);
  } else {
    constexpr auto epsilon = static_cast<float>(static_cast<double>(S.scalar));
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const D4 d4;
    const auto squares = normalize_rows<S.kind, P.length>(each, r, epsilon);
    if (HWY_UNLIKELY(!hn::AllTrue(d4, hn::Lt(squares, hn::Set(d4, infinity))))) {
      // Only these rows: the bits of a row do not depend on the others.
      alignas(16) float of_row[4];
      hn::Store(squares, d4, of_row);
      const auto redo = [&](int i) HWY_ATTR {
        if (!(of_row[i] < infinity))
          r[i] = normalized_in_double<S.kind, P.length>(here[i].read(1), epsilon);
      };
      (redo(I), ...);
    }
    (apply_gain<S>(r[I], here[I]), ...);
  }
  (r[I].store_to(here[I].write()), ...);
}

// The rows at one index of the outer loops. Four are normalized together: their horizontal sums
// share shuffles, and one vector has the roots of all.
template <signature S, rows_plan P>
struct rows_body {
  static constexpr loop rows = P.rows;
  static constexpr int rows_at_once =
      S.kind != op::softmax && 4 * row<P.length>::vectors <= vector_registers / 2 ? 4 : 1;

  HWY_INLINE void operator()(operands at) const {
    std::ptrdiff_t i = 0;
    for (; i + rows_at_once <= rows.extent; i += rows_at_once) {
      process_rows<S, P>(std::make_integer_sequence<int, rows_at_once>(), at);
      at = at.advanced(rows, rows_at_once);
    }
    if constexpr (rows.extent % rows_at_once != 0) {
      for (; i < rows.extent; ++i) {
        process_rows<S, P>(std::make_integer_sequence<int, 1>(), at);
        at = at.advanced(rows, 1);
      }
    }
  }
};

template <signature S>
void rowwise(const kernels::call& c) noexcept {
  static constexpr rows_plan plan = plan_of_rows(S, max_row_elements);
  for_each<plan.outer>(operands_of<4>(c), rows_body<S, plan>());
}

}  // namespace weft::generate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
