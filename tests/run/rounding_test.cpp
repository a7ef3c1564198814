// What the caller's floating-point mode means for results.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cfenv>
#include <cmath>
#include <vector>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "kernels/targets.hpp"
#include "run/classifier.hpp"
#include "run/pool.hpp"
#include "weft/weft.hpp"

namespace {

using weft::arg;

struct Many : weft::axis<500> {};
struct Few : weft::axis<30> {};
struct Hidden : weft::axis<70> {};

struct functions {
  constexpr auto operator()(weft::scope s) const {
    using weft::as;
    const auto x = s.input<"x", float, Many, Few>();
    const auto layer = weft::nn::linear<Few, Hidden>(s / "layer", x);
    return weft::results(as<"waves">(weft::sin(x) * weft::cos(x)),
                         as<"exponentials">(weft::exp(x) + weft::tanh(x)),
                         as<"logarithms">(weft::log(x * x)), as<"weights">(weft::softmax<Few>(x)),
                         as<"normalized">(weft::normalize<Few>(x, {.epsilon = 1e-5})),
                         as<"layer">(weft::gelu(layer)));
  }
};
using all_results = weft::module<functions, "waves", "exponentials", "logarithms", "weights",
                                 "normalized", "layer">;

// Exact in any mode.
weft::array<float, Many, Few> values() {
  weft::array<float, Many, Few> x;
  for (std::size_t i = 0; i < x.size(); ++i)
    x.data()[i] = (static_cast<float>(i * i % 8191) - 4095.5f) / 256;
  return x;
}

// All that weft computes, from new parameters to a step of training.
std::vector<float> everything(const weft::executor& threads) {
  std::vector<float> all;
  const auto keep = [&](const auto& view) {
    const auto kept = weft::array(view);
    all.insert(all.end(), kept.begin(), kept.end());
  };
  all_results net({.seed = 7});
  net.run_on(threads);
  const auto x = values();
  for (const bool frozen : {false, true}) {
    if (frozen) net.freeze(weft::precision::bfloat16);
    const auto r = net(arg<"x">(x));
    keep(r.get<"waves">());
    keep(r.get<"exponentials">());
    keep(r.get<"logarithms">());
    keep(r.get<"weights">());
    keep(r.get<"normalized">());
    keep(r.get<"layer">());
  }
  weft::trainer<classifier> trainer(
      {}, {.clip_norm = 0.1, .schedule = weft::warmup_cosine{.warmup = 2, .total = 9}, .seed = 7});
  trainer.run_on(threads);
  for (int step = 0; step < 3; ++step)
    all.push_back(trainer.step(arg<"tokens">(rows(six_tokens)), arg<"targets">(rows(six_targets)),
                               arg<"scale">(five_scales)));
  const auto trained = trainer.parameters().floats();
  all.insert(all.end(), trained.begin(), trained.end());
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rounding, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(results_are_rounded_to_nearest_in_any_mode_of_the_caller) {
  pool two(2);
  const weft::executor alone, both(2, [&](int n, weft::job f) { two.for_each(n, f); });
  for (const auto& on : {alone, both}) {
    const auto expected = everything(on);
    for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
      std::fesetround(mode);
      const auto found = everything(on);
      const int after = std::fegetround();
      volatile float one = 1;
      const float third = one / 3;
      std::fesetround(FE_TONEAREST);
      BOOST_TEST(std::ranges::equal(expected, found), "mode " << mode);
      BOOST_TEST(after == mode, "the caller's mode is restored");
      if (mode == FE_UPWARD) BOOST_TEST(third > one / 3 - 0x1p-26f);
    }
  }
}

#if defined(__SSE__)
BOOST_AUTO_TEST_CASE(flushed_denormals_change_no_other_number) {
  weft::kernels::on_every_target([](const weft::kernels::table&) {
    const auto expected = everything({});
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040);  // FTZ and DAZ
    const auto found = everything({});
    _mm_setcsr(before);
    for (std::size_t i = 0; i < expected.size(); ++i)
      BOOST_TEST(std::abs(expected[i] - found[i]) <= 0x1p-126f,
                 "number " << i << " is " << found[i] << ", not " << expected[i]);
  });
}
#endif

BOOST_AUTO_TEST_SUITE_END()
