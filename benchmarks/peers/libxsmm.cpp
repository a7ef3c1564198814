#include "benchmarks/peers/libxsmm.hpp"

#include <libxsmm.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "benchmarks/peers/fastest.hpp"

namespace bench {
namespace {

// y [m, n] = x [m, k] w [k, n], row-major with these leading dimensions; accumulates into y if
// `adds`. Libxsmm is column-major, so the operands are swapped.
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

// A blocked product: m- and k-blocks of x, and panels of the weight, packed as [n /
// columns][k][columns].
struct blocks {
  std::ptrdiff_t rows, depth, columns;
};

void pack(const product_task& t, std::ptrdiff_t columns, float* to) {
  for (std::ptrdiff_t n = 0; n < t.n; n += columns)
    for (std::ptrdiff_t k = 0; k < t.k; ++k, to += columns)
      std::copy_n(t.w.data() + k * t.n + n, columns, to);
}

// Empty where there is no kernel for these blocks.
contender in_blocks(const product_task& t, const blocks& size) {
  if (t.m % size.rows || t.k % size.depth || t.n % size.columns) return {};
  const auto kernel = [&](bool adds) {
    return generate(size.rows, size.depth, size.columns, t.k, size.columns, t.n, adds);
  };
  const libxsmm_smmfunction first = kernel(false), next = kernel(true);
  if (!first || !next) return {};
  const floats w(t.w.size()), y(static_cast<std::size_t>(t.m * t.n));
  pack(t, size.columns, w.data());
  const auto run = [t, w, y, first, next, size] {
    if (!t.packed) pack(t, size.columns, w.data());
    for (std::ptrdiff_t k = 0; k < t.k; k += size.depth)
      for (std::ptrdiff_t n = 0; n < t.n; n += size.columns)
        for (std::ptrdiff_t m = 0; m < t.m; m += size.rows)
          (k == 0 ? first : next)(w.data() + n * t.k + k * size.columns, t.x.data() + m * t.k + k,
                                  y.data() + m * t.n + n);
  };
  return {timed(1, run), [y] { return y.copy(); }};
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

// The weight is packed beforehand, or in each run.
contender libxsmm::product(const product_task& t) {
  if (t.m == 1) return {};
  std::vector<contender> ways;
  for (const std::ptrdiff_t rows : {24, 32, 64, 128})
    for (const std::ptrdiff_t depth : {256, 384, 768, 1024})
      for (const std::ptrdiff_t columns : {48, 64})
        if (contender way =
                in_blocks(t, {largest_divisor(t.m, rows), largest_divisor(t.k, depth), columns});
            way.repeat)
          ways.push_back(std::move(way));
  return ways.empty() ? contender{} : fastest(ways);
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
