// Weights of 8 and 4 bits whose scales are tensors of their own: int8 and FP8 (E4M3) with a scale
// for all, or for channels, groups or blocks, and 4 or 8 bits in int32, as compressed-tensors
// (https://github.com/vllm-project/compressed-tensors) and DeepSeek have them in safetensors.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <set>
#include <utility>

#include "extents.hpp"
#include "file_content.hpp"
#include "weft/run/error.hpp"
#include "weft/weights/formats.hpp"

namespace weft {

namespace {

using detail::find_tensor;
using detail::in_quotes;

std::string place(const stored_tensor& t) {
  return "tensor " + in_quotes(t.name) + ", " + t.description();
}
[[noreturn]] void fail(const stored_tensor& t, const std::string& what) {
  detail::raise(t.source->name() + ": " + place(t) + what);
}

// Of 2^k elements along an axis for each of its n scales, k; -1: these are no power of two.
int shift_of(std::size_t extent, std::size_t n) {
  for (int shift = 0; shift < 64; ++shift)
    if (extent > 0 && (extent - 1) >> shift == n - 1) return shift;
  return -1;
}

// The numbers of a matrix, each times its scale, as elements of a type that has exactly the
// products: Q4_0 or Q8_0, which packed weights can stay in, where the scales are float16 and each
// of their blocks has one; else float64.
struct scaled_weight {
  stored_tensor numbers;
  std::size_t columns, row_bytes;  // of the matrix, and of the numbers
  unsigned bits;                   // of a number
  float values[256];               // of numbers, by their bits
  std::vector<float> scales;
  std::size_t scales_of_row;
  int row_shift, column_shift;  // of the elements of one scale: see shift_of
  stored_type type;

  scaled_weight(const stored_tensor& of, const stored_tensor& scale, std::size_t rows,
                std::size_t width)
      : numbers(of), columns(width), row_bytes(rows == 0 ? 0 : of.bytes / rows) {
    bits = of.type == stored_type::int32 && row_bytes == (columns + 7) / 8 * 4 ? 4 : 8;
    for (unsigned code = 0; code < 256; ++code) {
      const auto byte = static_cast<std::uint8_t>(code);
      if (of.type == stored_type::float8_e4m3)
        detail::format<stored_type::float8_e4m3>::decode(&byte, values + code);
      else  // unsigned in int32
        values[code] =
            static_cast<float>(of.type == stored_type::int8 ? static_cast<std::int8_t>(byte)
                                                            : byte - (bits == 8 ? 128 : 8));
    }
    std::vector<std::size_t> shape = scale.shape;
    shape.resize(scale.size() == 1 ? 0 : shape.size());  // one for all
    shape.resize(std::max<std::size_t>(shape.size(), 2), 1);
    scales_of_row = shape[1];
    row_shift = shift_of(rows, shape[0]);
    column_shift = shift_of(columns, shape[1]);
    if (shape.size() > 2 || row_shift < 0 || column_shift < 0 || !is_floating(scale.type))
      fail(scale, ", does not fit " + place(of));
    scales = scale.values<float>();
    const auto wrong = std::ranges::find_if_not(scales, [](float s) { return std::isfinite(s); });
    if (wrong != scales.end())
      fail(scale, ": scale " + std::to_string(wrong - scales.begin()) + " is NaN or infinite");
    const bool exact =
        of.type != stored_type::float8_e4m3 && columns % 32 == 0 &&
        (column_shift >= 5 || scales_of_row == 1) &&
        std::ranges::all_of(scales, [](float s) { return from_float16(to_float16(s)) == s; });
    type = !exact ? stored_type::float64 : bits == 8 ? stored_type::q8_0 : stored_type::q4_0;
  }

  // Writes the elements, from an offset in bytes on: whole blocks.
  void read(std::size_t offset, std::span<std::byte> into) const {
    const std::size_t block = detail::entry_of(type).block, size = detail::entry_of(type).bits / 8;
    const std::size_t first = offset / size * block, count = into.size() / size * block;
    if (count == 0) return;
    const auto byte_of = [&](std::size_t y, std::size_t x) { return y * row_bytes + x * bits / 8; };
    const std::size_t last = first + count - 1, begin = byte_of(first / columns, first % columns);
    std::vector<std::uint8_t> bytes(byte_of(last / columns, last % columns) + 1 - begin);
    numbers.source->read(numbers.offset + begin, std::as_writable_bytes(std::span(bytes)));
    std::ranges::fill(into, std::byte{0});
    auto* to = reinterpret_cast<std::uint8_t*>(into.data());
    for (std::size_t i = 0, run; i < count; i += run, to += run / block * size) {
      // Elements that have one scale, at most a block of them.
      const std::size_t row = (first + i) / columns, x = (first + i) % columns,
                        unit = std::size_t{1} << std::min(column_shift, 5);
      run = std::min({count - i, columns - x, unit - x % unit});
      const float scale = scales[(row >> row_shift) * scales_of_row + (x >> column_shift)];
      float n[32];
      for (std::size_t k = 0; k < run; ++k) {
        const unsigned code = bytes[byte_of(row, x + k) - begin];
        n[k] = values[bits == 8 ? code : code >> (x + k) % 2 * 4 & 15];
      }
      if (type == stored_type::float64) {
        double products[32];
        for (std::size_t k = 0; k < run; ++k)
          products[k] = static_cast<double>(n[k]) * static_cast<double>(scale);
        std::memcpy(to, products, run * sizeof *products);
        continue;
      }
      const std::uint16_t half = to_float16(scale);
      std::memcpy(to, &half, sizeof half);
      for (std::size_t k = 0; k < run; ++k)
        if (bits == 8)
          to[2 + k] = static_cast<std::uint8_t>(static_cast<int>(n[k]));
        else
          to[2 + k % 16] |= static_cast<std::uint8_t>((static_cast<int>(n[k]) + 8) << k / 16 * 4);
    }
  }
};

// The weight of this name whose numbers, of 4 or 8 bits, are a tensor of int32.
scaled_weight packed_weight(const stored_tensor& t, const stored_tensor& scale,
                            const std::vector<stored_tensor>& all, const std::string& name) {
  const stored_tensor* const extents = find_tensor(all, name + "_shape");
  if (extents == nullptr) fail(t, ", has no tensor " + in_quotes(name + "_shape"));
  const auto shape = extents->values<std::int64_t>();
  const auto fits = [&](std::int64_t in_one) {
    return shape.size() == 2 && t.shape.size() == 2 && std::cmp_equal(shape[0], t.shape[0]) &&
           shape[1] >= 0 && shape[1] < std::int64_t{1} << 40 &&
           std::cmp_equal((shape[1] + in_one - 1) / in_one, t.shape[1]);
  };
  if (!fits(8) && !fits(4)) fail(t, ", does not have the extents in " + place(*extents));
  return {t, scale, t.shape[0], static_cast<std::size_t>(shape[1])};
}

}  // namespace

void detail::join_scaled_weights(file_content& content) {
  const std::vector<stored_tensor>& all = content.tensors;
  std::vector<stored_tensor> joined;
  std::set<std::string> parts;
  for (const stored_tensor& t : all) {
    constexpr std::string_view packed = "_packed";
    const bool is_packed = t.type == stored_type::int32 && t.name.ends_with(packed);
    if (!is_packed && t.type != stored_type::int8 && t.type != stored_type::float8_e4m3) continue;
    const std::string name = t.name.substr(0, t.name.size() - (is_packed ? packed.size() : 0));
    const stored_tensor* scale = find_tensor(all, name + "_scale");
    if (scale == nullptr) scale = find_tensor(all, name + "_scale_inv");
    if (scale == nullptr) continue;
    for (const char* const other : {"_zero_point", "_g_idx"})
      if (const auto* const found = find_tensor(all, name + other))
        fail(*found, ": weft reads weights that are quantised symmetrically, and without actorder");
    const std::size_t rows = t.shape.empty() ? 1 : t.shape[0];
    const scaled_weight w = is_packed
                                ? packed_weight(t, *scale, all, name)
                                : scaled_weight(t, *scale, rows, rows == 0 ? 0 : t.size() / rows);
    const std::vector<std::size_t> shape = is_packed ? std::vector{rows, w.columns} : t.shape;
    const std::size_t bytes = bytes_of(w.type, rows * w.columns);
    joined.push_back({name, w.type, t.type_name + " with scales", shape, 0, bytes,
                      std::make_shared<const byte_source>(
                          bytes, t.source->name(),
                          [w](std::size_t at, std::span<std::byte> into) { w.read(at, into); })});
    parts.insert({t.name, scale->name});
    if (is_packed) parts.insert(name + "_shape");
  }
  if (joined.empty()) return;
  std::erase_if(content.tensors, [&](const stored_tensor& t) { return parts.contains(t.name); });
  std::ranges::move(joined, std::back_inserter(content.tensors));
  sort_by_name(content);
}

}  // namespace weft
