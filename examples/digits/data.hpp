// Handwritten digits of 8 × 8 pixels: the test set of E. Alpaydin and C. Kaynak, "Optical
// Recognition of Handwritten Digits" (1998), https://doi.org/10.24432/C50P49, as scikit-learn ships
// it.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace digits {

struct digit {
  std::array<float, 64> pixels;  // row-major, 0 to 1
  std::int32_t label;            // 0 to 9
};

// Every fifth digit is held out.
struct split {
  std::vector<digit> train, held_out;
};

// From a file in which a line has the 64 pixels of a digit, 0 to 16, and its label, between commas.
// Throws weft::error, which names the line, where it cannot be read or is not such a file.
split read_digits(const std::filesystem::path& file);

}  // namespace digits
