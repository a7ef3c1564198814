// The adjoint of attention on every target that this machine runs, against its formulas in double;
// and these against central differences of the forward formula.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <ostream>
#include <random>
#include <vector>

#include "kernels/arrays.hpp"
#include "kernels/targets.hpp"
#include "weft/kernels/attention_adjoint_scratch.hpp"
#include "weft/kernels/philox.hpp"
#include "weft/run/memory.hpp"

namespace {

using namespace weft::kernels;

constexpr double infinity = std::numeric_limits<double>::infinity();

// The call has no such mask or bias.
constexpr unsigned absent = ~0u;

// A bit of `without` is a loop that an operand lacks: the batch loops from the lowest bit on, then
// query and key.
struct problem {
  extents batch;
  std::ptrdiff_t queries, keys, depth, values;
  layout how = layout::contiguous;
  unsigned query_without = 0, key_without = 0, value_without = 0;
  unsigned mask_without = absent, bias_without = absent;
  double scale = 0.5, soft_cap = 0;
  band seen{};
  std::vector<std::ptrdiff_t> hidden{};  // queries whose keys are all hidden by the mask
  // Values for the indices of the batch, repeated cyclically; if empty, the call has no such
  // operand.
  std::vector<std::int32_t> offset{}, lengths{};
  unsigned relative_without = absent;
  std::ptrdiff_t distances = 1, origin = 0;
  // Whether the gradients of the biases that are present are requested.
  bool wants_bias = true, wants_relative = true;
  double rate = 0;  // of dropout; next, the layout of its element ids
  layout numbered = layout::contiguous;
  unsigned numbers_without = 0;
};

std::ostream& operator<<(std::ostream& out, const problem& p) {
  for (auto n : p.batch) out << n << " x ";
  return out << p.queries << " queries, " << p.keys << " keys, depths " << p.depth << " and "
             << p.values << ", layout " << static_cast<int>(p.how) << ", without "
             << p.query_without << ' ' << p.key_without << ' ' << p.value_without << ", mask "
             << p.mask_without << ", bias " << p.bias_without << ", cap " << p.soft_cap << ", band "
             << p.seen.lowest << ' ' << p.seen.highest << ' ' << p.seen.offset << ", "
             << p.offset.size() << " offsets, " << p.lengths.size() << " lengths, relative "
             << p.relative_without << ": " << p.distances << " from " << p.origin << ", rate "
             << p.rate << ", numbers " << static_cast<int>(p.numbered) << " without "
             << p.numbers_without;
}

extents all_extents(const problem& p) {
  extents all = p.batch;
  all.insert(all.end(), {p.queries, p.keys, p.depth, p.values});
  return all;
}

// With the number of distances as the extent of the loop of keys.
extents extents_by_distance(const problem& p) {
  extents all = all_extents(p);
  all[p.batch.size() + 1] = p.distances;
  return all;
}

// The bits of the four last loops.
struct loop_bits {
  unsigned query, key, depth, value;
  explicit loop_bits(const problem& p)
      : query(1u << p.batch.size()), key(query << 1), depth(query << 2), value(query << 3) {}
};

// A row of the scores, with its softmax weights and log-sum-exp.
struct score_row {
  struct score {
    bool hidden;
    double products;   // the sum of the magnitudes of query * key * scale
    double tanh;       // of the score divided by soft_cap
    double all;        // the score with soft_cap and biases
    double magnitude;  // of the terms that add up to `all`
    double kept;       // dropout's factor of the weight
    double weight = 0;
  };
  std::vector<score> keys;
  double statistics = -infinity;
};

// The operands of a problem, with result and statistics computed in double and then rounded.
struct trial {
  problem p;
  extents extent;
  loop_bits bit;
  array<float> query, key, value, g, bias, relative, result, statistics;
  array<std::uint8_t> mask;
  array<std::int32_t> first_places, lengths, places;
  attention_call call;

  explicit trial(const problem& of)
      : p(of),
        extent(all_extents(p)),
        bit(p),
        query(extent, p.how, p.query_without | bit.key | bit.value),
        key(extent, p.how, p.key_without | bit.query | bit.value),
        value(extent, p.how, p.value_without | bit.query | bit.depth),
        g(extent, p.how, bit.key | bit.depth),
        bias(extent, p.how, p.bias_without | bit.depth | bit.value),
        relative(extents_by_distance(p), p.how, p.relative_without | bit.depth | bit.value),
        result(extent, p.how, bit.key | bit.depth),
        statistics(extent, p.how, bit.key | bit.depth | bit.value),
        mask(extent, p.how, p.mask_without | bit.depth | bit.value),
        first_places(numbers(p.offset)),
        lengths(numbers(p.lengths)),
        places(extent, p.numbered, p.numbers_without | bit.depth | bit.value) {
    unsigned seed = 1;
    for (array<float>* a : {&query, &key, &value, &g, &bias, &relative}) {
      std::mt19937 random(seed++);
      std::normal_distribution<float> normal(0, 1);
      for (float& x : a->memory) x = normal(random);
    }
    fill(mask, seed);
    call.loops = static_cast<int>(extent.size());
    std::copy(extent.begin(), extent.end(), call.extent);
    call.query = query.as_operand();
    call.key = key.as_operand();
    call.value = value.as_operand();
    call.g = g.as_operand();
    call.result = result.as_operand();
    call.statistics = statistics.as_operand();
    if (p.bias_without != absent) call.bias = bias.as_operand();
    if (p.relative_without != absent) {
      call.relative = relative.as_operand();
      call.distances = p.distances;
      call.origin = p.origin;
    }
    if (p.mask_without != absent) call.mask = mask.as_operand();
    if (!p.offset.empty()) call.offset = first_places.as_operand();
    if (!p.lengths.empty()) call.lengths = lengths.as_operand();
    call.scale = p.scale;
    call.soft_cap = p.soft_cap;
    call.seen = p.seen;
    if (p.rate > 0) {
      std::copy(places.stride.begin(), places.stride.end(), call.numbers.stride);
      call.drop = {0x89abcdef, weft::drop_below(p.rate)};
      call.random = {0x0123456789abcdef, 0xfedcba9876543210};
    }
    for (auto i : p.hidden) hide(i);
    for_queries([&](const extents& at) {
      const score_row row = scores(at);
      put(call.statistics, at, row.statistics);
      for_values([&](std::ptrdiff_t e) { put(call.result, with(at, 0, 0, e), sum(row, at, e)); });
    });
  }

  array<std::int32_t> numbers(const std::vector<std::int32_t>& some) const {
    array<std::int32_t> a(extent, p.how, bit.query | bit.key | bit.depth | bit.value);
    for (std::size_t i = 0; i < a.memory.size() && !some.empty(); ++i)
      a.memory[i] = some[i % some.size()];
    return a;
  }

  static void put(const operand& o, const extents& at, double x) {
    static_cast<float*>(o.data)[offset(o, at)] = static_cast<float>(x);
  }

  void hide(std::ptrdiff_t query_index) {
    for_queries([&](extents at) {
      if (at[p.batch.size()] != query_index) return;
      for (std::ptrdiff_t j = 0; j < p.keys; ++j)
        static_cast<std::uint8_t*>(call.mask.data)[offset(call.mask, with(at, j, 0, 0))] = 0;
    });
  }

  // Calls f with each index of the batch and the queries.
  template <class F>
  void for_queries(F f) const {
    weft::kernels::call c = make_call(weft::op::copy, extent);
    std::fill(c.extent + p.batch.size() + 1, c.extent + c.loops, 1);
    for_points(c, f);
  }
  template <class F>
  void for_values(F f) const {
    for (std::ptrdiff_t e = 0; e < p.values; ++e) f(e);
  }

  extents with(extents at, std::ptrdiff_t key_index, std::ptrdiff_t d, std::ptrdiff_t e) const {
    const std::size_t n = p.batch.size();
    at[n + 1] = key_index, at[n + 2] = d, at[n + 3] = e;
    return at;
  }
  static double get(const operand& o, const extents& index) { return at(o, offset(o, index)); }

  std::ptrdiff_t distance_of(const extents& index) const {
    const std::size_t n = p.batch.size();
    const double first = call.offset.data != nullptr ? get(call.offset, index) : 0;
    return index[n + 1] - index[n] - p.seen.offset - static_cast<std::ptrdiff_t>(first);
  }
  // The index of the relative bias that is added for a query and a key.
  extents looked_up(extents index) const {
    index[p.batch.size() + 1] =
        std::clamp<std::ptrdiff_t>(distance_of(index) + p.origin, 0, p.distances - 1);
    return index;
  }

  double kept(const extents& index) const {
    const auto place = static_cast<std::uint32_t>(offset(call.numbers, index));
    if (p.rate == 0) return 1;
    const std::uint32_t word = random_word(call.random, call.drop.salt, place);
    return is_dropped(word, call.drop.below) ? 0 : 1 / (1 - call.drop.below * 0x1p-24);
  }

  bool hidden(const extents& index) const {
    const std::ptrdiff_t key_index = index[p.batch.size() + 1];
    if (call.lengths.data != nullptr &&
        key_index >= static_cast<std::ptrdiff_t>(get(call.lengths, index)))
      return true;
    const std::ptrdiff_t distance = distance_of(index);
    return distance < p.seen.lowest || distance > p.seen.highest ||
           (call.mask.data != nullptr && get(call.mask, index) == 0);
  }

  score_row scores(const extents& at) const {
    score_row row;
    double most = -infinity;
    for (std::ptrdiff_t j = 0; j < p.keys; ++j) {
      const extents index = with(at, j, 0, 0);
      score_row::score s{};
      s.hidden = hidden(index);
      s.kept = kept(index);
      double x = 0;
      for (std::ptrdiff_t d = 0; d < p.depth; ++d) {
        const extents i = with(at, j, d, 0);
        const double product = p.scale * get(call.query, i) * get(call.key, i);
        x += product;
        s.products += std::abs(product);
      }
      if (p.soft_cap != 0) {
        s.tanh = std::tanh(x / p.soft_cap);
        x = p.soft_cap * s.tanh;
      }
      s.magnitude = std::abs(x);
      if (call.bias.data != nullptr) {
        x += get(call.bias, index);
        s.magnitude += std::abs(x);
      }
      if (call.relative.data != nullptr) {
        x += get(call.relative, looked_up(index));
        s.magnitude += std::abs(x);
      }
      s.all = x;
      if (!s.hidden) most = std::max(most, x);
      row.keys.push_back(s);
    }
    double total = 0;
    for (const auto& s : row.keys)
      if (!s.hidden) total += std::exp(s.all - most);
    if (total == 0) return row;
    row.statistics = most + std::log(total);
    for (auto& s : row.keys)
      if (!s.hidden) s.weight = std::exp(s.all - row.statistics);
    return row;
  }

  double sum(const score_row& row, const extents& at, std::ptrdiff_t e) const {
    double x = 0;
    for (std::ptrdiff_t j = 0; j < p.keys; ++j) {
      const auto& s = row.keys[static_cast<std::size_t>(j)];
      const double w = s.kept * s.weight;
      if (w != 0) x += w * get(call.value, with(at, j, 0, e));
    }
    return x;
  }

  // The sum of g * result, in double.
  double loss() const {
    double x = 0;
    for_queries([&](const extents& at) {
      const score_row row = scores(at);
      for_values([&](std::ptrdiff_t e) { x += get(call.g, with(at, 0, 0, e)) * sum(row, at, e); });
    });
    return x;
  }
};

// Buffers for the gradients.
struct gradients {
  array<float> query, key, value, bias, relative;

  explicit gradients(const trial& t)
      : query(t.extent, t.p.how, t.p.query_without | t.bit.key | t.bit.value, true),
        key(t.extent, t.p.how, t.p.key_without | t.bit.query | t.bit.value, true),
        value(t.extent, t.p.how, t.p.value_without | t.bit.query | t.bit.depth, true),
        bias(t.extent, t.p.how, t.p.bias_without | t.bit.depth | t.bit.value, true),
        relative(extents_by_distance(t.p), t.p.how,
                 t.p.relative_without | t.bit.depth | t.bit.value, true) {}

  void of(const problem& p, attention_call& c) {
    if (p.bias_without != absent && p.wants_bias) c.bias_gradient = bias.as_operand();
    if (p.relative_without != absent && p.wants_relative)
      c.relative_gradient = relative.as_operand();
    c.query_gradient = query.as_operand();
    c.key_gradient = key.as_operand();
    c.value_gradient = value.as_operand();
  }
  bool operator==(const gradients& o) const {
    const auto same = [](const array<float>& a, const array<float>& b) {
      return std::memcmp(a.memory.data(), b.memory.data(), a.memory.size() * sizeof(float)) == 0;
    };
    return same(query, o.query) && same(key, o.key) && same(value, o.value) && same(bias, o.bias) &&
           same(relative, o.relative);
  }
};

// The expected gradients. With u half of epsilon, each sum of n products is off by n u times the
// sum of their magnitudes, and each other operation by u; errors are propagated to first order.
struct expected_gradients {
  expectation query, key, value, bias, relative;

  explicit expected_gradients(const trial& t, gradients& into)
      : query(into.query),
        key(into.key),
        value(into.value),
        bias(into.bias),
        relative(into.relative) {
    attention_call c = t.call;
    const problem& p = t.p;
    into.of(p, c);
    expect_zeros(t, c, into);
    const double u = epsilon / 2;
    double terms = static_cast<double>(p.queries + p.keys);
    for (auto n : p.batch) terms += static_cast<double>(p.queries * n);
    // The gradient of a bias is accumulated block by block: over queries, then, where keys share
    // elements too, over both.
    const auto rows = std::min(p.queries, max_adjoint_queries);
    const auto columns = std::min(p.keys, max_adjoint_keys);
    auto bias_terms = static_cast<double>((p.queries / max_adjoint_queries + 1) *
                                          (p.keys / max_adjoint_keys + 1));
    for (auto n : p.batch) bias_terms *= static_cast<double>(n);
    bias_terms += static_cast<double>(rows + rows + columns);
    const auto depth = static_cast<double>(p.depth), values = static_cast<double>(p.values);
    t.for_queries([&](const extents& at) {
      const score_row row = t.scores(at);
      if (row.statistics == -infinity) return;
      double dot = 0, dots = 0;
      t.for_values([&](std::ptrdiff_t e) {
        const double x = t.get(c.g, t.with(at, 0, 0, e)) * t.sum(row, at, e);
        dot += x;
        dots += std::abs(x);
      });
      const double dot_error = (values + 5) * u * dots;
      for (std::ptrdiff_t j = 0; j < p.keys; ++j) {
        const auto& s = row.keys[static_cast<std::size_t>(j)];
        if (s.hidden) continue;
        const double product_error = (depth + 3) * u * s.products;
        const double slope = 1 - s.tanh * s.tanh;
        const double tanh_error =
            p.soft_cap == 0 ? 0 : slope * product_error / p.soft_cap + 4 * u * std::abs(s.tanh);
        const double score_error =
            (p.soft_cap == 0 ? product_error : p.soft_cap * tanh_error) + 2 * u * s.magnitude;
        const double exponent = s.all - row.statistics;
        // The error bound of math::twice_exp.
        const double exp_error = 2e-7 + 3e-9 * std::abs(exponent);
        const double weight_error = score_error + u * std::abs(row.statistics) +
                                    u * std::abs(exponent) + exp_error;  // relative
        double dp = 0, dps = 0;
        t.for_values([&](std::ptrdiff_t e) {
          const extents i = t.with(at, j, 0, e);
          const double x = s.kept * t.get(c.g, i) * t.get(c.value, i);
          dp += x;
          dps += std::abs(x);
        });
        const double dp_error = (values + 2) * u * dps;
        const double ds = s.weight * (dp - dot) * slope * p.scale;
        const double ds_error =
            std::abs(ds) * (weight_error + 6 * u) +
            s.weight * p.scale *
                (slope * (dp_error + dot_error) + std::abs(dp - dot) * 2 * tanh_error);
        // The gradients of the biases, which are added to the score.
        const double dz = s.weight * (dp - dot);
        const double dz_error =
            std::abs(dz) * (weight_error + 3 * u) + s.weight * (dp_error + dot_error);
        const extents pair = t.with(at, j, 0, 0);
        if (c.bias_gradient.data != nullptr)
          add(bias, into.bias, offset(c.bias_gradient, pair), dz, 1, dz_error, bias_terms);
        if (c.relative_gradient.data != nullptr)
          add(relative, into.relative, offset(c.relative_gradient, t.looked_up(pair)), dz, 1,
              dz_error, bias_terms);
        t.for_values([&](std::ptrdiff_t e) {
          const extents i = t.with(at, j, 0, e);
          add(value, into.value, offset(c.value_gradient, i), s.kept * s.weight, t.get(c.g, i),
              s.kept * s.weight * (weight_error + 2 * u), terms);
        });
        for (std::ptrdiff_t d = 0; d < p.depth; ++d) {
          const extents i = t.with(at, j, d, 0);
          add(query, into.query, offset(c.query_gradient, i), ds, t.get(c.key, i), ds_error, terms);
          add(key, into.key, offset(c.key_gradient, i), ds, t.get(c.query, i), ds_error, terms);
        }
      }
    });
  }

  static void add(expectation& e, const array<float>& a, std::ptrdiff_t at, double x, double y,
                  double x_error, double terms) {
    const auto i = static_cast<std::size_t>(a.first + at);
    e.value[i] += x * y;
    // Weights too small for a normal float are flushed to 0.
    const double smallest = std::numeric_limits<float>::min();
    e.tolerance[i] += std::abs(y) * (x_error + smallest) + terms * epsilon / 2 * std::abs(x * y);
  }

  void expect_zeros(const trial& t, const attention_call& c, gradients& into) {
    const auto all = [&](expectation& e, const array<float>& a, const operand& o,
                         const extents& extent) {
      if (o.data == nullptr) return;
      call points = make_call(weft::op::copy, extent);
      for (int l = 0; l < points.loops; ++l)
        if (o.stride[l] == 0) points.extent[l] = 1;
      // Loops that the operand lacks have stride 0, those of extent 1 that it has do not.
      for_points(points, [&](const extents& i) { e.expect(a, offset(o, i), 0); });
    };
    all(query, into.query, c.query_gradient, t.extent);
    all(key, into.key, c.key_gradient, t.extent);
    all(value, into.value, c.value_gradient, t.extent);
    all(bias, into.bias, c.bias_gradient, t.extent);
    all(relative, into.relative, c.relative_gradient, extents_by_distance(t.p));
  }

  int wrong(const gradients& g) const {
    return query.wrong(g.query) + key.wrong(g.key) + value.wrong(g.value) + bias.wrong(g.bias) +
           relative.wrong(g.relative);
  }
};

// Runs all partitions, in NaN-filled scratch of exactly the size that is asked for.
gradients run(const trial& t, const table& kernels, int parts = 1) {
  gradients all(t);
  attention_call c = t.call;
  all.of(t.p, c);
  const std::size_t bytes = attention_adjoint_scratch_bytes(c);
  const auto scratch = weft::allocate(bytes + 64);
  c.scratch = scratch.get();
  for (int i = parts - 1; i >= 0; --i) {
    std::memset(c.scratch, 0xff, bytes + 64);
    c.part = part_of(i, parts);
    kernels.attention_adjoint(c);
    for (std::size_t k = 0; k < 64; ++k)
      BOOST_TEST_REQUIRE((c.scratch[bytes + k] == std::byte{0xff}), "written beyond the scratch");
  }
  return all;
}

void check(const problem& p) {
  const trial t(p);
  gradients memory(t);
  const expected_gradients expected(t, memory);
  on_every_target([&](const table& kernels) {
    BOOST_TEST(expected.wrong(run(t, kernels)) == 0, "wrong for " << p);
  });
}

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
      for (int parts : {2, 3, 5, 13}) BOOST_TEST((run(t, kernels, parts) == whole));
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
      for (int parts : {2, 5, 13}) BOOST_TEST((run(t, kernels, parts) == whole));
    });
  }
  problem with_dropout{{3, 2, 2}, 17, 150, 8, 8};
  with_dropout.key_without = 2;
  with_dropout.rate = 0.1;
  const trial dropped(with_dropout);
  on_every_target([&](const table& kernels) {
    const gradients whole = run(dropped, kernels);
    for (int parts : {2, 3}) BOOST_TEST((run(dropped, kernels, parts) == whole));
  });
  problem without_keys{{2}, 3, 0, 4, 4};
  without_keys.relative_without = 1;
  without_keys.bias_without = 2;
  const trial nothing(without_keys);
  on_every_target([&](const table& kernels) {
    BOOST_TEST((run(nothing, kernels, 3) == run(nothing, kernels)));
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
