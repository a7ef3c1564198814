// The plan of a small attention, and its limits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "weft/generate/loop_nest.hpp"
#include "weft/generate/signature.hpp"
#include "weft/kernels/attention.hpp"

namespace weft::generate {

// The indices of a generated attention's operands.
struct attention_operand {
  static constexpr int result = 0, query = 1, key = 2, value = 3, bias = 4, relative = 5,
                       lengths = 6, count = 7;
};
static_assert(attention_operand::count <= max_nest_operands);

struct attention_plan {
  bool supported = false;
  std::ptrdiff_t queries = 1, keys = 1, depth = 1, width = 1;
  // Strides: that of the operand named first along the loop named second; rows are queries or keys.
  std::ptrdiff_t query_row = 0, query_depth = 0, key_row = 0, key_depth = 0;
  std::ptrdiff_t value_row = 0, result_row = 0;
  loop_nest batch{};  // strides of the operands in the order of attention_operand
  structural_double scale = 1;
  std::int64_t lowest = 0, highest = 0;
  bool banded = false;
  bool has_bias = false, has_relative = false, has_lengths = false;
  std::ptrdiff_t bias_row = 0, bias_key = 0, relative_row = 0, relative_step = 0;
  std::int64_t distances = 0, origin = 0, length_more = 0;

  // The queries in a block.
  constexpr std::ptrdiff_t block() const { return std::min<std::ptrdiff_t>(queries, 32); }
  // Whether a bias is added to the scores.
  constexpr bool has_any_bias() const { return has_bias || has_relative; }
};

// The scores of a query stay in registers during softmax.
inline constexpr std::ptrdiff_t max_keys = 32;
// The packed queries of a block, their scores and their addends, on the stack: 16 KiB.
inline constexpr std::ptrdiff_t max_block_elements = 4096;

constexpr attention_plan plan_of_attention(const instruction& s, const attention_ref& a) {
  attention_plan p;
  const operand_ref* const operands[attention_operand::count]{
      &a.result,
      &a.query,
      &a.key,
      &a.value,
      a.has_bias ? &a.bias : nullptr,
      a.has_relative ? &a.relative : nullptr,
      a.has_lengths ? &a.lengths : nullptr};
  for (const operand_ref* o : operands)
    if (o && (o->shift_count > 0 || o->where == block::numbers || o->type == dtype::bfloat16))
      return p;
  for (int l = 0; l < s.loops; ++l)
    if (!s.extent[l].fixed() || s.extent[l].most == 0) return p;
  const kernels::attention_loops of(s.loops);
  const bool limited = a.has_begins || (a.has_lengths && a.lengths.stride[of.query] != 0);
  if (a.has_mask || a.has_offset || a.has_sink || limited || s.scalar != 0 || a.drop.threshold != 0)
    return p;
  const auto extent = [&](int l) { return static_cast<std::ptrdiff_t>(s.extent[l].most); };
  for (int l = 0; l < of.query; ++l) {
    loop batch{extent(l), {}};
    for (int o = 0; o < attention_operand::count; ++o)
      batch.stride[o] = operands[o] ? operands[o]->stride[l] : 0;
    p.batch.push(batch);
  }
  p.queries = extent(of.query);
  p.keys = extent(of.key);
  p.depth = extent(of.depth);
  p.width = extent(of.value);
  p.query_row = a.query.stride[of.query];
  p.query_depth = a.query.stride[of.depth];
  p.key_row = a.key.stride[of.key];
  p.key_depth = a.key.stride[of.depth];
  p.value_row = a.value.stride[of.key];
  p.result_row = a.result.stride[of.query];
  p.scale = s.scale;
  p.lowest = a.lowest;
  p.highest = a.highest;
  p.banded = a.lowest > 1 - p.queries || a.highest < p.keys - 1;
  p.has_bias = a.has_bias;
  p.bias_row = a.has_bias ? a.bias.stride[of.query] : 0;
  p.bias_key = a.has_bias ? a.bias.stride[of.key] : 0;
  p.has_relative = a.has_relative;
  p.relative_row = a.has_relative ? a.relative.stride[of.query] : 0;
  p.relative_step = a.has_relative ? a.relative.stride[of.key] : 0;
  p.distances = a.distances;
  p.origin = a.origin;
  p.has_lengths = a.has_lengths;
  p.length_more = a.length_more;
  const bool contiguous =
      (p.width == 1 || (a.value.stride[of.value] == 1 && a.result.stride[of.value] == 1));
  p.supported = contiguous && p.keys <= max_keys &&
                (p.depth + (p.has_any_bias() ? 2 : 1) * p.keys) * ((p.block() + 15) / 16 * 16) <=
                    max_block_elements;
  return p;
}

}  // namespace weft::generate
