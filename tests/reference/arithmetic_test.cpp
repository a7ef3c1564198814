// Elementwise operations, reductions and rows of the reference against values computed by hand.
#include "reference/test_graph.hpp"

using namespace weft::testing;
using weft::dtype, weft::node, weft::op;

BOOST_AUTO_TEST_SUITE(elementwise, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(operands_are_broadcast_by_axis_in_any_order) {
  test_graph t;
  const int x = t.input({three, two}, {0, 10, 1, 11, 2, 12});
  const int y = t.input({three}, {100, 200, 300});
  t.add(op::add, {two, three}, {x, y});
  check(t, {100, 201, 302, 110, 211, 312});
  t.add(op::copy, {two, three}, {y});
  check(t, {100, 200, 300, 100, 200, 300});
}

BOOST_AUTO_TEST_CASE(where_chooses_by_axis) {
  test_graph t;
  const int c = t.input({two}, {0, 1});
  const int x = t.input({three}, {1, 2, 3});
  t.add(op::where, {three, two}, {c, x, t.constant(-infinity)});
  check(t, {-infinity, 1, -infinity, 2, -infinity, 3});
}

BOOST_AUTO_TEST_CASE(unary_functions_have_known_values) {
  BOOST_TEST(scalar(op::copy, {3}) == 3);
  BOOST_TEST(scalar(op::negate, {3}) == -3);
  BOOST_TEST(scalar(op::exp, {0}) == 1);
  BOOST_TEST(scalar(op::log, {0}) == -infinity);
  BOOST_TEST(scalar(op::sqrt, {9}) == 3);
  BOOST_TEST(scalar(op::tanh, {infinity}) == 1);
  BOOST_TEST(scalar(op::erf, {-infinity}) == -1);
  BOOST_TEST(scalar(op::sin, {0}) == 0);
  BOOST_TEST(scalar(op::cos, {0}) == 1);
  BOOST_TEST(scalar(op::sigmoid, {0}) == 0.5);
  BOOST_TEST(scalar(op::sigmoid, {-infinity}) == 0);
  BOOST_TEST(scalar(op::relu, {-2}) == 0);
  BOOST_TEST(scalar(op::relu, {2}) == 2);
  BOOST_TEST(scalar(op::logical_not, {1}) == 0);
  // torch.nn.functional.gelu in double.
  BOOST_CHECK_SMALL(scalar(op::gelu, {1}) - 0.8413447460685429, 1e-15);
  BOOST_CHECK_SMALL(scalar(op::gelu_tanh, {1}) - 0.8411919906082768, 1e-15);
}

BOOST_AUTO_TEST_CASE(casts_truncate_to_integers_and_compare_with_0_for_booleans) {
  BOOST_TEST(scalar(op::cast, {-2.7}, dtype::int32) == -2);
  BOOST_TEST(scalar(op::cast, {-2.7}, dtype::boolean) == 1);
  BOOST_TEST(scalar(op::cast, {0}, dtype::boolean) == 0);
  BOOST_TEST(scalar(op::cast, {5}, dtype::float32) == 5);
}

BOOST_AUTO_TEST_CASE(binary_functions_have_known_values) {
  BOOST_TEST(scalar(op::add, {5, 3}) == 8);
  BOOST_TEST(scalar(op::subtract, {5, 3}) == 2);
  BOOST_TEST(scalar(op::multiply, {5, 3}) == 15);
  BOOST_TEST(scalar(op::divide, {5, 2}) == 2.5);
  BOOST_TEST(scalar(op::maximum, {5, 3}) == 5);
  BOOST_TEST(scalar(op::minimum, {5, 3}) == 3);
  for (const op kind : {op::maximum, op::minimum}) {
    BOOST_TEST(std::isnan(scalar(kind, {not_a_number, 1})));
    BOOST_TEST(std::isnan(scalar(kind, {1, not_a_number})));
  }
  BOOST_TEST(scalar(op::less, {3, 3}) == 0);
  BOOST_TEST(scalar(op::less, {2, 3}) == 1);
  BOOST_TEST(scalar(op::less_equal, {3, 3}) == 1);
  BOOST_TEST(scalar(op::less_equal, {4, 3}) == 0);
  BOOST_TEST(scalar(op::equal, {3, 3}) == 1);
  BOOST_TEST(scalar(op::not_equal, {3, 3}) == 0);
  BOOST_TEST(scalar(op::logical_and, {1, 0}) == 0);
  BOOST_TEST(scalar(op::logical_and, {1, 1}) == 1);
  BOOST_TEST(scalar(op::logical_or, {1, 0}) == 1);
  BOOST_TEST(scalar(op::logical_or, {0, 0}) == 0);
  BOOST_TEST(scalar(op::relu_adjoint, {2, 7}) == 7);
  BOOST_TEST(scalar(op::relu_adjoint, {0, 7}) == 0);
}

BOOST_AUTO_TEST_CASE(adjoints_of_gelu_match_central_differences) {
  const double h = 1e-5;
  for (const double x : {-3.0, -0.4, 0.0, 0.7, 2.5})
    for (const auto& [forward, adjoint] :
         {std::pair{op::gelu, op::gelu_adjoint}, std::pair{op::gelu_tanh, op::gelu_tanh_adjoint}}) {
      const double slope = (scalar(forward, {x + h}) - scalar(forward, {x - h})) / (2 * h);
      BOOST_CHECK_SMALL(scalar(adjoint, {x, 3}) - 3 * slope, 1e-9);
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(reductions, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(sum_and_max_give_results_in_another_axis_order) {
  test_graph t;
  // x[i, j, k] = 100 i + 10 j + k over [two, three, pair]
  const int x = t.input({two, three, pair}, {0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121});
  t.add(op::sum, {pair, two}, {x}, {three});
  check(t, {30, 330, 33, 333});
  t.add(op::max, {pair, two}, {x}, {three});
  check(t, {20, 120, 21, 121});
  t.add(op::sum, {}, {x}, {two, three, pair});
  check(t, {726});
}

BOOST_AUTO_TEST_CASE(the_sum_of_an_empty_axis_is_0_and_its_maximum_minus_infinity) {
  test_graph t;
  t.lengths.set<Length>(0);
  const int x = t.input({length, two}, {});
  t.add(op::sum, {two}, {x}, {length});
  check(t, {0, 0});
  t.add(op::max, {two}, {x}, {length});
  check(t, {-infinity, -infinity});
}

BOOST_AUTO_TEST_CASE(the_maximum_of_a_row_with_nan_is_nan) {
  test_graph t;
  t.add(op::max, {two}, {t.input({two, three}, {1, not_a_number, 3, 4, 5, 6})}, {three});
  check(t, {not_a_number, 6});
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(rows, *boost::unit_test::label("full"))

const double ln3 = std::log(3.0);

BOOST_AUTO_TEST_CASE(softmax_along_the_outer_axis_has_known_values) {
  test_graph t;
  const int x = t.input({two, three}, {0, 5, -infinity, ln3, -infinity, -infinity});
  t.add(op::softmax, {two, three}, {x}, {two});
  check(t, {0.25, 1, 0, 0.75, 0, 0});
  t.add(op::softmax, {three, two}, {x}, {two});  // and transposed
  check(t, {0.25, 0.75, 1, 0, 0, 0});
}

BOOST_AUTO_TEST_CASE(softmax_runs_over_two_axes_and_over_an_empty_axis) {
  test_graph t;
  const int x = t.input({two, pair}, {0, 0, ln3, ln3});
  t.add(op::softmax, {two, pair}, {x}, {pair, two});
  check(t, {0.125, 0.125, 0.375, 0.375});

  test_graph u;
  u.lengths.set<Length>(0);
  u.add(op::softmax, {two, length}, {u.input({two, length}, {})}, {length});
  check(u, {});
}

BOOST_AUTO_TEST_CASE(log_softmax_does_not_overflow) {
  test_graph t;
  const int x = t.input({two}, {1000, 1000 + ln3});
  t.add(op::log_softmax, {two}, {x}, {two});
  check(t, {std::log(0.25), std::log(0.75)});
}

BOOST_AUTO_TEST_CASE(normalize_subtracts_the_mean_and_divides_by_the_deviation) {
  test_graph t;
  const int x = t.input({two, pair}, {1, 10, 3, 16});
  t.add(op::normalize, {two, pair}, {x}, {two}, 0, 0);
  check(t, {-1, -1, 1, 1});
  t.add(op::normalize, {two, pair}, {x}, {two}, 0, 3);  // variance 1 and 9
  check(t, {-0.5, -3 / std::sqrt(12), 0.5, 3 / std::sqrt(12)});
}

BOOST_AUTO_TEST_CASE(rms_normalize_divides_by_the_root_mean_square) {
  test_graph t;
  const int x = t.input({two, pair}, {1, 6, 7, 8});
  t.add(op::rms_normalize, {two, pair}, {x}, {two}, 0, 0);  // mean squares 25 and 50
  check(t, {0.2, 6 / std::sqrt(50), 1.4, 8 / std::sqrt(50)});
  t.add(op::rms_normalize, {two, pair}, {x}, {two}, 0, 75);
  check(t, {0.1, 6 / std::sqrt(125), 0.7, 8 / std::sqrt(125)});
}

BOOST_AUTO_TEST_CASE(adjoints_of_softmax_and_normalize_have_known_values) {
  {
    test_graph t;  // rows along `two`; g comes transposed
    const int y = t.input({two, pair}, {0.25, 0.5, 0.75, 0.5});
    const int g = t.input({pair, two}, {1, 0, 0, 2});
    t.add(op::softmax_adjoint, {two, pair}, {y, g}, {two});
    check(t, {0.1875, -0.5, -0.1875, 0.5});
  }
  {
    test_graph t;  // g - exp(y) sum(g); g is broadcast
    const int y = t.input({two}, {std::log(0.25), std::log(0.75)});
    t.add(op::log_softmax_adjoint, {two}, {y, t.constant(3)}, {two});
    check(t, {3 - 0.25 * 6, 3 - 0.75 * 6});
  }
  {
    // Of two values at distance d from their mean, the greater becomes y = d / sqrt(d^2 + epsilon):
    // dy/dd = epsilon / (d^2 + epsilon)^(3/2), and d's derivatives by the two values are ±1/2.
    test_graph t;
    const int x = t.input({two}, {1, 3});
    const int g = t.input({two}, {1, 0});
    t.add(op::normalize_adjoint, {two}, {x, g}, {two}, 0, 3);
    check(t, {3.0 / 16, -3.0 / 16});
  }
}

namespace {

void check_slope(op normalization) {
  const doubles x{0.3, -1.2, 2.0, 0.9, 0.1, -0.7};
  const doubles g{1, -2, 0.5, 3, -1, 0.25};
  const auto loss = [&](const doubles& at) {
    test_graph t;
    t.add(normalization, {two, three}, {t.input({two, three}, at)}, {three, two}, 0, 0.1);
    const doubles y = t.run();
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * g[i];
    return sum;
  };
  test_graph t;
  t.add(weft::adjoint_of_normalization(normalization), {two, three},
        {t.input({two, three}, x), t.input({two, three}, g)}, {three, two}, 0, 0.1);
  const doubles slopes = t.run();
  const double h = 1e-5;
  for (std::size_t i = 0; i < x.size(); ++i) {
    doubles above = x, below = x;
    above[i] += h;
    below[i] -= h;
    BOOST_CHECK_SMALL(slopes[i] - (loss(above) - loss(below)) / (2 * h), 1e-8);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(adjoints_of_normalizations_match_central_differences) {
  check_slope(op::normalize);
  check_slope(op::rms_normalize);
}

BOOST_AUTO_TEST_SUITE_END()
