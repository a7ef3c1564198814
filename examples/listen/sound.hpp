// Sound from WAV files and raw samples.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "resampler.hpp"

namespace listen {

// How samples are stored: little-endian, channels interleaved.
struct sample_format {
  bool floating = false;
  std::size_t bytes = 2;  // of a sample of one channel
  std::size_t channels = 1;
  std::size_t rate = 16000;  // samples/s of each

  // Throws weft::error with the name in front where it is none that a sound reads.
  void check(const std::string& name) const;
};

// Reads a sound block by block, mixes its channels and gives it another rate. A sample that is not
// finite, or beyond ±1e6, is taken as 0.
class sound {
 public:
  // `name` is for errors. What does not begin as a WAV file is raw samples, if a format is given
  // for these. Throws weft::error where the stream is neither, or has a format that is not read.
  sound(std::istream& in, std::string name, std::size_t rate, const sample_format* raw = nullptr);

  // Appends the next samples, about 32 ms. Returns whether there may be more.
  bool read(std::vector<float>& to);

  // A sentence for each thing that was not as it should be in what has been read.
  std::vector<std::string> remarks() const;

 private:
  void read_header();
  void read_format(std::size_t bytes);
  std::string bytes(std::size_t count);
  float mixed(const char* from);

  std::istream& in_;
  std::string name_;
  sample_format format_;
  std::string first_;                       // raw samples that were read to find a header
  std::uint64_t left_ = ~std::uint64_t{0};  // bytes that the header says; all: to the end
  std::uint64_t moments_ = 0, bad_ = 0, first_bad_ = 0;
  std::size_t rest_ = 0;  // bytes at the end that are no sample
  resampler resampler_;
};

}  // namespace listen
