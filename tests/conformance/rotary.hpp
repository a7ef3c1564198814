// ONNX RotaryEmbedding (opset 23).
#pragma once

#include <utility>

#include "conformance/header.hpp"
#include "weft/nn/position/rotary.hpp"
#include "weft/ops/gather.hpp"
#include "weft/ops/view.hpp"

namespace weft::conformance {

template <const header& H>
struct rotary_embedding {
  static constexpr tensor_facts x = H.input("input");
  static constexpr bool flat = x.rank == 3;  // [batch, position, heads × size]
  static constexpr std::size_t heads = flat ? H.extent("num_heads") : x.shape[1];
  static constexpr std::size_t size = x.last() / (flat ? heads : 1);
  static constexpr std::size_t turned =
      H.extent("rotary_embedding_dim") ? H.extent("rotary_embedding_dim") : size;
  static constexpr auto pairs =
      H.number("interleaved") != 0 ? nn::rotary_pairs::interleaved : nn::rotary_pairs::half_split;

  struct Batch : axis<x.shape[0]> {};
  struct Pos : axis<x.from_behind(1)> {};
  struct Heads : axis<heads> {};
  struct HeadDim : axis<size> {};
  struct All : axis<heads * size> {};
  struct Half : axis<turned / 2> {};
  struct Cached : axis<H.input("cos_cache").shape[0]> {};  // positions in the caches

  constexpr auto operator()(scope s) const {
    const auto [cosine, sine] = angles(s);
    if constexpr (flat) {
      const auto whole = split<All, Heads, HeadDim>(input<H, "input">(s, shape<Batch, Pos, All>{}));
      const auto y = weft::rotate<HeadDim, Half, pairs>(whole, cosine, sine);
      return as<"output">(merge<All, Heads, HeadDim>(y));
    } else {
      const auto whole = input<H, "input">(s, shape<Batch, Heads, Pos, HeadDim>{});
      return as<"output">(weft::rotate<HeadDim, Half, pairs>(whole, cosine, sine));
    }
  }

 private:
  // The cosines and sines [Batch, Pos, Half].
  static constexpr auto angles(scope s) {
    if constexpr (H.has_input("position_ids")) {
      const auto ids = input<H, "position_ids">(s, shape<Batch, Pos>{});
      using cache = shape<Cached, Half>;
      return std::pair(gather<Cached>(input<H, "cos_cache">(s, cache{}), ids),
                       gather<Cached>(input<H, "sin_cache">(s, cache{}), ids));
    } else {
      using cache = shape<Batch, Pos, Half>;
      return std::pair(input<H, "cos_cache">(s, cache{}), input<H, "sin_cache">(s, cache{}));
    }
  }
};

constexpr std::string_view refusal_of_rotary(const header& h) {
  const tensor_facts x = h.input("input"), cos = h.input("cos_cache"), sin = h.input("sin_cache");
  if (x.rank != 3 && x.rank != 4) return "the input has 3 or 4 axes";
  const std::size_t heads = x.rank == 3 ? h.extent("num_heads") : x.shape[1];
  if (heads == 0 || (x.rank == 3 && x.last() % heads != 0))
    return "the heads do not divide the width";
  const std::size_t size = x.rank == 3 ? x.last() / heads : x.last();
  const std::size_t given = h.extent("rotary_embedding_dim");
  const std::size_t turned = given == 0 ? size : given;
  if (turned > size || turned % 2 != 0)
    return "rotary_embedding_dim is even and not above the size";
  const int rank = h.has_input("position_ids") ? 2 : 3;
  for (const auto& cache : {cos, sin})
    if (cache.rank != rank || cache.last() != turned / 2)
      return "a cache is [positions, half] with position_ids, else [batch, position, half]";
  return "";
}

}  // namespace weft::conformance
