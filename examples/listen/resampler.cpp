#include "resampler.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace listen {

resampler::resampler(std::size_t from, std::size_t to)
    : from_(from / std::gcd(from, to)), to_(to / std::gcd(from, to)) {
  const double cutoff = std::min(1.0, static_cast<double>(to) / static_cast<double>(from));
  half_ = static_cast<std::size_t>(std::ceil(16 / cutoff));
  held_.assign(half_ - 1, 0.0f);
  if (from_ == to_) return;
  for (std::size_t phase = 0; phase < to_; ++phase) {
    const auto row = static_cast<std::ptrdiff_t>(taps_.size());
    for (std::size_t tap = 0; tap < 2 * half_; ++tap) {
      const double x = static_cast<double>(tap) - static_cast<double>(half_ - 1) -
                       static_cast<double>(phase) / static_cast<double>(to_);
      const double turn = std::numbers::pi * x, edge = turn / static_cast<double>(half_);
      const double window = 0.42 + 0.5 * std::cos(edge) + 0.08 * std::cos(2 * edge);
      const double sinc = x == 0 ? 1 : std::sin(cutoff * turn) / (cutoff * turn);
      taps_.push_back(static_cast<float>(std::max(0.0, window) * sinc));
    }
    // A constant stays what it is.
    const float sum = std::accumulate(taps_.begin() + row, taps_.end(), 0.0f);
    std::for_each(taps_.begin() + row, taps_.end(), [&](float& t) { t /= sum; });
  }
}

void resampler::add(std::span<const float> samples, std::vector<float>& to) {
  heard_ += samples.size();
  if (from_ == to_) {
    to.insert(to.end(), samples.begin(), samples.end());
    return;
  }
  held_.insert(held_.end(), samples.begin(), samples.end());
  append(to);
}

void resampler::finish(std::vector<float>& to) {
  if (from_ == to_) return;
  held_.insert(held_.end(), half_, 0.0f);
  const std::size_t whole = to.size() + (heard_ * to_ + from_ - 1) / from_ - made_;
  append(to);
  to.resize(std::min(to.size(), whole));
}

void resampler::append(std::vector<float>& to) {
  for (; at_ + 2 * half_ <= held_.size(); ++made_) {
    const float* const taps = taps_.data() + phase_ * 2 * half_;
    to.push_back(std::inner_product(taps, taps + 2 * half_, held_.data() + at_, 0.0f));
    phase_ += from_;
    at_ += phase_ / to_;
    phase_ %= to_;
  }
  const std::size_t done = std::min(at_, held_.size());
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(done));
  at_ -= done;
}

}  // namespace listen
