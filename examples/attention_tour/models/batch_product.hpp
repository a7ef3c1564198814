#pragma once

#include <weft/model.hpp>

namespace batch_product {

struct Batch : weft::axis<2> {};
struct A : weft::axis<3> {};
struct B : weft::axis<4> {};
struct C : weft::axis<6> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto q = s.input<"q", float, Batch, A, B>();
    auto k = s.input<"k", float, Batch, B, C>();
    return weft::dot<B>(q, k);  // [Batch, A, C]: Batch, which both have, is a batch axis
  }
};

}  // namespace batch_product
