#include <map>
#include <vector>

#include "kernels/arrays.hpp"
#include "kernels/targets.hpp"

using namespace weft;
using namespace weft::kernels;

namespace {

constexpr std::size_t sizes[]{0, 1, 3, 17, 100, 1000};

std::vector<float> random_floats(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x(n);
  for (float& v : x) v = normal(random);
  return x;
}

// Allows the roundings of a few terms of about this magnitude.
bool close(float got, double want, double magnitude) {
  return std::abs(static_cast<double>(got) - want) <= 4 * epsilon * magnitude;
}

double wide(float x) {
  return static_cast<double>(x);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(update)

BOOST_AUTO_TEST_CASE(sgd_matches_its_formula) {
  on_every_target([](const table& kernels) {
    for (const std::size_t n : sizes)
      for (const float momentum : {0.0f, 0.9f})
        for (const bool nesterov : {false, true})
          for (const bool first : {false, true}) {
            std::vector<float> p = random_floats(n, 1), v = random_floats(n, 2);
            const std::vector<float> g = random_floats(n, 3), p0 = p, v0 = v;
            sgd_step s{.parameter = p.data(),
                       .velocity = momentum != 0 ? v.data() : nullptr,
                       .gradient = g.data(),
                       .size = n,
                       .gradient_scale = 0.5f,
                       .learning_rate = 0.1f,
                       .momentum = momentum,
                       .weight_decay = 0.01f,
                       .nesterov = nesterov,
                       .first = first};
            kernels.sgd(s);
            int wrong = 0;
            for (std::size_t i = 0; i < n; ++i) {
              const double d = wide(g[i]) * 0.5 + wide(s.weight_decay) * wide(p0[i]);
              const double velocity = first ? d : wide(momentum) * wide(v0[i]) + d;
              double change = momentum != 0 ? velocity : d;
              if (momentum != 0 && nesterov) change = d + wide(momentum) * velocity;
              const double magnitude =
                  std::abs(wide(p0[i])) + std::abs(wide(v0[i])) + std::abs(wide(g[i]));
              wrong += !close(p[i], wide(p0[i]) - wide(s.learning_rate) * change, magnitude);
              if (momentum != 0) wrong += !close(v[i], velocity, magnitude);
            }
            BOOST_TEST(wrong == 0);
            if (momentum == 0) BOOST_TEST((v == v0));
          }
  });
}

BOOST_AUTO_TEST_CASE(adamw_matches_its_formula) {
  on_every_target([](const table& kernels) {
    for (const std::size_t n : sizes) {
      std::vector<float> p = random_floats(n, 1), m = random_floats(n, 2), v = random_floats(n, 3);
      for (float& x : v) x *= x;
      const std::vector<float> g = random_floats(n, 4), p0 = p, m0 = m, v0 = v;
      adamw_step s;
      s.parameter = p.data();
      s.first_moment = m.data();
      s.second_moment = v.data();
      s.gradient = g.data();
      s.size = n;
      s.gradient_scale = 0.25f;
      s.beta1 = 0.9;
      s.beta2 = 0.999;
      s.decay = 0.9999f;
      s.step_size = 0.01f;
      s.sqrt_correction2 = 0.5f;
      s.epsilon = 1e-8f;
      kernels.adamw(s);
      int wrong = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const double b1 = static_cast<double>(s.beta1), b2 = static_cast<double>(s.beta2);
        const double scaled = wide(g[i]) * 0.25;
        const double mi = b1 * wide(m0[i]) + (1 - b1) * scaled;
        const double vi = b2 * wide(v0[i]) + (1 - b2) * scaled * scaled;
        const double change =
            wide(s.step_size) * mi / (std::sqrt(vi) / wide(s.sqrt_correction2) + wide(s.epsilon));
        wrong += !close(m[i], mi, std::abs(wide(m0[i])) + std::abs(scaled));
        wrong += !close(v[i], vi, vi);
        wrong += !close(p[i], wide(p0[i]) * wide(s.decay) - change,
                        std::abs(wide(p0[i])) + std::abs(change) +
                            std::abs(wide(m0[i]) / std::sqrt(vi)) * wide(s.step_size));
      }
      BOOST_TEST(wrong == 0);
    }
  });
}

BOOST_AUTO_TEST_CASE(sums_of_squares_are_accumulated_in_double) {
  std::map<std::size_t, double> of_first;
  on_every_target([&](const table& kernels) {
    for (const std::size_t n : sizes) {
      const std::vector<float> x = random_floats(n, 5);
      double expected = 0;
      for (const float v : x) expected += wide(v) * wide(v);
      const double got = kernels.sum_of_squares(x.data(), n);
      BOOST_TEST(std::abs(got - expected) <= 1e-13 * expected);
      BOOST_TEST(got == kernels.sum_of_squares(x.data(), n));
      BOOST_TEST(got == of_first.emplace(n, got).first->second, "another target gives other bits");
    }
    const std::vector<float> large(100, 1e30f);
    BOOST_TEST(kernels.sum_of_squares(large.data(), 100) > 9e61);
  });
}

BOOST_AUTO_TEST_SUITE_END()
