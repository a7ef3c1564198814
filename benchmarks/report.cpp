#include "benchmarks/report.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "benchmarks/measure.hpp"

namespace bench {
namespace {

std::string time(double seconds) {
  char text[32];
  if (seconds >= 1e-3)
    std::snprintf(text, sizeof text, "%.4g ms", seconds * 1e3);
  else if (seconds >= 1e-6)
    std::snprintf(text, sizeof text, "%.4g us", seconds * 1e6);
  else
    std::snprintf(text, sizeof text, "%.4g ns", seconds * 1e9);
  return text;
}

// A cell, empty where the case has no such counter.
std::string cell(const benchmark::BenchmarkReporter::Run& run, const char* counter, double unit,
                 const char* format) {
  const auto found = run.counters.find(counter);
  if (found == run.counters.end()) return {};
  char text[32];
  std::snprintf(text, sizeof text, format, found->second.value / unit);
  return text;
}

}  // namespace

bool table::ReportContext(const Context& context) {
  width_ = static_cast<int>(context.name_field_width);
  std::printf("One core, kernels for %s; P: the peak of that core, measured beside each case\n\n",
              target());
  std::printf("%-*s %9s %9s %11s %11s\n", width_, "case", "time", "GFLOP/s", "share of P",
              "ns/element");
  return true;
}

void table::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (run.repetitions > 1 && run.aggregate_name != "median") continue;
    const double cpu = run.GetAdjustedCPUTime() / benchmark::GetTimeUnitMultiplier(run.time_unit);
    std::printf("%-*s %9s %9s %11s %11s\n", width_, run.run_name.str().c_str(), time(cpu).c_str(),
                cell(run, rate, 1e9, "%.1f").c_str(), cell(run, share, 1, "%.2f").c_str(),
                cell(run, per_element, 1e-9, "%.3f").c_str());
  }
  std::fflush(stdout);
}

void table::Finalize() {
  std::vector<double> all(peaks().begin(), peaks().end());
  if (all.empty()) return;
  std::ranges::sort(all);
  std::printf("\nP: %.1f GFLOP/s, from %.1f to %.1f\n", all[all.size() / 2] / 1e9,
              all.front() / 1e9, all.back() / 1e9);
}

}  // namespace bench
