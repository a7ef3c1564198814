// How a wrong use of an operation is refused: an overload that is chosen for the wrong use alone,
// so that the error stands at the user's line, says the operation, its axes and the rule in one
// line, and a requires-expression sees that the use is wrong.
#pragma once
// g++ leaves out the note on the macro where that is a system header's.
#pragma GCC system_header

#include "weft/axes/text.hpp"

// The compilers differ in what they print of a function that must not be called: g++ prints the
// type of a deleted one, clang a sentence that is an attribute's, and the operands' types in the
// note. Both then take the call for an expression without a type, and are silent about what is done
// with it. A template cannot carry an attribute's string, hence a macro. weft::rejected is in
// tensor.hpp for clang.
#if defined(__clang__)
#define WEFT_REJECT(sentence, ...)                                                               \
  __attribute__((diagnose_if(true, sentence, "error"))) constexpr ::weft::rejected __VA_ARGS__ { \
    return {};                                                                                   \
  }
#else
namespace weft {
template <text Sentence>
struct rejected {};
}  // namespace weft
#define WEFT_REJECT(sentence, ...) constexpr ::weft::rejected<sentence> __VA_ARGS__ = delete;
#endif
