// States, which modules keep from run to run.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "passes/graphs.hpp"
#include "run/allocations.hpp"
#include "run/pool.hpp"
#include "support/thrown_by.hpp"
#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using weft::arg, weft::testing::thrown_by;

struct Batch : weft::axis<weft::up_to<3>> {};
struct Width : weft::axis<5> {};
struct Pos : weft::axis<weft::up_to<4>> {};
struct Cache : weft::axis<weft::up_to<9>> {};

// A user-defined statistic: the mean of all earlier inputs, and their number.
struct running_mean {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Width>();
    auto inner = s / "statistics";
    auto sum = inner.state<"sum", float, Width>();
    auto count = inner.state<"count", std::int32_t>();
    inner.update(sum, sum + x);
    inner.update(count, count + 1);
    return weft::results(weft::as<"before">(sum / weft::cast<float>(weft::maximum(count, 1))),
                         weft::as<"twice">(x * 2));
  }
};

// A recurrent network (Elman 1990) that continues with the hidden state of the previous run.
struct streaming {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Width>();
    auto hidden = s.state<"hidden", float, Batch, Width>();
    auto next = weft::tanh(x + hidden * s.param<"weight", Width>());
    s.update(hidden, next);
    return next;
  }
};

// Swaps a and b; c becomes the old a, and is read as well.
struct exchange {
  constexpr auto operator()(weft::scope s) const {
    auto a = s.state<"a", float, Batch, Width>(), b = s.state<"b", float, Batch, Width>(),
         c = s.state<"c", float, Batch, Width>();
    s.update(a, b);
    s.update(b, a);
    s.update(c, a);
    return s.input<"x", float, Batch, Width>() + c;
  }
};

template <bool OldIsReadAfter>
struct cache {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Pos, Width>();
    auto past = s.state<"past", float, Batch, Cache, Width>();
    auto filled = s.state<"filled", std::int32_t, Batch>();
    auto now = weft::write<Cache, Pos>(past, x, filled);
    s.update(past, now);
    s.update(filled, filled + weft::cast<std::int32_t>(weft::length<Pos>()));
    auto sum = weft::sum<Cache>(now);
    if constexpr (OldIsReadAfter)
      return sum + weft::sum<Cache>(past * now);
    else
      return sum;
  }
};

// Rows with another axis order, written from computed start indices on, with a count per batch
// element.
struct counted_cache {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Width, Pos>();
    auto past = s.state<"past", float, Batch, Cache, Width>();
    auto at = s.input<"at", std::int32_t, Batch>();
    auto now =
        weft::write<Cache, Pos>(past, x * 3, at * 2, s.input<"count", std::int32_t, Batch>());
    s.update(past, now);
    return now;
  }
};
// Two successive writes of integers into a buffer that is not a state.
struct several_writes {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", std::int32_t, Pos>();
    auto begun = s.input<"begun", std::int32_t, Cache>();
    auto first = weft::write<Cache, Pos>(begun, x, s.input<"at", std::int32_t>());
    auto second = weft::write<Cache, Pos>(first, x + 1, weft::constant(std::int32_t{2}));
    return weft::results(weft::as<"second">(second), weft::as<"sum">(first + second));
  }
};

template <class Model, weft::fixed_string... Results>
int steps_of(weft::kernel k) {
  int n = 0;
  for (const weft::instruction& s :
       weft::lowered<weft::inference<Model, Results...>>::tables.instructions)
    n += s.run == k;
  return n;
}

weft::array<float, Batch, Pos, Width> rows(std::size_t batch, std::size_t count, float first = 1) {
  weft::array<float, Batch, Pos, Width> x(batch, count);
  for (float& e : x) e = first++;
  return x;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(states)

BOOST_AUTO_TEST_CASE(every_run_reads_the_states_that_the_last_one_left) {
  weft::module<running_mean> n;
  weft::module<running_mean> other(n.parameters());
  const std::vector<float> x{1, 2, 3, 4, 5};
  for (int run = 0; run < 4; ++run) {
    const auto before = n(arg<"x">(x)).get<"before">();
    for (std::size_t w = 0; w < 5; ++w)
      BOOST_TEST(before(w) == (run == 0 ? 0 : static_cast<float>(w + 1)));
  }
  BOOST_TEST((n.state<"statistics.count", std::int32_t>()() == 4));
  BOOST_TEST((n.state<"statistics.sum", float, Width>()(4) == 20));
  BOOST_TEST((other.state<"statistics.count", std::int32_t>()() == 0), "modules share states");

  n.state<"statistics.count", std::int32_t>()() = 2;
  BOOST_TEST(n(arg<"x">(x)).get<"before">()(4) == 10);
  n.reset();
  BOOST_TEST((n.state<"statistics.count", std::int32_t>()() == 0));
  BOOST_TEST(n(arg<"x">(x)).get<"before">()(4) == 0);
}

BOOST_AUTO_TEST_CASE(states_that_no_result_depends_on_are_removed) {
  static_assert(weft::inference<running_mean, "before">::g.state_count == 2);
  static_assert(weft::inference<running_mean, "twice">::g.state_count == 0);
  static_assert(weft::cost<running_mean, "before">.state_bytes == 128);
  static_assert(weft::cost<running_mean, "twice">.state_bytes == 0);
}

// No gradient flows through a state, so a trainer refuses such a loss.
struct trained {
  constexpr auto operator()(weft::scope s) const {
    const auto sum = weft::sum<Width>(running_mean()(s).items[boost::hana::size_c<0>].value);
    return weft::results(weft::as<"loss">(sum), weft::as<"other">(weft::constant(1.0f)));
  }
};
static_assert(weft::detail::rule_of_loss<trained, "loss">() == weft::rule::states);
static_assert(weft::detail::rule_of_loss<trained, "other">() != weft::rule::states);

BOOST_AUTO_TEST_CASE(states_match_the_reference) {
  using weft::testing::lengths, weft::testing::trial;
  trial<weft::inference<running_mean>>({{}, {{"statistics.count", {1, 9}}}});
  for (const std::size_t batch : {0u, 1u, 2u, 3u}) {
    trial<weft::inference<streaming>>(lengths<Batch>(batch));
    trial<weft::inference<exchange>>(lengths<Batch>(batch));
    for (const std::size_t count : {0u, 1u, 4u}) {
      auto at = lengths<Batch, Pos>(batch, count);
      at.ranges["filled"] = {0, 6};
      trial<weft::inference<cache<false>>>(at);
      trial<weft::inference<cache<true>>>(at);
      at.ranges["at"] = {0, 3};
      at.ranges["count"] = {0, static_cast<double>(count) + 1};
      trial<weft::inference<counted_cache>>(at);
    }
  }
  for (const std::size_t count : {0u, 1u, 4u}) {
    auto at = lengths<Pos, Cache>(count, 7u);
    at.ranges["at"] = {0, 3};
    trial<weft::inference<several_writes>>(at);
  }
}

BOOST_AUTO_TEST_CASE(rows_are_written_in_place_if_nothing_reads_the_old_state) {
  using weft::kernel;
  BOOST_TEST(steps_of<cache<false>>(kernel::update_rows) == 1);
  BOOST_TEST(steps_of<cache<true>>(kernel::update_rows) == 1);
  // If the old state is read: the copies of the buffer out of the state and back, and the product.
  BOOST_TEST(steps_of<cache<true>>(kernel::elementwise) ==
             steps_of<cache<false>>(kernel::elementwise) + 3);
  constexpr auto bytes = sizeof(float) * Batch::extent * Cache::extent * Width::extent;
  static_assert(weft::cost<cache<false>>.state_bytes >= bytes);
  static_assert(weft::cost<cache<false>>.workspace_bytes < 3 * bytes);
}

BOOST_AUTO_TEST_CASE(rows_that_do_not_fit_are_refused_before_anything_changes) {
  weft::module<cache<false>> n;
  const auto length = [&] { return n.state<"filled", std::int32_t, Batch>(); };
  n(arg<"x">(rows(3, 4)));
  n(arg<"x">(rows(2, 4)));
  n(arg<"x">(rows(1, 1)));
  BOOST_TEST(length()(0) == 9);
  BOOST_TEST(length()(1) == 8);
  BOOST_TEST(length()(2) == 4);
  const weft::array<float, Batch, Cache, Width> before(
      weft::view<const float, weft::shape<Batch, Cache, Width>>(
          n.state<"past", float, Batch, Cache, Width>().data(), 3, 9));
  BOOST_TEST(thrown_by([&] { n(arg<"x">(rows(2, 1))); }) ==
             "state 'filled': element 0 is 9, and from there is no room for 1 more along axis "
             "Cache, whose length is 9");
  length()(0) = 0;
  BOOST_TEST(thrown_by([&] { n(arg<"x">(rows(3, 2))); }) ==
             "state 'filled': element 1 is 8, and from there is no room for 2 more along axis "
             "Cache, whose length is 9");
  length()(0) = -1;
  BOOST_TEST(thrown_by([&] { n(arg<"x">(rows(1, 2))); }).starts_with("state 'filled': element 0"));
  const auto* const past = n.state<"past", float, Batch, Cache, Width>().data();
  BOOST_TEST(std::equal(before.begin(), before.end(), past));
  length()(0) = 9;
  n(arg<"x">(rows(1, 0)));
}

BOOST_AUTO_TEST_CASE(row_counts_are_checked) {
  weft::module<counted_cache> n;
  const weft::array<float, Width, Pos> x(2);
  const auto run = [&](const std::vector<std::int32_t>& counts) {
    return thrown_by([&] {
      n(arg<"x">(x), arg<"at">(std::vector<std::int32_t>{0, 0, 0}), arg<"count">(counts));
    });
  };
  BOOST_TEST(run({0, 2, 1}) == "");
  BOOST_TEST(run({0, 2, 3}) ==
             "argument 'count': element 2 is 3, and the rows along axis Pos are 2");
  BOOST_TEST(run({-1, 2, 3}) ==
             "argument 'count': element 0 is -1, and the rows along axis Pos are 2");
}

BOOST_AUTO_TEST_CASE(states_can_be_reset_at_one_index_of_an_axis) {
  weft::module<cache<false>> n;
  n(arg<"x">(rows(3, 4)));
  n.reset<Batch>(1);
  const auto past = n.state<"past", float, Batch, Cache, Width>();
  const auto filled = n.state<"filled", std::int32_t, Batch>();
  for (std::size_t b = 0; b < 3; ++b) {
    BOOST_TEST(filled(b) == (b == 1 ? 0 : 4));
    for (std::size_t c = 0; c < 9; ++c)
      for (std::size_t w = 0; w < 5; ++w)
        BOOST_TEST(past(b, c, w) ==
                   (b == 1 || c >= 4 ? 0 : static_cast<float>(1 + w + 5 * (c + 4 * b))));
  }
  n.reset<Cache>(2);
  for (std::size_t w = 0; w < 5; ++w) BOOST_TEST(past(2, 2, w) == 0);
  BOOST_TEST(past(2, 1, 0) != 0);
  BOOST_TEST(thrown_by([&] { n.reset<Batch>(3); }) == "reset: index 3 of axis Batch, which has 3");
}

BOOST_AUTO_TEST_CASE(states_in_memory_of_the_caller_begin_with_zeros) {
  using module = weft::module<running_mean, "before">;
  const auto memory = weft::allocate(module::workspace_bytes);
  std::fill_n(memory.get(), module::workspace_bytes, std::byte{0xff});
  module n(weft::parameters<running_mean>(), {memory.get(), module::workspace_bytes});
  BOOST_TEST((n.state<"statistics.count", std::int32_t>()() == 0));
}

BOOST_AUTO_TEST_CASE(runs_and_resets_allocate_nothing) {
  weft::module<cache<false>> n;
  const auto x = rows(3, 2);
  for (int i = 0; i < 3; ++i) BOOST_TEST(allocations_in([&] { n(arg<"x">(x)); }) == 0);
  BOOST_TEST(allocations_in([&] {
               n.reset<Batch>(1);
               n.reset();
             }) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
