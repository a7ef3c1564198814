// The sequence of instructions in a run: those of a loop repeat once per iteration.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>

#include "weft/lower/program.hpp"

namespace weft {

class stages {
 public:
  struct stage {
    int step;              // index of the instruction
    std::ptrdiff_t place;  // index along the axis of the enclosing loop
  };

  // With the lengths of this run, which decide how often loops repeat.
  stages(const program& p, const std::size_t* lengths) : p_(&p), lengths_(lengths) {}

  int count() const noexcept {
    auto n = static_cast<int>(p_->instructions.size()) - p_->once;
    for (const loop_ref& l : p_->loops) n += (rounds(l) - 1) * (l.last - l.first);
    return n;
  }
  // i is less than count().
  stage operator[](int i) const noexcept {
    i += p_->once;
    int before = 0;  // additional stages of earlier loops: their iterations after the first
    for (const loop_ref& l : p_->loops) {
      const int n = rounds(l), size = l.last - l.first, at = i - before - l.first;
      if (at < 0) break;
      if (at < n * size) {
        const int round = at / size;
        return {l.first + at % size, l.backwards ? n - 1 - round : round};
      }
      before += (n - 1) * size;
    }
    return {i - before, 0};
  }
  int rounds(const loop_ref& l) const noexcept { return static_cast<int>(l.length.in(lengths_)); }

 private:
  const program* p_;
  const std::size_t* lengths_;
};

}  // namespace weft
#include "weft/header_end.hpp"
