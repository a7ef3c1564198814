#include "titles.hpp"

#include <algorithm>

namespace weft {

void draw_titles(canvas& on, const area& a, const std::string& title, const std::string& down,
                 const std::string& across) {
  // A vertical title longer than the area's height pushes the others outwards.
  const double beyond = (on.width(down) - a.height) / 2;
  on.text(title, {a.width / 2, -gap - std::max(a.above, beyond)}, align::centred, align::before);
  on.climbing_text(down, {-a.left - gap, a.height / 2}, align::centred, align::before);
  on.text(across, {a.width / 2, a.height + gap + std::max(a.below, beyond)}, align::centred,
          align::after);
}

}  // namespace weft
