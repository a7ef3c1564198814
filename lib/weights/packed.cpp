#include <algorithm>
#include <array>
#include <cstring>

#include "weft/weights/formats.hpp"
#include "weft/weights/layout.hpp"

namespace weft::detail {

stored_type packed_layout::stored(precision as) const noexcept {
  if (as == precision::float32) return stored_type::float32;
  if (as == precision::q8_0) return stored_type::q8_0;
  if (as == precision::q4_0) return stored_type::q4_0;
  if (as == precision::int8_products) return stored_type::int8_block;
  return as == precision::bfloat16_products && pairs ? stored_type::bfloat16_pair
                                                     : stored_type::bfloat16;
}

std::size_t packed_matrix::blocks() const noexcept {
  const std::size_t block = entry_of(type).block;
  return (depth + block - 1) / block;
}

std::size_t packed_matrix::offset(const tile_of_lines& of, std::size_t line,
                                  std::size_t k) const noexcept {
  return number_of_block(of.first, of.vectors * layout.lanes, blocks(), k, line) * bytes_of_block();
}

std::size_t packed_matrix::bytes_of_block() const noexcept {
  return entry_of(type).bits / 8;
}

std::size_t packed_matrix::bytes_of_part(std::size_t begin) const noexcept {
  const stored_info& of = entry_of(type);
  if (of.group_quads == 0) return 1;
  return begin >= of.scales.begin && begin < of.scales.end ? of.scales.size : 4;
}

std::size_t packed_size(packed_extent e, stored_type as) noexcept {
  const stored_info& of = entry_of(as);
  if (as == stored_type::float32) return e.floats - e.gathered;
  return of.is_block() ? e.blocks * 32 / of.block * of.bits / 8
                       : e.floats / sizeof(float) / of.block * of.bits / 8;
}

void copy_line(const packed_matrix& from, const std::byte* data, const tile_of_lines& of,
               std::size_t line, float* to, std::ptrdiff_t to_step) noexcept {
  with_format(from.type, [&]<class Format>(Format) {
    constexpr std::size_t block = Format::block;
    for (std::size_t k = 0; k < from.depth; k += block) {
      std::uint8_t bytes[std::max<std::size_t>(Format::bytes, 8)];
      from.for_parts(of, line, k / block, [&](auto at, auto begin, auto count) {
        std::memcpy(bytes + begin, data + at, count);
      });
      typename Format::value elements[block];
      Format::decode(bytes, elements);
      for (std::size_t i = 0; i < block && k + i < from.depth; ++i, to += to_step)
        *to = static_cast<float>(elements[i]);
    }
  });
}

void encode(const float* x, std::size_t count, stored_type as, std::byte* to) noexcept {
  with_format(as, [&]<class Format>(Format) {
    auto* next = reinterpret_cast<std::uint8_t*>(to);
    for (std::size_t k = 0; k < count; k += Format::block, next += Format::bytes) {
      if constexpr (requires { Format::encode(x, next); })
        Format::encode(x + k, next);
      else if constexpr (Format::block == 1 && Format::bytes == 2)
        std::memcpy(next, std::array{Format::encode(x[k])}.data(), Format::bytes);
    }
  });
}

void decode(stored_type from, const std::byte* data, std::size_t first, std::size_t count,
            float* to, std::ptrdiff_t to_step) noexcept {
  with_format(from, [&]<class Format>(Format) {
    constexpr std::size_t block = Format::block;
    for (std::size_t i = first; i < first + count;) {
      typename Format::value elements[block];
      Format::decode(reinterpret_cast<block_bytes>(data) + i / block * Format::bytes, elements);
      const std::size_t end = std::min(first + count, (i / block + 1) * block);
      for (; i < end; ++i, to += to_step) *to = static_cast<float>(elements[i % block]);
    }
  });
}

}  // namespace weft::detail
