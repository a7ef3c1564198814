// A sound of which it is known where speech is.
#pragma once

#include <cstdint>
#include <vector>

namespace listen {

struct known_sound {
  std::vector<float> samples;
  std::vector<bool> speech;  // of each frame
};

// Sentences that espeak-ng says, pauses of 0.6 to 2 s, and white noise that is `decibels` below
// them. Speech is from the first to the last sound of a sentence. Throws weft::error without
// espeak-ng.
known_sound made_sound(std::size_t rate, std::size_t frame, double decibels, std::uint64_t seed);

}  // namespace listen
