// Each operation of the reference interpreter against values computed by hand. Axes have orders
// that the DSL does not produce, as in gradients.
#include "reference/evaluate.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <memory>

#include "support/axes.hpp"
#include "support/operands.hpp"
#include "weft/axes/axis.hpp"

namespace {

using weft::axis_info, weft::axis_list, weft::dtype, weft::node, weft::op;
using doubles = std::vector<double>;
using weft::testing::Two, weft::testing::Three, weft::testing::Five, weft::testing::Six;

struct Pair : weft::axis<2> {};
struct Length : weft::axis<weft::up_to<4>> {};
struct Role : weft::alias<Length> {};
struct Rest : weft::axis<weft::up_to<3>> {};
struct Long : weft::axis<weft::up_to<8>> {};
struct Whole : weft::axis<weft::up_to<9>> {};

constexpr const axis_info* two = &weft::info_of<Two>;
constexpr const axis_info* pair = &weft::info_of<Pair>;
constexpr const axis_info* three = &weft::info_of<Three>;
constexpr const axis_info* five = &weft::info_of<Five>;
constexpr const axis_info* six = &weft::info_of<Six>;
constexpr const axis_info* length = &weft::info_of<Length>;
constexpr const axis_info* role = &weft::info_of<Role>;
constexpr const axis_info* rest = &weft::info_of<Rest>;
constexpr const axis_info* longer = &weft::info_of<Long>;
constexpr const axis_info* whole = &weft::info_of<Whole>;

constexpr double infinity = std::numeric_limits<double>::infinity();
const double not_a_number = std::numeric_limits<double>::quiet_NaN();

using list = std::initializer_list<const axis_info*>;

axis_list axes(list all) {
  axis_list l{};
  for (const auto* axis : all) l.push(axis);
  return l;
}

// A graph that is built node by node, with the lengths and values that it is run with.
struct test_graph {
  std::unique_ptr<weft::graph> g = std::make_unique<weft::graph>();
  weft::reference::lengths lengths;
  weft::reference::bindings given;

  int input(list over, doubles data) {
    return leaf(op::input, over, data, g->inputs, g->input_count, given.inputs);
  }
  int parameter(list over, doubles data) {
    return leaf(op::parameter, over, data, g->parameters, g->parameter_count, given.parameters);
  }
  int constant(double value) {
    node n = make_node(op::constant);
    constant_value(n) = value;
    return emit(n);
  }
  int add(op kind, list over, std::initializer_list<int> operands, list named = {},
          std::int64_t start = 0, double scalar = 0, dtype type = dtype::float32) {
    node n = make_node(kind, axes(named));
    n.type = type;
    n.axes = axes(over);
    for (const int id : operands) weft::testing::add_operand(n, id);
    n.start = start;
    n.scalar = scalar;
    return emit(n);
  }
  int emit(const node& n) {
    g->nodes[g->count] = n;
    return g->count++;
  }
  weft::name_ref name(std::string_view s) {
    const weft::name_ref r{g->text_size, static_cast<int>(s.size())};
    std::copy(s.begin(), s.end(), g->own_text + r.begin);
    g->text_size += r.size;
    return r;
  }
  // The values of the last node.
  doubles run() const { return weft::reference::evaluate(*g, lengths, given).back().data; }

 private:
  int leaf(op kind, list over, doubles data, weft::leaf* leaves, int& count,
           weft::reference::bindings::map& bound) {
    const std::string own_name = "leaf" + std::to_string(g->count);
    node n = make_node(kind);
    n.axes = axes(over);
    n.leaf = count;
    leaves[count++] = {name(own_name), g->count, {}, 0, {}};
    bound[own_name] = data;
    return emit(n);
  }
};

void check(const test_graph& t, const doubles& expected) {
  const doubles got = t.run();
  BOOST_TEST_REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool same = std::isnan(expected[i])
                          ? std::isnan(got[i])
                          : got[i] == expected[i] || std::abs(got[i] - expected[i]) < 1e-12;
    BOOST_TEST(same, "element " << i << ": " << got[i] << ", expected " << expected[i]);
  }
}

// The value of an elementwise operation on scalars.
double scalar(op kind, doubles operands, dtype type = dtype::float32) {
  test_graph t;
  node n = make_node(kind);
  n.type = type;
  for (const double x : operands) weft::testing::add_operand(n, t.constant(x));
  t.emit(n);
  return t.run().at(0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(leaves, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(inputs_are_stored_at_their_lengths_and_parameters_at_their_bounds) {
  test_graph t;
  t.lengths.set<Length>(3);
  t.input({two, length}, {1, 2, 3, 4, 5, 6});
  check(t, {1, 2, 3, 4, 5, 6});
  t.parameter({two, length}, {0, 1, 2, 3, 4, 5, 6, 7});
  check(t, {0, 1, 2, 4, 5, 6});
  t.parameter({role, two}, {0, 1, 2, 3, 4, 5, 6, 7});
  check(t, {0, 1, 2, 3, 4, 5});
}

BOOST_AUTO_TEST_CASE(at_bound_pads_values_with_zeros) {
  weft::reference::lengths n;
  n.set<Length>(1);
  const auto v = weft::reference::at_bound({{7, 8}}, axes({two, length}), n);
  BOOST_TEST((v.data == doubles{7, 0, 0, 0, 8, 0, 0, 0}));
}

BOOST_AUTO_TEST_CASE(missing_inputs_wrong_sizes_and_wrong_lengths_are_refused) {
  test_graph t;
  t.input({three}, {1, 2});
  BOOST_CHECK_THROW(t.run(), std::invalid_argument);
  t.given.inputs.clear();
  BOOST_CHECK_THROW(t.run(), std::invalid_argument);
  BOOST_CHECK_THROW(t.lengths.set<Length>(5), std::invalid_argument);
  BOOST_CHECK_THROW(t.lengths.set<Three>(2), std::invalid_argument);
  t.lengths.set<Length>(2);
  BOOST_CHECK_THROW(t.lengths.set<Role>(3), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(a_constant_has_its_value) {
  test_graph t;
  t.constant(2.5);
  check(t, {2.5});
}

BOOST_AUTO_TEST_CASE(results_and_gradients_are_found_by_name) {
  test_graph t;
  const int a = t.constant(1), b = t.constant(2);
  t.g->outputs[t.g->output_count++] = {weft::output_kind::result, t.name("w"), a, -1};
  t.g->outputs[t.g->output_count++] = {weft::output_kind::gradient, t.name("w"), b, 0};
  const auto all = weft::reference::evaluate(*t.g, t.lengths, t.given);
  BOOST_TEST(weft::reference::result(*t.g, all, "w").data[0] == 1);
  BOOST_TEST(weft::reference::gradient(*t.g, all, "w").data[0] == 2);
  BOOST_CHECK_THROW(weft::reference::result(*t.g, all, "v"), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(views, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(rename_keeps_the_elements) {
  test_graph t;
  t.lengths.set<Length>(2);
  const int x = t.input({three, length}, {1, 2, 3, 4, 5, 6});
  t.add(op::rename, {three, role}, {x}, {length});
  check(t, {1, 2, 3, 4, 5, 6});
}

BOOST_AUTO_TEST_CASE(split_makes_an_outer_and_an_inner_axis) {
  test_graph t;
  const int x = t.input({six, two}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const int apart = t.add(op::split, {three, pair, two}, {x}, {three, pair});
  t.add(op::sum, {three, two}, {apart}, {pair});
  check(t, {2, 4, 10, 12, 18, 20});
}

BOOST_AUTO_TEST_CASE(split_gives_the_outer_axis_its_length) {
  test_graph t;
  t.lengths.set<Long>(6);
  const int x = t.input({longer}, {0, 1, 2, 3, 4, 5});
  const int apart = t.add(op::split, {length, two}, {x}, {length, two});
  t.add(op::sum, {two}, {apart}, {length});
  check(t, {6, 9});
  BOOST_TEST(weft::reference::complete(*t.g, t.lengths)(role) == 3u);
  t.lengths = {};
  t.lengths.set<Long>(5);
  BOOST_CHECK_THROW(weft::reference::complete(*t.g, t.lengths), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(merge_of_noncontiguous_or_reversed_axes_reorders_the_elements) {
  test_graph t;
  // x[i, j, k] = 100 i + 10 j + k over [pair, three, two], merged with `two` outermost. The new
  // axis takes the position of `two`.
  const int x = t.input({pair, three, two}, {0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121});
  t.add(op::merge, {pair, six}, {x}, {two, three});
  check(t, {0, 10, 20, 1, 11, 21, 100, 110, 120, 101, 111, 121});

  test_graph u;
  const int y = u.input({three, pair, two}, {0, 1, 10, 11, 100, 101, 110, 111, 200, 201, 210, 211});
  u.add(op::merge, {six, pair}, {y}, {three, two});
  check(u, {0, 10, 1, 11, 100, 110, 101, 111, 200, 210, 201, 211});
}

BOOST_AUTO_TEST_CASE(merge_gives_the_new_axis_its_length) {
  test_graph t;
  t.lengths.set<Length>(3);
  const int x = t.input({length, two}, {0, 1, 2, 3, 4, 5});
  t.add(op::merge, {longer}, {x}, {length, two});
  check(t, {0, 1, 2, 3, 4, 5});
}

BOOST_AUTO_TEST_CASE(slice_takes_the_elements_from_its_start) {
  test_graph t;
  const int x = t.input({two, five}, {0, 1, 2, 3, 4, 10, 11, 12, 13, 14});
  t.add(op::slice, {two, three}, {x}, {five}, 1);
  check(t, {1, 2, 3, 11, 12, 13});
}

BOOST_AUTO_TEST_CASE(slice_of_a_run_time_length_takes_the_remainder) {
  test_graph t;
  t.lengths.set<Length>(3);
  const int x = t.input({length, two}, {0, 1, 10, 11, 20, 21});
  t.add(op::slice, {rest, two}, {x}, {length}, 1);
  check(t, {10, 11, 20, 21});
}

BOOST_AUTO_TEST_CASE(slice_starts_after_the_lengths_of_its_named_axes) {
  test_graph t;  // as concatenate's adjoint does: from Length + 1 on
  t.lengths.set<Whole>(5);
  t.lengths.set<Length>(2);
  t.lengths.set<Rest>(2);
  const int x = t.input({whole}, {0, 1, 2, 3, 4});
  t.add(op::slice, {rest}, {x}, {whole, length}, 1);
  check(t, {3, 4});
}

BOOST_AUTO_TEST_CASE(slice_beyond_the_end_is_refused) {
  test_graph t;
  t.lengths.set<Length>(2);
  const int x = t.input({length}, {0, 1});
  t.add(op::slice, {two}, {x}, {length}, 1);
  BOOST_CHECK_THROW(t.run(), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(sources, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(positions_count_from_0_and_length_multiplies_lengths) {
  test_graph t;
  t.lengths.set<Length>(3);
  t.add(op::positions, {role}, {}, {}, 0, 0, dtype::int32);
  check(t, {0, 1, 2});
  t.add(op::length, {}, {}, {length, two});
  check(t, {6});
}

BOOST_AUTO_TEST_SUITE_END()

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

BOOST_AUTO_TEST_CASE(adjoints_of_normalisations_match_central_differences) {
  check_slope(op::normalize);
  check_slope(op::rms_normalize);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(contraction, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(a_batched_product_accepts_any_axis_order) {
  test_graph t;
  // result[i, b] = sum over k of left[k, b, i] right[b, k]
  const int left = t.input({two, pair, three}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const int right = t.input({pair, two}, {1, 10, 100, 1000});
  t.add(op::dot, {three, pair}, {left, right});
  check(t, {71, 10400, 82, 11500, 93, 12600});
}

BOOST_AUTO_TEST_CASE(a_contraction_of_all_axes_gives_a_scalar) {
  test_graph t;
  const int left = t.input({two, three}, {1, 2, 3, 4, 5, 6});
  const int right = t.input({three, two}, {1, 10, 100, 0, 0, 1000});
  t.add(op::dot, {}, {left, right});
  check(t, {1 + 40 + 200 + 6000});
}

BOOST_AUTO_TEST_CASE(an_axis_that_one_operand_lacks_is_summed_all_the_same) {
  test_graph t;
  const int left = t.input({two, three}, {1, 2, 3, 4, 5, 6});
  t.add(op::dot, {two}, {left, t.constant(2)});
  check(t, {12, 30});
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(by_index, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(gather_picks_rows_and_gives_0_for_indices_out_of_range) {
  test_graph t;
  const int table = t.input({two, three}, {1, 2, 3, 10, 20, 30});
  const int indices = t.input({five}, {2, 0, -1, 3, 1});
  t.add(op::gather, {five, two}, {table, indices}, {three});
  check(t, {3, 30, 1, 10, 0, 0, 0, 0, 2, 20});
}

BOOST_AUTO_TEST_CASE(gather_matches_a_shared_axis) {
  test_graph t;  // as the log probability of a target: one of three for each of two
  const int table = t.input({three, two}, {1, 2, 10, 20, 100, 200});
  const int indices = t.input({two}, {2, 1});
  t.add(op::gather, {two}, {table, indices}, {three});
  check(t, {100, 20});
}

BOOST_AUTO_TEST_CASE(gather_gives_0_beyond_the_run_time_length) {
  test_graph t;
  t.lengths.set<Length>(2);
  const int table = t.parameter({length}, {1, 2, 3, 4});
  t.add(op::gather, {three}, {table, t.input({three}, {1, 2, 0})}, {length});
  check(t, {2, 0, 1});
}

BOOST_AUTO_TEST_CASE(scatter_add_sums_rows_and_drops_indices_out_of_range) {
  test_graph t;
  const int g = t.input({five, two}, {1, 10, 2, 20, 3, 30, 4, 40, 5, 50});
  const int indices = t.input({five}, {2, 0, -1, 3, 2});
  t.add(op::scatter_add, {two, three}, {g, indices}, {three});
  check(t, {2, 0, 6, 20, 0, 60});
}

BOOST_AUTO_TEST_CASE(scatter_add_broadcasts_a_scalar_along_a_shared_axis) {
  test_graph t;
  const int indices = t.input({two}, {2, 1});
  t.add(op::scatter_add, {three, two}, {t.constant(7), indices}, {three});
  check(t, {0, 0, 0, 7, 7, 0});
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(together, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(concatenate_joins_operands_of_any_axis_order) {
  test_graph t;
  t.lengths.set<Length>(2);
  t.lengths.set<Rest>(1);
  const int a = t.input({two, length}, {1, 2, 3, 4});
  const int b = t.input({rest, two}, {5, 6});  // the other axes in another order
  t.add(op::concatenate, {two, whole}, {a, b, a}, {length, rest, length});
  check(t, {1, 2, 5, 1, 2, 3, 4, 6, 3, 4});
  BOOST_TEST(weft::reference::complete(*t.g, t.lengths)(whole) == 5u);
}

BOOST_AUTO_TEST_CASE(pad_surrounds_its_operand_with_zeros) {
  test_graph t;
  const int x = t.input({three, two}, {1, 10, 2, 20, 3, 30});
  t.add(op::pad, {five, two}, {x}, {five}, 1);
  check(t, {0, 0, 1, 10, 2, 20, 3, 30, 0, 0});
  t.add(op::pad, {two, five}, {x}, {five}, 2);
  check(t, {0, 0, 1, 2, 3, 0, 0, 10, 20, 30});
}

BOOST_AUTO_TEST_CASE(pad_starts_after_the_lengths_of_its_named_axes) {
  test_graph t;
  t.lengths.set<Whole>(4);
  t.lengths.set<Length>(2);
  t.add(op::pad, {whole}, {t.input({two}, {7, 8})}, {whole, length}, 0);
  check(t, {0, 0, 7, 8});
}

BOOST_AUTO_TEST_SUITE_END()
