// ONNX RotaryEmbedding (opset 23).
#pragma once

#include "conformance/header.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/concatenate.hpp"
#include "weft/ops/gather.hpp"
#include "weft/ops/view.hpp"

namespace weft::conformance {

// Su et al. 2021, equation 34: each pair (x1, x2) of a head's numbers becomes (x1 cos - x2 sin,
// x1 sin + x2 cos). The two stand side by side, or half a head apart.
template <const header& H>
struct rotary_embedding {
  static constexpr tensor_facts x = H.input("input");
  static constexpr bool flat = x.rank == 3;  // [batch, position, heads × size]
  static constexpr std::size_t heads = flat ? H.extent("num_heads") : x.shape[1];
  static constexpr std::size_t size = x.last() / (flat ? heads : 1);
  static constexpr std::size_t turned =
      H.extent("rotary_embedding_dim") ? H.extent("rotary_embedding_dim") : size;

  struct Batch : axis<x.shape[0]> {};
  struct Pos : axis<x.from_behind(1)> {};
  struct Heads : axis<heads> {};
  struct HeadDim : axis<size> {};
  struct All : axis<heads * size> {};
  struct Turned : axis<turned> {};
  struct Half : axis<turned / 2> {};
  struct Pair : axis<2> {};
  struct First : axis<1> {};
  struct Second : axis<1> {};
  struct Cached : axis<H.input("cos_cache").shape[0]> {};  // positions in the caches

  constexpr auto operator()(scope s) const {
    auto const [cos, sin] = angles(s);
    auto const whole = given(s);
    auto const pairs = in_pairs(slice<HeadDim, Turned>(whole));
    auto const x1 = slice<Pair, First, 0>(pairs), x2 = slice<Pair, First, 1>(pairs);
    auto const y1 = x1 * cos - x2 * sin, y2 = x1 * sin + x2 * cos;
    auto const y =
        side_by_side(concatenate<Pair, shape<First, Second>>(y1, rename<First, Second>(y2)));
    return as<"output">(joined(with_rest(y, whole)));
  }

 private:
  static constexpr bool interleaved = H.number("interleaved") != 0;

  template <class X>
  struct cos_and_sin {
    X cos, sin;
  };
  // [Batch, Pos, Half]
  static constexpr auto angles(scope s) {
    if constexpr (H.has_input("position_ids")) {
      using cache = shape<Cached, Half>;
      auto const ids = input<H, "position_ids">(s, shape<Batch, Pos>{});
      return cos_and_sin{gather<Cached>(input<H, "cos_cache">(s, cache{}), ids),
                         gather<Cached>(input<H, "sin_cache">(s, cache{}), ids)};
    } else {
      using cache = shape<Batch, Pos, Half>;
      return cos_and_sin{input<H, "cos_cache">(s, cache{}), input<H, "sin_cache">(s, cache{})};
    }
  }
  static constexpr auto given(scope s) {
    if constexpr (flat)
      return split<All, Heads, HeadDim>(input<H, "input">(s, shape<Batch, Pos, All>{}));
    else
      return input<H, "input">(s, shape<Batch, Heads, Pos, HeadDim>{});
  }
  template <expression X>
  static constexpr auto in_pairs(const X& x) {
    if constexpr (interleaved)
      return split<Turned, Half, Pair>(x);
    else
      return split<Turned, Pair, Half>(x);
  }
  template <expression X>
  static constexpr auto side_by_side(const X& pairs) {
    if constexpr (interleaved)
      return merge<Turned, Half, Pair>(pairs);
    else
      return merge<Turned, Pair, Half>(pairs);
  }
  template <expression Y, expression X>
  static constexpr auto with_rest(const Y& y, const X& whole) {
    if constexpr (turned == size) {
      return rename<Turned, HeadDim>(y);
    } else {
      struct Rest : axis<size - turned> {};
      return concatenate<HeadDim, shape<Turned, Rest>>(y, slice<HeadDim, Rest, turned>(whole));
    }
  }
  template <expression Y>
  static constexpr auto joined(const Y& y) {
    if constexpr (flat)
      return merge<All, Heads, HeadDim>(y);
    else
      return y;
  }
};

constexpr std::string_view refusal_of_rotary(const header& h) {
  tensor_facts const x = h.input("input"), cos = h.input("cos_cache"), sin = h.input("sin_cache");
  if (x.rank != 3 && x.rank != 4) return "the input has 3 or 4 axes";
  std::size_t const heads = x.rank == 3 ? h.extent("num_heads") : x.shape[1];
  if (heads == 0 || (x.rank == 3 && x.last() % heads != 0))
    return "the heads do not divide the width";
  std::size_t const size = x.rank == 3 ? x.last() / heads : x.last();
  std::size_t const given = h.extent("rotary_embedding_dim");
  std::size_t const turned = given == 0 ? size : given;
  if (turned > size || turned % 2 != 0)
    return "rotary_embedding_dim is even and not above the size";
  int const rank = h.has_input("position_ids") ? 2 : 3;
  for (auto const& cache : {cos, sin})
    if (cache.rank != rank || cache.last() != turned / 2)
      return "a cache is [positions, half] with position_ids, else [batch, position, half]";
  return "";
}

}  // namespace weft::conformance
