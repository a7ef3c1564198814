// Shared by the tests of fuse_attention: operands for models, and checks that fusion preserves
// their results.
#pragma once

#include <boost/test/unit_test.hpp>
#include <memory>

#include "passes/graphs.hpp"
#include "support/trial.hpp"
#include "weft/lower/units.hpp"
#include "weft/nn/attention.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/functions.hpp"
#include "weft/ops/reduce.hpp"
#include "weft/ops/view.hpp"

namespace weft::testing::attention {

struct Batch : axis<2> {};
struct Pos : axis<up_to<7>> {};
struct KeyPos : alias<Pos> {};
struct Heads : axis<3> {};
struct Group : axis<2> {};
struct HeadDim : axis<5> {};
struct Width : axis<4> {};

// The graph of a model after the pass.
std::unique_ptr<const graph> attended(const graph_parts& model);
template <class Model>
const graph& attended() {
  static auto const g = attended(traced_graph<Model>.parts());
  return *g;
}

// Query, key and value computed from parameters, so that all have gradients.
struct operands {
  tensor<float, shape<Batch, Pos, Heads, HeadDim>> query;
  tensor<float, shape<Batch, KeyPos, Heads, HeadDim>> key, value;
};
constexpr operands operands_in(scope s) {
  auto x = s.input<"x", float, Batch, Pos, Heads, HeadDim>();
  auto const keys = rename<Pos, KeyPos>(x);
  return {x * s.param<"query", Heads, HeadDim>(), keys * s.param<"key", Heads, HeadDim>(),
          keys * s.param<"value", Heads, HeadDim>()};
}

// The mean square of a result, as a loss.
template <class... Axes, class X>
constexpr auto mean_of_squares(shape<Axes...>, const X& y) {
  return mean<Axes...>(y * y);
}
template <class Model>
struct trainable {
  constexpr auto operator()(scope s) const {
    auto const y = Model()(s);
    return results(as<"loss">(mean_of_squares(shape_t<std::remove_cv_t<decltype(y)>>(), y)));
  }
};

// Checks in double precision that the loss and its gradients are the same with and without fusion,
// up to 1e-12 of the largest element: only the order of summation differs.
void means_the_same(const graph_parts& model, const settings& s);
template <class Model>
void means_the_same(const settings& s = lengths<Pos>(6)) {
  means_the_same(traced_graph<trainable<Model>>.parts(), s);
}

// Reaches beyond both ends of the positions, so that some queries see all keys and some none.
inline constexpr settings::range all_around{-4, 9};
inline settings offsets(std::size_t length, settings::range from = all_around) {
  auto s = lengths<Pos>(length);
  for (auto const* name : {"offset", "last", "lengths", "other", "third"}) s.ranges[name] = from;
  return s;
}

template <class Model>
void runs(settings::range from = all_around) {
  using backward = training<trainable<Model>, "loss">;
  BOOST_TEST(count(*compiled_graph<inference<Model>>(), op::attention) == 1);
  BOOST_TEST(count(*compiled_graph<backward>(), op::attention) == 1);
  for (std::size_t const length : {0u, 1u, 3u, 7u}) {
    auto const at = offsets(length, from);
    trial<inference<Model>>(at);
    // The mean over an empty axis is NaN, and error bounds at larger lengths are too wide to fail.
    if (length > 0 && length < 4) trial<backward>(at);
  }
}

}  // namespace weft::testing::attention
