// The rules of layers that take their axes by role, and of their operands and masks: each sentence
// stands here once.
#pragma once
#include "weft/header_begin.hpp"
// g++ omits the note on macro expansion for a system header's macros.
#pragma GCC system_header

#include "weft/graph/reject.hpp"

// Those of the mask of a function that takes scores, for WEFT_REJECT.
#define WEFT_MASK_RULES(name)                                                             \
  (surplus, name ": a mask has an axis that its scores lack"),                            \
      (mask_order, name                                                                   \
       ": a mask has its keys along another axis; name that of the queries first, as in " \
       "causal<Pos, KeyPos>()"),                                                          \
      (mask_keys, name                                                                    \
       ": a mask of floats is added and needs the keys' axis; valid lengths are "         \
       "std::int32_t, without it")

#define WEFT_CALLED(name, use) \
  name ": one struct names the axes, and {} stands for what is not there, as in " use
// The names of the layer and of what is broken. `Fault`, a nn::detail::fault, is the last template
// parameter of the overload: compilers print it, and with it roles and axes.
#define WEFT_LAYER_RULES(name, use)                                                              \
  WEFT_LAYER_RULE(arguments, WEFT_CALLED(name, use))                                             \
  WEFT_LAYER_RULE(no_positions, name ": the axes name no positions")                             \
  WEFT_LAYER_RULE(no_keys, name ": the axes name no keys")                                       \
  WEFT_LAYER_RULE(no_memory, name ": the axes name no memory")                                   \
  WEFT_LAYER_RULE(no_cache, name ": the axes name no cache")                                     \
  WEFT_LAYER_RULE(no_embed, name ": the axes name no embed")                                     \
  WEFT_LAYER_RULE(no_heads, name ": the axes name no heads")                                     \
  WEFT_LAYER_RULE(no_head_dim, name ": the axes name no head_dim")                               \
  WEFT_LAYER_RULE(no_hidden, name ": the axes name no hidden")                                   \
  WEFT_LAYER_RULE(not_an_axis, name ": the type in a role is no axis; see fault<>")              \
  WEFT_LAYER_RULE(twice, name ": two roles have the same axis; see fault<>")                     \
  WEFT_LAYER_RULE(unused, name ": it has no such role; see fault<>")                             \
  WEFT_LAYER_RULE(key, name ": key_heads are a shape of the queries' heads, or weft::shape<>")   \
  WEFT_LAYER_RULE(keys, name ": keys is no alias of positions; see fault<>")                     \
  WEFT_LAYER_RULE(missing, name ": an operand lacks the axis of its role; see fault<>")          \
  WEFT_LAYER_RULE(taken, name ": an operand has the axis of a role already; see fault<>")        \
  WEFT_LAYER_RULE(elements, name ": an operand is not float; convert with weft::cast<float>")    \
  WEFT_LAYER_RULE(rank, name ": the operands have more than 8 axes between them")                \
  WEFT_LAYER_RULE(memory, name ": the memory has an axis that the operand lacks; see surplus<>") \
  WEFT_LAYER_RULE(surplus, name ": a mask has an axis that its scores lack")                     \
  WEFT_LAYER_RULE(                                                                               \
      mask_order, name                                                                           \
      ": a mask has its keys along another axis; name that of the queries first, as in "         \
      "causal<Pos, KeyPos>()")                                                                   \
  WEFT_LAYER_RULE(mask_keys, name                                                                \
                  ": a mask of floats is added and needs the keys' axis; valid lengths are "     \
                  "std::int32_t, without it")                                                    \
  WEFT_LAYER_RULE(                                                                               \
      pairs, name ": the encoding turns pairs of a head's elements; give head_dim an even extent")

// WEFT_REJECT_LAYER(encoder, "encoder<axes>(s, x, layers)", (scope, const X&, int)) declares the
// overload that uses with a fault select; see WEFT_REJECT. The template in front of it has as its
// last parameter `class Fault`. Uses with other operands select a second one.
#if defined(__clang__)
#define WEFT_LAYER_RULE(which, sentence) \
  __attribute__((diagnose_if(Fault::broken == ::weft::rule::which, sentence, "error")))
#define WEFT_REJECT_FAULTS(layer, use, parameters)             \
  WEFT_QUIET_BEGIN WEFT_LAYER_RULES("nn::" #layer, use)        \
  WEFT_QUIET_END constexpr ::weft::rejected layer parameters { \
    return {};                                                 \
  }
#else
#define WEFT_LAYER_RULE(which, sentence) \
  if constexpr (Fault::broken == ::weft::rule::which) return ::weft::rejected<sentence>{};
#define WEFT_REJECT_FAULTS(layer, use, parameters)                                       \
  constexpr ::weft::detail::refusal_t<[] { WEFT_LAYER_RULES("nn::" #layer, use) }> layer \
      parameters = delete;
#endif
#define WEFT_REJECT_LAYER(layer, use, parameters)                    \
  WEFT_REJECT_FAULTS(layer, use, parameters)                         \
  template <class... Axes, class... Args>                            \
  WEFT_REJECT(::weft::rule::arguments, layer(scope, const Args&...), \
              (arguments, WEFT_CALLED("nn::" #layer, use)))

// The overload of a layer with positional axes that other calls select.
#define WEFT_REJECT_OTHER_CALLS(layer, use)                          \
  template <class... Axes, class... Args>                            \
  WEFT_REJECT((::weft::rule::no_axes), layer(scope, const Args&...), \
              (no_axes, "nn::" #layer ": it is called as " use))
#include "weft/header_end.hpp"
