#include "weft/kernels/attention.hpp"

#include "kernels/attention_trial.hpp"

using namespace weft;
using namespace weft::kernels;
using namespace weft::kernels::attention_trials;

namespace {

using choice = attention_option;

const optional_loops any_loops{std::nullopt,
                               0,
                               no_query,
                               no_key,
                               no_batch,
                               no_query | no_key,
                               no_query | no_batch,
                               no_key | no_batch,
                               no_query | no_key | no_batch};
const std::vector<unsigned> loops_of_batch{0, no_batch};
const std::vector<unsigned> loops_of_relative{0, no_query, no_batch, no_query | no_batch};

// Heads that share keys and values.
const choice shared_keys(std::vector<choice::value>{
    {"own keys", [](options& o) { o.key_without = o.value_without = 0; }},
    {"shared keys", [](options& o) { o.key_without = o.value_without = no_batch; }}});
const choice narrow = crossed(choice("narrow keys", &options::narrow_keys, {false, true}),
                              choice("narrow values", &options::narrow_values, {false, true}));

}  // namespace

BOOST_AUTO_TEST_SUITE(attention)

BOOST_AUTO_TEST_CASE(attention_is_right_for_any_extents_and_layouts) {
  check(pairwise<options>({},
                          {crossed(choice("query", &options::query, {1, 3, 5, 17, 100}),
                                   choice("key", &options::key, {1, 3, 5, 17, 100})),
                           choice("depth", &options::depth, {1, 20, 64}),
                           choice("value", &options::value, {1, 3, 20, 64, 80}),
                           choice("batch", &options::batch, {{2}, {}, {2, 3}, {1}}), in_layouts}));
}

BOOST_AUTO_TEST_CASE(attention_is_right_where_an_extent_is_0) {
  check(pairwise<options>(
      {},
      and_optional_operands(
          {choice("query", &options::query, {0, 1, 5}), choice("key", &options::key, {0, 1, 5}),
           choice("value", &options::value, {20, 0}), choice("batch", &options::batch, {{2}, {0}}),
           choice("rate", &options::rate, {0, 0.5}),
           choice("mask", &options::mask, {std::nullopt, 0}), relative_biases({0}), narrow,
           in_layouts},
          loops_of_batch)));
}

BOOST_AUTO_TEST_CASE(attention_is_right_over_several_tiles) {
  std::vector<options> all;
  for (const layout how : layouts) {
    options o{.batch = {}, .query = 301, .key = 333, .depth = 64, .value = 64, .how = how};
    all.push_back(o);
    o.seen.highest = 0;
    all.push_back(o);
    o.seen.lowest = -100;
    all.push_back(o);
  }
  check(all);
}

// Later keys raise the running maximum again and again, so that earlier sums are rescaled.
BOOST_AUTO_TEST_CASE(attention_of_a_single_query_is_right) {
  check(pairwise<options>(
      {.query = 1, .key = 1300, .distances = 900, .origin = 850},
      {crossed(in_layouts, choice("depth", &options::depth, {5, 20, 64})),
       choice("value", &options::value, {79, 64, 20}), choice("rate", &options::rate, {0, 0.2}),
       choice("band", &options::seen, {{}, {-1150, 0, 1250}}),
       choice("mask", &options::mask, {std::nullopt, 0}),
       choice("bias", &options::bias, {std::nullopt, 0}),
       choice("relative", &options::relative, {std::nullopt, 0}),
       choice("soft cap", &options::soft_cap, {0, 3})}));
  for (const std::ptrdiff_t extent : {1, 3, 16, 17})
    check({{.query = 1, .key = 20, .depth = extent, .value = 20 - extent}});
}

BOOST_AUTO_TEST_CASE(scores_of_any_magnitude_neither_overflow_nor_vanish) {
  std::vector<options> all;
  for (const float range : {0.01f, 20.0f, 200.0f})
    all.push_back({.batch = {}, .query = 50, .key = 400, .depth = 20, .value = 17, .range = range});
  check(all);
}

BOOST_AUTO_TEST_CASE(bands_make_keys_visible_by_position) {
  check(pairwise<options>(
      {.batch = {}, .depth = 5},
      {in_bands, queries_and_keys({{17, 17}, {100, 100}, {100, 40}, {3, 200}, {200, 150}})}));
}

BOOST_AUTO_TEST_CASE(offsets_and_limits_apply_per_batch_element_or_query) {
  check(pairwise<options>({.batch = {2, 4}, .depth = 5},
                          {in_bands,
                           queries_and_keys({{1, 1},
                                             {1, 40},
                                             {1, 300},
                                             {1, 700},
                                             {5, 1},
                                             {5, 40},
                                             {5, 300},
                                             {100, 40},
                                             {100, 300},
                                             {161, 161}}),
                           limits(), in_layouts, choice("mask", &options::mask, {std::nullopt, 0}),
                           choice("rate", &options::rate, {0, 0.3})}));
}

BOOST_AUTO_TEST_CASE(relative_biases_depend_on_distance) {
  check(pairwise<options>(
      {.depth = 8, .value = 9},
      {crossed(queries_and_keys({{1, 1}, {1, 300}, {17, 5}, {60, 140}, {401, 130}}), distances()),
       choice("relative", &options::relative, {0, no_query, no_batch, no_query | no_batch}),
       in_layouts}));
}

// Every two values of any options.
BOOST_AUTO_TEST_CASE(options_combine) {
  const auto combined = [](const choice& extents_of, const choice& batch) {
    check(pairwise<options>(
        {.depth = 5},
        and_optional_operands(
            {extents_of, batch, in_bands, limits(), dropouts(), in_layouts,
             choice("mask", &options::mask, any_loops), relative_biases(loops_of_relative), narrow,
             shared_keys, choice("soft cap", &options::soft_cap, {0, 0.5, 3, 50}),
             choice("statistics", &options::has_statistics, {true, false}),
             choice("range", &options::range, {2, 200}),
             choice("numbers without", &options::numbers_without, {0, no_batch}),
             choice("value", &options::value, {20, 3})},
            loops_of_batch)));
  };
  const choice batch("batch", &options::batch, {{2, 3}, {4}, {}});
  combined(queries_and_keys({{3, 7}, {50, 140}, {60, 300}}), batch);
  // A decode step reads the keys of several heads at once where they see the same.
  combined(queries_and_keys({{1, 3}, {1, 140}, {1, 600}}),
           choice("batch", &options::batch, {{2, 3}, {2, 1}, {2, 8}, {17}, {}}));
}

BOOST_AUTO_TEST_CASE(heads_of_a_single_query_that_share_keys_are_right_in_any_number_of_parts) {
  std::vector<extents> batches;
  for (const std::ptrdiff_t heads : {1, 2, 3, 4, 5, 7, 8, 9, 17}) batches.push_back({2, heads});
  const std::vector<std::int32_t> numbers{700, 700, 700, 40, 1300, 0, 900, 900, -3, 5};
  const auto all = pairwise<options>(
      {.query = 1, .key_without = no_batch, .value_without = no_batch},
      {choice("batch", &options::batch, batches), choice("key", &options::key, {1, 3, 600, 1300}),
       choice("depth", &options::depth, {3, 20}), choice("value", &options::value, {20, 3}),
       choice("lengths", &options::lengths, {{}, numbers}),
       choice("begins", &options::begins, {{}, {0, 0, 0, 0, 520, 7}}),
       choice("band", &options::seen, {{}, {-600, 0, 1300}}),
       choice("mask", &options::mask, {std::nullopt, 0}),
       choice("bias", &options::bias, {std::nullopt, 0}),
       choice("sink", &options::sink, {std::nullopt, 0}),
       choice("relative", &options::relative, {std::nullopt, 0}),
       choice("rate", &options::rate, {0, 0.3}), narrow, in_layouts});
  check(all);
  for (const options& o : all) {
    trial t(o);
    on_every_target([&](const table& kernels) {
      const std::vector<float> whole = t.bits(kernels, 1);
      for (const int parts : {2, 3, 7})
        BOOST_TEST(different_bits(t.bits(kernels, parts), whole) == "", parts << " parts of " << o);
    });
  }
}

BOOST_AUTO_TEST_CASE(keys_and_values_of_bfloat16_are_read_as_they_are) {
  std::vector<choice::value> spoiled{{"", [](options&) {}}};
  spoiled.push_back({"hidden key of NaN", [](options& o) {
                       o.seen = {PTRDIFF_MIN, -1, 0};
                       o.spoiled_values = o.spoiled_keys = {o.key - 1};
                     }});
  check(pairwise<options>(
      {.batch = {2, 3}},
      {queries_and_keys(
           {{1, 3}, {3, 63}, {1, 64}, {1, 65}, {150, 300}, {1, 300}, {150, 64}, {150, 65}}),
       narrow, spoiled, choice("depth", &options::depth, {1, 20, 64}), shared_keys,
       choice("value", &options::value, {20, 1, 64, 3}), in_layouts}));
}

// Element ids start at each of the four words of a counter.
BOOST_AUTO_TEST_CASE(attention_weights_are_dropped_by_their_element_ids) {
  check(pairwise<options>(
      {.batch = {2, 3}, .depth = 5},
      {choice("query", &options::query, {1, 3, 17, 100}),
       choice("key", &options::key, {1, 3, 4, 5, 6, 7, 100, 301}), dropouts(), in_layouts,
       choice("numbers without", &options::numbers_without, {0, no_batch})}));
  check({{.batch = {}, .query = 50, .key = 50, .rate = 1}});
}

// The offset and the bounds of a band are shifted alike, beyond int32 and beyond 2^24, from where
// on float32 no longer represents every integer.
BOOST_AUTO_TEST_CASE(shifting_the_offset_and_bounds_of_a_band_alike_changes_no_bit) {
  using int32 = std::numeric_limits<std::int32_t>;
  constexpr std::int64_t one = 1;
  for (const std::ptrdiff_t query : {1, 20})
    for (const band& seen : bands) {
      const options near{.query = query, .key = 70, .depth = 5, .seen = seen};
      trial nearby(near);
      std::vector<options> all;
      for (const std::int64_t by :
           {one << 24, (one << 24) + 1, (one << 31) - 1, one << 31, (one << 40) + 1})
        for (const std::int64_t distance : {by, -by}) {
          if (by > PTRDIFF_MAX / 16) continue;  // it takes indices of 64 bits
          const auto far = static_cast<std::ptrdiff_t>(distance);
          options o = near;
          if (o.seen.lowest != PTRDIFF_MIN) o.seen.lowest -= far;
          if (o.seen.highest != PTRDIFF_MAX) o.seen.highest -= far;
          o.seen.offset += far;
          all.push_back(o);
          if (far > int32::max() || far < int32::min()) continue;
          o.seen.offset -= far;
          o.offset = {static_cast<std::int32_t>(far)};
          all.push_back(o);
        }
      std::vector<trial> trials(all.begin(), all.end());
      on_every_target([&](const table& kernels) {
        const std::vector<float> expected = nearby.bits(kernels, 1);
        for (std::size_t i = 0; i < all.size(); ++i)
          BOOST_TEST(different_bits(trials[i].bits(kernels, 1), expected) == "", all[i]);
      });
    }
}

BOOST_AUTO_TEST_CASE(partitions_give_the_same_bits_as_the_whole_call) {
  std::vector<trial> trials;
  trials.emplace_back(options{.batch = {2, 2}, .query = 30, .key = 50, .seen = {-20, 0, 0}});
  trials.emplace_back(options{.batch = {}, .query = 500, .key = 140, .depth = 8, .value = 17});
  trials.emplace_back(options{.batch = {3}, .query = 0});
  trials.emplace_back(options{.batch = {3}, .query = 400, .lengths = {20, 0, 3}});
  trials.emplace_back(options{.batch = {3}, .query = 400, .key = 150, .rate = 0.1});
  trials.emplace_back(options{.batch = {2, 5}, .query = 1, .key = 700});
  on_every_target([&](const table& kernels) {
    for (trial& t : trials) {
      const std::vector<float> whole = t.bits(kernels, 1);
      for (const int parts : {2, 3, 7, 20})
        BOOST_TEST(different_bits(t.bits(kernels, parts), whole) == "", parts << " parts");
    }
  });
}

BOOST_AUTO_TEST_CASE(the_scratch_size_is_bounded_and_never_shrinks) {
  constexpr auto bytes = [](std::ptrdiff_t query, std::ptrdiff_t key, std::ptrdiff_t depth,
                            std::ptrdiff_t value) {
    attention_call c;
    c.loops = 4;
    std::copy_n(extents{query, key, depth, value}.begin(), 4, c.extent);
    return attention_scratch_bytes(c);
  };
  BOOST_TEST(bytes(4096, 4096, 64, 64) == bytes(attention_query_block, 1, 64, 64));
  for (std::ptrdiff_t n = 0; n < 300; ++n) {
    BOOST_TEST(bytes(n, 5, 64, 64) <= bytes(n + 1, 5, 64, 64));
    BOOST_TEST(bytes(n, 5, n, 64) <= bytes(n, 5, n + 1, 64));
    BOOST_TEST(bytes(n, n, 64, n) <= bytes(n, n + 1, 64, n + 1));
  }
}

// With one query, and with vectors of queries, which begin at other ones where they are longer.
BOOST_AUTO_TEST_CASE(results_have_the_same_bits_on_all_targets_of_a_family) {
  check(pairwise<options>(
      {.batch = {2, 3}, .value = 7},
      and_optional_operands(
          {queries_and_keys(
               {{1, 3}, {1, 100}, {1, 1300}, {5, 17}, {23, 140}, {101, 301}, {401, 17}}),
           choice("depth", &options::depth, {1, 17, 24, 100}), in_bands, limits(), narrow,
           shared_keys, choice("mask", &options::mask, {std::nullopt, 0}),
           choice("rate", &options::rate, {0, 0.3}),
           choice("soft cap", &options::soft_cap, {0, 3})},
          {0})));
}

BOOST_AUTO_TEST_SUITE_END()
