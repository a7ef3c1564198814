// Models give the same bits on any number of threads.
#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "kernels/targets.hpp"
#include "run/classifier.hpp"
#include "run/pool.hpp"
#include "run/writer.hpp"
#include "support/thrown_by.hpp"
#include "weft/run/team.hpp"

namespace {

using weft::testing::thrown_by;

using weft::arg;

using bits = std::vector<std::uint32_t>;
bits bits_of(std::span<const float> x) {
  bits all(x.size());
  std::ranges::transform(x, all.begin(), [](float f) { return std::bit_cast<std::uint32_t>(f); });
  return all;
}

bits logits(weft::module<writer::model>& net, const writer::texts& given) {
  const weft::array<float, writer::Batch, writer::Pos, writer::Vocab> y(
      net(arg<"tokens">(given.x), arg<"targets">(given.y)).get<"logits">());
  return bits_of({y.view().data(), y.view().size()});
}

struct trained {
  std::vector<float> losses;
  double norm = 0;
  bits parameters;
};
template <class Optimizer>
trained train(const weft::executor& threads) {
  weft::trainer<writer::model, Optimizer> t({}, {.clip_norm = 0.5, .seed = 3});
  t.run_on(threads);
  trained after;
  for (const std::size_t length : {96u, 50u, 96u}) {
    const writer::texts given(8, length);
    after.losses.push_back(t.step(arg<"tokens">(given.x), arg<"targets">(given.y)));
  }
  after.norm = t.gradient_norm();
  after.parameters = bits_of(t.parameters().floats());
  return after;
}

// Wraps a kernel and counts its calls for a partition of the work.
template <auto Kernel>
struct counted {
  static inline void (*real)(const weft::kernels::call&) noexcept;
  static inline std::atomic<int> parts;

  static void call(const weft::kernels::call& c) noexcept {
    if (c.part.count > 1) ++parts;
    real(c);
  }
  static void put_into(weft::kernels::table& t) {
    real = t.*Kernel;
    parts = 0;
    t.*Kernel = &call;
  }
};

struct Tokens : weft::axis<4096> {};
struct Words : weft::axis<50> {};
struct Wide : weft::axis<100> {};

// An embedding lookup by index, whose gradient is a scatter_add.
struct lookup {
  constexpr auto operator()(weft::scope s) const {
    auto tokens = s.input<"tokens", std::int32_t, Tokens>();
    auto table = s.param<"table", Words, Wide>(weft::init::normal());
    auto rows = weft::gather<Words>(table, tokens);
    return weft::as<"loss">(weft::mean<Tokens, Wide>(rows * rows));
  }
};

// The gradients and then the loss of a training step with these kernels.
template <class Model, class... Args>
bits gradients(const weft::kernels::table& kernels, const weft::executor& threads,
               const Args&... args) {
  using source = weft::training<Model, "loss">;
  const weft::program& p = weft::lowered<source>::program;
  const weft::parameters<Model> parameters({.seed = 1});
  const auto block = weft::allocate(p.gradient_bytes);
  const auto workspace = weft::allocate(p.workspace_bytes);
  weft::engine e(p, {parameters.addresses(), block.get(), workspace.get()});
  e.use_kernels(kernels);
  e.run_on(threads);
  e.bind(weft::bindings<source>(p, args...));
  e.run();
  bits all =
      bits_of({reinterpret_cast<const float*>(block.get()), p.gradient_bytes / sizeof(float)});
  all.push_back(bits_of({reinterpret_cast<const float*>(e.address(p.results[0].at)), 1})[0]);
  return all;
}
bits gradients_of_lookup(const weft::kernels::table& kernels, const weft::executor& threads) {
  std::vector<std::int32_t> tokens(Tokens::extent);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = static_cast<std::int32_t>(i * i % Words::extent);
  return gradients<lookup>(kernels, threads, arg<"tokens">(tokens));
}
bits gradients_of_writer(const weft::kernels::table& kernels, const weft::executor& threads) {
  const writer::texts given(8, 96);
  return gradients<writer::model>(kernels, threads, arg<"tokens">(given.x),
                                  arg<"targets">(given.y));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(threads)

BOOST_AUTO_TEST_CASE(results_have_the_same_bits_for_any_number_of_threads) {
  const weft::parameters<writer::model> parameters({.seed = 2});
  for (const std::size_t length : {96u, 37u, 1u, 0u}) {
    const writer::texts given(8, length);
    weft::module<writer::model> alone(parameters);
    const bits expected = logits(alone, given);
    BOOST_TEST(expected.size() == 8 * length * writer::Vocab::extent);
    for (const int count : {1, 2, 3, 5}) {
      pool p(count);
      weft::module<writer::model> net(parameters);
      net.run_on(on(p, count));
      for (int again = 0; again < 3; ++again)
        BOOST_TEST((logits(net, given) == expected), count << " threads, length " << length);
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(training_has_the_same_bits_for_any_number_of_threads, Optimizer,
                              decltype(std::tuple<weft::adamw, weft::sgd>())) {
  const trained expected = train<Optimizer>(weft::executor());
  BOOST_TEST(expected.norm > 0.5);  // so that it is clipped
  for (const int count : {2, 3, 5}) {
    pool p(count);
    const trained got = train<Optimizer>(on(p, count));
    BOOST_TEST(got.losses == expected.losses, boost::test_tools::per_element());
    BOOST_TEST(got.norm == expected.norm);
    BOOST_TEST((got.parameters == expected.parameters), count << " threads");
  }
}

BOOST_AUTO_TEST_CASE(instructions_are_partitioned_among_threads_on_every_target) {
  using weft::kernels::table;
  weft::kernels::on_every_target([](const table& kernels) {
    const bits expected = gradients_of_lookup(kernels, weft::executor());
    const bits expected_of_writer = gradients_of_writer(kernels, weft::executor());
    for (const int count : {2, 3}) {
      table mine = kernels;
      counted<&table::gather>::put_into(mine);
      counted<&table::scatter_add>::put_into(mine);
      pool p(count);
      BOOST_TEST((gradients_of_lookup(mine, on(p, count)) == expected));
      BOOST_TEST(counted<&table::gather>::parts == count);
      BOOST_TEST(counted<&table::scatter_add>::parts == count);

      mine = kernels;
      counted<&table::elementwise>::put_into(mine);
      counted<&table::rowwise>::put_into(mine);
      counted<&table::reduce>::put_into(mine);
      counted<&table::dot>::put_into(mine);
      BOOST_TEST((gradients_of_writer(mine, on(p, count)) == expected_of_writer));
      BOOST_TEST(counted<&table::elementwise>::parts > 0);
      BOOST_TEST(counted<&table::rowwise>::parts > 0);
      BOOST_TEST(counted<&table::reduce>::parts > 0);
      BOOST_TEST(counted<&table::dot>::parts > 0);
    }
  });
}

BOOST_AUTO_TEST_CASE(jobs_may_run_one_after_another_in_any_order) {
  const weft::kernels::table kernels = weft::kernels::dispatch();
  const bits expected = gradients_of_lookup(kernels, weft::executor());
  const weft::executor backwards(4, [](int n, weft::job f) {
    while (n > 0) f(--n);
  });
  BOOST_TEST((gradients_of_lookup(kernels, backwards) == expected));
}

BOOST_AUTO_TEST_CASE(an_executor_is_called_once_per_run_and_not_for_a_small_run) {
  std::vector<int> asked;
  const weft::executor counting(3, [&asked](int n, weft::job f) {
    asked.push_back(n);
    for (int i = 0; i < n; ++i) f(i);
  });
  gradients_of_lookup(weft::kernels::dispatch(), counting);
  // Once when it is set, once for the run.
  BOOST_TEST(asked == std::vector<int>({3, 3}), boost::test_tools::per_element());
  weft::module<classifier, "scaled"> small;
  small.run_on(counting);
  asked.clear();
  small(arg<"tokens">(rows(six_tokens)), arg<"scale">(five_scales));
  BOOST_TEST(asked.empty());
}

// A clock that shows how much work the calling thread has done.
thread_local double worked = 0;
double clock_of_work() noexcept {
  return worked;
}

BOOST_AUTO_TEST_CASE(partitions_are_sized_by_the_speed_of_their_threads) {
  pool threads(2);
  weft::team two(on(threads, 2), clock_of_work);
  std::barrier together(2);  // no thread takes the other's partition
  std::array<double, 2> parts{};
  const auto run = [&](double first_member, double second_member) {
    two.run(
        400, [](int) { return 2; },
        [&](int, const weft::kernels::partition& part, int member) {
          together.arrive_and_wait();
          const auto of_whole =
              static_cast<double>(part.end - part.begin) / weft::kernels::partition::full;
          worked += of_whole * (member == 0 ? first_member : second_member);
          parts[static_cast<std::size_t>(part.index)] = of_whole;
        });
    BOOST_TEST(parts[0] + parts[1] == 1);
  };
  run(300, 300);
  BOOST_TEST(parts[0] == 0.5);
  // Three times as slow; partitions are drawn slightly towards equal sizes.
  run(300, 100);
  BOOST_TEST(parts[0] > 0.25);
  BOOST_TEST(parts[0] < 0.27);
  // A run that is too short does not change the partition.
  run(1, 9);
  BOOST_TEST(parts[0] < 0.27);
  run(100, 300);
  BOOST_TEST(parts[0] > 0.73);
}

BOOST_AUTO_TEST_CASE(modules_on_different_threads_may_share_an_executor) {
  const weft::executor fresh(2, [](int n, weft::job f) {
    std::vector<std::jthread> helpers;
    for (int i = 1; i < n; ++i) helpers.emplace_back(f, i);
    f(0);
  });
  const weft::parameters<writer::model> parameters({.seed = 2});
  const writer::texts given(8, 96);
  weft::module<writer::model> alone(parameters);
  const bits expected = logits(alone, given);
  std::atomic<int> same = 0;
  const auto run = [&] {
    weft::module<writer::model> net(parameters);
    net.run_on(fresh);
    for (int i = 0; i < 3; ++i) same += logits(net, given) == expected;
  };
  { const std::jthread one(run), other(run); }
  BOOST_TEST(same == 6);
}

BOOST_AUTO_TEST_CASE(a_module_may_return_to_the_calling_thread) {
  weft::module<writer::model> net;
  const writer::texts given(8, 96);
  const bits expected = logits(net, given);
  int asked = 0;
  net.run_on({2, [&asked](int n, weft::job f) {
                ++asked;
                while (n > 0) f(--n);
              }});
  net.run_on({});
  BOOST_TEST((logits(net, given) == expected));
  BOOST_TEST(asked == 1);
}

BOOST_AUTO_TEST_CASE(an_executor_without_threads_or_a_function_is_refused) {
  const auto run = [](int, weft::job) {};
  BOOST_TEST(thrown_by([&] { weft::executor(0, run); }) ==
             "executor: 0 threads, and at least 1 is needed");
  BOOST_TEST(thrown_by([&] { weft::executor(-2, run); }) ==
             "executor: -2 threads, and at least 1 is needed");
  BOOST_TEST(thrown_by([] { weft::executor(2, nullptr); }) ==
             "executor: without a function that runs");
}

BOOST_AUTO_TEST_SUITE_END()
