// Silero's detector of speech, from its published file.
#pragma once

#include <filesystem>
#include <models/silero.hpp>
#include <span>
#include <weft/run.hpp>

namespace listen {

class detector {
 public:
  static constexpr std::size_t rate = 16000;                           // samples/s
  static constexpr std::size_t frame = models::silero::Frame::extent;  // samples

  // Throws weft::error where the file cannot be read or is not the model's.
  explicit detector(const std::filesystem::path& file);

  // The probability that the sound's next frame is speech.
  float next(std::span<const float, frame> samples);

 private:
  weft::module<models::silero> net_;
};

}  // namespace listen
