// What the manual promises to threads that must not wait.
#include <algorithm>
#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/models/frames.hpp"
#include "run/allocations.hpp"
#include "support/thrown_by.hpp"
#include "weft/files/load.hpp"
#include "weft/weft.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WEFT_TEST_SANITIZED
#endif
#endif
// Sanitizers have memory of their own, and qemu knows no seccomp.
#if defined(__linux__) && defined(__x86_64__) && !defined(WEFT_TEST_SANITIZED)
#define WEFT_TEST_ON_LINUX
#include <malloc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#endif

namespace {

using weft::arg;

// A module, and a signal for it, which does not end.
template <class Model, class... Axes>
struct stream {
  weft::module<Model> net{{.seed = 3}};
  weft::array<float, Axes...> x;
  int at = 0;

  auto operator()() {
    for (float& v : x) v = static_cast<float>(++at * 37 % 101) / 50 - 1;
    return net(arg<"x">(x));
  }
};
using streams = boost::mpl::list<stream<frames::detector, frames::Sample>,
                                 stream<frames::windowed, frames::Frame, frames::Embed>>;

struct Rows : weft::axis<4> {};
struct Table : weft::axis<4000> {};
struct looks_up {
  constexpr auto operator()(weft::scope s) const {
    return weft::gather<Table>(s.param<"table", Table, frames::Wide>(weft::init::normal()),
                               s.input<"rows", std::int32_t, Rows>());
  }
};

#ifdef WEFT_TEST_ON_LINUX
// Page faults of this thread while f runs.
template <class F>
long faults_in(F f) {
  rusage before{}, after{};
  getrusage(RUSAGE_THREAD, &before);
  f();
  getrusage(RUSAGE_THREAD, &after);
  return after.ru_minflt - before.ru_minflt + after.ru_majflt - before.ru_majflt;
}

// How a child process ends that does f: 0, if it returns true, or the signal that ended it.
template <class F>
int end_of_child(F f) {
  const pid_t child = fork();
  if (child == 0) {
    const bool good = f();
    syscall(SYS_exit, good ? 0 : 1);  // all that seccomp's strict mode allows, with read and write
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}
bool enter_strict_mode() {
  return prctl(PR_SET_SECCOMP, 1 /* SECCOMP_MODE_STRICT */) == 0;
}

template <class Stream>
void run_in_strict_mode(int frames) {
  Stream frame;
  frame.net.prepare();
  BOOST_TEST(end_of_child([&] {
               if (!enter_strict_mode()) return false;
               for (int i = 0; i < frames; ++i) frame();
               return true;
             }) == 0);
}
#endif

}  // namespace

BOOST_AUTO_TEST_SUITE(realtime)

BOOST_AUTO_TEST_CASE_TEMPLATE(prepared_modules_go_on_with_the_same_bits, stream, streams) {
  stream plain, prepared;
  plain.net.freeze();
  for (int i = 0; i < 6; ++i) {
    if (i % 3 == 0) prepared.net.prepare();
    const weft::array a(plain()), b(prepared());
    BOOST_TEST(std::ranges::equal(a, b), "frame " << i);
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(frames_allocate_nothing, stream, streams) {
  stream frame;
  frame.net.prepare();
  BOOST_TEST(allocations_in([&] {
               for (int i = 0; i < 100; ++i) frame();
             }) == 0);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(streams_in_turn_give_what_each_gives_alone, stream, streams) {
  stream one, alone[3];
  one.net.prepare();
  const auto bytes = decltype(one.net)::state_bytes;
  std::vector<std::vector<std::byte>> states(3, std::vector<std::byte>(bytes));
  for (auto& s : alone) s.net.freeze();
  for (int frame = 0; frame < 6; ++frame)
    for (std::size_t s = 0; s < 3; ++s) {
      alone[s].at = one.at = static_cast<int>(s) * 50 + frame * 1000;
      BOOST_TEST(allocations_in([&] { one.net.states().swap(states[s]); }) == 0);
      const weft::array expected(alone[s]()), got(one());
      BOOST_TEST(std::ranges::equal(got, expected), "frame " << frame << " of " << s);
      one.net.states().swap(states[s]);
    }
  BOOST_TEST(weft::testing::thrown_by([&] {
               one.net.states().swap(std::span(states[0]).first(bytes - 1));
             }) == "states: the module's have " + std::to_string(bytes) +
                       " bytes, and those of the stream " + std::to_string(bytes - 1));
}

BOOST_AUTO_TEST_CASE(frozen_streams_hold_no_scratch_that_packing_needs) {
  constexpr auto cost = weft::cost<frames::detector>;
  static_assert(cost.state_bytes == weft::module<frames::detector>::state_bytes);
  static_assert(cost.workspace_bytes > 200'000 && cost.frozen_workspace_bytes < 40'000);
  static_assert(cost.packed_bytes > 1'000'000 && cost.parameter_bytes > 1'000'000);
#if defined(WEFT_TEST_ON_LINUX) && defined(__GLIBC__)
  const auto used = [] {
    const auto all = mallinfo2();
    return all.uordblks + all.hblkhd;
  };
  weft::module<frames::detector> first;
  std::vector<weft::module<frames::detector>> streams;
  streams.reserve(20);
  const std::size_t before = used();
  for (int i = 0; i < 10; ++i) streams.emplace_back(weft::sharing(first));
  BOOST_TEST(used() - before > 10 * cost.workspace_bytes);
  first.freeze();
  const std::size_t plain = used();
  for (int i = 0; i < 10; ++i) streams.emplace_back(weft::sharing(first));
  BOOST_TEST(used() - plain < 10 * (cost.frozen_workspace_bytes + 40'000));
#endif
}

#ifdef WEFT_TEST_ON_LINUX
BOOST_AUTO_TEST_CASE_TEMPLATE(the_first_frame_of_a_prepared_module_meets_no_new_page, stream,
                              streams) {
  // Memory that was not used before; malloc's may have been.
  const auto fresh = [] {
    const std::size_t size = decltype(stream::net)::workspace_bytes;
    void* const p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return std::span(static_cast<std::byte*>(p), size);
  };
  stream plain, prepared;
  const std::span<std::byte> memory[]{fresh(), fresh()};
  plain.net = decltype(stream::net)(plain.net.parameters(), memory[0]);
  prepared.net = decltype(stream::net)(prepared.net.parameters(), memory[1]);
  plain.net.freeze();
  prepared.net.prepare();
  std::ranges::fill(plain.x, 1.0f);
  std::ranges::fill(prepared.x, 1.0f);
  BOOST_TEST(faults_in([&] { plain(); }) > 2);
  BOOST_TEST(faults_in([&] { prepared(); }) == 0);
  plain.net = decltype(stream::net)();
  prepared.net = decltype(stream::net)();
  for (const auto& m : memory) munmap(m.data(), m.size());
}

BOOST_AUTO_TEST_CASE(the_first_frame_of_a_prepared_module_finds_the_pages_of_a_mapped_file) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("weft-realtime-" + std::to_string(getpid()) + ".safetensors");
  weft::save(weft::parameters<looks_up>({.seed = 3}), file.string());
  using net = weft::module<looks_up>;
  net mapped{weft::tensor_file(file.string())}, prepared{weft::tensor_file(file.string())};
  prepared.prepare({.freeze = false});
  const std::vector<std::int32_t> rows{400, 1200, 2000, 3600};  // another part of the file each
  BOOST_TEST(faults_in([&] { mapped(arg<"rows">(rows)); }) > 2);
  BOOST_TEST(faults_in([&] { prepared(arg<"rows">(rows)); }) == 0);
  std::filesystem::remove(file);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_thousand_frames_make_no_system_call, stream, streams) {
  run_in_strict_mode<stream>(1000);
}
BOOST_AUTO_TEST_CASE(a_hundred_thousand_frames_make_no_system_call,
                     *boost::unit_test::label("full")) {
  run_in_strict_mode<stream<frames::detector, frames::Sample>>(100'000);
  run_in_strict_mode<stream<frames::windowed, frames::Frame, frames::Embed>>(100'000);
}

BOOST_AUTO_TEST_CASE(strict_mode_ends_a_frame_that_takes_memory_or_waits) {
  stream<frames::detector, frames::Sample> frame;
  frame.net.prepare();
  BOOST_TEST(end_of_child([&] {
               if (!enter_strict_mode()) return false;
               frame();
               return std::malloc(std::size_t{1} << 24) != nullptr;
             }) == SIGKILL);
  std::mutex taken;
  taken.lock();
  BOOST_TEST(end_of_child([&] {
               if (!enter_strict_mode()) return false;
               frame();
               taken.lock();
               return true;
             }) == SIGKILL);
  taken.unlock();
}

BOOST_AUTO_TEST_CASE(locked_memory_is_counted_or_refused_in_a_sentence) {
  stream<frames::detector, frames::Sample> frame;
  using net = decltype(frame.net);
  const auto locked = [] {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
      if (std::size_t kilobytes = 0; word == "VmLck:" && status >> kilobytes)
        return kilobytes << 10;
    return std::size_t{0};
  };
  BOOST_TEST(end_of_child([&] {
               const std::size_t before = locked();
               try {
                 frame.net.prepare({.lock = true});
               } catch (const weft::error&) {
                 return true;  // the limit of this system
               }
               return locked() - before >=
                      weft::cost<frames::detector>.frozen_workspace_bytes + net::packed_bytes();
             }) == 0);
  // The pages of a workspace, as far as a frozen module uses it, are among them.
  BOOST_TEST(end_of_child([&] {
               constexpr std::size_t size = net::workspace_bytes;
               void* const own =
                   mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
               if (own == MAP_FAILED) return false;
               net there(weft::parameters<frames::detector>(weft::parameter_options{3}),
                         std::span(static_cast<std::byte*>(own), size));
               try {
                 there.prepare({.lock = true});
               } catch (const weft::error&) {
                 return true;
               }
               const std::size_t before = locked();
               munlock(own, size);
               return before - locked() >= weft::cost<frames::detector>.frozen_workspace_bytes;
             }) == 0);
  BOOST_TEST(end_of_child([&] {
               const rlimit none{0, 0};
               setrlimit(RLIMIT_MEMLOCK, &none);
               if (geteuid() == 0 && seteuid(65534) != 0) return false;  // without capabilities
               const auto said =
                   weft::testing::thrown_by([&] { frame.net.prepare({.lock = true}); });
               return said.find("ulimit -l") != said.npos;
             }) == 0);
}
#endif

BOOST_AUTO_TEST_SUITE_END()
