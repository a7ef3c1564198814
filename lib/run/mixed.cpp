#include "weft/run/mixed.hpp"

#include "weft/axes/fixed_string.hpp"
#include "weft/kernels/kernels.hpp"
#include "weft/run/error.hpp"

namespace weft {

std::vector<stored_type> mixed_precision::types_of(const program& tables) const {
  const auto type = [](precision as) {
    return as == precision::stored ? stored_type::other : kernels::layout_of_packed().stored(as);
  };
  std::vector<stored_type> types(tables.parameters.size(), type(most));
  std::vector<bool> is_set(types.size());
  for (const auto& [pattern, as] : others) {
    bool found = false;
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (!matches(pattern, tables.name(tables.parameters[i].name))) continue;
      found = true;
      if (!is_set[i]) types[i] = type(as);
      is_set[i] = true;
    }
    if (!found) detail::raise("freeze: no parameter of the model is named '" + pattern + "'");
  }
  return types;
}

}  // namespace weft
