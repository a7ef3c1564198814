// How rotations stand in a graph.
//
// rotate          (x, cosine, sine)    [..., numbers]
// rotate_adjoint  (x, g)               [..., pairs]: the gradient for the cosine or the sine
//
// ops/rotate.hpp has the formulas. Both name the axis of the numbers and that of the pairs; `start`
// says which numbers are a pair, and `scalar` of the adjoint is 0 for the cosine, 1 for the sine.
#pragma once

#include <cstddef>

#include "weft/graph/graph.hpp"

namespace weft {

// Which two numbers are turned together: neighbours, as the paper has it (Su et al. 2021, section
// 3.4.2), or each of the first half with that of the second. Which one a model wants depends on the
// file that it comes in, since converters permute the rows of the queries' and keys' weights:
//
// neighbours: LLaMA and Mistral as their makers published them (consolidated.*.pth), GGUF files of
//   the architecture llama (Mistral's and SmolLM's too), GPT-J.
// halves: LLaMA, Mistral and SmolLM as safetensors for Hugging Face's transformers; GPT-NeoX, Qwen,
//   Phi and Gemma in every file.
enum class rotary_pairs { neighbours, halves };

// Along the numbers, from the first of a pair to the second, and from a pair to the next.
struct pair_steps {
  std::size_t partner, next;
};
constexpr pair_steps pair_steps_of(const node& n) {
  bool const halves = n.start == static_cast<std::int64_t>(rotary_pairs::halves);
  return halves ? pair_steps{n.named.at[1]->extent, 1} : pair_steps{1, 2};
}

}  // namespace weft
