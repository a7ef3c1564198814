#include "benchmarks/peers/eigen.hpp"
#include "benchmarks/peers/eigen_matrix.hpp"
#include "benchmarks/peers/fastest.hpp"

namespace bench {
namespace {

// Eigen's product with compile-time extents; lazy: a dot product per element.
template <int M, int K, bool Lazy>
contender chain_of(const chain_task& t) {
  const floats a(t.x.size()), b(t.x.size());
  const auto run = [t, a, b] {
    const float* from = t.x.data();
    for (std::ptrdiff_t i = 0; i < t.length; ++i) {
      float* const to = (i % 2 ? b : a).data();
      const dense<M, K> x(const_cast<float*>(from));
      const dense<K, K> w(t.w.data() + i * K * K);
      if constexpr (Lazy)
        dense<M, K>(to).noalias() = x.lazyProduct(w);
      else
        dense<M, K>(to).noalias() = x * w;
      from = to;
    }
  };
  return {timed(1, run), [t, a, b] { return (t.length % 2 ? a : b).copy(); }};
}

template <int M, int K>
contender fixed_chain(const chain_task& t) {
  return fastest({chain_of<M, K, false>(t), chain_of<M, K, true>(t)});
}

}  // namespace

// From 5 on the major version comes first; before, it came after the "world" version, which stayed
// 3.
#if EIGEN_MAJOR_VERSION < 5
eigen::eigen()
    : peer("Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." +
           std::to_string(EIGEN_MAJOR_VERSION) + "." + std::to_string(EIGEN_MINOR_VERSION)) {}
#else
eigen::eigen()
    : peer("Eigen " + std::to_string(EIGEN_MAJOR_VERSION) + "." +
           std::to_string(EIGEN_MINOR_VERSION) + "." + std::to_string(EIGEN_PATCH_VERSION)) {}
#endif

contender eigen::product(const product_task& t) {
  const floats y(static_cast<std::size_t>(t.m * t.n));
  const auto run = [t, y] {
    const dense<> x(t.x.data(), t.m, t.k), w(t.w.data(), t.k, t.n);
    if (t.m == 1)
      Eigen::Map<row_vector<>>(y.data(), t.n).noalias() =
          Eigen::Map<row_vector<>>(t.x.data(), t.k) * w;
    else
      dense<>(y.data(), t.m, t.n).noalias() = x * w;
  };
  return {timed(1, run), [y] { return y.copy(); }};
}

contender eigen::chain(const chain_task& t) {
  if (t.m == 8 && t.k == 16) return fixed_chain<8, 16>(t);
  if (t.m == 16 && t.k == 32) return fixed_chain<16, 32>(t);
  if (t.m == 32 && t.k == 64) return fixed_chain<32, 64>(t);
  if (t.m == 64 && t.k == 64) return fixed_chain<64, 64>(t);
  return {};
}

}  // namespace bench
