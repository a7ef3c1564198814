// Saving by processes that are killed, without disk space, and by several threads at once.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <thread>

#include "support/temporary.hpp"
#include "weft/files/safetensors.hpp"
#include "weft/run/error.hpp"

namespace {

namespace fs = std::filesystem;
using weft::testing::temporary;

struct folder {
  const temporary path{"weft_save_test"};
  const fs::path file = static_cast<const fs::path&>(path) / "weights";
  folder() { fs::create_directory(path); }

  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), {}));
  }
};

// Saves some tensors whose elements all are `number`.
void save(const fs::path& file, int number) {
  const std::vector<float> x(200000, static_cast<float>(number));
  const std::span<const float> all(x);
  weft::save_tensors({{"a", {200000}, all, weft::stored_type::float32},
                      {"b", {100000}, all.first(100000), weft::stored_type::float64},
                      {"c", {3}, all.first(3), weft::stored_type::bfloat16}},
                     file);
}

// Returns the number of the save that wrote a file, or -1 if it is not of one complete save.
int saved(const fs::path& file) {
  const weft::tensor_file f(file);
  const int number = static_cast<int>(f["a"].values<float>().front());
  for (const auto* name : {"a", "b", "c"})
    for (const double x : f[name].values<double>())
      if (static_cast<float>(x) != static_cast<float>(number)) return -1;
  return f.tensors().size() == 3 ? number : -1;
}

// Starts a process that saves again and again, counting up from `number`. Returns once it runs.
::pid_t start_saving(const fs::path& file, int number) {
  int pipe[2];
  BOOST_TEST_REQUIRE(::pipe(pipe) == 0);
  const ::pid_t child = ::fork();
  if (child == 0) {
    try {
      const char begun = 1;
      if (::write(pipe[1], &begun, 1) != 1) ::_exit(1);
      for (;; ++number) save(file, number);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
    }
    ::_exit(1);
  }
  char begun = 0;
  BOOST_TEST_REQUIRE((child > 0 && ::read(pipe[0], &begun, 1) == 1));
  ::close(pipe[0]);
  ::close(pipe[1]);
  return child;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(saving)

// Kills 20 savers, or as many as WEFT_KILLED_SAVES says, after times of the seed WEFT_SAVES_SEED.
// The numbers restart from below 101, since bfloat16 represents only the integers up to 256
// exactly.
BOOST_AUTO_TEST_CASE(
    a_killed_saver_leaves_a_complete_file_and_the_next_one_removes_its_partial_file) {
  const folder here;
  const char* const wanted = std::getenv("WEFT_KILLED_SAVES");
  const int times = wanted ? std::atoi(wanted) : 20;
  BOOST_TEST_REQUIRE(times > 0);
  const char* const given = std::getenv("WEFT_SAVES_SEED");
  const unsigned seed = given ? static_cast<unsigned>(std::atol(given)) : std::random_device()();
  BOOST_TEST_INFO_SCOPE("WEFT_SAVES_SEED=" << seed);
  std::mt19937 random{seed};
  std::uniform_int_distribution<int> microseconds(0, 20000);
  int number = 1, while_saving = 0, saves = 0;
  save(here.file, number);
  // On a loaded machine few savers get as far as writing; at least one must be killed while it
  // writes.
  for (int i = 0; i < times || (while_saving == 0 && i < 50 * times); ++i) {
    const int next = number % 100 + 1;
    const ::pid_t saver = start_saving(here.file, next);
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds(random)));
    BOOST_TEST_REQUIRE(::kill(saver, SIGKILL) == 0);
    int status = 0;
    BOOST_TEST_REQUIRE(::waitpid(saver, &status, 0) == saver);
    BOOST_TEST_REQUIRE(WIFSIGNALED(status));
    const int found = saved(here.file);
    BOOST_TEST_REQUIRE((found == number || found >= next), found);
    saves += found == number ? 0 : found - next + 1;
    number = found;
    const std::size_t files = here.files();
    BOOST_TEST_REQUIRE(files <= 2u);  // the file, and at most one partial file
    while_saving += files == 2;
  }
  BOOST_TEST(while_saving > 0);
  save(here.file, 1);
  BOOST_TEST(here.files() == 1u);
  if (wanted)
    std::printf(
        "files: %d savers killed, %d of them while writing, after %d saves; the file was always "
        "complete, and no partial file was left\n",
        times, while_saving, saves);
}

BOOST_AUTO_TEST_CASE(concurrent_savers_of_one_path_all_succeed) {
  const folder here;
  std::vector<std::thread> savers;
  std::atomic<int> failed = 0;
  for (int t = 0; t < 4; ++t)
    savers.emplace_back([&, t] {
      try {
        for (int i = 0; i < 25; ++i) save(here.file, t + 1);
      } catch (const weft::error&) {
        ++failed;
      }
    });
  for (auto& saver : savers) saver.join();
  BOOST_TEST(failed == 0);
  const int last = saved(here.file);
  BOOST_TEST((last >= 1 && last <= 4));
  BOOST_TEST(here.files() == 1u);
}

BOOST_AUTO_TEST_CASE(a_save_removes_only_partial_files_of_its_own_path) {
  const folder here;
  const auto beside = [&](const char* more) { return fs::path(here.file) += more; };
  const auto others = {".partial", ".x1.partial", ".1.partial.old", "2.3.partial"};
  for (const auto* more : others) std::ofstream(beside(more)) << 'x';
  std::ofstream(beside(".123.partial")) << 'x';
  save(here.file, 1);
  for (const auto* more : others) BOOST_TEST(fs::exists(beside(more)), more);
  BOOST_TEST(!fs::exists(beside(".123.partial")));
}

BOOST_AUTO_TEST_CASE(without_disk_space_the_old_file_stays_and_no_partial_file_remains) {
  const folder here;
  save(here.file, 1);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);  // its default action ends the process
  ::rlimit before{};
  BOOST_TEST_REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  std::string told;
  // The limits fall into the header, into the first tensor and near both ends of the second.
  for (const ::rlim_t room : std::initializer_list<::rlim_t>{0, 100, 400000, 800300, 1600000}) {
    const ::rlimit now{room, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
    try {
      save(here.file, 2);
      told = "the file is written";
    } catch (const weft::error& e) {
      told = e.what();
    }
    ::setrlimit(RLIMIT_FSIZE, &before);
    BOOST_TEST(told == here.file.string() + ": the file cannot be written: File too large");
    BOOST_TEST(saved(here.file) == 1);
    BOOST_TEST(here.files() == 1u);
  }
  ::signal(SIGXFSZ, handler);
}

BOOST_AUTO_TEST_CASE(a_path_that_is_not_a_regular_file_is_not_replaced) {
  const folder here;
  fs::create_directory(here.file);
  BOOST_CHECK_THROW(save(here.file, 1), weft::error);
  BOOST_TEST(fs::is_directory(here.file));
  BOOST_TEST(here.files() == 1u);
  fs::remove(here.file);
  // A link to /dev/full, because not every user may create files in /dev.
  fs::create_symlink("/dev/full", here.file);
  BOOST_CHECK_THROW(save(here.file, 1), weft::error);
  BOOST_TEST(fs::is_character_file(here.file));
  BOOST_TEST(here.files() == 1u);
}

BOOST_AUTO_TEST_CASE(a_save_keeps_the_mode_of_the_file) {
  const folder f;
  save(f.file, 1);
  for (const auto mode : {fs::perms::owner_read | fs::perms::owner_write, fs::perms{0640},
                          fs::perms{0444}, fs::perms{0755}}) {
    fs::permissions(f.file, mode);
    save(f.file, 2);
    BOOST_TEST((fs::status(f.file).permissions() == mode));
  }
  BOOST_TEST(saved(f.file) == 2);
}

BOOST_AUTO_TEST_CASE(a_save_follows_symbolic_links_also_to_a_file_that_is_not_there) {
  const folder f;
  const fs::path other = static_cast<const fs::path&>(f.path) / "other";
  fs::create_directory(other);
  const fs::path link = static_cast<const fs::path&>(f.path) / "link", twice = other / "twice";
  fs::create_symlink("weights", link);  // relative to the link's folder
  fs::create_symlink(fs::absolute(link), twice);
  save(link, 1);
  BOOST_TEST(fs::is_symlink(link));
  BOOST_TEST(saved(f.file) == 1);
  save(twice, 2);
  BOOST_TEST(fs::is_symlink(twice));
  BOOST_TEST(saved(f.file) == 2);
  BOOST_TEST(f.files() == 3);  // weights, link and other
  fs::create_symlink("b", static_cast<const fs::path&>(f.path) / "a");
  fs::create_symlink("a", static_cast<const fs::path&>(f.path) / "b");
  BOOST_CHECK_EXCEPTION(
      save(static_cast<const fs::path&>(f.path) / "a", 3), weft::error, [](const weft::error& e) {
        return std::string(e.what()).find("the link cannot be followed") != std::string::npos;
      });
}

BOOST_AUTO_TEST_CASE(a_name_may_be_as_long_as_the_file_system_takes_it) {
  const folder f;
  const fs::path in = f.path;
  for (const std::string& name : {std::string(250, 'n'), std::string(255, 'n'),
                                  std::string(232, 'n') + "\u00e9\u00e9\u00e9"}) {
    save(in / name, 1);
    save(in / name, 2);
    BOOST_TEST(saved(in / name) == 2);
  }
  BOOST_TEST(f.files() == 3);
  BOOST_CHECK_THROW(save(in / std::string(256, 'n'), 1), weft::error);
  BOOST_TEST(f.files() == 3);
}

BOOST_AUTO_TEST_SUITE_END()
