// Fuzzes safetensors files: tensors that are read have the layout that the header gives, unless
// they are made of several, and anything else is a weft::error.
#include "weft/files/safetensors.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "fuzz/input.hpp"
#include "weft/run/error.hpp"

namespace {

template <class T>
void read(const weft::stored_tensor& t, bool readable) {
  try {
    fuzz::expect(t.values<T>().size() == t.size());
    fuzz::expect(readable);
  } catch (const weft::error&) {
    const bool may_not_fit = std::same_as<T, std::int32_t> && t.type == weft::stored_type::int64;
    fuzz::expect(!readable || may_not_fit);
  }
}

void read_all(const weft::tensor_file& file, std::span<const std::byte> content) {
  std::uint64_t header = 0;
  std::memcpy(&header, content.data(), sizeof header);
  const std::size_t begin = sizeof header + header;
  std::vector<bool> taken(content.size() - begin);
  bool is_joined = false;
  for (const weft::stored_tensor& t : file.tensors()) {
    fuzz::expect(file.find(t.name) == &t);
    const bool joined = t.type_name.ends_with(" with scales");
    is_joined = is_joined || joined;
    fuzz::expect(joined || (t.offset >= begin && t.offset + t.bytes <= content.size()));
    for (std::size_t b = t.offset - begin; !joined && b < t.offset - begin + t.bytes; ++b) {
      fuzz::expect(!taken[b]);
      taken[b] = true;
    }
    using enum weft::stored_type;
    const bool whole = t.type == int64 || t.type == int32 || t.type == uint8 || t.type == int8;
    read<double>(t, t.type < weft::stored_type::other);
    read<float>(t, weft::is_floating(t.type));
    read<std::int32_t>(t, whole);
    read<std::int64_t>(t, whole);
  }
  fuzz::expect(is_joined || std::find(taken.begin(), taken.end(), false) == taken.end());
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = fuzz::tensor_file({data, size});
  // weft::tensor_file reads GGUF files too, which have a target of their own.
  constexpr std::string_view gguf = "GGUF";
  if (file.size() >= gguf.size() && std::memcmp(file.data(), gguf.data(), gguf.size()) == 0)
    return 0;
  try {
    read_all(weft::tensor_file(file, "memory"), file);
  } catch (const weft::error& e) {
    fuzz::expect(std::string_view(e.what()).size() < 1000);
    // The same content is refused as a file, too.
    try {
      const weft::tensor_file same(fuzz::file_of(file));
      fuzz::expect(false);
    } catch (const weft::error&) {
    }
    return 0;
  }
  read_all(weft::tensor_file(fuzz::file_of(file)), file);
  return 0;
}
