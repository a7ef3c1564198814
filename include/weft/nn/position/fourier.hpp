// Learned Fourier features of coordinates (Li et al. 2021).
#pragma once
#include "weft/header_begin.hpp"

#include "weft/nn/linear.hpp"
#include "weft/nn/position/encoding.hpp"
#include "weft/nn/position/frequencies.hpp"
#include "weft/ops/concatenate.hpp"
#include "weft/ops/dot.hpp"
#include "weft/ops/view.hpp"

namespace weft::nn {

namespace detail {

template <std::size_t Size>
struct feature_of : axis<Size> {};
template <std::size_t Size>
struct hidden_of : axis<Size> {};
struct one_coordinate : axis<1> {};

}  // namespace detail

// Options of nn::fourier_features and position::fourier.
struct fourier_options {
  double wavelength = 1;  // in units of the coordinates
};

// PE = φ(r) W_p, r = [cos(x W_rᵀ) ‖ sin(x W_rᵀ)] / sqrt(D), φ a linear layer with GELU (Li et al.
// 2021, equations 2 and 5): coordinates float [..., Dim] to float [..., Embed]. Features has D
// elements, an even number, or it does not compile; Hidden is the axis of φ's result. Parameters:
// frequency [D / 2, Dim], initially N(0, 1 / wavelength²), hidden.weight [Hidden, Features],
// hidden.bias [Hidden], out.weight [Embed, Hidden] and out.bias [Embed], as nn::linear's.
template <class Dim, class Features, class Hidden, class Embed, expression X>
constexpr auto fourier_features(scope s, const X& coordinates, fourier_options options = {}) {
  static_assert(Features::extent % 2 == 0,
                "nn::fourier_features: there is a sine for each cosine; make the features even");
  using Half = detail::feature_of<Features::extent / 2>;
  const auto w = s.param<"frequency", Half, Dim>(init::normal(0, 1 / options.wavelength));
  const auto angle = dot<Dim>(coordinates, w);
  const auto both = concatenate<Features, shape<Half, Half>>(cos(angle), sin(angle));
  const auto hidden = gelu(linear<Features, Hidden>(s / "hidden", both / sqrt(length<Features>())));
  return linear<Hidden, Embed>(s / "out", hidden);
}

namespace position {

// nn::fourier_features of the position, added to the embedding. The wavelength is in positions: a
// feature has a period of about 2π times it.
template <std::size_t Features = 64, std::size_t Hidden = 32>
struct fourier : encoding {
  fourier_options options;  // wavelength, in positions
  // With this wavelength.
  constexpr fourier(fourier_options o = {.wavelength = 16}) : options(o) {}

  // The features: see encoding::embedding.
  template <class Pos, class Embed>
  constexpr auto embedding(scope s, const auto& at) const {
    using One = detail::one_coordinate;
    const auto t = broadcast<One>(cast<float>(at));
    return fourier_features<One, detail::feature_of<Features>, detail::hidden_of<Hidden>, Embed>(
        s, t, options);
  }
};

}  // namespace position

}  // namespace weft::nn
#include "weft/header_end.hpp"
