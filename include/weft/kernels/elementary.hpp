// Elementary functions in double precision that have the same bits everywhere: of operations that
// IEEE 754 rounds, where std::log and others differ between C libraries in the last bits.
#pragma once
#include "weft/header_begin.hpp"

#include <cstdint>

#include "weft/language.hpp"

namespace weft::kernels {

// ln x, with a relative error of 4e-16; -infinity for 0, NaN for x < 0.
double logarithm(double x) noexcept;
// exp(x), with a relative error of 4e-16 where the result is normal; below it is 0.
double exponential(double x) noexcept;
// base^n for n >= 0, by n's binary digits: the relative error is at most n times 1.2e-16.
double power(double base, std::int64_t n) noexcept;
// cos(2 pi x) for |x| < 2^51, with an absolute error of 2e-16.
double cosine_of_turns(double x) noexcept;
// sin(x + quadrants * pi/2) for 1 <= |x|, by as many bits of 1 / (2 pi) as x needs, with a
// relative error below 2^-30; NaN for infinities.
double sine(float x, int quadrants) noexcept;

}  // namespace weft::kernels
#include "weft/header_end.hpp"
