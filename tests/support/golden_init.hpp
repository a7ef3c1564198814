// Parameters and tokens by a closed formula, the same as in tests/golden/make_golden.py bit for
// bit: so a model's golden file need not hold them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::golden {

// The hash of element i of the tensor `name`. All arithmetic is modulo 2^32.
inline std::uint32_t hash(std::string_view name, std::size_t i) {
  std::uint32_t h = 2166136261u;  // FNV-1a
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
  std::uint32_t x = h + static_cast<std::uint32_t>(i) * 2654435761u;
  x ^= x >> 15;
  x *= 2246822519u;
  x ^= x >> 13;
  return x;
}

// Whether a parameter is the weight of a norm, as "layers.0.norm1.weight" and "norm.weight" are.
inline bool is_norm_weight(std::string_view name) {
  constexpr std::string_view last = ".weight";
  if (!name.ends_with(last)) return false;
  name.remove_suffix(last.size());
  return name.substr(name.rfind('.') + 1).starts_with("norm");  // npos + 1 is 0
}

// Element i, in memory order, of a parameter: with u = (hash >> 8) / 2^24 and s = 2 u - 1 in [-1,
// 1), both exact, 1 + 0.1f * s for the weight of a norm, else 0.05f * s, each operation rounded to
// float.
inline float parameter(std::string_view name, std::size_t i) {
  const float u = static_cast<float>(hash(name, i) >> 8) * 0x1p-24f;
  const float s = 2 * u - 1;
  if (!is_norm_weight(name)) return 0.05f * s;
  // The sum is exact in double, so this rounds as float does, and no compiler fuses it with the
  // product.
  const float small = 0.1f * s;
  return static_cast<float>(1.0 + static_cast<double>(small));
}
inline std::vector<float> parameter_values(std::string_view name, std::size_t size) {
  std::vector<float> all(size);
  for (std::size_t i = 0; i < size; ++i) all[i] = parameter(name, i);
  return all;
}

struct token_batch {
  std::vector<std::int32_t> tokens, targets;  // [batch, length]
};
// Bytes of a training step. Each sequence has one more than `length`, and the targets are the
// tokens that come next.
inline token_batch tokens(int step, std::size_t batch, std::size_t length) {
  const std::string name = "tokens." + std::to_string(step);
  token_batch all;
  for (std::size_t b = 0; b < batch; ++b) {
    for (std::size_t p = 0; p < length; ++p) {
      const std::size_t i = b * (length + 1) + p;
      all.tokens.push_back(static_cast<std::int32_t>(hash(name, i) % 256));
      all.targets.push_back(static_cast<std::int32_t>(hash(name, i + 1) % 256));
    }
  }
  return all;
}

}  // namespace weft::golden
