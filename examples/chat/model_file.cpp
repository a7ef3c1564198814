#include "model_file.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "quoted.hpp"

namespace chat {

namespace {

// The name in a GGUF file of a parameter under its name in transformers.
std::string name_in_gguf(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 12> parts{
      {{"model.embed_tokens.", "token_embd."},
       {"model.norm.", "output_norm."},
       {"model.layers.", "blk."},
       {"input_layernorm", "attn_norm"},
       {"self_attn.q_proj", "attn_q"},
       {"self_attn.k_proj", "attn_k"},
       {"self_attn.v_proj", "attn_v"},
       {"self_attn.o_proj", "attn_output"},
       {"post_attention_layernorm", "ffn_norm"},
       {"mlp.gate_proj", "ffn_gate"},
       {"mlp.up_proj", "ffn_up"},
       {"mlp.down_proj", "ffn_down"}}};
  std::string in_file = name;
  for (const auto& [from, to] : parts)
    if (const auto at = in_file.find(from); at != in_file.npos)
      in_file.replace(at, from.size(), to);
  return in_file;
}

}  // namespace

// What can be said of the file without its weights, which take longer to read.
byte_pairs tokenizer_of(const weft::gguf_file& file) {
  constexpr std::size_t vocabulary = models::smollm2_135m::vocab;
  if (const auto kind = file.text("general.architecture"); kind != "llama")
    throw weft::error(file.name() + ": the model's architecture is " + quoted(kind) +
                      ", and this program has 'llama', in the size of SmolLM2-135M");
  byte_pairs tokenizer(file);
  if (tokenizer.size() != vocabulary)
    throw weft::error(file.name() + ": the vocabulary has " + std::to_string(tokenizer.size()) +
                      " tokens, and the model has " + std::to_string(vocabulary));
  return tokenizer;
}

weft::weights source_of(const weft::gguf_file& file, const std::filesystem::path& packed) {
  return std::filesystem::exists(packed) ? weft::weights(packed)
                                         : weft::weights(file, {.name_in_file = name_in_gguf});
}

}  // namespace chat
