// Reads the golden files. For tests: the library's own reader is under test itself.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::golden {

static_assert(std::endian::native == std::endian::little, "safetensors is little-endian");

struct stored_tensor {
  std::string dtype;  // "F32", "F64", "I32"
  std::vector<std::size_t> shape;
  std::vector<float> f32;  // the one that dtype says; the others are empty
  std::vector<double> f64;
  std::vector<std::int32_t> i32;

  // The elements whatever their type.
  std::vector<double> doubles() const {
    std::vector<double> all(f64);
    all.insert(all.end(), f32.begin(), f32.end());
    all.insert(all.end(), i32.begin(), i32.end());
    return all;
  }
};

class file {
 public:
  explicit file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error("cannot read " + path);
    std::string const bytes(std::istreambuf_iterator<char>(in), {});
    std::uint64_t size = 0;
    if (bytes.size() < sizeof size) throw std::runtime_error(path + " is too short");
    std::memcpy(&size, bytes.data(), sizeof size);
    auto const header = nlohmann::json::parse(bytes.substr(sizeof size, size));
    for (auto const& [name, entry] : header.items()) {
      if (name == "__metadata__") continue;
      auto const begin = entry.at("data_offsets").at(0).get<std::size_t>();
      auto const end = entry.at("data_offsets").at(1).get<std::size_t>();
      std::string const raw = bytes.substr(sizeof size + size + begin, end - begin);
      stored_tensor t;
      t.dtype = entry.at("dtype").get<std::string>();
      t.shape = entry.at("shape").get<std::vector<std::size_t>>();
      if (t.dtype == "F32")
        copy(raw, t.f32);
      else if (t.dtype == "F64")
        copy(raw, t.f64);
      else if (t.dtype == "I32")
        copy(raw, t.i32);
      else
        throw std::runtime_error(name + " has elements " + t.dtype);
      tensors_.emplace(name, std::move(t));
    }
  }

  const stored_tensor& operator[](std::string_view name) const {
    auto const found = tensors_.find(name);
    if (found == tensors_.end()) throw std::runtime_error("no tensor " + std::string(name));
    return found->second;
  }
  const std::map<std::string, stored_tensor, std::less<>>& tensors() const { return tensors_; }

 private:
  template <class T>
  static void copy(const std::string& raw, std::vector<T>& to) {
    to.resize(raw.size() / sizeof(T));
    std::memcpy(to.data(), raw.data(), to.size() * sizeof(T));
  }

  std::map<std::string, stored_tensor, std::less<>> tensors_;
};

}  // namespace weft::golden
