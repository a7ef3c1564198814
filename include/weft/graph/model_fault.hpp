// Errors in a model that its types cannot show: tracing, a pass or lowering finds them, and the
// user's line that takes the model says them in a sentence.
#pragma once
#include "weft/header_begin.hpp"

#include <cstdint>
#include <string_view>

#include "weft/language.hpp"

namespace weft {

// WEFT_FAULT(fault, "sentence") for each. What it is about, such as a name, is printed beside it.
#define WEFT_MODEL_FAULTS                                                                          \
  WEFT_FAULT(no_default,                                                                           \
             "model: it cannot be made without arguments; give its members initial values, or "    \
             "make what differs a template parameter")                                             \
  WEFT_FAULT(no_operator,                                                                          \
             "model: it has no operator() that takes a scope; write constexpr auto "               \
             "operator()(weft::scope s) const")                                                    \
  WEFT_FAULT(no_tensor,                                                                            \
             "model: its operator() returns no tensor; return one, of what a layer returns such "  \
             "as .output, or weft::results(weft::as<\"name\">(x), ...)")                           \
  WEFT_FAULT(not_evaluated,                                                                        \
             "model: its operator() is not evaluated while compiling; mend the errors in it, or "  \
             "declare it constexpr and call only what is; constexpr auto g = "                     \
             "weft::trace<Model>() says what stops it")                                            \
  WEFT_FAULT(two_parameters,                                                                       \
             "param: two parameters have the same name; give each a name, or each layer a scope, " \
             "of its own, as in s / \"layers\" / i")                                               \
  WEFT_FAULT(shared_parameter, "param: a shared parameter is declared with other axes")            \
  WEFT_FAULT(two_inputs, "input: two inputs have the same name")                                   \
  WEFT_FAULT(two_states, "state: two states have the same name")                                   \
  WEFT_FAULT(two_results, "results: two have the same name")                                       \
  WEFT_FAULT(long_name, "scope: a name of more than 240 characters; give its parts shorter ones")  \
  WEFT_FAULT(no_state, "update: what is updated is no state, as s.state<...>() gives it")          \
  WEFT_FAULT(two_updates, "update: a state is updated twice; update it once, with the last value") \
  WEFT_FAULT(nested_scan,                                                                          \
             "scan: a scan stands in the body of another; move it in front of the outer one, or "  \
             "make one scan of both with weft::merge")                                             \
  WEFT_FAULT(out_of_body,                                                                          \
             "scan: a tensor of its body is used outside of it; return it with "                   \
             "next(...).with(y), and take it from .all")                                           \
  WEFT_FAULT(rate_of_dropout, "dropout: the rate is not between 0 and 1")                          \
  WEFT_FAULT(dropout_size, "dropout: the operand has more than 2^32 elements")                     \
  WEFT_FAULT(integer,                                                                              \
             "a number: it does not fit into int32, the elements that it is combined with")        \
  WEFT_FAULT(infinite, "a number: it is infinite as float; write a smaller one, or infinity")      \
  WEFT_FAULT(zero, "a number: it is zero as float; write a larger one, or 0")                      \
  WEFT_FAULT(pattern, "trainer: a pattern stands for no parameter of the model")                   \
  WEFT_FAULT(frequencies, "frequencies: a base, a factor or a length is not positive")             \
  /* More than a limit of graph/graph.hpp or lower/program.hpp: see examples/LIMITS.md. */         \
  WEFT_FAULT(operations, "model: more than 40960 operations, those of gradients included")         \
  WEFT_FAULT(inputs, "model: more than 256 inputs")                                                \
  WEFT_FAULT(parameters, "model: more than 8192 parameters")                                       \
  WEFT_FAULT(states, "model: more than 1024 states")                                               \
  WEFT_FAULT(results, "model: more than 1024 results")                                             \
  WEFT_FAULT(rules, "model: more than 128 axes whose lengths follow from those of others")         \
  WEFT_FAULT(scans, "model: more than 1024 scans, those of gradients included")                    \
  WEFT_FAULT(names, "model: more than 250000 characters in all names")                             \
  WEFT_FAULT(elements,                                                                             \
             "model: a tensor of more than 1099511627776 elements, or more "                       \
             "memory than addresses reach")                                                        \
  WEFT_FAULT(axes, "model: an operation over more than 8 axes, those that it sums over included")  \
  WEFT_FAULT(kept_axes,                                                                            \
             "trainer: a scan, of which the gradient keeps a tensor of 8 axes for each step")      \
  WEFT_FAULT(lengths, "model: more than 64 axes whose lengths are known at run time only")         \
  WEFT_FAULT(shifts, "model: more than 8192 offsets that are known at run time only")              \
  WEFT_FAULT(attentions, "model: more than 2048 attentions, their gradients included")             \
  WEFT_FAULT(indices, "model: more than 1024 uses of indices, offsets and lengths")                \
  WEFT_FAULT(writes, "model: more than 1024 writes of rows")                                       \
  WEFT_FAULT(instructions, "model: more than 49152 instructions")

// An error in a model.
enum class model_fault : std::uint8_t {
  none,
#define WEFT_FAULT(fault, sentence) fault,
  WEFT_MODEL_FAULTS
#undef WEFT_FAULT
};

// Its sentence.
constexpr std::string_view sentence_of(model_fault which) {
#define WEFT_FAULT(fault, sentence) \
  if (which == model_fault::fault) return sentence;
  WEFT_MODEL_FAULTS
#undef WEFT_FAULT
  return "";
}

}  // namespace weft
#include "weft/header_end.hpp"
