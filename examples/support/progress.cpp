#include "support/progress.hpp"

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace examples {

progress_line::progress_line(long steps, std::string what)
    : steps_(steps),
      what_(std::move(what)),
      terminal_(isatty(STDERR_FILENO) != 0),
      display_(static_cast<unsigned long>(steps), bar_, "") {
  bar_.str("");  // drops the scale, which takes a line of its own
}

double progress_line::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

void progress_line::step(long done, float loss, double each_second) {
  display_ += static_cast<unsigned long>(done) - display_.count();
  const double now = seconds();
  const double pause = terminal_ ? 0.2 : 5;  // seconds; a log has fewer lines
  if (now - shown_ < pause && done < steps_) return;
  shown_ = now;
  std::string ticks = bar_.str();
  if (const auto end = ticks.find('\n'); end != std::string::npos) ticks.resize(end);
  const double left = now / static_cast<double>(done) * static_cast<double>(steps_ - done);
  std::fprintf(stderr, "%s[%-51s] step %ld/%ld  loss %.3f  %.0f %s/s  %.0f s left%s",
               terminal_ ? "\r" : "", ticks.c_str(), done, steps_, static_cast<double>(loss),
               each_second, what_.c_str(), left, terminal_ ? "  " : "\n");
  std::fflush(stderr);
}

void progress_line::finish() {
  if (terminal_) std::fputc('\n', stderr);
}

}  // namespace examples
