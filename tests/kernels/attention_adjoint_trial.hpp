// Calls of the adjoint of attention with any options, and their check on every target against its
// formulas in double.
#pragma once

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
#include "kernels/attention_scores.hpp"
#include "kernels/parts.hpp"
#include "kernels/targets.hpp"
#include "weft/kernels/attention_adjoint_scratch.hpp"
#include "weft/kernels/philox.hpp"
#include "weft/run/memory.hpp"

namespace weft::kernels::adjoint_trials {

// The call has no such mask or bias.
inline constexpr unsigned absent = ~0u;

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
  std::vector<std::int32_t> offset{}, begins{}, lengths{};
  bool for_each_query = false;  // whether begins and lengths are numbers for the queries too
  unsigned relative_without = absent;
  std::ptrdiff_t distances = 1, origin = 0;
  unsigned sink_without = absent;
  // Whether the gradients of the biases that are present are requested.
  bool wants_bias = true, wants_relative = true, wants_sink = true;
  double rate = 0;  // of dropout; next, the layout of its element ids
  layout numbered = layout::contiguous;
  unsigned numbers_without = 0;
};

inline std::ostream& operator<<(std::ostream& out, const problem& p) {
  for (auto n : p.batch) out << n << " x ";
  return out << p.queries << " queries, " << p.keys << " keys, depths " << p.depth << " and "
             << p.values << ", layout " << static_cast<int>(p.how) << ", without "
             << p.query_without << ' ' << p.key_without << ' ' << p.value_without << ", mask "
             << p.mask_without << ", bias " << p.bias_without << ", cap " << p.soft_cap << ", band "
             << p.seen.lowest << ' ' << p.seen.highest << ' ' << p.seen.offset << ", "
             << p.offset.size() << " offsets, " << p.begins.size() << " begins, "
             << p.lengths.size() << " lengths, for each query " << p.for_each_query << ", relative "
             << p.relative_without << ": " << p.distances << " from " << p.origin << ", sink "
             << p.sink_without << ", rate " << p.rate << ", numbers "
             << static_cast<int>(p.numbered) << " without " << p.numbers_without;
}

inline extents all_extents(const problem& p) {
  extents all = p.batch;
  all.insert(all.end(), {p.queries, p.keys, p.depth, p.values});
  return all;
}

// With the number of distances as the extent of the loop of keys.
inline extents extents_by_distance(const problem& p) {
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

// The operands of a problem, with result and statistics computed in double and then rounded.
struct trial {
  problem p;
  extents extent;
  loop_bits bit;
  array<float> query, key, value, g, bias, relative, sink, result, statistics;
  array<std::uint8_t> mask;
  array<std::int32_t> first_places, begins, lengths, places;
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
        sink(extent, p.how, p.sink_without | bit.key | bit.depth | bit.value),
        result(extent, p.how, bit.key | bit.depth),
        statistics(extent, p.how, bit.key | bit.depth | bit.value),
        mask(extent, p.how, p.mask_without | bit.depth | bit.value),
        first_places(numbers(p.offset)),
        begins(numbers(p.begins, p.for_each_query)),
        lengths(numbers(p.lengths, p.for_each_query)),
        places(extent, p.numbered, p.numbers_without | bit.depth | bit.value) {
    unsigned seed = 1;
    for (array<float>* a : {&query, &key, &value, &g, &bias, &relative, &sink}) {
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
    if (p.sink_without != absent) call.sink = sink.as_operand();
    if (p.mask_without != absent) call.mask = mask.as_operand();
    if (!p.offset.empty()) call.offset = first_places.as_operand();
    if (!p.begins.empty()) call.begins = begins.as_operand();
    if (!p.lengths.empty()) call.lengths = lengths.as_operand();
    call.scale = p.scale;
    call.soft_cap = p.soft_cap;
    call.visible = p.seen;
    if (p.rate > 0) {
      std::copy(places.stride.begin(), places.stride.end(), call.element_ids.stride);
      call.drop = {0x89abcdef, weft::drop_threshold(p.rate)};
      call.random = {0x0123456789abcdef, 0xfedcba9876543210};
    }
    for (auto i : p.hidden) hide(i);
    for_queries(call, [&](const extents& at) {
      const score_row row = scores_of(call, at);
      put(call.statistics, at, row.statistics);
      for_values(
          [&](std::ptrdiff_t e) { put(call.result, with_key(at, 0, 0, e), sum(row, at, e)); });
    });
  }

  array<std::int32_t> numbers(const std::vector<std::int32_t>& some,
                              bool for_each_query = false) const {
    array<std::int32_t> a(extent, p.how,
                          (for_each_query ? 0u : bit.query) | bit.key | bit.depth | bit.value);
    for (std::size_t i = 0; i < a.memory.size() && !some.empty(); ++i)
      a.memory[i] = some[i % some.size()];
    return a;
  }

  static void put(const operand& o, const extents& at, double x) {
    static_cast<float*>(o.data)[offset(o, at)] = static_cast<float>(x);
  }

  void hide(std::ptrdiff_t query_index) {
    for_queries(call, [&](extents at) {
      if (at[p.batch.size()] != query_index) return;
      for (std::ptrdiff_t j = 0; j < p.keys; ++j)
        static_cast<std::uint8_t*>(call.mask.data)[offset(call.mask, with_key(at, j, 0, 0))] = 0;
    });
  }

  template <class F>
  void for_values(F f) const {
    for (std::ptrdiff_t e = 0; e < p.values; ++e) f(e);
  }

  double sum(const score_row& row, const extents& at, std::ptrdiff_t e) const {
    double x = 0;
    const line of(call.value, attention_loops(call.loops).key, with_key(at, 0, 0, e));
    for (std::ptrdiff_t j = 0; j < p.keys; ++j) {
      const auto& s = row.keys[static_cast<std::size_t>(j)];
      const double w = s.kept * s.weight;
      if (w != 0) x += w * of[j];
    }
    return x;
  }

  // The sum of g * result, in double.
  double loss() const {
    double x = 0;
    for_queries(call, [&](const extents& at) {
      const score_row row = scores_of(call, at);
      for_values(
          [&](std::ptrdiff_t e) { x += get(call.g, with_key(at, 0, 0, e)) * sum(row, at, e); });
    });
    return x;
  }
};

// Buffers for the gradients.
struct gradients {
  array<float> query, key, value, bias, relative, sink;

  explicit gradients(const trial& t)
      : query(t.extent, t.p.how, t.p.query_without | t.bit.key | t.bit.value, true),
        key(t.extent, t.p.how, t.p.key_without | t.bit.query | t.bit.value, true),
        value(t.extent, t.p.how, t.p.value_without | t.bit.query | t.bit.depth, true),
        bias(t.extent, t.p.how, t.p.bias_without | t.bit.depth | t.bit.value, true),
        relative(extents_by_distance(t.p), t.p.how,
                 t.p.relative_without | t.bit.depth | t.bit.value, true),
        sink(t.extent, t.p.how, t.p.sink_without | t.bit.key | t.bit.depth | t.bit.value, true) {}

  void of(const problem& p, attention_call& c) {
    if (p.bias_without != absent && p.wants_bias) c.bias_gradient = bias.as_operand();
    if (p.relative_without != absent && p.wants_relative)
      c.relative_gradient = relative.as_operand();
    if (p.sink_without != absent && p.wants_sink) c.sink_gradient = sink.as_operand();
    c.query_gradient = query.as_operand();
    c.key_gradient = key.as_operand();
    c.value_gradient = value.as_operand();
  }
  // Where they differ from others, bit by bit.
  std::string differences(const gradients& o) const {
    const auto of = [](const char* name, const array<float>& a, const array<float>& b) {
      const std::string differ = different_bits(a.memory, b.memory);
      return differ.empty() ? "" : name + (" " + differ) + "; ";
    };
    return of("query", query, o.query) + of("key", key, o.key) + of("value", value, o.value) +
           of("bias", bias, o.bias) + of("relative", relative, o.relative) +
           of("sink", sink, o.sink);
  }
};

// The expected gradients. With u half of epsilon, each sum of n products is off by n u times the
// sum of their magnitudes, and each other operation by u; errors are propagated to first order.
struct expected_gradients {
  expectation query, key, value, bias, relative, sink;

  explicit expected_gradients(const trial& t, gradients& into)
      : query(into.query),
        key(into.key),
        value(into.value),
        bias(into.bias),
        relative(into.relative),
        sink(into.sink) {
    attention_call c = t.call;
    const problem& p = t.p;
    into.of(p, c);
    expect_zeros(t, c, into);
    const attention_loops loop(c.loops);
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
    for_queries(t.call, [&](const extents& at) {
      const score_row row = scores_of(t.call, at);
      if (row.statistics == -score_row::infinity) return;
      double dot = 0, dots = 0;
      t.for_values([&](std::ptrdiff_t e) {
        const double x = get(c.g, with_key(at, 0, 0, e)) * t.sum(row, at, e);
        dot += x;
        dots += std::abs(x);
      });
      const double dot_error = (values + 5) * u * dots;
      if (c.sink_gradient.data != nullptr) {
        const double exponent = row.sink - row.statistics, weight = std::exp(exponent);
        add(sink, into.sink, offset(c.sink_gradient, at), -weight * dot, 1,
            weight * (dot_error +
                      (u * (std::abs(row.statistics) + std::abs(exponent) + 2)) * std::abs(dot)),
            bias_terms);
      }
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
        const extents pair = with_key(at, j, 0, 0);
        const line of_g(c.g, loop.value, pair), of_value(c.value, loop.value, pair);
        const line of_query(c.query, loop.depth, pair), of_key(c.key, loop.depth, pair);
        t.for_values([&](std::ptrdiff_t e) {
          const double x = s.kept * of_g[e] * of_value[e];
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
        if (c.bias_gradient.data != nullptr)
          add(bias, into.bias, offset(c.bias_gradient, pair), dz, 1, dz_error, bias_terms);
        if (c.relative_gradient.data != nullptr)
          add(relative, into.relative, offset(c.relative_gradient, looked_up(c, pair)), dz, 1,
              dz_error, bias_terms);
        const line to_query(c.query_gradient, loop.depth, pair),
            to_key(c.key_gradient, loop.depth, pair), to_value(c.value_gradient, loop.value, pair);
        t.for_values([&](std::ptrdiff_t e) {
          add(value, into.value, to_value.first + e * to_value.step, s.kept * s.weight, of_g[e],
              s.kept * s.weight * (weight_error + 2 * u), terms);
        });
        for (std::ptrdiff_t d = 0; d < p.depth; ++d) {
          add(query, into.query, to_query.first + d * to_query.step, ds, of_key[d], ds_error,
              terms);
          add(key, into.key, to_key.first + d * to_key.step, ds, of_query[d], ds_error, terms);
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
      extents points = extent;
      for (std::size_t l = 0; l < points.size(); ++l)
        if (o.stride[l] == 0) points[l] = 1;
      // Loops that the operand lacks have stride 0, those of extent 1 that it has do not.
      for_points(points, [&](const extents& i) { e.expect(a, offset(o, i), 0); });
    };
    all(query, into.query, c.query_gradient, t.extent);
    all(key, into.key, c.key_gradient, t.extent);
    all(value, into.value, c.value_gradient, t.extent);
    all(bias, into.bias, c.bias_gradient, t.extent);
    all(relative, into.relative, c.relative_gradient, extents_by_distance(t.p));
    all(sink, into.sink, c.sink_gradient, t.extent);
  }

  std::string differences(const gradients& g) const {
    const auto of = [](const char* name, const expectation& e, const array<float>& a) {
      const std::string differ = e.differences(a);
      return differ.empty() ? "" : name + (" " + differ) + "; ";
    };
    return of("query", query, g.query) + of("key", key, g.key) + of("value", value, g.value) +
           of("bias", bias, g.bias) + of("relative", relative, g.relative) +
           of("sink", sink, g.sink);
  }
};

// Runs all partitions, in NaN-filled scratch of exactly the size that is asked for.
inline gradients run(const trial& t, const table& kernels, int parts = 1) {
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

inline void check(const problem& p) {
  const trial t(p);
  gradients memory(t);
  const expected_gradients expected(t, memory);
  on_every_target([&](const table& kernels) {
    const std::string differences = expected.differences(run(t, kernels));
    BOOST_TEST(differences == "", differences << "of " << p);
  });
}

}  // namespace weft::kernels::adjoint_trials
