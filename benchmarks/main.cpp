// The benchmarks: a table on the terminal, or what Google Benchmark's options ask for.
#include <benchmark/benchmark.h>

#ifdef __linux__
#include <sched.h>
#endif

#include <string_view>
#include <vector>

#include "benchmarks/cases.hpp"
#include "benchmarks/report.hpp"

namespace {

// Cores differ in clock and cache, and a move empties the caches: the program stays where it is.
void stay_on_this_core() {
#ifdef __linux__
  const int core = sched_getcpu();
  if (core < 0) return;
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<unsigned>(core), &only);
  sched_setaffinity(0, sizeof only, &only);  // if it fails, the numbers are merely less steady
#endif
}

}  // namespace

int main(int argc, char** argv) {
  stay_on_this_core();
  bench::add_dot();
  bench::add_rows();
  bench::add_model();

  // Of an option that is given twice, the last one counts: these come before the user's.
  char repetitions[] = "--benchmark_repetitions=9",
       seconds[] = "--benchmark_min_time=" WEFT_BENCH_MIN_TIME;
  std::vector<char*> arguments{argv[0], repetitions, seconds};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  bool own_table = true;
  for (const std::string_view argument : arguments)
    if (argument.starts_with("--benchmark_format")) own_table = false;

  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 1;
  bench::table table;
  benchmark::RunSpecifiedBenchmarks(own_table ? &table : nullptr);
  benchmark::Shutdown();
}
