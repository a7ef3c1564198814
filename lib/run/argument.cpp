#include "weft/run/argument.hpp"

#include <string>

#include "weft/run/error.hpp"

namespace weft {

binding bind_range(const program& p, const input_ref& input, const void* data, std::size_t size) {
  std::size_t row = 1;
  int unknown = -1;
  for (int a = 0; a < input.rank; ++a) {
    if (input.extent[a].fixed())
      row *= input.extent[a].most;
    else
      unknown = a;
  }
  if (unknown < 0 ? size != row : size % row != 0)
    throw error("argument '" + std::string(p.name(input.name)) + "': " + std::to_string(size) +
                " elements, and " +
                (unknown < 0 ? std::to_string(row) : "a multiple of " + std::to_string(row)) +
                " are needed");
  binding b{.data = data};
  std::ptrdiff_t stride = 1;
  for (int a = input.rank - 1; a >= 0; --a) {
    const auto at = static_cast<std::size_t>(a);
    b.length[at] = a == unknown ? size / row : input.extent[a].most;
    b.stride[at] = stride;
    stride *= static_cast<std::ptrdiff_t>(b.length[at]);
  }
  return b;
}

}  // namespace weft
