// Chains of small matrix products.
#pragma once

#include <weft/model.hpp>

namespace bench {

inline constexpr int chain_length = 16;

// x w0 w1 ...; the axes In and Out alternate.
template <int M, int K>
struct chain {
  struct Pos : weft::axis<M> {};
  struct In : weft::axis<K> {};
  struct Out : weft::axis<K> {};

  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Pos, In>();
    for (int i = 0; i < chain_length; i += 2) {
      auto between = weft::dot<In>(x, (s / i).template param<"w", In, Out>());
      x = weft::dot<Out>(between, (s / (i + 1)).template param<"w", Out, In>());
    }
    return x;
  }
};

}  // namespace bench
