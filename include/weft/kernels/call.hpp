// What a kernel is called with. One form serves every operation: a loop nest, and operands with a
// stride for each of its loops. Kernels never see a model, an axis or a name.
#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/graph/op.hpp"
#include "weft/precision.hpp"

namespace weft::kernels {

inline constexpr int max_loops = 8;
inline constexpr int max_operands = 5;  // the result and up to four inputs

struct operand {
  void* data = nullptr;  // of the element with index 0 in every loop; any alignment of its element
  dtype type = dtype::float32;
  std::ptrdiff_t stride[max_loops]{};  // in elements; 0 where the operand does not have the axis
};

inline constexpr int max_fused_ops = 8;  // elementwise operations of one call
inline constexpr int max_fused_inputs = max_operands - 1;

// What random numbers follow from, beside who draws them: see philox.hpp.
struct random_state {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
};

// Which elements a dropout drops, beside those: see there too. It has no initializers, since tables
// that are zeros without them take clang far less memory.
struct dropping {
  std::uint32_t salt;   // tells its mask from others'
  std::uint32_t below;  // the rate times 2^24; 0: none are dropped
};

// One operation of a chain. Value v is operand v + 1, or from max_fused_inputs on the result of
// link v - max_fused_inputs, an earlier one.
struct fused_op {
  op kind;
  dtype type;  // of its result
  std::int8_t from[3];
  dropping drop;
};

// Which part of a call's work to do. The parts of any count are disjoint and together all of it;
// each element of a result is computed in the same way however it is cut, so the bits are the same.
// A part may be empty. Parts run at the same time, each with scratch of its own.
struct share {
  static constexpr std::ptrdiff_t whole = 1 << 16;

  int index = 0, count = 1;
  std::ptrdiff_t begin = 0, end = whole;  // of the whole

  constexpr share() = default;
  // One of `n` that are equal.
  constexpr share(int i, int n) : share(i, n, whole * i / n, whole * (i + 1) / n) {}
  constexpr share(int i, int n, std::ptrdiff_t from, std::ptrdiff_t to)
      : index(i), count(n), begin(from), end(to) {}
};

// The part of `n` equal items that a share does: [begin, end).
struct item_range {
  std::ptrdiff_t begin, end;
};
constexpr item_range items_of(std::ptrdiff_t n, const share& s) {
  if (s.count == 1) return {0, n};  // no call should wait for a product that is known
  const auto nearest = [n](std::ptrdiff_t at) {
    return (n * at + share::whole / 2) / share::whole;
  };
  return {nearest(s.begin), nearest(s.end)};
}

// operands[0] is the result; it overlaps no input, unless it is the very same elements (same data,
// same strides) of an input that reads_before_writing (graph/op.hpp) says it may share with.
// Extents may be 0 and 1. Loops come in any order; the last one is the innermost in the declared
// order of axes, but its stride need not be 1.
struct call {
  op kind{};
  int loops = 0;
  std::ptrdiff_t extent[max_loops]{};
  unsigned over = 0;  // bit i: the operation runs along loop i (reductions and rowwise operations)
  operand operands[max_operands];
  double scalar = 0;                  // normalisations: epsilon
  double scale = 1;                   // dot: multiplies the sum of products; softmax: x
  op epilogue = op::copy;             // dot: what is done last, a function of one operand
  const std::byte* packed = nullptr;  // dot: the columns' operand as pack_dot leaves it, if it did
  precision packed_as = precision::float32;
  std::ptrdiff_t axis_extent = 0;   // gather, scatter_add: length of the indexed axis
  std::ptrdiff_t axis_stride = 0;   // and its stride in the table; for rotations and
                                    // normalize_adjoint see there
  const fused_op* links = nullptr;  // elementwise: in the place of `kind`, a chain; the last one's
  int fused_count = 0;              // result is the call's. None where there is one operation
  random_state random;              // elementwise: what dropouts draw from
  std::byte* scratch = nullptr;     // at least scratch_bytes(call) bytes, aligned to 64
  share part;
};

}  // namespace weft::kernels
