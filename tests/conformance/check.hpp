// A file of an ONNX node test against the model that its header asks for.
#pragma once

#include <boost/test/unit_test.hpp>
#include <memory>
#include <string_view>

#include "conformance/attention.hpp"
#include "conformance/gelu.hpp"
#include "conformance/header.hpp"
#include "conformance/normalization.hpp"
#include "conformance/rotary.hpp"
#include "weft/lower/lower.hpp"
#include "weft/lower/units.hpp"

namespace weft::conformance {

// The attributes, inputs and outputs of an operator that weft supports. Each name is between
// spaces.
struct operator_words {
  std::string_view op_type, attributes, inputs, outputs;
  std::string_view (*refusal)(const header&);
};
inline constexpr operator_words words_of_operators[]{
    {"Attention",
     " is_causal kv_num_heads left_window_size q_num_heads qk_matmul_output_mode right_window_size "
     "scale softcap softmax_precision ",
     " Q K V attn_mask past_key past_value nonpad_kv_seqlen ",
     " Y present_key present_value qk_matmul_output ", refusal_of_attention},
    {"Gelu", " approximate ", " x ", " y ", refusal_of_gelu},
    {"LayerNormalization", " axis epsilon stash_type ", " X W B ", " Y Mean InvStdDev ",
     refusal_of_rows},
    {"LogSoftmax", " axis ", " x ", " y ", refusal_of_rows},
    {"RMSNormalization", " axis epsilon stash_type ", " X W ", " Y ", refusal_of_rows},
    {"RotaryEmbedding", " interleaved num_heads rotary_embedding_dim ",
     " input cos_cache sin_cache position_ids ", " output ", refusal_of_rotary},
    {"Softmax", " axis ", " x ", " y ", refusal_of_rows}};

constexpr operator_words words_of(std::string_view op_type) {
  for (const auto& words : words_of_operators)
    if (words.op_type == op_type) return words;
  return {};
}
constexpr bool knows(std::string_view words, std::string_view name) {
  const std::size_t at = words.find(name);
  return at != words.npos && words[at - 1] == ' ' && words[at + name.size()] == ' ';
}

// What the header asks for that weft does not support, and of what; empty if weft supports all of
// it.
struct refusal {
  std::string_view what, of;
  constexpr bool any() const { return !what.empty(); }
};
constexpr refusal refusal_of(const header& h) {
  const operator_words words = words_of(h.op_type);
  if (words.op_type.empty()) return {"there is no model for the operator", h.op_type};
  for (const auto& a : h.attributes)
    if (!a.name.empty() && !knows(words.attributes, a.name))
      return {"the model does not know the attribute", a.name};
  for (const bool is_input : {true, false})
    for (const auto& t : is_input ? h.inputs : h.outputs) {
      if (t.name.empty()) continue;
      if (!knows(is_input ? words.inputs : words.outputs, t.name))
        return {
            is_input ? "the model does not know the input" : "the model does not know the output",
            t.name};
      if (t.type.empty()) return {"the file has not the tensor", t.name};
      if (kind_of(t.type) == kind::none) return {"weft has no tensors of these elements", t.type};
      for (int i = 0; i < t.rank; ++i)
        if (t.shape[i] == 0) return {"an axis has no elements", t.name};
    }
  return {words.refusal(h), h.op_type};
}

// The model of a header that is not refused.
template <const header& H>
constexpr auto model_of() {
  if constexpr (H.op_type == "Attention") return attention<H>{};
  if constexpr (H.op_type == "Gelu") return gelu_model<H>{};
  if constexpr (H.op_type == "LayerNormalization") return layer_normalization<H>{};
  if constexpr (H.op_type == "RMSNormalization") return rms_normalization<H>{};
  if constexpr (H.op_type == "RotaryEmbedding") return rotary_embedding<H>{};
  if constexpr (H.op_type.ends_with("Softmax")) return softmax_model<H>{};
}

// The axes of an output in the order of the file, if that differs from the model's result.
using file_order = axis_list (*)(std::string_view output);
template <class Model>
constexpr file_order order_of() {
  if constexpr (requires { Model::axes_in_file(""); })
    return Model::axes_in_file;
  else
    return nullptr;
}

// Runs a model on the file's inputs, on every SIMD target, and compares the results with the file's
// outputs. `written` is the graph of the model before all passes.
void check_model(const graph& written, const program& lowered, file_order order, const char* path);

template <const header& H>
void check(const char* path) {
  constexpr refusal refused = refusal_of(H);
  if constexpr (refused.any()) {
    BOOST_ERROR(refused.what << " (" << refused.of << ")");
  } else {
    using model = decltype(model_of<H>());
    // Graphs are too large for the stack.
    const std::unique_ptr<const graph> g(new graph(traced_graph<model>.unpack()));
    check_model(*g, lowered<inference<model>>::program, order_of<model>(), path);
  }
}

}  // namespace weft::conformance
