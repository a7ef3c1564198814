// Files of packed weights: see weft::save.
#pragma once

#include <memory>

#include "weft/files/tensor_file.hpp"

namespace weft::detail {

bool has_packed_weights(const tensor_file& file);

// Reads the weights that such a file has for this program. Throws weft::error where the file is not
// as weft::save writes it, or they are packed for another model.
std::unique_ptr<parameter_reader> read_packed(const tensor_file& file, const program& tables);

}  // namespace weft::detail
