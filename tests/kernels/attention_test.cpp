#include "weft/kernels/attention.hpp"

#include "kernels/attention_trial.hpp"

using namespace weft;
using namespace weft::kernels;
using namespace weft::kernels::attention_trials;

BOOST_AUTO_TEST_SUITE(attention)

BOOST_AUTO_TEST_CASE(attention_is_right_for_any_extents_and_layouts) {
  std::vector<options> all;
  unsigned mix = 0;
  for (const std::ptrdiff_t query : {0, 1, 3, 5, 17, 100})
    for (const std::ptrdiff_t key : {0, 1, 3, 5, 17, 100})
      for (const std::ptrdiff_t depth : {1, 20, 64}) {
        options o;
        o.query = query;
        o.key = key;
        o.depth = depth;
        o.value = std::vector<std::ptrdiff_t>{20, 1, 80, 0, 64, 3}[mix % 6];
        o.batch = std::vector<extents>{{2}, {}, {2, 3}, {1}, {0}}[mix % 5];
        o.how = layouts[mix++ % 4];
        all.push_back(o);
      }
  check(all);
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
  std::vector<options> all;
  for (const layout how : layouts)
    for (const std::ptrdiff_t depth : {5, 20, 64}) {
      options o{.query = 1, .key = 1300, .depth = depth, .value = 84 - depth, .how = how};
      all.push_back(o);
      o.rate = 0.2;
      all.push_back(o);
      o.seen = {-1150, 0, 1250};
      o.has_mask = true;
      all.push_back(o);
      o.soft_cap = 3;
      o.has_bias = true;
      o.distances = 900;
      o.origin = 850;
      all.push_back(o);
    }
  for (const std::ptrdiff_t extent : {1, 3, 16, 17})
    all.push_back({.query = 1, .key = 20, .depth = extent, .value = 20 - extent});
  check(all);
}

BOOST_AUTO_TEST_CASE(scores_of_any_magnitude_neither_overflow_nor_vanish) {
  std::vector<options> all;
  for (const float range : {0.01f, 20.0f, 200.0f})
    all.push_back({.batch = {}, .query = 50, .key = 400, .depth = 20, .value = 17, .range = range});
  check(all);
}

BOOST_AUTO_TEST_CASE(bands_make_keys_visible_by_position) {
  std::vector<options> all;
  for (const auto& [query, key] : {std::pair{17, 17}, {100, 100}, {100, 40}, {3, 200}, {200, 150}})
    for (const options& o :
         bands({.batch = {}, .query = query, .key = key, .depth = 5, .value = 20}))
      all.push_back(o);
  check(all);
}

// KV caches that are filled to different lengths, and padded sequences.
BOOST_AUTO_TEST_CASE(offsets_and_lengths_apply_per_batch_element) {
  const std::vector<std::int32_t> numbers{
      7, 0, 40, -3, 1000, std::numeric_limits<std::int32_t>::max(), 130, 1};
  std::vector<options> all;
  for (const std::ptrdiff_t query : {1, 5, 100})
    for (const std::ptrdiff_t key : {1, 40, 300})
      for (const options& o :
           bands({.batch = {2, 4}, .query = query, .key = key, .depth = 5, .value = 20})) {
        options with = o;
        with.how = layouts[all.size() % 4];
        with.offset = numbers;
        all.push_back(with);
        with.lengths = numbers;
        with.has_mask = all.size() % 3 == 0;
        all.push_back(with);
        with.offset.clear();
        all.push_back(with);
      }
  check(all);
}

// Sequences one after another, and limits in no order, outside of the keys and empty.
BOOST_AUTO_TEST_CASE(each_query_sees_the_keys_within_its_limits) {
  std::vector<std::int32_t> first, last;
  for (const std::int32_t length : {3, 40, 1, 100, 17})
    for (std::int32_t i = 0, begin = static_cast<std::int32_t>(first.size()); i < length; ++i) {
      first.push_back(begin);
      last.push_back(begin + length);
    }
  const std::vector<std::int32_t> some{20, 0, 40, -3, 1000, 7, 130},
      others{25, 3, 10, 2000, 1100, std::numeric_limits<std::int32_t>::max(), 131, -5, 60};
  std::vector<options> all;
  for (const std::ptrdiff_t query : {1, 5, 161})
    for (const std::ptrdiff_t key : {1, 40, 161, 700})
      for (const options& o :
           bands({.batch = {2, 3}, .query = query, .key = key, .depth = 5, .value = 20})) {
        options with = o;
        with.how = layouts[all.size() % 4];
        with.for_each_query = true;
        with.begins = first;
        with.lengths = last;
        all.push_back(with);
        with.has_mask = all.size() % 3 == 0;
        with.rate = all.size() % 4 == 0 ? 0.3 : 0;
        with.begins = some;
        with.lengths = others;
        all.push_back(with);
        with.lengths.clear();
        all.push_back(with);
        with.for_each_query = false;
        all.push_back(with);
      }
  check(all);
}

BOOST_AUTO_TEST_CASE(masks_and_biases_are_broadcast) {
  std::vector<options> all;
  for (const unsigned w : {0u, 1u, 2u, 3u, 16u, 17u, 18u, 19u})
    for (const layout how : layouts) {
      options o{.query = 50, .key = 140, .depth = 8, .value = 9, .how = how};
      o.has_mask = true;
      o.mask_without = w;
      all.push_back(o);
      o.has_bias = true;
      o.bias_without = 19u - w;
      o.seen.highest = 20;
      all.push_back(o);
      o.has_mask = false;
      o.bias_without = w;
      o.soft_cap = 3;
      all.push_back(o);
    }
  check(all);
}

// Tables of all distances, of some, of one, and tables whose range no distance falls into.
BOOST_AUTO_TEST_CASE(relative_biases_depend_on_distance) {
  std::vector<options> all;
  for (const auto& [query, key] :
       {std::pair{0, 5}, {5, 0}, {1, 1}, {1, 300}, {17, 5}, {60, 140}, {401, 130}})
    for (const auto& [distances, origin] : {std::pair{query + key - 1, query - 1},
                                            {33, 16},
                                            {2, 0},
                                            {1, 0},
                                            {40, 39},
                                            {9, -50},
                                            {20, 700}})
      for (const unsigned without : {0u, 1u, 16u, 17u}) {
        options o{
            .query = query, .key = key, .depth = 8, .value = 9, .how = layouts[all.size() % 4]};
        o.distances = distances;
        o.origin = origin;
        o.relative_without = without;
        all.push_back(o);
      }
  check(all);
}

BOOST_AUTO_TEST_CASE(relative_biases_combine_with_all_other_options) {
  std::vector<options> all;
  const std::vector<std::int32_t> numbers{7, 0, 40, -3, 100000, 130};
  for (const unsigned without : {0u, 1u, 16u, 17u})
    for (const std::ptrdiff_t query : {1, 50})
      for (options o :
           bands({.batch = {2, 3}, .query = query, .key = 140, .depth = 5, .value = 20})) {
        o.how = layouts[all.size() % 4];
        o.distances = 21;
        o.origin = 12;
        o.relative_without = without;
        o.has_bias = all.size() % 2 == 0;
        o.bias_without = without;
        o.has_mask = all.size() % 3 == 0;
        if (all.size() % 4 < 2) o.offset = numbers;
        if (all.size() % 5 < 2) o.lengths = numbers;
        if (all.size() % 7 < 2) o.soft_cap = 3;
        o.shared_keys = all.size() % 11 < 4;
        all.push_back(o);
      }
  check(all);
}

BOOST_AUTO_TEST_CASE(keys_and_values_of_bfloat16_are_read_as_they_are) {
  std::vector<options> all;
  for (const int narrow : {1, 2, 3})
    for (const std::ptrdiff_t query : {0, 1, 3, 150})
      for (const std::ptrdiff_t key : {0, 1, 3, 63, 64, 65, 300})
        for (const std::ptrdiff_t depth : {1, 20, 64}) {
          options o{.batch = {2, 3}, .query = query, .key = key, .depth = depth};
          o.value = std::vector<std::ptrdiff_t>{20, 1, 64, 0, 3}[all.size() % 5];
          o.how = layouts[all.size() % 4];
          o.narrow_keys = narrow & 1;
          o.narrow_values = narrow & 2;
          o.shared_keys = all.size() % 3 == 0;
          o.has_mask = all.size() % 7 == 0;
          if (all.size() % 5 < 2) o.seen = {-20, 0, 3};
          if (all.size() % 11 == 0) o.lengths = {2, 0, 40};
          if (all.size() % 4 == 0 && key > 2) {
            o.seen = {PTRDIFF_MIN, -1, 0};
            o.spoiled_values = {2};
            o.spoiled_keys = {2};
          }
          all.push_back(o);
        }
  check(all);
}

BOOST_AUTO_TEST_CASE(a_sink_takes_its_part_of_the_weights) {
  std::vector<options> all;
  const std::vector<std::int32_t> numbers{7, 0, 40, -3, 100000, 130};
  for (const unsigned without : {0u, 1u, 16u, 17u})
    for (const std::ptrdiff_t query : {0, 1, 3, 50})
      for (const std::ptrdiff_t key : {0, 1, 3, 600})
        for (const band& seen : {band{}, band{PTRDIFF_MIN, 0, 0}, band{-40, 0, 20}}) {
          options o{.batch = {2, 3}, .query = query, .key = key, .depth = 5, .value = 20};
          o.how = layouts[all.size() % 4];
          o.seen = seen;
          o.has_sink = true;
          o.sink_without = without;
          o.has_bias = all.size() % 2 == 0;
          o.has_mask = all.size() % 3 == 0;
          if (all.size() % 4 < 2) o.offset = numbers;
          if (all.size() % 5 < 2) o.lengths = numbers;
          if (all.size() % 7 < 2) o.soft_cap = 3;
          o.has_statistics = all.size() % 8 != 0;
          o.rate = all.size() % 9 == 0 ? 0.3 : 0;
          o.range = all.size() % 10 == 0 ? 200.0f : 2.0f;
          all.push_back(o);
        }
  check(all);
}

BOOST_AUTO_TEST_CASE(scores_are_soft_capped) {
  std::vector<options> all;
  for (const double soft_cap : {0.5, 2.0, 50.0}) {
    all.push_back({.query = 20, .key = 40, .soft_cap = soft_cap});
    all.push_back({.query = 20, .key = 40, .seen = {-7, 0, 0}, .soft_cap = soft_cap});
  }
  check(all);
}

BOOST_AUTO_TEST_CASE(heads_may_share_keys_and_the_log_sum_exp_may_be_omitted) {
  check({{.batch = {4}, .has_statistics = false, .shared_keys = true},
         {.batch = {2, 3}, .query = 60, .key = 140, .how = layout::padded, .shared_keys = true}});
}

// A decode step reads the keys of several heads at once where they see the same.
BOOST_AUTO_TEST_CASE(heads_of_a_single_query_that_share_keys_are_right_in_any_number_of_parts) {
  std::vector<options> all;
  const std::vector<std::int32_t> numbers{700, 700, 700, 40, 1300, 0, 900, 900, -3, 5};
  for (const std::ptrdiff_t heads : {1, 2, 3, 4, 5, 7, 8, 9, 17})
    for (const std::ptrdiff_t key : {1, 3, 600, 1300})
      for (const std::ptrdiff_t depth : {3, 20}) {
        options o{.batch = {2, heads}, .query = 1, .key = key, .depth = depth, .value = 23 - depth};
        o.how = layouts[all.size() % 4];
        o.shared_keys = true;
        if (all.size() % 3 == 0) o.lengths = numbers;
        if (all.size() % 5 == 0) o.begins = {0, 0, 0, 0, 520, 7};
        if (all.size() % 2 == 0) o.seen = {-600, 0, key};
        o.has_mask = all.size() % 4 == 0;
        o.has_bias = all.size() % 4 == 1;
        o.has_sink = all.size() % 5 == 1;
        o.narrow_keys = o.narrow_values = all.size() % 3 == 1;
        if (all.size() % 6 == 0) o.distances = 21, o.origin = 12;
        o.rate = all.size() % 7 == 0 ? 0.3 : 0;
        all.push_back(o);
      }
  check(all);
  std::vector<trial> trials(all.begin(), all.end());
  on_every_target([&](const table& kernels) {
    for (trial& t : trials) {
      const std::vector<float> whole = t.bits(kernels, 1);
      for (const int parts : {2, 3, 7})
        BOOST_TEST(different_bits(t.bits(kernels, parts), whole) == "");
    }
  });
}

// Element ids are consecutive along the keys, starting at each of the four words of a counter, or
// along another loop.
BOOST_AUTO_TEST_CASE(attention_weights_are_dropped_by_their_element_ids) {
  std::vector<options> all;
  for (const std::ptrdiff_t query : {0, 1, 3, 17, 100})
    for (const std::ptrdiff_t key : {0, 1, 3, 4, 5, 6, 7, 100, 301})
      for (const layout numbered : layouts) {
        options o{.batch = {2, 3}, .query = query, .key = key, .depth = 5, .value = 20};
        o.how = layouts[all.size() % 4];
        o.numbered = numbered;
        o.rate = std::vector<double>{0.1, 0.5, 0.9}[all.size() % 3];
        o.numbers_without = all.size() % 5 == 0 ? no_batch : 0u;
        all.push_back(o);
      }
  all.push_back({.batch = {}, .query = 50, .key = 50, .rate = 1});
  check(all);
}

BOOST_AUTO_TEST_CASE(dropout_combines_with_all_other_options) {
  std::vector<options> all;
  const std::vector<std::int32_t> numbers{7, 0, 40, -3, 1000, 130};
  for (const std::ptrdiff_t query : {1, 50})
    for (const std::ptrdiff_t key : {140, 331})
      for (options o :
           bands({.batch = {2, 3}, .query = query, .key = key, .depth = 5, .value = 20})) {
        o.rate = 0.3;
        o.numbered = layouts[all.size() % 3];
        o.has_bias = all.size() % 2 == 0;
        o.has_mask = all.size() % 3 == 0;
        if (all.size() % 4 < 2) o.offset = numbers;
        if (all.size() % 5 < 2) o.lengths = numbers;
        if (all.size() % 7 < 2) o.soft_cap = 3;
        if (all.size() % 5 == 1) o.distances = 21, o.origin = 12;
        o.shared_keys = all.size() % 11 < 4;
        all.push_back(o);
      }
  check(all);
}

// The offset and the bounds of a band are shifted alike, beyond int32 and beyond 2^24, from where
// on float32 no longer represents every integer.
BOOST_AUTO_TEST_CASE(shifting_the_offset_and_bounds_of_a_band_alike_changes_no_bit) {
  using int32 = std::numeric_limits<std::int32_t>;
  constexpr std::int64_t one = 1;
  for (const std::ptrdiff_t query : {1, 20})
    for (const options& near : bands({.batch = {2}, .query = query, .key = 70, .depth = 5})) {
      trial nearby(near);
      std::vector<options> all;
      for (const std::int64_t by :
           {one << 24, (one << 24) + 1, (one << 31) - 1, one << 31, (one << 40) + 1})
        for (const std::int64_t distance : {by, -by}) {
          if (by > PTRDIFF_MAX / 16) continue;  // it takes indices of 64 bits
          auto const far = static_cast<std::ptrdiff_t>(distance);
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
          BOOST_TEST(different_bits(trials[i].bits(kernels, 1), expected) == "", describe(all[i]));
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

BOOST_AUTO_TEST_SUITE_END()
