// Where packed weights are.
//
// A matrix of lines, the columns of a contraction, each over the depth, is cut into tiles of lines,
// one after another. The blocks of a tile's lines are interleaved: those at one place of the depth
// lie side by side, as the microkernel reads them. A tile has room for full vectors of lines, and
// its lines for full blocks.
#pragma once
#include "weft/header_begin.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "weft/weights/precision.hpp"

namespace weft {

enum class stored_type : std::uint8_t;

namespace detail {

// How a SIMD target interleaves lines. Targets with the same layout read each other's packed
// weights.
struct packed_layout {
  std::uint8_t lanes;    // the lines of a vector
  std::uint8_t vectors;  // of the widest tile
  bool pairs;            // whether bfloat16_products has pairs along the depth

  friend bool operator==(const packed_layout&, const packed_layout&) = default;

  // What packed weights are stored in.
  stored_type stored(precision as) const noexcept;
};

// A tile of lines, of which the last vector may be partial.
struct tile_of_lines {
  std::size_t first, count, vectors;
  bool in_one_run;  // within one run of the lines' innermost loop
  constexpr std::size_t end() const { return first + count; }
};

// The tile that begins at line `first` of those before `end`, whose innermost loop has runs of
// `run` lines. Tiles are consecutive, each but the last of full vectors; they end where the runs do
// if these are a multiple of the lanes. Four vectors make two tiles of two: with three and one, the
// single vector would do fewer products for each element of the lhs.
[[gnu::always_inline]] constexpr tile_of_lines tile_at(std::size_t first, std::size_t end,
                                                       std::size_t run, std::size_t lanes,
                                                       std::size_t most_vectors) {
  // Small products are saved the division.
  const std::size_t in_run = run >= end ? end - first : std::min(end - first, run - first % run);
  const std::size_t remaining = run % lanes == 0 ? in_run : end - first;
  const std::size_t vectors = (remaining + lanes - 1) / lanes;
  tile_of_lines t{first, 0, vectors == 4 ? 2 : std::min(vectors, most_vectors), false};
  t.count = std::min(t.vectors * lanes, remaining);
  t.in_one_run = t.count <= in_run;
  return t;
}

// The number of a block among those of a packed matrix, whose lines have `blocks` each: of the k-th
// of a line in a tile that begins at line `first` and has room for `width`. Nothing else knows.
constexpr std::size_t number_of_block(std::size_t first, std::size_t width, std::size_t blocks,
                                      std::size_t k, std::size_t line) {
  return first * blocks + k * width + (line - first);
}

// A packed matrix.
struct packed_matrix {
  stored_type type;
  packed_layout layout;
  std::size_t lines, run, depth;  // the lines' innermost loop has runs of `run`

  std::size_t blocks() const noexcept;  // of a line
  constexpr tile_of_lines tile_from(std::size_t first) const {
    return tile_at(first, lines, run, layout.lanes, layout.vectors);
  }
  // The tile that has a line. In one run, tiles end at multiples of the widest one, but for the
  // last lines.
  constexpr tile_of_lines tile_of(std::size_t line) const {
    const std::size_t widest = std::size_t{layout.vectors} * layout.lanes;
    tile_of_lines t = tile_from(run >= lines && line >= widest ? (line / widest - 1) * widest : 0);
    while (t.end() <= line) t = tile_from(t.end());
    return t;
  }
  // The offset in bytes of the k-th block of a line in its tile.
  std::size_t offset(const tile_of_lines& of, std::size_t line, std::size_t k) const noexcept;
  // Calls f(offset, begin, count) for each part of that block: `count` bytes from its byte `begin`
  // on are at `offset`. Blocks of 32 and more are in parts of a byte, or, in quads, of a scale and
  // of four other bytes: the first of each of a tile's lines, then the second of each, and so on.
  template <class F>
  void for_parts(const tile_of_lines& of, std::size_t line, std::size_t k, F f) const {
    const std::size_t size = bytes_of_block(), width = of.vectors * layout.lanes;
    if (size <= 4) return f(offset(of, line, k), std::size_t{0}, size);
    const std::size_t first = offset(of, of.first, k), at = line - of.first;
    for (std::size_t i = 0, part; i < size; i += part) {
      part = bytes_of_part(i);
      f(first + i * width + part * at, i, part);
    }
  }
  std::size_t bytes_of_block() const noexcept;
  // Of the part that begins with a block's byte `begin`.
  std::size_t bytes_of_part(std::size_t begin) const noexcept;
};

// What that extent takes in this type.
std::size_t packed_size(packed_extent e, stored_type as) noexcept;

// Copies the elements of a line of a tile, as floats.
void copy_line(const packed_matrix& from, const std::byte* data, const tile_of_lines& of,
               std::size_t line, float* to, std::ptrdiff_t to_step) noexcept;

// Of blocks that follow each other, as in the rows of a packed table: stores elements that make up
// blocks, in a type of 16 bits or one of blocks with a function encode; and reads some.
void encode(const float* x, std::size_t count, stored_type as, std::byte* to) noexcept;
void decode(stored_type from, const std::byte* data, std::size_t first, std::size_t count,
            float* to, std::ptrdiff_t to_step) noexcept;

}  // namespace detail
}  // namespace weft
#include "weft/header_end.hpp"
