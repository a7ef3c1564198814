// Arrays for calls, in many memory layouts, and a loop over a call's points that follows only the
// definition of a call.
#pragma once

#include <algorithm>
#include <boost/container/static_vector.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

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

template <class T>
operand operand_of(array<T>& a) {
  return a.as_operand();
}
template <class T>
operand operand_of(std::vector<T>& contiguous) {
  return {.data = contiguous.data(), .type = dtype_of<T>(), .stride = {1}};
}
inline const operand& operand_of(const operand& a) {
  return a;
}
// A call with its operands in their order, the result first; operand() is an absent one.
template <class... Operands>
owning_call<> call_of(op kind, const extents& extent, Operands&&... operands) {
  owning_call<> c;
  c.kind = kind;
  c.loops = static_cast<int>(extent.size());
  std::copy(extent.begin(), extent.end(), c.extent);
  int o = 0;
  ((c.operands[o++] = operand_of(operands)), ...);
  return c;
}

// The extents of a loop nest that takes one index of each loop in `over`.
inline extents without(extents extent, unsigned over) {
  for (std::size_t l = 0; l < extent.size(); ++l)
    if (over >> l & 1u) extent[l] = 1;
  return extent;
}

// Calls f with the indices of each point of the loops, the last one fastest.
template <class F>
void for_points(const extents& extent, F&& f) {
  if (std::count(extent.begin(), extent.end(), 0) > 0) return;
  extents index(extent.size());
  for (;;) {
    f(std::as_const(index));
    std::size_t l = extent.size();
    while (l > 0 && ++index[l - 1] == extent[l - 1]) index[--l] = 0;
    if (l == 0) return;
  }
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
inline double get(const operand& a, const extents& index) {
  return at(a, offset(a, index));
}

// The elements of an operand along a loop, from a point on.
struct line {
  const operand& of;
  std::ptrdiff_t first, step;

  line(const operand& o, int loop, const extents& index)
      : of(o), first(offset(o, index)), step(o.stride[loop]) {}
  double operator[](std::ptrdiff_t i) const { return at(of, first + i * step); }
};

// The expected contents of a result's buffer: values with tolerances where it has elements,
// canaries elsewhere.
struct expectation {
  std::vector<double> value;
  std::vector<double> tolerance;
  std::vector<char> is_element;

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

  // What differs, wrong elements and changed canaries; empty if nothing does.
  template <class T>
  std::string differences(const array<T>& a) const {
    std::ostringstream first;
    int count = 0;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const auto got = static_cast<double>(a.memory[i]);
      const bool right = is_element[i]
                             ? std::abs(got - value[i]) <= tolerance[i] || got == value[i] ||
                                   (std::isnan(got) && std::isnan(value[i]))
                             : a.memory[i] == a.canary;
      if (right || count++ > 0) continue;
      first.precision(9);
      first << "offset " << static_cast<std::ptrdiff_t>(i) - a.first << " has " << got;
      if (is_element[i])
        first << " instead of " << value[i] << " within " << tolerance[i];
      else
        first << ", where nothing may be written";
    }
    return count == 0 ? "" : std::to_string(count) + " wrong: " + first.str();
  }
};

// Where two results differ, bit by bit; empty if they do not.
template <class T>
std::string different_bits(const std::vector<T>& a, const std::vector<T>& b) {
  std::size_t i = 0;
  while (i < a.size() && std::memcmp(&a[i], &b[i], sizeof(T)) == 0) ++i;
  if (i == a.size()) return "";
  std::ostringstream text;
  text.precision(9);
  text << "element " << i << " of " << a.size() << " is " << static_cast<double>(a[i])
       << " instead of " << static_cast<double>(b[i]);
  return text.str();
}

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr double epsilon = std::numeric_limits<float>::epsilon();

// The distance of neighbouring floats at x; 0 if x is not finite, as it must then be matched
// exactly.
inline double ulp(double x) {
  if (!std::isfinite(x)) return 0;
  const double a = std::max(std::abs(x), static_cast<double>(std::numeric_limits<float>::min()));
  return std::ldexp(1.0, std::ilogb(a) - 23);
}

// Fills an array from a list that is drawn once, beginning where the seed says.
template <class T>
void fill_from(const std::vector<T>& list, array<T>& a, unsigned seed) {
  std::size_t next = seed * std::size_t{40503} % list.size();
  for (T& x : a.memory) {
    x = list[next];
    if (++next == list.size()) next = 0;
  }
}

// Small values of both signs, with ties and zeros among them.
template <class T>
void fill(array<T>& a, unsigned seed) {
  static const std::vector<T> values = [] {
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0, 2);
    std::vector<T> all(65521);  // a prime
    for (T& x : all) {
      const float v = normal(random);
      const auto bits = static_cast<std::int32_t>(random() >> 16);
      if constexpr (std::is_same_v<T, float>)
        x = bits % 8 == 0 ? std::round(v) : v;
      else if constexpr (std::is_same_v<T, std::int32_t>)
        x = bits % 41 - 20;
      else
        x = bits % 2 != 0;
    }
    return all;
  }();
  fill_from(values, a, seed);
}

// NaN, infinities, zeros and subnormals.
inline void fill_specially(array<float>& a, unsigned seed) {
  static const std::vector<float> values = [] {
    constexpr float special[]{NAN, infinity, -infinity, 0, -0.0f, 1e-40f, -1e-40f, 1, -1};
    std::mt19937 random(1);
    std::vector<float> all(1021);
    for (float& x : all) x = special[random() % std::size(special)];
    return all;
  }();
  fill_from(values, a, seed);
}

}  // namespace weft::kernels
