// Small attention with constant extents, as defined in kernels/attention.hpp. Lanes run along the
// queries, so that maximum and sum over the keys are lane-wise operations on full vectors.
#if defined(WEFT_GENERATE_ATTENTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_GENERATE_ATTENTION_INL_H_
#undef WEFT_GENERATE_ATTENTION_INL_H_
#else
#define WEFT_GENERATE_ATTENTION_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "weft/generate/attention_plan.hpp"
#include "weft/generate/dot-inl.h"
#include "weft/kernels/math-inl.h"
#include "weft/kernels/vec_array-inl.h"

#ifdef WEFT_GENERATES
HWY_BEFORE_NAMESPACE();
namespace weft::generate::HWY_NAMESPACE {

inline constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

// Attention of a block of `count` queries.
template <attention_plan P, int count>
struct attention_block {
  using D = lanes_for<count>;
  using V = hn::Vec<D>;
  static constexpr int lanes = lanes_of<D>;
  static constexpr int padded = (count + lanes - 1) / lanes * lanes;

  // scores[j][i] = scale * sum over d of key[j][d] * query[d][i]. Padding repeats the last query.
  static constexpr tile_traits scores{.columns = padded,
                                      .depth = P.depth,
                                      .sets = accumulator_sets(P.keys, padded),
                                      .lhs_row = P.key_row,
                                      .lhs_depth = P.key_depth,
                                      .rhs_depth = padded,
                                      .rhs_is_packed = true,
                                      .result_row = padded,
                                      .addends = 0,
                                      .addend_row = {},
                                      .addend_broadcast = {},
                                      .scale = P.scale,
                                      .epilogue = op::copy};
  // result[i][e] = sum over j of weights[j][i] * value[j][e].
  static constexpr tile_traits weighted{.columns = P.width,
                                        .depth = P.keys,
                                        .sets = accumulator_sets(count, P.width),
                                        .lhs_row = 1,
                                        .lhs_depth = padded,
                                        .rhs_depth = P.value_row,
                                        .rhs_is_packed = false,
                                        .result_row = P.result_row,
                                        .addends = 0,
                                        .addend_row = {},
                                        .addend_broadcast = {},
                                        .scale = 1,
                                        .epilogue = op::copy};

  // The scores of a key, -infinity in the lanes of queries whose band does not include it; the
  // lanes have the queries from `query` on.
  HWY_INLINE static V mask_out(V score, int key, std::ptrdiff_t query) {
    const D d;
    const V i = hn::Iota(d, static_cast<float>(query));
    const auto bound = [d](double x) HWY_ATTR { return hn::Set(d, static_cast<float>(x)); };
    const auto visible =
        hn::And(hn::Ge(i, bound(static_cast<double>(key) - static_cast<double>(P.highest))),
                hn::Le(i, bound(static_cast<double>(key) - static_cast<double>(P.lowest))));
    return hn::IfThenElse(visible, score, hn::Set(d, minus_infinity));
  }

  // The sum of the biases for the queries from `first` on, in the layout of the scores: to[j][i].
  HWY_INLINE static void sum_biases(const operands& at, std::ptrdiff_t first, float* to) {
    using of = attention_operand;
    if constexpr (P.with_bias)
      pack<P.keys, count, P.bias_key, P.bias_row, padded>(at.read(of::bias) + first * P.bias_row,
                                                          to);
    if constexpr (P.with_relative) {
      for (std::ptrdiff_t j = 0; j < P.keys; ++j) {
        for (std::ptrdiff_t i = 0; i < padded; ++i) {
          const std::ptrdiff_t query = first + std::min<std::ptrdiff_t>(i, count - 1);
          const std::ptrdiff_t distance =
              std::clamp<std::ptrdiff_t>(j - query + static_cast<std::ptrdiff_t>(P.origin), 0,
                                         static_cast<std::ptrdiff_t>(P.distances) - 1);
          const float here =
              at.read(of::relative)[query * P.relative_row + distance * P.relative_step];
          to[j * padded + i] = P.with_bias ? to[j * padded + i] + here : here;
        }
      }
    }
  }

  // Softmax over the keys of the scores of a vector of queries, in place. Adds `bias` first, if
  // there is one. Keys from `visible` on are masked out by the length.
  HWY_INLINE static void softmax(float* scores_of, std::ptrdiff_t query, const float* bias,
                                 float visible) {
    const D d;
    using column = kernels::HWY_NAMESPACE::vec_array<D, static_cast<int>(P.keys)>;
    column s;
    s.map_indexed([&](V, int j) HWY_ATTR {
      V score = hn::LoadU(d, scores_of + j * padded);
      const V masked = hn::Set(d, minus_infinity);
      if constexpr (P.adds_to_scores()) {  // -infinity hides the key, whatever its score
        const V bias_of_key = hn::LoadU(d, bias + j * padded);
        score = hn::IfThenElse(hn::Eq(bias_of_key, masked), masked, hn::Add(score, bias_of_key));
      }
      if constexpr (P.with_lengths)
        score = hn::IfThenElse(hn::Lt(hn::Set(d, static_cast<float>(j)), hn::Set(d, visible)),
                               score, masked);
      if constexpr (P.banded) return mask_out(score, j, query);
      return score;
    });
    // Finite, so that if all keys are masked out the weights are exp(-infinity) = 0.
    const V largest = hn::Max(s.combine([](V a, V b) HWY_ATTR { return hn::Max(a, b); }),
                              hn::Set(d, std::numeric_limits<float>::lowest()));
    s.map([=](V v) HWY_ATTR {
      return kernels::HWY_NAMESPACE::math::twice_exp(D(), hn::Sub(v, largest));
    });
    const V total = s.combine([](V a, V b) HWY_ATTR { return hn::Add(a, b); });
    const V inverse =
        hn::IfThenZeroElse(hn::Eq(total, hn::Zero(d)), hn::Div(hn::Set(d, 1.0f), total));
    s.map_indexed([&](V v, int j) HWY_ATTR {
      hn::StoreU(hn::Mul(v, inverse), D(), scores_of + j * padded);
      return v;
    });
  }

  // The number of keys that the length leaves visible, at most all; unused if there are no lengths.
  HWY_INLINE static float visible_keys(const operands& at) {
    if constexpr (P.with_lengths) {
      std::int32_t length;
      std::memcpy(&length, at.read(attention_operand::lengths), sizeof length);
      return static_cast<float>(std::min<std::int64_t>(length + P.length_more, P.keys));
    }
    return 0;
  }

  // Whether a result is NaN.
  HWY_INLINE static bool has_nan(const float* result) {
    using R = lanes_for<P.width>;
    constexpr int row_lanes = lanes_of<R>, tail = static_cast<int>(P.width % row_lanes);
    const R d;
    auto are_numbers = hn::Eq(hn::Zero(d), hn::Zero(d));
    const auto check = [=](hn::Mask<R> before, hn::Vec<R> x)
                           HWY_ATTR { return hn::And(before, hn::Eq(x, x)); };
    for (std::ptrdiff_t i = 0; i < count; ++i, result += P.result_row) {
      std::ptrdiff_t e = 0;
      for (; e + row_lanes <= P.width; e += row_lanes)
        are_numbers = check(are_numbers, hn::LoadU(d, result + e));
      if constexpr (tail != 0) are_numbers = check(are_numbers, load<R, tail>(result + e));
    }
    return !hn::AllTrue(d, are_numbers);
  }
  // Recomputes the results from the values of the keys that a query sees only: 0 times other values
  // may be NaN.
  HWY_NOINLINE static void sum_visible(const operands& at, std::ptrdiff_t first,
                                       const float* weights, const float* bias, float visible) {
    for (std::ptrdiff_t i = 0; i < count; ++i)
      for (std::ptrdiff_t e = 0; e < P.width; ++e) {
        float sum = 0;
        for (std::ptrdiff_t j = 0; j < P.keys; ++j) {
          const std::ptrdiff_t distance = j - (first + i);
          if (P.banded && (distance < P.lowest || distance > P.highest)) continue;
          if (P.with_lengths && !(static_cast<float>(j) < visible)) continue;
          if (P.adds_to_scores() && bias[j * padded + i] == minus_infinity) continue;
          sum += weights[j * padded + i] * at.read(3)[j * P.value_row + e];
        }
        at.write()[(first + i) * P.result_row + e] = sum;
      }
  }

  HWY_INLINE static void run(const operands& at, std::ptrdiff_t first) {
    alignas(64) float queries[P.depth * padded];
    alignas(64) float weights[P.keys * padded];
    pack<P.depth, count, P.query_depth, P.query_row, padded>(at.read(1) + first * P.query_row,
                                                             queries);
    dot_matrix<scores, static_cast<int>(P.keys)>({at.read(2), queries, weights, nullptr, nullptr});
    alignas(64) float bias[P.adds_to_scores() ? P.keys * padded : 1];
    if constexpr (P.adds_to_scores()) sum_biases(at, first, bias);
    const float visible = visible_keys(at);
    for (int i = 0; i < padded; i += lanes)
      softmax(weights + i, first + i, P.adds_to_scores() ? bias + i : bias, visible);
    dot_matrix<weighted, count>(
        {weights, at.read(3), at.write() + first * P.result_row, nullptr, nullptr});
    if constexpr (P.banded || P.with_lengths || P.adds_to_scores())
      if (HWY_UNLIKELY(has_nan(at.write() + first * P.result_row)))
        sum_visible(at, first, weights, bias, visible);
  }
};

template <attention_plan P>
void attention(const kernels::call& c) noexcept {
  operands at{};
  for (int o = 0; o < attention_operand::count; ++o)
    at.at[o] = static_cast<float*>(c.operands[attention_operand::slot(o)].data);
  constexpr std::ptrdiff_t block = P.block(), tail = P.queries % block;
  for_each<P.batch>(at, [](const operands& here) HWY_ATTR {
    for (std::ptrdiff_t i = 0; i + block <= P.queries; i += block)
      attention_block<P, static_cast<int>(block)>::run(here, i);
    if constexpr (tail != 0)
      attention_block<P, static_cast<int>(tail)>::run(here, P.queries - tail);
  });
}

}  // namespace weft::generate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
