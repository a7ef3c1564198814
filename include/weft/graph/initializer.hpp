// The initial values of parameters, named as in torch.nn.init. Random values are drawn from a seed
// and the parameter's name, so they do not depend on the model's other parameters.
#pragma once
#include "weft/header_begin.hpp"

#include <cstdint>

#include "weft/language.hpp"

namespace weft {

// How a parameter is initialized: made by a function of weft::init, which says what the numbers
// are.
struct initializer {
  // The function of weft::init.
  enum class kind : std::uint8_t {
    normal,
    uniform,
    constant,
    powers,
    xavier_uniform,
    xavier_normal,
    fan_in_uniform
  };
  kind what;  // the function that made it
  // The mean of normal, `from` of uniform, the value of constant, the base of powers, the gain of
  // xavier_uniform and xavier_normal.
  double a;
  double b;       // the deviation of normal, `to` of uniform, the step of powers
  double fan_in;  // of xavier_uniform, xavier_normal and fan_in_uniform; 0 for the others
  // Of the same: set when a parameter is declared, to the product of its extents over fan_in.
  double fan_out;
  double begin;  // powers: the first exponent
};

// The initial values of parameters, for scope::param: s.param<"w", Embed>(init::ones()).
namespace init {

// Independent normal values with the given mean and standard deviation.
constexpr initializer normal(double mean = 0, double deviation = 1) {
  return {initializer::kind::normal, mean, deviation, 0, 0, 0};
}
// Independent uniform values in [from, to).
constexpr initializer uniform(double from = 0, double to = 1) {
  return {initializer::kind::uniform, from, to, 0, 0, 0};
}
// The same value everywhere.
constexpr initializer constant(double value) {
  return {initializer::kind::constant, value, 0, 0, 0, 0};
}
// 0 everywhere.
constexpr initializer zeros() {
  return constant(0);
}
// 1 everywhere.
constexpr initializer ones() {
  return constant(1);
}

// Element i is base^(begin + step·i): a geometric sequence, such as the frequencies of sinusoids.
constexpr initializer powers(double base, double step, double begin = 0) {
  return {initializer::kind::powers, base, step, 0, 0, begin};
}

// Glorot and Bengio 2010, equation 16: uniform in ±gain·sqrt(6 / (fan_in + fan_out)). fan_in is the
// product of the extents of In, the axes that the layer contracts; fan_out that of the parameter's
// other axes.
template <class... In>
constexpr initializer xavier_uniform(double gain = 1) {
  return {initializer::kind::xavier_uniform,
          gain,
          0,
          (1.0 * ... * static_cast<double>(In::extent)),
          0,
          0};
}
// Normal with the same variance: standard deviation gain·sqrt(2 / (fan_in + fan_out)).
template <class... In>
constexpr initializer xavier_normal(double gain = 1) {
  return {initializer::kind::xavier_normal,
          gain,
          0,
          (1.0 * ... * static_cast<double>(In::extent)),
          0,
          0};
}

// Uniform in ±1/sqrt(fan_in), as torch.nn.Linear initializes its weight and bias.
template <class... In>
constexpr initializer fan_in_uniform() {
  return {
      initializer::kind::fan_in_uniform, 1, 0, (1.0 * ... * static_cast<double>(In::extent)), 0, 0};
}

}  // namespace init
}  // namespace weft
#include "weft/header_end.hpp"
