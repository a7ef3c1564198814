#include "benchmarks/measure.hpp"

#include <random>

namespace bench {

floats::floats(std::size_t n) : bytes_(weft::allocate(n * sizeof(float))) {
  std::minstd_rand bits;
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (std::size_t i = 0; i < n; ++i) data()[i] = uniform(bits);
}

}  // namespace bench
