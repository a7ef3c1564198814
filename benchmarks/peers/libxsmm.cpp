#include "benchmarks/peers/libxsmm.hpp"

#include <libxsmm.h>

#include <algorithm>

namespace bench {
namespace {

// y [m, n] = x [m, k] w [k, n], each dense in its rows of the given lengths; added to y if `adds`.
// Libxsmm counts by columns, so the operands change places.
libxsmm_smmfunction generate(std::ptrdiff_t m, std::ptrdiff_t k, std::ptrdiff_t n,
                             std::ptrdiff_t x_row, std::ptrdiff_t w_row, std::ptrdiff_t y_row,
                             bool adds) {
  const auto ldx = static_cast<libxsmm_blasint>(x_row), ldw = static_cast<libxsmm_blasint>(w_row),
             ldy = static_cast<libxsmm_blasint>(y_row);
  const float alpha = 1, beta = adds ? 1 : 0;
  const int prefetch = LIBXSMM_PREFETCH_NONE;
  return libxsmm_smmdispatch(static_cast<libxsmm_blasint>(n), static_cast<libxsmm_blasint>(m),
                             static_cast<libxsmm_blasint>(k), &ldw, &ldx, &ldy, &alpha, &beta,
                             nullptr, &prefetch);
}

// Blocks that suit its AVX-512 kernels and a level-1 cache: 64 columns, a depth of up to 384.
constexpr std::ptrdiff_t columns = 64, most_depth = 384, most_rows = 24;

// The weight as blocks [n / columns][k][columns].
floats pack(const product_task& t) {
  floats packed(t.w.size());
  float* to = packed.data();
  for (std::ptrdiff_t n = 0; n < t.n; n += columns)
    for (std::ptrdiff_t k = 0; k < t.k; ++k, to += columns)
      std::copy_n(t.w.data() + k * t.n + n, columns, to);
  return packed;
}

std::ptrdiff_t largest_divisor(std::ptrdiff_t n, std::ptrdiff_t most) {
  while (n % most) --most;
  return most;
}

}  // namespace

libxsmm::libxsmm() : peer("libxsmm " LIBXSMM_VERSION) {
  libxsmm_init();
}
libxsmm::~libxsmm() {
  libxsmm_finalize();
}

contender libxsmm::product(const product_task& t) {
  // A vector is none of its work; without packing, it has nothing for products of this size.
  if (!t.packed || t.m == 1 || t.n % columns) return {};
  const std::ptrdiff_t depth = largest_divisor(t.k, most_depth);
  const std::ptrdiff_t rows = largest_divisor(t.m, most_rows);
  const libxsmm_smmfunction first = generate(rows, depth, columns, t.k, columns, t.n, false);
  const libxsmm_smmfunction next = generate(rows, depth, columns, t.k, columns, t.n, true);
  if (!first || !next) return {};
  const floats w = pack(t), y(static_cast<std::size_t>(t.m * t.n));
  const auto run = [t, w, y, first, next, depth, rows] {
    for (std::ptrdiff_t k = 0; k < t.k; k += depth)
      for (std::ptrdiff_t n = 0; n < t.n; n += columns)
        for (std::ptrdiff_t m = 0; m < t.m; m += rows)
          (k == 0 ? first : next)(w.data() + n * t.k + k * columns, t.x.data() + m * t.k + k,
                                  y.data() + m * t.n + n);
  };
  return {timed(1, run), [y] { return y.copy(); }};
}

contender libxsmm::chain(const chain_task& t) {
  const libxsmm_smmfunction multiply = generate(t.m, t.k, t.k, t.k, t.k, t.k, false);
  if (!multiply) return {};
  const floats a(t.x.size()), b(t.x.size());
  const auto run = [t, multiply, a, b] {
    const float* from = t.x.data();
    for (std::ptrdiff_t i = 0; i < t.length; ++i) {
      float* const to = (i % 2 ? b : a).data();
      multiply(t.w.data() + i * t.k * t.k, from, to);
      from = to;
    }
  };
  return {timed(1, run), [t, a, b] { return (t.length % 2 ? a : b).copy(); }};
}

}  // namespace bench
