// Contractions written as in einsum, and their check against a plain loop nest.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "weft/kernels/call.hpp"

namespace weft::kernels::products {

using extents = std::map<char, std::ptrdiff_t>;

// A contraction: an axis is a letter, an operand lists its axes from the outermost to the innermost
// in memory.
struct product {
  std::string result, left, right;
  extents length;
  std::ptrdiff_t padding = 0;  // added to each extent in the strides of all operands
};

// What is done to the sums of products.
struct epilogue {
  std::vector<std::string> addends{};
  double scale = 1;
  weft::op then = weft::op::copy;
};

owning_call<> call_of(const product& p, const epilogue& e = {});

// Checks the kernel of every target that this machine runs, with each epilogue: whole, in
// partitions, and with a packed operand of each precision.
void check(const product& p, const std::vector<epilogue>& all = {{}});
// The same without gaps in memory, and with gaps.
void check_paddings(product p, const std::vector<epilogue>& all = {{}});

}  // namespace weft::kernels::products
