// Reading the elements of a tensor in a file.
#include <algorithm>
#include <utility>

#include "extents.hpp"
#include "file_content.hpp"
#include "weft/files/tensor_file.hpp"
#include "weft/run/error.hpp"
#include "weft/run/rounding.hpp"
#include "weft/weights/formats.hpp"

namespace weft {

namespace {

std::string place(const stored_tensor& t) {
  return t.source->name() + ": tensor " + detail::in_quotes(t.name) + ", " + t.description();
}

template <class T>
void check_kind(const stored_tensor& t) {
  bool can = false;
  detail::with_format(
      t.type, [&]<class Format>(Format) { can = detail::is_read_as<T, typename Format::value>; });
  if (can) return;
  if (t.type == stored_type::other)
    detail::raise(place(t) + ", has elements of a type that weft does not read");
  const char* const kind = std::same_as<T, bool>     ? "booleans"
                           : std::same_as<T, float>  ? "floating-point numbers"
                           : std::same_as<T, double> ? "numbers"
                                                     : "integers";
  detail::raise(place(t) + ", is read as " + kind);
}

}  // namespace

void detail::check_scales(const stored_tensor& t, std::size_t first,
                          std::span<const std::byte> blocks) {
  const stored_info& format = entry_of(t.type);
  const auto* const begin = reinterpret_cast<block_bytes>(blocks.data());
  for (std::size_t at = 0; at < blocks.size(); at += format.bits / 8)
    if (!format.has_finite_scales(begin + at))
      raise(place(t) + ": the scale of block " +
            std::to_string(first / format.block + at / (format.bits / 8)) + " is NaN or infinite");
}

std::size_t stored_tensor::size() const {
  return detail::elements_of(shape).value;
}

std::string stored_tensor::description() const {
  return type_name + " " + detail::to_string(shape);
}

namespace {

// Element i of the tensor, which is x, as T.
template <class T, class Value>
T converted(const stored_tensor& t, std::size_t i, Value x) {
  if constexpr (std::same_as<Value, std::int64_t> && std::same_as<T, std::int32_t>)
    if (!std::in_range<T>(x))
      detail::raise(place(t) + ": element " + std::to_string(i) + " is " + std::to_string(x) +
                    ", which does not fit");
  return static_cast<T>(x);
}

// Reads elements from `first` on, which are in the tensor; of the first and the last block maybe
// only some.
template <class Format, class T>
void read_blocks(const stored_tensor& t, std::size_t first, std::span<T> into) {
  // Elements that are stored as T need no conversion, and so no buffer.
  if constexpr (std::derived_from<Format, detail::plain_format<T>>)
    return t.source->read(t.offset + first * sizeof(T), std::as_writable_bytes(into));
  constexpr std::size_t block = Format::block;
  constexpr std::size_t most = 8192 / block;  // at a time, so that no tensor is in memory twice
  const std::size_t last = first + into.size(), end = (last + block - 1) / block;
  std::vector<std::uint8_t> some(std::min(end - first / block, most) * Format::bytes);
  auto to = into.begin();
  for (std::size_t b = first / block; b < end; b += most) {
    const std::size_t now = std::min(end - b, most);
    t.source->read(t.offset + b * Format::bytes,
                   std::as_writable_bytes(std::span(some.data(), now * Format::bytes)));
    if constexpr (detail::shares_scales<Format>)
      detail::check_scales(t, b * block,
                           std::as_bytes(std::span(some.data(), now * Format::bytes)));
    for (std::size_t k = 0; k < now; ++k) {
      typename Format::value elements[block];
      Format::decode(some.data() + k * Format::bytes, elements);
      const std::size_t begin = (b + k) * block;
      const std::size_t from = block == 1 ? 0 : std::max(first, begin) - begin;
      const std::size_t until = block == 1 ? 1 : std::min(last, begin + block) - begin;
      for (std::size_t i = from; i < until; ++i) *to++ = converted<T>(t, begin + i, elements[i]);
    }
  }
}

template <class T>
void read_elements(const stored_tensor& t, std::size_t first, std::span<T> into) {
  const detail::rounding_to_nearest mode;
  if (into.empty()) return;
  detail::with_format(t.type, [&]<class Format>(Format) {
    if constexpr (detail::is_read_as<T, typename Format::value>)
      read_blocks<Format>(t, first, into);
  });
}

}  // namespace

template <class T>
void stored_tensor::read(std::span<T> into) const {
  check_kind<T>(*this);
  if (into.size() != size())
    detail::raise(place(*this) + ", is read into " + std::to_string(into.size()) + " elements");
  read_elements(*this, 0, into);
}
void stored_tensor::read_part(std::size_t first, std::span<float> into) const {
  check_kind<float>(*this);
  if (first > size() || into.size() > size() - first)
    detail::raise(place(*this) + ": " + std::to_string(into.size()) + " elements from element " +
                  std::to_string(first) + " on are not in it");
  read_elements(*this, first, into);
}
template void stored_tensor::read(std::span<float>) const;
template void stored_tensor::read(std::span<double>) const;
template void stored_tensor::read(std::span<std::int32_t>) const;
template void stored_tensor::read(std::span<std::int64_t>) const;
template void stored_tensor::read(std::span<bool>) const;

template <class T>
requires(!std::same_as<T, bool>) std::vector<T> stored_tensor::values()
const {
  check_kind<T>(*this);
  std::vector<T> all(size());
  read(std::span(all));
  return all;
}
template std::vector<float> stored_tensor::values() const;
template std::vector<double> stored_tensor::values() const;
template std::vector<std::int32_t> stored_tensor::values() const;
template std::vector<std::int64_t> stored_tensor::values() const;

}  // namespace weft
