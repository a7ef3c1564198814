#include "data.hpp"

#include <charconv>
#include <fstream>
#include <string>
#include <string_view>
#include <weft/run/error.hpp>

namespace digits {

namespace {

// The numbers of a line, which are 0 to 16. They may have a fraction of zeros.
digit read_line(std::string_view line, const std::string& where) {
  digit d{};
  for (std::size_t i = 0; i <= d.pixels.size(); ++i) {
    const std::size_t end = i < d.pixels.size() ? line.find(',') : line.size();
    double number = -1;
    const std::string_view text = line.substr(0, end);
    const auto [stop, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    const double most = i < d.pixels.size() ? 16 : 9;
    if (end == line.npos || failed != std::errc() || stop != text.data() + text.size() ||
        !(number >= 0 && number <= most))
      throw weft::error(where + ": a digit is 64 pixels of 0 to 16 and a label of 0 to 9");
    if (i < d.pixels.size()) {
      d.pixels[i] = static_cast<float>(number / 16);
      line.remove_prefix(end + 1);
    } else {
      d.label = static_cast<std::int32_t>(number);
    }
  }
  return d;
}

}  // namespace

split read_digits(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw weft::error(file.string() + ": the file cannot be read");
  split all;
  std::size_t count = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    ++count;
    const digit d = read_line(line, file.string() + ", line " + std::to_string(count));
    (count % 5 == 0 ? all.held_out : all.train).push_back(d);
  }
  if (all.held_out.empty()) throw weft::error(file.string() + ": the file has fewer than 5 digits");
  return all;
}

}  // namespace digits
