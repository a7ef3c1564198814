// One line that says how far the training is: Boost's bar with the numbers beside it.
#pragma once

#include <boost/timer/progress_display.hpp>
#include <chrono>
#include <sstream>
#include <string>

namespace examples {

class progress_line {
 public:
  // `what` is counted in each second, as in "tokens".
  progress_line(long steps, std::string what);

  // After a step: shows the line again, if there is something new to see.
  void step(long done, float loss, double each_second);
  // Leaves the line as it is.
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
