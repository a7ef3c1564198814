// A progress line of training: Boost's bar with values beside it.
#pragma once

#include <boost/timer/progress_display.hpp>
#include <chrono>
#include <sstream>
#include <string>

namespace examples {

class progress_line {
 public:
  // `what` names the unit of the rate, such as "tokens" per second.
  progress_line(long steps, std::string what);

  // After a step: `done` steps are done, and the rate is `each_second`. Redraws at intervals.
  void step(long done, float loss, double each_second);
  // Ends the line.
  void finish();

  double seconds() const;

 private:
  long steps_;
  std::string what_;
  bool terminal_;
  std::ostringstream bar_;
  boost::timer::progress_display display_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double shown_ = 0;
};

}  // namespace examples
