// Reading the elements of a tensor in a file.
#include <algorithm>
#include <utility>

#include "blocks.hpp"
#include "byte_source.hpp"
#include "half.hpp"
#include "stored_types.hpp"
#include "weft/run/error.hpp"
#include "weft/run/rounding.hpp"

namespace weft {

namespace {

// Reads `size` elements from `first` on that are stored as S, and calls f(i, element first + i).
template <class S, class F>
void for_each_stored(const stored_tensor& t, std::size_t first, std::size_t size, F f) {
  constexpr std::size_t most = 8192;  // at a time, so that the tensor is not in memory twice
  std::vector<S> some(std::min(size, most));
  for (std::size_t i = 0; i < size; i += some.size()) {
    const std::span now(some.data(), std::min(some.size(), size - i));
    t.source->read(t.offset + (first + i) * sizeof(S), std::as_writable_bytes(now));
    for (std::size_t k = 0; k < now.size(); ++k) f(i + k, now[k]);
  }
}

// Reads elements from `first` on that are stored in blocks, of which the first and the last may be
// read in part.
template <class Block, class T>
void read_blocks(const stored_tensor& t, std::size_t first, std::span<T> into) {
  constexpr std::size_t most = 8192 / Block::size;  // at a time
  if (into.empty()) return;
  const std::size_t last = first + into.size();
  const std::size_t end = (last + Block::size - 1) / Block::size;
  std::array<float, Block::size> elements;
  std::vector<std::uint8_t> some(std::min(end - first / Block::size, most) * Block::bytes);
  auto to = into.begin();
  for (std::size_t b = first / Block::size; b < end; b += most) {
    const std::size_t now = std::min(end - b, most);
    t.source->read(t.offset + b * Block::bytes,
                   std::as_writable_bytes(std::span(some.data(), now * Block::bytes)));
    for (std::size_t k = 0; k < now; ++k) {
      const std::size_t begin = (b + k) * Block::size;
      Block::decode(some.data() + k * Block::bytes, elements.data());
      to = std::copy(elements.data() + (std::max(first, begin) - begin),
                     elements.data() + (std::min(last, begin + Block::size) - begin), to);
    }
  }
}

// Calls f(Block()) with the block format of the type, if it is one.
template <class F>
void with_block(stored_type type, F f) {
  switch (type) {
    case stored_type::q4_0:
      return f(detail::small_block<false, false>());
    case stored_type::q4_1:
      return f(detail::small_block<true, false>());
    case stored_type::q5_0:
      return f(detail::small_block<false, true>());
    case stored_type::q5_1:
      return f(detail::small_block<true, true>());
    case stored_type::q8_0:
      return f(detail::bytes_block());
    case stored_type::q4_k:
      return f(detail::grouped_block<false>());
    case stored_type::q5_k:
      return f(detail::grouped_block<true>());
    case stored_type::q6_k:
      return f(detail::six_bit_block());
    default:
      return;
  }
}

// Calls f(S(), value), where S is the type of the stored elements and value(S) is what one stands
// for, unless they are in blocks. Does nothing for stored_type::other, which weft does not read.
template <class F>
void with_stored(stored_type type, F f) {
  const auto same = [](auto x) { return x; };
  switch (type) {
    case stored_type::float64:
      return f(double(), same);
    case stored_type::float32:
      return f(float(), same);
    case stored_type::float16:
      return f(std::uint16_t(), from_float16);
    case stored_type::bfloat16:
      return f(std::uint16_t(), from_bfloat16);
    case stored_type::int64:
      return f(std::int64_t(), same);
    case stored_type::int32:
      return f(std::int32_t(), same);
    case stored_type::boolean:
      return f(std::uint8_t(), [](std::uint8_t x) { return x != 0; });
    case stored_type::uint8:
      return f(std::uint8_t(), [](std::uint8_t x) { return std::int32_t{x}; });
    default:
      return;
  }
}

// Whether elements of this type can be read as T.
template <class T>
constexpr bool is_read_as(stored_type type) {
  if (std::same_as<T, bool>) return type == stored_type::boolean;
  if (std::same_as<T, float>) return is_floating(type);
  if (std::same_as<T, double>) return type < stored_type::other;
  return type == stored_type::int64 || type == stored_type::int32 || type == stored_type::uint8;
}

std::string place(const stored_tensor& t) {
  return t.source->name() + ": tensor " + detail::in_quotes(t.name) + ", " + t.description();
}

template <class T>
void check_kind(const stored_tensor& t) {
  if (is_read_as<T>(t.type)) return;
  if (t.type == stored_type::other)
    throw error(place(t) + ", has elements of a type that weft does not read");
  const char* const kind = std::same_as<T, bool>     ? "booleans"
                           : std::same_as<T, float>  ? "floating-point numbers"
                           : std::same_as<T, double> ? "numbers"
                                                     : "integers";
  throw error(place(t) + ", is read as " + kind);
}

}  // namespace

std::size_t stored_tensor::size() const {
  return detail::elements_of(shape).value;
}

std::string stored_tensor::description() const {
  return type_name + " " + detail::to_string(shape);
}

namespace {

// Reads elements from `first` on, which are in the tensor.
template <class T>
void read_elements(const stored_tensor& t, std::size_t first, std::span<T> into) {
  const detail::rounding_to_nearest mode;
  if constexpr (std::floating_point<T>)
    with_block(t.type, [&]<class Block>(Block) { read_blocks<Block>(t, first, into); });
  with_stored(t.type, [&]<class S>(S, auto number) {
    using N = decltype(number(S()));
    // Elements that are stored as T need no conversion, and so no buffer.
    if constexpr (std::same_as<S, T>)
      return t.source->read(t.offset + first * sizeof(S), std::as_writable_bytes(into));
    for_each_stored<S>(t, first, into.size(), [&](std::size_t i, S stored) {
      const N x = number(stored);
      if constexpr (std::same_as<N, std::int64_t> && std::same_as<T, std::int32_t>)
        if (!std::in_range<T>(x))
          throw error(place(t) + ": element " + std::to_string(i) + " is " + std::to_string(x) +
                      ", which does not fit");
      into[i] = static_cast<T>(x);
    });
  });
}

}  // namespace

template <class T>
void stored_tensor::read(std::span<T> into) const {
  check_kind<T>(*this);
  if (into.size() != size())
    throw error(place(*this) + ", is read into " + std::to_string(into.size()) + " elements");
  read_elements(*this, 0, into);
}
void stored_tensor::read_part(std::size_t first, std::span<float> into) const {
  check_kind<float>(*this);
  if (first > size() || into.size() > size() - first)
    throw error(place(*this) + ": " + std::to_string(into.size()) + " elements from element " +
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
