#include "text.hpp"

#include <boost/locale/encoding_utf.hpp>
#include <weft/run/error.hpp>

namespace dates {

std::vector<std::int32_t> encode(std::string_view text) {
  namespace conv = boost::locale::conv;
  std::u32string characters;
  try {
    characters = conv::utf_to_utf<char32_t>(text.data(), text.data() + text.size(), conv::stop);
  } catch (const conv::conversion_error&) {
    throw weft::error("'" + std::string(text) + "' is not UTF-8");
  }
  std::vector<std::int32_t> places;
  for (const char32_t c : characters) {
    const std::size_t place = alphabet.find(c);
    if (place == alphabet.npos)
      throw weft::error("'" + std::string(text) + "': no date is written with " +
                        conv::utf_to_utf<char>(&c, &c + 1));
    places.push_back(static_cast<std::int32_t>(place));
  }
  return places;
}

}  // namespace dates
