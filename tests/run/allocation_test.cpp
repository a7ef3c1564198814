// Runs and training steps allocate nothing: every allocation function is counted.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <new>

#include "run/allocations.hpp"
#include "run/classifier.hpp"
#include "run/pool.hpp"
#include "run/writer.hpp"
#include "weft/weft.hpp"

std::atomic<int> allocations = 0;

namespace {

void* counted(void* p) {
  ++allocations;
  return p;
}

}  // namespace

// The array and the nothrow forms call these. Not inlined, or g++ sees pairs of new and free.
#define WEFT_TEST_OPERATOR __attribute__((noinline)) void
WEFT_TEST_OPERATOR* operator new(std::size_t size) {
  if (void* const p = counted(std::malloc(size > 0 ? size : 1))) return p;
  throw std::bad_alloc();
}
WEFT_TEST_OPERATOR* operator new(std::size_t size, std::align_val_t alignment) {
  const auto to = static_cast<std::size_t>(alignment);
  if (void* const p = counted(std::aligned_alloc(to, (size + to - 1) / to * to))) return p;
  throw std::bad_alloc();
}
WEFT_TEST_OPERATOR operator delete(void* p) noexcept {
  std::free(p);
}
WEFT_TEST_OPERATOR operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}
WEFT_TEST_OPERATOR operator delete(void* p, std::align_val_t) noexcept {
  std::free(p);
}
WEFT_TEST_OPERATOR operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}

// With glibc, direct calls of the C library are counted too. Sanitizers have an allocator of their
// own.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || \
    __has_feature(thread_sanitizer)
#define WEFT_TEST_SANITIZED
#endif
#if __has_feature(thread_sanitizer)
#define WEFT_TEST_COUNTS_NOTHING  // clang links its sanitizer's operators before those above
#endif
#endif
#if defined(__GLIBC__) && !defined(WEFT_TEST_SANITIZED) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define WEFT_TEST_COUNTS_MALLOC
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* p, std::size_t size);

void* malloc(std::size_t size) {
  return counted(__libc_malloc(size));
}
void* calloc(std::size_t count, std::size_t size) {
  return counted(__libc_calloc(count, size));
}
void* realloc(void* p, std::size_t size) {
  return counted(__libc_realloc(p, size));
}
}
#endif

BOOST_AUTO_TEST_SUITE(allocations_of)

#ifndef WEFT_TEST_COUNTS_NOTHING
BOOST_AUTO_TEST_CASE(the_counter_counts_every_kind_of_allocation) {
  const int* volatile seen = nullptr;  // or compilers may elide the allocation
  BOOST_TEST(allocations_in([&] {
               const std::vector<int> v(1000, 1);
               seen = v.data();
             }) > 0);
#ifdef WEFT_TEST_COUNTS_MALLOC
  BOOST_TEST(allocations_in([] { weft::allocate(100); }) > 0);
  void* volatile p = nullptr;
  BOOST_TEST(allocations_in([&] { p = std::malloc(100); }) > 0);
  BOOST_TEST(allocations_in([&] { p = std::realloc(p, 100000); }) > 0);
  std::free(p);
  BOOST_TEST(allocations_in([&] { p = std::calloc(10, 10); }) > 0);
  std::free(p);
#endif
}
#endif

BOOST_AUTO_TEST_CASE(a_run_allocates_nothing) {
  weft::module<classifier> n;
  std::vector<std::int32_t> turned(6);
  for (std::size_t i = 0; i < 6; ++i) turned[i % 3 * 2 + i / 3] = six_tokens[i];
  const weft::view<const std::int32_t, weft::shape<Batch, Pos>> strided(turned.data(), {2, 3},
                                                                        {1, 2});
  const auto tokens = rows(six_tokens), targets = rows(six_targets);
  float loss = 0, same = 0;
  // Also the first run.
  BOOST_TEST(allocations_in([&] {
               loss = n(weft::arg<"tokens">(tokens), weft::arg<"targets">(targets),
                        weft::arg<"scale">(five_scales))
                          .get<"loss">()();
             }) == 0);
  BOOST_TEST(allocations_in([&] {
               same = n(weft::arg<"tokens">(strided), weft::arg<"targets">(targets),
                        weft::arg<"scale">(five_scales))
                          .get<"loss">()();
             }) == 0);
  BOOST_TEST(loss > 0);
  BOOST_TEST(loss == same);
}

BOOST_AUTO_TEST_CASE(freezing_into_given_memory_and_a_frozen_run_allocate_nothing) {
  weft::module<classifier> n;
  const auto memory = weft::allocate(n.packed_bytes());
  const auto tokens = rows(six_tokens), targets = rows(six_targets);
  float loss = 0;
  BOOST_TEST(allocations_in([&] {
               n.freeze(std::span<std::byte>(memory.get(), n.packed_bytes()));
               loss = n(weft::arg<"tokens">(tokens), weft::arg<"targets">(targets),
                        weft::arg<"scale">(five_scales))
                          .get<"loss">()();
             }) == 0);
  BOOST_TEST(loss > 0);
}

BOOST_AUTO_TEST_CASE(freezing_again_at_the_same_precision_allocates_nothing) {
  weft::module<classifier> n;
  n.freeze();
  BOOST_TEST(allocations_in([&] { n.freeze(); }) == 0);
#ifdef WEFT_TEST_COUNTS_MALLOC
  BOOST_TEST(allocations_in([&] { n.freeze(weft::precision::bfloat16); }) > 0);
#endif
  n.freeze(weft::precision::bfloat16);
  BOOST_TEST(allocations_in([&] { n.freeze(weft::precision::bfloat16); }) == 0);
}

BOOST_AUTO_TEST_CASE(a_training_step_allocates_nothing) {
  weft::trainer<classifier> t({}, {.clip_norm = 1,
                                   .schedule = weft::warmup_cosine{.warmup = 2, .total = 10},
                                   .groups = {{.pattern = "head.bias", .decay = 0}}});
  const auto tokens = rows(six_tokens), targets = rows(six_targets);
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(allocations_in([&] {
                 t.step(weft::arg<"tokens">(tokens), weft::arg<"targets">(targets),
                        weft::arg<"scale">(five_scales));
               }) == 0);
}

// Three runs and three steps.
void check_no_allocations(weft::module<writer::model>& n, weft::trainer<writer::model>& t) {
  const writer::texts given(8, 96);
  const auto x = weft::arg<"tokens">(given.x);
  const auto y = weft::arg<"targets">(given.y);
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST(allocations_in([&] { n(x, y); }) == 0);
    BOOST_TEST(allocations_in([&] { t.step(x, y); }) == 0);
  }
}

BOOST_AUTO_TEST_CASE(runs_and_training_steps_on_several_threads_allocate_nothing) {
  pool p(3);
  weft::module<writer::model> n;
  n.run_on(on(p, 3));
  weft::trainer<writer::model> t({}, {.clip_norm = 1});
  t.run_on(on(p, 3));
  check_no_allocations(n, t);
}

BOOST_AUTO_TEST_CASE(runs_and_training_steps_with_a_profile_allocate_nothing) {
  pool p(2);
  weft::module<writer::model> n;
  n.run_on(on(p, 2));
  weft::trainer<writer::model> t;
  const weft::profile of_runs(n, {.runs = 2}), of_steps(t);
  check_no_allocations(n, t);
  BOOST_TEST(of_runs.runs() == 2u);
  BOOST_TEST(of_steps.runs() == 3u);
}

BOOST_AUTO_TEST_SUITE_END()
