// Reading what a contraction has packed as its rhs, in the layout of any target.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/dot_loops.hpp"
#include "weft/kernels/kernels.hpp"

namespace weft::kernels {

namespace {

// A packed rhs: a tile of columns after the other, each over the full depth.
class packed_columns {
 public:
  packed_columns(const packed_layout& layout, const call& dot, const std::byte* data, precision as)
      : x_(dot), layout_(layout), data_(data), as_(as) {}

  const contraction& loops() const { return x_; }
  std::ptrdiff_t depth() const { return x_.depth.points(); }
  std::ptrdiff_t columns() const { return x_.columns.points(); }

  struct tile {
    std::ptrdiff_t first, count, width;
    std::ptrdiff_t end() const { return first + count; }
  };
  // The tile that begins at a column.
  tile tile_at(std::ptrdiff_t first) const {
    const tile_extent t =
        extent_of_tile(x_.columns, static_cast<std::size_t>(first),
                       static_cast<std::size_t>(columns()), layout_.lanes, layout_.vectors);
    return {first, static_cast<std::ptrdiff_t>(t.count),
            static_cast<std::ptrdiff_t>(t.vectors * layout_.lanes)};
  }
  // The tile that has a column. In one loop, tiles end at multiples of the widest one, but for the
  // last columns.
  tile tile_of(std::ptrdiff_t column) const {
    const std::ptrdiff_t widest = layout_.vectors * layout_.lanes;
    const bool skips = is_single(x_.columns) && column >= widest;
    tile t = tile_at(skips ? (column / widest - 1) * widest : 0);
    while (t.end() <= column) t = tile_at(t.end());
    return t;
  }

  // Copies the elements of a column of a tile, converted to float.
  void copy(const tile& of, std::ptrdiff_t column, float* to, std::ptrdiff_t to_step) const {
    const std::ptrdiff_t first = of.first, width = of.width, lane = column - first;
    if (as_ == precision::float32) {
      const float* at = reinterpret_cast<const float*>(data_) + first * depth() + lane;
      for (std::ptrdiff_t k = 0; k < depth(); ++k) to[k * to_step] = at[k * width];
      return;
    }
    const auto* const bits = reinterpret_cast<const std::uint16_t*>(data_);
    const auto widened = [](std::uint16_t half) {
      return std::bit_cast<float>(std::uint32_t{half} << 16);
    };
    if (as_ == precision::bfloat16_products && layout_.pairs) {
      const std::ptrdiff_t pairs = (depth() + 1) / 2;
      const std::uint16_t* const at = bits + 2 * (first * pairs + lane);
      for (std::ptrdiff_t k = 0; k < depth(); ++k)
        to[k * to_step] = widened(at[k / 2 * width * 2 + k % 2]);
      return;
    }
    const std::uint16_t* const at = bits + first * depth() + lane;
    for (std::ptrdiff_t k = 0; k < depth(); ++k) to[k * to_step] = widened(at[k * width]);
  }

 private:
  contraction x_;
  packed_layout layout_;
  const std::byte* data_;
  precision as_;
};

}  // namespace

void gather_packed(const packed_layout& layout, const call& c, const call& dot) noexcept {
  const packed_columns from(layout, dot, c.packed, c.packed_as);
  // The loop along the table's rows; the others find the rows.
  int along = 0;
  std::ptrdiff_t count = 1;
  for (int l = 0; l < c.loops; ++l) {
    if (c.operands[1].stride[l] != 0)
      along = l;
    else
      count *= c.extent[l];
  }
  auto* const result = static_cast<float*>(c.operands[0].data);
  const auto* const indices = static_cast<const std::int32_t*>(c.operands[2].data);
  const std::ptrdiff_t step = c.operands[0].stride[along];
  const auto [begin, end] = range_of(count, c.part);
  for (std::ptrdiff_t i = begin; i < end; ++i) {
    std::ptrdiff_t to = 0, index = 0, left = i;
    for (int l = c.loops - 1; l >= 0; --l) {
      if (l == along) continue;
      const std::ptrdiff_t here = left % c.extent[l];
      left /= c.extent[l];
      to += here * c.operands[0].stride[l];
      index += here * c.operands[2].stride[l];
    }
    const std::ptrdiff_t row = indices[index];
    if (row < 0 || row >= c.axis_extent) {
      for (std::ptrdiff_t k = 0; k < from.depth(); ++k) result[to + k * step] = 0;
      continue;
    }
    from.copy(from.tile_of(row), row, result + to, step);
  }
}

void unpack_dot(const packed_layout& layout, const call& dot, std::ptrdiff_t first,
                std::span<float> into) {
  const packed_columns from(layout, dot, dot.packed, dot.packed_as);
  const auto depth = static_cast<std::size_t>(from.depth());
  if (depth == 0 || from.columns() == 0) return;
  std::vector<std::ptrdiff_t> offsets(depth);
  for (std::size_t k = 0; k < depth; ++k)
    offsets[k] = offsets_at(from.loops().depth, static_cast<std::ptrdiff_t>(k)).in[of_rhs];
  const auto [least, most] = std::ranges::minmax(offsets);
  std::vector<float> elements(depth);
  for (auto t = from.tile_at(0);; t = from.tile_at(t.end())) {
    for (std::ptrdiff_t c = t.first; c < t.end(); ++c) {
      const std::ptrdiff_t origin = offsets_at(from.loops().columns, c).in[of_rhs] - first;
      if (origin + most < 0 || origin + least >= std::ssize(into)) continue;
      from.copy(t, c, elements.data(), 1);
      for (std::size_t k = 0; k < depth; ++k)
        if (const std::ptrdiff_t i = origin + offsets[k]; i >= 0 && i < std::ssize(into))
          into[static_cast<std::size_t>(i)] = elements[k];
    }
    if (t.end() >= from.columns()) return;
  }
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
