#include "weft/run/fingerprint.hpp"

#include <bit>
#include <cstring>
#include <string_view>

#include "weft/graph/graph.hpp"
#include "weft/run/engine.hpp"

namespace weft {

namespace {

// FNV-1a's prime, and a shift, for a word at a time. Each step has an inverse: two sequences of as
// many words that differ in one have two hashes.
class word_hash {
 public:
  void add(std::uint64_t word) noexcept {
    value_ = (value_ ^ word) * 0x100000001b3;
    value_ ^= value_ >> 32;
  }
  void add(std::string_view text) noexcept {
    add(text.size());
    for (const char c : text) add(std::uint64_t{static_cast<unsigned char>(c)});
  }
  std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

// The bits of an element, those of one NaN for all.
std::uint32_t bits_of(float x) {
  return x == x ? std::bit_cast<std::uint32_t>(x) : 0x7fc00000;
}
std::uint32_t bits_of(bfloat16 x) {
  return bits_of(static_cast<float>(x)) >> 16;
}
std::uint32_t bits_of(std::int32_t x) {
  return static_cast<std::uint32_t>(x);
}
std::uint32_t bits_of(bool x) {
  return x;
}

template <class T>
void add(word_hash& hash, const T* data, const std::size_t* length, const std::ptrdiff_t* stride,
         std::size_t rank) {
  if (rank == 0) return hash.add(bits_of(*data));
  word_hash local = hash;  // in a register: elements could alias it
  for (std::size_t i = 0; i < *length; ++i, data += *stride)
    if (rank == 1)
      local.add(bits_of(*data));
    else
      add(local, data, length + 1, stride + 1, rank - 1);
  hash = local;
}

// A parameter's values, contiguous.
void add(word_hash& hash, const parameter& p) {
  hash.add(p.name);
  for (const std::size_t extent : p.extents) hash.add(extent);
  for (const float x : p.values) hash.add(bits_of(x));
}

}  // namespace

std::uint64_t detail::fingerprint_of(dtype type, const void* data,
                                     std::span<const std::size_t> lengths,
                                     std::span<const std::ptrdiff_t> strides) noexcept {
  word_hash hash;
  hash.add(name_of_type(type));
  hash.add(lengths.size());
  bool empty = false;
  for (const std::size_t length : lengths) {
    hash.add(length);
    empty = empty || length == 0;
  }
  if (empty) return hash.value();
  const auto add_all = [&]<class T>(const T* first) {
    add(hash, first, lengths.data(), strides.data(), lengths.size());
  };
  switch (type) {
    case dtype::float32:
      add_all(static_cast<const float*>(data));
      break;
    case dtype::int32:
      add_all(static_cast<const std::int32_t*>(data));
      break;
    case dtype::boolean:
      add_all(static_cast<const bool*>(data));
      break;
    case dtype::bfloat16:
      add_all(static_cast<const bfloat16*>(data));
      break;
  }
  return hash.value();
}

std::uint64_t detail::fingerprint_of_results(const engine& e) noexcept {
  word_hash hash;
  for (const result_ref& r : e.tables().results) {
    const auto rank = static_cast<std::size_t>(r.rank);
    std::array<std::size_t, max_rank> lengths{};
    for (std::size_t a = 0; a < rank; ++a) lengths[a] = e.length(r.extent[a]);
    hash.add(e.tables().name(r.name));
    hash.add(
        fingerprint_of(r.at.type, e.address(r.at), {lengths.data(), rank}, {r.at.stride, rank}));
  }
  return hash.value();
}

std::uint64_t fingerprint(const parameter_block& parameters) {
  word_hash hash;
  for (std::size_t i = 0; i < parameters.count(); ++i) add(hash, parameters[i]);
  return hash.value();
}

}  // namespace weft
