// The adjoint of attention on every target that this machine runs, against its formulas in double;
// and these against central differences of the forward formula.
#include "kernels/attention_adjoint_trial.hpp"

namespace {

using namespace weft::kernels;
using namespace weft::kernels::adjoint_trials;

// Bits of two batch loops.
constexpr unsigned outer = 1, inner = 2;

constexpr band causal{PTRDIFF_MIN, 0, 0};

}  // namespace

BOOST_AUTO_TEST_SUITE(attention_adjoint)

BOOST_AUTO_TEST_CASE(reference_agrees_with_central_differences) {
  problem p{{2, 2}, 3, 4, 3, 2};
  p.key_without = inner;
  p.value_without = outer;
  p.mask_without = outer;
  p.bias_without = inner;
  p.soft_cap = 1.5;
  p.seen = {-2, 1, 1};
  p.hidden = {1};
  p.relative_without = outer;
  p.distances = 4;
  p.origin = 2;
  for (double rate : {0.0, 0.4}) {
    if (rate > 0) p.soft_cap = 0;
    p.rate = rate;
    trial t(p);
    gradients memory(t);
    const expected_gradients expected(t, memory);
    const auto check_all = [&](array<float>& of, const expectation& e, const array<float>& g) {
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
        const auto j = static_cast<std::size_t>(g.first) + i;
        // The two differ by three times the error at h; 1e-10 allows for rounding.
        BOOST_TEST(std::abs(e.value[j] - at_h) <= std::abs(at_2h - at_h) + 1e-10);
        BOOST_TEST(e.is_element[j]);
      }
    };
    check_all(t.query, expected.query, memory.query);
    check_all(t.key, expected.key, memory.key);
    check_all(t.value, expected.value, memory.value);
    check_all(t.bias, expected.bias, memory.bias);
    check_all(t.relative, expected.relative, memory.relative);
  }
}

BOOST_AUTO_TEST_CASE(gradients_are_right_for_any_extents) {
  for (std::ptrdiff_t queries : {0, 1, 3, 5, 17, 100})
    for (std::ptrdiff_t keys : {0, 1, 3, 5, 17, 100}) check({{2}, queries, keys, 5, 3});
  for (std::ptrdiff_t depth : {0, 1, 3, 20, 32, 64, 80})
    for (std::ptrdiff_t values : {0, 1, 20, 32, 64, 80}) check({{}, 9, 18, depth, values});
  check({{0}, 3, 4, 5, 6});
  check({{2, 0}, 3, 4, 5, 6, layout::contiguous, 0, inner, inner});
}

BOOST_AUTO_TEST_CASE(gradients_are_right_over_several_tiles) {
  check({{}, 300, 310, 20, 20});
  check({{}, 310, 300, 64, 32});
  for (std::ptrdiff_t offset : {0, 13}) {
    problem p{{}, 300, 310, 32, 48};
    p.seen = {PTRDIFF_MIN, 0, offset};
    check(p);
  }
}

BOOST_AUTO_TEST_CASE(gradients_are_right_in_any_layout) {
  for (layout how : layouts)
    for (band seen : {band{}, causal}) {
      problem p{{2, 3}, 17, 20, 20, 18, how};
      p.seen = seen;
      p.mask_without = 0;
      p.bias_without = 0;
      check(p);
    }
}

BOOST_AUTO_TEST_CASE(gradients_are_right_for_masks_and_biases_broadcast_over_any_loops) {
  for (unsigned without = 0; without < 16; ++without) {
    problem p{{2, 2}, 10, 35, 4, 4};
    p.mask_without = without;
    check(p);
    p.bias_without = 15 - without;
    check(p);
    p.mask_without = absent;
    check(p);
  }
  problem long_rows{{}, 70, 140, 4, 4};
  long_rows.mask_without = long_rows.bias_without = 1;  // indexed by keys alone
  check(long_rows);
}

BOOST_AUTO_TEST_CASE(queries_without_a_visible_key_have_zero_gradients) {
  problem p{{2, 2}, 20, 40, 8, 8};
  p.mask_without = 0;
  p.hidden = {0, 7, 8, 19};
  check(p);
  p.bias_without = 0;
  p.soft_cap = 3;
  check(p);
}

// The query's bit, after those of two batch loops.
constexpr unsigned query = 4;

// Tables of all distances, of some, of one, and tables whose range no distance falls into.
BOOST_AUTO_TEST_CASE(gradients_are_right_for_relative_biases) {
  int next = 0;
  for (auto [queries, keys] : {std::pair<std::ptrdiff_t, std::ptrdiff_t>{0, 4},
                               {4, 0},
                               {1, 1},
                               {1, 150},
                               {9, 20},
                               {140, 150}})
    for (auto [distances, origin] :
         {std::pair{std::max<std::ptrdiff_t>(1, queries + keys - 1), queries - 1},
          {33, 16},
          {2, 0},
          {1, 0},
          {40, 39},
          {9, -50},
          {20, 700}})
      for (unsigned without : {0u, outer, query, outer | query, outer | inner | query}) {
        problem p{{2, 2}, queries, keys, 4, 4, layouts[next++ % 4]};
        p.relative_without = without;
        p.distances = distances;
        p.origin = origin;
        check(p);
      }
}

BOOST_AUTO_TEST_CASE(relative_biases_combine_with_all_other_options) {
  const std::vector<std::int32_t> numbers{7, 0, 40, -3, 1000, 130};
  int next = 0;
  for (unsigned without : {0u, inner, outer | query})
    for (const band& seen : {band{}, causal, band{-3, 4, 0}, band{-40, 0, 2}, band{2, 1, 0}})
      for (double cap : {0.0, 2.0}) {
        problem p{{2, 3}, 50, 140, 8, 5, layouts[next % 4]};
        p.relative_without = without;
        p.distances = 21;
        p.origin = 12;
        p.seen = seen;
        p.soft_cap = cap;
        if (next % 2 == 0) p.bias_without = static_cast<unsigned>(next % 16);
        if (next % 3 == 0) p.mask_without = 0, p.hidden = {0, 7};
        if (next % 4 < 2) p.offset = numbers;
        if (next % 5 < 2) p.lengths = numbers;
        p.key_without = next % 2 == 0 ? inner : 0;
        p.wants_bias = next % 7 != 0;
        p.wants_relative = next++ % 7 != 2;
        check(p);
      }
}

BOOST_AUTO_TEST_CASE(gradients_of_sinks_are_right_with_all_other_options) {
  const std::vector<std::int32_t> numbers{7, 0, 40, -3, 1000, 130};
  int next = 0;
  for (unsigned without : {0u, outer, inner, outer | inner, query, outer | query})
    for (const auto& [queries, keys] : {std::pair{1, 1}, {0, 3}, {3, 0}, {5, 300}, {140, 150}})
      for (const band& seen : {band{}, causal, band{-3, 4, 0}}) {
        problem p{{2, 3}, queries, keys, 8, 5, layouts[next % 4]};
        p.sink_without = without;
        p.seen = seen;
        if (next % 2 == 0) p.bias_without = static_cast<unsigned>(next % 16);
        if (next % 3 == 0 && queries > 0) p.mask_without = 0, p.hidden = {0};
        if (next % 4 < 2) p.offset = numbers;
        if (next % 5 < 2) p.lengths = numbers;
        if (next % 6 < 2) p.soft_cap = 2;
        if (next % 7 == 0) p.rate = 0.2;
        p.wants_sink = next++ % 9 != 0;
        check(p);
      }
}

// Each distance has one term per query: these are the longest sums.
BOOST_AUTO_TEST_CASE(relative_bias_gradients_are_right_where_many_queries_share_a_distance) {
  problem p{{3}, 700, 690, 4, 4};
  p.relative_without = 1 | 2;
  p.distances = 1389;
  p.origin = 699;
  p.seen = causal;
  check(p);
  p.distances = 3;
  p.origin = 1;
  p.bias_without = 1 | 2 | 4;
  check(p);
}

BOOST_AUTO_TEST_CASE(gradients_are_right_for_any_band) {
  for (auto [queries, keys] : {std::pair<std::ptrdiff_t, std::ptrdiff_t>{40, 40}, {5, 60}, {60, 5}})
    for (const band& seen :
         {causal, band{PTRDIFF_MIN, 0, 35}, band{PTRDIFF_MIN, -2, 0}, band{-3, 0, 0},
          band{-3, 4, 10}, band{0, PTRDIFF_MAX, 0}, band{5, 9, 0}, band{2, 1, 0}, band{0, 0, 0},
          band{PTRDIFF_MIN, PTRDIFF_MIN, 0}, band{-7, 20, -9}}) {
      problem p{{2}, queries, keys, 8, 8};
      p.seen = seen;
      check(p);
    }
  for (const band& seen : {band{-40, 0, 0}, band{-30, 30, 7}, band{200, 210, 0}}) {
    problem p{{}, 300, 330, 8, 8};
    p.seen = seen;
    check(p);
  }
}

BOOST_AUTO_TEST_CASE(offsets_and_lengths_apply_per_batch_element) {
  const std::vector<std::int32_t> numbers{
      7, 0, 40, -3, 1000, std::numeric_limits<std::int32_t>::max(), 130, 1};
  int next = 0;
  for (auto [queries, keys] :
       {std::pair<std::ptrdiff_t, std::ptrdiff_t>{9, 9}, {5, 150}, {140, 20}, {1, 300}})
    for (const band& seen : {band{}, causal, band{-3, 4, 0}, band{-40, 0, 2}}) {
      problem p{{2, 4}, queries, keys, 8, 5, layouts[next++ % 4]};
      p.seen = seen;
      p.lengths = numbers;
      check(p);
      p.offset = numbers;
      p.key_without = inner;
      p.mask_without = 0;
      check(p);
      p.lengths.clear();
      check(p);
    }
}

BOOST_AUTO_TEST_CASE(each_query_sees_the_keys_within_its_limits) {
  const std::vector<std::int32_t> some{20, 0, 4, -3, 1000, 7, 130},
      others{25, 3, 10, 2000, 1100, std::numeric_limits<std::int32_t>::max(), 131, -5, 60};
  int next = 0;
  for (auto [queries, keys] :
       {std::pair<std::ptrdiff_t, std::ptrdiff_t>{9, 9}, {5, 150}, {140, 20}, {1, 300}})
    for (const band& seen : {band{}, causal, band{-3, 4, 0}}) {
      problem p{{2, 3}, queries, keys, 8, 5, layouts[next++ % 4]};
      p.seen = seen;
      p.begins = some;
      p.lengths = others;
      p.for_each_query = true;
      check(p);
      p.bias_without = 0;
      p.lengths.clear();
      check(p);
      p.for_each_query = false;
      check(p);
    }
}

BOOST_AUTO_TEST_CASE(gradients_are_right_with_a_soft_cap) {
  for (double cap : {0.5, 4.0, 50.0}) {
    problem p{{2}, 40, 35, 32, 16};
    p.soft_cap = cap;
    check(p);
    p.bias_without = 0;
    p.seen = causal;
    check(p);
  }
}

// Element ids are consecutive along the keys, starting at each of the four words of a counter, or
// along another loop.
BOOST_AUTO_TEST_CASE(attention_weights_are_dropped_by_their_element_ids) {
  int next = 0;
  for (std::ptrdiff_t queries : {0, 1, 3, 17, 140})
    for (std::ptrdiff_t keys : {0, 1, 3, 4, 5, 6, 7, 150})
      for (layout numbered : layouts) {
        problem p{{2, 2}, queries, keys, 5, 8, layouts[next % 4]};
        p.numbered = numbered;
        p.rate = std::vector<double>{0.1, 0.5, 0.9}[static_cast<std::size_t>(next) % 3];
        p.numbers_without = next % 5 == 0 ? inner : 0;
        if (next % 3 == 0) p.key_without = inner;
        if (next % 4 == 0) p.soft_cap = 2;
        if (next % 5 < 2) p.seen = causal;
        if (next % 7 < 2) p.mask_without = 0;
        if (next % 7 == 2) p.bias_without = outer;
        if (next++ % 7 == 3) p.relative_without = 0, p.distances = 9, p.origin = 4;
        check(p);
      }
  problem all_of_them{{}, 20, 30, 5, 5};
  all_of_them.rate = 1;
  check(all_of_them);
}

BOOST_AUTO_TEST_CASE(gradients_of_shared_operands_are_summed_over_heads) {
  for (unsigned query : {0u, outer})
    for (unsigned key : {0u, outer, inner, outer | inner})
      for (unsigned value : {0u, inner, outer | inner}) {
        problem p{{3, 2}, 9, 17, 8, 5};
        p.query_without = query;
        p.key_without = key;
        p.value_without = value;
        check(p);
      }
  problem p{{2, 2}, 20, 150, 8, 8};
  p.query_without = outer;
  p.key_without = inner;
  p.seen = {-30, 0, 100};
  check(p);
}

BOOST_AUTO_TEST_CASE(partitions_give_the_same_bits_as_the_whole_call) {
  problem p{{3, 2, 2}, 17, 20, 8, 8};
  for (unsigned without : {0u, 1u, 2u, 7u}) {
    p.key_without = without;
    p.value_without = without;
    const trial t(p);
    on_every_target([&](const table& kernels) {
      const gradients whole = run(t, kernels);
      for (int parts : {2, 3, 5, 13}) BOOST_TEST(run(t, kernels, parts).differences(whole) == "");
    });
  }
  for (unsigned without : {0u, 1u, 4u, 7u, 8u, 15u}) {
    problem with_biases{{3, 2, 2}, 17, 20, 8, 8};
    with_biases.bias_without = without;
    with_biases.relative_without = 15u - without;
    with_biases.distances = 9;
    with_biases.origin = 5;
    const trial t(with_biases);
    on_every_target([&](const table& kernels) {
      const gradients whole = run(t, kernels);
      for (int parts : {2, 5, 13}) BOOST_TEST(run(t, kernels, parts).differences(whole) == "");
    });
  }
  problem with_dropout{{3, 2, 2}, 17, 150, 8, 8};
  with_dropout.key_without = 2;
  with_dropout.rate = 0.1;
  const trial dropped(with_dropout);
  on_every_target([&](const table& kernels) {
    const gradients whole = run(dropped, kernels);
    for (int parts : {2, 3}) BOOST_TEST(run(dropped, kernels, parts).differences(whole) == "");
  });
  problem without_keys{{2}, 3, 0, 4, 4};
  without_keys.relative_without = 1;
  without_keys.bias_without = 2;
  const trial nothing(without_keys);
  on_every_target([&](const table& kernels) {
    BOOST_TEST(run(nothing, kernels, 3).differences(run(nothing, kernels)) == "");
  });
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

BOOST_AUTO_TEST_SUITE_END()
