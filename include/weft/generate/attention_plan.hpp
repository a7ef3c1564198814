// The plan of a small attention, and its limits.
#pragma once
#include "weft/header_begin.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "weft/generate/signature.hpp"
#include "weft/kernels/attention.hpp"

namespace weft::generate {

// The operands of a generated attention, and their indices. Statistics are not computed.
struct attention_operand {
  static constexpr int result = 0, query = 1, key = 2, value = 3, bias = 4, relative = 5,
                       lengths = 6, count = 7;
  static constexpr role is[count]{role::result, role::query,    role::key,    role::value,
                                  role::bias,   role::relative, role::lengths};

  // The slot of operand o.
  static constexpr int slot(int o) { return attention_slot(is[o]); }
  static constexpr bool has(role what) {
    return std::ranges::find(is, what) != std::end(is) || what == role::statistics;
  }
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
  bool with_bias = false, with_relative = false, with_lengths = false;
  std::ptrdiff_t bias_row = 0, bias_key = 0, relative_row = 0, relative_step = 0;
  std::int64_t distances = 0, origin = 0, length_more = 0;

  // The queries in a block.
  constexpr std::ptrdiff_t block() const { return std::min<std::ptrdiff_t>(queries, 32); }
  // Whether a bias is added to the scores.
  constexpr bool adds_to_scores() const { return with_bias || with_relative; }
};

// The scores of a query stay in registers during softmax.
inline constexpr std::ptrdiff_t max_keys = 32;
// The transposed queries of a block, their scores and their addends, on the stack: 16 KiB.
inline constexpr std::ptrdiff_t max_block_elements = 4096;

constexpr attention_plan plan_of_attention(const instruction& s, const lowered_attention& a,
                                           const operand_ref* operands) {
  attention_plan p;
  for (int o = 0; o < s.operands; ++o) {
    const operand_ref& r = operands[o];
    if (r.where == block::none ||
        attention_slots[static_cast<std::size_t>(o)].what == role::statistics)
      continue;
    if (!attention_operand::has(attention_slots[static_cast<std::size_t>(o)].what) ||
        r.where == block::numbers || r.type == dtype::bfloat16)
      return p;
  }
  for (int l = 0; l < s.loops; ++l)
    if (!s.extent[l].fixed() || s.extent[l].most == 0) return p;
  const kernels::attention_loops of(s.loops);
  const auto operand = [&](int o) -> const operand_ref& {
    return operands[attention_operand::slot(o)];
  };
  const auto has = [&](int o) { return operand(o).where != block::none; };
  using is = attention_operand;
  if (operand(is::lengths).stride[of.query] != 0 || s.scalar != 0) return p;
  const auto extent = [&](int l) { return static_cast<std::ptrdiff_t>(s.extent[l].most); };
  for (int l = 0; l < of.query; ++l) {
    loop batch{extent(l), {}};
    for (int o = 0; o < attention_operand::count; ++o) batch.stride[o] = operand(o).stride[l];
    p.batch.push(batch);
  }
  p.queries = extent(of.query);
  p.keys = extent(of.key);
  p.depth = extent(of.depth);
  p.width = extent(of.value);
  p.query_row = operand(is::query).stride[of.query];
  p.query_depth = operand(is::query).stride[of.depth];
  p.key_row = operand(is::key).stride[of.key];
  p.key_depth = operand(is::key).stride[of.depth];
  p.value_row = operand(is::value).stride[of.key];
  p.result_row = operand(is::result).stride[of.query];
  p.scale = s.scale;
  p.lowest = a.lowest;
  p.highest = a.highest;
  p.banded = a.lowest > 1 - p.queries || a.highest < p.keys - 1;
  p.with_bias = has(is::bias);
  p.bias_row = operand(is::bias).stride[of.query];
  p.bias_key = operand(is::bias).stride[of.key];
  p.with_relative = has(is::relative);
  p.relative_row = operand(is::relative).stride[of.query];
  p.relative_step = operand(is::relative).stride[of.key];
  p.distances = a.distances;
  p.origin = a.origin;
  p.with_lengths = has(is::lengths);
  p.length_more = a.length_more;
  const bool contiguous = (p.width == 1 || (operand(is::value).stride[of.value] == 1 &&
                                            operand(is::result).stride[of.value] == 1));
  p.supported = contiguous && p.keys <= max_keys &&
                (p.depth + (p.adds_to_scores() ? 2 : 1) * p.keys) * ((p.block() + 15) / 16 * 16) <=
                    max_block_elements;
  return p;
}

}  // namespace weft::generate
#include "weft/header_end.hpp"
