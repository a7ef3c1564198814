// Shared by the tests of fuse_attention: operands for models, and checks that fusion preserves
// their results.
#pragma once

#include <boost/core/demangle.hpp>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>

#include "passes/graphs.hpp"
#include "support/trial.hpp"
#include "weft/weft.hpp"

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
  static const auto g = attended(traced_graph<Model>.parts());
  return *g;
}

// Query, key and value computed from parameters, so that all have gradients.
struct operands {
  tensor<float, shape<Batch, Pos, Heads, HeadDim>> query;
  tensor<float, shape<Batch, KeyPos, Heads, HeadDim>> key, value;
};
constexpr operands operands_in(scope s) {
  auto x = s.input<"x", float, Batch, Pos, Heads, HeadDim>();
  const auto keys = rename<Pos, KeyPos>(x);
  return {x * s.param<"query", Heads, HeadDim>(), keys * s.param<"key", Heads, HeadDim>(),
          keys * s.param<"value", Heads, HeadDim>()};
}

// What the pass makes of the attention whose result is the first: "[-2, 1] mask lengths more -2"
// has a band of keys from 2 before to 1 after the query, a mask, and lengths of which each is 2
// less.
std::string description(const graph& g);

// Checks that description.
template <class Model>
void becomes(std::string_view text) {
  BOOST_TEST_CONTEXT(boost::core::demangle(typeid(Model).name())) {
    BOOST_TEST(description(attended<Model>()) == text);
  }
}

// The mean square of a result, as a loss.
template <class... Axes, class X>
constexpr auto mean_of_squares(shape<Axes...>, const X& y) {
  return mean<Axes...>(y * y);
}
template <class Model>
struct trainable {
  constexpr auto operator()(scope s) const {
    const auto y = Model()(s);
    return results(as<"loss">(mean_of_squares(shape_t<std::remove_cv_t<decltype(y)>>(), y)));
  }
};

// Checks in double precision that the loss and its gradients are the same with and without fusion,
// up to 1e-12 of the largest element: only the order of summation differs.
void means_the_same(const graph_parts& model, const settings& s);

// Reaches beyond both ends of the positions, so that some queries see all keys and some none.
inline constexpr settings::range all_around{-4, 9};
inline settings offsets(std::size_t length, settings::range from = all_around) {
  auto s = lengths<Pos>(length);
  for (const auto* name : {"offset", "last", "lengths", "other", "third"}) s.ranges[name] = from;
  s.random = {0xfedcba9876543210, 0x123456789abc};
  return s;
}

// `becomes`, and the same loss and gradients with and without fusion.
template <class Model>
void fuses(std::string_view text) {
  becomes<Model>(text);
  means_the_same(traced_graph<trainable<Model>>.parts(), offsets(6));
}

// Runs the model and its gradients on every target. The kernels' tests have longer ones, for which
// the error bounds of whole models are too wide to fail.
template <class Model>
void runs(settings::range from = all_around) {
  using backward = training<trainable<Model>, "loss">;
  BOOST_TEST(count(*compiled_graph<sampling<Model>>(), op::attention) == 1);
  BOOST_TEST(count(*compiled_graph<backward>(), op::attention) == 1);
  for (const std::size_t length : {1u, 3u}) {
    trial<sampling<Model>>(offsets(length, from));
    trial<backward>(offsets(length, from));
  }
}

}  // namespace weft::testing::attention
