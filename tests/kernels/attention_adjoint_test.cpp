// The adjoint of attention on every target that this machine runs, against its formulas in double;
// and these against central differences of the forward formula.
#include "kernels/attention_adjoint_trial.hpp"

namespace {

using namespace weft::kernels;
using namespace weft::kernels::adjoint_trials;
using choice = attention_option;

constexpr band causal{PTRDIFF_MIN, 0, 0};

const std::vector<unsigned> loops_of_batch{0, no_outer, no_inner, no_outer | no_inner};
// Of some loops, and with queries that see no key.
choice masks() {
  choice all("mask without", &problem::mask,
             {std::nullopt, 0, no_query, no_key, no_query | no_key, no_outer, no_inner,
              no_outer | no_inner, no_batch | no_key});
  for (const unsigned without : {0u, no_outer + 0u})
    all.values.push_back({"mask with hidden queries", [=](problem& p) {
                            p.mask = without, p.hidden = {0, 7, 8, 19};
                          }});
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(attention_adjoint)

BOOST_AUTO_TEST_CASE(reference_agrees_with_central_differences) {
  for (const double rate : {0.0, 0.4}) {
    problem p{.batch = {2, 2},
              .query = 3,
              .key = 4,
              .depth = 3,
              .value = 2,
              .seen = {-2, 1, 1},
              .soft_cap = rate > 0 ? 0 : 1.5,
              .distances = 4,
              .origin = 2,
              .key_without = no_inner,
              .value_without = no_outer,
              .rate = rate,
              .hidden = {1}};
    for (const auto& [what, without] : optional_operands) p.*without = no_inner;
    p.mask = p.relative = no_outer;
    p.sink = no_outer | no_query;
    trial t(p);
    const expected_gradients expected(t);
    for (std::size_t n = 0; n < expected.all.size(); ++n) {
      array<float>& of = t[gradient_slots[n].gradient_of];
      const expectation& e = expected.all[n];
      for (std::size_t i = 0; i < of.memory.size(); ++i) {
        const float x = of.memory[i];
        const auto slope = [&](float h) {
          of.memory[i] = x + h;
          const double above = t.loss(), from = static_cast<double>(of.memory[i]);
          of.memory[i] = x - h;
          const double below = t.loss(), to = static_cast<double>(of.memory[i]);
          of.memory[i] = x;
          return (above - below) / (from - to);
        };
        const double at_h = slope(0x1p-10f), at_2h = slope(0x1p-9f);
        const auto j = static_cast<std::size_t>(expected.first[n]) + i;
        // The two differ by three times the error at h; 1e-10 allows for rounding.
        BOOST_TEST(std::abs(e.value[j] - at_h) <= std::abs(at_2h - at_h) + 1e-10,
                   name_of(gradient_slots[n].what) << " " << i);
        BOOST_TEST(e.is_element[j]);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(gradients_are_right_for_any_extents) {
  const choice all_values("value", &problem::value, {1, 3, 20, 32, 64, 80});
  check(pairwise<problem>({}, {crossed(choice("query", &problem::query, {1, 3, 5, 17, 100}),
                                       choice("key", &problem::key, {1, 3, 5, 17, 100})),
                               all_values, choice("depth", &problem::depth, {1, 3, 20, 32, 64, 80}),
                               choice("batch", &problem::batch, {{2}, {}, {2, 3}}), in_layouts}));
  check(pairwise<problem>({.batch = {}, .query = 9, .key = 18},
                          {choice("depth", &problem::depth, {1, 3, 20, 32, 64, 80}), all_values}));
}

BOOST_AUTO_TEST_CASE(gradients_are_right_where_an_extent_is_0) {
  check(pairwise<problem>(
      {}, and_optional_operands(
              {choice("query", &problem::query, {0, 1, 5}), choice("key", &problem::key, {0, 1, 5}),
               choice("depth", &problem::depth, {5, 0}), choice("value", &problem::value, {3, 0}),
               choice("batch", &problem::batch, {{2, 2}, {0}, {2, 0}}),
               choice("relative", &problem::relative, {std::nullopt, 0}), in_layouts,
               choice("rate", &problem::rate, {0, 0.5})},
              {0, no_inner})));
}

BOOST_AUTO_TEST_CASE(gradients_are_right_over_several_tiles) {
  check({.batch = {}, .query = 300, .key = 310});
  check({.batch = {}, .query = 310, .key = 300, .depth = 64, .value = 32});
  for (const std::ptrdiff_t offset : {0, 13})
    check({.batch = {},
           .query = 300,
           .key = 310,
           .depth = 32,
           .value = 48,
           .seen = {PTRDIFF_MIN, 0, offset}});
  check({.batch = {},
         .query = 70,
         .key = 140,
         .depth = 4,
         .value = 4,
         .mask = no_query,
         .bias = no_query});
}

// Each distance has one term per query: these are the longest sums.
BOOST_AUTO_TEST_CASE(relative_bias_gradients_are_right_where_many_queries_share_a_distance) {
  problem p{.batch = {3}, .query = 700, .key = 690, .depth = 4, .value = 4, .seen = causal};
  p.relative = no_outer | no_query;
  p.distances = 1389;
  p.origin = 699;
  check(p);
  p.distances = 3;
  p.origin = 1;
  p.bias = no_outer | no_query | no_key;
  check(p);
}

BOOST_AUTO_TEST_CASE(gradients_are_right_for_any_band) {
  std::vector<band> all = bands;
  all.insert(all.end(), {{PTRDIFF_MIN, 0, 35},
                         {-3, 4, 10},
                         {0, PTRDIFF_MAX, 0},
                         {5, 9, 0},
                         {PTRDIFF_MIN, PTRDIFF_MIN, 0},
                         {-7, 20, -9}});
  check(pairwise<problem>(
      {.depth = 8, .value = 8},
      {choice("band", &problem::seen, all), queries_and_keys({{40, 40}, {5, 60}, {60, 5}})}));
  check(pairwise<problem>(
      {.batch = {}, .query = 300, .key = 330, .depth = 8, .value = 8},
      {choice("band", &problem::seen, {{-40, 0, 0}, {-30, 30, 7}, {200, 210, 0}}), in_layouts}));
}

BOOST_AUTO_TEST_CASE(offsets_and_limits_apply_per_batch_element_or_query) {
  check(pairwise<problem>(
      {.batch = {2, 4}, .depth = 8, .value = 5},
      {crossed(limits(), queries_and_keys({{9, 9}, {5, 150}, {140, 20}, {1, 300}})),
       choice("band", &problem::seen, {{}, causal, {-3, 4, 0}, {-40, 0, 2}}), in_layouts,
       choice("mask", &problem::mask, {std::nullopt, 0}),
       choice("bias", &problem::bias, {std::nullopt, 0}),
       choice("key without", &problem::key_without, {0, no_inner})}));
}

BOOST_AUTO_TEST_CASE(gradients_are_right_for_relative_biases) {
  check(
      pairwise<problem>({.batch = {2, 2}, .depth = 4, .value = 4},
                        {queries_and_keys({{1, 1}, {1, 150}, {9, 20}, {140, 150}}), distances(),
                         choice("relative", &problem::relative,
                                {0, no_outer, no_query, no_outer | no_query, no_batch | no_query}),
                         in_layouts}));
}

// Every two values of any options.
BOOST_AUTO_TEST_CASE(options_combine) {
  check(pairwise<problem>(
      {.batch = {2, 3}, .depth = 8, .value = 5},
      and_optional_operands(
          {masks(), queries_and_keys({{5, 9}, {50, 140}, {130, 70}}), in_bands, in_layouts,
           limits(), dropouts(), relative_biases({0, no_inner, no_outer | no_query, no_query}),
           choice("soft cap", &problem::soft_cap, {0, 0.5, 4, 50}),
           choice("query without", &problem::query_without, {0, no_outer}),
           choice("key without", &problem::key_without, loops_of_batch),
           choice("value without", &problem::value_without, {0, no_inner, no_outer | no_inner}),
           choice("numbers without", &problem::numbers_without, {0, no_inner}),
           unwanted_gradients()},
          loops_of_batch)));
}

// Element ids start at each of the four words of a counter.
BOOST_AUTO_TEST_CASE(attention_weights_are_dropped_by_their_element_ids) {
  check(pairwise<problem>(
      {.batch = {2, 2}, .depth = 5, .value = 8},
      {choice("query", &problem::query, {1, 3, 17, 140}),
       choice("key", &problem::key, {1, 3, 4, 5, 6, 7, 150}), dropouts(), in_layouts,
       choice("numbers without", &problem::numbers_without, {0, no_inner}),
       choice("key without", &problem::key_without, {0, no_inner})}));
  check({.batch = {}, .query = 20, .key = 30, .depth = 5, .value = 5, .rate = 1});
}

BOOST_AUTO_TEST_CASE(partitions_give_the_same_bits_as_the_whole_call) {
  const auto all = pairwise<problem>(
      {.batch = {3, 2, 2}, .query = 17, .depth = 8, .value = 8, .distances = 9, .origin = 5},
      {crossed(choice("key", &problem::key, {20, 150, 0}),
               choice("key without", &problem::key_without, {0, 16, 32, 7 * 16})),
       choice("value without", &problem::value_without, {0, 16, 32, 7 * 16}),
       choice("bias", &problem::bias,
              {std::nullopt, 0, 16, 64, 7 * 16, no_query, 7 * 16 | no_query}),
       choice("relative", &problem::relative,
              {std::nullopt, 0, 7 * 16, no_query, 7 * 16 | no_query}),
       choice("rate", &problem::rate, {0, 0.1})});
  for (const problem& p : all) {
    const trial t(p);
    on_every_target([&](const table& kernels) {
      const gradients whole = run(t, kernels);
      for (const int parts : {2, 3, 5, 13})
        BOOST_TEST(run(t, kernels, parts).differences(whole) == "", parts << " parts of " << p);
    });
  }
}

BOOST_AUTO_TEST_CASE(the_scratch_size_is_bounded_and_never_shrinks) {
  const auto bytes = [](std::ptrdiff_t queries, std::ptrdiff_t keys, std::ptrdiff_t depth) {
    attention_call c;
    c.loops = 4;
    c.extent[0] = queries, c.extent[1] = keys, c.extent[2] = c.extent[3] = depth;
    return attention_adjoint_scratch_bytes(c);
  };
  for (std::ptrdiff_t n = 0; n < 300; ++n) {
    BOOST_TEST(bytes(n, 40, 20) <= bytes(n + 1, 40, 20));
    BOOST_TEST(bytes(40, n, 20) <= bytes(40, n + 1, 20));
    BOOST_TEST(bytes(40, 40, n) <= bytes(40, 40, n + 1));
  }
  BOOST_TEST(bytes(4096, 4096, 64) == bytes(300, 300, 64));
  BOOST_TEST(bytes(4096, 4096, 64) < 512u * 1024);
}

// Biases whose gradient is a sum over queries, over keys, and over both.
BOOST_AUTO_TEST_CASE(gradients_have_the_same_bits_on_all_targets_of_a_family) {
  check(pairwise<problem>(
      {.batch = {2, 2}},
      and_optional_operands(
          {queries_and_keys({{1, 3}, {5, 17}, {23, 140}, {140, 60}}),
           choice("depth", &problem::depth, {1, 17, 24}),
           choice("value", &problem::value, {1, 17, 24}), in_bands, relative_biases(loops_of_batch),
           in_layouts, choice("soft cap", &problem::soft_cap, {0, 3}),
           choice("rate", &problem::rate, {0, 0.4})},
          loops_of_batch)));
}

BOOST_AUTO_TEST_SUITE_END()
