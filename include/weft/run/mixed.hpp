// Weights of one module in several precisions, by the names of its parameters.
#pragma once
#include "weft/header_begin.hpp"

#include <string>
#include <vector>

#include "weft/lower/program.hpp"
#include "weft/weights/precision.hpp"
#include "weft/weights/stored.hpp"

namespace weft {

// The precision of the parameters that a pattern stands for: see weft::matches.
struct named_precision {
  std::string pattern;  // of their names
  precision as;         // what they are kept in
};

// What each weight is packed in, for module::freeze and for modules that are made from files:
//
//   net.freeze(weft::mixed_precision{weft::precision::q4_0,
//                                    {{"head.*", weft::precision::bfloat16}}});
//
// Of the patterns that a parameter's name matches, the first decides. What is no matrix of a
// product or table of a gather, norms and biases among it, stays float32 whatever its name.
// precision::stored is as the file has a parameter, float32 without a file. Such weights are saved,
// loaded, shared and exchanged as those of precision::stored are. A pattern that matches no
// parameter throws weft::error.
struct mixed_precision {
  precision most;                         // of the parameters that no pattern matches
  std::vector<named_precision> others{};  // in the order in which they are tried

  // The type of each of a program's parameters; `other`: as the source has it.
  std::vector<stored_type> types_of(const program& tables) const;
};

}  // namespace weft
#include "weft/header_end.hpp"
