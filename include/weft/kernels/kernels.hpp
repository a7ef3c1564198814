// The kernels and their contracts. They are compiled in lib/ once per SIMD target.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "weft/kernels/attention.hpp"
#include "weft/kernels/call.hpp"
#include "weft/kernels/kernel.hpp"
#include "weft/kernels/update.hpp"

namespace weft::kernels {

// Contracts of the kernels that take a call. Below, r is the result, i... an index of the loops.
//
// elementwise: r[i...] = f(inputs[i...]). A stride of 0 broadcasts. With fused_ops, r is the result
// of the last one, and has its dtype. dropout occurs in fusion groups only; an int32 input with
// null data stands for the element ids, sums of index * stride.
//
// reduce: sum or max, over the loops in `over`, whose stride in the result is 0. An empty sum is 0,
// an empty max -infinity. With a second input, of float32, sum is the sum of products.
//
// rowwise: each row, the loops in `over`, independently. A softmax row whose maximum is -infinity
// is 0 everywhere, such a log_softmax row -infinity. Inputs, where those in parentheses are
// optional (null data):
//   softmax              x, (mask): of x * scale, of -infinity where the mask is false
//   (rms_)normalize      x, (gain, (bias)), (addend): of x + addend, times the gain, plus the
//                        bias
//   their adjoints       x, g, (gain), (addend): of g * gain; the addend is added
//   log_softmax_adjoint  y, g, (indices): with indices, each row has one index and one element
//                        of g, the gradient at that index; the other gradients are 0. An index
//                        outside of the row is ignored
// If the adjoint of a normalization has an axis_extent, that is the number of blocks of
// rows_per_partial consecutive rows (graph/attributes.hpp). Each block then stores a row of
// partial sums of g * normalize(x) over its rows, the first one axis_stride elements after the
// result's first element; these are followed by a row of partial sums of g for each block. A
// block without rows stores zeros.
//
// dot: r[i...] = epilogue(scale * s + a[i...] + b[i...]), with s the sum of lhs * rhs over the
// loops in which the result has stride 0. Every loop has a nonzero stride in at least two of
// result, lhs and rhs, or extent 1. a and b are operands 3 and 4, broadcast by stride;
// optional (null data). `epilogue` is copy, relu, gelu, gelu_tanh, tanh or sigmoid. The operand
// that gives the columns may be packed.
//
// gather: r[i...] = table[i... + axis_stride * indices[i...]]; 0 for an index outside
// [0, axis_extent). A packed table of float32 is what a contraction has packed as its columns, or
// blocks in rows: of its two axes, one is indexed, and the other one is a loop.
//
// scatter_add: zeroes r over its loops and the indexed axis, then r[i... + axis_stride *
// indices[i...]] += g[i...] in the order of the loops; indices outside [0, axis_extent) are
// ignored.
//
// update_rows: r[i... + axis_stride * at[i...]] = rows[i...], where loop p is the one in `over`, in
// which r has stride axis_stride, and with count[i...], operand 3, where p < count[i...]. Rows
// that would lie outside of [0, axis_extent) are left out; where the scalar is not 0, those beyond
// the end wrap around, by that many elements. `at` and `count`, int32, have stride 0 in loop p.
//
// rotate: along the loop in `over`, x and r have pairs (a, b): a is at r[i...], and b axis_stride
// elements after it. Consecutive pairs have stride 1 (half-split), or 2 if axis_stride is 1
// (interleaved). a becomes a cosine[i...] - b sine[i...], b becomes b cosine[i...] + a
// sine[i...]. Of the axis_extent elements of a row, those after the pairs are copied.
//
// rotate_adjoint: from such pairs of x and of g, the gradient for the cosine, r[i...] = ga a + gb
// b, where the scalar is 0, and for the sine, gb a - ga b, where it is 1.
//
// positions: int32 i along the one loop.
//
// zero: zero bits over the loops.
//
// attention: its result and, if not absent, its statistics, as attention.hpp defines them. A query
// that sees no key has zeros. Partitions divide its batch and blocks of queries. With u = 2^-23, d
// the depth, k the keys, and S the largest of sum |scale * query * key| + |bias| over the keys that
// a query sees, its results are off by at most ((d + 13) S + 7 k / 128 + 141) u of sum |weights *
// value|.
//
// attention_adjoint: the gradients for query, key and value, and those that are not absent, from g
// and the forward kernel's result and statistics. Partitions divide the batch loops that all
// gradients have.
using kernel_function = void (*)(const call&) noexcept;

// For each kernel, such as dot_kernel(): its function for the best SIMD target that this machine
// runs. A program links those that it refers to.
using kernel_entry = kernel_function (*)() noexcept;
#define WEFT_KERNEL(name) kernel_function name##_kernel() noexcept;
WEFT_KERNELS(WEFT_KERNEL)
#undef WEFT_KERNEL
// A program without an operation that is rare, or of another type than float32, links less: see
// is_frequent.
kernel_function frequent_dot_kernel() noexcept;  // of no blocks: see dot_of_packed
kernel_function frequent_elementwise_kernel() noexcept;
kernel_function frequent_reduce_kernel() noexcept;
kernel_function frequent_rowwise_kernel() noexcept;

// Packs the rhs of a dot (rhs_operand, if can_be_packed) for later calls with the same loops along
// that operand, on this target: packed_bytes bytes, aligned to 64, stored as one of the types of
// layout.stored. No other operand is read.
using pack_function = void (*)(const call&, stored_type as, std::byte* packed) noexcept;
pack_function pack_dot_kernel() noexcept;
// What pack_dot does as a type of blocks that share scales, on any target, from an rhs of float32,
// or, if has_blocks_along_depth, from one that is rows of such blocks.
void pack_blocks(const detail::packed_layout& layout, const call& dot, stored_type from,
                 stored_type as, std::byte* packed) noexcept;
// Whether the rhs is contiguous along the depth and made of aligned blocks of `block` elements: no
// column begins or ends within one.
bool has_blocks_along_depth(const call& dot, std::size_t block) noexcept;
// Interleaves the bytes of `count` lines of `size` bytes: those that are first, then the second
// ones of each line, and so on.
using interleave_function = void (*)(const std::uint8_t* const* lines, std::size_t count,
                                     std::size_t size, std::uint8_t* to) noexcept;
interleave_function interleave_kernel() noexcept;
// How pack_dot interleaves columns.
detail::packed_layout layout_of_packed() noexcept;
// A gather from a packed table: what the gather kernel does with one.
void gather_packed(const call&) noexcept;

// The updates of optimizers (update.hpp), and a sum of squares in double.
using sgd_function = void (*)(const sgd_step&) noexcept;
using adamw_function = void (*)(const adamw_step&) noexcept;
using sum_function = double (*)(const float* x, std::size_t n) noexcept;
sgd_function sgd_kernel() noexcept;
adamw_function adamw_kernel() noexcept;
sum_function sum_of_squares_kernel() noexcept;

// All of them, for one SIMD target.
struct table {
#define WEFT_KERNEL(name) kernel_function name;
  WEFT_KERNELS(WEFT_KERNEL)
#undef WEFT_KERNEL

  // The kernel of an instruction; null if it takes no call.
  kernel_function of(kernel k) const {
    switch (k) {
#define WEFT_KERNEL(name) \
  case kernel::name:      \
    return name;
      WEFT_KERNELS(WEFT_KERNEL)
#undef WEFT_KERNEL
      case kernel::length:
        break;
    }
    return nullptr;
  }

  pack_function pack_dot;
  detail::packed_layout layout;
  sgd_function sgd;
  adamw_function adamw;
  sum_function sum_of_squares;
};

// The opposite of pack_dot, on any target: into[i] becomes the element of the rhs, which is packed,
// with the offset first + i in the unpacked operand, in elements, where the rhs has one; other
// elements of `into` stay. Allocates.
void unpack_dot(const detail::packed_layout& layout, const call& dot, std::ptrdiff_t first,
                std::span<float> into);

// What the bytes that pack_dot writes depend on, beside the layout and the elements: if these
// numbers are equal for two contractions, they read the same packed rhs.
std::vector<std::int64_t> packing_of(const call& dot);

// Those for the best target that this machine runs.
table dispatch() noexcept;

}  // namespace weft::kernels
#include "weft/header_end.hpp"
