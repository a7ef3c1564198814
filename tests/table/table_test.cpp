// What follows from the table of operations: values on every SIMD target, in every layout, in place
// and in parts, and gradients.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ops/samples.hpp"
#include "support/central_differences.hpp"
#include "weft/ops/gather.hpp"

namespace sample = weft::testing::sample;
using weft::testing::lengths, weft::testing::settings, weft::testing::trial;

namespace {

template <class Model>
void elementwise_trial(int pos) {
  settings s = sample::domains<typename Model::operations>();
  s.lengths = lengths<sample::Pos>(pos).lengths;
  trial<weft::inference<Model>>(s);
}

// The greatest elements of rows that are contiguous, strided, and shorter than what is selected;
// of numbers with ties, and with infinities and NaN.
struct selections {
  struct Two : weft::axis<2> {};
  struct Four : weft::axis<4> {};
  constexpr auto operator()(weft::scope s) const {
    using weft::as, weft::cast, weft::top_k;
    auto x = s.input<"x", float, sample::Three, sample::Pos, sample::Hundred>();
    auto i = s.input<"i", std::int32_t, sample::Hundred, sample::Pos>();
    auto special = s.input<"special", float, sample::Pos, sample::Three>();
    auto [inner, inner_at] = top_k<sample::Hundred, Four>(x);
    auto [outer, outer_at] = top_k<sample::Three, Two>(-x);
    auto [bounded, bounded_at] = top_k<sample::Pos, Four>(cast<float>(i));
    auto [ties, ties_at] = top_k<sample::Hundred, Two>(cast<float>(i));
    auto [greatest, greatest_at] = top_k<sample::Three, Two>(special);
    return weft::results(as<"inner">(inner), as<"inner_at">(inner_at), as<"outer">(outer),
                         as<"bounded">(bounded), as<"bounded_at">(bounded_at), as<"ties">(ties),
                         as<"ties_at">(ties_at), as<"greatest_at">(greatest_at));
  }
};
struct selection_gradients {
  constexpr auto operator()(weft::scope s) const {
    using weft::top_k;
    constexpr weft::testing::weights w;
    auto x = s.param<"x", sample::Three, sample::Five>();
    return weft::as<"loss">(w(top_k<sample::Five, selections::Two>(x).values) +
                            w(top_k<sample::Three, selections::Two>(x).values * x));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(table_of_operations)

BOOST_AUTO_TEST_CASE(elementwise_operations_of_floats_match_the_reference) {
  elementwise_trial<sample::elementwise<float, false>>(5);
  elementwise_trial<sample::elementwise<float, true>>(7);
}

BOOST_AUTO_TEST_CASE(elementwise_operations_of_integers_match_the_reference) {
  elementwise_trial<sample::elementwise<std::int32_t, false>>(5);
  elementwise_trial<sample::elementwise<std::int32_t, true>>(1);
}

BOOST_AUTO_TEST_CASE(elementwise_operations_of_booleans_match_the_reference) {
  elementwise_trial<sample::elementwise<bool, false>>(5);
  elementwise_trial<sample::elementwise<bool, true>>(1);
}

BOOST_AUTO_TEST_CASE(elementwise_operations_match_the_reference_at_length_0) {
  elementwise_trial<sample::elementwise<float, true>>(0);
}

BOOST_AUTO_TEST_CASE(elementwise_operations_have_the_gradients_that_differences_give) {
  using model = sample::elementwise_gradients;
  weft::testing::gradient_trial_of_terms<model>(sample::domains<model::operations>());
}

BOOST_AUTO_TEST_CASE(rowwise_operations_match_the_reference) {
  for (const int pos : {0, 1, 7})
    trial<weft::inference<sample::rowwise>>(lengths<sample::Pos>(pos));
}

BOOST_AUTO_TEST_CASE(rowwise_operations_have_the_gradients_that_differences_give) {
  weft::testing::gradient_trial_of_terms<sample::rowwise_gradients>();
}

BOOST_AUTO_TEST_CASE(top_k_matches_the_reference_with_ties_infinities_and_nan) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (const int pos : {0, 1, 3, 7}) {
    settings s = lengths<sample::Pos>(pos);
    s.ranges["i"] = {-3, 3};
    const double numbers[]{std::nan(""), 0, -inf, inf, -0.0, 1, std::nan("")};
    for (std::size_t i = 0; i < 3 * static_cast<std::size_t>(pos); ++i)
      s.given["special"].push_back(numbers[i * i % 7]);
    trial<weft::inference<selections>>(s);
  }
}

BOOST_AUTO_TEST_CASE(values_of_top_k_have_the_gradients_that_differences_give) {
  weft::testing::gradient_trial<selection_gradients>();
}

BOOST_AUTO_TEST_SUITE_END()
