// One line that says how far the training is: Boost's bar with the numbers beside it.
#pragma once

#include <boost/timer/progress_display.hpp>
#include <chrono>
#include <sstream>

namespace char_lm {

class progress_line {
 public:
  explicit progress_line(long steps);

  // After a step: shows the line again, if there is something new to see.
  void step(long done, float loss, double tokens_per_second);
  // Leaves the line as it is.
  void finish();

  double seconds() const;

 private:
  long steps_;
  bool terminal_;
  std::ostringstream bar_;
  boost::timer::progress_display display_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double shown_ = 0;
};

}  // namespace char_lm
