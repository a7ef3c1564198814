// Sound at one rate from sound at another.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace listen {

// Block by block: a sample is the sum of its neighbours, 16 zeros of a sinc to each side under
// Blackman's window. The sinc cuts off at half of the lower rate, so that nothing is folded back.
class resampler {
 public:
  // Rates in samples/s.
  resampler(std::size_t from, std::size_t to);

  // Appends what is known after these samples of the source.
  void add(std::span<const float> samples, std::vector<float>& to);
  // Appends the rest, as if silence followed.
  void finish(std::vector<float>& to);

 private:
  void append(std::vector<float>& to);

  std::size_t from_, to_;    // with no common divisor
  std::size_t half_;         // taps to each side
  std::vector<float> taps_;  // [to_][2 * half_], one row for each phase
  std::vector<float> held_;  // the last samples of the source, after half_ - 1 zeros at first
  std::size_t at_ = 0, phase_ = 0;  // of the next result: where its taps begin in held_
  std::size_t heard_ = 0, made_ = 0;
};

}  // namespace listen
