// Test data.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <random>
#include <vector>

namespace bench {

// Floats with the alignment of a model's workspace, so that no peer is at a disadvantage. Copies
// share the memory.
class floats {
 public:
  floats() = default;
  // Zeros.
  explicit floats(std::size_t n) : size_(n), data_(allocate(n), std::free) {
    for (std::size_t i = 0; i < n; ++i) data()[i] = 0;
  }
  // Uniform in [-limit, limit), the same for the same seed.
  floats(std::size_t n, unsigned seed, float limit = 1) : floats(n) {
    std::minstd_rand bits(seed);
    std::uniform_real_distribution<float> uniform(-limit, limit);
    for (float& x : *this) x = uniform(bits);
  }

  float* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  float* begin() const { return data(); }
  float* end() const { return data() + size_; }
  std::vector<float> copy() const { return {begin(), end()}; }

 private:
  static float* allocate(std::size_t n) {
    const std::size_t line = 64;
    void* p = std::aligned_alloc(line, (n * sizeof(float) / line + 1) * line);
    if (!p) throw std::bad_alloc();
    return static_cast<float*>(p);
  }

  std::size_t size_ = 0;
  std::shared_ptr<float> data_;
};

}  // namespace bench
