// Softmax and normalizations of short rows of constant length.
#if defined(WEFT_GENERATE_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_GENERATE_ROWS_INL_H_
#undef WEFT_GENERATE_ROWS_INL_H_
#else
#define WEFT_GENERATE_ROWS_INL_H_
#endif

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

  // Reductions over the row, in each lane.
  HWY_INLINE V sum() const { return broadcast(reduce_lanes(x.combine(add), add)); }
  HWY_INLINE V max() const { return broadcast(reduce_lanes(x.combine(max_of), max_of)); }
  // Partial sums: of each lane's elements.
  HWY_INLINE V sums() const { return x.combine(add); }
  template <int from = 0, int to = vectors>
  HWY_INLINE V sums_of_squares() const {
    if constexpr (to - from == 1)
      return hn::Mul(x.at[from], x.at[from]);
    else if constexpr (to - from == 2)
      return hn::MulAdd(x.at[from + 1], x.at[from + 1], sums_of_squares<from, from + 1>());
    else
      return hn::Add(sums_of_squares<from, (from + to) / 2>(),
                     sums_of_squares<(from + to) / 2, to>());
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
  static constexpr auto add = [](auto a, auto b) HWY_ATTR { return hn::Add(a, b); };
  static constexpr auto max_of = [](auto a, auto b) HWY_ATTR { return hn::Max(a, b); };
  template <class F>
  HWY_INLINE static auto reduce_lanes(V v, F f) {
    return kernels::HWY_NAMESPACE::reduce_lanes(D(), v, f);
  }
  template <class VR>
  HWY_INLINE static V broadcast(VR v) {
    if constexpr (hn::MaxLanes(hn::DFromV<VR>()) == hn::MaxLanes(D()))
      return v;
    else
      return hn::Set(D(), hn::GetLane(v));
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
  const float total = hn::GetLane(r.sum());
  const V inverse = hn::Set(d, total == 0 ? 0 : 1 / total);
  r.x.map([=](V v) HWY_ATTR { return hn::Mul(v, inverse); });
}

// A vector of at most four lanes, with a scalar for each of four rows, or for one.
using D4 = hn::CappedTag<float, 4>;

template <class D>
HWY_INLINE hn::Vec<D4> sum_blocks(D /*d*/, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return sum_blocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}
// Horizontal sums: of one vector, in each lane, or of four vectors, in a lane each.
template <class D>
HWY_INLINE hn::Vec<D4> horizontal_sums(D d, hn::Vec<D> v) {
  const auto add = [](auto a, auto b) HWY_ATTR { return hn::Add(a, b); };
  const auto sum = kernels::HWY_NAMESPACE::reduce_lanes(d, v, add);
  if constexpr (hn::MaxLanes(hn::DFromV<decltype(sum)>()) <= 4)
    return sum;
  else
    return hn::LowerHalf(sum);
}
template <class D>
HWY_INLINE hn::Vec<D4> horizontal_sums(D d, hn::Vec<D> v0, hn::Vec<D> v1, hn::Vec<D> v2,
                                       hn::Vec<D> v3) {
  const auto paired = [d](auto a, auto b) HWY_ATTR {
    return hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  };
  return sum_blocks(d, paired(paired(v0, v2), paired(v1, v3)));
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
  static constexpr rows_plan plan = plan_of_rows(S, hn::MaxLanes(hn::ScalableTag<float>()));
  for_each<plan.outer>(operands_of<4>(c), rows_body<S, plan>());
}

}  // namespace weft::generate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
