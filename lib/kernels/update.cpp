#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/update.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include <algorithm>
#include <cstddef>

#include "kernels/export-inl.h"
#include "kernels/row-inl.h"
#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/kernels.hpp"
#include "weft/kernels/vec_array-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {
namespace {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

HWY_INLINE V value(float x) {
  return hn::Set(D(), x);
}

// Calls f(memory, i) for each vector of n elements, whose first is element i.
template <class F>
HWY_INLINE void for_vectors(std::size_t n, F f) {
  const std::size_t lanes = hn::Lanes(D());
  const std::size_t pairs = n - n % (2 * lanes), vectors = n - n % lanes;
  for (std::size_t i = 0; i < pairs; i += 2 * lanes) {
    f(full_vector<float>(), i);
    f(full_vector<float>(), i + lanes);
  }
  if (pairs < vectors) f(full_vector<float>(), pairs);
  if (vectors < n) f(partial_vector<float>{n - vectors}, vectors);
}

template <bool with_momentum, bool nesterov>
void descend(const sgd_step& step) {
  const sgd_step s = step;  // a copy, which no store can alias
  for_vectors(s.size, [&](auto memory, std::size_t i) HWY_ATTR {
    const V p = memory.load(s.parameter + i);
    V d = hn::Mul(memory.load(s.gradient + i), value(s.gradient_scale));
    d = hn::MulAdd(value(s.weight_decay), p, d);
    if constexpr (with_momentum) {
      const V velocity = hn::MulAdd(value(s.momentum), memory.load(s.velocity + i), d);
      memory.store(velocity, s.velocity + i);
      d = nesterov ? hn::MulAdd(value(s.momentum), velocity, d) : velocity;
    }
    memory.store(hn::NegMulAdd(value(s.learning_rate), d, p), s.parameter + i);
  });
}

void sgd(const sgd_step& s) noexcept {
  if (s.momentum == 0) return descend<false, false>(s);
  if (s.first) std::fill_n(s.velocity, s.size, 0.0f);
  s.nesterov ? descend<true, true>(s) : descend<true, false>(s);
}

void adamw(const adamw_step& step) noexcept {
  const adamw_step s = step;  // a copy, which no store can alias
  // In double, as the betas are close to 1.
  const auto rest1 = static_cast<float>(1 - static_cast<double>(s.beta1));
  const auto rest2 = static_cast<float>(1 - static_cast<double>(s.beta2));
  const auto beta1 = static_cast<float>(s.beta1);
  const auto beta2 = static_cast<float>(s.beta2);
  // The second bias correction is applied to the step size and to epsilon, which saves a division.
  const float step_size = s.step_size * s.sqrt_correction2;
  const float epsilon = s.epsilon * s.sqrt_correction2;
  for_vectors(s.size, [&](auto memory, std::size_t i) HWY_ATTR {
    const V g = hn::Mul(memory.load(s.gradient + i), value(s.gradient_scale));
    const V m = hn::MulAdd(value(beta1), memory.load(s.first_moment + i), hn::Mul(value(rest1), g));
    const V v = hn::MulAdd(value(beta2), memory.load(s.second_moment + i),
                           hn::Mul(hn::Mul(value(rest2), g), g));
    const V denominator = hn::Add(hn::Sqrt(v), value(epsilon));
    const V p = hn::Mul(memory.load(s.parameter + i), value(s.decay));
    memory.store(m, s.first_moment + i);
    memory.store(v, s.second_moment + i);
    memory.store(hn::NegMulAdd(value(step_size), hn::Div(m, denominator), p), s.parameter + i);
  });
}

// In double, so that squares neither overflow nor lose what small elements add. Element i is added
// to sum i % 32, whatever the target's lanes are, and its square is exact.
double sum_of_squares(const float* x, std::size_t n) noexcept {
  constexpr std::size_t count = 32;
  alignas(64) double sums[count]{};
  std::size_t i = 0;
#if HWY_HAVE_FLOAT64
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> narrow;
  constexpr std::size_t lanes = hn::MaxLanes(d);
  using all = vec_array<hn::ScalableTag<double>, static_cast<int>(count / lanes)>;
  auto a = all::of([](int) HWY_ATTR { return hn::Zero(hn::ScalableTag<double>()); });
  const auto at = [](int j) { return static_cast<std::size_t>(j) * lanes; };
  for (; i + count <= n; i += count)
    a.map_indexed([&](auto sum, int j) HWY_ATTR {
      const auto wide = hn::PromoteTo(d, hn::LoadU(narrow, x + i + at(j)));
      return hn::MulAdd(wide, wide, sum);
    });
  a.map_indexed([&](auto sum, int j) HWY_ATTR {
    hn::Store(sum, d, sums + at(j));
    return sum;
  });
#endif
  for (; i < n; ++i) sums[i % count] += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  for (std::size_t half = count / 2; half > 0; half /= 2)
    for (std::size_t j = 0; j < half; ++j) sums[j] += sums[j + half];
  return sums[0];
}

}  // namespace
}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

WEFT_EXPORT(sgd_function, sgd)
WEFT_EXPORT(adamw_function, adamw)
WEFT_EXPORT(sum_function, sum_of_squares)
