#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "run/pool.hpp"
#include "run/writer.hpp"
#include "support/thrown_by.hpp"
#include "weft/weft.hpp"

namespace {

using weft::testing::says, weft::testing::thrown_by, weft::arg;

// Fixed extents: a contraction with an epilogue, and a softmax.
struct Rows : weft::axis<48> {};
struct In : weft::axis<64> {};
struct Out : weft::axis<32> {};
struct classes {
  constexpr auto operator()(weft::scope s) const {
    const auto x = s.input<"x", float, Rows, In>();
    return weft::softmax<Out>(weft::dot<In>(x, s.param<"w", In, Out>()) * 2);
  }
};

// Lengths known at run time: Most is their bound.
template <int Most>
struct Pos : weft::axis<weft::up_to<Most>> {};
template <int Most>
struct KeyPos : weft::alias<Pos<Most>> {};
struct Embed : weft::axis<16> {};
struct Heads : weft::axis<2> {};
struct HeadDim : weft::axis<8> {};
template <int Most>
struct axes {
  using positions = Pos<Most>;
  using keys = KeyPos<Most>;
  using embed = Embed;
  using heads = Heads;
  using head_dim = HeadDim;
};
template <int Most>
struct attending {
  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    const auto x = s.input<"x", float, Pos<Most>, Embed>();
    const auto mask = nn::causal<Pos<Most>, KeyPos<Most>>();
    return nn::self_attention<axes<Most>>(s, x, mask).output + x;
  }
};
template <int Most>
struct recurrent {
  constexpr auto operator()(weft::scope s) const {
    const auto h =
        weft::nn::gru<Pos<Most>, Embed, HeadDim>(s, s.input<"x", float, Pos<Most>, Embed>());
    return weft::results(weft::as<"loss">(weft::sum<HeadDim>(h.last)), weft::as<"h">(h.all));
  }
};

// A node that is two copies; and one that is computed before all runs.
struct Front : weft::axis<3> {};
struct Back : weft::axis<5> {};
struct Whole : weft::axis<8> {};
struct joined {
  constexpr auto operator()(weft::scope s) const {
    const auto front = s.input<"front", float, Front>();
    const auto back = s.input<"back", float, Back>();
    const auto table = weft::sin(weft::cast<float>(weft::positions<Whole>()));
    return weft::results(
        weft::as<"whole">(weft::concatenate<Whole, weft::shape<Front, Back>>(front, back)),
        weft::as<"wave">(s.param<"scale", Whole>() * table));
  }
};

std::vector<float> numbers(std::size_t n) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i * 37 % 101) / 50 - 1;
  return x;
}

template <class Model, int Most>
void run(weft::module<Model>& net, std::size_t length) {
  const auto x = numbers(length * Embed::extent);
  using sequence = weft::view<const float, weft::shape<Pos<Most>, Embed>>;
  net(arg<"x">(sequence(x.data(), length)));
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}
template <class T>
std::string printed(const T& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

// The lines of explain's text that begin with a node and are executed in every run.
std::vector<std::string> explained(const std::string& text) {
  std::vector<std::string> all;
  for (const std::string& line : lines(text)) {
    if (line == "in every run:") all.clear();
    if (line.starts_with('%')) all.push_back(line);
  }
  return all;
}
void check_against(const weft::profile& p, const std::string& text) {
  const auto expected = explained(text);
  const auto got = p.instructions();
  BOOST_TEST_REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    BOOST_TEST(expected[i].starts_with(got[i].operation + " "), expected[i]);
    BOOST_TEST(expected[i].find(got[i].axes) != std::string::npos, expected[i]);
  }
}

// Whether the times are those of parts of a whole that took `wall` seconds.
void check_times(const weft::profile& p, double wall) {
  double together = 0;
  for (const auto& l : p.instructions()) {
    BOOST_TEST(l.spent.median > 0, l.operation);
    BOOST_TEST(l.spent.total >= l.spent.median);
    together += l.spent.total;
  }
  BOOST_TEST(together == p.sum().spent.total, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(p.sum().spent.total <= p.run().total);
  BOOST_TEST(p.run().total + p.binding().total + p.optimizer().total <= wall);
}

template <class F>
double seconds_of(F f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::vector<float> logits(weft::module<writer::model>& net, const writer::texts& given) {
  const weft::array<float, writer::Batch, writer::Pos, writer::Vocab> y(
      net(arg<"tokens">(given.x), arg<"targets">(given.y)).get<"logits">());
  return {y.view().data(), y.view().data() + y.view().size()};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(profile, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(every_instruction_stands_once_in_the_order_and_words_of_explain) {
  weft::module<writer::model> net;
  const weft::profile p(net);
  logits(net, writer::texts(8, 96));
  std::ostringstream text;
  weft::explain<writer::model>(text);
  check_against(p, text.str());
  BOOST_TEST(p.instructions().size() ==
             static_cast<std::size_t>(weft::cost<writer::model>.operations));
}

BOOST_AUTO_TEST_CASE(times_are_parts_of_the_runs_and_these_of_the_wall_time) {
  weft::module<writer::model> net;
  const weft::profile p(net);
  const writer::texts given(8, 96);
  const double wall = seconds_of([&] {
    for (int i = 0; i < 5; ++i) net(arg<"tokens">(given.x), arg<"targets">(given.y));
  });
  BOOST_TEST(p.runs() == 5u);
  check_times(p, wall);
  BOOST_TEST(p.binding().total > 0);  // the tokens are checked
  BOOST_TEST(p.optimizer().total == 0);
}

// One thread goes from instruction to instruction, unless the system interrupts it, as it does not
// in each of many runs.
BOOST_AUTO_TEST_CASE(instructions_take_nine_tenths_of_a_run) {
  weft::module<writer::model> net;
  const weft::profile p(net, {.runs = 1});
  const writer::texts given(8, 96);
  double most = 0;
  for (int i = 0; i < 100 && most <= 0.9; ++i) {
    net(arg<"tokens">(given.x), arg<"targets">(given.y));
    most = std::max(most, p.sum().spent.total / p.run().total);
  }
  BOOST_TEST(most > 0.9);
}

BOOST_AUTO_TEST_CASE(operations_and_bytes_are_those_of_cost) {
  weft::module<classes> net;
  const weft::profile p(net);
  const auto x = numbers(48 * 64);
  for (int i = 0; i < 3; ++i) net(arg<"x">(x));
  const auto all = p.instructions();
  BOOST_TEST_REQUIRE(all.size() == 2u);
  BOOST_TEST(all[0].cost.flops == 2 * 48 * 64 * 32 + 48 * 32);
  BOOST_TEST(all[0].cost.bytes == 4 * (48 * 64 + 64 * 32 + 48 * 32));
  BOOST_TEST(all[1].cost.flops == 5 * 48 * 32);
  BOOST_TEST(p.sum().cost.flops == weft::cost<classes>.flops);
  BOOST_TEST(p.sum().cost.bytes == weft::cost<classes>.bytes);
}

// A rate is what an instruction is known to do, over the time of the only run.
BOOST_AUTO_TEST_CASE(rates_are_compared_with_the_peak_that_is_given) {
  const double flops[]{2 * 48 * 64 * 32 + 48 * 32, 5 * 48 * 32};
  const double bytes[]{4 * (48 * 64 + 64 * 32 + 48 * 32), 4 * 2 * 48 * 32};
  const auto close = boost::test_tools::tolerance(1e-9);
  for (const bool of_memory : {false, true}) {
    weft::module<classes> net;
    const weft::profile p(net, {.peak = weft::machine_peak{.flops = of_memory ? 1e30 : 1e9,
                                                           .bytes = of_memory ? 1e9 : 1e30}});
    net(arg<"x">(numbers(48 * 64)));
    const auto all = p.instructions();
    BOOST_TEST_REQUIRE(all.size() == 2u);
    for (std::size_t i = 0; i < 2; ++i) {
      const double spent = all[i].spent.total;
      BOOST_TEST(all[i].flop_rate * spent == flops[i], close);
      BOOST_TEST(all[i].byte_rate * spent == bytes[i], close);
      BOOST_TEST(p.share_of_peak(all[i]) * 1e9 * spent == (of_memory ? bytes : flops)[i], close);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_peak_that_is_not_given_is_measured_once) {
  weft::module<classes> net;
  const weft::profile p(net);
  const weft::machine_peak first = p.peak();
  BOOST_TEST(first.flops > 1e7);
  BOOST_TEST(first.bytes > 1e7);
  BOOST_TEST(p.peak().flops == first.flops);
  BOOST_TEST(p.peak().bytes == first.bytes);
}

// A model with another bound has the same operations at the same length.
BOOST_AUTO_TEST_CASE(operations_are_counted_at_the_lengths_of_the_runs) {
  weft::module<attending<40>> net;
  weft::module<attending<13>> bounded;
  const weft::profile p(net), expected(bounded);
  run<attending<40>, 40>(net, 13);
  run<attending<13>, 13>(bounded, 13);
  BOOST_TEST(expected.sum().cost.flops == weft::cost<attending<13>>.flops);
  BOOST_TEST(expected.sum().cost.bytes == weft::cost<attending<13>>.bytes);
  const auto short_ones = p.instructions(), all = expected.instructions();
  BOOST_TEST_REQUIRE(short_ones.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    BOOST_TEST(short_ones[i].cost.flops == all[i].cost.flops, all[i].operation);
    BOOST_TEST(short_ones[i].cost.bytes == all[i].cost.bytes, all[i].operation);
  }
  run<attending<40>, 40>(net, 40);
  BOOST_TEST(p.sum().cost.flops ==
             (weft::cost<attending<13>>.flops + weft::cost<attending<40>>.flops) / 2);
  run<attending<40>, 40>(net, 0);
  BOOST_TEST(p.runs() == 3u);
}

BOOST_AUTO_TEST_CASE(an_instruction_of_a_scan_has_the_time_and_operations_of_all_steps) {
  weft::module<recurrent<40>> net;
  weft::profile p(net);
  const double wall = seconds_of([&] { run<recurrent<40>, 40>(net, 25); });
  check_times(p, wall);
  std::ostringstream text;
  weft::explain<recurrent<40>>(text);
  check_against(p, text.str());
  BOOST_TEST(p.sum().cost.flops == weft::cost<recurrent<25>>.flops);
  BOOST_TEST(std::regex_search(printed(p), std::regex("\n +scan along .*Pos<.*at most 40 times:\n.*"
                                                      "(\n.*)+end of the scan along")),
             printed(p));
}

BOOST_AUTO_TEST_CASE(
    the_copies_of_one_node_share_its_cost_and_invariant_instructions_are_left_out) {
  weft::module<joined> net;
  const weft::profile p(net);
  net(arg<"front">(numbers(3)), arg<"back">(numbers(5)));
  std::ostringstream text;
  weft::explain<joined>(text);
  BOOST_TEST(text.str().find("once:\n") == 0u, text.str());
  check_against(p, text.str());
  std::vector<double> copied;
  for (const auto& l : p.instructions())
    if (l.operation.find("concatenate (copy)") != std::string::npos) copied.push_back(l.cost.bytes);
  BOOST_TEST(copied == std::vector<double>({3 * 2 * 4, 5 * 2 * 4}),
             boost::test_tools::per_element());
  BOOST_TEST(p.sum().cost.bytes == weft::cost<joined>.bytes);
}

BOOST_AUTO_TEST_CASE(results_and_times_are_right_on_any_threads) {
  const weft::parameters<writer::model> parameters({.seed = 2});
  const weft::executor backwards(4, [](int n, weft::job f) {
    while (n > 0) f(--n);
  });
  for (const std::size_t length : {96u, 37u, 1u, 0u}) {
    const writer::texts given(8, length);
    weft::module<writer::model> alone(parameters);
    const auto expected = logits(alone, given);
    const auto check = [&](const weft::executor& threads) {
      weft::module<writer::model> net(parameters);
      net.run_on(threads);
      const weft::profile p(net);
      const double wall = seconds_of([&] {
        for (int again = 0; again < 3; ++again) BOOST_TEST((logits(net, given) == expected));
      });
      BOOST_TEST(p.runs() == 3u);
      check_times(p, wall);
    };
    check({});
    check(backwards);
    for (const int count : {2, 3}) {
      pool threads(count);
      check(on(threads, count));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_trainer_takes_the_same_steps_and_its_optimizer_is_timed) {
  const writer::texts given(8, 96);
  std::vector<float> expected;
  for (const bool profiled : {false, true}) {
    weft::trainer<writer::model> t({}, {.clip_norm = 0.5, .seed = 3});
    std::optional<weft::profile> p;
    if (profiled) p.emplace(t);
    const double wall = seconds_of([&] {
      for (int i = 0; i < 3; ++i) t.step(arg<"tokens">(given.x), arg<"targets">(given.y));
    });
    const auto all = t.parameters().floats();
    const std::vector<float> got(all.begin(), all.end());
    if (profiled) {
      BOOST_TEST((got == expected));
      check_times(*p, wall);
      BOOST_TEST(p->optimizer().median > 0);
      BOOST_TEST(p->sum().cost.flops == weft::training_cost<writer::model>.flops);
      std::ostringstream text;
      weft::explain_training<writer::model>(text);
      check_against(*p, text.str());
    }
    expected = got;
  }
}

BOOST_AUTO_TEST_CASE(the_last_runs_are_kept) {
  weft::module<attending<40>> net;
  const weft::profile p(net, {.peak = weft::machine_peak{.flops = 1, .bytes = 1}, .runs = 4});
  for (const std::size_t length : {40u, 40u, 13u, 13u, 13u, 13u})
    run<attending<40>, 40>(net, length);
  BOOST_TEST(p.runs() == 4u);
  BOOST_TEST(p.sum().cost.flops == weft::cost<attending<13>>.flops);
  BOOST_TEST(thrown_by([&] { weft::profile(net, {.runs = 0}); }) ==
             "profile: it has to keep at least one run");
}

BOOST_AUTO_TEST_CASE(a_module_has_one_profile_at_a_time_which_may_outlive_it) {
  std::optional<weft::module<classes>> net(std::in_place);
  const auto x = numbers(48 * 64);
  std::optional<weft::profile> first(*net);
  (*net)(arg<"x">(x));
  BOOST_TEST(thrown_by([&] { weft::profile second(*net); }) == "profile: there is one already");
  const weft::profile copy(*first);
  first.reset();
  (*net)(arg<"x">(x));
  net.reset();
  BOOST_TEST(copy.runs() == 2u);
  BOOST_TEST(copy.instructions().size() == 2u);
  net.emplace();
  { const weft::profile gone(*net); }
  (*net)(arg<"x">(x));
  const weft::profile next(*net);
  (*net)(arg<"x">(x));
  BOOST_TEST(next.runs() == 1u);
}

BOOST_AUTO_TEST_CASE(a_table_has_a_line_for_each_instruction_then_their_sum_and_the_rest) {
  weft::module<classes> net;
  const weft::profile p(net, {.peak = weft::machine_peak{.flops = 1e12, .bytes = 1e12}});
  BOOST_TEST(printed(p) == "profile: no run yet\n");
  const auto x = numbers(48 * 64);
  for (int i = 0; i < 2; ++i) net(arg<"x">(x));
  const auto text = lines(printed(p));
  BOOST_TEST_REQUIRE(text.size() == 7u, printed(p));
  const std::string time = R"( *[0-9.]+ [mun]?s)";
  BOOST_TEST(std::regex_match(text[0], std::regex(" *median +of run +total +flop +B +GFLOP/s +GB/s "
                                                  "+of peak  instruction")),
             text[0]);
  BOOST_TEST(std::regex_match(text[1], std::regex(time + R"( +[0-9.]+ %)" + time +
                                                  R"( +198 k +26.6 k +[0-9.]+ +)"
                                                  R"([0-9.]+ +[0-9]+ % P  )"
                                                  R"(%\d+ = dot over \[In\] \(x, w\).*)"
                                                  R"(  \[Rows, Out\])")),
             text[1]);
  says(text[2], "= softmax over [Out] (");
  BOOST_TEST(text[3].ends_with("  sum of 2 instructions"), text[3]);
  BOOST_TEST(text[4].ends_with("  outside of instructions"), text[4]);
  BOOST_TEST(std::regex_match(text[5], std::regex(time + " +100.0 %" + time + " +a run")), text[5]);
  BOOST_TEST(text[6] == "2 runs; P = 1000.0 GFLOP/s, B = 1000.0 GB/s");
}

BOOST_AUTO_TEST_SUITE_END()
