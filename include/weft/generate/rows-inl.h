// Softmax and normalisations of short rows, whose length is a constant.
#if defined(WEFT_GENERATE_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_GENERATE_ROWS_INL_H_
#undef WEFT_GENERATE_ROWS_INL_H_
#else
#define WEFT_GENERATE_ROWS_INL_H_
#endif

#include <cstddef>
#include <limits>
#include <utility>

#include "weft/generate/rows_plan.hpp"
#include "weft/generate/vectors-inl.h"
#include "weft/kernels/bundle-inl.h"
#include "weft/kernels/lanes-inl.h"
#include "weft/kernels/math-inl.h"

#ifdef WEFT_GENERATES
HWY_BEFORE_NAMESPACE();
namespace weft::generate::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A row of `length` floats.
template <std::ptrdiff_t length>
struct row {
  using D = lanes_for<length>;
  using V = hn::Vec<D>;
  using Few = hn::CappedTag<float, 4>;
  static constexpr int lanes = lanes_of<D>;
  static constexpr int vectors = static_cast<int>((length + lanes - 1) / lanes);
  static constexpr int rest = static_cast<int>(length % lanes);
  template <int J>
  static constexpr int count = J == vectors - 1 && rest != 0 ? rest : lanes;
  using all = std::make_integer_sequence<int, vectors>;

  kernels::HWY_NAMESPACE::bundle<D, vectors> x;

  HWY_INLINE explicit row(const float* p) { load_from(all(), p); }
  HWY_INLINE void store_to(float* p) const { store_to(all(), p); }

  // Puts a number into the lanes beyond the row.
  HWY_INLINE void pad(float number) {
    const D d;
    if constexpr (rest != 0)
      x.at[vectors - 1] =
          hn::IfThenElse(hn::FirstN(d, rest), x.at[vectors - 1], hn::Set(d, number));
  }

  // In each lane.
  HWY_INLINE V sum() const { return everywhere(combined(x.combine(plus), plus)); }
  HWY_INLINE V max() const { return everywhere(combined(x.combine(larger), larger)); }
  // In each lane of a vector of no more than four.
  HWY_INLINE hn::Vec<Few> sum_of_squares() const { return first_four(combined(squares(), plus)); }

 private:
  static constexpr auto plus = [](auto a, auto b) HWY_ATTR { return hn::Add(a, b); };
  static constexpr auto larger = [](auto a, auto b) HWY_ATTR { return hn::Max(a, b); };
  template <class F>
  HWY_INLINE static auto combined(V v, F f) {
    return kernels::HWY_NAMESPACE::lanes_combined(D(), v, f);
  }
  template <class Some>
  HWY_INLINE static V everywhere(Some v) {
    if constexpr (hn::MaxLanes(hn::DFromV<Some>()) == hn::MaxLanes(D()))
      return v;
    else
      return hn::Set(D(), hn::GetLane(v));
  }
  template <class Some>
  HWY_INLINE static hn::Vec<Few> first_four(Some v) {
    if constexpr (hn::MaxLanes(hn::DFromV<Some>()) <= 4)
      return v;
    else
      return hn::LowerHalf(v);
  }
  template <int from = 0, int to = vectors>
  HWY_INLINE V squares() const {
    if constexpr (to - from == 1)
      return hn::Mul(x.at[from], x.at[from]);
    else if constexpr (to - from == 2)
      return hn::MulAdd(x.at[from + 1], x.at[from + 1], squares<from, from + 1>());
    else
      return hn::Add(squares<from, (from + to) / 2>(), squares<(from + to) / 2, to>());
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
  // A row of -infinity alone has the weights exp(-infinity): nothing.
  const V largest = hn::Max(r.max(), hn::Set(d, std::numeric_limits<float>::lowest()));
  r.x.map([=](V v)
              HWY_ATTR { return kernels::HWY_NAMESPACE::math::twice_exp(d, hn::Sub(v, largest)); });
  const float total = hn::GetLane(r.sum());
  const V inverse = hn::Set(d, total == 0 ? 0 : 1 / total);
  r.x.map([=](V v) HWY_ATTR { return hn::Mul(v, inverse); });
}

template <op kind, std::ptrdiff_t length>
HWY_INLINE void normalize_row(row<length>& r, float epsilon) {
  using D = typename row<length>::D;
  using V = hn::Vec<D>;
  const D d;
  constexpr float share = 1 / static_cast<float>(length);
  if constexpr (kind == op::normalize) {
    const V sum = r.sum();
    r.x.map([=](V v) HWY_ATTR { return hn::NegMulAdd(sum, hn::Set(d, share), v); });
    r.pad(0);
  }
  // Roots and quotients of whole vectors take many cycles.
  const auto squares = r.sum_of_squares();
  const typename row<length>::Few few;
  const auto variance = hn::MulAdd(squares, hn::Set(few, share), hn::Set(few, epsilon));
  const auto inverse = hn::Div(hn::Set(few, 1.0f), hn::Sqrt(variance));
  const V scale = hn::Set(d, hn::GetLane(inverse));
  r.x.map([=](V v) HWY_ATTR { return hn::Mul(v, scale); });
}

// The row at one point of the outer loops.
template <signature S, std::ptrdiff_t length>
HWY_INLINE void row_at(const operands& here) {
  using D = typename row<length>::D;
  using V = typename row<length>::V;
  row<length> r(here.read(1));
  if constexpr (S.kind == op::softmax) {
    constexpr auto scale = static_cast<float>(static_cast<double>(S.scale));
    if constexpr (scale != 1) r.x.map([](V v) HWY_ATTR { return hn::Mul(v, hn::Set(D(), scale)); });
    softmax_row(r);
  } else {
    constexpr auto epsilon = static_cast<float>(static_cast<double>(S.scalar));
    normalize_row<S.kind>(r, epsilon);
    // The gain and the bias.
    if constexpr (S.operands > 3) {
      const row<length> gain(here.read(2)), bias(here.read(3));
      r.x.map_indexed([&](V v, int j)
                          HWY_ATTR { return hn::MulAdd(v, gain.x.at[j], bias.x.at[j]); });
    } else if constexpr (S.operands > 2) {
      r.x.zip(row<length>(here.read(2)).x, [](V v, V g) HWY_ATTR { return hn::Mul(v, g); });
    }
  }
  r.store_to(here.write());
}

template <signature S>
HWY_NOINLINE void rowwise(float* result, float* x, float* gain, float* bias) {
  static constexpr rows_plan plan = plan_of_rows(S, hn::MaxLanes(hn::ScalableTag<float>()));
  walk<plan.rows>({{result, x, gain, bias}},
                  [](const operands& here) HWY_ATTR { row_at<S, plan.length>(here); });
}

}  // namespace weft::generate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
