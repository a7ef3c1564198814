// Loop-invariant values are computed once, when a module or a trainer is created, and stay
// available in every run.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <span>
#include <thread>
#include <vector>

#include "run/allocations.hpp"
#include "run/pool.hpp"
#include "weft/weft.hpp"

namespace {

using weft::arg;

struct Pos : weft::axis<weft::up_to<200>> {};
struct Embed : weft::axis<5> {};
struct Wide : weft::axis<64> {};
struct Heads : weft::axis<2> {};
struct HeadDim : weft::axis<32> {};
struct Hidden : weft::axis<100> {};

// Results: "y" [Pos, Embed], which depends on the state; "table" [Pos, Embed], which is invariant.
struct remembering {
  constexpr auto operator()(weft::scope s) const {
    const auto x = s.input<"x", float, Pos, Embed>();
    const auto table = weft::nn::sinusoidal<Embed>(weft::positions<Pos>());
    const auto seen = s.state<"seen", float, Embed>();
    s.update(seen, seen + 1.f);
    return weft::results(weft::as<"y">(x + table + seen), weft::as<"table">(table));
  }
};

// A layer with sinusoidal and rotary encodings. Results: "loss", "z" [Pos, Wide].
struct layer {
  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    const auto x = s.input<"x", float, Pos, Wide>();
    const auto at = weft::dropout(x + nn::sinusoidal<Wide>(weft::positions<Pos>()), 0.25);
    const auto hidden = weft::tanh(nn::linear<Wide, weft::shape<Heads, HeadDim>>(s / "in", at));
    const auto turned = nn::rotary<HeadDim>(hidden, weft::positions<Pos>());
    const auto z = nn::linear<weft::shape<Heads, HeadDim>, Wide>(s / "out", turned) + x;
    return weft::results(weft::as<"loss">(weft::mean<Pos, Wide>(z * z)), weft::as<"z">(z));
  }
};

// The gradient for w is the sines, and does not depend on any argument.
struct linear_loss {
  constexpr auto operator()(weft::scope s) const {
    const auto w = s.param<"w", Pos>();
    const auto waves = weft::sin(weft::cast<float>(weft::positions<Pos>()));
    return weft::as<"loss">(weft::sum<Pos>(w * waves + s.input<"x", float, Pos>()));
  }
};

template <class Model, weft::fixed_string... Results>
constexpr bool runs_without_waves() {
  const auto& tables = weft::lowered<weft::inference<Model, Results...>>::tables;
  int waves = 0;
  for (int i = 0; i < static_cast<int>(tables.instructions.size()); ++i) {
    const weft::instruction& s = tables.instructions[i];
    bool any = s.kind == weft::op::sin || s.kind == weft::op::cos;
    for (int l = 0; l < s.fused_count; ++l) {
      const auto kind = tables.fused_ops[s.first_fused + l].kind;
      any = any || kind == weft::op::sin || kind == weft::op::cos;
    }
    if (any && i >= tables.once) return false;
    waves += any;
  }
  return waves > 0;
}
static_assert(runs_without_waves<remembering>() && runs_without_waves<layer>());

// x[t, e] = (t - e) / 256 for t < length.
template <class A>
weft::array<float, Pos, A> ramp(std::size_t length) {
  weft::array<float, Pos, A> x(length);
  for (std::size_t t = 0; t < length; ++t)
    for (std::size_t e = 0; e < A::extent; ++e)
      x(t, e) = static_cast<float>(static_cast<int>(t) - static_cast<int>(e)) / 256;
  return x;
}

double wave(std::size_t t, std::size_t e) {
  const double angle =
      static_cast<double>(t) * std::pow(10000.0, -2.0 * static_cast<double>(e / 2) / 5);
  return e % 2 == 0 ? std::sin(angle) : std::cos(angle);
}
// Angles up to 200 in float32, whose frequencies are a few epsilons off.
constexpr double tolerance = 200 * 8 * 0x1p-24;

bool is_table(const weft::view<const float, weft::shape<Pos, Embed>>& table, std::size_t length) {
  bool same = table.length<Pos>() == length;
  for (std::size_t t = 0; same && t < length; ++t)
    for (std::size_t e = 0; e < Embed::extent; ++e)
      same = same && std::abs(static_cast<double>(table(t, e)) - wave(t, e)) <= tolerance;
  return same;
}

template <class View>
std::vector<float> elements(const View& v) {
  std::vector<float> all;
  for (std::size_t i = 0; i < v.lengths()[0]; ++i)
    for (std::size_t j = 0; j < v.lengths()[1]; ++j) all.push_back(v(i, j));
  return all;
}
template <class Module>
std::vector<float> z(Module& m, std::size_t length) {
  const auto x = ramp<Wide>(length);
  return elements(m(arg<"x">(x)).template get<"z">());
}

// Whether run number `seen` since the states were last reset gives the expected results.
template <class Module>
bool remembers(Module& m, std::size_t length, int seen) {
  const auto x = ramp<Embed>(length);
  const auto results = m(arg<"x">(x));
  const auto y = results.template get<"y">();
  bool same = is_table(results.template get<"table">(), length);
  for (std::size_t t = 0; t < length; ++t)
    for (std::size_t e = 0; e < Embed::extent; ++e) {
      const double expected = static_cast<double>(x(t, e)) + wave(t, e) + seen;
      same = same &&
             std::abs(static_cast<double>(y(t, e)) - expected) <= tolerance + (seen + 2) * 0x1p-23;
    }
  return same;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(once, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(invariant_values_are_right_as_lengths_grow_and_shrink) {
  weft::module<remembering> net;
  int seen = 0;
  for (const std::size_t length : {3u, 200u, 0u, 1u, 200u, 7u, 200u})
    BOOST_TEST(remembers(net, length, seen++), "length " << length);
}

BOOST_AUTO_TEST_CASE(reset_clears_states_but_not_invariant_values) {
  weft::module<remembering> net;
  BOOST_TEST(remembers(net, 200, 0));
  BOOST_TEST(remembers(net, 9, 1));
  net.reset();
  BOOST_TEST(remembers(net, 200, 0));
  net.reset<Embed>(2);
  const auto x = ramp<Embed>(4);
  BOOST_TEST(is_table(net(arg<"x">(x)).get<"table">(), 4));
}

BOOST_AUTO_TEST_CASE(invariant_values_are_stored_in_memory_of_the_caller) {
  using net = weft::module<remembering>;
  const auto memory = weft::allocate(net::workspace_bytes);
  std::memset(memory.get(), 0xff, net::workspace_bytes);
  net lent(weft::parameters<remembering>(), std::span(memory.get(), net::workspace_bytes));
  for (int seen = 0; seen < 3; ++seen) BOOST_TEST(remembers(lent, seen == 1 ? 3 : 200, seen));
  const auto x = ramp<Embed>(2);
  const auto* const at =
      reinterpret_cast<const std::byte*>(lent(arg<"x">(x)).get<"table">().data());
  BOOST_TEST((at >= memory.get() && at < memory.get() + net::workspace_bytes));
}

BOOST_AUTO_TEST_CASE(a_module_may_have_only_invariant_results) {
  weft::module<remembering, "table"> net;
  BOOST_TEST(is_table(net().get<"table">(), 200));  // no argument has a length, so it is the bound
  BOOST_TEST(is_table(net().get<"table">(), 200));
  static_assert(weft::cost<remembering, "table">.operations == 0);
}

BOOST_AUTO_TEST_CASE(runs_and_steps_allocate_nothing) {
  weft::module<layer, "z"> net;
  weft::trainer<layer> t;
  const auto x = ramp<Wide>(50);
  BOOST_TEST(allocations_in([&] { net(arg<"x">(x)); }) == 0);
  BOOST_TEST(allocations_in([&] { t.step(arg<"x">(x)); }) == 0);
}

BOOST_AUTO_TEST_CASE(frozen_and_threaded_modules_use_the_same_invariant_values) {
  const weft::parameters<layer> parameters({.seed = 3});
  weft::module<layer, "z"> plain(parameters), frozen(parameters), shared(parameters);
  frozen.freeze();
  pool p(3);
  shared.run_on(on(p, 3));
  for (const std::size_t length : {200u, 3u, 200u, 0u, 1u}) {
    const auto expected = z(plain, length);
    BOOST_TEST(std::ranges::equal(z(frozen, length), expected, [](float a, float b) {
      return std::abs(a - b) <= 2 * 64 * 0x1p-23f * std::max(std::abs(b), 1.f);  // sums of 64
    }));
    BOOST_TEST((z(shared, length) == expected));
  }
}

BOOST_AUTO_TEST_CASE(modules_are_created_and_run_on_any_thread) {
  const weft::parameters<layer> parameters({.seed = 3});
  weft::module<layer, "z"> here(parameters);
  const auto expected = z(here, 100);
  std::vector<std::vector<float>> there(2);
  std::vector<std::thread> threads;
  for (auto& found : there)
    threads.emplace_back([&] {
      weft::module<layer, "z"> net(parameters);
      z(net, 200);
      found = z(net, 100);
    });
  for (auto& t : threads) t.join();
  for (const auto& found : there) BOOST_TEST((found == expected));
}

BOOST_AUTO_TEST_CASE(dropout_samples_use_invariant_values) {
  const weft::parameters<layer> parameters({.seed = 3});
  weft::monte_carlo<layer, "z"> long_before(parameters), fresh(parameters);
  z(long_before, 200);
  for (auto* const net : {&long_before, &fresh}) net->draw_from({.seed = 5, .sample = 1});
  const auto sample = z(fresh, 20);
  BOOST_TEST((z(long_before, 20) == sample));
  weft::module<layer, "z"> whole(parameters);
  BOOST_TEST((z(whole, 20) != sample));
}

BOOST_AUTO_TEST_CASE(steps_of_changing_lengths_match_those_of_a_new_trainer) {
  const weft::parameters<layer> parameters({.seed = 3});
  weft::trainer<layer> t(parameters);
  for (const std::size_t length : {200u, 3u, 200u}) {
    const auto x = ramp<Wide>(length);
    weft::trainer<layer> fresh(parameters);
    BOOST_TEST(t.compute_gradients(arg<"x">(x)) == fresh.compute_gradients(arg<"x">(x)));
    BOOST_TEST(std::ranges::equal(t.gradients().floats(), fresh.gradients().floats()));
  }
}

BOOST_AUTO_TEST_CASE(the_caller_may_overwrite_an_invariant_gradient) {
  weft::trainer<linear_loss> t;
  const auto g = t.gradients();
  for (const std::size_t length : {200u, 2u, 200u}) {
    const weft::array<float, Pos> x(length);
    t.compute_gradients(arg<"x">(x));
    for (std::size_t i = 0; i < 200; ++i) {
      const double expected = i < length ? std::sin(static_cast<double>(i)) : 0;
      BOOST_TEST(std::abs(static_cast<double>(g.floats()[i]) - expected) <= 0x1p-22);
    }
    std::ranges::fill(g.floats(), 7.f);  // as an all-reduce over processes would
  }
}

BOOST_AUTO_TEST_SUITE_END()
