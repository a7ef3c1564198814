// What tests of the pass attend share: operands to build models of, and what fusion has to keep.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <memory>

#include "passes/graphs.hpp"
#include "support/trial.hpp"
#include "weft/lower/source.hpp"
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

template <class Model>
constexpr graph attended() {
  return attend(simplify(select(definition<Model>.unpack())));
}

// Query, key and value that come from parameters, so that all have gradients.
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

// The mean of a result's squares, so that it can be trained.
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

template <class Model, bool Attended>
struct differentiated {
  static constexpr graph make() {
    graph const g = inference<trainable<Model>, "loss">::selected();
    return simplify(differentiate(Attended ? attend(g) : g, 0));
  }
  static constexpr auto g = pack<differentiated>();
};

// The same in double precision, forward and backward: only the order of sums differs.
template <class Model>
void means_the_same(settings s = lengths<Pos>(6)) {
  auto const written = kept([] { return differentiated<Model, false>::g.unpack(); });
  auto const fused = kept([] { return differentiated<Model, true>::g.unpack(); });
  BOOST_TEST(count(*fused, op::attention) == 1);
  BOOST_TEST(count(*fused, op::attention_adjoint) == (written->parameter_count > 0 ? 1 : 0));
  expectation const expected(*written, s);
  auto const values = reference::evaluate(*fused, s.lengths, expected.given());
  auto const compare = [](const auto& a, const auto& b) {
    BOOST_TEST_REQUIRE(a.data.size() == b.data.size());
    double most = 0;
    for (double const x : b.data) most = std::max(most, std::abs(x));
    for (std::size_t i = 0; i < a.data.size(); ++i)
      BOOST_TEST(std::abs(a.data[i] - b.data[i]) <= 1e-12 * most + 1e-300);
  };
  compare(reference::result(*fused, values, "loss"),
          reference::result(*written, expected.values(), "loss"));
  for (int i = 0; i < written->parameter_count; ++i) {
    auto const name = written->name(written->parameters[i].name);
    compare(reference::gradient(*fused, values, name),
            reference::gradient(*written, expected.values(), name));
  }
}

// Around what there is of positions, so that some queries see all keys and some none.
inline constexpr settings::range all_around{-4, 9};
inline settings offsets(std::size_t length, settings::range from = all_around) {
  auto s = lengths<Pos>(length);
  for (auto const* name : {"offset", "last", "lengths", "other", "third"}) s.ranges[name] = from;
  return s;
}

template <class Model>
void runs(settings::range from = all_around) {
  static_assert(count(inference<Model>::make(), op::attention) == 1);
  static_assert(count(training<trainable<Model>, "loss">::make(), op::attention) == 1);
  for (std::size_t const length : {0u, 1u, 3u, 7u}) {
    auto const at = offsets(length, from);
    trial<inference<Model>>(at);
    // A mean over nothing is not a number, and the bound grows with the steps between.
    if (length > 0 && length < 4) trial<training<trainable<Model>, "loss">>(at);
  }
}

}  // namespace weft::testing::attention
