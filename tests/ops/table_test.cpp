// What follows from the table of operations: values on every SIMD target, in every layout, in place
// and in parts, and gradients.
#include <boost/test/unit_test.hpp>
#include <cstdint>

#include "ops/samples.hpp"
#include "support/central_differences.hpp"

namespace sample = weft::testing::sample;
using weft::testing::lengths, weft::testing::settings, weft::testing::trial;

namespace {

template <class Model>
void elementwise_trial(int pos) {
  settings s = sample::domains<typename Model::operations>();
  s.lengths = lengths<sample::Pos>(pos).lengths;
  trial<weft::inference<Model>>(s);
}

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
  weft::testing::gradient_trial<model>(sample::domains<model::operations>());
}

BOOST_AUTO_TEST_CASE(rowwise_operations_match_the_reference) {
  for (int const pos : {0, 1, 7})
    trial<weft::inference<sample::rowwise>>(lengths<sample::Pos>(pos));
}

BOOST_AUTO_TEST_CASE(rowwise_operations_have_the_gradients_that_differences_give) {
  weft::testing::gradient_trial<sample::rowwise_gradients>();
}

BOOST_AUTO_TEST_SUITE_END()
