#include <tuple>
#include <utility>

#include "encodings.hpp"
#include "learner.hpp"

namespace positions {

// Defined in contestant.hpp; each part is instantiated in a file of its own.
template <std::size_t Part>
void set_contestants(std::vector<contestant>& all);

std::vector<contestant> contestants() {
  std::vector<contestant> all(std::tuple_size_v<decltype(encodings)>);
  [&]<std::size_t... Part>(std::index_sequence<Part...>) {
    (set_contestants<Part>(all), ...);
  }
  (std::make_index_sequence<POSITIONS_PARTS>());
  return all;
}

}  // namespace positions
