// Calls of attention with any options, and their check on every target against their definition.
#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "kernels/aligned.hpp"
#include "kernels/attention_options.hpp"
#include "kernels/attention_scores.hpp"
#include "kernels/families.hpp"
#include "kernels/parts.hpp"
#include "kernels/targets.hpp"
#include "weft/kernels/attention_scratch.hpp"

namespace weft::kernels::attention_trials {

using options = attention_options;

// An attention's operands and expected results.
class trial {
 public:
  explicit trial(const options& o)
      : all_(o, 1), result_(all_[role::result]), statistics_(all_[role::statistics]) {
    // Some biases mask keys out.
    const auto masks_out = [](array<float>& a, std::size_t first, std::size_t step) {
      for (std::size_t i = first; i < a.memory.size(); i += step) a.memory[i] = -infinity;
    };
    masks_out(all_[role::bias], 0, 7);
    masks_out(all_[role::relative], 3, 11);
    masks_out(all_[role::sink], 4, 9);
    expect();
  }

  // What differs from the expected results.
  std::string differences(const table& kernels) {
    run(kernels, 1);
    std::string differ = result_.differences(all_[role::result]);
    if (all_.o.has_statistics) differ += statistics_.differences(all_[role::statistics]);
    return differ;
  }

  // The results.
  std::vector<float> bits(const table& kernels, int parts) {
    run(kernels, parts);
    std::vector<float> both = all_[role::result].memory;
    both.insert(both.end(), all_[role::statistics].memory.begin(),
                all_[role::statistics].memory.end());
    return both;
  }

 private:
  void run(const table& kernels, int parts) {
    for (array<float>* a : {&all_[role::result], &all_[role::statistics]})
      std::fill(a->memory.begin(), a->memory.end(), a->canary);
    attention_call c = all_.call;
    for (int i = 0; i < parts; ++i) {
      const aligned scratch = scratch_for(c, attention_scratch_bytes(c));
      c.part = part_of(i, parts);
      kernels.attention(c);
    }
  }

  // Computes the expected results in double, with bounds for the error in float.
  void expect() {
    const attention_call& c = all_.call;
    const attention_loops loop(c.loops);
    const auto e = static_cast<std::size_t>(loop.value);
    for_queries(c, [&](extents index) {
      const score_row row = scores_of(c, index);
      double farthest = std::isinf(row.sink) ? 0 : std::abs(row.sink), score_error = 0;
      for (const auto& s : row.keys) {
        // Each term is rounded with the scale, with the product and with the sums; soft_cap's
        // tanh and its product, and the biases, once or twice each.
        const double terms = static_cast<double>(all_.o.depth);
        score_error = std::max(score_error,
                               (terms + 3) / 2 * s.products + 3 * std::abs(s.all) + 3 * s.biases);
        farthest = std::max(farthest, std::abs(s.all));
      }
      // The arguments of exp, distances to the maximum, are rounded, and exp is within 2 epsilon;
      // so are the factors that rescale earlier blocks. Sums run over blocks of keys, then over the
      // blocks.
      const double blocks = static_cast<double>(all_.o.key) / attention_key_block + 1;
      const double error =
          epsilon * (score_error + 2 * farthest + 2 + 3 * blocks +
                     (static_cast<double>(std::min<std::ptrdiff_t>(
                          all_.o.key, static_cast<std::ptrdiff_t>(attention_key_block))) +
                      blocks) /
                         2);
      if (all_.o.has_statistics) {
        const bool hidden = row.statistics == -score_row::infinity;
        statistics_.expect(all_[role::statistics], offset(c[role::statistics], index),
                           row.statistics,
                           hidden ? 0 : error + 2 * epsilon * std::abs(row.statistics));
      }
      for (index[e] = 0; index[e] < all_.o.value; ++index[e]) {
        const line value(c[role::value], loop.key, index);
        double sum = 0, magnitude = 0, flushed = 0;
        for (std::ptrdiff_t j = 0; j < all_.o.key; ++j) {
          const auto& s = row.keys[static_cast<std::size_t>(j)];
          if (s.weight == 0) continue;  // 0 * NaN would be NaN
          const double v = s.kept * value[j];
          sum += s.weight * v;
          magnitude += std::abs(s.weight * v);
          flushed += 0x1p-125 * std::abs(v) / row.total;
        }
        // Numerator and denominator have that relative error, and their quotient three roundings
        // more; and exponentials below 2^-125 are flushed to 0.
        result_.expect(all_[role::result], offset(c[role::result], index), sum,
                       (2 * error + 3 * epsilon) * magnitude + flushed);
      }
    });
  }

  attention_operands all_;
  expectation result_, statistics_;
};

inline void check(const std::vector<options>& all) {
  for (const options& o : all) {
    trial t(o);
    results_of_families same;
    on_every_target([&](const table& kernels) {
      const std::string differences = t.differences(kernels);
      BOOST_TEST(differences == "", differences << ", of " << o);
      const std::string bits = same.differences(t.bits(kernels, 1));
      BOOST_TEST(bits == "", "not the family's bits: " << bits << ", of " << o);
    });
  }
}

}  // namespace weft::kernels::attention_trials
