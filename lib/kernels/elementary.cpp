#include "weft/kernels/elementary.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

namespace weft::kernels {

namespace {

// 2^n for n from -1022 to 1023.
double power_of_2(int n) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52);
}

// sin(2 pi (t + quadrants / 4)) for |t| <= 1/8, by the series of the sine or the cosine.
double sine_of_turns(double t, unsigned quadrants) {
  const double angle = 2 * std::numbers::pi * t, square = angle * angle;
  double sum = 1;
  const int first = quadrants % 2 == 0 ? 18 : 17;  // of 1 - x²/(n (n + 1)) (1 - …), n = first, …
  for (int n = first; n > 0; n -= 2) sum = 1 - square / (n * (n + 1)) * sum;
  if (quadrants % 2 == 0) sum *= angle;
  return quadrants % 4 < 2 ? sum : -sum;
}

}  // namespace

double logarithm(double x) noexcept {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (x == 0) return -infinity;
  if (!(x > 0)) return std::numeric_limits<double>::quiet_NaN();
  if (x == infinity) return x;
  int n = 0;
  if (x < std::numeric_limits<double>::min()) {
    x *= 0x1p54;
    n = -54;
  }
  const auto bits = std::bit_cast<std::uint64_t>(x);
  n += static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xfffffffffffff) | 0x3ff0000000000000);
  if (m > std::numbers::sqrt2) {
    m /= 2;
    ++n;
  }
  // With s = (m - 1)/(m + 1), ln m = 2 (s + s³/3 + s⁵/5 + …), and |s| < 0.172.
  const double s = (m - 1) / (m + 1), square = s * s;
  // Pairs of terms at once (Estrin): half a dozen dependent steps instead of two dozen.
  const double square2 = square * square, square4 = square2 * square2;
  const auto pair = [square](int k) { return 1.0 / k + square * (1.0 / (k + 2)); };
  const double sum =
      square *
      ((pair(3) + square2 * pair(7)) +
       square4 * ((pair(11) + square2 * pair(15)) + square4 * (pair(19) + square2 * (1.0 / 23))));
  // The first part of ln 2 has 32 bits, so that its products with n are exact.
  constexpr double high = 0x1.62e42feep-1, low = 0x1.a39ef35793c76p-33;
  return n * high + (2 * s + (2 * s * sum + n * low));
}

double exponential(double x) noexcept {
  if (!(x < 710)) return x * std::numeric_limits<double>::infinity();  // NaN stays
  if (x < -708) return 0;
  const double n = std::floor(x * std::numbers::log2e + 0.5);
  constexpr double high = 0x1.62e42feep-1, low = 0x1.a39ef35793c76p-33;
  const double r = (x - n * high) - n * low;
  double sum = 1;
  for (int k = 14; k > 0; --k) sum = 1 + r / k * sum;
  // In two steps, since 2^n itself may be out of range.
  const int half = static_cast<int>(n) / 2;
  return sum * power_of_2(half) * power_of_2(static_cast<int>(n) - half);
}

double power(double base, std::int64_t n) noexcept {
  double result = 1;
  for (; n > 0; n /= 2, base *= base)
    if (n % 2 != 0) result *= base;
  return result;
}

double cosine_of_turns(double x) noexcept {
  const double quarters = std::floor(4 * x + 0.5);
  return sine_of_turns(x - quarters / 4,
                       static_cast<unsigned>(static_cast<std::int64_t>(quarters)) + 1);
}

double sine(float x, int quadrants) noexcept {
  if (!std::isfinite(x)) return std::numeric_limits<double>::quiet_NaN();
  // 1 / (2 pi), after 32 bits before its point.
  static constexpr std::uint32_t words[]{0,          0x28be60db, 0x9391054a, 0x7f09d5f4,
                                         0x7d4d3770, 0x36d8a566, 0x4f10e410, 0x7f9458ea};
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint64_t m = (bits & 0x7fffff) | 0x800000;
  // |x| is m 2^e with e from -23 to 104. Of the product with 1 / (2 pi), what is before its point
  // is whole turns, and m times 96 bits of 1 / (2 pi) after 2^-e say what is after it.
  const int from = 32 + static_cast<int>(bits >> 23 & 0xff) - 150;
  const auto word = [&](int j) {
    const int at = from / 32 + j;
    return ((std::uint64_t{words[at]} << 32 | words[at + 1]) << from % 32) >> 32;
  };
  const std::uint64_t third = m * word(2), second = m * word(1) + (third >> 32);
  const std::uint64_t turns = ((m * word(0) + (second >> 32)) << 32) | (second & 0xffffffff);
  const std::uint64_t quarters = (turns + (std::uint64_t{1} << 61)) >> 62;
  const double t =
      static_cast<double>(static_cast<std::int64_t>(turns - (quarters << 62))) * 0x1p-64;
  // sin(-x + q) is -sin(x - q), and cos(-x) is cos(x).
  const auto whole = static_cast<unsigned>(quarters) + static_cast<unsigned>(quadrants);
  return sine_of_turns(t, x < 0 && quadrants % 2 == 0 ? whole + 2 : whole);
}

}  // namespace weft::kernels
