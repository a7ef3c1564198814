// How parameters are read: the packed copies that contractions have of them, and what else reads
// their values.
#pragma once
#include "weft/header_begin.hpp"

#include <utility>

#include "weft/kernels/dot_blocking.hpp"
#include "weft/lower/call.hpp"
#include "weft/lower/lowering.hpp"

namespace weft::detail {

// Whether an operand is a whole parameter [rows, columns], and its loops are, but for those that it
// does not have, one along the rows and one along the columns. Returns their numbers, or -1.
struct loops_of_matrix {
  int rows = -1, columns = -1;
};
constexpr loops_of_matrix loops_of(const instruction& s, const operand_ref& r,
                                   const parameter_ref& p) {
  loops_of_matrix found;
  if (p.rank != 2 || p.extent[0] < 2 || p.extent[1] < 2 || r.offset != 0 || r.shift_count > 0)
    return found;
  const auto is = [&](int l, std::size_t stride, std::size_t extent) {
    return r.stride[l] == static_cast<std::ptrdiff_t>(stride) && s.extent[l].fixed() &&
           s.extent[l].most == extent;
  };
  for (int l = 0; l < s.loops; ++l) {
    if (r.stride[l] == 0) continue;
    if (found.rows < 0 && is(l, p.extent[1], p.extent[0]))
      found.rows = l;
    else if (found.columns < 0 && is(l, 1, p.extent[1]))
      found.columns = l;
    else
      return {};
  }
  return found;
}

// Whether a contraction packs the parameter, its operand `rhs`, with its rows as columns.
constexpr bool packs_rows(const instruction& s, const operand_ref& result, const operand_ref& rhs,
                          const parameter_ref& p) {
  const loops_of_matrix l = loops_of(s, rhs, p);
  return l.rows >= 0 && l.columns >= 0 && result.stride[l.rows] != 0 &&
         result.stride[l.columns] == 0;
}

// Whether a gather reads rows of the whole parameter.
constexpr bool gathers_rows(const instruction& s, const operand_ref& table,
                            const parameter_ref& p) {
  const loops_of_matrix l = loops_of(s, table, p);
  return l.rows < 0 && l.columns >= 0 && s.axis.fixed() && s.axis.most == p.extent[0] &&
         s.axis_stride == static_cast<std::ptrdiff_t>(p.extent[1]);
}

// Whether a contraction's right-hand operand (k x n) can be packed before all runs: it is a
// parameter whose extents are all fixed.
constexpr bool packs_parameter(const instruction& s, const operand_ref& columns,
                               const kernels::call& c) {
  bool pack =
      columns.where == block::parameters && columns.shift_count == 0 && kernels::can_be_packed(c);
  for (int l = 0; l < s.loops; ++l) pack = pack && (columns.stride[l] == 0 || s.extent[l].fixed());
  return pack;
}

// Assigns packed copies to the parameters of contractions, and to tables that only gathers read, in
// the parameters' order, so that two programs with the same parameters, such as a prefill and a
// step, can share what one of them has packed. Finds which parameters are read otherwise, too.
constexpr void assign_packed_parameters(lowering& ctx) {
  parameter_ref* const all = ctx.d.parameters;
  // The size of each parameter's copies, then the offset of one.
  packed_extent next[max_parameters]{};
  for (int p = 0; p < ctx.d.count.parameters; ++p) all[p].rows_packed_by = -1;
  for (int i = 0; i < ctx.d.count.instructions; ++i) {
    instruction& s = ctx.d.instructions[i];
    if (s.run != kernel::dot) continue;
    const auto c = call_at_bounds(ctx.d, s);
    s.rhs = static_cast<std::int8_t>(kernels::rhs_operand(c));
    const operand_ref& columns = rhs_of(ctx.d, s);
    if (!packs_parameter(s, columns, c)) continue;
    packed_extent size = kernels::packed_extent_of(c);
    // Half of every offset, which bfloat16 uses, is aligned too; so are 32 blocks of any even size.
    size.floats = kernels::round_up(size.floats, 2 * alignment);
    size.blocks = kernels::round_up(size.blocks, alignment / 2);
    s.packed = next[columns.leaf];
    next[columns.leaf] += size;
    parameter_ref& p = all[columns.leaf];
    if (p.rows_packed_by < 0 && packs_rows(s, *operands_of(ctx.d, s), columns, p))
      p.rows_packed_by = i;
  }
  for (int i = 0; i < ctx.d.count.instructions; ++i) {
    const instruction& s = ctx.d.instructions[i];
    for (int o = 0; o < s.operands; ++o) {
      const operand_ref& r = operands_of(ctx.d, s)[o];
      if (r.where != block::parameters || (s.packs() && o == s.rhs)) continue;
      parameter_ref& p = all[r.leaf];
      const bool gathers = s.run == kernel::gather && o == 1 && gathers_rows(s, r, p);
      // A contraction may pack it in another way.
      if (gathers && p.rows_packed_by < 0 && next[r.leaf].floats == 0) p.rows_packed_by = i;
      if (!gathers || p.rows_packed_by < 0) p.read_as_floats = true;
    }
  }
  for (int i = 0; i < ctx.d.count.parameters; ++i) {
    const std::size_t n = kernels::round_up(all[i].size, 16 * alignment);  // aligned in any type
    if (is_table(ctx.d, all[i])) next[i] = {4 * n, all[i].extent[1] % 32 == 0 ? n / 32 : 0, 4 * n};
    ctx.d.packed += std::exchange(next[i], ctx.d.packed);
  }
  for (int i = 0; i < ctx.d.count.instructions; ++i) {
    instruction& s = ctx.d.instructions[i];
    if (s.packs()) s.packed += next[rhs_of(ctx.d, s).leaf];
    if (s.run != kernel::gather) continue;
    const operand_ref& table = operands_of(ctx.d, s)[s.rhs = 1];
    if (table.where == block::parameters && is_table(ctx.d, all[table.leaf]))
      s.packed = next[table.leaf];
  }
}

}  // namespace weft::detail
#include "weft/header_end.hpp"
