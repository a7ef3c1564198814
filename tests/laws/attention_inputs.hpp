// Shared by the laws of attention: axes, pseudorandom inputs, and the distance of two results.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/greater_error.hpp"
#include "weft/weft.hpp"

namespace weft::testing::laws {

struct Batch : weft::axis<weft::up_to<5>> {};
struct Pos : weft::axis<weft::up_to<70>> {};
struct KeyPos : weft::axis<weft::up_to<90>> {};  // with lengths of their own
struct Before : weft::alias<Pos> {};             // positions as keys
struct Embed : weft::axis<100> {};
struct Heads : weft::axis<5> {};
struct HeadDim : weft::axis<20> {};

// A pseudorandom value in [-1, 1), a hash of position and seed.
inline float number(std::size_t at, std::uint32_t seed) {
  std::uint32_t h = static_cast<std::uint32_t>(at) * 2654435761u + seed * 40503u;
  h ^= h >> 15, h *= 2246822519u, h ^= h >> 13, h *= 3266489917u, h ^= h >> 16;
  return static_cast<float>(h >> 8) * 0x1p-23f - 1;
}
template <class Array>
void fill(Array& a, std::uint32_t seed) {
  auto* const data = a.view().data();
  for (std::size_t i = 0; i < a.view().size(); ++i) data[i] = number(i, seed);
}

inline constexpr double epsilon = std::numeric_limits<float>::epsilon() / 2;
// The largest difference of two runs that sum n terms, of values of at most `most`, in different
// orders: each is within (n / 2 + 16) roundings, half as many as terms since vectors accumulate at
// least two at a time; scores of 20 products of at most 1 are off by 20 roundings more.
inline double distance(std::size_t n, double most) {
  return 2 * (static_cast<double>(n) / 2 + 16 + 20) * epsilon * most;
}

using keys = weft::array<float, Batch, KeyPos, Heads, HeadDim>;
using queries = weft::array<float, Batch, Pos, Heads, HeadDim>;

struct attention_inputs {
  std::size_t batch, pos, key;
  queries q{batch, pos};
  keys k{batch, key}, v{batch, key};
  weft::array<float, Heads, KeyPos> bias{key};
  weft::array<bool, Batch, KeyPos> mask{batch, key};

  attention_inputs(std::size_t b, std::size_t p, std::size_t n) : batch(b), pos(p), key(n) {
    fill(q, 1), fill(k, 2), fill(v, 3), fill(bias, 4);
    for (std::size_t i = 0; i < b; ++i)
      for (std::size_t j = 0; j < n; ++j) mask(i, j) = number(i * n + j, 5) < 0.5f;
  }
  // Key j is key of[j] of x.
  attention_inputs(const attention_inputs& x, const std::vector<std::size_t>& of)
      : attention_inputs(x.batch, x.pos, of.size()) {
    for (std::size_t b = 0; b < batch; ++b)
      for (std::size_t j = 0; j < key; ++j) {
        mask(b, j) = x.mask(b, of[j]);
        for (std::size_t h = 0; h < Heads::extent; ++h) {
          bias(h, j) = x.bias(h, of[j]);
          for (std::size_t d = 0; d < HeadDim::extent; ++d) {
            k(b, j, h, d) = x.k(b, of[j], h, d);
            v(b, j, h, d) = x.v(b, of[j], h, d);
          }
        }
      }
  }
};

template <class A, class B>
double largest_difference(const A& a, const B& b) {
  BOOST_REQUIRE(a.view().size() == b.view().size());
  double most = 0;
  for (std::size_t i = 0; i < a.view().size(); ++i) {
    const auto x = static_cast<double>(a.view().data()[i]),
               y = static_cast<double>(b.view().data()[i]);
    most = weft::testing::greater_error(most, std::abs(x - y));
  }
  return most;
}

}  // namespace weft::testing::laws
