// Eigen's rowwise and elementwise operations, for the cases of rows and of an encoder layer.
#pragma once

#include <unsupported/Eigen/SpecialFunctions>

#include "benchmarks/peers/eigen_matrix.hpp"

namespace bench {

// GELU by erf, in place.
template <class Matrix>
void gelu(Matrix&& x) {
  x.array() = 0.5F * x.array() * (1 + (x.array() * 0.70710678F).erf());
}

// Layer normalization of each row of x into y.
template <class In, class Gain, class Out>
void layer_norm(const In& x, const Gain& gain, const Gain& bias, Out&& y) {
  const auto columns = static_cast<float>(x.cols());
  for (Eigen::Index r = 0; r < x.rows(); ++r) {
    const float mean = x.row(r).sum() / columns;
    const float variance = (x.row(r).array() - mean).square().sum() / columns;
    const float scale = 1 / std::sqrt(variance + 1e-5F);
    y.row(r).array() = (x.row(r).array() - mean) * scale * gain.array() + bias.array();
  }
}

}  // namespace bench
