// Calls of the adjoint of attention with any options, and their check on every target against its
// formulas in double.
#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "kernels/attention_options.hpp"
#include "kernels/attention_scores.hpp"
#include "kernels/families.hpp"
#include "kernels/parts.hpp"
#include "kernels/targets.hpp"
#include "weft/kernels/attention_adjoint_scratch.hpp"
#include "weft/run/memory.hpp"

namespace weft::kernels::adjoint_trials {

using problem = attention_options;

// The operands of a problem, with result and statistics computed in double and then rounded.
struct trial : attention_operands {
  std::vector<score_row> rows;  // of each query

  explicit trial(const problem& of) : attention_operands(of, 0.5f) {
    call.scale = 0.5;
    for_queries(call, [&](const extents& at) {
      const score_row& row = rows.emplace_back(scores_of(call, at));
      put(call[role::statistics], at, row.statistics);
      for_values([&](std::ptrdiff_t e) {
        put(call[role::result], with_key(at, 0, 0, e), sum(row, at, e));
      });
    });
  }

  static void put(const operand& o, const extents& at, double x) {
    static_cast<float*>(o.data)[weft::kernels::offset(o, at)] = static_cast<float>(x);
  }

  template <class F>
  void for_values(F f) const {
    for (std::ptrdiff_t e = 0; e < o.value; ++e) f(e);
  }

  double sum(const score_row& row, const extents& at, std::ptrdiff_t e) const {
    double x = 0;
    const line values(call[role::value], attention_loops(call.loops).key, with_key(at, 0, 0, e));
    for (std::ptrdiff_t j = 0; j < o.key; ++j) {
      const auto& s = row.keys[static_cast<std::size_t>(j)];
      const double w = s.kept * s.weight;
      if (w != 0) x += w * values[j];
    }
    return x;
  }

  // The sum of g * result, in double.
  double loss() const {
    double x = 0;
    for_queries(call, [&](const extents& at) {
      const score_row row = scores_of(call, at);
      for_values([&](std::ptrdiff_t e) {
        x += get(call[role::g], with_key(at, 0, 0, e)) * sum(row, at, e);
      });
    });
    return x;
  }
};

// The slots of the gradients, which are the last ones.
inline constexpr std::span gradient_slots(std::ranges::find_if(attention_adjoint_slots,
                                                               is_gradient),
                                          attention_adjoint_slots.end());
// The place of an operand's gradient among them.
constexpr std::size_t gradient_for(role what) {
  return static_cast<std::size_t>(std::ranges::find(gradient_slots, what, &slot::gradient_of) -
                                  gradient_slots.begin());
}

// The gradients that need not be requested: all, none, and all but one.
inline attention_option unwanted_gradients() {
  std::vector<attention_option::value> values{
      {"all gradients", [](problem& p) { p.unwanted.clear(); }}};
  std::vector<role> all;
  for (const slot& s : gradient_slots) {
    if (s.is != presence::optional) continue;
    all.push_back(s.gradient_of);
    values.push_back({words("no gradient for the ", name_of(s.gradient_of)),
                      [what = s.gradient_of](problem& p) { p.unwanted = {what}; }});
  }
  values.push_back({"required gradients", [all](problem& p) { p.unwanted = all; }});
  return values;
}

// Buffers for the gradients.
struct gradients {
  std::vector<array<float>> all;

  explicit gradients(const trial& t) {
    for (const slot& s : gradient_slots) {
      const extents& stride = t[s.gradient_of].stride;
      unsigned without = 0;
      for (std::size_t l = 0; l < stride.size(); ++l) without |= (stride[l] == 0 ? 1u : 0u) << l;
      all.emplace_back(t.extents_of(s), t.o.how, without, true);
    }
  }

  // Requests those of operands that are present.
  void request(const problem& p, attention_call& c) {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (const slot& s = gradient_slots[i];
          c[s.gradient_of].data != nullptr && std::ranges::count(p.unwanted, s.gradient_of) == 0)
        c[s.what] = all[i].as_operand();
  }
  // Where they differ from others, bit by bit.
  std::string differences(const gradients& others) const {
    std::string text;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (const auto d = different_bits(all[i].memory, others.all[i].memory); !d.empty())
        text += words(name_of(gradient_slots[i].what), ": ", d, "; ");
    return text;
  }
};

static_assert(handles_gradients_of_attention({role::query, role::key, role::value, role::bias,
                                              role::relative, role::sink}),
              "tests: expected_gradients has no formula for an operand of attention");
// The expected gradients. With u half of epsilon, each sum of n products is off by n u times the
// sum of their magnitudes, and each other operation by u; errors are propagated to first order.
struct expected_gradients {
  std::vector<expectation> all;
  std::vector<std::ptrdiff_t> first;

  explicit expected_gradients(const trial& t) {
    gradients into(t);
    attention_call c = t.call;
    const problem& p = t.o;
    into.request(p, c);
    for (std::size_t i = 0; i < into.all.size(); ++i) {
      const array<float>& a = into.all[i];
      const operand& o = c[gradient_slots[i].what];
      expectation& e = all.emplace_back(a);
      first.push_back(a.first);
      if (o.data == nullptr) continue;
      extents points = t.extents_of(gradient_slots[i]);
      for (std::size_t l = 0; l < points.size(); ++l)
        if (o.stride[l] == 0) points[l] = 1;
      // Loops that the operand lacks have stride 0, those of extent 1 that it has do not.
      for_points(points, [&](const extents& at) { e.expect(a, offset(o, at), 0); });
    }
    const attention_loops loop(c.loops);
    const double u = epsilon / 2;
    double terms = static_cast<double>(p.query + p.key);
    for (auto n : p.batch) terms += static_cast<double>(p.query * n);
    // The gradient of a bias is accumulated block by block: over queries, then, where keys share
    // elements too, over both.
    const auto rows = std::min(p.query, max_adjoint_queries);
    const auto columns = std::min(p.key, max_adjoint_keys);
    auto bias_terms =
        static_cast<double>((p.query / max_adjoint_queries + 1) * (p.key / max_adjoint_keys + 1));
    for (auto n : p.batch) bias_terms *= static_cast<double>(n);
    bias_terms += static_cast<double>(rows + rows + columns);
    const auto depth = static_cast<double>(p.depth), values = static_cast<double>(p.value);
    auto next = t.rows.begin();
    for_queries(t.call, [&](const extents& at) {
      const score_row& row = *next++;
      if (row.statistics == -score_row::infinity) return;
      double dot = 0, dots = 0;
      t.for_values([&](std::ptrdiff_t e) {
        const double x = get(c[role::g], with_key(at, 0, 0, e)) * t.sum(row, at, e);
        dot += x;
        dots += std::abs(x);
      });
      const double dot_error = (values + 5) * u * dots;
      if (c[role::sink_gradient].data != nullptr) {
        const double exponent = row.sink - row.statistics, weight = std::exp(exponent);
        add(role::sink, offset(c[role::sink_gradient], at), -weight * dot, 1,
            weight * (dot_error +
                      (u * (std::abs(row.statistics) + std::abs(exponent) + 2)) * std::abs(dot)),
            bias_terms);
      }
      for (std::ptrdiff_t j = 0; j < p.key; ++j) {
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
        const line g_row(c[role::g], loop.value, pair), value_row(c[role::value], loop.value, pair);
        const line query_row(c[role::query], loop.depth, pair),
            key_row(c[role::key], loop.depth, pair);
        t.for_values([&](std::ptrdiff_t e) {
          const double x = s.kept * g_row[e] * value_row[e];
          dp += x;
          dps += std::abs(x);
        });
        const double dp_error = (values + 2) * u * dps;
        const double ds = s.weight * (dp - dot) * slope * c.scale;
        const double ds_error =
            std::abs(ds) * (weight_error + 6 * u) +
            s.weight * c.scale *
                (slope * (dp_error + dot_error) + std::abs(dp - dot) * 2 * tanh_error);
        // The gradients of the biases, which are added to the score.
        const double dz = s.weight * (dp - dot);
        const double dz_error =
            std::abs(dz) * (weight_error + 3 * u) + s.weight * (dp_error + dot_error);
        if (c[role::bias_gradient].data != nullptr)
          add(role::bias, offset(c[role::bias_gradient], pair), dz, 1, dz_error, bias_terms);
        if (c[role::relative_gradient].data != nullptr)
          add(role::relative, offset(c[role::relative_gradient], looked_up(c, pair)), dz, 1,
              dz_error, bias_terms);
        const line to_query(c[role::query_gradient], loop.depth, pair),
            to_key(c[role::key_gradient], loop.depth, pair),
            to_value(c[role::value_gradient], loop.value, pair);
        t.for_values([&](std::ptrdiff_t e) {
          add(role::value, to_value.first + e * to_value.step, s.kept * s.weight, g_row[e],
              s.kept * s.weight * (weight_error + 2 * u), terms);
        });
        for (std::ptrdiff_t d = 0; d < p.depth; ++d) {
          add(role::query, to_query.first + d * to_query.step, ds, key_row[d], ds_error, terms);
          add(role::key, to_key.first + d * to_key.step, ds, query_row[d], ds_error, terms);
        }
      }
    });
  }

  void add(role of, std::ptrdiff_t at, double x, double y, double x_error, double terms) {
    expectation& e = all[gradient_for(of)];
    const auto i = static_cast<std::size_t>(first[gradient_for(of)] + at);
    e.value[i] += x * y;
    // Weights too small for a normal float are flushed to 0.
    const double smallest = std::numeric_limits<float>::min();
    e.tolerance[i] += std::abs(y) * (x_error + smallest) + terms * epsilon / 2 * std::abs(x * y);
  }

  std::string differences(const gradients& g) const {
    std::string text;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (const auto d = all[i].differences(g.all[i]); !d.empty())
        text += words(name_of(gradient_slots[i].what), ": ", d, "; ");
    return text;
  }
};

// Runs all partitions, in NaN-filled scratch of exactly the size that is asked for.
inline gradients run(const trial& t, const table& kernels, int parts = 1) {
  gradients all(t);
  attention_call c = t.call;
  all.request(t.o, c);
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
  const expected_gradients expected(t);
  results_of_families same;
  on_every_target([&](const table& kernels) {
    const gradients all = run(t, kernels);
    const std::string differences = expected.differences(all);
    BOOST_TEST(differences == "", differences << "of " << p);
    std::vector<float> bits;
    for (const array<float>& a : all.all) bits.insert(bits.end(), a.memory.begin(), a.memory.end());
    const std::string different = same.differences(bits);
    BOOST_TEST(different == "", "not the family's bits: " << different << " of " << p);
  });
}
inline void check(const std::vector<problem>& all) {
  for (const problem& p : all) check(p);
}

}  // namespace weft::kernels::adjoint_trials
