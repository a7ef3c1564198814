// The table on the terminal.
#pragma once

#include <benchmark/benchmark.h>

namespace bench {

// A line for each case: the median of its repetitions.
class table : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

 private:
  int width_ = 0;
};

}  // namespace bench
