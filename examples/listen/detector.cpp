#include "detector.hpp"

#include <weft/files/load.hpp>

namespace listen {

detector::detector(const std::filesystem::path& file) : net_(weft::weights(file)) {
  net_.freeze();
}

float detector::next(std::span<const float, frame> samples) {
  return net_(weft::arg<"frame">(samples))();
}

}  // namespace listen
