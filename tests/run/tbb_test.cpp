// Models on oneTBB's threads.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "run/allocations.hpp"
#include "run/writer.hpp"
#include "weft/run/threads.hpp"

namespace {

using weft::arg;

std::vector<float> losses(const weft::executor& threads) {
  weft::trainer<writer::model> t;
  t.run_on(threads);
  const writer::texts given(8, 96);
  std::vector<float> all;
  for (int i = 0; i < 5; ++i)
    all.push_back(t.step(arg<"tokens">(given.x), arg<"targets">(given.y)));
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tbb_threads)

BOOST_AUTO_TEST_CASE(a_job_is_done_once_for_each_index) {
  for (const int count : {1, 2, 5}) {
    const weft::executor threads = weft::threads(count);
    BOOST_TEST(threads.width() >= 1);
    BOOST_TEST(threads.width() <= count);
    std::vector<int> done(5);
    const auto mark = [&](int i) { ++done[static_cast<std::size_t>(i)]; };
    for (int i = 0; i < 100; ++i) threads(threads.width(), weft::job(mark));
    for (int i = 0; i < 5; ++i)
      BOOST_TEST(done[static_cast<std::size_t>(i)] == (i < threads.width() ? 100 : 0));
  }
}

BOOST_AUTO_TEST_CASE(training_has_the_same_bits_for_any_number_of_threads) {
  const std::vector<float> expected = losses(weft::executor());
  for (const int count : {1, 2, 5})
    BOOST_TEST(losses(weft::threads(count)) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(jobs_allocate_nothing_once_the_threads_have_started) {
  const weft::executor threads = weft::threads(2);
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> helped = false;
  const auto look = [&](int) {
    if (std::this_thread::get_id() != caller) helped = true;
    for (int i = 0; i < 1000 && !helped; ++i) std::this_thread::yield();
  };
  const auto run = [&] { threads(threads.width(), weft::job(look)); };
  for (int i = 0; i < 1000 && !helped; ++i) run();  // `helped` stays false on a single core
  BOOST_TEST(allocations_in([&] {
               for (int i = 0; i < 100; ++i) run();
             }) == 0);
}

BOOST_AUTO_TEST_CASE(zero_threads_are_refused) {
  std::string message;
  try {
    weft::threads(0);
  } catch (const weft::error& e) {
    message = e.what();
  }
  BOOST_TEST(message == "executor: 0 threads, and at least 1 is needed");
}

BOOST_AUTO_TEST_SUITE_END()
