// The arguments of a kernel. One form serves every operation: a loop nest, and operands with a
// stride for each of its loops. Kernels never see a model, an axis or a name.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <cstdint>

#include "weft/graph/op_table.hpp"
#include "weft/weights/layout.hpp"

namespace weft::kernels {

inline constexpr int max_loops = 8;
inline constexpr int max_operands = 5;  // but of attention: the result and up to four inputs

struct operand {
  void* data = nullptr;  // address of the element with index 0 in every loop; aligned as its dtype
  dtype type = dtype::float32;
  // Packed weights: what they are stored in. They are where weights/layout.hpp has them, and the
  // strides only say which loops they have.
  stored_type packed = unpacked;
  bool in_rows = false;                // but of a packed table: its blocks are row by row
  std::ptrdiff_t stride[max_loops]{};  // in elements; 0 where the operand is broadcast

  static constexpr stored_type unpacked{UINT8_MAX};
  constexpr bool is_packed() const { return packed != unpacked; }
};

static_assert(max_fused_inputs == max_operands - 1);

// What all random numbers of a run are derived from: see philox.hpp.
struct random_state {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
};

// With random_state, which elements a dropout drops: see philox.hpp. No default member
// initializers, since zero-initialized tables of a type without them take less memory to compile.
struct dropout_params {
  std::uint32_t stream;     // distinguishes its mask from those of other dropouts
  std::uint32_t threshold;  // rate * 2^24; 0: nothing is dropped
};

// One operation of a fusion group. `from` lists values: value v is operand v + 1, or, from
// max_fused_inputs on, the result of the earlier operation v - max_fused_inputs.
struct fused_op {
  op kind;
  dtype type;  // of its result
  std::int8_t from[3];
  dropout_params drop;
};

// The partition of a call's work to do. Partitions of any count are disjoint and cover all of it;
// each element of a result is computed in the same way for every partitioning, so results are
// bitwise equal. A partition may be empty. Partitions run concurrently, each with its own scratch.
struct partition {
  static constexpr std::ptrdiff_t full = 1 << 16;

  int index = 0, count = 1;
  std::ptrdiff_t begin = 0, end = full;  // in units of 1 / full of the work

  constexpr partition() = default;
  // Partition i of n equal ones.
  constexpr partition(int i, int n) : partition(i, n, full * i / n, full * (i + 1) / n) {}
  constexpr partition(int i, int n, std::ptrdiff_t from, std::ptrdiff_t to)
      : index(i), count(n), begin(from), end(to) {}
};

// The items [begin, end) of `n` equal ones that belong to a partition.
struct item_range {
  std::ptrdiff_t begin, end;
};
constexpr item_range range_of(std::ptrdiff_t n, const partition& s) {
  if (s.count == 1) return {0, n};  // avoids the latency of a multiplication by a known factor
  const auto nearest = [n](std::ptrdiff_t at) {
    return (n * at + partition::full / 2) / partition::full;
  };
  return {nearest(s.begin), nearest(s.end)};
}

// The keys that a query may see by position: key j for query i if lowest <= j - (i + offset) <=
// highest. Causal attention has highest 0; a sliding window of r earlier keys has lowest -r.
struct band {
  std::ptrdiff_t lowest = PTRDIFF_MIN;
  std::ptrdiff_t highest = PTRDIFF_MAX;
  std::ptrdiff_t offset = 0;  // key position of the first query, such as a KV cache's length
};

// The attributes of attention and its adjoint: see attention.hpp.
struct attention_attributes {
  band visible;
  std::ptrdiff_t length_more = 0;  // added to the lengths
  std::ptrdiff_t distances = 0;    // in a row of `relative`; at least 1 if it is present
  std::ptrdiff_t origin = 0;       // index in such a row of a key at the query's position
  dropout_params drop{};           // dropout of the weights
};

// operands[0] is the result. It overlaps no input, except that it may be in place: the same
// elements (same data, same strides) as an input for which reads_before_writing
// (graph/op_table.hpp) allows it. Extents may be 0 and 1. Loops come in any order; the last one is
// the innermost in the declared order of axes, but its stride need not be 1.
struct call {
  op kind{};
  int loops = 0;
  std::ptrdiff_t extent[max_loops]{};
  unsigned over = 0;  // bit i: the operation runs along loop i (reductions and rowwise operations)
  // One for each that the kernel may have: max_operands, of attention one for each slot. One with
  // null data is absent.
  const operand* operands = nullptr;
  double scalar = 0;               // normalizations: epsilon; attention: the soft cap, or 0
  double scale = 1;                // dot, attention: multiplies the sum of products; softmax: x
  op epilogue = op::copy;          // dot: a unary function applied to the result
  std::ptrdiff_t axis_extent = 0;  // gather, scatter_add: length of the indexed axis
  std::ptrdiff_t axis_stride = 0;  // and its stride in the table; for rotate and
                                   // normalize_adjoint see kernels.hpp
  const fused_op* fused_ops =
      nullptr;          // elementwise: a fusion group instead of `kind`; the result of
  int fused_count = 0;  // the last one is the call's. 0: the single operation `kind`
  attention_attributes attention;
  random_state random;           // seed and step of dropouts
  std::byte* scratch = nullptr;  // at least scratch_bytes(call) bytes, aligned to 64
  partition part;
};

// A call with its operands, which it copies.
template <std::size_t Count = max_operands>
struct owning_call : call {
  operand operands[Count];

  constexpr owning_call() { call::operands = operands; }
  constexpr owning_call(const call& c, const operand* own) : call(c) { take(own); }
  constexpr owning_call(const owning_call& c) : owning_call(c, c.operands) {}
  constexpr owning_call& operator=(const owning_call& c) {
    call::operator=(c);
    take(c.operands);
    return *this;
  }
  ~owning_call() = default;

 private:
  constexpr void take(const operand* own) {
    for (std::size_t i = 0; i < Count; ++i) operands[i] = own[i];
    call::operands = operands;
  }
};

}  // namespace weft::kernels
#include "weft/header_end.hpp"
