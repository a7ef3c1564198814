// ONNX Gelu.
#pragma once

#include "conformance/normalization.hpp"
#include "weft/ops/functions.hpp"

namespace weft::conformance {

template <const header& H>
struct gelu_model {
  constexpr auto operator()(scope s) const {
    const auto x = input<H, "x">(s, typename axes_of_rows<H>::all{});
    if constexpr (H.find("approximate").text == "tanh")
      return as<"y">(gelu_tanh(x));
    else
      return as<"y">(gelu(x));
  }
};

constexpr std::string_view refusal_of_gelu(const header& h) {
  const auto approximate = h.find("approximate").text;
  if (!approximate.empty() && approximate != "none" && approximate != "tanh")
    return "approximate is 'none' or 'tanh'";
  return "";
}

}  // namespace weft::conformance
