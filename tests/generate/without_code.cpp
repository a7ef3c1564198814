// A program whose CMake file does not call weft_add_model.
#include <weft/run.hpp>

#include "generate/models.hpp"

int main() {
  weft::module<weft::generating::single_element> net(
      weft::generated<weft::generating::single_element>());
}
