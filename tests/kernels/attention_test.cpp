#include "weft/kernels/attention.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>

#include "arrays.hpp"
#include "targets.hpp"
#include "weft/kernels/attention_scratch.hpp"
#include "weft/kernels/philox.hpp"

using namespace weft;
using namespace weft::kernels;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Loops that an operand lacks, as bits: of the last four, query 1, key 2, depth 4, value 8.
enum without : unsigned { no_query = 1, no_key = 2, no_depth = 4, no_value = 8, no_batch = 16 };

struct options {
  extents batch{2};
  std::ptrdiff_t query = 17, key = 17, depth = 20, value = 20;
  layout how = layout::contiguous;
  band seen{};
  double soft_cap = 0;
  bool has_mask = false, has_bias = false, has_statistics = true, shared_keys = false;
  unsigned mask_without = 0, bias_without = 0;
  float range = 2;  // of the queries
  // Values for the indices of the batch, repeated cyclically; if empty, the call has no such
  // operand.
  std::vector<std::int32_t> offset{}, lengths{};
  std::ptrdiff_t distances = 0, origin = 0;  // 0: no relative bias
  unsigned relative_without = 0;
  double rate = 0;  // of dropout; next, the layout of its element ids
  layout numbered = layout::contiguous;
  unsigned numbers_without = 0;
  // Keys whose elements are NaN, and keys whose values alternate between NaN and infinity.
  std::vector<std::ptrdiff_t> spoiled_keys{}, spoiled_values{};
};

// An attention's operands and expected results.
class trial {
 public:
  explicit trial(const options& o)
      : o_(o),
        extent_(with(o.batch, {o.query, o.key, o.depth, o.value})),
        query_(make<float>(no_key | no_value)),
        key_(make<float>(no_query | no_value | shared())),
        value_(make<float>(no_query | no_depth | shared())),
        mask_(make<std::uint8_t>(no_depth | no_value | o.mask_without)),
        bias_(make<float>(no_depth | no_value | o.bias_without)),
        offset_(numbers(o.offset)),
        lengths_(numbers(o.lengths)),
        relative_(with(o.batch, {o.query, o.distances, o.depth, o.value}), o.how,
                  bits(no_depth | no_value | o.relative_without)),
        places_(extent_, o.numbered, bits(no_depth | no_value | o.numbers_without)),
        result_(make<float>(no_key | no_depth, true)),
        statistics_(make<float>(no_key | no_depth | no_value, true)),
        expected_result_(result_),
        expected_statistics_(statistics_) {
    fill(query_, 1);
    for (float& x : query_.memory) x *= o.range / 2;
    fill(key_, 2);
    fill(value_, 3);
    fill(mask_, 4);
    fill(bias_, 5);
    for (std::size_t i = 0; i < bias_.memory.size(); i += 7)
      bias_.memory[i] = -std::numeric_limits<float>::infinity();
    fill(relative_, 6);
    for (std::size_t i = 3; i < relative_.memory.size(); i += 11)
      relative_.memory[i] = -std::numeric_limits<float>::infinity();
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    constexpr float infinite = std::numeric_limits<float>::infinity();
    for (const std::ptrdiff_t j : o.spoiled_keys)
      for_points(make_call(op::copy, with(o.batch, {1, 1, o.depth, 1})), [&](auto index) {
        index[o.batch.size() + 1] = j;
        key_.memory[static_cast<std::size_t>(offset(key_.as_operand(), index))] = nan;
      });
    for (const std::ptrdiff_t j : o.spoiled_values)
      for_points(make_call(op::copy, with(o.batch, {1, 1, 1, o.value})), [&](auto index) {
        index[o.batch.size() + 1] = j;
        value_.memory[static_cast<std::size_t>(offset(value_.as_operand(), index))] =
            index.back() % 2 == 0 || o.rate > 0 ? nan : infinite;
      });
    expect();
  }

  attention_call call(array<float>& result, array<float>& statistics) {
    attention_call c;
    c.loops = static_cast<int>(extent_.size());
    std::copy(extent_.begin(), extent_.end(), c.extent);
    c.query = query_.as_operand();
    c.key = key_.as_operand();
    c.value = value_.as_operand();
    if (o_.has_mask) c.mask = mask_.as_operand();
    if (o_.has_bias) c.bias = bias_.as_operand();
    if (!o_.offset.empty()) c.offset = offset_.as_operand();
    if (!o_.lengths.empty()) c.lengths = lengths_.as_operand();
    if (o_.distances > 0) {
      c.relative = relative_.as_operand();
      c.distances = o_.distances;
      c.origin = o_.origin;
    }
    if (o_.rate > 0) {
      std::copy(places_.stride.begin(), places_.stride.end(), c.numbers.stride);
      c.drop = {0x89abcdef, weft::drop_below(o_.rate)};
      c.random = {0x0123456789abcdef, 0xfedcba9876543210};
    }
    c.result = result.as_operand();
    if (o_.has_statistics) c.statistics = statistics.as_operand();
    c.scale = scale;
    c.soft_cap = o_.soft_cap;
    c.seen = o_.seen;
    return c;
  }

  // The number of wrong elements.
  int wrong(const table& kernels, int parts = 1) {
    array<float> result = result_, statistics = statistics_;
    run(kernels, parts, result, statistics);
    return expected_result_.wrong(result) +
           (o_.has_statistics ? expected_statistics_.wrong(statistics) : 0);
  }

  // The bits of the results.
  std::vector<float> bits(const table& kernels, int parts) {
    array<float> result = result_, statistics = statistics_;
    run(kernels, parts, result, statistics);
    result.memory.insert(result.memory.end(), statistics.memory.begin(), statistics.memory.end());
    return result.memory;
  }

 private:
  static constexpr double scale = 0.25;

  static extents with(extents a, const extents& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  unsigned shared() const { return o_.shared_keys ? no_batch : 0u; }

  template <class T>
  array<T> make(unsigned without, bool is_result = false) const {
    return array<T>(extent_, o_.how, bits(without), is_result);
  }
  unsigned bits(unsigned without) const {
    const auto batch = static_cast<unsigned>(o_.batch.size());
    const unsigned batch_bits = without & no_batch ? (1u << batch) - 1 : 0u;
    return batch_bits | (without & 15u) << batch;
  }

  array<std::int32_t> numbers(const std::vector<std::int32_t>& some) const {
    auto a = make<std::int32_t>(no_query | no_key | no_depth | no_value);
    for (std::size_t i = 0; i < a.memory.size() && !some.empty(); ++i)
      a.memory[i] = some[i % some.size()];
    return a;
  }

  void run(const table& kernels, int parts, array<float>& result, array<float>& statistics) {
    attention_call c = call(result, statistics);
    for (int i = 0; i < parts; ++i) {
      const std::size_t bytes = attention_scratch_bytes(c);
      std::unique_ptr<std::byte[], void (*)(std::byte*)> scratch(
          new (std::align_val_t(64)) std::byte[bytes],
          [](std::byte* p) { operator delete[](p, std::align_val_t(64)); });
      std::memset(scratch.get(), 0xff, bytes);  // NaN
      c.scratch = scratch.get();
      c.part = part_of(i, parts);
      kernels.attention(c);
    }
  }

  // Computes the expected results in double from the definition, with bounds for the error in
  // float.
  void expect() {
    const attention_call c = call(result_, statistics_);
    weft::kernels::call outer = make_call(op::copy, o_.batch);
    outer.extent[outer.loops++] = o_.query;
    const attention_loops loop(c.loops);
    const auto q = static_cast<std::size_t>(loop.query), k = static_cast<std::size_t>(loop.key);
    const auto d = static_cast<std::size_t>(loop.depth), e = static_cast<std::size_t>(loop.value);
    for_points(outer, [&](const std::vector<std::ptrdiff_t>& point) {
      std::vector<std::ptrdiff_t> index = point;
      index.resize(extent_.size());
      std::vector<double> score(static_cast<std::size_t>(o_.key), -infinity);
      std::vector<double> kept(score.size(), 1);
      double highest = -infinity, farthest = 0, score_error = 0;
      for (std::ptrdiff_t j = 0; j < o_.key; ++j) {
        index[k] = j;
        index[d] = index[e] = 0;
        const auto place_among_all = static_cast<std::uint32_t>(offset(c.numbers, index));
        if (o_.rate > 0)
          kept[static_cast<std::size_t>(j)] =
              is_dropped(random_word(c.random, c.drop.salt, place_among_all), c.drop.below)
                  ? 0
                  : 1 / (1 - c.drop.below * 0x1p-24);
        const auto number = [&](const operand& x) {
          return static_cast<std::ptrdiff_t>(at(x, offset(x, index)));
        };
        const std::ptrdiff_t first = c.seen.offset + (c.offset.data ? number(c.offset) : 0);
        const std::ptrdiff_t place = j - (index[q] + first);
        if (place < c.seen.lowest || place > c.seen.highest) continue;
        if (c.lengths.data && j >= number(c.lengths)) continue;
        if (o_.has_mask && at(c.mask, offset(c.mask, index)) == 0) continue;
        double sum = 0, magnitude = 0;
        for (index[d] = 0; index[d] < o_.depth; ++index[d]) {
          const double product =
              scale * at(c.query, offset(c.query, index)) * at(c.key, offset(c.key, index));
          sum += product;
          magnitude += std::abs(product);
        }
        index[d] = 0;
        if (o_.soft_cap != 0) sum = o_.soft_cap * std::tanh(sum / o_.soft_cap);
        const double bias = o_.has_bias ? at(c.bias, offset(c.bias, index)) : 0;
        double relative = 0;
        if (o_.distances > 0) {
          auto looked_up = index;
          looked_up[k] = std::clamp<std::ptrdiff_t>(place + o_.origin, 0, o_.distances - 1);
          relative = at(c.relative, offset(c.relative, looked_up));
        }
        if (bias == -infinity || relative == -infinity) continue;
        sum += bias + relative;
        // Each term is rounded with the scale, with the product and with the sums; soft_cap's
        // tanh and its product, and the biases, once or twice each.
        const double terms = static_cast<double>(o_.depth);
        score_error = std::max(score_error, (terms + 3) / 2 * magnitude + 3 * std::abs(sum) +
                                                3 * (std::abs(bias) + std::abs(relative)));
        score[static_cast<std::size_t>(j)] = sum;
        highest = std::max(highest, sum);
        farthest = std::max(farthest, std::abs(sum));
      }
      double total = 0;
      for (double& s : score) total += s = s == -infinity ? 0 : std::exp(s - highest);
      // The arguments of exp, distances to the maximum, are rounded, and exp is within 2 epsilon;
      // so are the factors that rescale earlier blocks. Sums run over blocks of keys, then over the
      // blocks.
      const double blocks = static_cast<double>(o_.key) / attention_key_block + 1;
      const double error =
          epsilon * (score_error + 2 * farthest + 2 + 3 * blocks +
                     (static_cast<double>(std::min<std::ptrdiff_t>(
                          o_.key, static_cast<std::ptrdiff_t>(attention_key_block))) +
                      blocks) /
                         2);
      index[k] = index[d] = index[e] = 0;
      const bool hidden = highest == -infinity && !std::isnan(total);
      if (o_.has_statistics) {
        const double expected = hidden ? -infinity : highest + std::log(total);
        expected_statistics_.expect(statistics_, offset(c.statistics, index), expected,
                                    hidden ? 0 : error + 2 * epsilon * std::abs(expected));
      }
      for (index[e] = 0; index[e] < o_.value; ++index[e]) {
        double sum = 0, magnitude = 0, flushed = 0;
        for (index[k] = 0; index[k] < o_.key; ++index[k]) {
          if (hidden) break;
          if (score[static_cast<std::size_t>(index[k])] == 0) continue;  // 0 * NaN would be NaN
          const double v = kept[static_cast<std::size_t>(index[k])] *
                           at(c.value, offset(c.value, index)) / total;
          const double term = score[static_cast<std::size_t>(index[k])] * v;
          sum += term;
          magnitude += std::abs(term);
          flushed += 0x1p-125 * std::abs(v);
        }
        index[k] = 0;
        // Numerator and denominator have that relative error, and their quotient three roundings
        // more; and exponentials below 2^-125 are flushed to 0.
        expected_result_.expect(result_, offset(c.result, index), sum,
                                (2 * error + 3 * epsilon) * magnitude + flushed);
      }
    });
  }

  options o_;
  extents extent_;
  array<float> query_, key_, value_;
  array<std::uint8_t> mask_;
  array<float> bias_;
  array<std::int32_t> offset_, lengths_;
  array<float> relative_;
  array<std::int32_t> places_;
  array<float> result_, statistics_;
  expectation expected_result_, expected_statistics_;
};

std::string describe(const options& o) {
  std::string s = "queries " + std::to_string(o.query) + ", keys " + std::to_string(o.key) +
                  ", depth " + std::to_string(o.depth) + ", value " + std::to_string(o.value) +
                  ", layout " + std::to_string(static_cast<int>(o.how)) + ", band " +
                  std::to_string(o.seen.lowest) + " to " + std::to_string(o.seen.highest) +
                  " from " + std::to_string(o.seen.offset);
  if (o.has_mask) s += ", mask without " + std::to_string(o.mask_without);
  if (o.has_bias) s += ", bias without " + std::to_string(o.bias_without);
  for (const std::int32_t n : o.offset) s += ", offset " + std::to_string(n);
  for (const std::int32_t n : o.lengths) s += ", length " + std::to_string(n);
  if (o.distances > 0)
    s += ", distances " + std::to_string(o.distances) + " from " + std::to_string(o.origin) +
         " without " + std::to_string(o.relative_without);
  if (o.rate > 0)
    s += ", rate " + std::to_string(o.rate) + ", numbers " +
         std::to_string(static_cast<int>(o.numbered)) + " without " +
         std::to_string(o.numbers_without);
  return s;
}

void check(const std::vector<options>& all) {
  std::vector<trial> trials;
  for (const options& o : all) trials.emplace_back(o);
  on_every_target([&](const table& kernels) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const int count = trials[i].wrong(kernels);
      BOOST_TEST(count == 0, count << " wrong of " << describe(all[i]));
    }
  });
}

std::vector<options> bands(options o) {
  std::vector<options> all;
  for (const band& b :
       {band{PTRDIFF_MIN, 0, 0}, band{-3, 0, 0}, band{-40, 0, 0}, band{-5, 5, 0}, band{0, 0, 0},
        band{1, PTRDIFF_MAX, 0}, band{PTRDIFF_MIN, -2, 0}, band{PTRDIFF_MIN, 0, 30},
        band{-20, 0, 13}, band{-4, 2, -9}, band{3, 2, 0}, band{PTRDIFF_MIN, PTRDIFF_MAX, 1000}}) {
    o.seen = b;
    all.push_back(o);
  }
  return all;
}

}  // namespace

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

// Hidden keys must not affect the result, not even as NaN.
BOOST_AUTO_TEST_CASE(hidden_keys_may_be_nan) {
  on_every_target([](const table& kernels) {
    constexpr std::ptrdiff_t n = 37;
    std::vector<float> q(n, 1), k(n, 1), v(n, 1), r(n);
    std::vector<std::uint8_t> mask(n, 1);
    for (std::size_t j = 20; j < n; ++j) k[j] = std::numeric_limits<float>::quiet_NaN();
    for (std::size_t j = 20; j < n; ++j) mask[j] = 0;
    attention_call c;
    c.loops = 4;
    std::copy_n(std::vector<std::ptrdiff_t>{n, n, 1, 1}.begin(), 4, c.extent);
    c.query = {q.data(), dtype::float32, {1, 0, 0, 0}};
    c.key = {k.data(), dtype::float32, {0, 1, 0, 0}};
    c.value = {v.data(), dtype::float32, {0, 1, 0, 0}};
    c.mask = {mask.data(), dtype::boolean, {0, 1, 0, 0}};
    c.result = {r.data(), dtype::float32, {1, 0, 0, 0}};
    std::vector<std::byte> scratch(attention_scratch_bytes(c) + 64);
    c.scratch = scratch.data() + (64 - reinterpret_cast<std::uintptr_t>(scratch.data()) % 64) % 64;
    kernels.attention(c);
    for (const float x : r) BOOST_TEST(x == 1);
    c.mask = {};
    c.seen.highest = 0;
    kernels.attention(c);
    for (std::size_t i = 0; i < n; ++i) BOOST_TEST((i < 20 ? r[i] == 1 : std::isnan(r[i])));
  });
}

// Spoiled keys and values affect only the queries that see them.
BOOST_AUTO_TEST_CASE(nan_and_infinity_in_hidden_keys_and_values_do_not_reach_the_result) {
  std::vector<options> all;
  const std::vector<std::int32_t> numbers{7, 0, 40, -3, 1000, 30};
  for (const auto& [query, key] : {std::pair{1, 40}, {1, 700}, {3, 3}, {17, 40}, {60, 300}})
    for (options o : bands({.batch = {2, 3}, .query = query, .key = key, .depth = 5})) {
      const std::size_t n = all.size() / 4;
      o.value = std::vector<std::ptrdiff_t>{20, 64, 1}[n % 3];
      o.how = layouts[n % 4];
      o.has_mask = n % 3 != 0;
      o.mask_without = std::vector<unsigned>{0u, 1u, 16u, 17u}[n / 3 % 4];
      o.has_bias = n % 4 == 0;
      o.bias_without = std::vector<unsigned>{0u, 1u, 16u, 17u}[n % 4];
      if (n % 5 == 0) o.distances = 21, o.origin = 12;
      if (n % 2 == 0) o.lengths = numbers;
      if (n % 7 < 2) o.offset = numbers;
      if (n % 11 < 2) o.soft_cap = 3;
      if (n % 13 < 2) o.rate = 0.3;
      o.shared_keys = n % 5 == 1;
      const std::vector<std::ptrdiff_t> some{key - 1, 2, key / 2};
      o.spoiled_values = some;
      all.push_back(o);
      o.spoiled_keys = some;
      all.push_back(o);
      o.spoiled_values.clear();
      all.push_back(o);
      for (std::ptrdiff_t j = 0; j < key; ++j) o.spoiled_values.push_back(j);
      o.spoiled_keys = o.spoiled_values;
      all.push_back(o);
    }
  check(all);
}

// The offset and the bounds of a band are shifted alike, beyond int32 and beyond 2^24, from where
// on float32 no longer represents every integer.
BOOST_AUTO_TEST_CASE(shifting_the_offset_and_bounds_of_a_band_alike_changes_no_bit) {
  using int32 = std::numeric_limits<std::int32_t>;
  constexpr std::ptrdiff_t one = 1;
  for (const std::ptrdiff_t query : {1, 20})
    for (const options& near : bands({.batch = {2}, .query = query, .key = 70, .depth = 5})) {
      trial nearby(near);
      std::vector<options> all;
      for (const std::ptrdiff_t by :
           {one << 24, (one << 24) + 1, (one << 31) - 1, one << 31, (one << 40) + 1})
        for (const std::ptrdiff_t far : {by, -by}) {
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
          BOOST_TEST((trials[i].bits(kernels, 1) == expected), describe(all[i]));
      });
    }
}

// Floats in front of a page that cannot be accessed: reading one more ends the program.
class last_floats {
 public:
  explicit last_floats(std::size_t count)
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        bytes_((count * sizeof(float) + page_ - 1) / page_ * page_),
        at_(static_cast<std::byte*>(mmap(nullptr, bytes_ + page_, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))),
        count_(count) {
    BOOST_TEST_REQUIRE(mprotect(at_ + bytes_, page_, PROT_NONE) == 0);
  }
  last_floats(const last_floats&) = delete;
  ~last_floats() { munmap(at_, bytes_ + page_); }
  float* data() { return reinterpret_cast<float*>(at_ + bytes_) - count_; }

 private:
  std::size_t page_, bytes_;
  std::byte* at_;
  std::size_t count_;
};

// Runs attention with memory for the first `keys` keys and values only, whatever the extent is.
void reads_no_more_keys_than(std::ptrdiff_t keys, const attention_call& with) {
  constexpr std::ptrdiff_t depth = 20;
  const attention_loops of(with.loops);
  last_floats k(static_cast<std::size_t>(keys * depth)), v(static_cast<std::size_t>(keys * depth));
  const std::ptrdiff_t queries = with.extent[of.query];
  std::vector<float> q(static_cast<std::size_t>(queries * depth), 1), r(q.size());
  attention_call c = with;
  c.extent[of.depth] = c.extent[of.value] = depth;
  c.query = {q.data(), dtype::float32, {depth, 0, 1, 0}};
  c.key = {k.data(), dtype::float32, {0, depth, 1, 0}};
  c.value = {v.data(), dtype::float32, {0, depth, 0, 1}};
  c.result = {r.data(), dtype::float32, {depth, 0, 0, 1}};
  std::vector<std::byte> scratch(attention_scratch_bytes(c) + 64);
  c.scratch = scratch.data() + (64 - reinterpret_cast<std::uintptr_t>(scratch.data()) % 64) % 64;
  on_every_target([&](const table& kernels) { kernels.attention(c); });
}

BOOST_AUTO_TEST_CASE(keys_that_no_query_sees_are_not_read) {
  attention_call c;
  c.loops = 4;
  const std::int32_t filled = 10;
  c.lengths.data = const_cast<std::int32_t*>(&filled);
  for (const std::ptrdiff_t queries : {1, 5, 500}) {
    c.extent[0] = queries, c.extent[1] = 4096;
    reads_no_more_keys_than(filled, c);
  }
  // The first block of queries, with a window that extends to its right.
  constexpr auto block = static_cast<std::ptrdiff_t>(attention_query_block);
  c.lengths = {};
  c.extent[0] = c.extent[1] = 8 * block;
  c.seen = {-100, 30, 0};
  c.part = {0, 8};
  reads_no_more_keys_than(block + 30, c);
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
        BOOST_TEST((t.bits(kernels, parts) == whole), parts << " parts");
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
