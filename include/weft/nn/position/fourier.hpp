// Learned Fourier features of coordinates (Li et al. 2021).
#pragma once

#include "weft/nn/linear.hpp"
#include "weft/nn/position/frequencies.hpp"
#include "weft/ops/concatenate.hpp"
#include "weft/ops/dot.hpp"
#include "weft/ops/view.hpp"

namespace weft::nn {

namespace detail {

template <std::size_t Size>
struct feature_of : axis<Size> {};
struct one_coordinate : axis<1> {};

}  // namespace detail

// PE = φ(r) W_p, r = [cos(x W_rᵀ) ‖ sin(x W_rᵀ)] / sqrt(D), φ a layer with GELU (Li et al. 2021,
// equations 2 and 5): coordinates [..., Dim] to [..., Embed]. Features has D numbers, an even
// count; Hidden is φ's layer. Parameters: frequency [D / 2, Dim], normal of deviation 1 /
// wavelength, "hidden" and "out" as torch.nn.Linear.
template <class Dim, class Features, class Hidden, class Embed, expression X>
constexpr auto fourier_features(scope s, const X& coordinates, double wavelength = 1) {
  static_assert(Features::extent % 2 == 0,
                "nn::fourier_features: there is a sine for each cosine; make the features even");
  using Half = detail::feature_of<Features::extent / 2>;
  auto const w = s.param<"frequency", Half, Dim>(init::normal(0, 1 / wavelength));
  auto const angle = dot<Dim>(coordinates, w);
  auto const both = concatenate<Features, shape<Half, Half>>(cos(angle), sin(angle));
  auto const hidden =
      gelu(linear<shape<Features>, shape<Hidden>>(s / "hidden", both / sqrt(length<Features>())));
  return linear<shape<Hidden>, shape<Embed>>(s / "out", hidden);
}

// The same of positions along an axis: [Pos, Embed], to be added to the embedding of the tokens.
// The wavelength is in positions.
template <class Pos, class Features, class Hidden, class Embed>
constexpr auto fourier_positions(scope s, double wavelength = 16) {
  using One = detail::one_coordinate;
  auto const t = cast<float>(positions<Pos>());
  return fourier_features<One, Features, Hidden, Embed>(s, broadcast<One>(t), wavelength);
}

}  // namespace weft::nn
