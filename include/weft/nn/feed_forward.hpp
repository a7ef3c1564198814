// The feed-forward network of a transformer.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/nn/detail.hpp"
#include "weft/nn/layer_rules.hpp"
#include "weft/nn/linear.hpp"
#include "weft/nn/options.hpp"
#include "weft/ops/functions.hpp"

namespace weft::nn {

namespace detail {

template <expression X>
constexpr auto activate(activation a, const X& x) {
  switch (a) {
    case activation::relu:
      return relu(x);
    case activation::gelu_tanh:
    case activation::geglu_tanh:
      return gelu_tanh(x);
    case activation::squared_relu:
      return relu(x) * relu(x);
    case activation::swiglu:
      return silu(x);
    case activation::gelu:
    case activation::geglu:
      break;
  }
  return gelu(x);
}
// Whether there is a gate, which the activation is of.
constexpr bool is_gated(activation a) {
  return a >= activation::swiglu;
}

}  // namespace detail

// The position-wise network, x float [..., Embed] to the same axes: linear2(f(linear1(x))) with f
// ReLU (Vaswani et al. 2017, equation 2), squared ReLU or GELU, or linear2(f(gate(x)) · linear1(x))
// with f swish for SwiGLU and GELU for GeGLU (Shazeer 2020, equation 6). In training,
// options.dropout is the rate at which hidden units are dropped. Parameters, initialized as
// nn::linear's: linear1.weight [Hidden, Embed] and linear2.weight [Embed, Hidden], as
// torch.nn.TransformerEncoderLayer, for SwiGLU and GeGLU gate.weight [Hidden, Embed], and, with
// options.bias, linear1.bias [Hidden], linear2.bias [Embed] and gate.bias [Hidden]. Misuse does not
// compile: see the WEFT_REJECT overloads.
template <class Embed, class Hidden, expression X>
constexpr auto feed_forward(scope s, const X& x, transformer_options options = {}) {
  const linear_options projection{.bias = options.bias};
  const auto up = [&](const char* name) { return linear<Embed, Hidden>(s / name, x, projection); };
  auto hidden = up("linear1");
  if (detail::is_gated(options.activation))
    hidden = detail::activate(options.activation, up("gate")) * hidden;
  else
    hidden = detail::activate(options.activation, hidden);
  return linear<Hidden, Embed>(s / "linear2", detail::dropped(hidden, options.dropout), projection);
}
WEFT_REJECT_IF((class Embed, class Hidden, expression X),
               (detail::rule_of_linear<X, shape<Embed>, shape<Hidden>>()),
               feed_forward(scope, const X&, transformer_options = {}),
               (list, "nn::feed_forward: name two axes, as in feed_forward<Embed, Hidden>(s, x)"),
               WEFT_NO_SUCH_AXIS("nn::feed_forward"), WEFT_NOT_FLOAT("nn::feed_forward"),
               WEFT_AXIS_TWICE("nn::feed_forward"), WEFT_TOO_MANY_AXES("nn::feed_forward"))

WEFT_REJECT_OTHER_CALLS(feed_forward, "feed_forward<Embed, Hidden>(s, x)")

}  // namespace weft::nn
#include "weft/header_end.hpp"
