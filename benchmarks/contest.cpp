#include "benchmarks/contest.hpp"

#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string_view>

#include "benchmarks/environment.hpp"
#include "benchmarks/floats.hpp"
#include "weft/kernels/peak.hpp"
#include "weft/kernels/targets.hpp"
#include "weft/run/memory.hpp"

namespace bench {
namespace {

struct options {
  bool quick = false;
  std::vector<std::int64_t> targets{0};  // as weft::kernels::use_targets takes them
  bool alone = false;
  bool in_turns = false;
  std::string filter;
};

// The SIMD targets that can be used, the best first.
std::vector<std::int64_t> usable_targets() {
  std::vector<std::int64_t> found;
  for (std::int64_t left = weft::kernels::targets() & HWY_TARGETS; left != 0; left &= left - 1)
    found.push_back(left & -left);
  return found;
}

std::vector<std::int64_t> targets_of(const std::vector<std::string>& names) {
  if (names == std::vector<std::string>{"best"}) return {0};
  const std::vector<std::int64_t> here = usable_targets();
  if (names == std::vector<std::string>{"all"}) return here;
  std::vector<std::int64_t> found;
  for (const std::string& name : names) {
    const auto named = std::ranges::find(here, name, hwy::TargetName);
    if (named == here.end()) throw CLI::ValidationError(name + " is no target of this machine");
    found.push_back(*named);
  }
  return found;
}

double processor_seconds() noexcept {
  return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

// The machine's limit for a case, in the unit that the case is compared with: operations or bytes
// per second. It is measured next to the case, as clocks drift.
double limit(const contest& c) {
  if (c.operations > 0) return weft::kernels::peak_flops(processor_seconds) * c.threads;
  if (c.bytes == 0) return 0;
  // On huge pages, as packed weights are.
  static weft::aligned_bytes memory;
  static std::size_t size = 0;
  const std::size_t n = static_cast<std::size_t>(c.bytes) / sizeof(float);
  if (size != n) memory = weft::allocate((size = n) * sizeof(float));
  auto* const data = reinterpret_cast<float*>(memory.get());
  std::fill_n(data, n, 1.0F);
  return weft::kernels::read_bandwidth(data, n, processor_seconds);
}

// The largest difference, relative to the largest element of `own`.
double difference(const std::vector<float>& own, const std::vector<float>& other) {
  if (own.size() != other.size()) return HUGE_VAL;
  double largest = 0, apart = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (!std::isfinite(own[i]) || !std::isfinite(other[i])) return HUGE_VAL;
    largest = std::max(largest, std::abs(double{own[i]}));
    apart = std::max(apart, std::abs(double{own[i]} - double{other[i]}));
  }
  return apart == 0 ? 0 : apart / largest;
}

// The largest error against exact values, in epsilons of the largest of them.
double error_of(const std::vector<float>& result, const std::vector<sample>& exact) {
  double largest = 0, apart = 0;
  for (const auto& [at, value] : exact) {
    largest = std::max(largest, std::abs(value));
    apart = std::max(apart, std::abs(double{result[at]} - value));
  }
  return apart / largest / std::numeric_limits<float>::epsilon();
}

// Times a contender under Google Benchmark, which chooses the iterations and interleaves the
// contenders.
void time(benchmark::State& state, const contest& c, const contender& who) {
  const double before = limit(c);
  who.repeat(1);  // warms the caches
  const auto n = static_cast<std::int64_t>(state.max_iterations);
  double seconds = 0;
  while (state.KeepRunningBatch(n)) {
    seconds = who.repeat(n);
    state.SetIterationTime(seconds);
  }
  const double both = (before + limit(c)) / 2;
  if (both == 0) return;
  state.counters["limit"] = both;
  state.counters["share"] = (c.operations + c.bytes) * static_cast<double>(n) / seconds / both;
}

// Records the medians.
class medians : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.aggregate_name != "median") continue;
      const double seconds =
          run.GetAdjustedRealTime() / benchmark::GetTimeUnitMultiplier(run.time_unit);
      nlohmann::ordered_json row{{"name", run.run_name.function_name}, {"seconds", seconds}};
      for (const auto& [counter, value] : run.counters) row[counter] = value.value;
      rows.push_back(row);
    }
  }

  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
};

void add(const contest& c, const std::string& name, const contender& who, const options& chosen) {
  benchmark::RegisterBenchmark(name.c_str(), [&](benchmark::State& state) { time(state, c, who); })
      ->UseManualTime()
      ->Repetitions(chosen.quick ? 3 : 9)
      ->MinTime(chosen.quick ? 0.005 : 0.03);
}

// Whether a contender's result equals weft's within the tolerance; if not, it is not timed.
bool agrees(const contest& c, const std::vector<float>& own, const std::string& name,
            const std::vector<float>& others, const std::string& contest_name) {
  const double apart = difference(own, others);
  if (apart <= c.tolerance) return true;
  std::cerr << contest_name << ": " << name << " computes something else, by " << apart
            << " of the largest element; it is left out\n";
  return false;
}

// The name of the best SIMD target.
const char* target() {
  return hwy::TargetName(usable_targets().front());
}

nlohmann::ordered_json description(const std::string& name, const contest& c) {
  nlohmann::ordered_json line{{"case", name}, {"target", target()}, {"threads", c.threads}};
  if (c.operations > 0) line["operations"] = c.operations;
  if (c.bytes > 0) line["bytes"] = c.bytes;
  if (c.elements > 0) line["elements"] = c.elements;
  return line;
}

bool run(const std::string& name, const contest& c, const options& chosen) {
  c.weft.repeat(1);
  const std::vector<float> own = c.weft.result();
  const std::vector<sample> exact = c.exact ? c.exact() : std::vector<sample>();
  std::map<std::string, double> errors;
  if (!exact.empty()) errors["weft"] = error_of(own, exact);
  bool all_agree = true;
  auto others = c.variants;
  if (!chosen.alone && c.peers) std::ranges::move(c.peers(), std::back_inserter(others));
  add(c, "weft", c.weft, chosen);
  for (const auto& [who, other] : others) {
    std::vector<float> result;
    try {
      other.repeat(1);
      result = other.result();
    } catch (const std::exception& problem) {
      std::cerr << name << ": " << who << " is left out: " << problem.what() << '\n';
      continue;
    }
    if (!agrees(c, own, who, result, name)) {
      all_agree = false;
      continue;
    }
    if (!exact.empty()) errors[who] = error_of(result, exact);
    add(c, who, other, chosen);
  }
  medians reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::ClearRegisteredBenchmarks();

  nlohmann::ordered_json line = description(name, c);
  line["contenders"] = reporter.rows;
  if (!errors.empty()) line["errors"] = errors;
  std::cout << line.dump() << std::endl;
  return all_agree;
}

// The seconds per iteration with little disturbance: the lower quartile of samples that are long
// enough to be timed and too short for many interrupts. Not the minimum, as a processor-time clock
// that is adjusted in between can show 0.
double quick_seconds(const contender& who) {
  constexpr double piece = 20e-6, turn = 1e-3;
  std::int64_t n = 1;
  while (who.repeat(n) < piece) n *= 2;  // also warms the caches
  std::vector<double> pieces;
  for (double spent = 0; spent < turn; spent += pieces.back()) pieces.push_back(who.repeat(n));
  const auto quartile = pieces.begin() + std::ssize(pieces) / 4;
  std::ranges::nth_element(pieces, quartile);
  return *quartile / static_cast<double>(n);
}

// Prints the case's description, then one time per line "again" that is read.
void take_turns(const std::string& name, const contest& c) {
  std::cout << description(name, c).dump() << std::endl;
  for (std::string line; std::getline(std::cin, line) && line == "again";)
    std::cout << quick_seconds(c.weft) << std::endl;
}

}  // namespace

int measure(int argc, char** argv, const std::vector<named_contest>& contests, int threads) {
  options chosen;
  CLI::App app("Measures weft and its peers; a line of JSON for each case.");
  app.add_flag("--quick", chosen.quick, "Fewer and shorter repetitions");
  app.add_option_function<std::vector<std::string>>(
         "--targets",
         [&chosen](const std::vector<std::string>& names) {
           chosen.targets = targets_of(names);
           chosen.alone = true;
         },
         "Weft alone, on these SIMD targets: names with commas between them, best, or all that "
         "were compiled and that this machine runs")
      ->delimiter(',');
  app.add_flag("--in-turns", chosen.in_turns,
               "Weft alone, in turns with other programs: for each case its description, then a "
               "time for each line \"again\" that is read; another line ends the case");
  app.add_option("--filter", chosen.filter, "A regular expression: only cases that it is found in");
  CLI11_PARSE(app, argc, argv);

  clean_environment(argv, threads);
  if (threads == 1) stay_on_one_core();
  // Contenders are interleaved in random order.
  char interleave[] = "--benchmark_enable_random_interleaving=true";
  char* arguments[]{argv[0], interleave, nullptr};
  int count = 2;
  benchmark::Initialize(&count, arguments);

  bool all_agree = true;
  const std::regex filter(chosen.filter);
  for (const auto& [name, make] : contests) {
    if (!std::regex_search(name, filter)) continue;
    for (const std::int64_t target : chosen.targets) {
      weft::kernels::use_targets(target);
      if (chosen.in_turns)
        take_turns(name, make());
      else
        all_agree = run(name, make(), chosen) && all_agree;
    }
  }
  return all_agree ? 0 : 1;
}

}  // namespace bench
