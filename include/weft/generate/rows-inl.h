// Softmax and normalize of short rows, whose length is a constant.
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
#include "weft/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::generate::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A row of `length` floats, in vectors.
template <std::ptrdiff_t length>
struct row {
  using D = lanes_for<length>;
  using V = hn::Vec<D>;
  static constexpr int lanes = lanes_of<D>;
  static constexpr int vectors = static_cast<int>((length + lanes - 1) / lanes);
  static constexpr int rest = static_cast<int>(length % lanes);
  using all = std::make_integer_sequence<int, vectors>;
  template <int J>
  static constexpr int count = J == vectors - 1 && rest != 0 ? rest : lanes;

  V at[vectors];

  row() = default;
  HWY_INLINE explicit row(const float* p) { load_from(all(), p); }

  template <int... J>
  HWY_INLINE void load_from(std::integer_sequence<int, J...>, const float* p) {
    ((at[J] = load<D, count<J>>(p + J * lanes)), ...);
  }
  template <int... J>
  HWY_INLINE void store_to(std::integer_sequence<int, J...>, float* p) const {
    (store<D, count<J>>(at[J], p + J * lanes), ...);
  }
  HWY_INLINE void store_to(float* p) const { store_to(all(), p); }

  // Puts x into the lanes beyond the row.
  HWY_INLINE void pad(float x) {
    const D d;
    if constexpr (rest != 0)
      at[vectors - 1] = hn::IfThenElse(hn::FirstN(d, rest), at[vectors - 1], hn::Set(d, x));
  }

  template <class F, int... J>
  HWY_INLINE void map(std::integer_sequence<int, J...>, F f) {
    ((at[J] = f(at[J])), ...);
  }
  template <class F>
  HWY_INLINE void map(F f) {
    map(all(), f);
  }

  template <class F, int... J>
  HWY_INLINE void zip(std::integer_sequence<int, J...>, const row& other, F f) {
    ((at[J] = f(at[J], other.at[J])), ...);
  }
  template <class F>
  HWY_INLINE void zip(const row& other, F f) {
    zip(all(), other, f);
  }

  // All vectors combined into one, in pairs.
  template <int From, int To, class F>
  HWY_INLINE V combine(F f) const {
    if constexpr (To - From == 1)
      return at[From];
    else
      return f(combine<From, (From + To) / 2>(f), combine<(From + To) / 2, To>(f));
  }
  // In every lane.
  HWY_INLINE V sum() const {
    return hn::SumOfLanes(D(),
                          combine<0, vectors>([](V a, V b) HWY_ATTR { return hn::Add(a, b); }));
  }
  HWY_INLINE V max() const {
    return hn::MaxOfLanes(D(),
                          combine<0, vectors>([](V a, V b) HWY_ATTR { return hn::Max(a, b); }));
  }
};

template <std::ptrdiff_t length>
HWY_INLINE void softmax_row(row<length>& x) {
  using D = typename row<length>::D;
  using V = hn::Vec<D>;
  const D d;
  x.pad(-std::numeric_limits<float>::infinity());
  // A row of -infinity alone has the weights exp(-infinity): nothing.
  const V largest = hn::Max(x.max(), hn::Set(d, std::numeric_limits<float>::lowest()));
  x.map([=](V v)
            HWY_ATTR { return kernels::HWY_NAMESPACE::math::twice_exp(d, hn::Sub(v, largest)); });
  const V total = x.sum();
  const V inverse =
      hn::IfThenZeroElse(hn::Eq(total, hn::Zero(d)), hn::Div(hn::Set(d, 1.0f), total));
  x.map([=](V v) HWY_ATTR { return hn::Mul(v, inverse); });
}

template <std::ptrdiff_t length>
HWY_INLINE void normalize_row(row<length>& x, float epsilon) {
  using D = typename row<length>::D;
  using V = hn::Vec<D>;
  const D d;
  const V share = hn::Set(d, 1 / static_cast<float>(length));
  const V mean = hn::Mul(x.sum(), share);
  x.map([=](V v) HWY_ATTR { return hn::Sub(v, mean); });
  x.pad(0);
  row<length> squares = x;
  squares.map([](V v) HWY_ATTR { return hn::Mul(v, v); });
  const V variance = hn::MulAdd(squares.sum(), share, hn::Set(d, epsilon));
  const V scale = hn::Div(hn::Set(d, 1.0f), hn::Sqrt(variance));
  x.map([=](V v) HWY_ATTR { return hn::Mul(v, scale); });
}

template <signature S>
HWY_NOINLINE void rowwise(const operands& at) {
  constexpr rows_plan plan = plan_of_rows(S, hn::MaxLanes(hn::ScalableTag<float>()));
  walk<plan.rows>(at, [](const operands& here) HWY_ATTR {
    using row_type = row<plan.length>;
    using V = typename row_type::V;
    row_type x(here.read(1));
    if constexpr (S.kind == op::softmax) {
      constexpr auto scale = static_cast<float>(static_cast<double>(S.scale));
      if constexpr (scale != 1)
        x.map([](V v) HWY_ATTR { return hn::Mul(v, hn::Set(typename row_type::D(), scale)); });
      softmax_row(x);
    } else {
      normalize_row(x, static_cast<float>(static_cast<double>(S.scalar)));
      // The gain and the bias.
      if constexpr (S.operands > 2)
        x.zip(row_type(here.read(2)), [](V v, V g) HWY_ATTR { return hn::Mul(v, g); });
      if constexpr (S.operands > 3)
        x.zip(row_type(here.read(3)), [](V v, V b) HWY_ATTR { return hn::Add(v, b); });
    }
    x.store_to(here.write());
  });
}

}  // namespace weft::generate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
