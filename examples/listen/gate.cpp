// A noise gate that opens for speech: an LV2 plugin (https://lv2plug.in) for one channel at 16 kHz.
#include <lv2/core/lv2.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "detector.hpp"

namespace listen {
namespace {

constexpr const char* uri = "urn:weft:listen:gate";

// What it puts out is what came a frame before, so that a frame's first sample is heard when it is
// known whether it is speech. Within a frame the gain goes to that of the frame in a line.
class gate {
 public:
  explicit gate(const std::filesystem::path& model) : detector_(model) {}

  // The host's buffers, by the ports of gate.ttl.
  std::array<float*, 4> ports{};  // in, out, threshold, latency

  void run(std::size_t count) noexcept {
    *ports[3] = static_cast<float>(detector::frame);
    for (std::size_t i = 0; i < count; ++i) {
      const float x = ports[0][i];  // the host may give one buffer as in and out
      const float part = static_cast<float>(at_ + 1) / static_cast<float>(detector::frame);
      ports[1][i] = sound_[at_] * (before_ + (gain_ - before_) * part);
      // As in sound::read: the detector's state stays finite, and its sums are not denormal.
      sound_[at_] = std::abs(x) <= 1e6f && std::abs(x) >= 1e-15f ? x : 0.0f;
      if (++at_ == detector::frame) decide();
    }
  }

 private:
  // Opens at the threshold, and closes after 100 ms below one that is lower by 0.15, as segments
  // do.
  void decide() noexcept {
    constexpr std::size_t hold = detector::rate / 10;
    const auto threshold = static_cast<double>(*ports[2]);
    const auto probability = static_cast<double>(detector_.next(sound_));
    at_ = 0;
    before_ = gain_;
    const bool low = probability < std::max(threshold - 0.15, 0.01);
    if (probability >= threshold) {
      gain_ = 1;
      silence_ = 0;
    } else if (low || silence_ > 0) {
      if (low && silence_ >= hold) gain_ = 0;
      silence_ = std::min(silence_ + detector::frame, hold);
    }
  }

  detector detector_;
  std::array<float, detector::frame> sound_{};
  std::size_t at_ = 0;
  std::size_t silence_ = 0;  // samples since it is below the lower threshold
  float before_ = 0, gain_ = 0;
};

LV2_Handle instantiate(const LV2_Descriptor*, double rate, const char* bundle,
                       const LV2_Feature* const*) {
  try {
    if (rate == static_cast<double>(detector::rate))
      return new gate(std::filesystem::path(bundle) / "silero_vad_16k.safetensors");
    std::fprintf(stderr, "listen's gate: the host has a rate of %.0f Hz, and it is for %zu Hz\n",
                 rate, detector::rate);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "listen's gate: %s\n", e.what());
  }
  return nullptr;
}

void connect(LV2_Handle of, std::uint32_t port, void* data) {
  auto& ports = static_cast<gate*>(of)->ports;
  if (port < ports.size()) ports[port] = static_cast<float*>(data);
}

void run(LV2_Handle of, std::uint32_t count) {
  static_cast<gate*>(of)->run(count);
}

void cleanup(LV2_Handle of) {
  delete static_cast<gate*>(of);
}

constexpr LV2_Descriptor descriptor{uri, instantiate, connect, nullptr,
                                    run, nullptr,     cleanup, nullptr};

}  // namespace
}  // namespace listen

LV2_SYMBOL_EXPORT const LV2_Descriptor* lv2_descriptor(std::uint32_t index) {
  return index == 0 ? &listen::descriptor : nullptr;
}
