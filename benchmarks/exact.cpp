#include "benchmarks/exact.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

namespace bench {
namespace {

// The stride that samples about `some` of n, evenly.
std::ptrdiff_t stride_for(std::ptrdiff_t n, std::ptrdiff_t some) {
  return std::max<std::ptrdiff_t>(1, n / some);
}

void append(std::vector<sample>& to, std::ptrdiff_t first, const std::vector<double>& row) {
  for (std::size_t i = 0; i < row.size(); ++i)
    to.push_back({static_cast<std::size_t>(first) + i, row[i]});
}

void make_softmax(std::vector<double>& x) {
  const double most = std::ranges::max(x);
  for (double& e : x) e = std::exp(e - most);
  const double sum = std::reduce(x.begin(), x.end());
  for (double& e : x) e /= sum;
}

void make_layer_norm(std::vector<double>& x, const floats& gain, const floats& bias) {
  const auto n = static_cast<double>(x.size());
  const double mean = std::reduce(x.begin(), x.end()) / n;
  for (double& e : x) e -= mean;
  const double variance = std::inner_product(x.begin(), x.end(), x.begin(), 0.0) / n;
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = x[i] / std::sqrt(variance + 1e-5) * double{gain.data()[i]} + double{bias.data()[i]};
}

void for_each_element(std::vector<double>& x, const std::function<double(double)>& f) {
  for (double& e : x) e = f(e);
}

}  // namespace

std::vector<sample> exact(const product_task& t) {
  std::vector<sample> all;
  for (std::ptrdiff_t i = 0; i < t.m; i += stride_for(t.m, 16)) {
    std::vector<double> row(static_cast<std::size_t>(t.n));
    for (std::ptrdiff_t k = 0; k < t.k; ++k)
      for (std::size_t j = 0; j < row.size(); ++j)
        row[j] += double{t.x.data()[i * t.k + k]} *
                  double{t.w.data()[static_cast<std::size_t>(k * t.n) + j]};
    append(all, i * t.n, row);
  }
  return all;
}

std::vector<sample> exact(const attention_task& t) {
  const auto at = [&](const floats& x, std::ptrdiff_t i, std::ptrdiff_t h) {
    return x.data() + (i * t.heads + h) * t.depth;
  };
  std::vector<sample> all;
  for (std::ptrdiff_t h = 0; h < t.heads; ++h)
    for (std::ptrdiff_t i = 0; i < t.n; i += stride_for(t.n, 16)) {
      std::vector<double> weights(static_cast<std::size_t>(t.causal ? i + 1 : t.n));
      for (std::size_t j = 0; j < weights.size(); ++j)
        weights[j] = std::inner_product(at(t.q, i, h), at(t.q, i, h) + t.depth,
                                        at(t.k, static_cast<std::ptrdiff_t>(j), h), 0.0,
                                        std::plus<>(), std::multiplies<double>()) /
                     std::sqrt(static_cast<double>(t.depth));
      make_softmax(weights);
      std::vector<double> row(static_cast<std::size_t>(t.depth));
      for (std::size_t j = 0; j < weights.size(); ++j)
        for (std::size_t d = 0; d < row.size(); ++d)
          row[d] += weights[j] * double{at(t.v, static_cast<std::ptrdiff_t>(j), h)[d]};
      append(all, (i * t.heads + h) * t.depth, row);
    }
  return all;
}

std::vector<sample> exact(const row_task& t) {
  std::vector<sample> all;
  for (std::ptrdiff_t i = 0; i < t.rows; ++i) {
    const float* const from = t.x.data() + i * t.columns;
    std::vector<double> row(from, from + t.columns);
    switch (t.kind) {
      case row_work::softmax:
        make_softmax(row);
        break;
      case row_work::layer_norm:
        make_layer_norm(row, t.gain, t.bias);
        break;
      case row_work::gelu:
        for_each_element(row, [](double x) { return x / 2 * std::erfc(-x / std::numbers::sqrt2); });
        break;
      case row_work::gelu_tanh:
        for_each_element(row, [](double x) {
          const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
          return x / 2 * (1 + std::tanh(inner));
        });
        break;
      case row_work::exp:
        for_each_element(row, [](double x) { return std::exp(x); });
        break;
    }
    append(all, i * t.columns, row);
  }
  return all;
}

}  // namespace bench
