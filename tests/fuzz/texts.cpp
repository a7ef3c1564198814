// Fuzzes texts that the examples read and label.
#include "dates/text.hpp"
#include "fuzz/input.hpp"
#include "support/corpus.hpp"
#include "weft/pictures/labels.hpp"
#include "weft/run/error.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  std::string joined;
  for (const std::string& label : weft::characters(text)) {
    fuzz::expect(!label.empty() && label.size() <= 4);
    joined += label;
  }
  fuzz::expect(joined == text);

  try {
    const auto places = dates::encode(text);
    fuzz::expect(places.size() <= size);
    for (const std::int32_t p : places)
      fuzz::expect(p >= 0 && static_cast<std::size_t>(p) < dates::alphabet.size());
  } catch (const weft::error&) {
  }

  constexpr std::size_t least = 2;
  try {
    const auto c = examples::read_corpus(fuzz::file_of(std::as_bytes(std::span(text))), least);
    fuzz::expect(c.bytes.size() == size && c.train().size() + c.held_out().size() == size);
    fuzz::expect(c.held_out().size() >= least && c.train().size() >= least);
    for (std::size_t i = 0; i < size; ++i) fuzz::expect(c.bytes[i] == data[i]);
  } catch (const weft::error&) {
    fuzz::expect(size / 10 < least);
  }
  return 0;
}
