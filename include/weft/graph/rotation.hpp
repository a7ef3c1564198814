// The nodes of rotary embeddings in a graph.
//
// rotate          (x, cosine, sine)    [..., dim], cosine and sine [..., pairs]
// rotate_adjoint  (x, g)               [..., pairs]: the gradient of the cosine or of the sine
//
// ops/rotate.hpp has the formulas, attributes.hpp the nodes' attributes.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>

#include "weft/graph/graph.hpp"

namespace weft {

// Which two elements are rotated as a pair: interleaved, 2i and 2i + 1, as in the paper (Su et al.
// 2021, section 3.4.2), or half-split (NeoX style), i and i + the number of pairs. Which one a
// model needs depends on its file, since converters permute the rows of the query and key weights:
//
// interleaved: LLaMA and Mistral as their makers published them (consolidated.*.pth), GGUF files of
//   the architecture llama (Mistral's and SmolLM's too), GPT-J.
// half_split: LLaMA, Mistral and SmolLM as safetensors for Hugging Face's transformers; GPT-NeoX,
//   Qwen, Phi and Gemma in every file.
enum class rotary_pairs { interleaved, half_split };

// Distances in elements of the rotated axis: from the first of a pair to the second, and from a
// pair to the next.
struct pair_steps {
  std::size_t partner, next;
};
constexpr pair_steps pair_steps_of(const node& n) {
  const bool half_split = pairing_of(n) == static_cast<std::int64_t>(rotary_pairs::half_split);
  return half_split ? pair_steps{axis_of_pairs(n)->extent, 1} : pair_steps{1, 2};
}

}  // namespace weft
#include "weft/header_end.hpp"
