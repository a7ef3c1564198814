// Generated code against the reference, alone and in modules and trainers.
#include <algorithm>
#include <array>
#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "generate/models.hpp"
#include "kernels/targets.hpp"
#include "laws/hidden_keys.hpp"
#include "support/thrown_by.hpp"
#include "support/trial.hpp"
#include "weft/generate/attention_plan.hpp"
#include "weft/generate/dot_plan.hpp"
#include "weft/generate/rows_plan.hpp"

namespace {

using namespace weft::generating;
using weft::testing::lengths, weft::testing::trial;
namespace laws = weft::testing::laws;

template <class Model, weft::fixed_string... Results>
void trial_of_generated(const weft::testing::settings& s = {}) {
  trial<weft::inference<Model, Results...>>(s, weft::generated<Model, Results...>());
}

// The number of attention instructions of a model.
template <class Model>
constexpr int attentions() {
  int n = 0;
  for (const auto& s : weft::lowered<weft::inference<Model>>::tables.instructions)
    n += s.run == weft::kernel::attention;
  return n;
}

// Weights as small as after training, so that an error bound that grows with every contraction
// stays meaningful.
weft::testing::settings of_a_layer(weft::testing::settings s = {}) {
  for (const auto* name : {"self_attn.in_proj_weight", "self_attn.out_proj.weight",
                           "linear1.weight", "linear2.weight"})
    s.ranges[name] = {-0.1, 0.1};
  for (const auto* name : {"norm1.weight", "norm2.weight"}) s.ranges[name] = {0.5, 1};
  return s;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(generated_code, *boost::unit_test::label("full"))

using products = boost::mpl::list<one, narrow, vectors, odd, wide, deep, tall>;
BOOST_AUTO_TEST_CASE_TEMPLATE(products_match_the_reference, Model, products) {
  trial_of_generated<Model>();
}

BOOST_AUTO_TEST_CASE(products_with_few_rows_use_weights_packed_before_the_run) {
  const auto& tables = weft::lowered<weft::inference<narrow, "turned">>::tables;
  BOOST_REQUIRE(tables.instructions.size() == 1u);
  const auto plan = weft::generate::plan_of_dot(weft::generate::signature_of(
      tables.instructions[0], operands_of(tables, tables.instructions[0])));
  BOOST_TEST(plan.supported);
  BOOST_TEST(!plan.packing_pays);
  BOOST_TEST(plan.packed_once);
  BOOST_TEST(plan.rhs ==
             weft::kernels::rhs_operand(call_at_bounds(tables, tables.instructions[0])));
}

using all_rows = boost::mpl::list<short_rows, vector_rows, awkward_rows, long_rows>;
BOOST_AUTO_TEST_CASE_TEMPLATE(rowwise_operations_match_the_reference, Model, all_rows) {
  trial_of_generated<Model>();
}

using all_elements = boost::mpl::list<single_element, few_elements, vectors_of_elements,
                                      awkward_elements, many_elements>;
BOOST_AUTO_TEST_CASE_TEMPLATE(elementwise_operations_match_the_reference, Model, all_elements) {
  const auto& tables = weft::lowered<weft::inference<Model>>::tables;
  for (const weft::instruction& s : tables.instructions)
    if (s.run == weft::kernel::elementwise) {
      const auto* const fused_ops = tables.fused_ops.begin() + s.first_fused;
      BOOST_TEST(
          weft::generate::plan_of_elementwise(s, operands_of(tables, s), fused_ops).supported);
    }
  trial_of_generated<Model>();
}

BOOST_AUTO_TEST_CASE(nan_and_infinities_match_the_reference) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double numbers[]{std::nan(""), 0, -0.0, inf, -inf, 0x1p-140, 1, -0.5, 2};
  weft::testing::settings s;
  for (std::size_t i = 0; i < 100; ++i) {
    s.given["x"].push_back(numbers[i < 80 ? i % 9 : i % 3 + 6]);
    s.given["y"].push_back(numbers[i / 9 % 9]);
  }
  trial_of_generated<special_elements>(s);
}

using all_attentions = boost::mpl::list<square_attention, awkward_attention, blocks_of_queries,
                                        causal_attention, single_attention>;
BOOST_AUTO_TEST_CASE_TEMPLATE(attention_matches_the_reference, Model, all_attentions) {
  if (!std::is_same_v<Model, single_attention>) BOOST_TEST(attentions<Model>() == 1);
  trial_of_generated<Model>();
}

using all_padded = boost::mpl::list<padded_attention, padded_awkward_attention,
                                    padded_single_attention, t5_attention, alibi_attention>;
BOOST_AUTO_TEST_CASE_TEMPLATE(lengths_and_biases_are_fused_into_generated_attention, Model,
                              all_padded) {
  const auto& tables = weft::lowered<weft::inference<Model>>::tables;
  BOOST_TEST(attentions<Model>() == 1);
  for (const weft::instruction& s : tables.instructions)
    if (s.run == weft::kernel::attention)
      BOOST_TEST(
          weft::generate::plan_of_attention(
              s, tables.attentions[static_cast<std::size_t>(s.attention)], operands_of(tables, s))
              .supported);
  weft::testing::settings s;
  s.ranges["lengths"] = {0, 8};
  trial_of_generated<Model>(s);
}

// Checks it of a model's generated code on every target; q, k and v are its operands.
template <class Model, class Query, class Key, class Value, class Sees, class... More>
void check_hidden_keys(std::size_t batch, Query q, Key k, Value v, Sees sees, const More&... more) {
  laws::fill(q, 1), laws::fill(k, 2), laws::fill(v, 3);
  weft::kernels::on_every_target([&](const auto&) {
    weft::module<Model> net(weft::generated<Model>());
    const auto run = [&](const Key& key, const Value& value) {
      const auto y =
          net(weft::arg<"query">(q), weft::arg<"key">(key), weft::arg<"value">(value), more...);
      return laws::elements(y);
    };
    BOOST_TEST(laws::check_that_hidden_has_no_effect(
                   {batch, Model::Query::extent, Model::Key::extent, Model::Heads::extent}, k, v,
                   {true, true}, laws::distance(Model::Key::extent, 1), run, sees) > 0u);
  });
}

using all_masked =
    boost::mpl::list<padded_attention, padded_awkward_attention, padded_single_attention>;
BOOST_AUTO_TEST_CASE_TEMPLATE(nan_in_keys_hidden_by_lengths_or_biases_does_not_reach_the_result, M,
                              all_masked) {
  using keys =
      weft::array<float, typename M::Batch, typename M::Key, typename M::Heads, typename M::Dim>;
  using queries =
      weft::array<float, typename M::Batch, typename M::Query, typename M::Heads, typename M::Dim>;
  weft::array<float, typename M::Heads, typename M::Query, typename M::Key> bias;
  laws::fill(bias, 4);
  for (std::size_t i = 0; i < bias.view().size(); i += 3) bias.view().data()[i] = -weft::infinity;
  const std::array<std::int32_t, 3> lengths{2, 0, std::numeric_limits<std::int32_t>::max()};
  check_hidden_keys<M>(
      3, queries(), keys(), keys(),
      [&](std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
        return static_cast<std::int64_t>(j) < lengths[b] && bias(h, i, j) != -weft::infinity;
      },
      weft::arg<"lengths">(lengths), weft::arg<"bias">(bias));
}

BOOST_AUTO_TEST_CASE(nan_in_keys_hidden_by_a_causal_mask_does_not_reach_the_result) {
  using m = causal_attention;
  check_hidden_keys<m>(
      1, weft::array<float, m::Query, m::Heads, m::Dim>(),
      weft::array<float, m::Key, m::Heads, m::Dim>(),
      weft::array<float, m::Key, m::Heads, m::Value>(),
      [](std::size_t, std::size_t, std::size_t i, std::size_t j) { return j <= i; });
}

BOOST_AUTO_TEST_CASE(lengths_may_be_the_extreme_values_of_int32) {
  weft::testing::settings s;
  s.given["lengths"] = {std::numeric_limits<std::int32_t>::max(),
                        std::numeric_limits<std::int32_t>::min(), 0x1000001};
  trial_of_generated<padded_attention>(s);
  trial_of_generated<padded_awkward_attention>(s);
}

using all_turning = boost::mpl::list<turning_vectors, turning_few, turning_awkward>;
BOOST_AUTO_TEST_CASE_TEMPLATE(embeddings_and_rotations_match_the_reference, Model, all_turning) {
  int gathers = 0, rotations = 0;
  const auto& tables = weft::lowered<weft::inference<Model>>::tables;
  for (const weft::instruction& s : tables.instructions) {
    if (s.run == weft::kernel::gather) {
      ++gathers;
      BOOST_TEST(weft::generate::plan_of_gather(s, operands_of(tables, s)).supported);
    }
    if (s.run == weft::kernel::rotate) {
      ++rotations;
      BOOST_TEST(weft::generate::plan_of_rotate(s, operands_of(tables, s)).supported);
    }
  }
  BOOST_TEST(gathers == 1);
  BOOST_TEST(rotations >= 2);  // rotating all pairs as a part is the same operation
  weft::testing::settings s;
  s.ranges["tokens"] = {0, 12};
  trial_of_generated<Model>(s);
}

BOOST_AUTO_TEST_CASE(generated_gathers_refuse_computed_indices_that_lie_outside) {
  constexpr const auto& tables = weft::lowered<weft::inference<computed_rows>>::tables;
  constexpr auto is_gather = [](const weft::instruction& s) {
    return weft::generate::plan_of_gather(s, operands_of(tables, s)).supported;
  };
  static_assert(std::any_of(tables.instructions.begin(), tables.instructions.end(), is_gather));
  weft::module<computed_rows> net(weft::generated<computed_rows>());
  const auto run = [&](std::int32_t i) {
    return net(weft::arg<"i">(std::array{i, 1, 0}))(0u, 19u);
  };
  const float last = run(2);
  weft::testing::refuses([&] { run(3); },
                         "a computed index is 6, and an index into axis Vocab is less than 5");
  BOOST_TEST(run(2) == last);
}

BOOST_AUTO_TEST_CASE(a_layer_of_fixed_extents_matches_the_reference) {
  trial_of_generated<fixed_encoder, "y">(of_a_layer());
}

BOOST_AUTO_TEST_CASE(a_layer_of_bounded_length_matches_the_reference) {
  for (const std::size_t n : {0u, 1u, 5u, 9u})
    trial_of_generated<bounded_encoder, "y">(of_a_layer(lengths<bounded_encoder::Pos>(n)));
}

BOOST_AUTO_TEST_CASE(states_work_with_generated_instructions) {
  BOOST_TEST(attentions<decoding_step>() == 1);
  weft::testing::settings s;
  s.ranges["length"] = {0, 8};
  trial_of_generated<decoding_step>(s);
}

BOOST_AUTO_TEST_CASE(generated_instructions_use_invariant_values) {
  static_assert(weft::cost<fixed_waves>.once.flops > 0);
  trial_of_generated<fixed_waves>();
  for (const std::size_t n : {0u, 1u, 5u, 9u})
    trial_of_generated<bounded_waves>(lengths<bounded_waves::Pos>(n));
}

BOOST_AUTO_TEST_CASE(invariant_values_outlive_generated_runs) {
  const weft::parameters<bounded_waves> parameters({.seed = 1});
  weft::module<bounded_waves> net(parameters, weft::generated<bounded_waves>());
  const auto y = [](auto& module, std::size_t length) {
    const weft::array<float, bounded_waves::Batch, bounded_waves::Pos, bounded_waves::Embed> x(
        length);
    const auto v = module(weft::arg<"x">(x)).template get<"y">();
    std::vector<float> all;
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t t = 0; t < length; ++t)
        for (std::size_t e = 0; e < 6; ++e) all.push_back(v(b, t, e));
    return all;
  };
  for (const std::size_t n : {9u, 0u, 3u, 9u, 1u}) {
    weft::module<bounded_waves> fresh(parameters, weft::generated<bounded_waves>());
    BOOST_TEST((y(net, n) == y(fresh, n)));
    net.reset();
  }
}

BOOST_AUTO_TEST_CASE(programs_with_loops_match_the_reference) {
  for (const std::size_t n : {0u, 1u, 4u}) {
    auto s = lengths<recurrent::Pos>(n);
    s.ranges["weight_hh_l0"] = {-0.2, 0.2};
    trial<weft::training<recurrent, "loss">>(s, weft::generated_training<recurrent>());
  }
}

BOOST_AUTO_TEST_CASE(inputs_that_simplification_leaves_unused_remain_inputs) {
  static_assert(weft::inference<simplified_away>::g.input_count == 3);
  static_assert(weft::training<simplified_away, "loss">::g.input_count == 3);
  for (const std::size_t n : {0u, 1u, 5u}) {
    const auto s = lengths<simplified_away::Rows>(n);
    trial_of_generated<simplified_away>(s);
    trial<weft::training<simplified_away, "loss">>(s, weft::generated_training<simplified_away>());
  }
}

BOOST_AUTO_TEST_CASE(gradients_match_the_reference) {
  trial<weft::training<perceptron, "loss">>({}, weft::generated_training<perceptron>());
  trial<weft::training<held_perceptron, "loss">>({}, weft::generated_training<held_perceptron>());
}

BOOST_AUTO_TEST_SUITE_END()
