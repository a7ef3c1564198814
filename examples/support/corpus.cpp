#include "support/corpus.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <weft/run/error.hpp>

namespace examples {

namespace {

constexpr std::size_t most_bytes = 1 << 27;  // files such as /dev/zero have no end

}  // namespace

corpus read_corpus(const std::string& file, std::size_t least) {
  namespace fs = std::filesystem;
  std::error_code failed;  // if the name is too long; opening the file reports that
  if (fs::is_directory(file, failed))
    throw weft::error(file + " is a directory; name a file of text");
  std::ifstream in(file, std::ios::binary);
  if (!in) throw weft::error("cannot read " + file + "; name a file of text");
  corpus c;
  for (auto at = std::istreambuf_iterator<char>(in); at != std::istreambuf_iterator<char>(); ++at) {
    if (c.bytes.size() == most_bytes)
      throw weft::error(file + " has more than " + std::to_string(most_bytes) + " bytes");
    c.bytes.push_back(static_cast<unsigned char>(*at));
  }
  const std::size_t held_out = c.bytes.size() / 10;
  c.train_size = c.bytes.size() - held_out;
  if (held_out < least)
    throw weft::error(
        file +
        (c.bytes.empty() ? " is empty" : " has " + std::to_string(c.bytes.size()) + " bytes") +
        "; at least " + std::to_string(10 * least) +
        " are needed, since a tenth is held out and must fill a window");
  return c;
}

}  // namespace examples
