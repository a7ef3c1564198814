// Weights that one thread brings while another one runs; and modes of threads.
#include <algorithm>
#include <atomic>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <limits>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "support/thrown_by.hpp"
#include "weft/weft.hpp"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEFT_TEST_FOR_SECONDS 2
#endif
#endif
#ifndef WEFT_TEST_FOR_SECONDS
#define WEFT_TEST_FOR_SECONDS 0.2
#endif

namespace {

using weft::arg;
using weft::testing::refuses;

struct Embed : weft::axis<24> {};
struct Wide : weft::axis<40> {};
struct Rows : weft::axis<3> {};
struct Many : weft::axis<1 << 20> {};

// A weight that is packed, and others that are read in place.
struct layers {
  constexpr auto operator()(weft::scope s) const {
    const auto x = s.input<"x", float, Rows, Embed>();
    return weft::nn::layer_norm<Wide>(s / "norm", weft::nn::linear<Embed, Wide>(s / "wide", x));
  }
};
// The same parameters in another graph, which packs the weight for it.
struct same_layers {
  constexpr auto operator()(weft::scope s) const { return layers()(s) * 2; }
};
using net = weft::module<layers>;

struct input : weft::array<float, Rows, Embed> {
  input() {
    for (int i = 0; float& v : *this) v = static_cast<float>(i++ * 37 % 64) / 32 - 1;
  }
} const x;

std::vector<float> run(net& n) {
  const auto y = n(arg<"x">(x));
  return {y.data(), y.data() + y.size()};
}

// Parameters in memory whose release is seen.
weft::parameters<layers> watched(std::uint64_t seed, std::atomic<int>& alive,
                                 std::thread::id only_by) {
  const auto block = std::make_shared<weft::parameters<layers>>(weft::parameter_options{seed});
  ++alive;
  const std::shared_ptr<void> owner(block.get(), [block, &alive, only_by](void*) {
    if (std::this_thread::get_id() == only_by) --alive;
  });
  std::vector<std::byte*> all(block->addresses(), block->addresses() + block->count());
  return weft::parameters<layers>(weft::parameter_memory(std::move(all), owner));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exchange)

BOOST_AUTO_TEST_CASE(each_run_has_one_set_of_weights_and_the_last_brought_is_taken) {
  constexpr int sets = 4;
  for (const bool frozen : {false, true}) {
    std::vector<std::vector<float>> expected;
    std::atomic<int> alive = 0;
    const auto me = std::this_thread::get_id();
    const auto fresh = [&](int set) {
      net other(watched(static_cast<std::uint64_t>(set), alive, me));
      if (frozen) other.freeze();
      return other;
    };
    for (int i = 0; i < sets; ++i) {
      net other = fresh(i);
      expected.push_back(run(other));
    }
    net running = fresh(0);
    std::atomic<bool> stop = false;
    std::atomic<int> runs = 0, wrong = 0;
    std::set<std::ptrdiff_t> seen;
    std::thread runner([&] {
      while (!stop) {
        const auto at = std::ranges::find(expected, run(running)) - expected.begin();
        if (at == sets) ++wrong;
        seen.insert(at);
        ++runs;
      }
    });
    int most_alive = 0;
    const auto begin = std::chrono::steady_clock::now();
    int brought = 0;
    for (; brought < 1000 * WEFT_TEST_FOR_SECONDS; ++brought) {
      running.exchange(weft::sharing(fresh(brought % sets)));
      std::this_thread::sleep_until(begin + std::chrono::milliseconds(brought));
      running.exchanged();
      most_alive = std::max(most_alive, alive.load());
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    running.exchange(weft::sharing(fresh(2)));
    while (!running.exchanged()) std::this_thread::yield();
    BOOST_TEST(alive == 1, "what is taken frees what was before, on the thread that brought it");
    stop = true;
    runner.join();
    BOOST_TEST(wrong == 0);
    BOOST_TEST(seen.contains(2));
    BOOST_TEST((run(running) == expected[2]));
    BOOST_TEST_MESSAGE(brought / seconds.count() << " sets a second, " << runs << " runs, at most "
                                                 << most_alive << " sets alive");
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_freed_before_a_run_has_taken_what_came_after_it) {
  std::atomic<int> alive = 0;
  const auto me = std::this_thread::get_id();
  net first(watched(0, alive, me));
  for (std::uint64_t set = 1; set < 4; ++set) {
    first.exchange(weft::sharing(net(watched(set, alive, me))));
    BOOST_TEST(!first.exchanged());
  }
  BOOST_TEST(alive == 4);
  run(first);
  BOOST_TEST(first.exchanged());
  BOOST_TEST(alive == 1);
  first.exchange(weft::sharing(net(watched(4, alive, me))));
  BOOST_TEST(!first.exchanged());
  BOOST_TEST(alive == 2, "the last run has read those before");
  run(first);
  BOOST_TEST(first.exchanged());
  BOOST_TEST(alive == 1);
}

BOOST_AUTO_TEST_CASE(a_module_goes_on_with_the_weights_that_were_brought_to_it) {
  net first({.seed = 1}), second({.seed = 2}), third({.seed = 3});
  weft::module<same_layers> elsewhere({.seed = 4});
  for (auto* const n : {&first, &second, &third}) n->freeze();
  elsewhere.freeze();
  const auto expected = run(second);
  first.exchange(weft::sharing(third));
  first.exchange(weft::sharing(second));  // the first one is never taken
  BOOST_TEST(!first.exchanged());
  net shares(weft::sharing(first));  // what is not taken yet
  BOOST_TEST((run(shares) == expected));
  BOOST_TEST((first.packed().memory.data() == second.packed().memory.data()));
  BOOST_TEST((run(first) == expected));
  BOOST_TEST(first.exchanged());
  first.exchange(weft::sharing(third));
  first.freeze();  // takes them
  BOOST_TEST((run(first) == run(third)));
  first.exchange(weft::sharing(elsewhere));  // another graph, whose weights are packed alike
  net fourth({.seed = 4});
  fourth.freeze();
  BOOST_TEST((run(first) == run(fourth)));
}

BOOST_AUTO_TEST_CASE(modules_that_are_frozen_otherwise_are_refused) {
  net plain, frozen, rounded;
  frozen.freeze();
  rounded.freeze(weft::precision::bfloat16);
  const auto before = run(frozen);
  refuses([&] { frozen.exchange(weft::sharing(plain)); },
          "exchange: one of the two modules is frozen");
  refuses([&] { plain.exchange(weft::sharing(frozen)); },
          "exchange: one of the two modules is frozen");
  refuses([&] { frozen.exchange(weft::sharing(rounded)); }, "in another precision");
  BOOST_TEST((run(frozen) == before));
}

BOOST_AUTO_TEST_SUITE_END()

#if defined(__SSE__) || defined(__aarch64__)
BOOST_AUTO_TEST_SUITE(denormals)

struct halves {
  constexpr auto operator()(weft::scope s) const { return s.input<"x", float, Many>() * 0.5f; }
};

BOOST_AUTO_TEST_CASE(the_guard_flushes_them_on_all_threads_of_a_run_and_restores_the_mode) {
  // A thread of its own for each part, which has no mode of the caller's, as a new one has.
  const weft::executor threads(2, [](int n, weft::job f) {
    for (int i = 0; i < n; ++i)
      std::thread([&] {
        const weft::flush_denormals none(0);
        f(i);
      }).join();
  });
  weft::module<halves> n;
  n.run_on(threads);
  weft::array<float, Many> least;
  std::ranges::fill(least, std::numeric_limits<float>::min());
  const auto zeros = [&] {
    const auto y = n(arg<"x">(least));
    // By their bits, as the guard has all denormals equal 0.
    return std::count_if(y.data(), y.data() + y.size(),
                         [](float v) { return std::bit_cast<std::uint32_t>(v) == 0; });
  };
  volatile float one_least = std::numeric_limits<float>::min();
  BOOST_TEST(zeros() == 0);
  {
    const weft::flush_denormals guard;
    BOOST_TEST(zeros() == std::ptrdiff_t{Many::extent});
    BOOST_TEST((one_least / 2 == 0));
  }
  BOOST_TEST((one_least / 2 > 0));
  BOOST_TEST(zeros() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
#endif
