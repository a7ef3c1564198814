// Leaves, views, contractions and what reads by index: operations of the reference against values
// computed by hand.
#include "reference/test_graph.hpp"

using namespace weft::testing;
using weft::dtype, weft::node, weft::op;

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
