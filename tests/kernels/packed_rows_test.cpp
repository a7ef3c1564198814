// Rows of a table that is packed as the rhs of a contraction.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "kernels/aligned.hpp"
#include "kernels/arrays.hpp"
#include "kernels/parts.hpp"
#include "kernels/targets.hpp"

using namespace weft;
using namespace weft::kernels;

namespace {

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

float rounded_to_bfloat16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return std::bit_cast<float>((bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u);
}

void check(const table& kernels, std::ptrdiff_t rows, std::ptrdiff_t depth, precision as) {
  std::vector<float> values(static_cast<std::size_t>(rows * depth));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i) + 1);
  owning_call<> dot = product(rows, depth);
  dot.operands[2].data = values.data();
  dot.packed_as = as;
  std::vector<float> x(static_cast<std::size_t>(depth));
  const aligned scratch(dot_scratch_bytes(dot)), packed(packed_bytes(dot, as));
  dot.scratch = scratch.data();
  kernels.pack_dot(dot, packed.data());

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
  gather.packed = packed.data();
  gather.packed_as = as;
  for (int i = 2; i >= 0; --i) {
    gather.part = part_of(i, 3);
    gather_packed(kernels.layout, gather, dot);
  }
  int wrong = 0;
  for (std::ptrdiff_t twice = 0; twice < 2; ++twice)
    for (std::ptrdiff_t i = 0; i < count; ++i)
      for (std::ptrdiff_t k = 0; k < depth; ++k) {
        const std::ptrdiff_t row = indices[static_cast<std::size_t>(i)];
        float expected = 0;
        if (row >= 0 && row < rows) expected = values[static_cast<std::size_t>(row * depth + k)];
        if (as != precision::float32) expected = rounded_to_bfloat16(expected);
        wrong += result[static_cast<std::size_t>((twice * depth + k) * count + i)] != expected;
      }
  BOOST_TEST(wrong == 0, rows << " rows of " << depth);

  // Parts of the whole table, and what lies before and after it stays.
  std::vector<float> unpacked(values.size() + 2, 7.0f);
  dot.packed = packed.data();
  dot.operands[2].data = nullptr;
  const std::size_t some = values.size() / 3;
  for (const auto& [first, count] :
       {std::pair(std::size_t{0}, some + 1), std::pair(some + 1, unpacked.size() - some - 1)})
    unpack_dot(kernels.layout, dot, static_cast<std::ptrdiff_t>(first) - 1,
               std::span(unpacked).subspan(first, count));
  wrong = unpacked.front() != 7 || unpacked.back() != 7;
  for (std::size_t i = 0; i < values.size(); ++i)
    wrong +=
        unpacked[i + 1] != (as == precision::float32 ? values[i] : rounded_to_bfloat16(values[i]));
  BOOST_TEST(wrong == 0, "unpacked, " << rows << " rows of " << depth);
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
    dot.packed_as = as;
    const aligned scratch(dot_scratch_bytes(dot)), packed(packed_bytes(dot, as));
    dot.scratch = scratch.data();
    std::fill_n(packed.data(), packed_bytes(dot, as), std::byte{0});
    kernels.pack_dot(dot, packed.data());
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

BOOST_AUTO_TEST_CASE(rows_are_read_from_a_packed_rhs_of_any_extents) {
  on_every_target([](const table& kernels) {
    for (const auto as : {precision::float32, precision::bfloat16, precision::bfloat16_products})
      for (const std::ptrdiff_t depth : {1, 2, 5, 24, 600})
        for (const std::ptrdiff_t rows : {1, 3, 16, 48, 63, 64, 65, 100, 112, 500})
          check(kernels, rows, depth, as);
  });
}

BOOST_AUTO_TEST_SUITE_END()
