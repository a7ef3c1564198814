// Reading what a contraction has packed as its rhs, in the layout of any target.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "kernels/dot_loops.hpp"
#include "kernels/loop_nest.hpp"
#include "weft/kernels/kernels.hpp"
#include "weft/weights/formats.hpp"

namespace weft::kernels {

void gather_packed(const call& c) noexcept {
  // The loop along the table's rows; the others find the rows.
  int along = 0;
  while (c.operands[1].stride[along] == 0) ++along;
  const loop_nest rows = coalesce(c, 3, ~(1u << along));
  const auto lines = static_cast<std::size_t>(c.axis_extent);
  const detail::packed_matrix from{c.operands[1].packed, layout_of_packed(), lines, lines,
                                   static_cast<std::size_t>(c.extent[along])};
  const auto* const data = static_cast<const std::byte*>(c.operands[1].data);
  auto* const result = static_cast<float*>(c.operands[0].data);
  const auto* const indices = static_cast<const std::int32_t*>(c.operands[2].data);
  const std::ptrdiff_t step = c.operands[0].stride[along];
  const auto [begin, end] = range_of(rows.points(), c.part);
  for (std::ptrdiff_t i = begin; i < end; ++i) {
    const operand_offsets at = offsets_at(rows, i);
    float* const to = result + at.in[0];
    const auto line = static_cast<std::size_t>(indices[at.in[2]]);  // a negative one is beyond too
    if (line < lines && c.operands[1].in_rows)
      detail::decode(from.type, data, line * from.depth, from.depth, to, step);
    else if (line < lines)
      detail::copy_line(from, data, from.tile_of(line), line, to, step);
    else
      for (std::ptrdiff_t k = 0; k < c.extent[along]; ++k) to[k * step] = 0;
  }
}

void unpack_dot(const detail::packed_layout& layout, const call& dot, std::ptrdiff_t first,
                std::span<float> into) {
  // Its loops are those with which it was packed.
  owning_call<> unpacked(dot, dot.operands);
  operand& rhs = unpacked.operands[rhs_operand(dot)];
  const stored_type as = std::exchange(rhs.packed, operand::unpacked);
  const contraction x(unpacked);
  const detail::packed_matrix from{as, layout, static_cast<std::size_t>(x.columns.points()),
                                   run_of(x.columns), static_cast<std::size_t>(x.depth.points())};
  if (from.depth == 0 || from.lines == 0) return;
  std::vector<std::ptrdiff_t> offsets(from.depth);
  fill_table(x.depth, of_rhs, {0, from.depth}, offsets.data());
  const auto [least, most] = std::ranges::minmax(offsets);
  std::vector<float> elements(from.depth);
  for (auto t = from.tile_from(0);; t = from.tile_from(t.end())) {
    for (std::size_t c = t.first; c < t.end(); ++c) {
      const std::ptrdiff_t origin =
          offsets_at(x.columns, static_cast<std::ptrdiff_t>(c)).in[of_rhs] - first;
      if (origin + most < 0 || origin + least >= std::ssize(into)) continue;
      detail::copy_line(from, reinterpret_cast<const std::byte*>(x.rhs), t, c, elements.data(), 1);
      for (std::size_t k = 0; k < from.depth; ++k)
        if (const std::ptrdiff_t i = origin + offsets[k]; i >= 0 && i < std::ssize(into))
          into[static_cast<std::size_t>(i)] = elements[k];
    }
    if (t.end() >= from.lines) return;
  }
}

namespace {

// Interleaves a block of each line of a tile, in the parts of for_parts.
void interleave(const std::uint8_t* const (&blocks)[max_tile_columns],
                const detail::packed_matrix& of, std::size_t width, std::byte* to) {
  const std::size_t size = of.bytes_of_block();
  if (detail::entry_of(of.type).group_quads == 0)
    return interleave_kernel()(blocks, width, size, reinterpret_cast<std::uint8_t*>(to));
  for (std::size_t i = 0, part; i < size; i += part) {
    part = of.bytes_of_part(i);
    for (std::size_t j = 0; j < width; ++j, to += part) {
      const std::uint8_t* const from = blocks[j] + i;
      part == 4 ? std::memcpy(to, from, 4) : std::memcpy(to, from, part);
    }
  }
}

}  // namespace

void pack_blocks(const detail::packed_layout& layout, const call& dot, stored_type from,
                 stored_type as, std::byte* packed) noexcept {
  const detail::stored_info& format = detail::entry_of(as);
  const std::size_t block = format.block, size = format.bits / 8;
  const contraction x(dot);
  const auto depth = static_cast<std::size_t>(x.depth.points());
  const detail::packed_matrix to{as, layout, static_cast<std::size_t>(x.columns.points()),
                                 run_of(x.columns), depth};
  const auto* const blocks = reinterpret_cast<const std::uint8_t*>(x.rhs);
  std::vector<std::uint8_t> encoded(from == as ? 0 : max_tile_columns * size);
  const std::uint8_t zeros[detail::max_block]{};  // a tile has room for full vectors
  for (std::size_t first = 0; first < to.lines;) {
    const auto t = to.tile_from(first);
    first = t.end();
    std::ptrdiff_t line[max_tile_columns], element[detail::max_block];
    fill_table(x.columns, of_rhs, {t.first, t.count}, line);
    const std::uint8_t* of_line[max_tile_columns];
    std::ranges::fill(of_line, zeros);
    for (std::size_t k = 0; k < depth; k += block) {
      const std::size_t count = from == as ? 1 : std::min(block, depth - k);
      fill_table(x.depth, of_rhs, {k, count}, element);
      for (std::size_t j = 0; j < t.count; ++j) {
        if (from == as) {
          of_line[j] = blocks + static_cast<std::size_t>(line[j] + element[0]) / block * size;
          continue;
        }
        float values[detail::max_block]{};
        for (std::size_t i = 0; i < count; ++i) values[i] = x.rhs[line[j] + element[i]];
        std::uint8_t* const bytes = encoded.data() + j * size;
        detail::encode(values, block, as, reinterpret_cast<std::byte*>(bytes));
        of_line[j] = bytes;
      }
      interleave(of_line, to, t.vectors * layout.lanes, packed + to.offset(t, t.first, k / block));
    }
  }
}

bool has_blocks_along_depth(const call& dot, std::size_t block) noexcept {
  const auto size = static_cast<std::ptrdiff_t>(block);
  const contraction x(dot);
  bool has =
      is_single(x.depth) && x.depth.inner_stride(of_rhs) == 1 && x.depth.points() % size == 0;
  for (int l = 0; l < x.columns.loops; ++l) has = has && x.columns.stride[of_rhs][l] % size == 0;
  return has;
}

std::vector<std::int64_t> packing_of(const call& dot) {
  const contraction x(dot);
  std::vector<std::int64_t> numbers;
  for (const loop_nest* loops : {&x.columns, &x.depth})
    for (int l = 0; l < loops->loops; ++l) {
      numbers.push_back(loops->extent[l]);
      numbers.push_back(loops->stride[of_rhs][l]);
    }
  numbers.push_back(x.columns.loops);
  return numbers;
}

}  // namespace weft::kernels
