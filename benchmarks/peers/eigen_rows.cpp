#include "benchmarks/peers/eigen_rows.hpp"

#include <functional>

#include "benchmarks/peers/eigen.hpp"

namespace bench {
namespace {

constexpr int rows = 64, columns = 512;
using table = dense<rows, columns>;

void softmax(const table& x, table& y) {
  for (int r = 0; r < rows; ++r) {
    y.row(r) = (x.row(r).array() - x.row(r).maxCoeff()).exp();
    y.row(r) *= 1 / y.row(r).sum();
  }
}

// GELU by tanh (Hendrycks and Gimpel 2016, section 2).
void gelu_tanh(const table& x, table& y) {
  const auto a = x.array();
  y.array() = 0.5F * a * (1 + (0.79788456F * a * (1 + 0.044715F * a.square())).tanh());
}

}  // namespace

contender eigen::row(const row_task& t) {
  if (t.rows != rows || t.columns != columns) return {};
  const floats out(t.x.size());
  const auto run = [t, out] {
    const table x(t.x.data());
    table y(out.data());
    switch (t.kind) {
      case row_work::softmax:
        softmax(x, y);
        break;
      case row_work::layer_norm: {
        using weights = Eigen::Map<row_vector<columns>, Eigen::Aligned64>;
        layer_norm(x, weights(t.gain.data()), weights(t.bias.data()), y);
        break;
      }
      case row_work::gelu:
        y.array() = 0.5F * x.array() * (1 + (x.array() * 0.70710678F).erf());
        break;
      case row_work::gelu_tanh:
        gelu_tanh(x, y);
        break;
      case row_work::exp:
        y.array() = x.array().exp();
        break;
    }
  };
  return {timed(1, run), [out] { return out.copy(); }};
}

}  // namespace bench
