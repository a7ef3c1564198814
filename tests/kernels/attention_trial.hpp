// Calls of attention with any options, and their check on every target against their definition.
#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kernels/aligned.hpp"
#include "kernels/arrays.hpp"
#include "kernels/attention_scores.hpp"
#include "kernels/parts.hpp"
#include "kernels/targets.hpp"
#include "weft/kernels/attention.hpp"
#include "weft/kernels/attention_scratch.hpp"
#include "weft/kernels/philox.hpp"

namespace weft::kernels::attention_trials {

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
  std::vector<std::int32_t> offset{}, begins{}, lengths{};
  bool for_each_query = false;  // whether begins and lengths are numbers for the queries too
  std::ptrdiff_t distances = 0, origin = 0;  // 0: no relative bias
  unsigned relative_without = 0;
  bool narrow_keys = false, narrow_values = false;  // they are bfloat16
  bool has_sink = false;
  unsigned sink_without = 0;
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
        narrow_key_(make<bfloat16>(no_query | no_value | shared())),
        narrow_value_(make<bfloat16>(no_query | no_depth | shared())),
        mask_(make<std::uint8_t>(no_depth | no_value | o.mask_without)),
        bias_(make<float>(no_depth | no_value | o.bias_without)),
        offset_(numbers(o.offset)),
        begins_(numbers(o.begins, o.for_each_query)),
        lengths_(numbers(o.lengths, o.for_each_query)),
        relative_(with(o.batch, {o.query, o.distances, o.depth, o.value}), o.how,
                  bits(no_depth | no_value | o.relative_without)),
        sink_(make<float>(no_key | no_depth | no_value | o.sink_without)),
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
    fill(sink_, 7);
    for (std::size_t i = 4; i < sink_.memory.size(); i += 9)
      sink_.memory[i] = -std::numeric_limits<float>::infinity();
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    constexpr float infinite = std::numeric_limits<float>::infinity();
    for (const std::ptrdiff_t j : o.spoiled_keys)
      for_points(with(o.batch, {1, 1, o.depth, 1}), [&](auto index) {
        index[o.batch.size() + 1] = j;
        key_.memory[static_cast<std::size_t>(offset(key_.as_operand(), index))] = nan;
      });
    for (const std::ptrdiff_t j : o.spoiled_values)
      for_points(with(o.batch, {1, 1, 1, o.value}), [&](auto index) {
        index[o.batch.size() + 1] = j;
        value_.memory[static_cast<std::size_t>(offset(value_.as_operand(), index))] =
            index.back() % 2 == 0 || o.rate > 0 ? nan : infinite;
      });
    const auto narrow = [](const array<float>& from, array<bfloat16>& to) {
      std::transform(from.memory.begin(), from.memory.end(), to.memory.begin(),
                     [](float x) { return bfloat16(x); });
    };
    narrow(key_, narrow_key_);
    narrow(value_, narrow_value_);
    expect();
  }

  attention_call call(array<float>& result, array<float>& statistics) {
    attention_call c;
    c.loops = static_cast<int>(extent_.size());
    std::copy(extent_.begin(), extent_.end(), c.extent);
    c.query = query_.as_operand();
    c.key = o_.narrow_keys ? narrow_key_.as_operand() : key_.as_operand();
    c.value = o_.narrow_values ? narrow_value_.as_operand() : value_.as_operand();
    if (o_.has_mask) c.mask = mask_.as_operand();
    if (o_.has_bias) c.bias = bias_.as_operand();
    if (!o_.offset.empty()) c.offset = offset_.as_operand();
    if (!o_.begins.empty()) c.begins = begins_.as_operand();
    if (!o_.lengths.empty()) c.lengths = lengths_.as_operand();
    if (o_.distances > 0) {
      c.relative = relative_.as_operand();
      c.distances = o_.distances;
      c.origin = o_.origin;
    }
    if (o_.has_sink) c.sink = sink_.as_operand();
    if (o_.rate > 0) {
      std::copy(places_.stride.begin(), places_.stride.end(), c.element_ids.stride);
      c.drop = {0x89abcdef, weft::drop_threshold(o_.rate)};
      c.random = {0x0123456789abcdef, 0xfedcba9876543210};
    }
    c.result = result.as_operand();
    if (o_.has_statistics) c.statistics = statistics.as_operand();
    c.scale = scale;
    c.soft_cap = o_.soft_cap;
    c.visible = o_.seen;
    return c;
  }

  // What differs from the expected results.
  std::string differences(const table& kernels) {
    array<float> result = result_, statistics = statistics_;
    run(kernels, 1, result, statistics);
    std::string all = expected_result_.differences(result);
    if (o_.has_statistics) all += expected_statistics_.differences(statistics);
    return all;
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

  array<std::int32_t> numbers(const std::vector<std::int32_t>& some,
                              bool for_each_query = false) const {
    auto a = make<std::int32_t>((for_each_query ? 0u : no_query) | no_key | no_depth | no_value);
    for (std::size_t i = 0; i < a.memory.size() && !some.empty(); ++i)
      a.memory[i] = some[i % some.size()];
    return a;
  }

  void run(const table& kernels, int parts, array<float>& result, array<float>& statistics) {
    attention_call c = call(result, statistics);
    for (int i = 0; i < parts; ++i) {
      const aligned scratch = scratch_for(c, attention_scratch_bytes(c));
      c.part = part_of(i, parts);
      kernels.attention(c);
    }
  }

  // Computes the expected results in double, with bounds for the error in float.
  void expect() {
    const attention_call c = call(result_, statistics_);
    const attention_loops loop(c.loops);
    const auto e = static_cast<std::size_t>(loop.value);
    for_queries(c, [&](extents index) {
      const score_row row = scores_of(c, index);
      double farthest = std::isinf(row.sink) ? 0 : std::abs(row.sink), score_error = 0;
      for (const auto& s : row.keys) {
        // Each term is rounded with the scale, with the product and with the sums; soft_cap's
        // tanh and its product, and the biases, once or twice each.
        const double terms = static_cast<double>(o_.depth);
        score_error = std::max(score_error,
                               (terms + 3) / 2 * s.products + 3 * std::abs(s.all) + 3 * s.biases);
        farthest = std::max(farthest, std::abs(s.all));
      }
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
      if (o_.has_statistics) {
        const bool hidden = row.statistics == -score_row::infinity;
        expected_statistics_.expect(statistics_, offset(c.statistics, index), row.statistics,
                                    hidden ? 0 : error + 2 * epsilon * std::abs(row.statistics));
      }
      for (index[e] = 0; index[e] < o_.value; ++index[e]) {
        const line value(c.value, loop.key, index);
        double sum = 0, magnitude = 0, flushed = 0;
        for (std::ptrdiff_t j = 0; j < o_.key; ++j) {
          const auto& s = row.keys[static_cast<std::size_t>(j)];
          if (s.weight == 0) continue;  // 0 * NaN would be NaN
          const double v = s.kept * value[j];
          sum += s.weight * v;
          magnitude += std::abs(s.weight * v);
          flushed += 0x1p-125 * std::abs(v) / row.total;
        }
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
  array<bfloat16> narrow_key_, narrow_value_;
  array<std::uint8_t> mask_;
  array<float> bias_;
  array<std::int32_t> offset_, begins_, lengths_;
  array<float> relative_, sink_;
  array<std::int32_t> places_;
  array<float> result_, statistics_;
  expectation expected_result_, expected_statistics_;
};

inline std::string describe(const options& o) {
  std::string s = "queries " + std::to_string(o.query) + ", keys " + std::to_string(o.key) +
                  ", depth " + std::to_string(o.depth) + ", value " + std::to_string(o.value) +
                  ", layout " + std::to_string(static_cast<int>(o.how)) + ", band " +
                  std::to_string(o.seen.lowest) + " to " + std::to_string(o.seen.highest) +
                  " from " + std::to_string(o.seen.offset);
  if (o.has_mask) s += ", mask without " + std::to_string(o.mask_without);
  if (o.has_bias) s += ", bias without " + std::to_string(o.bias_without);
  for (const std::int32_t n : o.offset) s += ", offset " + std::to_string(n);
  for (const std::int32_t n : o.begins) s += ", begin " + std::to_string(n);
  for (const std::int32_t n : o.lengths) s += ", length " + std::to_string(n);
  if (o.for_each_query) s += " for each query";
  if (o.distances > 0)
    s += ", distances " + std::to_string(o.distances) + " from " + std::to_string(o.origin) +
         " without " + std::to_string(o.relative_without);
  if (o.narrow_keys) s += ", keys of bfloat16";
  if (o.narrow_values) s += ", values of bfloat16";
  if (o.has_sink) s += ", sink without " + std::to_string(o.sink_without);
  if (o.rate > 0)
    s += ", rate " + std::to_string(o.rate) + ", numbers " +
         std::to_string(static_cast<int>(o.numbered)) + " without " +
         std::to_string(o.numbers_without);
  return s;
}

inline void check(const std::vector<options>& all) {
  std::vector<trial> trials;
  for (const options& o : all) trials.emplace_back(o);
  on_every_target([&](const table& kernels) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string differences = trials[i].differences(kernels);
      BOOST_TEST(differences == "", differences << ", of " << describe(all[i]));
    }
  });
}

inline std::vector<options> bands(options o) {
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

}  // namespace weft::kernels::attention_trials
