// float zeros of a shape.
#pragma once

#include "weft/ops/convert.hpp"

namespace weft::nn::detail {

template <class... Axes>
constexpr auto zeros(shape<Axes...>) {
  return broadcast<Axes...>(constant(0.0f));
}

}  // namespace weft::nn::detail
