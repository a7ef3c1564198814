// Labels for the rows and columns of pictures and tables. Link weft::pictures.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "weft/language.hpp"

namespace weft {

// "0", "1", ... count - 1.
std::vector<std::string> indices(std::size_t count);

// The characters of a UTF-8 text, one code point each. An invalid byte is a label of its own.
std::vector<std::string> characters(std::string_view text);

}  // namespace weft
#include "weft/header_end.hpp"
