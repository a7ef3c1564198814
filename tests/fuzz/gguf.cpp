// Fuzzes GGUF files: tensors that are read are inside the file, the value of a key is read as one
// type, and invalid files throw weft::error.
#include "weft/files/gguf.hpp"

#include <algorithm>

#include "fuzz/input.hpp"
#include "weft/run/error.hpp"
#include "weft/weights/formats.hpp"

namespace {

template <class F>
bool reads(F f) {
  try {
    f();
    return true;
  } catch (const weft::error& e) {
    fuzz::expect(std::string_view(e.what()).size() < 1000);
    return false;
  }
}

void read_all(const weft::gguf_file& file, std::size_t bytes) {
  for (const weft::stored_tensor& t : file.tensors()) {
    fuzz::expect(file.find(t.name) == &t);
    fuzz::expect(t.offset <= bytes && t.bytes <= bytes - t.offset);
    const bool is_read = reads([&] { fuzz::expect(t.values<float>().size() == t.size()); });
    const bool known = t.type < weft::stored_type::other;
    // A scale that is NaN or infinite is refused.
    const bool scaled = known && weft::detail::entry_of(t.type).shares_scales();
    fuzz::expect(scaled || is_read == weft::is_floating(t.type));
    fuzz::expect(reads([&] { t.values<double>(); }) == (scaled ? is_read : known));
  }
  for (const std::string_view key : file.keys()) {
    fuzz::expect(file.contains(key));
    const int kinds = reads([&] { file.text(key); }) + reads([&] { file.number(key); }) +
                      reads([&] { file.flag(key); }) + reads([&] { file.texts(key); }) +
                      reads([&] { file.numbers(key); });
    fuzz::expect(kinds == 1 || kinds == 0);  // 0: a list of flags
    if (reads([&] { file.integer(key); })) fuzz::expect(reads([&] { file.number(key); }));
    if (reads([&] { file.integers(key); })) fuzz::expect(reads([&] { file.numbers(key); }));
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto raw = std::as_bytes(std::span(data, size));
  const std::vector<std::byte> content(raw.begin(), raw.end());
  const bool valid = reads([&] { read_all(weft::gguf_file(content, "memory"), size); });
  // The same content gives the same as a file.
  const auto path = fuzz::file_of(content);
  fuzz::expect(reads([&] { read_all(weft::gguf_file(path), size); }) == valid);
  if (valid) fuzz::expect(reads([&] { weft::tensor_file file(path); }));
  return 0;
}
