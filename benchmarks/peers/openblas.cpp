#include "benchmarks/peers/openblas.hpp"

#include <cblas.h>

#include <string>

namespace bench {
namespace {

// Trims " OpenBLAS 0.3.21 ".
std::string version() {
  const std::string text = OPENBLAS_VERSION;
  const std::size_t begin = text.find_first_not_of(' ');
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

// y [m, n] = x [m, k] w [k, n].
void multiply(std::ptrdiff_t m, std::ptrdiff_t k, std::ptrdiff_t n, const float* x, const float* w,
              float* y) {
  const auto rows = static_cast<blasint>(m), depth = static_cast<blasint>(k),
             columns = static_cast<blasint>(n);
  if (rows == 1)
    cblas_sgemv(CblasRowMajor, CblasTrans, depth, columns, 1, w, columns, x, 1, 0, y, 1);
  else
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, depth, 1, x, depth, w,
                columns, 0, y, columns);
}

}  // namespace

openblas::openblas() : peer(version()) {}

contender openblas::product(const product_task& t) {
  const floats y(static_cast<std::size_t>(t.m * t.n));
  return {timed(1, [t, y] { multiply(t.m, t.k, t.n, t.x.data(), t.w.data(), y.data()); }),
          [y] { return y.copy(); }};
}

contender openblas::chain(const chain_task& t) {
  const floats a(t.x.size()), b(t.x.size());
  const auto run = [t, a, b] {
    const float* from = t.x.data();
    for (std::ptrdiff_t i = 0; i < t.length; ++i) {
      float* const to = (i % 2 ? b : a).data();
      multiply(t.m, t.k, t.k, from, t.w.data() + i * t.k * t.k, to);
      from = to;
    }
  };
  return {timed(1, run), [t, a, b] { return (t.length % 2 ? a : b).copy(); }};
}

}  // namespace bench
