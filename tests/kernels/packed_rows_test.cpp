// Rows of a table that is packed as the rhs of a contraction.
#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <map>

#include "kernels/aligned.hpp"
#include "kernels/arrays.hpp"
#include "kernels/int8_reference.hpp"
#include "kernels/parts.hpp"
#include "kernels/targets.hpp"
#include "weft/weights/formats.hpp"

using namespace weft;
using namespace weft::kernels;

namespace {

float rounded_to_bfloat16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return std::bit_cast<float>((bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u);
}

// x [m, k] times the rows of a table [n, k].
owning_call<> product(std::ptrdiff_t rows, std::ptrdiff_t depth) {
  owning_call<> c;
  c.kind = op::dot;
  c.loops = 3;
  const std::ptrdiff_t extent[]{1, rows, depth};
  const std::ptrdiff_t strides[3][3]{{rows, 1, 0}, {depth, 0, 1}, {0, depth, 1}};
  for (int l = 0; l < 3; ++l) {
    c.extent[l] = extent[l];
    for (int o = 0; o < 3; ++o) c.operands[o].stride[l] = strides[o][l];
  }
  return c;
}

// The numbers of a line of the table, or of all of several lines, as they are packed.
std::vector<float> as_packed(std::vector<float> values, std::size_t depth, precision as) {
  if (as == precision::int8_products) {
    for (std::size_t line = 0; line < values.size(); line += depth)
      for (std::size_t k = 0; k < depth; k += 32)
        round_to_int8(std::span(values).subspan(line + k, std::min<std::size_t>(32, depth - k)));
    return values;
  }
  if (as == precision::bfloat16 || as == precision::bfloat16_products)
    std::ranges::transform(values, values.begin(), rounded_to_bfloat16);
  detail::with_format(dispatch().layout.stored(as), [&]<class Format>(Format) {
    if constexpr (requires(float* x, std::uint8_t* to) { Format::encode(x, to); })
      for (std::size_t line = 0; line < values.size(); line += depth)
        for (std::size_t k = 0; k < depth; k += Format::block) {
          float block[Format::block]{};
          std::uint8_t bytes[Format::bytes];
          const std::span some(values.data() + line + k, std::min(Format::block, depth - k));
          std::ranges::copy(some, block);
          Format::encode(block, bytes);
          Format::decode(bytes, block);
          std::copy_n(block, some.size(), some.begin());
        }
  });
  return values;
}

void check(const table& kernels, std::ptrdiff_t rows, std::ptrdiff_t depth, precision as) {
  std::vector<float> values(static_cast<std::size_t>(rows * depth));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i) + 1);
  owning_call<> dot = product(rows, depth);
  dot.operands[2].data = values.data();
  const stored_type stored = kernels.layout.stored(as);
  const aligned scratch(dot_scratch_bytes(dot)), packed(packed_bytes(dot, as));
  dot.scratch = scratch.data();
  kernels.pack_dot(dot, stored, packed.data());

  // Each row, and indices out of range, twice; the result has its axes in another order.
  std::vector<std::int32_t> indices;
  for (std::ptrdiff_t i = -1; i <= rows; ++i) indices.push_back(static_cast<std::int32_t>(i));
  const auto count = std::ssize(indices);
  std::vector<float> result(static_cast<std::size_t>(2 * count * depth), NAN);
  owning_call<> gather;
  gather.kind = op::gather;
  gather.loops = 3;
  const std::ptrdiff_t extent[]{2, count, depth};
  const std::ptrdiff_t strides[3][3]{{count * depth, 1, count}, {0, 0, 1}, {0, 1, 0}};
  for (int l = 0; l < 3; ++l) {
    gather.extent[l] = extent[l];
    for (int o = 0; o < 3; ++o) gather.operands[o].stride[l] = strides[o][l];
  }
  gather.operands[0].data = result.data();
  gather.operands[2].data = indices.data();
  gather.axis_extent = rows;
  gather.axis_stride = depth;
  gather.operands[1].data = packed.data();
  gather.operands[1].packed = stored;
  for (int i = 2; i >= 0; --i) {
    gather.part = part_of(i, 3);
    kernels.gather(gather);
  }
  const std::vector<float> right = as_packed(values, static_cast<std::size_t>(depth), as);
  int wrong = 0;
  for (std::ptrdiff_t twice = 0; twice < 2; ++twice)
    for (std::ptrdiff_t i = 0; i < count; ++i)
      for (std::ptrdiff_t k = 0; k < depth; ++k) {
        const std::ptrdiff_t row = indices[static_cast<std::size_t>(i)];
        float expected = 0;
        if (row >= 0 && row < rows) expected = right[static_cast<std::size_t>(row * depth + k)];
        wrong += result[static_cast<std::size_t>((twice * depth + k) * count + i)] != expected;
      }
  BOOST_TEST(wrong == 0, rows << " rows of " << depth);

  // Parts of the whole table, and what lies before and after it stays.
  std::vector<float> unpacked(values.size() + 2, 7.0f);
  dot.operands[2].data = packed.data();
  dot.operands[2].packed = stored;
  const std::size_t some = values.size() / 3;
  for (const auto& [first, count] :
       {std::pair(std::size_t{0}, some + 1), std::pair(some + 1, unpacked.size() - some - 1)})
    unpack_dot(kernels.layout, dot, static_cast<std::ptrdiff_t>(first) - 1,
               std::span(unpacked).subspan(first, count));
  wrong = unpacked.front() != 7 || unpacked.back() != 7;
  for (std::size_t i = 0; i < values.size(); ++i) wrong += unpacked[i + 1] != right[i];
  BOOST_TEST(wrong == 0, "unpacked, " << rows << " rows of " << depth);
}

// Packs numbers that differ as a type without scales, so that each byte has one possible place, and
// looks them up. The lines are the rows of the table, in runs of `run` with room for `gap` more
// between two.
void check_places(const table& kernels, std::size_t runs, std::size_t run, std::size_t depth,
                  precision as) {
  constexpr std::size_t gap = 3;
  const std::size_t lines = runs * run, pitch = run + gap;
  std::vector<float> values(runs * pitch * depth, NAN);
  const auto number = [&](std::size_t line, std::size_t k) {  // a bfloat16
    return std::bit_cast<float>(static_cast<std::uint32_t>(0x100 + line * depth + k) << 16);
  };
  owning_call<> dot;
  dot.kind = op::dot;
  dot.loops = 4;
  const std::size_t extent[]{1, runs, run, depth};
  const std::size_t strides[3][4]{
      {lines, run, 1, 0}, {depth, 0, 0, 1}, {0, pitch * depth, depth, 1}};
  for (int l = 0; l < 4; ++l) {
    dot.extent[l] = static_cast<std::ptrdiff_t>(extent[l]);
    for (int o = 0; o < 3; ++o)
      dot.operands[o].stride[l] = static_cast<std::ptrdiff_t>(strides[o][l]);
  }
  for (std::size_t line = 0; line < lines; ++line)
    for (std::size_t k = 0; k < depth; ++k)
      values[(line / run * pitch + line % run) * depth + k] = number(line, k);
  dot.operands[2].data = values.data();
  const std::size_t bytes = packed_bytes(dot, as);
  const aligned scratch(dot_scratch_bytes(dot)), packed(bytes);
  dot.scratch = scratch.data();
  const stored_type type = kernels.layout.stored(as);
  kernels.pack_dot(dot, type, packed.data());
  const std::size_t inner = run > 1 ? run : lines;  // a loop of one line is none
  const detail::packed_matrix matrix{type, kernels.layout, lines, inner, depth};
  const std::size_t block = detail::entry_of(type).block, size = detail::entry_of(type).bits / 8;
  std::vector<bool> taken(bytes);
  int wrong = 0;
  for (std::size_t line = 0; line < lines; ++line)
    for (std::size_t k = 0; k < depth; k += block) {
      const std::size_t at = matrix.offset(matrix.tile_of(line), line, k / block);
      BOOST_TEST_REQUIRE(at + size <= bytes);
      float elements[2]{};
      detail::with_format(type, [&]<class Format>(Format) {
        if constexpr (Format::block <= 2 && std::same_as<typename Format::value, float>)
          Format::decode(reinterpret_cast<detail::block_bytes>(packed.data() + at), elements);
      });
      for (std::size_t i = 0; i < block; ++i)
        wrong += elements[i] != (k + i < depth ? number(line, k + i) : 0);
      wrong += taken[at];
      std::fill_n(taken.begin() + static_cast<std::ptrdiff_t>(at), size, true);
    }
  BOOST_TEST(wrong == 0, runs << " x " << run << " lines of " << depth);
}

// A hash (FNV-1a) of what is packed of 53 columns of depth 5 as float32 and as bfloat16: extents
// that are a multiple of no target's tiles.
std::uint64_t hash_of_packed(const table& kernels) {
  constexpr std::ptrdiff_t rows = 53, depth = 5;
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const auto as : {precision::float32, precision::bfloat16}) {
    std::vector<float> values(rows * depth);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) + 0.5f;
    owning_call<> dot = product(rows, depth);
    dot.operands[2].data = values.data();
    const aligned scratch(dot_scratch_bytes(dot)), packed(packed_bytes(dot, as));
    dot.scratch = scratch.data();
    std::fill_n(packed.data(), packed_bytes(dot, as), std::byte{0});
    kernels.pack_dot(dot, kernels.layout.stored(as), packed.data());
    for (std::size_t i = 0; i < packed_bytes(dot, as); ++i)
      hash = (hash ^ std::to_integer<std::uint64_t>(packed.data()[i])) * 0x100000001b3;
  }
  return hash;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(packed_rows)

// Files of packed weights are read by later versions of weft, see version_of_packing of
// lib/run/pack.cpp: whoever changes these bytes counts it up, and then these numbers are new.
BOOST_AUTO_TEST_CASE(packed_bytes_are_those_of_the_version_that_files_have) {
  on_every_target([](const table& kernels) {
    const std::map<int, std::uint64_t> known{
        {1, 11221059628941716813u}, {4, 5397521805985374235u}, {8, 15040893657828965059u}};
    const std::uint64_t hash = hash_of_packed(kernels);
    if (const auto of_lanes = known.find(kernels.layout.lanes); of_lanes != known.end())
      BOOST_TEST(hash == of_lanes->second);
    else
      BOOST_TEST_MESSAGE("not known for " << int{kernels.layout.lanes} << " lanes: " << hash);
  });
}

BOOST_AUTO_TEST_CASE(every_element_is_packed_where_the_layout_has_it) {
  on_every_target([](const table& kernels) {
    for (const auto as : {precision::float32, precision::bfloat16, precision::bfloat16_products})
      for (const std::size_t depth : {1u, 2u, 5u, 24u})
        for (const std::size_t run : {1u, 3u, 16u, 48u, 63u, 64u, 65u, 100u, 112u, 500u})
          for (const std::size_t runs : {1u, 2u}) check_places(kernels, runs, run, depth, as);
    check_places(kernels, 1, 20, 1500, precision::bfloat16_products);  // in two blocks
    check_places(kernels, 1, 20, 1500, precision::float32);
    check_places(kernels, 5, 96, 60, precision::bfloat16);  // in several panels
  });
}

BOOST_AUTO_TEST_CASE(rows_are_read_from_a_packed_rhs_of_any_extents) {
  on_every_target([](const table& kernels) {
    for (const auto as : {precision::float32, precision::bfloat16, precision::bfloat16_products,
                          precision::q8_0, precision::q4_0, precision::int8_products})
      for (const std::ptrdiff_t depth : {1, 2, 5, 24, 600})
        for (const std::ptrdiff_t rows : {1, 3, 16, 48, 63, 64, 65, 100, 112, 500})
          check(kernels, rows, depth, as);
  });
}

BOOST_AUTO_TEST_SUITE_END()
