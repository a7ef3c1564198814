// Arrays for calls, in many memory layouts, and a loop over a call's points that follows only the
// definition of a call.
#pragma once

#include <algorithm>
#include <boost/container/static_vector.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/parts.hpp"
#include "weft/kernels/call.hpp"

namespace weft::kernels {

enum class layout {
  contiguous,
  padded,    // gaps between rows
  permuted,  // the first loop has the smallest stride
  spaced,    // no loop has stride 1: the smallest is 2
};
inline constexpr layout layouts[]{layout::contiguous, layout::padded, layout::permuted,
                                  layout::spaced};

// In place: copies of an index are made for every product that a test adds up.
using extents = boost::container::static_vector<std::ptrdiff_t, max_loops>;

// One to three loops, with extents near the number of lanes of a vector and far from it.
inline const std::vector<extents> shapes{
    {0},       {1},          {3},          {17},         {100},      {0, 3},
    {3, 0},    {1, 17},      {17, 1},      {3, 100},     {100, 3},   {17, 17},
    {1, 1, 1}, {3, 17, 100}, {100, 3, 17}, {17, 100, 1}, {3, 1, 17}, {17, 0, 3}};

template <class T>
constexpr dtype dtype_of() {
  return std::is_same_v<T, float>          ? dtype::float32
         : std::is_same_v<T, std::int32_t> ? dtype::int32
         : std::is_same_v<T, bfloat16>     ? dtype::bfloat16
                                           : dtype::boolean;
}

// A strided array in a buffer of exactly the size that its elements span. A result also has
// canaries between its elements and in a margin at both ends.
template <class T>
struct array {
  std::vector<T> memory;
  extents stride;
  std::ptrdiff_t first = 0;

  static constexpr T canary = static_cast<T>(85.0f);
  static constexpr std::ptrdiff_t margin = 9;

  // Loops whose bits are set in `without` have stride 0 (broadcast).
  array(const extents& extent, layout how, unsigned without = 0, bool is_result = false)
      : stride(extent.size()) {
    std::ptrdiff_t span = how == layout::spaced ? 2 : 1;
    std::ptrdiff_t last = 0;
    const std::size_t loops = extent.size();
    for (std::size_t i = 0; i < loops; ++i) {
      const std::size_t l = how == layout::permuted ? i : loops - 1 - i;
      if (without >> l & 1u) continue;
      stride[l] = span;
      last += (std::max<std::ptrdiff_t>(extent[l], 1) - 1) * span;
      span = span * std::max<std::ptrdiff_t>(extent[l], 1) + (how == layout::padded ? 5 : 0);
    }
    first = is_result ? margin : 0;
    memory.assign(static_cast<std::size_t>(last + 1 + 2 * first), canary);
  }

  operand as_operand() {
    operand a;
    a.data = memory.data() + first;
    a.type = dtype_of<T>();
    std::copy(stride.begin(), stride.end(), a.stride);
    return a;
  }
};

inline call make_call(op kind, const extents& extent) {
  call c;
  c.kind = kind;
  c.loops = static_cast<int>(extent.size());
  std::copy(extent.begin(), extent.end(), c.extent);
  return c;
}

// Calls f with the indices of each point of c's loops, the last one fastest.
template <class F>
void for_points(const call& c, F&& f) {
  extents index(static_cast<std::size_t>(c.loops));
  std::function<void(int)> loop = [&](int l) {
    if (l == c.loops) return f(std::as_const(index));
    for (std::ptrdiff_t i = 0; i < c.extent[l]; ++i) {
      index[static_cast<std::size_t>(l)] = i;
      loop(l + 1);
    }
  };
  loop(0);
}

inline std::ptrdiff_t offset(const operand& a, const extents& index) {
  std::ptrdiff_t sum = 0;
  for (std::size_t l = 0; l < index.size(); ++l) sum += index[l] * a.stride[l];
  return sum;
}

// The element of an operand at a point.
inline double at(const operand& a, std::ptrdiff_t offset) {
  switch (a.type) {
    case dtype::float32:
      return static_cast<double>(static_cast<const float*>(a.data)[offset]);
    case dtype::int32:
      return static_cast<const std::int32_t*>(a.data)[offset];
    case dtype::bfloat16:
      return static_cast<double>(static_cast<const bfloat16*>(a.data)[offset]);
    case dtype::boolean:
      break;
  }
  return static_cast<const std::uint8_t*>(a.data)[offset];
}

// The expected contents of a result's buffer: values with tolerances where it has elements,
// canaries elsewhere.
struct expectation {
  std::vector<double> value;
  std::vector<double> tolerance;
  std::vector<bool> is_element;

  template <class T>
  explicit expectation(const array<T>& a)
      : value(a.memory.size()), tolerance(a.memory.size()), is_element(a.memory.size()) {}

  template <class T>
  void expect(const array<T>& a, std::ptrdiff_t offset, double v, double error = 0) {
    const auto i = static_cast<std::size_t>(a.first + offset);
    value[i] = v;
    tolerance[i] = error;
    is_element[i] = true;
  }

  // The number of wrong elements and changed canaries.
  template <class T>
  int wrong(const array<T>& a) const {
    int count = 0;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const auto got = static_cast<double>(a.memory[i]);
      if (!is_element[i]) {
        count += a.memory[i] != a.canary;
      } else if (std::isnan(value[i])) {
        count += !std::isnan(got);
      } else if (got != value[i]) {
        count += !(std::abs(got - value[i]) <= tolerance[i]);
      }
    }
    return count;
  }
};

// Whether a call that runs as 2, 3, 7 and 64 partitions gives the same bits as the whole call.
template <class Kernel>
bool same_in_parts(Kernel kernel, call c, std::vector<float>& result) {
  kernel(c);
  const std::vector<float> whole = result;
  for (const int count : {2, 3, 7, 64}) {
    std::fill(result.begin(), result.end(), -7.0f);
    for (int i = 0; i < count; ++i) {
      c.part = part_of(i, count);
      kernel(c);
    }
    if (std::memcmp(result.data(), whole.data(), whole.size() * sizeof(float)) != 0) return false;
  }
  return true;
}

inline constexpr double epsilon = std::numeric_limits<float>::epsilon();

// The distance of neighbouring floats at x; 0 if x is not finite, as it must then be matched
// exactly.
inline double ulp(double x) {
  if (!std::isfinite(x)) return 0;
  const double a = std::max(std::abs(x), static_cast<double>(std::numeric_limits<float>::min()));
  return std::ldexp(1.0, std::ilogb(a) - 23);
}

// Small values of both signs, with ties and zeros among them.
template <class T>
void fill(array<T>& a, unsigned seed) {
  std::mt19937 random(seed);
  if constexpr (std::is_same_v<T, float>) {
    std::normal_distribution<float> normal(0, 2);
    for (T& x : a.memory) {
      x = normal(random);
      if (random() % 8 == 0) x = std::round(x);
    }
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    for (T& x : a.memory) x = static_cast<T>(random() % 41) - 20;
  } else {
    for (T& x : a.memory) x = random() % 2;
  }
}

// NaN, infinities, zeros and subnormals.
inline void fill_specially(array<float>& a, unsigned seed) {
  constexpr float special[]{std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(),
                            0,
                            -0.0f,
                            1e-40f,
                            -1e-40f,
                            1,
                            -1};
  std::mt19937 random(seed);
  for (float& x : a.memory) x = special[random() % std::size(special)];
}

}  // namespace weft::kernels
